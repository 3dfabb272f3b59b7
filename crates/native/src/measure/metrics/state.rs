//! What is known of each runtime so far: counts since the start, and the figures of the latest round.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use parkbench_engine::Scenario;
use parkbench_trace::Summary;

use crate::measure::child::Repetition;
use crate::measure::histogram::{Histogram, Histograms};
use crate::measure::report::{Report, Run};

/// Everything that is exposed, of one scenario; a round is one measurement of it.
#[derive(Debug)]
pub(crate) struct Metrics {
    /// Its name, the label `scenario`.
    pub(super) scenario: String,
    /// Its tasks, the label `tasks`.
    pub(super) tasks: String,
    state: Mutex<State>,
}

/// What changes.
#[derive(Debug, Default)]
pub(super) struct State {
    /// By the runtime in one word, the label `approach`.
    pub(super) runtimes: BTreeMap<String, Runtime>,
    /// Measurements that have ended with figures.
    pub(super) rounds: u64,
    /// When the latest of them ended.
    pub(super) latest_round: Option<SystemTime>,
}

/// What is known of one runtime.
#[derive(Debug, Default)]
pub(super) struct Runtime {
    /// Repetitions that ran to their ends.
    pub(super) repetitions: u64,
    /// Repetitions that did not.
    pub(super) failures: u64,
    /// Tasks that a pool refused, and those that they would have started.
    pub(super) failed_tasks: u64,
    /// Of the tasks of all repetitions.
    pub(super) latency: Times,
    /// Of the same tasks.
    pub(super) response: Times,
    /// The figures of the latest round; absent before the first ends, and where the latest had none.
    pub(super) latest: Option<Figures>,
}

/// A histogram with the exact sum of its times.
#[derive(Debug, Default)]
pub(super) struct Times {
    pub(super) histogram: Histogram,
    /// [ns]
    pub(super) sum: u128,
}

/// The figures of the repetition with the median makespan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Figures {
    /// [1/s]
    pub(super) throughput: Option<f64>,
    /// [ns]
    pub(super) makespan: u64,
    /// [ns] Absent where no task has ended.
    pub(super) latency: Option<Summary>,
    /// [bytes] Growth of the resident set.
    pub(super) resident_growth: Option<u64>,
    /// [bytes] Its peak.
    pub(super) resident: Option<u64>,
}

impl Metrics {
    /// Knows nothing yet of any runtime.
    pub(crate) fn new(scenario: &Scenario) -> Self {
        Self { scenario: scenario.name.clone(), tasks: scenario.task_count().to_string(), state: Mutex::default() }
    }

    /// This runtime is going to be measured; its counts begin at 0.
    pub(crate) fn planned(&self, approach: &str) {
        self.of(approach, |_| {});
    }

    /// A repetition ran to its end.
    pub(crate) fn repetition(&self, approach: &str, repetition: &Repetition) {
        let Repetition { latency_ns, response_ns, histograms: Histograms { latency, response }, .. } = repetition;
        self.of(approach, |runtime| {
            runtime.repetitions += 1;
            runtime.failed_tasks += repetition.tasks_rejected + repetition.tasks_orphaned;
            runtime.latency.add(latency, latency_ns);
            runtime.response.add(response, response_ns);
        });
    }

    /// A repetition failed, after which there are no more in this round.
    pub(crate) fn failure(&self, approach: &str) {
        self.of(approach, |runtime| runtime.failures += 1);
    }

    /// A measurement has ended.
    pub(crate) fn round(&self, report: &Report) {
        let mut state = self.lock();
        state.rounds += 1;
        state.latest_round = Some(SystemTime::now());
        // Figures of an earlier round are not those of this one.
        for runtime in state.runtimes.values_mut() {
            runtime.latest = None;
        }
        for run in &report.runs {
            state.runtimes.entry(run.result.variant.clone()).or_default().latest = Some(Figures::of(run));
        }
    }

    /// A measurement has ended without figures.
    pub(crate) fn round_without_figures(&self) {
        for runtime in self.lock().runtimes.values_mut() {
            runtime.latest = None;
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, approach: &str, change: impl FnOnce(&mut Runtime)) {
        change(self.lock().runtimes.entry(approach.to_owned()).or_default());
    }
}

impl Times {
    fn add(&mut self, histogram: &Histogram, summary: &Summary) {
        self.histogram.add(histogram);
        self.sum += u128::from(summary.mean) * u128::from(summary.count);
    }
}

impl Figures {
    fn of(run: &Run) -> Self {
        let result = &run.result;
        Self {
            throughput: result.throughput_per_s,
            makespan: result.makespan_ns,
            latency: Some(result.latency_ns).filter(|summary| summary.count > 0),
            resident_growth: run.resident_growth_bytes,
            resident: result.memory_bytes.resident,
        }
    }
}
