//! Drawing durations: whole nanoseconds, the same bits on every machine.
//!
//! Floats appear only inside a draw and only through `+ - * /`, `sqrt` and `libm`, which are the same everywhere;
//! the logarithm and the exponential of the standard library are not.

use rand_core::Rng as _;
use rand_pcg::Pcg32;

use crate::quantity::MAX_NANOS;
use crate::rng::between;

/// A length of time, fixed or drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// [ns] The same for every task.
    Constant(u64),
    /// [ns] Uniform over the integers from the first to the second.
    Uniform(u64, u64),
    /// [ns] Exponential with this mean.
    Exponential(u64),
    /// Lognormal.
    Lognormal {
        /// [ns] Half of the draws are shorter.
        median: u64,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
    /// Bounded Pareto.
    Pareto {
        /// [ns] The shortest.
        min: u64,
        /// [ns] The longest.
        max: u64,
        /// Exponent of the tail.
        shape: f64,
    },
    /// [ns] One of these.
    Empirical(Vec<u64>),
}

impl Span {
    /// [ns] The next draw, at most a year.
    pub(crate) fn draw(&self, rng: &mut Pcg32) -> u64 {
        match self {
            Self::Constant(ns) => *ns,
            Self::Uniform(low, high) => between(rng, *low, *high),
            Self::Exponential(mean) => exponential(rng, *mean),
            Self::Lognormal { median, sigma } => whole(*median as f64 * libm::exp(sigma * normal(rng))),
            Self::Pareto { min, max, shape } => {
                // The inverse of the distribution function between its two ends.
                let (low, high) = (libm::pow(*min as f64, -shape), libm::pow(*max as f64, -shape));
                let value = libm::pow(low - unit(rng) * (low - high), -1.0 / shape);
                whole(value).clamp(*min, *max)
            }
            Self::Empirical(values) => values[between(rng, 0, values.len() as u64 - 1) as usize],
        }
    }

    /// [ns] The mean of the distribution.
    pub fn mean(&self) -> u64 {
        match self {
            Self::Constant(ns) | Self::Exponential(ns) => *ns,
            Self::Uniform(low, high) => u64::midpoint(*low, *high),
            Self::Lognormal { median, sigma } => whole(*median as f64 * libm::exp(sigma * sigma / 2.0)),
            Self::Pareto { min, max, shape } => {
                let (a, low, high) = (*shape, *min as f64, *max as f64);
                let ratio = low / high;
                let norm = 1.0 - libm::pow(ratio, a);
                if min == max || norm == 0.0 {
                    return *min;
                }
                let mean = if (a - 1.0).abs() < 1e-9 {
                    low * libm::log(high / low) / norm
                } else {
                    a * low / (a - 1.0) * (1.0 - libm::pow(ratio, a - 1.0)) / norm
                };
                whole(mean).clamp(*min, *max)
            }
            Self::Empirical(values) => {
                (values.iter().map(|&ns| u128::from(ns)).sum::<u128>() / values.len() as u128) as u64
            }
        }
    }

    /// [ns] No draw is shorter.
    pub fn shortest(&self) -> u64 {
        match self {
            Self::Constant(ns) => *ns,
            Self::Uniform(low, _) => *low,
            Self::Exponential(_) | Self::Lognormal { .. } => 0,
            Self::Pareto { min, .. } => *min,
            Self::Empirical(values) => values.iter().copied().min().unwrap_or(0),
        }
    }

    /// [ns] No draw is longer.
    pub fn longest(&self) -> u64 {
        match self {
            Self::Constant(ns) => *ns,
            Self::Uniform(_, high) => *high,
            Self::Exponential(mean) => whole(*mean as f64 * LONGEST_EXPONENTIAL),
            Self::Lognormal { median, sigma } => whole(*median as f64 * libm::exp(sigma * LONGEST_NORMAL)),
            Self::Pareto { max, .. } => *max,
            Self::Empirical(values) => values.iter().copied().max().unwrap_or(0),
        }
    }
}

/// `-ln(2^-53)`, rounded up: `unit` is never smaller.
const LONGEST_EXPONENTIAL: f64 = 37.0;
/// `sqrt(2 * 37)`, rounded up.
const LONGEST_NORMAL: f64 = 8.7;

/// [ns] Exponential with this mean.
pub(crate) fn exponential(rng: &mut Pcg32, mean: u64) -> u64 {
    whole(-(mean as f64) * libm::log(unit(rng)))
}

/// Standard normal, by Box and Muller's method.
fn normal(rng: &mut Pcg32) -> f64 {
    let (radius, angle) = (unit(rng), unit(rng));
    (-2.0 * libm::log(radius)).sqrt() * libm::cos(std::f64::consts::TAU * angle)
}

/// Above 0 and at most 1, in steps of 2^-53.
fn unit(rng: &mut Pcg32) -> f64 {
    ((rng.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// The nearest whole number of nanoseconds that a duration may have.
fn whole(ns: f64) -> u64 {
    (ns.round() as u64).min(MAX_NANOS.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Purpose, stream};

    /// Mean and share of draws below `split` must be what the formulas say, within four standard errors.
    #[track_caller]
    fn check(span: &Span, sd: f64, split: u64, below: f64) {
        let draws = 100_000;
        let rng = &mut stream(5, Purpose::StepDuration, 0);
        let values: Vec<u64> = (0..draws).map(|_| span.draw(rng)).collect();
        let mean = values.iter().sum::<u64>() as f64 / f64::from(draws);
        let error = sd / f64::from(draws).sqrt();
        assert!((mean - span.mean() as f64).abs() < 4.0 * error, "{span:?}: mean {mean}, expected {}", span.mean());
        let share = values.iter().filter(|&&v| v < split).count() as f64 / f64::from(draws);
        let error = (below * (1.0 - below) / f64::from(draws)).sqrt();
        assert!((share - below).abs() < 4.0 * error, "{span:?}: {share} below {split}, expected {below}");
        assert!(values.iter().all(|&v| v <= span.longest()));
    }

    #[test]
    fn draws_follow_their_distributions() {
        check(&Span::Exponential(1_000_000), 1e6, 693_147, 0.5);
        // Lognormal: mean = median * exp(s^2 / 2), sd = mean * sqrt(exp(s^2) - 1).
        check(&Span::Lognormal { median: 1_000_000, sigma: 0.5 }, 604e3, 1_000_000, 0.5);
        // Bounded Pareto with shape 2 on [1, 10]: F(x) = (1 - x^-2) / 0.99.
        check(&Span::Pareto { min: 1_000_000, max: 10_000_000, shape: 2.0 }, 1.2e6, 2_000_000, 0.75 / 0.99);
        check(&Span::Pareto { min: 1_000_000, max: 10_000_000, shape: 1.0 }, 2.1e6, 2_000_000, 0.5 / 0.9);
        check(&Span::Empirical(vec![1_000, 1_000, 4_000, 6_000]), 2_200.0, 2_000, 0.5);
        check(&Span::Uniform(10, 20), 3.2, 15, 5.0 / 11.0);
    }

    #[test]
    fn draws_are_pinned_to_the_bit() {
        // These values are the same on every machine; libm sees to it.
        let first = |span: Span| span.draw(&mut stream(1, Purpose::StepDuration, 7));
        assert_eq!(
            [
                first(Span::Exponential(1_000_000_000)),
                first(Span::Lognormal { median: 1_000_000_000, sigma: 1.0 }),
                first(Span::Pareto { min: 1_000, max: 1_000_000_000, shape: 1.2 }),
            ],
            [451_261_576, 2_458_754_396, 2_326]
        );
    }
}
