//! Which real runtime stands for a run of the scenario, and what it is called.

use parkbench_engine::{Dispatcher, Flavor, Model, RunSpec, Scenario};
use serde::{Deserialize, Serialize};

/// The version of `may` that is built in; a test compares it with the lock file.
const MAY_VERSION: &str = "0.3.51";
/// The version of tokio that is built in; a test compares it with the lock file.
const TOKIO_VERSION: &str = "1.54.1";
/// Coroutines that `Dispatchers.IO` runs at once at most, unless there are more cores (K-6).
const IO_PARALLELISM: u32 = 64;

/// A real runtime with its number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Runtime {
    /// The pool in `pool`.
    Pool { threads: u32 },
    /// `may`, in `green`.
    May { workers: u32 },
    /// tokio's multi-thread runtime, in `coroutine`.
    Tokio { workers: u32 },
    /// tokio's current-thread runtime, in `coroutine`.
    TokioCurrentThread,
}

impl Runtime {
    /// The runtime for this run: the same number of threads as the scenario says.
    pub(crate) fn for_run(run: &RunSpec, cores: u32) -> Self {
        match run.model {
            Model::ThreadPool => Self::Pool { threads: run.size.unwrap_or(cores) },
            Model::GreenThreads => Self::May { workers: run.carriers.unwrap_or(cores) },
            Model::Coroutines if run.runtime() == Some(parkbench_engine::Runtime::Tokio) => {
                match run.flavor.unwrap_or_default() {
                    Flavor::MultiThread => Self::Tokio { workers: run.workers.unwrap_or(cores) },
                    Flavor::CurrentThread => Self::TokioCurrentThread,
                }
            }
            Model::Coroutines => match run.dispatcher.unwrap_or_default() {
                Dispatcher::Default => Self::Tokio { workers: cores.max(2) },
                Dispatcher::Io => Self::Tokio { workers: cores.max(IO_PARALLELISM) },
                Dispatcher::EventLoop => Self::TokioCurrentThread,
            },
        }
    }

    /// The model that it stands for.
    pub(crate) const fn model(&self) -> Model {
        match self {
            Self::Pool { .. } => Model::ThreadPool,
            Self::May { .. } => Model::GreenThreads,
            Self::Tokio { .. } | Self::TokioCurrentThread => Model::Coroutines,
        }
    }

    /// One word for tables and files.
    pub(crate) fn variant(&self) -> String {
        match self {
            Self::Pool { threads } => format!("pool-{threads}"),
            Self::May { workers } => format!("may-{workers}"),
            Self::Tokio { workers } => format!("tokio-{workers}"),
            Self::TokioCurrentThread => "tokio-current".to_owned(),
        }
    }

    /// The name in full.
    pub(crate) fn name(&self) -> String {
        let count = |n: u32, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        match self {
            Self::Pool { threads } => format!("own pool on std threads, {}", count(*threads, "thread")),
            Self::May { workers } => format!("may {MAY_VERSION}, {}", count(*workers, "worker")),
            Self::Tokio { workers } => {
                format!("tokio {TOKIO_VERSION}, multi-thread, {}", count(*workers, "worker"))
            }
            Self::TokioCurrentThread => format!("tokio {TOKIO_VERSION}, current-thread"),
        }
    }

    /// Tasks that can hold or be on a thread at once.
    pub(crate) const fn threads(&self) -> u32 {
        match self {
            Self::Pool { threads } => *threads,
            Self::May { workers } | Self::Tokio { workers } => *workers,
            Self::TokioCurrentThread => 1,
        }
    }
}

/// A runtime and the runs of the scenario that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planned {
    /// What is measured.
    pub(crate) runtime: Runtime,
    /// Indices in the scenario's `runs`.
    pub(crate) runs: Vec<usize>,
}

/// The runtimes to measure, in the order of the runs; runs that only a JVM could tell apart share one.
pub(crate) fn plan(scenario: &Scenario) -> Vec<Planned> {
    let mut plan: Vec<Planned> = Vec::new();
    for (index, run) in scenario.runs.iter().enumerate() {
        let runtime = Runtime::for_run(run, scenario.machine.cores);
        match plan.iter_mut().find(|planned| planned.runtime == runtime) {
            Some(planned) => planned.runs.push(index),
            None => plan.push(Planned { runtime, runs: vec![index] }),
        }
    }
    plan
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    #[track_caller]
    fn check(name: &str, expect: &[(&str, &[usize])]) {
        let plan = plan(&preset(name).unwrap());
        let got: Vec<_> = plan.iter().map(|planned| (planned.runtime.variant(), planned.runs.as_slice())).collect();
        let got: Vec<_> = got.iter().map(|(variant, runs)| (variant.as_str(), *runs)).collect();
        assert_eq!(got, expect);
    }

    #[test]
    fn each_run_has_its_runtime() {
        check("io-bound", &[("pool-12", &[0]), ("may-12", &[1]), ("tokio-64", &[2])]);
        check("cpu-bound", &[("pool-12", &[0]), ("may-12", &[1]), ("tokio-12", &[2])]);
        check("high-concurrency", &[("pool-12", &[0]), ("may-12", &[1]), ("tokio-current", &[2])]);
        check("pinning", &[("may-8", &[0, 1, 2, 3])]);
    }

    #[test]
    fn versions_are_those_of_the_lock_file() {
        let lock = include_str!("../../../../Cargo.lock");
        for (name, version) in [("may", MAY_VERSION), ("tokio", TOKIO_VERSION)] {
            assert!(lock.contains(&format!("name = \"{name}\"\nversion = \"{version}\"")), "{name}");
        }
    }
}
