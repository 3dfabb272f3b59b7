//! What a reader must know before trusting a measurement: a closed list, the same in tables and in JSON.

use parkbench_view::format;
use serde::ser::{Serialize, SerializeStruct as _, Serializer};

/// Relative change of the loop's speed above which a measurement is doubtful, in per cent.
const SPEED_CHANGE_PERCENT: u64 = 15;

/// Something that limits what a measurement says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Warning {
    /// The scenario's machine has another number of cores.
    OtherCores { scenario: u32, here: u32 },
    /// A debug build.
    DebugBuild,
    /// Other programs were running just before the measurement.
    Busy { load_percent: u64, cores: u32 },
    /// The repetitions will take long.
    Long { total_s: u64 },
    /// Runs of the scenario that share one measurement.
    Shared { variants: Vec<String>, runtime: String },
    /// A pool thread does not poll in a measurement.
    NoPolling { variant: String },
    /// A monitor of this run holds its worker in the simulation, and no lock holds a worker here.
    NoMonitor { variant: String, runtime: String },
    /// A run that names its JDK was measured on another, whose scheduler differs in what the workload does not use.
    OtherJdk { variant: String, jdk: u32, java: String },
    /// The loop's speed was another one afterwards.
    SpeedChanged { before_ps: u64, after_ps: u64 },
    /// The totals of a run differ much: the width of the 95 % interval of their mean, or their standard deviation where
    /// there are too few for an interval, in per cent of the mean.
    Noisy { variant: String, interval_percent: Option<u64>, sd_percent: Option<u64> },
    /// A total that is near the resolution of the clock or the cost of measuring.
    TooShort { variant: String, makespan_ns: u64, harness_percent: u64, resolution_ns: u64 },
    /// The totals of a run rise or fall from the first repetition to the last, by so many per cent.
    Drift { variant: String, percent: i64 },
    /// Other programs, and other machines on the same hardware, used the cores during the measurement.
    OtherLoad { others_percent: u64, stolen_percent: u64 },
    /// A limit of CPU time held the measurement back.
    Throttled { periods: u64, ms: u64 },
    /// The user ended the measurement early.
    Interrupted { finished: u32, planned: u32 },
}

impl Warning {
    /// The word in JSON.
    pub(crate) const fn kind(&self) -> &'static str {
        match self {
            Self::OtherCores { .. } => "other-cores",
            Self::DebugBuild => "debug-build",
            Self::Busy { .. } => "busy",
            Self::Long { .. } => "long",
            Self::Shared { .. } => "shared",
            Self::NoPolling { .. } => "no-polling",
            Self::NoMonitor { .. } => "no-monitor",
            Self::OtherJdk { .. } => "other-jdk",
            Self::SpeedChanged { .. } => "speed-changed",
            Self::Noisy { .. } => "noisy",
            Self::TooShort { .. } => "too-short",
            Self::Drift { .. } => "drift",
            Self::OtherLoad { .. } => "other-load",
            Self::Throttled { .. } => "throttled",
            Self::Interrupted { .. } => "interrupted",
        }
    }

    /// One or two sentences: what is the case, and what to do about it.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::OtherCores { scenario, here } => format!(
                "The scenario says {scenario} cores and this machine has {here}. Threads are as many as the scenario \
                 says, so waits compare with it and CPU work does not."
            ),
            Self::DebugBuild => {
                "This is a debug build: everything but sleeping is slower. Build with --release for figures to keep."
                    .to_owned()
            }
            Self::Busy { load_percent, cores } => format!(
                "In the minute before the measurement {}.{:02} threads wanted to run on {cores} cores. Repeat on a \
                 quiet machine.",
                load_percent / 100,
                load_percent % 100
            ),
            Self::Long { total_s } => {
                format!("This will take about {}. Use --tasks, --reps or --model for less.", minutes(*total_s))
            }
            Self::Shared { variants, runtime } => {
                format!("{} share one measurement: {runtime} has nothing in which they differ.", variants.join(", "))
            }
            Self::NoPolling { variant } => format!(
                "{variant} polls in the simulation to explain a published number of context switches; no thread polls \
                 here."
            ),
            Self::NoMonitor { variant, runtime } => format!(
                "In the simulation a task of {variant} that waits at or inside a monitor holds its worker; the locks of \
                 {runtime} let the worker go."
            ),
            Self::OtherJdk { variant, jdk, java } => format!(
                "{variant} is of JDK {jdk} and was measured on Java {java}, which has another timer; --java takes the home of \
                 another Java."
            ),
            Self::SpeedChanged { before_ps, after_ps } => format!(
                "One iteration of the CPU loop took {before_ps} ps before and {after_ps} ps after the measurement: the processor's speed \
                 changed or it was shared. Repeat on a quiet machine."
            ),
            Self::Noisy { variant, interval_percent: Some(percent), .. } => format!(
                "The totals of {variant} are noisy: the 95 % interval of their mean is {percent} % of it wide. More \
                 repetitions (--reps) make it narrower; a quiet machine and --pin make the noise less."
            ),
            Self::Noisy { variant, sd_percent, .. } => format!(
                "The totals of {variant} are noisy: their standard deviation is {} % of the mean. Use more repetitions \
                 (--reps, 20 or more), a quiet machine or --pin.",
                sd_percent.unwrap_or_default()
            ),
            Self::TooShort { variant, makespan_ns, harness_percent, resolution_ns } => format!(
                "The total of {variant}, {}, is too short: measuring may be {harness_percent} % of it, and the clock \
                 counts in steps of {resolution_ns} ns. Give the tasks more work, or compare only runs of the same number \
                 of tasks.",
                format::duration(*makespan_ns)
            ),
            Self::Drift { variant, percent } => format!(
                "The totals of {variant} {} by {} % from the first repetition to the last. Use more unmeasured runs \
                 (--warm-up) where they fall; where they rise, the machine may be getting hot or busy, so let it rest.",
                if *percent < 0 { "fall" } else { "rise" },
                percent.unsigned_abs()
            ),
            Self::OtherLoad { others_percent, stolen_percent } => format!(
                "During the measurement other programs used {others_percent} % of the cores, and {stolen_percent} % was \
                 taken by other machines on the same hardware. Repeat on a quiet machine."
            ),
            Self::Throttled { periods, ms } => format!(
                "A control group's limit of CPU time held the measurement back in {periods} periods, {ms} ms in all. Raise \
                 the limit (cpu.max) of the container or service, or measure outside it."
            ),
            Self::Interrupted { finished, planned } => {
                format!("The measurement was interrupted: {finished} of {planned} repetitions were finished.")
            }
        }
    }

    /// The warning that this load deserves, if it does: more than a quarter of the cores were busy.
    pub(crate) fn of_load(load_percent: u64, cores: u32) -> Option<Self> {
        (load_percent > u64::from(cores) * 25).then_some(Self::Busy { load_percent, cores })
    }

    /// The warning that these two speeds deserve, if they do.
    pub(crate) fn of_speeds(before_ps: u64, after_ps: u64) -> Option<Self> {
        let change = before_ps.abs_diff(after_ps) * 100 / before_ps.max(1);
        (change > SPEED_CHANGE_PERCENT).then_some(Self::SpeedChanged { before_ps, after_ps })
    }
}

impl Serialize for Warning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Warning", 2)?;
        fields.serialize_field("kind", self.kind())?;
        fields.serialize_field("message", &self.message())?;
        fields.end()
    }
}

/// `50 s`, `12 min`, `3 h 5 min`.
pub(crate) fn minutes(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_speed_is_told_only_when_it_is_large() {
        for (before, after, expect) in [(300, 300, false), (300, 345, false), (300, 349, true), (300, 200, true)] {
            assert_eq!(Warning::of_speeds(before, after).is_some(), expect, "{before} {after}");
        }
    }

    #[test]
    fn a_load_is_told_only_when_it_is_large() {
        for (load, cores, expect) in [(0, 2, false), (50, 2, false), (51, 2, true), (120, 12, false)] {
            assert_eq!(Warning::of_load(load, cores).is_some(), expect, "{load} {cores}");
        }
    }

    #[test]
    fn lengths_of_time_are_readable() {
        for (seconds, expect) in [(50, "50 s"), (700, "12 min"), (11_130, "3 h 5 min")] {
            assert_eq!(minutes(seconds), expect);
        }
    }
}
