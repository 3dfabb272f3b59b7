//! Whether the figures of a measurement can be trusted: each judgement a function of figures, each answer a warning.

use super::overhead::Harness;
use super::report::Run;
use super::stats::Spread;
use super::surroundings::Change;
use super::warning::Warning;

/// A run is noisy where the 95 % interval of its mean total time is wider than this share of the mean ...
const WIDEST_INTERVAL: f64 = 0.1;
/// ... or, with too few repetitions for an interval, its standard deviation is larger than this share.
const LARGEST_DEVIATION: f64 = 0.1;
/// A total is too short below so many steps of the clock ...
const FEWEST_STEPS: u64 = 1_000;
/// ... and where more than this share of it may be the measuring itself.
const LARGEST_HARNESS_SHARE: f64 = 0.05;
/// Other programs disturb where they use more than this share of the cores.
const OTHER_LOAD: f64 = 0.1;
/// [ns] Shorter measurements are not judged by the kernel's account of cores, which counts in ticks of 10 ms.
const SHORTEST_ACCOUNT_NS: u64 = 500_000_000;
/// Fewer repetitions have no trend that could be told from chance.
const FEWEST_FOR_TREND: usize = 8;
/// A trend is one where chance alone would give as clear an order in one of a hundred measurements: the two-sided
/// quantile of the normal distribution.
const TREND_Z: f64 = 2.576;
/// And where it makes this much of the median between the first and the last repetition.
const TREND_SHARE: f64 = 0.05;

/// Everything that the repetitions of these runs give reason for.
pub(crate) fn runs(runs: &[Run], harness: &Harness) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for run in runs {
        let variant = &run.result.variant;
        warnings.extend(noisy(variant, &run.statistics.makespan_ns));
        warnings.extend(too_short(variant, run.harness_share, run.result.makespan_ns, harness));
        warnings.extend(drift(variant, &run.makespans_ns));
    }
    warnings
}

/// Everything that happened beside the measurement.
pub(crate) fn surroundings(change: &Change) -> Vec<Warning> {
    other_load(change).into_iter().chain(throttled(change)).collect()
}

/// The warning that this spread of totals deserves, if it does.
fn noisy(variant: &str, makespan_ns: &Spread) -> Option<Warning> {
    let variant = variant.to_owned();
    if makespan_ns.mean <= 0.0 {
        return None;
    }
    let share = match (makespan_ns.mean_interval, makespan_ns.cv()) {
        (Some(interval), _) => (interval.high - interval.low) / makespan_ns.mean / WIDEST_INTERVAL,
        (None, Some(cv)) => cv / LARGEST_DEVIATION,
        (None, None) => return None,
    };
    let percent = |of: f64| (of * 100.0).round() as u64;
    (share > 1.0).then(|| match makespan_ns.mean_interval {
        Some(_) => {
            Warning::Noisy { variant, interval_percent: Some(percent(share * WIDEST_INTERVAL)), sd_percent: None }
        }
        None => {
            Warning::Noisy { variant, interval_percent: None, sd_percent: Some(percent(share * LARGEST_DEVIATION)) }
        }
    })
}

/// The warning that so short a total deserves, if it does.
fn too_short(variant: &str, share: f64, makespan_ns: u64, harness: &Harness) -> Option<Warning> {
    let steps = makespan_ns / harness.clock_resolution_ns.max(1);
    (share > LARGEST_HARNESS_SHARE || steps < FEWEST_STEPS).then(|| Warning::TooShort {
        variant: variant.to_owned(),
        makespan_ns,
        harness_percent: (share * 100.0).round() as u64,
        resolution_ns: harness.clock_resolution_ns,
    })
}

/// The warning that these totals deserve in the order in which they were measured, if they rise or fall.
fn drift(variant: &str, makespans_ns: &[u64]) -> Option<Warning> {
    let trend = Trend::of(makespans_ns)?;
    let clear = trend.z.abs() > TREND_Z && trend.share.abs() > TREND_SHARE;
    clear.then(|| Warning::Drift { variant: variant.to_owned(), percent: (trend.share * 100.0).round() as i64 })
}

/// Whether values rise or fall, by the test of Mann and Kendall, and how much by the slope of Theil and Sen; neither is
/// moved by a few outliers.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Trend {
    /// How far the order is from one by chance, in standard deviations.
    z: f64,
    /// The change from the first to the last as a share of the median.
    share: f64,
}

impl Trend {
    fn of(values: &[u64]) -> Option<Self> {
        let count = values.len();
        if count < FEWEST_FOR_TREND {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        let mut slopes = Vec::new();
        let mut score = 0_i64;
        for (i, &before) in values.iter().enumerate() {
            for (steps, &after) in (1_u32..).zip(&values[i + 1..]) {
                score += i64::from(after > before) - i64::from(after < before);
                slopes.push((after as f64 - before as f64) / f64::from(steps));
            }
        }
        slopes.sort_unstable_by(f64::total_cmp);
        let terms = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
        let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|equal| terms(equal.len() as f64)).sum();
        let variance = (terms(count as f64) - ties) / 18.0;
        let median = sorted[count / 2] as f64;
        if variance <= 0.0 || median <= 0.0 {
            return None;
        }
        // The score counts in whole steps: half a step of continuity towards 0, as the test has it.
        let towards_zero = (score.abs() - 1).max(0) * score.signum();
        Some(Self {
            z: towards_zero as f64 / variance.sqrt(),
            share: slopes[slopes.len() / 2] * (count - 1) as f64 / median,
        })
    }
}

/// The warning that other programs deserve, if they do: what the cores did beyond this measurement.
fn other_load(change: &Change) -> Option<Warning> {
    let (of_cores, own_ns) = (change.of_cores?, change.own_ns?);
    if change.elapsed_ns < SHORTEST_ACCOUNT_NS || change.cores == 0 {
        return None;
    }
    let whole = change.elapsed_ns as f64 * f64::from(change.cores);
    let share = |ns: u64| ns as f64 / whole;
    let (others, stolen) = (share(of_cores.busy_ns.saturating_sub(own_ns)), share(of_cores.stolen_ns));
    let percent = |share: f64| (share * 100.0).round() as u64;
    (others + stolen > OTHER_LOAD)
        .then(|| Warning::OtherLoad { others_percent: percent(others), stolen_percent: percent(stolen) })
}

/// The warning that a limit of CPU time deserves, if it held the measurement back.
fn throttled(change: &Change) -> Option<Warning> {
    let throttled = change.throttled;
    (throttled.periods > 0).then_some(Warning::Throttled { periods: throttled.periods, ms: throttled.ns / 1_000_000 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::surroundings::{CoreTime, Throttled};

    fn spread(values: &[u64]) -> Spread {
        Spread::of(&(1..).zip(values.iter().map(|&value| value as f64)).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_wide_spread_is_noisy() {
        for (values, interval, sd) in [
            (&[100_u64; 1][..], None, None),
            (&[100, 101, 99], None, None),
            (&[100, 150, 80], None, Some(33)),
            (&[100, 101, 99, 100, 102, 98, 100], None, None),
            (&[100, 150, 80, 110, 160, 70, 100, 90], Some(40), None),
        ] {
            let expect = (interval.is_some() || sd.is_some()).then(|| Warning::Noisy {
                variant: "x".to_owned(),
                interval_percent: interval,
                sd_percent: sd,
            });
            assert_eq!(noisy("x", &spread(values)), expect, "{values:?}");
        }
    }

    #[test]
    fn a_total_near_the_clock_or_the_measuring_is_too_short() {
        let harness = Harness { clock_resolution_ns: 20, clock_read_ns: 25.0, task_ns: 100.0 };
        for (tasks, makespan_ns, expect) in
            [(10_000, 50_000_000, false), (10_000, 19_000_000, true), (1, 19_999, true), (1, 20_000, false)]
        {
            let share = harness.share(tasks, makespan_ns);
            assert_eq!(too_short("x", share, makespan_ns, &harness).is_some(), expect, "{tasks} {makespan_ns}");
        }
    }

    #[test]
    fn a_trend_is_told_from_noise_and_from_a_step_at_the_start() {
        for (values, expect) in [
            (vec![100, 101, 102, 103, 104, 105, 106], None),
            ((0..20).map(|i| 100 + i).collect(), Some(17)),
            ((0..20).map(|i| 1_000 - 10 * i).collect(), Some(-21)),
            // Too small to matter, however clear.
            ((0..20).map(|i| 100_000 + i).collect(), None),
            ((0..20).map(|i| 100 + i * 7 % 11).collect(), None),
            (vec![100; 20], None),
            // One slow repetition is an outlier and no trend.
            ([vec![500], vec![100, 101, 99, 100, 102, 98, 101, 100, 99]].concat(), None),
        ] {
            let found = match drift("x", &values) {
                Some(Warning::Drift { percent, .. }) => Some(percent),
                _ => None,
            };
            assert_eq!(found, expect, "{values:?}");
        }
    }

    #[test]
    fn other_programs_and_stolen_time_are_told_where_they_matter() {
        let second = 1_000_000_000;
        for (elapsed_ns, busy_ns, stolen_ns, own_ns, expect) in [
            (10 * second, 12 * second, 0, 11 * second, None),
            (10 * second, 15 * second, 0, 11 * second, Some((20, 0))),
            (10 * second, 11 * second, 3 * second, 11 * second, Some((0, 15))),
            // What runs in the kernel's books of the children may be a tick more than the cores say.
            (10 * second, 11 * second, 0, 12 * second, None),
            (second / 4, second / 2, 0, 0, None),
        ] {
            let of_cores = Some(CoreTime { busy_ns, stolen_ns });
            let change = Change { elapsed_ns, cores: 2, of_cores, own_ns: Some(own_ns), ..Change::default() };
            let expect =
                expect.map(|(others_percent, stolen_percent)| Warning::OtherLoad { others_percent, stolen_percent });
            assert_eq!(other_load(&change), expect, "{change:?}");
        }
        assert_eq!(other_load(&Change { elapsed_ns: 10 * second, cores: 2, ..Change::default() }), None);
    }

    #[test]
    fn a_limit_that_held_it_back_is_told() {
        for (periods, ns, expect) in [(0, 0, None), (3, 7_500_000, Some(Warning::Throttled { periods: 3, ms: 7 }))] {
            let change = Change { throttled: Throttled { periods, ns }, ..Change::default() };
            assert_eq!(throttled(&change), expect);
        }
    }
}
