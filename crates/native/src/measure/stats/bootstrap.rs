//! 95 % intervals by bootstrap: the repetitions are drawn again, with replacement, thousands of times, from a fixed seed.
//!
//! The mean gets the interval that is corrected for bias and skew (`BCa`: Efron, "Better bootstrap confidence intervals",
//! 1987), for times of runs are skewed to the right. The median gets the percentile interval: the acceleration of `BCa`
//! is found by leaving out one value at a time, which says nothing about a median.

use rand_core::Rng as _;
use rand_pcg::Pcg32;
use serde::Serialize;

use super::{mean, quantile, squares};

/// The share of such intervals that hold what they are of.
const CONFIDENCE: f64 = 0.95;
/// The quantile of the standard normal distribution that leaves `(1 - CONFIDENCE) / 2` above it.
const Z: f64 = 1.959_963_984_540_054;
/// How often the repetitions are drawn again.
const RESAMPLES: usize = 10_000;
/// Where the draws begin.
const SEED: u64 = 1;
/// The fewest repetitions that have an interval. All values lie on one side of the median with a chance of `2^(1-n)`,
/// which is above 5 % for fewer: then not even the range of all values is a 95 % interval.
pub(crate) const FEWEST: usize = 6;

/// How the intervals were found, for the result file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Bootstrap {
    confidence: f64,
    resamples: usize,
    seed: u64,
    fewest_repetitions: usize,
    mean: &'static str,
    median: &'static str,
}

impl Bootstrap {
    /// What this module does.
    pub(crate) const HERE: Self = Self {
        confidence: CONFIDENCE,
        resamples: RESAMPLES,
        seed: SEED,
        fewest_repetitions: FEWEST,
        mean: "bca",
        median: "percentile",
    };

    /// The same for people.
    pub(crate) fn sentence(&self) -> String {
        format!(
            "Intervals of {:.0} % by bootstrap, {} draws from the fixed seed {}: of the mean corrected for bias and skew \
             (BCa), of the median by percentiles; fewer than {} repetitions have none. The standard deviation (sd) is in \
             per cent of the mean.",
            self.confidence * 100.0,
            self.resamples,
            self.seed,
            self.fewest_repetitions
        )
    }
}

/// From where to where.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// The lower end.
    pub(crate) low: f64,
    /// The upper end.
    pub(crate) high: f64,
}

/// The interval of the mean of sorted values.
pub(super) fn of_mean(sorted: &[f64]) -> Option<Interval> {
    if sorted.len() < FEWEST {
        return None;
    }
    Some(bca(sorted, &drawn_again(sorted, RESAMPLES, |values| mean(values))))
}

/// The interval of the median of sorted values.
pub(super) fn of_median(sorted: &[f64]) -> Option<Interval> {
    if sorted.len() < FEWEST {
        return None;
    }
    let medians = drawn_again(sorted, RESAMPLES, median);
    let tail = (1.0 - CONFIDENCE) / 2.0;
    Some(Interval { low: quantile(&medians, tail), high: quantile(&medians, 1.0 - tail) })
}

/// The figure of each resample, sorted.
fn drawn_again(values: &[f64], resamples: usize, figure: impl Fn(&mut [f64]) -> f64) -> Vec<f64> {
    let mut random = Pcg32::new(SEED, 0);
    let count = values.len() as u64;
    let mut sample = vec![0.0; values.len()];
    let mut figures: Vec<f64> = (0..resamples)
        .map(|_| {
            for place in &mut sample {
                // The high half of the product is a number below the count; its bias is below count / 2^32.
                *place = values[((u64::from(random.next_u32()) * count) >> 32) as usize];
            }
            figure(&mut sample)
        })
        .collect();
    figures.sort_unstable_by(f64::total_cmp);
    figures
}

/// The median of values in any order, which it changes.
fn median(values: &mut [f64]) -> f64 {
    let (below, &mut upper, _) = values.select_nth_unstable_by(values.len() / 2, f64::total_cmp);
    match values_max(below) {
        Some(lower) if values.len().is_multiple_of(2) => f64::midpoint(lower, upper),
        _ => upper,
    }
}

fn values_max(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}

/// The interval of the mean of `values` from the sorted means of its resamples.
fn bca(values: &[f64], means: &[f64]) -> Interval {
    let centre = mean(values);
    let cubes: f64 = values.iter().map(|value| (value - centre).powi(3)).sum();
    let squares = squares(values);
    if squares <= 0.0 {
        return Interval { low: values[0], high: values[0] };
    }
    // Leaving out one value moves the mean against it, so the jackknife's differences are the values' own, scaled.
    let acceleration = cubes / (6.0 * squares.powf(1.5));
    // Half of the resamples that agree with the mean count as below it.
    let below = means.partition_point(|&of_sample| of_sample < centre);
    let agree = means[below..].partition_point(|&of_sample| of_sample <= centre);
    let count = means.len() as f64;
    let share = ((below as f64 + agree as f64 / 2.0) / count).clamp(1.0 / count, 1.0 - 1.0 / count);
    let bias = normal_quantile(share);
    let end = |z: f64| {
        let shifted = bias + z;
        let stretch = 1.0 - acceleration * shifted;
        let at = if stretch > 0.0 { normal_share(bias + shifted / stretch) } else { f64::from(u8::from(z > 0.0)) };
        quantile(means, at)
    };
    Interval { low: end(-Z), high: end(Z) }
}

/// The share of the standard normal distribution below `z`.
fn normal_share(z: f64) -> f64 {
    libm::erfc(-z / std::f64::consts::SQRT_2) / 2.0
}

/// The `z` below which this share of the standard normal distribution lies, by bisection; at most 10 from 0.
fn normal_quantile(share: f64) -> f64 {
    let (mut low, mut high) = (-10.0, 10.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if normal_share(middle) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sorted(mut values: Vec<f64>) -> Vec<f64> {
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn the_normal_distribution() {
        for (z, share) in [(0.0, 0.5), (1.0, 0.841_344_746_068_543), (-Z, 0.025), (3.0, 0.998_650_101_968_37)] {
            assert!((normal_share(z) - share).abs() < 1e-12, "{z}");
            assert!((normal_quantile(share) - z).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn medians() {
        for (values, expect) in [(&mut [3.0, 1.0, 2.0][..], 2.0), (&mut [4.0, 1.0, 3.0, 2.0], 2.5), (&mut [5.0], 5.0)] {
            assert!(median(values).total_cmp(&expect).is_eq(), "{expect}");
        }
    }

    #[test]
    fn few_repetitions_have_no_interval() {
        for (count, expect) in [(1, false), (5, false), (6, true)] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            assert_eq!((of_mean(&values).is_some(), of_median(&values).is_some()), (expect, expect), "{count}");
        }
    }

    #[test]
    fn of_symmetrical_values_it_is_the_one_of_the_textbook() {
        // Without skew: mean ± z times the error of the mean, whose variance has the divisor n in a bootstrap.
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let error = (values.iter().map(|value| (value - 49.5).powi(2)).sum::<f64>() / 100.0).sqrt() / 10.0;
        let interval = of_mean(&values).unwrap();
        assert!((interval.low - (49.5 - Z * error)).abs() < 0.15, "{interval:?}");
        assert!((interval.high - (49.5 + Z * error)).abs() < 0.15, "{interval:?}");
    }

    #[test]
    fn of_skewed_values_it_reaches_further_to_their_side() {
        let values: Vec<f64> = (0..20).map(|i| 1.3_f64.powi(i)).collect();
        let (interval, centre) = (of_mean(&values).unwrap(), mean(&values));
        assert!(interval.high - centre > 1.2 * (centre - interval.low), "{interval:?} {centre}");
    }

    /// How many of 400 samples of 20 draws have the true figure in their interval, in per cent.
    fn coverage(draw: fn(f64) -> f64, truth: f64, interval: impl Fn(&[f64]) -> Interval) -> usize {
        let mut random = Pcg32::new(7, 7);
        let mut uniform = || (f64::from(random.next_u32()) + 0.5) / f64::from(u32::MAX);
        let samples = (0..400).map(|_| sorted((0..20).map(|_| draw(uniform())).collect()));
        samples.filter(|sample| (interval(sample).low..=interval(sample).high).contains(&truth)).count() / 4
    }

    #[test]
    fn most_intervals_hold_what_they_are_of() {
        let of_mean = |values: &[f64]| bca(values, &drawn_again(values, 500, |values| mean(values)));
        let of_median = |values: &[f64]| {
            let medians = drawn_again(values, 500, median);
            Interval { low: quantile(&medians, 0.025), high: quantile(&medians, 0.975) }
        };
        let exponential: fn(f64) -> f64 = |uniform| -uniform.ln();
        // Of 20 values an interval by bootstrap is somewhat short, the more so the more skewed they are.
        for (found, what) in [
            (coverage(|uniform| uniform, 0.5, of_mean), "mean, uniform"),
            (coverage(exponential, 1.0, of_mean), "mean, exponential"),
            (coverage(|uniform| uniform, 0.5, of_median), "median, uniform"),
            (coverage(exponential, std::f64::consts::LN_2, of_median), "median, exponential"),
        ] {
            assert!((86..=98).contains(&found), "{what}: {found} %");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn an_interval_lies_among_the_values(values in proptest::collection::vec(0_u32..=1_000_000, FEWEST..12)) {
            let values = sorted(values.into_iter().map(f64::from).collect());
            let (least, most) = (values[0], values[values.len() - 1]);
            for interval in [of_mean(&values).unwrap(), of_median(&values).unwrap()] {
                prop_assert!(least <= interval.low && interval.low <= interval.high && interval.high <= most, "{interval:?}");
            }
            let again = of_mean(&values);
            prop_assert_eq!(again, of_mean(&values), "the same values have the same interval");
            // A unit that is twice as small doubles every figure, exactly.
            let doubled: Vec<f64> = values.iter().map(|value| value * 2.0).collect();
            let (one, two) = (again.unwrap(), of_mean(&doubled).unwrap());
            prop_assert_eq!((one.low * 2.0, one.high * 2.0), (two.low, two.high));
        }
    }
}
