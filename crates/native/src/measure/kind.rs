//! The closed list of real runtimes, what each is called on the command line, and which runs it can stand for.

use clap::ValueEnum;
use parkbench_engine::{Dispatcher, Flavor, Model, PoolKind, RunSpec, Runtime as Whose};
use serde::{Deserialize, Serialize};

/// A real runtime, without its knobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// A pool of std threads with one queue, written for parkbench
    Pool,
    /// A std thread for each task
    ThreadPerTask,
    /// may's coroutines with stacks, in place of virtual threads
    May,
    /// tokio's multi-thread runtime
    Tokio,
    /// tokio's current-thread runtime
    TokioCurrent,
    /// An executor of smol; measured only where it is named
    Smol,
    /// Java: newFixedThreadPool, newCachedThreadPool, or a bounded pool
    JavaPool,
    /// Java: a platform thread for each task
    JavaThreadPerTask,
    /// Java: newVirtualThreadPerTaskExecutor
    JavaVirtual,
    /// Kotlin: async on Dispatchers.Default
    KotlinDefault,
    /// Kotlin: async on Dispatchers.IO
    KotlinIo,
    /// Kotlin: launch in the loop of runBlocking
    KotlinEventLoop,
}

impl Kind {
    /// Every runtime, those of one model beside each other.
    pub(crate) const ALL: [Self; 12] = [
        Self::Pool,
        Self::ThreadPerTask,
        Self::JavaPool,
        Self::JavaThreadPerTask,
        Self::May,
        Self::JavaVirtual,
        Self::Tokio,
        Self::TokioCurrent,
        Self::Smol,
        Self::KotlinDefault,
        Self::KotlinIo,
        Self::KotlinEventLoop,
    ];

    /// The word used on the command line and to the runner of the JVM.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::ThreadPerTask => "thread-per-task",
            Self::May => "may",
            Self::Tokio => "tokio",
            Self::TokioCurrent => "tokio-current",
            Self::Smol => "smol",
            Self::JavaPool => "java-pool",
            Self::JavaThreadPerTask => "java-thread-per-task",
            Self::JavaVirtual => "java-virtual",
            Self::KotlinDefault => "kotlin-default",
            Self::KotlinIo => "kotlin-io",
            Self::KotlinEventLoop => "kotlin-event-loop",
        }
    }

    /// The model that it stands for.
    pub(crate) const fn model(self) -> Model {
        match self {
            Self::Pool | Self::ThreadPerTask | Self::JavaPool | Self::JavaThreadPerTask => Model::ThreadPool,
            Self::May | Self::JavaVirtual => Model::GreenThreads,
            _ => Model::Coroutines,
        }
    }

    /// Whether it runs on the JVM.
    pub(crate) const fn is_jvm(self) -> bool {
        let built_in = matches!(self, Self::Pool | Self::ThreadPerTask | Self::May | Self::Tokio | Self::TokioCurrent);
        !built_in && !matches!(self, Self::Smol)
    }

    /// Whether the simulation has a scheduler and costs of its own for it.
    pub(crate) const fn is_simulated(self) -> bool {
        !matches!(self, Self::Smol)
    }

    /// Whether it can stand for this run, with every knob that the run has.
    pub(crate) fn stands_for(self, run: &RunSpec) -> bool {
        let pool = run.pool.unwrap_or_default();
        let dispatcher = run.dispatcher.unwrap_or_default();
        match (self, run.runtime()) {
            (Self::Pool | Self::JavaPool, None) => pool != PoolKind::ThreadPerTask,
            (Self::ThreadPerTask | Self::JavaThreadPerTask, None) => pool == PoolKind::ThreadPerTask,
            (Self::May, Some(Whose::Java)) => run.max_pool.is_none() && run.min_runnable.is_none(),
            (Self::JavaVirtual, Some(Whose::Java)) => true,
            (Self::Tokio, Some(Whose::Kotlin)) => dispatcher != Dispatcher::EventLoop && run.parallelism.is_none(),
            (Self::TokioCurrent | Self::KotlinEventLoop, Some(Whose::Kotlin)) => {
                dispatcher == Dispatcher::EventLoop && run.parallelism.is_none()
            }
            (Self::Tokio | Self::TokioCurrent, Some(Whose::Tokio)) => {
                let flavor = if self == Self::Tokio { Flavor::MultiThread } else { Flavor::CurrentThread };
                run.flavor.unwrap_or_default() == flavor
            }
            (Self::KotlinDefault, Some(Whose::Kotlin)) => dispatcher == Dispatcher::Default,
            (Self::KotlinIo, Some(Whose::Kotlin)) => dispatcher == Dispatcher::Io,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_is_listed_once_under_its_word() {
        for kind in Kind::value_variants() {
            assert_eq!(Kind::ALL.iter().filter(|other| *other == kind).count(), 1);
            assert_eq!(kind.to_possible_value().unwrap().get_name(), kind.as_str());
        }
    }

    #[track_caller]
    fn check(run: &str, expect: &[&str]) {
        let run: RunSpec = serde_json::from_str(run).unwrap();
        let got: Vec<_> = Kind::ALL.into_iter().filter(|kind| kind.stands_for(&run)).map(Kind::as_str).collect();
        assert_eq!(got, expect, "{run:?}");
    }

    #[test]
    fn every_run_has_the_runtimes_that_have_its_knobs() {
        check(r#"{"model":"thread-pool","size":4}"#, &["pool", "java-pool"]);
        check(r#"{"model":"thread-pool","pool":"thread-per-task"}"#, &["thread-per-task", "java-thread-per-task"]);
        check(r#"{"model":"thread-pool","pool":"cached"}"#, &["pool", "java-pool"]);
        check(r#"{"model":"thread-pool","queue":3}"#, &["pool", "java-pool"]);
        check(r#"{"model":"green-threads"}"#, &["may", "java-virtual"]);
        check(r#"{"model":"green-threads","max_pool":9}"#, &["java-virtual"]);
        check(r#"{"model":"green-threads","runtime":"go"}"#, &[]);
        check(r#"{"model":"coroutines"}"#, &["tokio", "kotlin-default"]);
        check(r#"{"model":"coroutines","dispatcher":"io"}"#, &["tokio", "kotlin-io"]);
        check(r#"{"model":"coroutines","dispatcher":"event-loop"}"#, &["tokio-current", "kotlin-event-loop"]);
        check(r#"{"model":"coroutines","parallelism":4}"#, &["kotlin-default"]);
        check(r#"{"model":"coroutines","runtime":"tokio"}"#, &["tokio"]);
        check(r#"{"model":"coroutines","runtime":"tokio","flavor":"current-thread"}"#, &["tokio-current"]);
        check(r#"{"model":"coroutines","runtime":"tokio","blocking":"spawn-blocking"}"#, &["tokio"]);
    }
}
