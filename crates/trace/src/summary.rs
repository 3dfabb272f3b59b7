//! Mean, quantiles and maximum of a list of times, exact.

use serde::{Deserialize, Serialize};

/// What a list of times looks like; [ns] each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Number of values; where it is 0 there was nothing to measure and the other figures mean nothing.
    pub count: u64,
    /// Arithmetic mean, rounded to the nearest integer.
    pub mean: u64,
    /// Median, by nearest rank: the smallest value that at least half of the values do not exceed.
    pub p50: u64,
    /// 95th percentile, by nearest rank.
    pub p95: u64,
    /// 99th percentile, by nearest rank.
    pub p99: u64,
    /// Largest value.
    pub max: u64,
}

impl Summary {
    /// Selects the figures instead of sorting for them; exact all the same. O(n).
    pub fn of(mut values: Vec<u64>) -> Self {
        Self::reorder(&mut values)
    }

    /// The same of values that it leaves in another order.
    pub(crate) fn reorder(values: &mut [u64]) -> Self {
        let (Some(&max), count) = (values.iter().max(), values.len()) else { return Self::default() };
        let sum: u128 = values.iter().copied().map(u128::from).sum();
        let rank = |percent: usize| (count * percent).div_ceil(100).clamp(1, count) - 1;
        // Each selection leaves the smaller values before it, so that the next has only those to look at.
        let (before, &mut p99, _) = values.select_nth_unstable(rank(99));
        let p95 = select(before, rank(95), p99);
        let p50 = select(before, rank(50), p99);
        Self { count: count as u64, mean: ((sum + count as u128 / 2) / count as u128) as u64, p50, p95, p99, max }
    }
}

/// The value of this rank among `values` and, where they are too few, the one that follows them.
fn select(values: &mut [u64], rank: usize, next: u64) -> u64 {
    if rank < values.len() { *values.select_nth_unstable(rank).1 } else { next }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: impl IntoIterator<Item = u64>, expect: [u64; 6]) {
        let s = Summary::of(values.into_iter().collect());
        assert_eq!([s.count, s.mean, s.p50, s.p95, s.p99, s.max], expect);
    }

    #[test]
    fn nearest_rank() {
        check([], [0; 6]);
        check([7], [1, 7, 7, 7, 7, 7]);
        check([4, 1], [2, 3, 1, 4, 4, 4]);
        check((1..=100).rev(), [100, 51, 50, 95, 99, 100]);
        check(1..=10_000, [10_000, 5_001, 5_000, 9_500, 9_900, 10_000]);
        check((0..1_000).map(|n| n * 7_919 % 1_000), [1_000, 500, 499, 949, 989, 999]);
        check([u64::MAX; 3], [3, u64::MAX, u64::MAX, u64::MAX, u64::MAX, u64::MAX]);
    }
}
