//! The metrics as text: the format 0.0.4 of Prometheus.
//!
//! Every name, unit and label of `docs/metrics.md` is here.

use std::fmt;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet, prometheus_text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::state::{Figures, Metrics, Runtime, State, Times};
use crate::measure::environment::BUILD;

/// The `Content-Type` of [`text`].
pub(super) const CONTENT_TYPE: &str = prometheus_text::CONTENT_TYPE;

/// [ns] Ten bounds for each power of ten (the series R10 of ISO 3), from 1 us to 100 s.
const DECADE: [u64; 10] = [100, 125, 160, 200, 250, 315, 400, 500, 630, 800];
/// [ns] A hundredth of the first bound.
const FIRST: u64 = 10;
const DECADES: u32 = 8;
const NANOS_PER_SECOND: f64 = 1e9;

/// A gauge of the latest round: name, help, and its value where there is one.
type Gauge = (&'static str, &'static str, fn(&Figures) -> Option<f64>);

/// The first five have the names of the published benchmark, so that its dashboards can be used.
const GAUGES: [Gauge; 6] = [
    ("benchmark_throughput", "Finished tasks per second of makespan, in the latest round.", |of| of.throughput),
    ("benchmark_duration_ms", "Makespan in milliseconds, in the latest round.", |of| Some(of.makespan as f64 / 1e6)),
    ("benchmark_latency_avg", "Mean latency of a task in milliseconds, in the latest round.", |of| {
        of.latency.map(|latency| latency.mean as f64 / 1e6)
    }),
    ("benchmark_latency_p95", "95th percentile of latency in milliseconds, in the latest round.", |of| {
        of.latency.map(|latency| latency.p95 as f64 / 1e6)
    }),
    (
        "benchmark_memory_mb",
        "Growth of the resident memory in megabytes (1,000,000 bytes), in the latest round.",
        |of| of.resident_growth.map(|bytes| bytes as f64 / 1e6),
    ),
    (
        "benchmark_resident_memory_bytes",
        "Largest resident memory of the process in bytes, in the latest round.",
        |of| of.resident.map(|bytes| bytes as f64),
    ),
];

/// A histogram since the start: name, help, and its times.
type Distribution = (&'static str, &'static str, fn(&Runtime) -> &Times);

const HISTOGRAMS: [Distribution; 2] = [
    ("benchmark_latency_seconds", "Start of a task's body to its end in seconds, of all repetitions.", |of| {
        &of.latency
    }),
    ("benchmark_response_seconds", "Submission of a task to its end in seconds, of all repetitions.", |of| {
        &of.response
    }),
];

/// A count since the start: name without `_total`, help, and its value.
type Count = (&'static str, &'static str, fn(&Runtime) -> u64);

const COUNTERS: [Count; 3] = [
    ("benchmark_repetitions", "Repetitions that ran to their ends.", |of| of.repetitions),
    ("benchmark_failures", "Repetitions that failed.", |of| of.failures),
    ("benchmark_failed_tasks", "Tasks that a pool refused, and those that they would have started.", |of| {
        of.failed_tasks
    }),
];

/// Everything as text.
pub(super) fn text(metrics: &Arc<Metrics>) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Exposition(Arc::clone(metrics))));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = prometheus_text::encode(&mut text, &registry);
    text
}

#[derive(Debug)]
struct Exposition(Arc<Metrics>);

impl Collector for Exposition {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let state = self.0.lock();
        let mut writer = Writer { metrics: &self.0, state: &state, encoder: &mut encoder };
        for (name, help, value) in GAUGES {
            writer.gauge(name, help, value)?;
        }
        for (name, help, times) in HISTOGRAMS {
            writer.histogram(name, help, times)?;
        }
        for (name, help, value) in COUNTERS {
            writer.counter(name, help, value)?;
        }
        writer.rounds()?;
        writer.build()
    }
}

/// Writes one metric after the other, and of each the series that exist.
struct Writer<'a, 'e> {
    metrics: &'a Metrics,
    state: &'a State,
    encoder: &'a mut DescriptorEncoder<'e>,
}

impl Writer<'_, '_> {
    fn gauge(&mut self, name: &str, help: &str, value: fn(&Figures) -> Option<f64>) -> fmt::Result {
        let mut series = Vec::new();
        for (approach, runtime) in &self.state.runtimes {
            series.extend(runtime.latest.as_ref().and_then(value).map(|value| (self.labels(approach), value)));
        }
        // A metric without series has no lines at all.
        if series.is_empty() {
            return Ok(());
        }
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        series.iter().try_for_each(|(labels, value)| metric.encode_family(labels)?.encode_gauge(value))
    }

    fn counter(&mut self, name: &str, help: &str, value: fn(&Runtime) -> u64) -> fmt::Result {
        if self.state.runtimes.is_empty() {
            return Ok(());
        }
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        for (approach, runtime) in &self.state.runtimes {
            let labels = labels(self.metrics, approach);
            metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&value(runtime), None)?;
        }
        Ok(())
    }

    fn histogram(&mut self, name: &str, help: &str, times: fn(&Runtime) -> &Times) -> fmt::Result {
        let measured = || self.state.runtimes.iter().filter(|(_, runtime)| runtime.repetitions > 0);
        if measured().next().is_none() {
            return Ok(());
        }
        let bounds = bounds();
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
        for (approach, runtime) in measured() {
            let Times { histogram, sum } = times(runtime);
            let mut below = 0;
            let buckets: Vec<(f64, u64)> = bounds
                .iter()
                .zip(histogram.cumulative(&bounds))
                .map(|(&bound, cumulative)| {
                    let count = cumulative - below;
                    below = cumulative;
                    (bound as f64 / NANOS_PER_SECOND, count)
                })
                .collect();
            let labels = labels(self.metrics, approach);
            let sum = *sum as f64 / NANOS_PER_SECOND;
            metric.encode_family(&labels)?.encode_histogram::<NoLabelSet>(sum, histogram.count(), &buckets, None)?;
        }
        Ok(())
    }

    fn rounds(&mut self) -> fmt::Result {
        let labels = [("scenario", self.metrics.scenario.clone()), ("tasks", self.metrics.tasks.clone())];
        let help = "Measurements of the scenario that ended with figures.";
        let mut metric = self.encoder.encode_descriptor("benchmark_rounds", help, None, MetricType::Counter)?;
        metric.encode_family(&labels)?.encode_counter::<NoLabelSet, _, f64>(&self.state.rounds, None)?;
        let Some(age) = self.state.latest_round.and_then(|time| time.duration_since(UNIX_EPOCH).ok()) else {
            return Ok(());
        };
        let name = "benchmark_latest_round_timestamp_seconds";
        let help = "When the latest of them ended, in seconds since 1970.";
        let mut metric = self.encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
        metric.encode_family(&labels)?.encode_gauge(&age.as_secs_f64())
    }

    fn build(&mut self) -> fmt::Result {
        let labels = [("version", env!("CARGO_PKG_VERSION")), ("build", BUILD)];
        let help = "The parkbench that measures: its version, and whether it is an optimised build.";
        let mut metric = self.encoder.encode_descriptor("parkbench_build_info", help, None, MetricType::Gauge)?;
        metric.encode_family(&labels)?.encode_gauge(&1_u64)
    }

    fn labels(&self, approach: &str) -> [(&'static str, String); 3] {
        labels(self.metrics, approach)
    }
}

/// The three labels of the published benchmark.
fn labels(metrics: &Metrics, approach: &str) -> [(&'static str, String); 3] {
    [("approach", approach.to_owned()), ("scenario", metrics.scenario.clone()), ("tasks", metrics.tasks.clone())]
}

/// [ns] The bounds of the buckets of every histogram.
fn bounds() -> Vec<u64> {
    let mut bounds: Vec<u64> =
        (0..DECADES).flat_map(|power| DECADE.map(|bound| bound * FIRST * 10_u64.pow(power))).collect();
    bounds.push(DECADE[0] * FIRST * 10_u64.pow(DECADES));
    bounds
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{Scenario, preset};
    use parkbench_trace::Summary;

    use super::*;
    use crate::measure::child::Repetition;
    use crate::measure::environment::Environment;
    use crate::measure::histogram::Histograms;
    use crate::measure::overhead::Harness;
    use crate::measure::probe::Readings;
    use crate::measure::repeat::Finished;
    use crate::measure::report::Report;
    use crate::measure::select::{Wanted, plan};

    const MS: u64 = 1_000_000;

    fn repetition() -> Repetition {
        let latency = [50 * MS, 50 * MS + 60_000, 51 * MS, 2 * MS];
        let response = latency.map(|ns| ns + 200_000 * MS);
        Repetition {
            makespan_ns: 80 * MS,
            tasks_done: 4,
            tasks_rejected: 3,
            tasks_orphaned: 0,
            latency_ns: Summary::of(latency.to_vec()),
            response_ns: Summary::of(response.to_vec()),
            histograms: Histograms::of(&latency, &response),
            in_flight_peak: 4,
            readings: Readings {
                resident: Ok(20_000_000),
                resident_growth: Err("/proc: gone".to_owned()),
                reserved: Ok(1),
                voluntary_switches: Ok(1),
                involuntary_switches: Ok(1),
                cpu_ns: Ok(1),
            },
            jvm: None,
            counters: None,
        }
    }

    /// A round in which the first runtime had these repetitions and no other had any.
    fn round(scenario: &Scenario, repetitions: Vec<Repetition>) -> Report {
        let planned = plan(scenario, &[Wanted::Rust], Err("none")).unwrap().0.swap_remove(0);
        let finished = Finished { repetitions, ..Finished::default() };
        Report::new(
            scenario,
            Environment::here(300, Harness::measure()),
            Vec::new(),
            Vec::new(),
            &[(planned, finished)],
        )
    }

    #[test]
    fn what_is_known_is_exposed_and_nothing_else() {
        let scenario = preset("io-bound").unwrap();
        let metrics = Arc::new(Metrics::new(&scenario));
        let names = || {
            let text = text(&metrics);
            let names =
                text.lines().filter_map(|line| Some(line.strip_prefix("# TYPE ")?.split(' ').next()?.to_owned()));
            names.collect::<Vec<_>>()
        };
        assert_eq!(names(), ["benchmark_rounds_total", "parkbench_build_info"]);
        metrics.planned("pool-12");
        metrics.planned("may-12");
        assert_eq!(names()[..2], ["benchmark_repetitions_total", "benchmark_failures_total"]);
        metrics.repetition("pool-12", &repetition());
        metrics.failure("may-12");
        assert_eq!(names()[..2], ["benchmark_latency_seconds", "benchmark_response_seconds"]);
        metrics.round(&round(&scenario, vec![repetition()]));
        assert_eq!(names()[..2], ["benchmark_throughput", "benchmark_duration_ms"]);
        // The growth of the memory could not be had.
        assert!(!names().contains(&"benchmark_memory_mb".to_owned()));

        let changes = ["timestamp_seconds{", "build_info{"];
        let text: String = text(&metrics)
            .lines()
            .filter(|line| !changes.iter().any(|part| line.contains(part)))
            .flat_map(|line| [line, "\n"])
            .collect();
        insta::assert_snapshot!(text);

        // A round without figures of a runtime has no figures of an earlier one.
        metrics.round(&round(&scenario, Vec::new()));
        assert_eq!(names()[..2], ["benchmark_latency_seconds", "benchmark_response_seconds"]);
    }

    #[test]
    fn bounds_rise_from_a_microsecond_to_a_hundred_seconds() {
        let bounds = bounds();
        assert_eq!((bounds[0], bounds[80], bounds.len()), (1_000, 100_000 * MS, 81));
        assert!(bounds.is_sorted_by(|a, b| a < b) && bounds.contains(&(50 * MS)));
    }
}
