//! Mean and quantiles of times.

use serde::{Deserialize, Serialize};

/// [ns] What a set of times is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Summary {
    pub(crate) mean: u64,
    pub(crate) p50: u64,
    pub(crate) p95: u64,
    pub(crate) p99: u64,
    pub(crate) max: u64,
}

impl Summary {
    pub(crate) fn of(mut values: Vec<u64>) -> Self {
        values.sort_unstable();
        let n = values.len();
        if n == 0 {
            return Self::default();
        }
        let rank = |percent: usize| values[(n * percent).div_ceil(100).max(1) - 1];
        let sum: u128 = values.iter().map(|&v| u128::from(v)).sum();
        Self { mean: ((sum + n as u128 / 2) / n as u128) as u64, p50: rank(50), p95: rank(95), p99: rank(99), max: values[n - 1] }
    }
}
