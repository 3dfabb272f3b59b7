//! The result file, version 1: a scenario and what its runs gave, simulated or measured.
//!
//! Only the file's types and how a simulated run fills them; writing text is the caller's.

use std::collections::BTreeMap;

use parkbench_engine::{Finding, Model, Scenario};
use serde::{Deserialize, Serialize};

use crate::compare::{Comparison, compare};
use crate::metrics::{Metrics, WorkerUse};
use crate::summary::Summary;
use crate::times::Failures;

/// The version of the result format that this crate writes and reads.
pub const RESULT_VERSION: u32 = 1;

/// A scenario and its runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultFile {
    /// Format version; 1.
    pub version: u32,
    /// The whole scenario, so that the file can be run again.
    pub scenario: Scenario,
    /// The runs, in the order of the scenario.
    pub runs: Vec<RunResult>,
}

/// Where the figures of a run are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// The engine.
    Simulated,
    /// A real runtime.
    Measured,
}

/// What one run gave. A figure that could not be had is null, and `unavailable` says why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunResult {
    /// Where the figures are from.
    pub origin: Origin,
    /// The model.
    pub model: Model,
    /// The model's variant, such as `fixed-12` or `java-25`.
    pub variant: String,
    /// Tasks in the run.
    pub tasks: u64,
    /// Tasks that finished.
    pub tasks_done: u64,
    /// Tasks that ended without finishing.
    pub tasks_failed: u64,
    /// Those, by reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failures>,
    /// Tasks that never ended, because they wait for each other.
    pub tasks_unfinished: u64,
    /// [ns] From the first submission until the submitter has seen the last task end.
    pub makespan_ns: u64,
    /// [tasks/s] Finished tasks by makespan.
    pub throughput_per_s: Option<f64>,
    /// [ns] Start of the body to its end.
    pub latency_ns: Summary,
    /// [ns] Submission to end.
    pub response_ns: Summary,
    /// [ns] All the time a task was queued.
    pub queue_ns: Option<Summary>,
    /// Memory at the peak.
    pub memory_bytes: RunMemory,
    /// OS context switches.
    pub os_switches: Option<u64>,
    /// OS context switches that a thread asked for.
    pub voluntary_switches: Option<u64>,
    /// OS context switches forced on a thread.
    pub involuntary_switches: Option<u64>,
    /// [1/s] OS context switches by makespan.
    pub switches_per_second: Option<f64>,
    /// Most tasks that had started and not ended at one time.
    pub in_flight_peak: Option<u64>,
    /// Share of the time of all cores that ran the code of tasks, 0 to 1.
    pub core_busy_share: Option<f64>,
    /// Share of the time of all cores that went into the scheduler's own work, 0 to 1.
    pub core_overhead_share: Option<f64>,
    /// Every thread.
    pub workers: Vec<WorkerUse>,
    /// Hash of the record stream, as 16 hexadecimal digits; the same for the same scenario, seed and engine.
    pub digest: Option<String>,
    /// Events that the engine processed.
    pub events: Option<u64>,
    /// What is wrong with the run as a whole: deadlock, livelock.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Records that are in these figures and have not been kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub records_dropped: u64,
    /// Published figures beside the run's.
    pub comparison: Vec<Comparison>,
    /// Why a figure is null, by the name of its field.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unavailable: BTreeMap<String, String>,
}

/// Memory at the peak; null where it could not be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunMemory {
    /// [bytes] Address space reserved.
    pub reserved: Option<u64>,
    /// [bytes] Resident.
    pub resident: Option<u64>,
}

impl ResultFile {
    /// The file for simulated runs; `metrics[i]` belongs to `scenario.runs[i]`.
    pub fn simulated(scenario: &Scenario, metrics: &[Metrics]) -> Self {
        let runs = (0..).zip(metrics).filter_map(|(i, metrics)| RunResult::simulated(scenario, i, metrics)).collect();
        Self { version: RESULT_VERSION, scenario: scenario.clone(), runs }
    }
}

impl RunResult {
    /// The entry for a simulated run; `None` if the scenario has no such run.
    pub fn simulated(scenario: &Scenario, run_index: usize, metrics: &Metrics) -> Option<Self> {
        let spec = scenario.runs.get(run_index)?;
        let mut unavailable = BTreeMap::new();
        let mut finite = |field: &str, value: f64| {
            if !value.is_finite() {
                unavailable.insert(field.to_owned(), "the run took no time".to_owned());
            }
            Some(value).filter(|value| value.is_finite())
        };
        let throughput_per_s = finite("throughput_per_s", metrics.throughput_per_s);
        let switches_per_second = finite("switches_per_second", metrics.switches_per_second);
        let busy = metrics.core_busy_share(scenario.machine.cores);
        let overhead = metrics.core_overhead_share(scenario.machine.cores);
        let core_busy_share = finite("core_busy_share", busy.unwrap_or(f64::NAN));
        let core_overhead_share = finite("core_overhead_share", overhead.unwrap_or(f64::NAN));
        Some(Self {
            origin: Origin::Simulated,
            model: spec.model,
            variant: spec.variant(&scenario.machine),
            tasks: u64::from(metrics.tasks),
            tasks_done: u64::from(metrics.tasks_done),
            tasks_failed: u64::from(metrics.tasks_failed),
            failures: metrics.failures.clone(),
            tasks_unfinished: u64::from(metrics.tasks_unfinished),
            makespan_ns: metrics.makespan_ns,
            throughput_per_s,
            latency_ns: metrics.latency_ns,
            response_ns: metrics.response_ns,
            queue_ns: Some(metrics.queue_ns),
            memory_bytes: RunMemory {
                reserved: Some(metrics.memory_bytes.reserved),
                resident: Some(metrics.memory_bytes.resident),
            },
            os_switches: Some(metrics.os_switches),
            voluntary_switches: Some(metrics.voluntary_switches),
            involuntary_switches: Some(metrics.involuntary_switches),
            switches_per_second,
            in_flight_peak: Some(u64::from(metrics.in_flight_peak)),
            core_busy_share,
            core_overhead_share,
            workers: metrics.workers.clone(),
            digest: Some(metrics.digest.clone()),
            events: Some(metrics.events),
            findings: metrics.findings.clone(),
            records_dropped: metrics.records_dropped,
            comparison: compare(scenario, run_index, metrics),
            unavailable,
        })
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;
    use crate::testkit::small;
    use parkbench_engine::{Recording, preset};

    fn file(recording: Recording) -> ResultFile {
        let metrics = Metrics::of(&Trace::new(recording).unwrap());
        ResultFile::simulated(&preset("io-bound").unwrap(), &vec![metrics; 3])
    }

    #[test]
    fn the_json_has_the_documented_fields() {
        let json = serde_json::to_value(file(small())).unwrap();
        assert_eq!(json["version"], 1);
        assert_eq!(json["scenario"]["name"], "io-bound");
        assert_eq!(json["runs"].as_array().unwrap().len(), 3);
        let run = &json["runs"][0];
        for (pointer, expect) in [
            ("/model", "\"thread-pool\""),
            ("/variant", "\"fixed-12\""),
            ("/tasks", "2"),
            ("/makespan_ns", "100"),
            ("/throughput_per_s", "20000000.0"),
            ("/latency_ns/mean", "40"),
            ("/latency_ns/p99", "50"),
            ("/response_ns/max", "80"),
            ("/memory_bytes/reserved", "2097152"),
            ("/memory_bytes/resident", "1048576"),
            ("/os_switches", "4"),
            ("/digest", "\"0000000000abcdef\""),
            ("/events", "16"),
            ("/workers/1/role", "\"worker\""),
            ("/comparison/0/metric", "\"makespan\""),
        ] {
            assert_eq!(run.pointer(pointer).map(ToString::to_string).as_deref(), Some(expect), "{pointer}");
        }
    }

    #[test]
    fn the_file_reads_back() {
        let mut timeless = small();
        timeless.totals.makespan_ns = 0;
        for file in [file(small()), file(timeless)] {
            let text = serde_json::to_string(&file).unwrap();
            let again: ResultFile = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&again).unwrap(), text);
            assert!(again == file);
        }
    }

    #[test]
    fn a_rate_in_no_time_is_null_with_a_reason() {
        let mut timeless = small();
        timeless.totals.makespan_ns = 0;
        let json = serde_json::to_value(file(timeless)).unwrap();
        assert!(json["runs"][0]["throughput_per_s"].is_null());
        assert_eq!(json["runs"][0]["unavailable"]["throughput_per_s"], "the run took no time");
    }
}
