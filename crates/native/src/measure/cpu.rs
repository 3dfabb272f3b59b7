//! Real computation: the loop `sum += i * i`, and how long one iteration takes on this machine.

use std::hint::black_box;
use std::time::{Duration, Instant};

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

/// Iterations that take `ns` on a core when one takes `iteration_ps`.
pub(crate) fn iterations(ns: u64, iteration_ps: u64) -> u64 {
    (u128::from(ns) * 1_000 / u128::from(iteration_ps.max(1))) as u64
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
    fn a_time_becomes_iterations() {
        for (ns, ps, expect) in [(20_000, 250, 80_000), (0, 250, 0), (1, 2_000, 0), (u64::MAX / 8, 1_000, u64::MAX / 8)]
        {
            assert_eq!(iterations(ns, ps), expect);
        }
    }
}
