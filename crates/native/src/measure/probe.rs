//! What the operating system says about this process: memory, context switches, CPU time.
//!
//! A figure that cannot be read is absent with the reason, never zero.

use std::fs;

use nix::sys::resource::{Usage, UsageWho, getrusage};
use procfs::process::{Process, Status};
use serde::{Deserialize, Serialize};

/// A figure, or why there is none.
pub(crate) type Reading = Result<u64, String>;

/// What a run used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Readings {
    /// [bytes] Largest resident set of the process (`VmHWM`).
    pub(crate) resident: Reading,
    /// [bytes] How much that is above the resident set just before the run.
    pub(crate) resident_growth: Reading,
    /// [bytes] Largest address space of the process (`VmPeak`), with the allocator's arenas.
    pub(crate) reserved: Reading,
    /// Context switches that a thread asked for by blocking.
    pub(crate) voluntary_switches: Reading,
    /// Context switches forced by the kernel.
    pub(crate) involuntary_switches: Reading,
    /// [ns] CPU time of all threads. The kernel's own split into user and system time is too coarse for short runs.
    pub(crate) cpu_ns: Reading,
}

/// The state of the process before a run.
#[derive(Debug)]
pub(crate) struct Probe {
    resident: Reading,
    usage: Result<Usage, String>,
}

impl Probe {
    /// Reads everything that a run adds to.
    pub(crate) fn start() -> Self {
        // Sets the peak back to the present resident set. Where that is not allowed, the peak also covers the start of
        // the process, which needs less memory than any run.
        let _ = fs::write("/proc/self/clear_refs", "5");
        Self { resident: status().and_then(|status| kib(status.vmrss, "VmRSS")), usage: usage() }
    }

    /// Reads everything again and takes the difference where there is one.
    pub(crate) fn finish(self) -> Readings {
        // The usage first, for reading files is work too.
        let usage = usage();
        let status = status();
        let resident = status.clone().and_then(|status| kib(status.vmhwm, "VmHWM"));
        let resident_growth = match (&resident, &self.resident) {
            (Ok(peak), Ok(before)) => Ok(peak.saturating_sub(*before)),
            (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        };
        let delta = |of: fn(&Usage) -> i64| match (&self.usage, &usage) {
            (Ok(before), Ok(after)) => Ok(of(after).saturating_sub(of(before)).max(0) as u64),
            (Err(reason), _) | (_, Err(reason)) => Err(reason.clone()),
        };
        Readings {
            resident,
            resident_growth,
            reserved: status.and_then(|status| kib(status.vmpeak, "VmPeak")),
            voluntary_switches: delta(Usage::voluntary_context_switches),
            involuntary_switches: delta(Usage::involuntary_context_switches),
            cpu_ns: delta(|usage| nanos(usage.user_time()).saturating_add(nanos(usage.system_time()))),
        }
    }
}

fn usage() -> Result<Usage, String> {
    getrusage(UsageWho::RUSAGE_SELF).map_err(|error| format!("getrusage: {error}"))
}

fn status() -> Result<Status, String> {
    Process::myself().and_then(|process| process.status()).map_err(|error| format!("/proc/self/status: {error}"))
}

fn kib(value: Option<u64>, name: &str) -> Reading {
    value.map(|kib| kib * 1_024).ok_or_else(|| format!("/proc/self/status has no {name}"))
}

fn nanos(time: nix::sys::time::TimeVal) -> i64 {
    time.tv_sec().saturating_mul(1_000_000_000).saturating_add(time.tv_usec().saturating_mul(1_000))
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn memory_that_is_touched_and_sleeps_are_seen() {
        let probe = Probe::start();
        drop(black_box(vec![1_u8; 32 << 20]));
        for _ in 0..10 {
            thread::sleep(Duration::from_millis(1));
        }
        let readings = probe.finish();
        // The kernel's counters lag by some pages for each core.
        assert!(readings.resident_growth.unwrap() > 24 << 20);
        assert!(readings.reserved.unwrap() >= readings.resident.unwrap());
        assert!(readings.voluntary_switches.unwrap() >= 10);
    }
}
