//! The rules of the runtimes that a run goes by, with the numbers that the engine's models cite.

use parkbench_engine::{
    BlockKind, Blocking, CpuWork, DEFAULT_JDK, Dispatcher, Duration, Flavor, LockKind, Model, Nanos, PoolKind, Runtime,
    Scenario, Step,
};

/// What decides whether a rule has to do with a run.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a question that a rule asks; no two belong together")]
struct Facts {
    pool: Option<PoolKind>,
    threads_share_cores: bool,
    java: Option<u32>,
    go: bool,
    tokio: Option<Flavor>,
    spawn_blocking: bool,
    kotlin: Option<Dispatcher>,
    view: bool,
    does: Does,
}

/// What the tasks do.
#[derive(Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a question that a rule asks; no two belong together")]
struct Does {
    cpu: bool,
    io: bool,
    block: bool,
    compensated: bool,
    object_wait: bool,
    monitor: bool,
    reentrant: bool,
    pins: bool,
    semaphore: bool,
    yields: bool,
    spawns: bool,
    joins: bool,
}

/// Number and sentence of every rule that the run goes by.
pub(super) fn of(scenario: &Scenario, run: usize) -> Vec<(&'static str, &'static str)> {
    let facts = Facts::of(scenario, run);
    RULES.iter().filter(|rule| (rule.applies)(&facts)).map(|rule| (rule.number, rule.sentence)).collect()
}

impl Facts {
    fn of(scenario: &Scenario, run: usize) -> Self {
        let run = &scenario.runs[run];
        let mut does = Does::default();
        scenario.tasks.iter().for_each(|class| does.add(&class.steps, run.lock));
        let cores = scenario.machine.cores;
        let runtime = run.runtime();
        let pool = (run.model == Model::ThreadPool).then(|| run.pool.unwrap_or_default());
        let threads = if pool == Some(PoolKind::Fixed) { run.size.unwrap_or(cores) } else { u32::MAX };
        Self {
            pool,
            threads_share_cores: pool.is_some() && threads > cores,
            java: (runtime == Some(Runtime::Java)).then(|| run.jdk.unwrap_or(DEFAULT_JDK)),
            go: runtime == Some(Runtime::Go),
            tokio: (runtime == Some(Runtime::Tokio)).then(|| run.flavor.unwrap_or_default()),
            spawn_blocking: run.blocking == Some(Blocking::SpawnBlocking),
            kotlin: (runtime == Some(Runtime::Kotlin)).then(|| run.dispatcher.unwrap_or_default()),
            view: run.parallelism.is_some(),
            does,
        }
    }

    fn java(&self, jdks: std::ops::RangeInclusive<u32>) -> bool {
        self.java.is_some_and(|jdk| jdks.contains(&jdk))
    }

    /// Coroutines on the threads of a dispatcher, in distinction to the event loop.
    fn dispatched(&self) -> bool {
        matches!(self.kotlin, Some(Dispatcher::Default | Dispatcher::Io))
    }
}

impl Does {
    fn add(&mut self, steps: &[Step], replaced: Option<LockKind>) {
        for step in steps {
            match step {
                Step::Cpu(CpuWork::Time(Duration::Constant(Nanos(0)))) | Step::Unlock(_) | Step::Release(_) => {}
                Step::Cpu(_) => self.cpu = true,
                Step::Io(_) => self.io = true,
                Step::Block(block) => {
                    self.block = true;
                    self.object_wait |= block.kind == BlockKind::ObjectWait;
                    self.compensated |= matches!(block.kind, BlockKind::File | BlockKind::Fsync);
                }
                Step::Lock(lock) if lock.kind.is_replaceable() => match replaced.unwrap_or(lock.kind) {
                    LockKind::Reentrant => self.reentrant = true,
                    _ => self.monitor = true,
                },
                Step::Lock(_) => self.pins = true,
                Step::Acquire(_) => self.semaphore = true,
                Step::Yield => self.yields = true,
                Step::Spawn(spawn) => {
                    self.spawns = true;
                    self.add(&spawn.steps, replaced);
                }
                Step::Join => self.joins = true,
                Step::Repeat(repeat) => self.add(&repeat.steps, replaced),
            }
        }
    }

    /// Whether a task ever waits in a way that a thread would wait with it.
    const fn waits(&self) -> bool {
        self.io || self.block || self.monitor || self.reentrant || self.semaphore || self.joins
    }
}

struct Rule {
    number: &'static str,
    applies: fn(&Facts) -> bool,
    sentence: &'static str,
}

const fn rule(number: &'static str, applies: fn(&Facts) -> bool, sentence: &'static str) -> Rule {
    Rule { number, applies, sentence }
}

const RULES: &[Rule] = &[
    rule(
        "P-1",
        |f| f.pool == Some(PoolKind::Fixed),
        "A fixed pool starts a thread for each task until it has its size; after that tasks queue, first in, first out.",
    ),
    rule(
        "P-2",
        |f| f.pool.is_some() && f.does.waits(),
        "A pool thread that waits keeps its task and its place, and gives up only its core; a sleep never ends early.",
    ),
    rule(
        "P-3",
        |f| f.threads_share_cores && f.does.cpu,
        "Where more threads can run than there are cores, a thread is preempted at the end of its slice.",
    ),
    rule(
        "P-5",
        |f| f.pool.is_some(),
        "The submitter creates the threads itself, one after the other, and pays for each.",
    ),
    rule(
        "P-6",
        |f| f.pool.is_some_and(|pool| pool != PoolKind::Fixed),
        "A thread that the OS does not allow any more fails its task: unable to create native thread.",
    ),
    rule(
        "P-7",
        |f| f.pool.is_some(),
        "Memory is that of the touched stacks; the reserved part of a stack is address space only.",
    ),
    rule("T-1", |f| f.java.is_some(), "The submitter puts every green thread into one queue, in order."),
    rule(
        "T-2",
        |f| f.java.is_some(),
        "Carriers take from their own queue first in, first out, and steal the oldest from others.",
    ),
    rule(
        "T-3",
        |f| f.java.is_some(),
        "A push wakes an idle carrier only where the queue was empty; carriers wake the next themselves.",
    ),
    rule(
        "T-4",
        |f| f.java.is_some() && f.does.cpu,
        "No time slices: a green thread that computes keeps its carrier until it waits, yields or ends.",
    ),
    rule(
        "T-6",
        |f| f.java.is_some() && f.does.waits(),
        "Who may go on is pushed to the queue of the carrier that wakes it, or to the common one from outside.",
    ),
    rule("T-8", |f| f.java.is_some() && f.does.yields, "A yield goes to the tail of the queue."),
    rule(
        "T-9",
        |f| f.java(21..=23) && f.does.io,
        "Waits are kept by one scheduled executor: the green thread puts itself in under a lock, one thread fires.",
    ),
    rule(
        "T-10",
        |f| f.java(24..=25) && f.does.io,
        "Waits are put into the timer after the green thread has left its carrier; on Java 25 one thread keeps them and carriers run the expiries.",
    ),
    rule(
        "T-12",
        |f| f.java(21..=23) && f.does.monitor,
        "A wait inside a monitor pins the carrier, and nobody makes up for it.",
    ),
    rule("T-13", |f| f.java(21..=23) && f.does.monitor, "Waiting to enter a monitor holds the carrier."),
    rule(
        "T-14",
        |f| f.java(24..=25) && f.does.monitor,
        "Monitors let go of their carrier; who may enter one is resubmitted by the unblocker thread.",
    ),
    rule(
        "T-15",
        |f| f.java.is_some() && (f.does.pins || f.does.block),
        "Native frames and class initialisers pin the carrier on every JDK.",
    ),
    rule(
        "T-16",
        |f| f.java.is_some() && (f.does.compensated || f.does.object_wait),
        "For calls that are known to block, a carrier is woken, spared or added meanwhile, up to the pool's maximum.",
    ),
    rule(
        "T-17",
        |f| f.java.is_some() && f.does.compensated,
        "Which calls those are depends on the JDK: buffered files on 21 and 22, synchronous writes on all.",
    ),
    rule(
        "T-18",
        |f| f.java.is_some() && (f.does.reentrant || f.does.semaphore || f.does.joins),
        "Locks and semaphores of java.util.concurrent, and joins, let go of the carrier.",
    ),
    rule("T-20", |f| f.java.is_some(), "There is no limit: every submit makes a green thread at once."),
    rule(
        "G-1",
        |f| f.go,
        "Each P runs its next goroutine, then its queue, the global one on every 61st turn, then steals half of another's; a goroutine is preempted after 10 ms, and a blocking call hands the P on.",
    ),
    rule(
        "K-1",
        |f| f.kotlin == Some(Dispatcher::EventLoop),
        "runBlocking is one thread: its own queue, its own timers, no wake-ups of other threads.",
    ),
    rule(
        "K-3",
        Facts::dispatched,
        "A dispatch from outside goes to the global queue and wakes a parked worker each time.",
    ),
    rule(
        "K-4",
        |f| f.dispatched() && (f.does.spawns || f.does.semaphore || f.does.reentrant || f.does.yields),
        "A dispatch from a worker goes to its slot; the one before moves to its queue.",
    ),
    rule(
        "K-5",
        Facts::dispatched,
        "A worker takes from its slot, its queue, the global queue, then steals; it parks when it finds nothing.",
    ),
    rule(
        "K-6",
        |f| f.kotlin == Some(Dispatcher::Io),
        "Dispatchers.IO runs max(64, cores) coroutines at a time, on threads shared with Default.",
    ),
    rule("K-7", |f| f.view, "A view by limitedParallelism has a limit of its own."),
    rule(
        "K-8",
        |f| f.dispatched() && f.does.io,
        "A delay holds no thread: one DefaultExecutor thread keeps all deadlines and dispatches what is due, one after the other.",
    ),
    rule("K-9", |f| f.kotlin.is_some() && f.does.block, "A blocking call in a coroutine holds its worker."),
    rule(
        "K-10",
        |f| f.kotlin.is_some() && f.does.cpu,
        "No preemption: a coroutine that computes keeps its worker until it suspends.",
    ),
    rule(
        "K-11",
        |f| f.kotlin.is_some() && f.does.joins,
        "A join resumes its parent once, when the last child has ended.",
    ),
    rule(
        "R-1",
        |f| f.tokio == Some(Flavor::MultiThread),
        "Tasks from outside go to the global queue, tasks from a worker to its slot or queue.",
    ),
    rule(
        "R-2",
        |f| f.tokio.is_some() && (f.does.io || f.spawn_blocking),
        "Timers fire when a worker polls the driver: when idle, or after 61 polls; spawn_blocking has threads of its own.",
    ),
    rule(
        "R-3",
        |f| f.tokio == Some(Flavor::MultiThread),
        "The slot is used three times in a row, then the queue has its turn; it cannot be stolen.",
    ),
    rule(
        "R-4",
        |f| f.tokio == Some(Flavor::CurrentThread),
        "The current thread runs its queue first in, first out, and looks at the global one on every 31st turn.",
    ),
];

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use parkbench_engine::preset;

    use super::*;

    #[test]
    fn presets_go_by_the_rules_that_their_sentences_are_about() {
        for (name, run, has, has_not) in [
            ("io-bound", 0, &["P-1", "P-2"][..], &["P-6", "T-1", "K-1"][..]),
            ("io-bound", 1, &["T-1", "T-10"], &["T-9", "T-14", "T-4", "P-1"]),
            ("io-bound", 2, &["K-3", "K-6", "K-8"], &["K-1", "K-9"]),
            ("cpu-bound", 1, &["T-4"], &["T-10"]),
            ("high-concurrency", 2, &["K-1"], &["K-3", "K-8"]),
            ("pinning", 0, &["T-12", "T-9"], &["T-14", "T-18"]),
            ("pinning", 1, &["T-18"], &["T-12"]),
            ("pinning", 2, &["T-14"], &["T-12", "T-13"]),
            ("tool-chain", 2, &["K-11", "K-4"], &["K-6"]),
            ("connection-pool", 1, &["T-18"], &["T-12"]),
            ("web-server", 0, &["P-3"], &["P-6"]),
        ] {
            let rules: Vec<&str> = of(&preset(name).unwrap(), run).into_iter().map(|(number, _)| number).collect();
            assert!(has.iter().all(|number| rules.contains(number)), "{name} {run}: {rules:?}");
            assert!(!has_not.iter().any(|number| rules.contains(number)), "{name} {run}: {rules:?}");
        }
    }

    #[test]
    fn every_rule_is_cited_by_the_engine() {
        fn read(folder: &Path, text: &mut String) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    read(&path, text);
                } else {
                    text.push_str(&fs::read_to_string(path).unwrap());
                }
            }
        }
        let mut text = String::new();
        read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../engine/src"), &mut text);
        let cited = |number: &str| {
            text.match_indices(number)
                .any(|(at, _)| !text[at + number.len()..].starts_with(|c: char| c.is_ascii_digit()))
        };
        let missing: Vec<&str> = RULES.iter().map(|rule| rule.number).filter(|number| !cited(number)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
