//! A real runtime with its knobs, and what it is called.
//!
//! Which runtimes a scenario is measured on is decided in `select`.

use parkbench_engine::{Blocking, LockKind, Model, PoolKind, Rejection, RunSpec};
use serde::{Deserialize, Serialize};

use super::coroutine::Blocks;
use super::jvm::Version;
use super::kind::Kind;

/// The version of `may` that is built in; a test compares it with the lock file.
const MAY_VERSION: &str = "0.3.51";
/// The version of tokio that is built in; a test compares it with the lock file.
const TOKIO_VERSION: &str = "1.54.1";
/// The version of smol that is built in; a test compares it with the lock file.
const SMOL_VERSION: &str = "2.0.2";
/// The version of kotlinx.coroutines in the runner; a test compares it with `jvm/pom.xml`.
const COROUTINES_VERSION: &str = "1.10.2";
/// Coroutines that `Dispatchers.IO` runs at once at most, unless there are more cores (K-6).
const IO_PARALLELISM: u32 = 64;

/// A real runtime with its number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Runtime {
    /// The pool in `pool`; as many threads as tasks are under way where it is cached.
    Pool { threads: u32, admission: Admission },
    /// A thread for each task, in `pool`.
    ThreadPerTask,
    /// `may`, in `green`.
    May { workers: u32 },
    /// tokio's multi-thread runtime, in `coroutine`.
    Tokio { workers: u32, blocks: Blocks },
    /// tokio's current-thread runtime, in `coroutine`.
    TokioCurrentThread { blocks: Blocks },
    /// An executor of smol, in `coroutine`.
    Smol { workers: u32, blocks: Blocks },
    /// A runtime of the JVM, in `jvm`.
    Jvm(Jvm),
}

/// What becomes of a task for which a pool has no thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Admission {
    /// It waits in a queue, with any number of others.
    #[default]
    Unbounded,
    /// It waits in a queue with room for so many, and is refused where there is none; with a capacity of 0 only an idle
    /// thread takes it.
    Bounded { capacity: u32, rejection: Rejection },
    /// A new thread takes it where none is idle: the pool is cached.
    Cached,
}

/// A runtime of the JVM with its knobs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Jvm {
    /// Which one.
    pub(crate) kind: Kind,
    /// The Java that it runs on.
    pub(crate) java: Version,
    /// Threads of the pool, carriers or workers; 1 for the loop of `runBlocking`.
    pub(crate) threads: u32,
    /// Coroutines at once by `limitedParallelism`.
    pub(crate) parallelism: Option<u32>,
    /// The queue of a pool.
    #[serde(default)]
    pub(crate) admission: Admission,
    /// `jdk.virtualThreadScheduler.maxPoolSize`.
    pub(crate) max_pool: Option<u32>,
    /// `jdk.virtualThreadScheduler.minRunnable`.
    pub(crate) min_runnable: Option<u32>,
    /// What the run makes of monitors and `ReentrantLock`s.
    pub(crate) lock: Option<LockKind>,
}

impl Runtime {
    /// This runtime for this run: the same number of threads as the scenario says.
    ///
    /// `java` is the Java that was found; `None` for a runtime of the JVM where there is none.
    pub(crate) fn new(kind: Kind, run: &RunSpec, cores: u32, java: Option<&Version>) -> Option<Self> {
        let of_model = run.model == kind.model();
        let admission = if of_model { Admission::of(run) } else { Admission::Unbounded };
        let size = match admission {
            Admission::Cached => u32::MAX,
            _ => run.size.filter(|_| of_model).unwrap_or(cores),
        };
        let carriers = run.carriers.filter(|_| of_model).unwrap_or(cores);
        let io = run.dispatcher == Some(parkbench_engine::Dispatcher::Io);
        // A run of tokio names its workers; one of Kotlin has them from its dispatcher.
        let workers = match run.runtime().filter(|_| of_model) {
            Some(parkbench_engine::Runtime::Tokio) => run.workers.unwrap_or(cores),
            _ if io => cores.max(IO_PARALLELISM),
            _ => cores.max(2),
        };
        let elsewhere = of_model && run.blocking == Some(Blocking::SpawnBlocking);
        let blocks = if elsewhere { Blocks::Elsewhere } else { Blocks::OnWorker };
        let threads = match kind {
            Kind::Pool => return Some(Self::Pool { threads: size, admission }),
            Kind::ThreadPerTask => return Some(Self::ThreadPerTask),
            Kind::May => return Some(Self::May { workers: carriers }),
            Kind::Tokio => return Some(Self::Tokio { workers, blocks }),
            Kind::TokioCurrent => return Some(Self::TokioCurrentThread { blocks }),
            Kind::Smol => return Some(Self::Smol { workers, blocks }),
            Kind::JavaPool => size,
            Kind::JavaThreadPerTask => u32::MAX,
            Kind::JavaVirtual => carriers,
            Kind::KotlinDefault => cores.max(2),
            Kind::KotlinIo => cores.max(IO_PARALLELISM),
            Kind::KotlinEventLoop => 1,
        };
        Some(Self::Jvm(Jvm {
            kind,
            java: java?.clone(),
            threads,
            parallelism: run.parallelism.filter(|_| of_model),
            admission: if kind == Kind::JavaPool { admission } else { Admission::Unbounded },
            max_pool: run.max_pool.filter(|_| of_model),
            min_runnable: run.min_runnable.filter(|_| of_model),
            lock: run.lock,
        }))
    }

    /// Which one, without its knobs.
    pub(crate) const fn kind(&self) -> Kind {
        match self {
            Self::Pool { .. } => Kind::Pool,
            Self::ThreadPerTask => Kind::ThreadPerTask,
            Self::May { .. } => Kind::May,
            Self::Tokio { .. } => Kind::Tokio,
            Self::TokioCurrentThread { .. } => Kind::TokioCurrent,
            Self::Smol { .. } => Kind::Smol,
            Self::Jvm(jvm) => jvm.kind,
        }
    }

    /// The model that it stands for.
    pub(crate) const fn model(&self) -> Model {
        self.kind().model()
    }

    /// One word for tables and files.
    pub(crate) fn variant(&self) -> String {
        match self {
            Self::Pool { threads, admission } => admission.variant("pool", *threads),
            Self::May { workers } => format!("may-{workers}"),
            Self::Tokio { workers, blocks } => format!("tokio-{workers}{}", blocks.suffix()),
            Self::Smol { workers, blocks } => format!("smol-{workers}{}", blocks.suffix()),
            Self::TokioCurrentThread { blocks } => format!("{}{}", self.kind().as_str(), blocks.suffix()),
            Self::ThreadPerTask => self.kind().as_str().to_owned(),
            Self::Jvm(jvm) => jvm.variant(),
        }
    }

    /// The name in full.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Pool { admission: Admission::Cached, .. } => {
                "own pool on std threads, one more where none is idle".to_owned()
            }
            Self::Pool { threads, admission } => {
                format!("own pool on std threads, {}{}", count(*threads, "thread"), admission.phrase())
            }
            Self::ThreadPerTask => "a std thread for each task".to_owned(),
            Self::May { workers } => format!("may {MAY_VERSION}, {}", count(*workers, "worker")),
            Self::Tokio { workers, blocks } => {
                let workers = count(*workers, "worker");
                format!("tokio {TOKIO_VERSION}, multi-thread, {workers}{}", blocks.phrase("spawn_blocking"))
            }
            Self::TokioCurrentThread { blocks } => {
                format!("tokio {TOKIO_VERSION}, current-thread{}", blocks.phrase("spawn_blocking"))
            }
            Self::Smol { workers, blocks } => {
                format!("smol {SMOL_VERSION}, {}{}", count(*workers, "worker"), blocks.phrase("unblock"))
            }
            Self::Jvm(jvm) => jvm.name(),
        }
    }

    /// What becomes of a task for which there is no thread; for what is no pool, it waits.
    pub(crate) const fn admission(&self) -> Admission {
        match self {
            Self::Pool { admission, .. } | Self::Jvm(Jvm { admission, .. }) => *admission,
            _ => Admission::Unbounded,
        }
    }

    /// Tasks that can hold or be on a thread at once.
    pub(crate) const fn threads(&self) -> u32 {
        match self {
            Self::Pool { threads, .. } => *threads,
            Self::May { workers } | Self::Tokio { workers, .. } | Self::Smol { workers, .. } => *workers,
            Self::ThreadPerTask => u32::MAX,
            Self::TokioCurrentThread { .. } => 1,
            Self::Jvm(jvm) => jvm.threads,
        }
    }

    /// Whether a `block` step holds the thread.
    pub(crate) const fn holds_in_blocks(&self) -> bool {
        let (Self::Tokio { blocks, .. } | Self::TokioCurrentThread { blocks } | Self::Smol { blocks, .. }) = self
        else {
            return true;
        };
        matches!(blocks, Blocks::OnWorker)
    }

    /// Whether a wait at or inside a monitor holds the thread: of coroutines on the JVM, and of virtual threads before
    /// JDK 24 (T-12).
    pub(crate) fn holds_in_monitors(&self) -> bool {
        match self {
            Self::Jvm(jvm) if jvm.kind == Kind::JavaVirtual => jvm.java.feature < 24,
            Self::Jvm(jvm) => jvm.kind.model() == Model::Coroutines,
            _ => false,
        }
    }
}

impl Admission {
    /// As the run has it.
    fn of(run: &RunSpec) -> Self {
        match (run.pool.unwrap_or_default(), run.queue) {
            (PoolKind::Cached, _) => Self::Cached,
            (PoolKind::Fixed, Some(capacity)) => {
                Self::Bounded { capacity, rejection: run.rejection.unwrap_or_default() }
            }
            _ => Self::Unbounded,
        }
    }

    /// Whether the thread that submits a task runs it where the pool has no room for it.
    pub(crate) const fn caller_runs(self) -> bool {
        matches!(self, Self::Bounded { rejection: Rejection::CallerRuns, .. })
    }

    /// A pool of so many threads with it, in a word.
    fn variant(self, pool: &str, threads: u32) -> String {
        match self {
            Self::Unbounded => format!("{pool}-{threads}"),
            Self::Bounded { capacity, rejection: Rejection::Abort } => format!("{pool}-{threads}-queue{capacity}"),
            Self::Bounded { capacity, rejection } => {
                format!("{pool}-{threads}-queue{capacity}-{}", rejection.as_str())
            }
            Self::Cached => format!("{pool}-cached"),
        }
    }

    /// The same in full, behind the number of threads.
    fn phrase(self) -> String {
        match self {
            Self::Bounded { capacity, rejection } => {
                let then = match rejection {
                    Rejection::Abort => "refuses the others",
                    Rejection::CallerRuns => "the caller runs the others",
                };
                format!(", room for {} in its queue, {then}", count(capacity, "task"))
            }
            Self::Unbounded | Self::Cached => String::new(),
        }
    }
}

impl Blocks {
    /// What tells the two apart in a word.
    const fn suffix(self) -> &'static str {
        match self {
            Self::OnWorker => "",
            Self::Elsewhere => "-spawn-blocking",
        }
    }

    /// The same in full, with the name of the call.
    fn phrase(self, call: &str) -> String {
        match self {
            Self::OnWorker => String::new(),
            Self::Elsewhere => format!(", block steps by {call}"),
        }
    }
}

impl Jvm {
    fn variant(&self) -> String {
        let mut parts = vec![self.kind.as_str().to_owned()];
        match self.kind {
            Kind::JavaPool => parts[0] = self.admission.variant(&parts[0], self.threads),
            // The JDK decides how virtual threads behave (T-11 to T-17), and nothing else here.
            Kind::JavaVirtual => parts.push(format!("jdk{}", self.java.feature)),
            _ => {}
        }
        for (name, limit) in [("", self.parallelism), ("max", self.max_pool), ("min", self.min_runnable)] {
            parts.extend(limit.map(|limit| format!("{name}{limit}")));
        }
        parts.extend(
            self.lock.map(
                |kind| {
                    if kind == LockKind::Reentrant { "reentrant".to_owned() } else { "monitor".to_owned() }
                },
            ),
        );
        parts.join("-")
    }

    fn name(&self) -> String {
        let java = format!("Java {}", self.java.text);
        let kotlin = format!("kotlinx.coroutines {COROUTINES_VERSION} on {java}");
        let mut parts = vec![match self.kind {
            Kind::JavaPool => match self.admission {
                Admission::Unbounded => format!("{java}, newFixedThreadPool, {}", count(self.threads, "thread")),
                Admission::Cached => format!("{java}, newCachedThreadPool"),
                Admission::Bounded { .. } => {
                    format!("{java}, ThreadPoolExecutor, {}{}", count(self.threads, "thread"), self.admission.phrase())
                }
            },
            Kind::JavaVirtual => format!("{java}, virtual threads, {}", count(self.threads, "carrier")),
            Kind::KotlinDefault => {
                format!("{kotlin}, async on Dispatchers.Default, {}", count(self.threads, "worker"))
            }
            Kind::KotlinIo => format!("{kotlin}, async on Dispatchers.IO, {} at once", self.threads),
            Kind::KotlinEventLoop => format!("{kotlin}, launch in runBlocking"),
            _ => format!("{java}, a platform thread for each task"),
        }];
        for (name, limit) in [
            ("limitedParallelism", self.parallelism),
            ("maxPoolSize", self.max_pool),
            ("minRunnable", self.min_runnable),
        ] {
            parts.extend(limit.map(|limit| format!("{name} {limit}")));
        }
        parts.join(", ")
    }
}

fn count(n: u32, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_those_of_the_lock_file_and_of_maven() {
        let lock = include_str!("../../../../Cargo.lock");
        for (name, version) in [("may", MAY_VERSION), ("tokio", TOKIO_VERSION), ("smol", SMOL_VERSION)] {
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{name}");
        }
        let pom = include_str!("../../../../jvm/pom.xml");
        assert!(pom.contains(&format!("<coroutines.version>{COROUTINES_VERSION}<")));
    }

    #[test]
    fn names_say_what_is_measured() {
        let java = Version { feature: 25, text: "25.0.3".to_owned() };
        for (kind, run, variant, name) in [
            (
                Kind::JavaPool,
                r#"{"model":"thread-pool","size":1}"#,
                "java-pool-1",
                "Java 25.0.3, newFixedThreadPool, 1 thread",
            ),
            (
                Kind::JavaPool,
                r#"{"model":"thread-pool","size":3,"queue":7,"rejection":"caller-runs"}"#,
                "java-pool-3-queue7-caller-runs",
                "Java 25.0.3, ThreadPoolExecutor, 3 threads, room for 7 tasks in its queue, the caller runs the others",
            ),
            (
                Kind::Pool,
                r#"{"model":"thread-pool","queue":0}"#,
                "pool-4-queue0",
                "own pool on std threads, 4 threads, room for 0 tasks in its queue, refuses the others",
            ),
            (
                Kind::JavaPool,
                r#"{"model":"thread-pool","pool":"cached"}"#,
                "java-pool-cached",
                "Java 25.0.3, newCachedThreadPool",
            ),
            (
                Kind::JavaVirtual,
                r#"{"model":"green-threads","max_pool":9,"lock":"monitor"}"#,
                "java-virtual-jdk25-max9-monitor",
                "Java 25.0.3, virtual threads, 4 carriers, maxPoolSize 9",
            ),
            (
                Kind::KotlinIo,
                r#"{"model":"coroutines","dispatcher":"io"}"#,
                "kotlin-io",
                "kotlinx.coroutines 1.10.2 on Java 25.0.3, async on Dispatchers.IO, 64 at once",
            ),
            // A runtime that was asked for by its name has no knob of another model's run.
            (
                Kind::JavaThreadPerTask,
                r#"{"model":"coroutines","parallelism":3}"#,
                "java-thread-per-task",
                "Java 25.0.3, a platform thread for each task",
            ),
        ] {
            let runtime = Runtime::new(kind, &serde_json::from_str(run).unwrap(), 4, Some(&java)).unwrap();
            assert_eq!((runtime.variant(), runtime.name()), (variant.to_owned(), name.to_owned()));
            assert_eq!(Runtime::new(kind, &RunSpec::new(Model::ThreadPool), 4, None).is_none(), kind.is_jvm());
        }
    }
}
