//! The scenario's tasks as real runtimes execute them: steps with iterations and durations that are ready to use.
//!
//! What a wait or a lock is in each runtime is decided in `pool`, `green` and `coroutine`.

use std::time::Duration;

use parkbench_engine::{CpuWork, Distribution, Duration as Length, LockScope, Scenario, Step};

use super::cpu;

/// All tasks of a scenario.
#[derive(Clone, Debug)]
pub(crate) struct Workload {
    seed: u64,
    classes: Vec<Class>,
    /// Locks that all tasks share.
    pub(crate) shared_locks: usize,
}

/// Tasks with the same steps.
#[derive(Clone, Debug)]
struct Class {
    count: u32,
    at: Duration,
    steps: Vec<Prepared>,
    own_locks: usize,
}

/// One step, before the draw for a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Prepared {
    Spin(u64),
    Cpu { from: u64, to: u64, iteration_ps: u64 },
    Io { from: u64, to: u64 },
    Block { from: u64, to: u64 },
    Lock(Which),
    Unlock,
}

/// One step of one task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Compute for so many iterations.
    Spin(u64),
    /// Wait in a way that the runtime can suspend.
    Io(Duration),
    /// Wait and hold the thread.
    Block(Duration),
    /// Take this lock.
    Lock(Which),
    /// Give the lock that was taken last back.
    Unlock,
}

/// Which lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// One that all tasks share, by its number.
    Shared(usize),
    /// One of the task's own, by its number.
    Own(usize),
}

impl Workload {
    /// Prepares the tasks of a scenario that has been validated, on a machine where an iteration takes `iteration_ps`.
    pub(crate) fn new(scenario: &Scenario, iteration_ps: u64) -> Self {
        let mut shared: Vec<&str> = Vec::new();
        let mut classes = Vec::new();
        for class in &scenario.tasks {
            let mut own: Vec<&str> = Vec::new();
            let mut steps = Vec::new();
            for step in &class.steps {
                steps.push(match step {
                    Step::Cpu(CpuWork::Iterations(work)) => Prepared::Spin(work.iterations),
                    Step::Cpu(CpuWork::Time(length)) => {
                        let (from, to) = bounds(length);
                        Prepared::Cpu { from, to, iteration_ps }
                    }
                    Step::Io(length) => {
                        let (from, to) = bounds(length);
                        Prepared::Io { from, to }
                    }
                    Step::Block(length) => {
                        let (from, to) = bounds(length);
                        Prepared::Block { from, to }
                    }
                    Step::Lock(lock) => Prepared::Lock(match lock.scope {
                        LockScope::Shared => Which::Shared(number(&mut shared, &lock.name)),
                        LockScope::Task => Which::Own(number(&mut own, &lock.name)),
                    }),
                    // Locks are given back in reverse order, as `validate` has checked.
                    Step::Unlock(_) => Prepared::Unlock,
                });
            }
            let at = Duration::from_nanos(class.at.0);
            classes.push(Class { count: class.count as u32, at, steps, own_locks: own.len() });
        }
        Self { seed: scenario.seed, classes, shared_locks: shared.len() }
    }

    /// Tasks in all classes.
    pub(crate) fn task_count(&self) -> u32 {
        self.classes.iter().map(|class| class.count).sum()
    }

    /// Every task in the order of submission, with the time since the start of the run before which it must not be
    /// submitted.
    pub(crate) fn submissions(&self) -> impl Iterator<Item = (u32, Duration)> + '_ {
        self.classes.iter().flat_map(|class| std::iter::repeat_n(class.at, class.count as usize)).zip(0..).map(|(at, task)| (task, at))
    }

    /// Locks of the task's own.
    pub(crate) fn own_locks(&self, task: u32) -> usize {
        self.class(task).own_locks
    }

    /// What the task does, in order.
    pub(crate) fn actions(&self, task: u32) -> impl Iterator<Item = Action> + '_ {
        let draw = move |step: usize, from: u64, to: u64| draw(self.seed, task, step, from, to);
        self.class(task).steps.iter().enumerate().map(move |(index, step)| match *step {
            Prepared::Spin(iterations) => Action::Spin(iterations),
            Prepared::Cpu { from, to, iteration_ps } => {
                Action::Spin(cpu::iterations(draw(index, from, to), iteration_ps))
            }
            Prepared::Io { from, to } => Action::Io(Duration::from_nanos(draw(index, from, to))),
            Prepared::Block { from, to } => Action::Block(Duration::from_nanos(draw(index, from, to))),
            Prepared::Lock(which) => Action::Lock(which),
            Prepared::Unlock => Action::Unlock,
        })
    }

    fn class(&self, task: u32) -> &Class {
        let mut first = 0;
        for class in &self.classes {
            first += class.count;
            if task < first {
                return class;
            }
        }
        unreachable!("task {task} is below the count of all classes")
    }
}

/// [ns] Shortest and longest.
fn bounds(length: &Length) -> (u64, u64) {
    match length {
        Length::Constant(nanos) => (nanos.0, nanos.0),
        Length::Drawn(Distribution::Uniform(from, to)) => (from.0, to.0),
    }
}

/// The number of a name, given in the order in which names are first seen.
fn number<'a>(names: &mut Vec<&'a str>, name: &'a str) -> usize {
    names.iter().position(|known| *known == name).unwrap_or_else(|| {
        names.push(name);
        names.len() - 1
    })
}

/// [ns] The draw of this task for this step.
fn draw(seed: u64, task: u32, step: usize, from: u64, to: u64) -> u64 {
    // To be replaced by the engine's own draw.
    if from == to {
        return from;
    }
    let mut x = seed ^ (u64::from(task) << 16 | step as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    from + ((u128::from(x ^ (x >> 31)) * u128::from(to - from + 1)) >> 64) as u64
}
