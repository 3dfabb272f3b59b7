//! The models and their knobs as they stand in a file. What the defaults stand for is resolved in `plan`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::steps::LockKind;
use super::{Machine, amounts};
use crate::quantity::Nanos;

/// The three models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A pool of OS threads, one task at a time on each.
    ThreadPool,
    /// Green threads on carriers (Java virtual threads).
    GreenThreads,
    /// Coroutines on a dispatcher (Kotlin).
    Coroutines,
}

impl Model {
    /// Every model.
    pub const ALL: [Self; 3] = [Self::ThreadPool, Self::GreenThreads, Self::Coroutines];

    /// The word used in files, links and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ThreadPool => "thread-pool",
            Self::GreenThreads => "green-threads",
            Self::Coroutines => "coroutines",
        }
    }
}

/// One model with its knobs; a knob of another model is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = super::schema::run))]
#[serde(deny_unknown_fields, expecting = "a run such as { model = \"thread-pool\" }")]
pub struct RunSpec {
    /// Which model.
    pub model: Model,
    /// Green threads: `java` (default) or `go`; coroutines: `kotlin` (default) or `tokio`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runtime: Option<Runtime>,
    /// Thread pool: fixed (default), cached, or a thread for each task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolKind>,
    /// Fixed thread pool: number of threads; default: the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_THREADS)))]
    pub size: Option<u32>,
    /// Fixed thread pool: most tasks that wait in its queue; default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
    /// Fixed thread pool with a limited queue: what becomes of a task that does not fit; default `abort`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rejection: Option<Rejection>,
    /// Thread pool: a blocking wait wakes its thread this often to poll; counted as context switches only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<Nanos>,
    /// Java: JDK, 21 to 25; default 25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 21, max = 25)))]
    pub jdk: Option<u32>,
    /// Java: `jdk.virtualThreadScheduler.parallelism`; default: the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_THREADS)))]
    pub carriers: Option<u32>,
    /// Java: `jdk.virtualThreadScheduler.maxPoolSize`; default: 256, or the carriers if there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_THREADS)))]
    pub max_pool: Option<u32>,
    /// Java: `jdk.virtualThreadScheduler.minRunnable`; default: half of the carriers, at least 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = super::MAX_THREADS)))]
    pub min_runnable: Option<u32>,
    /// Kotlin: dispatcher; default `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatcher: Option<Dispatcher>,
    /// Kotlin: a view of the dispatcher by `limitedParallelism` of this many (K-7).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_THREADS)))]
    pub parallelism: Option<u32>,
    /// Go: `GOMAXPROCS`; tokio multi-thread: `worker_threads`; default: the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = super::MAX_THREADS)))]
    pub workers: Option<u32>,
    /// tokio: which runtime; default `multi-thread`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flavor: Option<Flavor>,
    /// tokio: where `block` steps run; default `on-worker`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<Blocking>,
    /// Replaces the kind of every monitor and `ReentrantLock` in the tasks, to compare kinds on one workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::replaceable_lock"))]
    pub lock: Option<LockKind>,
    /// Costs of this run alone, which replace those of the profile and of the scenario: `vt_spawn = "2 us"`.
    #[serde(default, deserialize_with = "amounts::no_name_twice", skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "super::schema::costs"))]
    pub costs: BTreeMap<String, String>,
}

impl RunSpec {
    /// A run of this model with every knob at its default.
    pub const fn new(model: Model) -> Self {
        Self {
            model,
            runtime: None,
            pool: None,
            size: None,
            queue: None,
            rejection: None,
            poll_interval: None,
            jdk: None,
            carriers: None,
            max_pool: None,
            min_runnable: None,
            dispatcher: None,
            parallelism: None,
            workers: None,
            flavor: None,
            blocking: None,
            lock: None,
            costs: BTreeMap::new(),
        }
    }

    /// The real runtimes whose costs in a profile hold for this run, the first that the profile has; see
    /// [`crate::PROFILE_RUNTIMES`]. The simulation follows the JVM where it does not say otherwise.
    pub fn profile_runtimes(&self) -> &'static [&'static str] {
        match (self.runtime(), self.pool.unwrap_or_default()) {
            (None, PoolKind::ThreadPerTask) => &["java-thread-per-task", "thread-per-task"],
            (None, _) => &["java-pool", "pool"],
            (Some(Runtime::Java), _) => &["java-virtual"],
            (Some(Runtime::Go), _) => &[],
            (Some(Runtime::Kotlin), _) => match self.dispatcher.unwrap_or_default() {
                Dispatcher::Default => &["kotlin-default"],
                Dispatcher::Io => &["kotlin-io"],
                Dispatcher::EventLoop => &["kotlin-event-loop"],
            },
            (Some(Runtime::Tokio), _) => match self.flavor.unwrap_or_default() {
                Flavor::MultiThread => &["tokio"],
                Flavor::CurrentThread => &["tokio-current"],
            },
        }
    }

    /// The runtime with the model's default filled in; `None` for thread pools.
    pub fn runtime(&self) -> Option<Runtime> {
        match self.model {
            Model::ThreadPool => None,
            Model::GreenThreads => Some(self.runtime.unwrap_or(Runtime::Java)),
            Model::Coroutines => Some(self.runtime.unwrap_or(Runtime::Kotlin)),
        }
    }

    /// The variant in one word that is unique among the runs of a sensible scenario: `fixed-12`, `java-25`,
    /// `java-21-monitor`, `kotlin-io`, `tokio`.
    pub fn variant(&self, machine: &Machine) -> String {
        let mut text = match (self.runtime(), self.pool.unwrap_or_default()) {
            (None, PoolKind::Fixed) => format!("fixed-{}", self.size.unwrap_or(machine.cores)),
            (None, PoolKind::Cached) => "cached".to_owned(),
            (None, PoolKind::ThreadPerTask) => "thread-per-task".to_owned(),
            (Some(Runtime::Java), _) => format!("java-{}", self.jdk.unwrap_or(DEFAULT_JDK)),
            (Some(Runtime::Go), _) => "go".to_owned(),
            (Some(Runtime::Kotlin), _) => format!("kotlin-{}", self.dispatcher.unwrap_or_default().as_str()),
            (Some(Runtime::Tokio), _) => match self.flavor.unwrap_or_default() {
                Flavor::MultiThread => "tokio".to_owned(),
                Flavor::CurrentThread => "tokio-current-thread".to_owned(),
            },
        };
        let mut add = |part: Option<String>| {
            if let Some(part) = part {
                text.push('-');
                text.push_str(&part);
            }
        };
        add(self.queue.map(|most| format!("queue{most}")));
        add(self.rejection.filter(|&r| r == Rejection::CallerRuns).map(|r| r.as_str().to_owned()));
        add(self.carriers.or(self.workers).filter(|&n| n != machine.cores).map(|n| format!("p{n}")));
        add(self.max_pool.map(|most| format!("max{most}")));
        add(self.min_runnable.map(|least| format!("min{least}")));
        add(self.parallelism.map(|n| n.to_string()));
        add(self.blocking.filter(|&b| b == Blocking::SpawnBlocking).map(|b| b.as_str().to_owned()));
        add(self.lock.map(|kind| match kind {
            LockKind::Reentrant => "reentrant".to_owned(),
            _ => "monitor".to_owned(),
        }));
        text
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(rename_all = "kebab-case")]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every member, the default first.
            pub const ALL: [Self; [$($text),*].len()] = [$(Self::$variant),*];

            /// The word used in files and links.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }
    };
}

words! {
    /// Whose scheduler runs green threads or coroutines.
    Runtime {
        /// Virtual threads of the JDK (T-1 to T-20).
        #[default]
        Java = "java",
        /// Goroutines (G-1).
        Go = "go",
        /// kotlinx.coroutines (K-1 to K-11).
        Kotlin = "kotlin",
        /// tokio tasks.
        Tokio = "tokio",
    }
}

words! {
    /// When a thread pool creates threads.
    PoolKind {
        /// `newFixedThreadPool`: up to its size (P-1).
        #[default]
        Fixed = "fixed",
        /// `newCachedThreadPool`: whenever no thread is idle; an idle one ends after 60 s.
        Cached = "cached",
        /// `new Thread(task).start()`: for each task, ends with it.
        ThreadPerTask = "thread-per-task",
    }
}

words! {
    /// What becomes of a task for which the queue of a pool has no room.
    Rejection {
        /// It fails, and the submitter goes on.
        #[default]
        Abort = "abort",
        /// The submitter runs it itself, and submits nothing meanwhile.
        CallerRuns = "caller-runs",
    }
}

words! {
    /// A runtime of tokio.
    Flavor {
        /// Worker threads that steal from each other.
        #[default]
        MultiThread = "multi-thread",
        /// The thread of `block_on` alone.
        CurrentThread = "current-thread",
    }
}

words! {
    /// Where a task on tokio makes a call that blocks.
    Blocking {
        /// In the task itself, which blocks its worker.
        #[default]
        OnWorker = "on-worker",
        /// `spawn_blocking`: on one of up to 512 threads, while the task waits without its worker.
        SpawnBlocking = "spawn-blocking",
    }
}

/// The JDK of a green-threads run that names none.
pub const DEFAULT_JDK: u32 = 25;

/// Where coroutines run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Dispatcher {
    /// `Dispatchers.Default`: as many workers as cores (K-3 to K-5).
    #[default]
    Default,
    /// `Dispatchers.IO`: at most max(64, cores) at once (K-6).
    Io,
    /// `runBlocking`: the caller's own loop (K-1).
    EventLoop,
}

impl Dispatcher {
    /// The word used in files and links.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Io => "io",
            Self::EventLoop => "event-loop",
        }
    }
}
