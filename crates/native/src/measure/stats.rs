//! What the repetitions of a runtime say together: mean, median, spread, intervals, outliers, and the two throughputs
//! that people print.
//!
//! Pure: figures in, figures out. How an interval is found is in `bootstrap`.

mod bootstrap;

use serde::Serialize;

use super::child::Repetition;
pub(crate) use bootstrap::{Bootstrap, FEWEST, Interval};

/// Tukey's fences are this many interquartile ranges below the first quartile and above the third.
const FENCE: f64 = 1.5;

/// What the repetitions of one runtime say together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Statistics {
    /// [ns] The total time.
    pub(crate) makespan_ns: Spread,
    /// [tasks/s] Finished tasks by makespan, of each repetition.
    pub(crate) throughput_per_s: Spread,
    /// [tasks/s] The two ways to say the throughput of all repetitions in one number.
    pub(crate) throughput: Throughput,
    /// [ns] Mean latency of the tasks of a repetition.
    pub(crate) latency_mean_ns: Spread,
    /// [ns] 95th percentile of the latency of the tasks of a repetition.
    pub(crate) latency_p95_ns: Spread,
    /// [ns] CPU time of all threads; absent where no repetition could say.
    pub(crate) cpu_ns: Option<Spread>,
    /// [bytes] Growth of the resident set; absent where no repetition could say.
    pub(crate) resident_growth_bytes: Option<Spread>,
}

impl Statistics {
    /// Of these repetitions in the order in which they ran; `None` where there is none.
    pub(crate) fn of(repetitions: &[Repetition]) -> Option<Self> {
        let spread = |of: &dyn Fn(&Repetition) -> Option<f64>| {
            let numbered = (1..).zip(repetitions).filter_map(|(number, repetition)| Some((number, of(repetition)?)));
            Spread::of(&numbered.collect::<Vec<_>>())
        };
        let whole = |of: fn(&Repetition) -> u64| spread(&|repetition| Some(of(repetition) as f64));
        let done = |repetition: &Repetition| (repetition.tasks_done, repetition.makespan_ns);
        Some(Self {
            makespan_ns: whole(|repetition| repetition.makespan_ns)?,
            throughput_per_s: spread(&|repetition| Some(rate(done(repetition))))?,
            throughput: Throughput::of(&repetitions.iter().map(done).collect::<Vec<_>>()),
            latency_mean_ns: whole(|repetition| repetition.latency_ns.mean)?,
            latency_p95_ns: whole(|repetition| repetition.latency_ns.p95)?,
            cpu_ns: spread(&|repetition| repetition.readings.cpu_ns.as_ref().ok().map(|&ns| ns as f64)),
            resident_growth_bytes: spread(&|repetition| {
                repetition.readings.resident_growth.as_ref().ok().map(|&bytes| bytes as f64)
            }),
        })
    }
}

/// [tasks/s] So many tasks in so many nanoseconds.
fn rate((tasks, ns): (u64, u64)) -> f64 {
    tasks as f64 * 1e9 / ns.max(1) as f64
}

/// One figure over the repetitions that have it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Spread {
    /// Repetitions that have the figure.
    pub(crate) count: u64,
    /// Arithmetic mean.
    pub(crate) mean: f64,
    /// The middle one, or the mean of the two in the middle.
    pub(crate) median: f64,
    /// Standard deviation of the population that the repetitions are a sample of (divisor n - 1); absent for one.
    pub(crate) sd: Option<f64>,
    /// The smallest.
    pub(crate) min: f64,
    /// The largest.
    pub(crate) max: f64,
    /// 95 % interval of the mean; absent for fewer repetitions than [`FEWEST`].
    pub(crate) mean_interval: Option<Interval>,
    /// 95 % interval of the median; absent for fewer repetitions than [`FEWEST`].
    pub(crate) median_interval: Option<Interval>,
    /// Repetitions outside Tukey's fences, in their order.
    pub(crate) outliers: Vec<Outlier>,
}

/// A repetition that is far from the others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Outlier {
    /// Which repetition; the first is 1.
    pub(crate) repetition: u32,
    /// Its figure.
    pub(crate) value: f64,
}

impl Spread {
    /// Of these figures, each with the number of its repetition; `None` where there is none.
    pub(crate) fn of(numbered: &[(u32, f64)]) -> Option<Self> {
        let mut sorted: Vec<f64> = numbered.iter().map(|&(_, value)| value).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let (&min, &max) = (sorted.first()?, sorted.last()?);
        // A mean is no smaller than the least and no larger than the largest, whatever the rounding.
        let mean = mean(&sorted).clamp(min, max);
        let (below, above) = fences(&sorted);
        Some(Self {
            count: sorted.len() as u64,
            mean,
            median: quantile(&sorted, 0.5),
            sd: sd(&sorted),
            min,
            max,
            mean_interval: bootstrap::of_mean(&sorted),
            median_interval: bootstrap::of_median(&sorted),
            outliers: numbered
                .iter()
                .filter(|(_, value)| !(below..=above).contains(value))
                .map(|&(repetition, value)| Outlier { repetition, value })
                .collect(),
        })
    }

    /// Standard deviation by mean: 0.1 is 10 %. Absent for one repetition, and where the mean is 0.
    pub(crate) fn cv(&self) -> Option<f64> {
        self.sd.filter(|_| self.mean > 0.0).map(|sd| sd / self.mean)
    }
}

/// The throughput of all repetitions in one number, in both ways, and what is between them.
///
/// The mean of 1/x is never below 1 by the mean of x (Jensen), so the mean of rates flatters: by the factor `1 + c^2`
/// to second order, where `c` is the coefficient of variation of the makespans. Published tables whose rate is not
/// tasks by total time are explained by it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Throughput {
    /// [tasks/s] The mean of each repetition's rate.
    pub(crate) mean_of_rates: f64,
    /// [tasks/s] Tasks by the mean makespan: all tasks of all repetitions by all their time.
    pub(crate) rate_of_means: f64,
    /// The first by the second; 1 or more where every repetition has the same number of tasks.
    pub(crate) ratio: f64,
    /// `1 + c^2`: the ratio to second order. The variance in it has the divisor n, for it is of these repetitions.
    pub(crate) one_plus_cv_squared: f64,
}

impl Throughput {
    /// From the tasks and the makespan of each repetition, of which there is one at least.
    fn of(repetitions: &[(u64, u64)]) -> Self {
        let times: Vec<f64> = repetitions.iter().map(|&(_, ns)| ns as f64).collect();
        let rates: Vec<f64> = repetitions.iter().copied().map(rate).collect();
        let tasks: f64 = repetitions.iter().map(|&(tasks, _)| tasks as f64).sum();
        let (mean_of_rates, mean_ns) = (mean(&rates), mean(&times).max(1.0));
        let rate_of_means = tasks * 1e9 / (mean_ns * times.len() as f64);
        let variance = squares(&times) / times.len() as f64;
        Self {
            mean_of_rates,
            rate_of_means,
            ratio: if rate_of_means > 0.0 { mean_of_rates / rate_of_means } else { 1.0 },
            one_plus_cv_squared: 1.0 + variance / (mean_ns * mean_ns),
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Standard deviation with the divisor n - 1.
fn sd(values: &[f64]) -> Option<f64> {
    let [_, _, ..] = values else { return None };
    Some((squares(values) / (values.len() - 1) as f64).sqrt())
}

/// The sum of the squared distances from the mean.
fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

/// The quantile `at` (0 to 1) of sorted values, linear between neighbours: type 7 of Hyndman and Fan, the
/// default of R and of `NumPy`.
pub(crate) fn quantile(sorted: &[f64], at: f64) -> f64 {
    let place = at.clamp(0.0, 1.0) * (sorted.len().saturating_sub(1)) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Tukey's fences of sorted values.
pub(crate) fn fences(sorted: &[f64]) -> (f64, f64) {
    let (first, third) = (quantile(sorted, 0.25), quantile(sorted, 0.75));
    let reach = FENCE * (third - first);
    (first - reach, third + reach)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(values: &[f64]) -> Vec<(u32, f64)> {
        (1..).zip(values.iter().copied()).collect()
    }

    fn spread(values: &[f64]) -> Spread {
        Spread::of(&numbered(values)).unwrap()
    }

    /// The throughputs of repetitions of 10,000 tasks that took so long.
    fn throughput(makespans_ns: &[u64]) -> Throughput {
        Throughput::of(&makespans_ns.iter().map(|&ns| (10_000, ns)).collect::<Vec<_>>())
    }

    #[test]
    fn mean_median_and_deviation() {
        // The deviations by hand: 1..=5 has 10 / 4.
        for (values, mean, median, sd) in [
            (&[7.0][..], 7.0, 7.0, None),
            (&[4.0, 1.0], 2.5, 2.5, Some(4.5_f64.sqrt())),
            (&[5.0, 1.0, 4.0, 2.0, 3.0], 3.0, 3.0, Some(2.5_f64.sqrt())),
            (&[1.0, 1.0, 1.0, 9.0], 3.0, 1.0, Some(4.0)),
        ] {
            let spread = spread(values);
            assert_eq!((spread.mean, spread.median, spread.sd), (mean, median, sd), "{values:?}");
            assert_eq!(spread.count, values.len() as u64);
        }
        assert_eq!(Spread::of(&[]), None);
    }

    #[test]
    fn quantiles_are_those_of_type_7() {
        // As `numpy.quantile` has them.
        for (values, at, expect) in [
            (&[1.0][..], 0.25, 1.0),
            (&[1.0, 2.0, 3.0, 4.0], 0.25, 1.75),
            (&[1.0, 2.0, 3.0, 4.0], 0.75, 3.25),
            (&[1.0, 2.0, 3.0, 4.0, 5.0], 0.25, 2.0),
            (&[1.0, 2.0], 1.0, 2.0),
        ] {
            assert!((quantile(values, at) - expect).abs() < 1e-12, "{values:?} {at}");
        }
    }

    #[test]
    fn outliers_are_named_by_their_repetition() {
        #[track_caller]
        fn check(values: &[f64], expect: &[u32]) {
            let found: Vec<_> = spread(values).outliers.iter().map(|outlier| outlier.repetition).collect();
            assert_eq!(found, expect, "{values:?}");
        }
        check(&[1.0], &[]);
        check(&[1.0, 1.0, 1.0], &[]);
        check(&[10.0, 11.0, 10.5, 40.0, 10.2, 10.8], &[4]);
        check(&[1.0, 100.0, 101.0, 102.0, 103.0, 104.0, 200.0], &[1, 7]);
        // Quartiles 2 and 4: fences at -1 and 7, and what is on a fence is inside.
        check(&[1.0, 2.0, 3.0, 4.0, 7.0], &[]);
        check(&[1.0, 2.0, 3.0, 4.0, 7.1], &[5]);
    }

    #[test]
    fn the_published_rates_are_means_of_rates() {
        // Seed 2's table divides 10,000 by its own total to less than it prints: runtime-facts 5.1, inconsistency 2, has
        // the ratios and the variation that they imply. Half of the runs shorter and half longer by the variation.
        for (cv_percent, ratio) in
            [(8.9, 1.008), (9.3, 1.009), (17.6, 1.031), (9.4, 1.009), (11.7, 1.014), (5.4, 1.003), (10.4, 1.011)]
        {
            let by = |percent: f64| (70_000_000.0 * (1.0 + percent / 100.0)) as u64;
            let both = throughput(&[by(-cv_percent), by(cv_percent)]);
            assert!((both.rate_of_means - 10_000.0 / 0.070).abs() < 1.0, "{both:?}");
            assert!((both.one_plus_cv_squared - ratio).abs() < 0.0006, "{cv_percent} %: {both:?}");
            // The second order leaves out a fourth and the rounding of the table.
            assert!((both.ratio - ratio).abs() < 0.0016, "{cv_percent} %: {both:?}");
        }
    }

    #[test]
    fn equal_repetitions_have_one_throughput() {
        let both = throughput(&[50_000_000; 20]);
        assert_eq!((both.mean_of_rates, both.rate_of_means), (200_000.0, 200_000.0));
        assert_eq!((both.ratio, both.one_plus_cv_squared), (1.0, 1.0));
    }

    proptest! {
        #[test]
        fn the_mean_of_rates_is_never_below_the_rate_of_means(times in proptest::collection::vec(1_000_u64..=100_000_000_000, 1..40)) {
            let both = throughput(&times);
            prop_assert!(both.ratio >= 1.0 - 1e-12, "{both:?}");
            // Kantorovich: no more than this, for values between a and b.
            let (a, b) = (*times.iter().min().unwrap() as f64, *times.iter().max().unwrap() as f64);
            prop_assert!(both.ratio <= (a + b).powi(2) / (4.0 * a * b) * (1.0 + 1e-12), "{both:?}");
        }

        #[test]
        fn the_ratio_is_one_plus_c_squared_to_second_order(per_mille in proptest::collection::vec(-300_i64..=300, 1..40)) {
            let times: Vec<u64> = per_mille.iter().map(|d| (1_000_000_000 + d * 1_000_000) as u64).collect();
            let both = throughput(&times);
            let mean = times.iter().sum::<u64>() as f64 / times.len() as f64;
            let most = times.iter().map(|&time| (time as f64 / mean - 1.0).abs()).fold(0.0, f64::max);
            // 1 / (1 + d) = 1 - d + d^2 - d^3 / (1 + d), and the mean of d is 0.
            let third = most / (1.0 - most) * (both.one_plus_cv_squared - 1.0);
            prop_assert!((both.ratio - both.one_plus_cv_squared).abs() <= third + 1e-12, "{both:?}");
        }

    }

    proptest! {
        // A spread draws its values again thousands of times.
        #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

        #[test]
        fn figures_keep_their_order(values in proptest::collection::vec(0_u32..=1_000_000, 1..12)) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let spread = spread(&values);
            prop_assert!(spread.min <= spread.median && spread.median <= spread.max);
            prop_assert!(spread.min <= spread.mean && spread.mean <= spread.max);
            // At most a quarter of the values lies beyond each fence, for it lies beyond a quartile.
            prop_assert!(spread.outliers.len() * 2 <= values.len());
            for outlier in &spread.outliers {
                prop_assert!(values[outlier.repetition as usize - 1].total_cmp(&outlier.value).is_eq());
            }
        }
    }
}
