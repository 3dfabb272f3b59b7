//! Published figures beside simulated ones: residuals, and what the source itself contradicts.

use parkbench_engine::{Metric, Scenario};
use serde::{Deserialize, Serialize};

use crate::metrics::Metrics;

/// One published figure beside the figure of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What was measured; the unit of the three values follows from it.
    pub metric: Metric,
    /// Where the published figure is from.
    pub source: String,
    /// As the source prints it.
    pub printed: String,
    /// The published figure in the unit of [`Metric`].
    pub reference: u64,
    /// The figure of the run in the same unit; `None` where it cannot be had (a rate in a run of no time).
    pub simulated: Option<u64>,
    /// [%] By how much the run is above (+) or below (-) the published figure.
    pub residual_percent: Option<f64>,
    /// Why the source contradicts itself here, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<String>,
    /// The value that the source's own rules allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistent_value: Option<u64>,
    /// [%] By how much the run is above (+) or below (-) the value that the source's own rules allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual_to_consistent_percent: Option<f64>,
}

/// The published figures for one run of the scenario, in the order of the scenario.
pub fn compare(scenario: &Scenario, run_index: usize, metrics: &Metrics) -> Vec<Comparison> {
    let of_this_run = scenario.references.iter().filter(|reference| reference.run == run_index);
    of_this_run
        .map(|reference| {
            let simulated = value(reference.metric, metrics);
            let to = |base: u64| residual(simulated?, base);
            Comparison {
                metric: reference.metric,
                source: reference.source.clone(),
                printed: reference.printed.clone(),
                reference: reference.value,
                simulated,
                residual_percent: to(reference.value),
                contradiction: reference.contradiction.clone(),
                consistent_value: reference.consistent_value,
                residual_to_consistent_percent: reference.consistent_value.and_then(to),
            }
        })
        .collect()
}

/// The figure of a run in the unit of the metric.
fn value(metric: Metric, metrics: &Metrics) -> Option<u64> {
    match metric {
        Metric::Makespan => Some(metrics.makespan_ns),
        // Tasks per 1,000 s.
        Metric::Throughput => per(u64::from(metrics.tasks_done), 1_000, metrics.makespan_ns),
        Metric::Resident => Some(metrics.memory_bytes.resident),
        Metric::SwitchesPerSecond => per(metrics.os_switches, 1, metrics.makespan_ns),
        Metric::InFlight => Some(u64::from(metrics.in_flight_peak)),
    }
}

/// `count` per `seconds`, rounded to the nearest integer.
fn per(count: u64, seconds: u64, ns: u64) -> Option<u64> {
    let scaled = u128::from(count) * u128::from(seconds) * 1_000_000_000;
    u64::try_from((scaled + u128::from(ns) / 2).checked_div(u128::from(ns))?).ok()
}

fn residual(simulated: u64, base: u64) -> Option<f64> {
    (base > 0).then(|| (simulated as f64 - base as f64) / base as f64 * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Trace;
    use crate::testkit::small;
    use parkbench_engine::preset;

    #[test]
    fn residuals_to_the_figure_and_to_what_its_rules_allow() {
        let scenario = preset("io-bound").unwrap();
        let mut recording = small();
        recording.totals.makespan_ns = 41_878_476_000;
        let metrics = Metrics::of(&Trace::new(recording).unwrap());
        let list = compare(&scenario, 0, &metrics);
        assert_eq!(list.len(), 2);
        assert_eq!((list[0].reference, list[0].simulated), (40_000_000_000, Some(41_878_476_000)));
        assert!((list[0].residual_percent.unwrap() - 4.696).abs() < 1e-3);
        assert!((list[0].residual_to_consistent_percent.unwrap() - 0.428).abs() < 1e-3);
        assert!(list[0].contradiction.is_some());
        // Two tasks in 41.9 s are 48 in 1,000 s.
        assert_eq!(list[1].simulated, Some(48));
        assert!(compare(&scenario, 9, &metrics).is_empty());
    }

    #[test]
    fn a_rate_in_no_time_is_absent() {
        let scenario = preset("llm-agents").unwrap();
        let mut recording = small();
        recording.totals.makespan_ns = 0;
        let metrics = Metrics::of(&Trace::new(recording).unwrap());
        for comparison in compare(&scenario, 0, &metrics) {
            let rate = matches!(comparison.metric, Metric::Throughput | Metric::SwitchesPerSecond);
            assert_eq!(comparison.simulated.is_none(), rate, "{:?}", comparison.metric);
        }
    }
}
