//! The messages between page and worker: small JSON texts; a run's records travel beside them as one buffer.

use serde::{Deserialize, Serialize};

use super::job::{Broken, Keep};

/// The version of these messages.
pub const PROTOCOL_VERSION: u32 = 4;

/// Identifies the sources that page and worker were built from; a worker from an older build is refused.
pub const BUILD_ID: &str = env!("PARKBENCH_BUILD_ID");

/// Events per step, unless the address says otherwise.
pub const DEFAULT_BUDGET: u64 = 16_384;

/// From the page, beside it perhaps a buffer that has been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ToWorker {
    /// Simulate one run of this scenario.
    Run {
        /// The request.
        id: u32,
        /// Index in the scenario.
        index: usize,
        /// The scenario as JSON.
        scenario: String,
        /// Events per step.
        budget: u64,
        /// What to keep of the runs.
        keep: Keep,
        /// Most records of the run.
        most_records: u64,
    },
}

/// From the worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FromWorker {
    /// The first message: the worker listens from now on.
    Ready {
        /// [`PROTOCOL_VERSION`] of the worker.
        protocol: u32,
        /// [`BUILD_ID`] of the worker.
        build: String,
    },
    /// How far the run is.
    Progress {
        /// The request.
        id: u32,
        /// Index in the scenario.
        index: usize,
        /// Tasks ended.
        done: u64,
    },
    /// A run ended; its recording is beside this message.
    Run {
        /// The request.
        id: u32,
        /// Index in the scenario.
        index: usize,
        /// The figures as JSON, where the records were not kept.
        figures: Option<String>,
        /// How many bytes of the buffer it has.
        bytes: u32,
    },
    /// The run broke off.
    Failed {
        /// The request; 0 where it is not known.
        id: u32,
        /// Why.
        broken: Broken,
    },
}

impl FromWorker {
    /// Why a worker that says this first cannot be used.
    pub fn refuse(&self) -> Option<String> {
        match self {
            Self::Ready { protocol, build } if *protocol == PROTOCOL_VERSION && build == BUILD_ID => None,
            Self::Ready { protocol, build } => Some(format!(
                "the worker is of build {build}, protocol {protocol}; the page is of build {BUILD_ID}, protocol \
                 {PROTOCOL_VERSION}; reload the page"
            )),
            other => Some(format!("the worker did not say ready first but {other:?}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back() {
        let (scenario, budget) = ("{}".to_owned(), u64::MAX);
        let message = ToWorker::Run { id: 3, index: 1, scenario, budget, keep: Keep::Figures, most_records: 9 };
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(serde_json::from_str::<ToWorker>(&text).unwrap(), message);
        assert_eq!(
            text,
            r#"{"kind":"run","id":3,"index":1,"scenario":"{}","budget":18446744073709551615,"keep":"figures","most_records":9}"#
        );
    }

    #[test]
    fn only_a_worker_of_the_same_build_is_used() {
        let ready = |protocol, build: &str| FromWorker::Ready { protocol, build: build.to_owned() }.refuse().is_none();
        assert!(ready(PROTOCOL_VERSION, BUILD_ID));
        assert!(!ready(PROTOCOL_VERSION + 1, BUILD_ID));
        assert!(!ready(PROTOCOL_VERSION, "other"));
        assert!(FromWorker::Progress { id: 1, index: 0, done: 0 }.refuse().is_some());
    }
}
