//! Where the simulation is off: which cost it lacks, told from the CPU time and the waits of both.

use parkbench_engine::Reason;
use parkbench_trace::{Failures, RunResult};
use parkbench_view::format;
use serde::Serialize;

use super::cause::{Cause, Search};
use super::figure::Figure;
use super::pair::Pair;

/// [%] Error of the total from which there is a finding.
const OFF: f64 = 8.0;
/// Part of the difference in core time that must be explained by CPU time to call it that.
const EXPLAINS: f64 = 0.5;
/// Spread of the measurement, (longest - shortest) / median, from which it says little.
const NOISY: f64 = 0.5;

/// What is off, and what would explain it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Finding {
    /// One word.
    pub(crate) kind: &'static str,
    /// In a sentence.
    pub(crate) message: String,
    /// The cost that would explain it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cause: Option<Cause>,
}

/// [%] The error of the total, where it is so far off that there is a finding.
pub(crate) fn off(pair: &Pair) -> Option<f64> {
    Figure::Total.of(pair).error_percent().filter(|error| error.abs() >= OFF)
}

/// The findings of one runtime on `cores` cores.
pub(crate) fn of(pair: &Pair, cores: u32) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |kind, message, cause| findings.push(Finding { kind, message, cause });
    let variant = &pair.measured.result.variant;
    if !pair.has_costs {
        let message = format!(
            "{variant}: the profile has no costs of this runtime; calibrate with --runtime {}",
            pair.kind.as_str()
        );
        add("not-calibrated", message, None);
    }
    let (simulated, measured) = (refused(&pair.simulated), refused(&pair.measured.result));
    if simulated + measured > 0 {
        let message = format!(
            "{variant}: {} tasks were refused in the simulation and {} when it was measured, with those that a refused one \
             would have started",
            format::count(simulated),
            format::count(measured)
        );
        add("refused", message, None);
    }
    let Some(error) = off(pair) else { return findings };
    let (real, sim) = (&pair.measured.result, &pair.simulated);
    let (shortest, longest) = pair.measured.makespan_range_ns();
    if (longest - shortest) as f64 > NOISY * real.makespan_ns as f64 {
        let message = format!(
            "{variant}: the repetitions took from {} to {}, so an error of {} says little; repeat on a quiet machine",
            format::duration(shortest),
            format::duration(longest),
            format::percent_signed(error)
        );
        add("noisy", message, None);
    }
    let tasks = real.tasks.max(1);
    let too = if error < 0.0 { "short" } else { "long" };
    let missing = real.makespan_ns as f64 - sim.makespan_ns as f64;
    let per_task = |ns: f64| format::duration((ns.abs() / tasks as f64) as u64);
    let cpu = pair.measured.cpu_ns.map(|real| real as f64 - pair.simulated_cpu_ns as f64);
    let (kind, mut message) = match cpu {
        Some(cpu) if cpu * missing > 0.0 && cpu.abs() > EXPLAINS * missing.abs() => {
            let what = if cpu > 0.0 { "lacks" } else { "has too much" };
            let message = format!(
                "{variant}: the simulated total is {} too {too}; it {what} CPU time, {} for each task ({} measured, {} \
                 simulated, all threads): a cost of the scheduler's work or of contention on {cores} cores",
                format::percent_signed(error),
                per_task(cpu),
                format::duration(pair.measured.cpu_ns.unwrap_or_default()),
                format::duration(pair.simulated_cpu_ns)
            );
            ("cpu-time", message)
        }
        Some(_) => {
            let message = format!(
                "{variant}: the simulated total is {} too {too}, and the CPU time does not explain it: what is off is \
                 waiting, {} for each task: lateness of timers or sleeps, wake-ups, or the order in which tasks go on",
                format::percent_signed(error),
                per_task(missing)
            );
            ("waiting", message)
        }
        None => {
            let error = format::percent_signed(error);
            ("unexplained", format!("{variant}: the simulated total is {error} too {too}; no CPU time was read"))
        }
    };
    let cause = match pair.cause {
        Search::NotTried => None,
        Search::Nothing => {
            message.push_str("; no cost of the simulation alone would explain ");
            message.push_str(if cpu.is_some() { "both" } else { "it" });
            None
        }
        Search::Found(cause) => {
            message.push_str("; ");
            message.push_str(&cause.in_words());
            Some(cause)
        }
    };
    add(kind, message, cause);
    findings
}

/// Tasks that the pool has refused, and those that they would have started.
fn refused(run: &RunResult) -> u64 {
    let by_pool = |failures: &&Failures| matches!(failures.reason, Reason::Rejected | Reason::ParentFailed);
    run.failures.iter().filter(by_pool).map(|failures| u64::from(failures.tasks)).sum()
}
