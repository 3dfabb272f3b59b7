//! Real computation: the loop `sum += i * i`, for so many iterations or for so long, and how long one iteration takes on
//! this machine.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// [iterations] Between two looks at the clock: they take less than a look does.
const CHUNK: u64 = 16;

/// [ns] Between two looks no more than this is counted: a thread that was away for longer did not compute.
const AWAY_NS: u64 = 3_000;

/// [iterations] One block of the calibration; about 30 us in a release build.
const BLOCK: u64 = 100_000;

/// How long the calibration runs.
const CALIBRATION: Duration = Duration::from_millis(60);

/// [ps] Anything faster cannot be the loop: the optimiser has removed it.
pub(crate) const FASTEST_ITERATION_PS: u64 = 50;

/// Computes for this many iterations of the workload's loop.
///
/// `black_box` hides `i`, so that the compiler can neither put the closed formula in place of the loop nor vectorise
/// it, while the sum stays in a register.
#[inline(never)]
pub(crate) fn spin(iterations: u64) -> u64 {
    let mut sum = 0_u64;
    for i in 0..iterations {
        let i = black_box(i);
        sum = sum.wrapping_add(i.wrapping_mul(i));
    }
    black_box(sum)
}

/// Computes until so many nanoseconds have passed on a core, to a few tens of nanoseconds.
///
/// Not for so many iterations: what a core does in a microsecond changes with what its neighbours do (threads of one
/// physical core share its units), and a step that says 20 us is to hold its worker for 20 us. Where the work counts
/// and not the time, a scenario says `iterations`.
pub(crate) fn compute(ns: u64) {
    let mut left = ns;
    let mut last = Instant::now();
    while left > 0 {
        spin(CHUNK);
        let now = Instant::now();
        let took = ((now - last).as_nanos() as u64).min(AWAY_NS);
        last = now;
        // The end is at the nearest look.
        left = if left > took / 2 { left.saturating_sub(took) } else { 0 };
    }
}

/// [ps] One iteration, from the fastest of many blocks: what a core gives when nothing disturbs it.
pub(crate) fn calibrate() -> u64 {
    let begin = Instant::now();
    let mut best = Duration::MAX;
    loop {
        let block = Instant::now();
        spin(BLOCK);
        best = best.min(block.elapsed());
        if begin.elapsed() >= CALIBRATION {
            return best.as_nanos() as u64 * 1_000 / BLOCK;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_the_closed_formula() {
        for n in [0_u64, 1, 2, 1_000] {
            assert_eq!(spin(n), (0..n).map(|i| i * i).sum::<u64>());
        }
    }

    #[test]
    fn the_optimiser_leaves_the_loop_in() {
        assert!(calibrate() > FASTEST_ITERATION_PS);
        // A removed loop takes the same time for any count; the fastest of ten is free of disturbance.
        let fastest = |n| {
            let time = |_| {
                let begin = Instant::now();
                spin(n);
                begin.elapsed()
            };
            (0..10).map(time).min().unwrap()
        };
        assert!(fastest(400_000) > 2 * fastest(100_000));
    }

    #[test]
    fn computing_takes_as_long_as_it_is_told_to() {
        // The fastest of ten is free of disturbance; the clock never runs ahead.
        let fastest = |ns| {
            let time = |_| {
                let begin = Instant::now();
                compute(ns);
                begin.elapsed().as_nanos() as u64
            };
            (0..10).map(time).min().unwrap()
        };
        for ns in [20_000, 500_000] {
            let took = fastest(ns);
            assert!((ns - AWAY_NS..ns + ns / 4).contains(&took), "{took} for {ns}");
        }
        assert!(fastest(0) < 20_000);
    }
}
