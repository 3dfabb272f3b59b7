//! The result of a measurement, version 1: the runs of a result file, with where and on what they were measured.
//!
//! A figure that could not be had is null, and `unavailable` says why.

use std::collections::BTreeMap;

use parkbench_engine::{Plan, Reason, Scenario};
use parkbench_trace::{Failures, Origin, RESULT_VERSION, RunMemory, RunResult};
use serde::Serialize;

use super::child::Repetition;
use super::counters::Counters;
use super::environment::Environment;
use super::histogram::Histograms;
use super::jvm::JvmReadings;
use super::kind::Kind;
use super::overhead::Harness;
use super::probe::Reading;
use super::repeat::Finished;
use super::select::{Absent, Planned};
use super::stats::{Bootstrap, FEWEST, Statistics};
use super::trace::TraceFigures;
use super::warning::Warning;

/// A measured result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    version: u32,
    /// The scenario as it was run.
    pub(crate) scenario: Scenario,
    /// Where.
    pub(crate) environment: Environment,
    /// How the intervals of the statistics were found.
    pub(crate) bootstrap: Bootstrap,
    /// What limits the figures.
    pub(crate) warnings: Vec<Warning>,
    /// What was not measured, and why.
    pub(crate) absent: Vec<Absent>,
    /// One for each runtime of which a repetition was finished.
    pub(crate) runs: Vec<Run>,
}

/// What one runtime did; the figures are those of the repetition with the median makespan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Run {
    /// The figures that a simulated run has too.
    #[serde(flatten)]
    pub(crate) result: RunResult,
    /// The runtime in full.
    pub(crate) runtime: String,
    /// The variants of the scenario that it stands for.
    pub(crate) stands_for: Vec<String>,
    /// Unmeasured runs before the first repetition; a JVM's own, on a part of the tasks, not counted.
    pub(crate) warm_ups: u32,
    /// The share of the total that noting the times of the tasks took, at most.
    pub(crate) harness_share: f64,
    /// [ns] Makespan of every repetition, in the order in which they ran.
    pub(crate) makespans_ns: Vec<u64>,
    /// What all repetitions say together.
    pub(crate) statistics: Statistics,
    /// [bytes] Peak of the resident memory above what the process had just before the run.
    pub(crate) resident_growth_bytes: Option<u64>,
    /// [ns] CPU time of all threads, in their own code and in the kernel.
    pub(crate) cpu_ns: Option<u64>,
    /// What the processor has counted in one more run; left out where nobody has asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) counters: Option<CounterFigures>,
    /// Latency and response time of the tasks of all repetitions.
    #[serde(flatten)]
    pub(crate) histograms: Histograms,
    /// What the JVM says; left out where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) jvm: Option<JvmRun>,
    /// What it has cost to trace one more repetition; left out where none was traced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) trace: Option<TraceFigures>,
}

/// What the processor has counted in one more run, none of the repetitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CounterFigures {
    /// Instructions that were carried out.
    pub(crate) instructions: Option<u64>,
    /// Cycles of the cores.
    pub(crate) cycles: Option<u64>,
    /// Accesses to memory that no cache could answer.
    pub(crate) cache_misses: Option<u64>,
    /// Whether the kernel's part is in the figures; absent where there are none.
    pub(crate) with_kernel: Option<bool>,
}

/// What the JVM says about the repetition with the median makespan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct JvmRun {
    #[serde(flatten)]
    pub(crate) readings: JvmReadings,
    /// How often a virtual thread was pinned, in one more run with the flight recorder.
    pub(crate) pinned: Option<u64>,
}

impl Report {
    /// Puts the finished repetitions of each planned runtime together.
    pub(crate) fn new(
        scenario: &Scenario,
        environment: Environment,
        warnings: Vec<Warning>,
        absent: Vec<Absent>,
        results: &[(Planned, Finished)],
    ) -> Self {
        let harness = environment.harness;
        let run = |(planned, finished): &(Planned, Finished)| Run::new(scenario, planned, finished, &harness);
        let runs = results.iter().filter_map(run).collect();
        Self {
            version: RESULT_VERSION,
            scenario: scenario.clone(),
            environment,
            bootstrap: Bootstrap::HERE,
            warnings,
            absent,
            runs,
        }
    }
}

impl Run {
    pub(crate) fn new(scenario: &Scenario, planned: &Planned, finished: &Finished, harness: &Harness) -> Option<Self> {
        let repetitions = &finished.repetitions;
        let mut order: Vec<&Repetition> = repetitions.iter().collect();
        order.sort_by_key(|repetition| repetition.makespan_ns);
        // The lower middle, so that it is a repetition that happened.
        let median = *order.get(order.len().saturating_sub(1) / 2)?;
        let statistics = Statistics::of(repetitions)?;
        let readings = &median.readings;
        let mut unavailable = BTreeMap::new();
        for (name, reason) in [
            ("queue_ns", "a task's waits for a worker are not recorded in a measurement"),
            ("core_busy_share", "what a core does is not recorded in a measurement"),
            ("core_overhead_share", "what a core does is not recorded in a measurement"),
            ("workers", "what a thread does is not recorded in a measurement"),
            ("digest", "a measurement has no digest, for no two are the same"),
            ("events", "a measurement has no events"),
        ] {
            unavailable.insert(name.to_owned(), reason.to_owned());
        }
        if repetitions.len() < FEWEST {
            let reason = format!("an interval of 95 % needs {FEWEST} repetitions at least");
            unavailable.insert("statistics.intervals".to_owned(), reason);
        }
        // A JVM has its own code for it.
        let noting = Harness { task_ns: finished.task_ns.unwrap_or(harness.task_ns), ..*harness };
        let harness_share = noting.share(median.tasks_done, median.makespan_ns);
        if repetitions.len() < 2 {
            unavailable.insert("statistics.sd".to_owned(), "one repetition has no deviation".to_owned());
        }
        let mut figure = |name: &str, reading: &Reading| match reading {
            Ok(value) => Some(*value),
            Err(reason) => {
                unavailable.insert(name.to_owned(), reason.clone());
                None
            }
        };
        let tasks = Plan::new(scenario, planned.workload).map_or(median.tasks_done, |plan| plan.tasks.into());
        let failed = median.tasks_rejected + median.tasks_orphaned;
        let of = |(reason, tasks)| (tasks > 0).then_some(Failures { reason, tasks: tasks as u32 });
        let failures = [(Reason::Rejected, median.tasks_rejected), (Reason::ParentFailed, median.tasks_orphaned)];
        let failures = failures.into_iter().filter_map(of).collect();
        let seconds = median.makespan_ns.max(1) as f64 / 1e9;
        let os_switches = match (&readings.voluntary_switches, &readings.involuntary_switches) {
            (Ok(voluntary), Ok(involuntary)) => Ok(voluntary + involuntary),
            (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        };
        let resident_growth_bytes = figure("resident_growth_bytes", &readings.resident_growth);
        let cpu_ns = figure("cpu_ns", &readings.cpu_ns);
        let virtual_threads = planned.runtime.kind() == Kind::JavaVirtual;
        let reason =
            if virtual_threads { "the measurement ended before" } else { "only virtual threads can be pinned" };
        let not_counted = || Err(reason.to_owned());
        let jvm = median.jvm.map(|readings| JvmRun {
            readings,
            pinned: figure("jvm.pinned", &finished.pinned.clone().unwrap_or_else(not_counted)),
        });
        let counters = finished.counters.as_ref().map(|counted| {
            let mut counter = |name: &str, of: fn(&Counters) -> &Reading| {
                figure(name, &counted.as_ref().map_err(Clone::clone).and_then(|counters| of(counters).clone()))
            };
            let instructions = counter("counters.instructions", |counters| &counters.instructions);
            let cycles = counter("counters.cycles", |counters| &counters.cycles);
            let cache_misses = counter("counters.cache_misses", |counters| &counters.cache_misses);
            let any = instructions.or(cycles).or(cache_misses);
            let with_kernel = counted.as_ref().ok().filter(|_| any.is_some()).map(|counters| counters.with_kernel);
            CounterFigures { instructions, cycles, cache_misses, with_kernel }
        });
        let result = RunResult {
            origin: Origin::Measured,
            model: planned.runtime.model(),
            variant: planned.runtime.variant(),
            tasks,
            tasks_done: median.tasks_done,
            tasks_failed: failed,
            failures,
            // A repetition ends when its last task does.
            tasks_unfinished: tasks.saturating_sub(median.tasks_done + failed),
            makespan_ns: median.makespan_ns,
            throughput_per_s: Some(median.tasks_done as f64 / seconds),
            latency_ns: median.latency_ns,
            response_ns: median.response_ns,
            queue_ns: None,
            memory_bytes: RunMemory {
                reserved: figure("memory_bytes.reserved", &readings.reserved),
                resident: figure("memory_bytes.resident", &readings.resident),
            },
            os_switches: figure("os_switches", &os_switches),
            voluntary_switches: figure("voluntary_switches", &readings.voluntary_switches),
            involuntary_switches: figure("involuntary_switches", &readings.involuntary_switches),
            switches_per_second: figure("switches_per_second", &os_switches).map(|count| count as f64 / seconds),
            in_flight_peak: Some(u64::from(median.in_flight_peak)),
            core_busy_share: None,
            core_overhead_share: None,
            workers: Vec::new(),
            digest: None,
            events: None,
            findings: Vec::new(),
            records_dropped: 0,
            comparison: Vec::new(),
            unavailable,
        };
        Some(Self {
            result,
            runtime: planned.runtime.name(),
            stands_for: planned.runs.iter().map(|&run| scenario.runs[run].variant(&scenario.machine)).collect(),
            warm_ups: finished.warm_ups,
            harness_share,
            makespans_ns: repetitions.iter().map(|repetition| repetition.makespan_ns).collect(),
            resident_growth_bytes,
            cpu_ns,
            histograms: Histograms::merged(repetitions.iter().map(|repetition| &repetition.histograms)),
            statistics,
            jvm,
            counters,
            trace: finished.traced.as_ref().and_then(|traced| traced.as_ref().ok()).map(|traced| (&**traced).into()),
        })
    }

    /// [ns] Shortest and longest repetition.
    pub(crate) fn makespan_range_ns(&self) -> (u64, u64) {
        let of = |best: Option<&u64>| best.copied().unwrap_or(self.result.makespan_ns);
        (of(self.makespans_ns.iter().min()), of(self.makespans_ns.iter().max()))
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;
    use parkbench_trace::Summary;

    use super::*;
    use crate::measure::probe::Readings;
    use crate::measure::select::{Wanted, plan};

    const HARNESS: Harness = Harness { clock_resolution_ns: 1, clock_read_ns: 25.0, task_ns: 100.0 };

    fn repetition(makespan_ns: u64, resident: Reading) -> Repetition {
        let summary = Summary::of(vec![makespan_ns; 4]);
        let readings = Readings {
            resident,
            resident_growth: Ok(1),
            reserved: Ok(2),
            voluntary_switches: Ok(3),
            involuntary_switches: Err("no such counter".to_owned()),
            cpu_ns: Ok(5),
        };
        Repetition {
            makespan_ns,
            tasks_done: 4,
            tasks_rejected: 2,
            tasks_orphaned: 1,
            latency_ns: summary,
            response_ns: summary,
            histograms: Histograms::default(),
            in_flight_peak: 2,
            readings,
            jvm: None,
            counters: None,
        }
    }

    #[test]
    fn the_median_is_a_repetition_that_happened() {
        let scenario = preset("io-bound").unwrap();
        let planned = plan(&scenario, &[Wanted::Rust], Err("none")).unwrap().0.swap_remove(0);
        for (times, expect) in [(&[7_u64][..], Some(7)), (&[9, 3, 5], Some(5)), (&[4, 1], Some(1)), (&[], None)] {
            let repetitions: Vec<_> = times.iter().map(|&ns| repetition(ns, Ok(ns))).collect();
            let run = Run::new(&scenario, &planned, &Finished { repetitions, ..Finished::default() }, &HARNESS);
            assert_eq!(run.as_ref().map(|run| run.result.makespan_ns), expect);
            assert_eq!(run.as_ref().map_or(expect, |run| run.result.memory_bytes.resident), expect);
            assert_eq!(run.map_or_else(Vec::new, |run| run.makespans_ns), times);
        }
    }

    #[test]
    fn a_jvm_has_its_own_cost_of_noting() {
        let scenario = preset("io-bound").unwrap();
        let planned = plan(&scenario, &[Wanted::Rust], Err("none")).unwrap().0.swap_remove(0);
        for (task_ns, expect) in [(None, 0.4), (Some(50.0), 0.2)] {
            let finished = Finished { repetitions: vec![repetition(1_000, Ok(1))], task_ns, ..Finished::default() };
            let run = Run::new(&scenario, &planned, &finished, &HARNESS).unwrap();
            assert!((run.harness_share - expect).abs() < 1e-12, "{}", run.harness_share);
        }
    }

    #[test]
    fn counters_are_figures_or_have_a_reason() {
        let scenario = preset("io-bound").unwrap();
        let planned = plan(&scenario, &[Wanted::Rust], Err("none")).unwrap().0.swap_remove(1);
        let some =
            Counters { with_kernel: true, instructions: Ok(7), cycles: Ok(8), cache_misses: Err("no such".into()) };
        for (counted, expect, reason) in [
            (None, serde_json::Value::Null, None),
            (
                Some(Ok(some)),
                serde_json::json!({"instructions": 7, "cycles": 8, "cache_misses": null, "with_kernel": true}),
                Some("no such"),
            ),
            (
                Some(Err("too long".to_owned())),
                serde_json::json!({"instructions": null, "cycles": null, "cache_misses": null, "with_kernel": null}),
                Some("too long"),
            ),
        ] {
            let finished =
                Finished { repetitions: vec![repetition(5, Ok(1))], counters: counted, ..Finished::default() };
            let json = serde_json::to_value(Run::new(&scenario, &planned, &finished, &HARNESS).unwrap()).unwrap();
            assert_eq!(json["counters"], expect);
            assert_eq!(json["unavailable"]["counters.cache_misses"].as_str(), reason);
        }
    }

    #[test]
    fn what_could_not_be_read_is_null_with_a_reason() {
        let scenario = preset("io-bound").unwrap();
        let planned = plan(&scenario, &[Wanted::Rust], Err("none")).unwrap().0.swap_remove(1);
        let repetitions = vec![repetition(1_000, Err("/proc: gone".to_owned()))];
        let run = Run::new(&scenario, &planned, &Finished { repetitions, ..Finished::default() }, &HARNESS).unwrap();
        let json = serde_json::to_value(run).unwrap();
        assert_eq!(json["memory_bytes"]["resident"], serde_json::Value::Null);
        assert_eq!(json["unavailable"]["memory_bytes.resident"], "/proc: gone");
        assert_eq!(json["os_switches"], serde_json::Value::Null);
        assert_eq!(json["unavailable"]["os_switches"], "no such counter");
        assert_eq!(json["voluntary_switches"], 3);
        assert_eq!(json["throughput_per_s"], 4e6);
        assert_eq!((&json["tasks_failed"], &json["tasks_unfinished"]), (&3.into(), &9_993.into()));
        let failures = serde_json::json!([{"reason": "rejected", "tasks": 2}, {"reason": "parent-failed", "tasks": 1}]);
        assert_eq!(json["failures"], failures);
    }
}
