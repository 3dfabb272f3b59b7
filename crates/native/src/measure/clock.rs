//! The clock by which tasks note their times: the processor's counter where the kernel keeps its own time by it, else
//! the clock of the system.
//!
//! Both count alike, but to read the system's takes several times as long: it waits until all that the thread has begun
//! is done, and that is a part of what each task costs.

#![allow(unsafe_code, reason = "the processor's counter is read by an intrinsic")]

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long the counter is held against the clock of the system, once in each process: the error of two readings, some
/// tens of nanoseconds, is then 0.001 % of a time.
const CALIBRATION: Duration = Duration::from_millis(5);
/// Readings of both, of which one is used.
const TRIES: u32 = 20;
/// Fractions of a nanosecond in [`Rate`], as a power of two.
const FRACTION: u32 = 32;

/// A clock that begins with 0 when it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// The processor's counter: what it said, and its rate.
    Counter(u64, Rate),
    /// The clock of the system.
    System(Instant),
}

/// [2^-32 ns] A step of the counter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate(u64);

impl Clock {
    pub(crate) fn start() -> Self {
        match rate() {
            Some(rate) => Self::Counter(counter(), rate),
            None => Self::System(Instant::now()),
        }
    }

    /// [ns] since the start.
    #[inline]
    pub(crate) fn now(self) -> u64 {
        match self {
            // A counter that another core has read may be some steps ahead.
            Self::Counter(start, rate) => rate.ns(counter().saturating_sub(start)),
            Self::System(start) => start.elapsed().as_nanos() as u64,
        }
    }
}

impl Rate {
    #[inline]
    const fn ns(self, steps: u64) -> u64 {
        ((steps as u128 * self.0 as u128) >> FRACTION) as u64
    }
}

/// The rate of the counter; `None` where the kernel does not keep its time by it, so that cores may differ.
fn rate() -> Option<Rate> {
    static RATE: OnceLock<Option<Rate>> = OnceLock::new();
    *RATE.get_or_init(|| {
        let source =
            std::fs::read_to_string("/sys/devices/system/clocksource/clocksource0/current_clocksource").ok()?;
        (cfg!(target_arch = "x86_64") && source.trim() == "tsc").then(calibrate)
    })
}

fn calibrate() -> Rate {
    let (first, begin) = both();
    while begin.elapsed() < CALIBRATION {
        std::hint::spin_loop();
    }
    let (last, end) = both();
    let ns = end.duration_since(begin).as_nanos();
    Rate((ns << FRACTION).checked_div(u128::from(last.saturating_sub(first))).unwrap_or_default() as u64)
}

/// What both say at one time: of some tries the one in which nothing has come between.
fn both() -> (u64, Instant) {
    let read = |_| {
        let (before, now, after) = (counter(), Instant::now(), counter());
        (after.saturating_sub(before), before.midpoint(after), now)
    };
    let nearest = (0..TRIES).map(read).min_by_key(|&(apart, ..)| apart);
    nearest.map_or_else(|| (counter(), Instant::now()), |(_, counter, now)| (counter, now))
}

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: it only reads a register, which Linux lets every program do unless that asks for a signal (`PR_SET_TSC`).
    unsafe { std::arch::x86_64::_rdtsc() }
}

#[cfg(not(target_arch = "x86_64"))]
fn counter() -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever happens between the readings: the outer ones enclose the inner.
    #[test]
    fn both_clocks_count_alike() {
        for _ in 0..3 {
            let outer = Instant::now();
            let clock = Clock::start();
            let inner = Instant::now();
            while inner.elapsed() < Duration::from_millis(20) {
                std::hint::spin_loop();
            }
            let least = inner.elapsed().as_nanos() as u64;
            let now = clock.now();
            let most = outer.elapsed().as_nanos() as u64;
            // To 0.1 %, for the rate was taken in a short time on a machine that may be busy.
            assert!(now >= least - least / 1_000 && now <= most + most / 1_000, "{least} {now} {most} {clock:?}");
        }
    }

    #[test]
    fn a_step_is_a_part_of_a_nanosecond() {
        let third = Rate((1 << FRACTION) / 3);
        for (steps, expect) in
            [(0, 0), (3, 0), (4, 1), (3_000_000_000, 999_999_999), (u64::MAX / 8, 768_614_336_225_607_679)]
        {
            assert_eq!(third.ns(steps), expect, "{steps}");
        }
    }

    #[test]
    fn time_does_not_go_back() {
        let clock = Clock::start();
        let mut last = 0;
        for _ in 0..100_000 {
            let now = clock.now();
            assert!(now >= last, "{now} {last}");
            last = now;
        }
    }
}
