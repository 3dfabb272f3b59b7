//! The figures of a comparison: simulated, measured, and the error of the simulation in per cent.

use serde::Serialize;

use super::pair::Pair;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Figure {
    /// [ns] From the first submission until the submitter has seen the last task end; of the measurement the median.
    Total,
    /// [tasks/s]
    Throughput,
    /// [ns] Start of the body to its end, the mean over the tasks.
    LatencyMean,
    /// [ns] The 95th percentile.
    LatencyP95,
    /// [bytes] Resident memory at the peak.
    Resident,
    /// OS context switches of both kinds.
    Switches,
}

impl Figure {
    pub(crate) const ALL: [Self; 6] =
        [Self::Total, Self::Throughput, Self::LatencyMean, Self::LatencyP95, Self::Resident, Self::Switches];

    /// Its name in JSON and CSV, with the unit.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Total => "makespan_ns",
            Self::Throughput => "throughput_per_s",
            Self::LatencyMean => "latency_mean_ns",
            Self::LatencyP95 => "latency_p95_ns",
            Self::Resident => "memory_resident_bytes",
            Self::Switches => "os_switches",
        }
    }

    /// Its value in the simulation and in the measurement.
    pub(crate) fn of(self, pair: &Pair) -> Compared {
        let (sim, real) = (&pair.simulated, &pair.measured.result);
        let whole = |value: Option<u64>| value.map(|value| value as f64);
        let (simulated, measured) = match self {
            Self::Total => (Some(sim.makespan_ns as f64), Some(real.makespan_ns as f64)),
            Self::Throughput => (sim.throughput_per_s, real.throughput_per_s),
            Self::LatencyMean => (Some(sim.latency_ns.mean as f64), Some(real.latency_ns.mean as f64)),
            Self::LatencyP95 => (Some(sim.latency_ns.p95 as f64), Some(real.latency_ns.p95 as f64)),
            Self::Resident => (whole(sim.memory_bytes.resident), whole(real.memory_bytes.resident)),
            Self::Switches => (whole(sim.os_switches), whole(real.os_switches)),
        };
        Compared { simulated, measured }
    }
}

/// A figure of both; `None` where it could not be had.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Compared {
    pub(crate) simulated: Option<f64>,
    pub(crate) measured: Option<f64>,
}

impl Compared {
    /// [%] How far the simulation is above the measurement; `None` where there is nothing to compare with.
    pub(crate) fn error_percent(self) -> Option<f64> {
        let (simulated, measured) = (self.simulated?, self.measured?);
        (measured > 0.0).then(|| (simulated / measured - 1.0) * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_relative_to_the_measurement() {
        for (simulated, measured, expect) in [
            (Some(110.0), Some(100.0), Some(10.0)),
            (Some(50.0), Some(100.0), Some(-50.0)),
            (None, Some(1.0), None),
            (Some(1.0), Some(0.0), None),
        ] {
            let error = Compared { simulated, measured }.error_percent();
            assert_eq!(error.map(f64::round), expect);
        }
    }
}
