//! Ticks of the time axis: round times with labels that are exact and distinct.
//!
//! Integers only. Up to two minutes a label is one decimal number with its unit; beyond, it is hours, minutes, seconds.

use crate::format::decimal;

/// One tick.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tick {
    /// [ns] Where it is.
    pub at_ns: u64,
    /// What is written at it.
    pub label: String,
}

const S: u64 = 1_000_000_000;
const MIN: u64 = 60 * S;
const H: u64 = 60 * MIN;

/// At most `max_labels` ticks at round times within `from_ns..=to_ns`, ascending.
///
/// The distance is 1, 2 or 5 times a power of ten up to 10 s, then 20 s, 30 s, and likewise in minutes and hours.
pub fn ticks(from_ns: u64, to_ns: u64, max_labels: usize) -> Vec<Tick> {
    if max_labels == 0 || to_ns < from_ns {
        return Vec::new();
    }
    if to_ns == from_ns {
        return vec![Tick { at_ns: from_ns, label: label(from_ns, to_ns) }];
    }
    let count = |step: u64| to_ns / step + 1 - from_ns.div_ceil(step);
    let Some(step) = steps().find(|&step| count(step) <= max_labels as u64) else { return Vec::new() };
    let first = from_ns.div_ceil(step);
    (0..count(step)).map(|i| (first + i) * step).map(|at_ns| Tick { at_ns, label: label(at_ns, to_ns) }).collect()
}

/// The distances, ascending; the last ones are longer than any run.
fn steps() -> impl Iterator<Item = u64> {
    let decimal = (0..10).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power)));
    let seconds = [10, 20, 30].map(|n| n * S);
    let minutes = [1, 2, 5, 10, 20, 30].map(|n| n * MIN);
    let hours = (0..6).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_u64.pow(power) * H));
    decimal.chain(seconds).chain(minutes).chain(hours)
}

/// The time exactly, in the unit that suits the right edge of the axis.
fn label(at_ns: u64, to_ns: u64) -> String {
    match to_ns {
        0..1_000 => format!("{at_ns} ns"),
        1_000..1_000_000 => format!("{} us", decimal(at_ns, 3)),
        1_000_000..S => format!("{} ms", decimal(at_ns, 6)),
        _ if to_ns < 2 * MIN => format!("{} s", decimal(at_ns, 9)),
        _ => {
            let (hours, minutes, rest) = (at_ns / H, at_ns % H / MIN, at_ns % MIN);
            let mut parts = Vec::new();
            if hours > 0 {
                parts.push(format!("{} h", crate::format::count(hours)));
            }
            if minutes > 0 {
                parts.push(format!("{minutes} min"));
            }
            if rest > 0 || parts.is_empty() {
                parts.push(format!("{} s", decimal(rest, 9)));
            }
            parts.join(" ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn check(from: u64, to: u64, max: usize, expect: &[&str]) {
        let labels: Vec<_> = ticks(from, to, max).into_iter().map(|tick| tick.label).collect();
        assert_eq!(labels, expect);
    }

    #[test]
    fn labels() {
        check(0, 10, 6, &["0 ns", "2 ns", "4 ns", "6 ns", "8 ns", "10 ns"]);
        check(0, 69_700_000, 5, &["0 ms", "20 ms", "40 ms", "60 ms"]);
        check(12_400_000, 12_600_000, 5, &["12.4 ms", "12.45 ms", "12.5 ms", "12.55 ms", "12.6 ms"]);
        check(0, 41_878_476_000, 5, &["0 s", "10 s", "20 s", "30 s", "40 s"]);
        check(40_000_000_000, 40_000_000_100, 3, &["40 s", "40.00000005 s", "40.0000001 s"]);
        check(0, 2_625 * S, 6, &["0 s", "10 min", "20 min", "30 min", "40 min"]);
        check(4_100 * S, 4_200 * S, 4, &["1 h 8 min 30 s", "1 h 9 min", "1 h 9 min 30 s", "1 h 10 min"]);
        check(0, 8_760 * H, 5, &["0 s", "2,000 h", "4,000 h", "6,000 h", "8,000 h"]);
        check(7, 7, 5, &["7 ns"]);
        check(0, 100, 0, &[]);
        check(9, 3, 5, &[]);
    }

    proptest! {
        #[test]
        fn ticks_are_ascending_inside_few_and_distinct(
            from in 0_u64..8_760 * H, exponent in 3_u32..55, part in 0_u64..1 << 55, max in 1_usize..20,
        ) {
            let to = from + 10 + part % (1 << exponent);
            let ticks = ticks(from, to, max);
            prop_assert!(ticks.len() <= max);
            // Half as many would have been a coarser step, unless there was room for hardly any.
            prop_assert!(ticks.len() * 3 >= max.saturating_sub(3), "{} of {}", ticks.len(), max);
            for pair in ticks.windows(2) {
                prop_assert!(pair[0].at_ns < pair[1].at_ns);
                prop_assert_ne!(&pair[0].label, &pair[1].label);
            }
            for tick in ticks {
                prop_assert!((from..=to).contains(&tick.at_ns));
            }
        }
    }
}
