//! Checking steps: their number, durations, and that locks, permits and joins match.

use super::{MAX_DEPTH, MAX_OPS, MAX_STEPS, MAX_VALUES, check_whole, shown};
use crate::quantity::Milli;
use crate::scenario::{
    Block, BlockKind, CpuWork, Distribution, Duration, LockKind, LockScope, LockSpec, Repeat, SemaphoreSpec, SpawnSpec,
    Step,
};

/// The retry of a lock, as a value that is refused.
fn retry_text(lock: &LockSpec) -> String {
    match &lock.retry {
        Some(Duration::Constant(nanos)) => nanos.to_string(),
        _ => "a duration".to_owned(),
    }
}

/// What a name stands for; the same in all classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Lock { kind: LockKind, scope: LockScope, fair: bool },
    Semaphore { permits: u32, fair: bool },
}

/// The names that the steps before have used.
#[derive(Default)]
pub(super) struct Seen<'a>(Vec<(&'a str, Named)>);

/// What a task holds at one point of its steps.
#[derive(Clone, Default)]
struct Held<'a> {
    /// Locks in the order in which they were taken, and where.
    locks: Vec<(&'a str, String)>,
    permits: Vec<(&'a str, String)>,
    has_spawned: bool,
    /// It has spawned or has taken or given back a permit since the first of the locks, which cannot be done again.
    only_once: bool,
}

/// The check of all steps of one class.
pub(super) struct Steps<'a, 'r, F> {
    pub(super) seen: &'r mut Seen<'a>,
    pub(super) refuse: &'r mut F,
}

impl<'a, F: FnMut(String, String, String)> Steps<'a, '_, F> {
    /// Checks the steps of a class or of the tasks that it spawns; `path` is theirs, such as `tasks[0].steps`.
    pub(super) fn check(&mut self, path: &str, steps: &'a [Step], depth: usize) {
        let mut held = Held::default();
        self.list(path, steps, depth, &mut held);
        for (name, path) in held.locks {
            let allowed = format!("a lock that a later step gives back with {{ unlock = {name:?} }}");
            (self.refuse)(format!("{path}.name"), format!("{name:?}"), allowed);
        }
        for (name, path) in held.permits {
            let allowed = format!("a permit that a later step gives back with {{ release = {name:?} }}");
            (self.refuse)(format!("{path}.name"), format!("{name:?}"), allowed);
        }
        let ops = count_ops(steps);
        if ops > MAX_OPS as u64 {
            (self.refuse)(
                path.to_owned(),
                format!("{ops} steps with every repetition counted"),
                format!("up to {MAX_OPS} steps with every repetition counted"),
            );
        }
    }

    fn list(&mut self, path: &str, steps: &'a [Step], depth: usize, held: &mut Held<'a>) {
        if !(1..=MAX_STEPS).contains(&steps.len()) {
            (self.refuse)(path.to_owned(), format!("{} steps", steps.len()), format!("1 to {MAX_STEPS} steps"));
        }
        for (index, step) in steps.iter().enumerate() {
            self.step(&format!("{path}[{index}]"), step, depth, held);
        }
    }

    fn step(&mut self, path: &str, step: &'a Step, depth: usize, held: &mut Held<'a>) {
        match step {
            Step::Cpu(CpuWork::Iterations(n)) => {
                check_whole(format!("{path}.cpu.iterations"), n.iterations, self.refuse);
            }
            Step::Cpu(CpuWork::Time(duration)) => self.duration(&format!("{path}.cpu"), duration),
            Step::Io(duration) => self.duration(&format!("{path}.io"), duration),
            Step::Block(Block { time, kind: BlockKind::Native }) => self.duration(&format!("{path}.block"), time),
            Step::Block(block) => self.duration(&format!("{path}.block.time"), &block.time),
            Step::Lock(lock) => self.lock(&format!("{path}.lock"), lock, held),
            Step::Unlock(name) => self.unlock(&format!("{path}.unlock"), name, held),
            Step::Acquire(semaphore) => {
                held.only_once |= !held.locks.is_empty();
                self.acquire(&format!("{path}.acquire"), semaphore, held);
            }
            Step::Release(name) => {
                held.only_once |= !held.locks.is_empty();
                if let Some(index) = held.permits.iter().rposition(|(held, _)| held == name) {
                    held.permits.remove(index);
                } else {
                    let allowed = match held.permits.last() {
                        Some((last, _)) => format!("{last:?}, a semaphore of which the task holds a permit"),
                        None => "no release here, for the task holds no permit".to_owned(),
                    };
                    (self.refuse)(format!("{path}.release"), shown(name), allowed);
                }
            }
            Step::Yield => {}
            Step::Spawn(spawn) => self.spawn(&format!("{path}.spawn"), spawn, depth, held),
            Step::Join => {
                if !held.has_spawned {
                    let allowed = "no join here, for the task has spawned nothing before".to_owned();
                    (self.refuse)(path.to_owned(), "\"join\"".to_owned(), allowed);
                }
            }
            Step::Repeat(repeat) => self.repeat(&format!("{path}.repeat"), repeat, depth, held),
        }
    }

    fn lock(&mut self, path: &str, lock: &'a LockSpec, held: &mut Held<'a>) {
        held.only_once &= !held.locks.is_empty();
        if lock.retry.is_some() && held.only_once {
            let allowed = "no retry here, for the task starts again at its first lock, and since then it has spawned a \
                           task or used a semaphore";
            (self.refuse)(format!("{path}.retry"), retry_text(lock), allowed.into());
        }
        let known = self.name(path, &lock.name);
        if known && held.locks.iter().any(|(name, _)| *name == lock.name) {
            let allowed = "a lock that the task does not hold already".to_owned();
            (self.refuse)(format!("{path}.name"), shown(&lock.name), allowed);
        } else if known {
            held.locks.push((&lock.name, path.to_owned()));
        }
        let named = Named::Lock { kind: lock.kind, scope: lock.scope, fair: lock.fair };
        self.same(path, &lock.name, named);
        if lock.fair && lock.kind != LockKind::Reentrant {
            (self.refuse)(format!("{path}.fair"), "true".into(), "false, for only a reentrant lock can be fair".into());
        }
        if lock.kind == LockKind::NativeFrame && lock.scope != LockScope::Task {
            (self.refuse)(
                format!("{path}.scope"),
                "\"shared\"".into(),
                "\"task\", for a native frame is the task's own".into(),
            );
        }
        if let Some(retry) = &lock.retry {
            self.duration(&format!("{path}.retry"), retry);
            if lock.kind != LockKind::Reentrant || lock.scope != LockScope::Shared {
                let allowed = "no retry here, for only a shared reentrant lock can be tried".to_owned();
                (self.refuse)(format!("{path}.retry"), retry_text(lock), allowed);
            }
            if *retry == Duration::Constant(crate::quantity::Nanos(0)) {
                (self.refuse)(format!("{path}.retry"), "0 ns".into(), "1 ns or more".into());
            }
        }
    }

    fn unlock(&mut self, path: &str, name: &str, held: &mut Held<'a>) {
        match held.locks.last() {
            Some((top, _)) if *top == name => {
                held.locks.pop();
            }
            Some((top, _)) => {
                let allowed = if held.locks.iter().any(|(held, _)| *held == name) {
                    format!("{top:?}, the lock taken last (locks are given back in reverse order)")
                } else {
                    format!("{top:?}, the lock that the task holds")
                };
                (self.refuse)(path.to_owned(), format!("{name:?}"), allowed);
            }
            None => {
                let allowed = "no unlock here, for the task holds no lock".to_owned();
                (self.refuse)(path.to_owned(), format!("{name:?}"), allowed);
            }
        }
    }

    fn acquire(&mut self, path: &str, semaphore: &'a SemaphoreSpec, held: &mut Held<'a>) {
        if self.name(path, &semaphore.name) {
            held.permits.push((&semaphore.name, path.to_owned()));
        }
        check_whole(format!("{path}.permits"), semaphore.permits, self.refuse);
        let named = Named::Semaphore { permits: semaphore.permits, fair: semaphore.fair };
        self.same(path, &semaphore.name, named);
    }

    fn spawn(&mut self, path: &str, spawn: &'a SpawnSpec, depth: usize, held: &mut Held<'a>) {
        held.has_spawned = true;
        held.only_once |= !held.locks.is_empty();
        check_whole(format!("{path}.count"), spawn.count, self.refuse);
        if depth == MAX_DEPTH {
            let allowed = format!("up to {MAX_DEPTH} levels of spawned tasks");
            (self.refuse)(path.to_owned(), format!("{} levels", depth + 1), allowed);
            return;
        }
        self.check(&format!("{path}.steps"), &spawn.steps, depth + 1);
    }

    fn repeat(&mut self, path: &str, repeat: &'a Repeat, depth: usize, held: &mut Held<'a>) {
        check_whole(format!("{path}.times"), repeat.times, self.refuse);
        let before = held.clone();
        // A list within a list within a list is as deep as it can usefully be.
        if path.matches(".repeat").count() > MAX_DEPTH {
            (self.refuse)(
                path.to_owned(),
                "a repetition".into(),
                format!("up to {MAX_DEPTH} repetitions in each other"),
            );
            return;
        }
        self.list(&format!("{path}.steps"), &repeat.steps, depth, held);
        let names = |held: &Held<'a>| {
            let all = held.locks.iter().chain(&held.permits);
            all.map(|(name, _)| *name).collect::<Vec<_>>()
        };
        if names(held) != names(&before) {
            (self.refuse)(
                format!("{path}.steps"),
                format!("steps that hold {:?} at the end and {:?} at the start", names(held), names(&before)),
                "steps that hold at the end what they hold at the start".into(),
            );
            held.locks = before.locks;
            held.permits = before.permits;
        }
    }

    /// Whether the name of a lock or semaphore is one.
    fn name(&mut self, path: &str, name: &str) -> bool {
        if name.is_empty() {
            (self.refuse)(format!("{path}.name"), "\"\"".into(), "a name".into());
        }
        !name.is_empty()
    }

    fn same(&mut self, path: &str, name: &'a str, named: Named) {
        match self.seen.0.iter().find(|(known, _)| *known == name) {
            Some((_, known)) if *known != named => {
                let (value, allowed) = match (known, named) {
                    (Named::Lock { .. }, Named::Semaphore { .. }) | (Named::Semaphore { .. }, Named::Lock { .. }) => {
                        (format!("{name:?} for a lock and for a semaphore"), "a name of its own for each")
                    }
                    (_, Named::Lock { .. }) => (
                        format!("{name:?} of another kind, scope or fairness"),
                        "the same kind, scope and fairness wherever a name is used, in all classes",
                    ),
                    (_, Named::Semaphore { .. }) => (
                        format!("{name:?} of other permits or fairness"),
                        "the same permits and fairness wherever a name is used, in all classes",
                    ),
                };
                (self.refuse)(path.to_owned(), value, allowed.to_owned());
            }
            Some(_) => {}
            None => self.seen.0.push((name, named)),
        }
    }

    fn duration(&mut self, field: &str, duration: &Duration) {
        check_duration(field, duration, self.refuse);
    }
}

/// Steps of one task as the engine runs them: with every repetition, and two for each task that is spawned.
pub(super) fn count_ops(steps: &[Step]) -> u64 {
    steps.iter().fold(0, |sum: u64, step| {
        sum.saturating_add(match step {
            Step::Repeat(repeat) => u64::from(repeat.times).saturating_mul(count_ops(&repeat.steps)),
            Step::Spawn(spawn) => 2 * u64::from(spawn.count),
            // With what it may have to give back, each of up to 256 locks.
            Step::Lock(lock) if lock.retry.is_some() => 260,
            Step::Block(block) if block.kind == BlockKind::ObjectWait => 3,
            _ => 1,
        })
    })
}

/// Tasks that one task of these steps spawns, with theirs.
pub(in crate::scenario) fn count_children(steps: &[Step]) -> u64 {
    steps.iter().fold(0, |sum: u64, step| {
        sum.saturating_add(match step {
            Step::Repeat(repeat) => u64::from(repeat.times).saturating_mul(count_children(&repeat.steps)),
            Step::Spawn(spawn) => u64::from(spawn.count).saturating_mul(count_children(&spawn.steps).saturating_add(1)),
            _ => 0,
        })
    })
}

/// Classes that these steps make for the tasks that they spawn.
pub(super) fn count_classes(steps: &[Step]) -> usize {
    let classes = |step: &Step| match step {
        Step::Repeat(repeat) => count_classes(&repeat.steps),
        Step::Spawn(spawn) => 1 + count_classes(&spawn.steps),
        _ => 0,
    };
    steps.iter().map(classes).sum()
}

/// Refuses what is wrong with a duration that stands in `field`.
pub(super) fn check_duration(field: &str, duration: &Duration, refuse: &mut impl FnMut(String, String, String)) {
    let Duration::Drawn(distribution) = duration else { return };
    match distribution {
        Distribution::Uniform(from, to) if from > to => {
            refuse(format!("{field}.uniform"), format!("[\"{from}\", \"{to}\"]"), "the shorter duration first".into());
        }
        Distribution::Lognormal(l) if l.sigma > Milli(4_000) => {
            refuse(format!("{field}.lognormal.sigma"), l.sigma.to_string(), "0 to 4".into());
        }
        Distribution::Pareto(p) => {
            if !(Milli(100)..=Milli(10_000)).contains(&p.shape) {
                refuse(format!("{field}.pareto.shape"), p.shape.to_string(), "0.1 to 10".into());
            }
            if p.min.0 == 0 || p.min > p.max {
                let allowed = format!("1 ns to {}, the max", p.max);
                refuse(format!("{field}.pareto.min"), format!("{:?}", p.min.to_string()), allowed);
            }
        }
        Distribution::Empirical(values) if !(1..=MAX_VALUES).contains(&values.len()) => {
            refuse(
                format!("{field}.empirical"),
                format!("{} values", values.len()),
                format!("1 to {MAX_VALUES} values"),
            );
        }
        _ => {}
    }
}
