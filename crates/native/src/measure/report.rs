//! The result of a measurement: version 1 of the measured kind of result file.
//!
//! Field names are those of a simulated result wherever they mean the same. A figure that could not be had is null, and
//! `unavailable` says why.

use std::collections::BTreeMap;

use parkbench_engine::Scenario;
use serde::Serialize;

use super::child::Repetition;
use super::environment::Environment;
use super::probe::Reading;
use super::runtime::Planned;
use super::summary::Summary;
use super::warning::Warning;

/// Version of the format.
const VERSION: u32 = 1;

/// A measured result.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Report {
    version: u32,
    kind: &'static str,
    /// The scenario as it was run.
    pub(crate) scenario: Scenario,
    /// Where.
    pub(crate) environment: Environment,
    /// What limits the figures.
    pub(crate) warnings: Vec<Warning>,
    /// One for each runtime of which a repetition was finished.
    pub(crate) runs: Vec<Run>,
}

/// What one runtime did; the figures are those of the repetition with the median makespan.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Run {
    pub(crate) model: &'static str,
    pub(crate) variant: String,
    /// The runtime in full.
    pub(crate) runtime: String,
    /// The variants of the scenario that it stands for.
    pub(crate) stands_for: Vec<String>,
    pub(crate) tasks: u64,
    pub(crate) tasks_done: u64,
    /// [ns] The median.
    pub(crate) makespan_ns: u64,
    /// [ns] Every repetition, in the order in which they ran.
    pub(crate) makespans_ns: Vec<u64>,
    pub(crate) throughput_per_s: f64,
    pub(crate) latency_ns: Summary,
    pub(crate) response_ns: Summary,
    pub(crate) in_flight_peak: u32,
    pub(crate) memory_bytes: Memory,
    pub(crate) os_switches: Option<u64>,
    pub(crate) voluntary_switches: Option<u64>,
    pub(crate) involuntary_switches: Option<u64>,
    /// [ns] CPU time of all threads.
    pub(crate) cpu_time_ns: CpuTime,
    /// By the name of the field, why it is null.
    pub(crate) unavailable: BTreeMap<&'static str, String>,
}

/// [bytes] Memory of the process at its peaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Memory {
    pub(crate) reserved: Option<u64>,
    pub(crate) resident: Option<u64>,
    pub(crate) resident_growth: Option<u64>,
}

/// [ns] CPU time of all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct CpuTime {
    pub(crate) user: Option<u64>,
    pub(crate) system: Option<u64>,
}

impl Report {
    /// Puts the finished repetitions of each planned runtime together.
    pub(crate) fn new(
        scenario: &Scenario,
        environment: Environment,
        warnings: Vec<Warning>,
        results: &[(Planned, Vec<Repetition>)],
    ) -> Self {
        let runs = results.iter().filter_map(|(planned, repetitions)| Run::new(scenario, planned, repetitions)).collect();
        Self { version: VERSION, kind: "measured", scenario: scenario.clone(), environment, warnings, runs }
    }

    /// The result file.
    pub(crate) fn to_json(&self) -> anyhow::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}

impl Run {
    fn new(scenario: &Scenario, planned: &Planned, repetitions: &[Repetition]) -> Option<Self> {
        let mut order: Vec<&Repetition> = repetitions.iter().collect();
        order.sort_by_key(|repetition| repetition.makespan_ns);
        // The lower middle, so that it is a repetition that happened.
        let median = *order.get(order.len().saturating_sub(1) / 2)?;
        let mut unavailable = BTreeMap::new();
        let mut figure = |name: &'static str, reading: &Reading| match reading {
            Ok(value) => Some(*value),
            Err(reason) => {
                unavailable.insert(name, reason.clone());
                None
            }
        };
        let readings = &median.readings;
        let memory_bytes = Memory {
            reserved: figure("memory_bytes.reserved", &readings.reserved),
            resident: figure("memory_bytes.resident", &readings.resident),
            resident_growth: figure("memory_bytes.resident_growth", &readings.resident_growth),
        };
        let voluntary_switches = figure("voluntary_switches", &readings.voluntary_switches);
        let involuntary_switches = figure("involuntary_switches", &readings.involuntary_switches);
        let os_switches = match (&readings.voluntary_switches, &readings.involuntary_switches) {
            (Ok(a), Ok(b)) => Ok(a + b),
            (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        };
        let os_switches = figure("os_switches", &os_switches);
        let cpu_time_ns = CpuTime {
            user: figure("cpu_time_ns.user", &readings.user_ns),
            system: figure("cpu_time_ns.system", &readings.system_ns),
        };
        Some(Self {
            model: planned.runtime.model().as_str(),
            variant: planned.runtime.variant(),
            runtime: planned.runtime.name(),
            stands_for: planned.runs.iter().map(|&run| scenario.runs[run].variant(&scenario.machine)).collect(),
            tasks: scenario.task_count(),
            tasks_done: median.tasks_done,
            makespan_ns: median.makespan_ns,
            makespans_ns: repetitions.iter().map(|repetition| repetition.makespan_ns).collect(),
            throughput_per_s: median.tasks_done as f64 * 1e9 / median.makespan_ns.max(1) as f64,
            latency_ns: median.latency_ns,
            response_ns: median.response_ns,
            in_flight_peak: median.in_flight_peak,
            memory_bytes,
            os_switches,
            voluntary_switches,
            involuntary_switches,
            cpu_time_ns,
            unavailable,
        })
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;
    use crate::measure::probe::Readings;
    use crate::measure::runtime::plan;

    fn repetition(makespan_ns: u64, resident: Reading) -> Repetition {
        let summary = Summary::of(vec![makespan_ns; 4]);
        let readings = Readings {
            resident,
            resident_growth: Ok(1),
            reserved: Ok(2),
            voluntary_switches: Ok(3),
            involuntary_switches: Err("no such counter".to_owned()),
            user_ns: Ok(5),
            system_ns: Ok(6),
        };
        Repetition { makespan_ns, tasks_done: 4, latency_ns: summary, response_ns: summary, in_flight_peak: 2, readings }
    }

    #[test]
    fn the_median_is_a_repetition_that_happened() {
        let scenario = preset("io-bound").unwrap();
        let planned = plan(&scenario).swap_remove(0);
        for (times, expect) in [(&[7_u64][..], Some(7)), (&[9, 3, 5], Some(5)), (&[4, 1], Some(1)), (&[], None)] {
            let repetitions: Vec<_> = times.iter().map(|&ns| repetition(ns, Ok(ns))).collect();
            let run = Run::new(&scenario, &planned, &repetitions);
            assert_eq!(run.as_ref().map(|run| run.makespan_ns), expect);
            assert_eq!(run.as_ref().map_or(expect, |run| run.memory_bytes.resident), expect);
            assert_eq!(run.map_or_else(Vec::new, |run| run.makespans_ns), times);
        }
    }

    #[test]
    fn what_could_not_be_read_is_null_with_a_reason() {
        let scenario = preset("io-bound").unwrap();
        let planned = plan(&scenario).swap_remove(1);
        let run = Run::new(&scenario, &planned, &[repetition(1_000, Err("/proc: gone".to_owned()))]).unwrap();
        let json = serde_json::to_value(run).unwrap();
        assert_eq!(json["memory_bytes"]["resident"], serde_json::Value::Null);
        assert_eq!(json["unavailable"]["memory_bytes.resident"], "/proc: gone");
        assert_eq!(json["os_switches"], serde_json::Value::Null);
        assert_eq!(json["unavailable"]["os_switches"], "no such counter");
        assert_eq!(json["voluntary_switches"], 3);
        assert_eq!(json["throughput_per_s"], 4e6);
    }
}
