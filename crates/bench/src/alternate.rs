//! Rounds in which several things take turns, so that a slow minute of the machine hits all of them alike.
//!
//! Times are CPU time of this process: what else the machine does meanwhile counts only as far as it takes the caches.

use std::hint::black_box;

use nix::time::{ClockId, clock_gettime};

/// What the rounds took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Time {
    /// [ns] The median.
    pub(crate) median: u64,
    /// [ns] The least: what a machine with nothing else to do would take.
    pub(crate) least: u64,
}

impl Time {
    /// Both for each of `count` units.
    pub(crate) fn per(self, count: u64) -> Self {
        Self { median: self.median / count, least: self.least / count }
    }
}

/// The times of each piece of work over `rounds` rounds; odd rounds run in reverse.
pub(crate) fn times(rounds: usize, work: &mut [&mut dyn FnMut() -> u64]) -> Vec<Time> {
    let mut times = vec![Vec::with_capacity(rounds); work.len()];
    for round in 0..rounds {
        for turn in 0..work.len() {
            let index = if round % 2 == 0 { turn } else { work.len() - 1 - turn };
            let start = cpu_time();
            black_box(work[index]());
            times[index].push(cpu_time() - start);
        }
    }
    let read = |mut times: Vec<u64>| {
        times.sort_unstable();
        Time { median: times[times.len() / 2], least: times[0] }
    };
    times.into_iter().map(read).collect()
}

/// [ns] CPU time that this process has had.
pub(crate) fn cpu_time() -> u64 {
    // Every Linux has this clock; without it all times are 0, which nobody takes for a figure.
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(0, |time| time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// Quotient for people: two decimals.
pub(crate) fn ratio(value: u64, base: u64) -> String {
    format!("{:.2}", value as f64 / base as f64)
}
