//! Durations and sizes as people write them: `"50 ms"`, `"1 MiB"`, parsed to integers and printed back.
//!
//! Only text and integers live here; what a value means is the caller's.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use thiserror::Error;

/// A length of time in integer nanoseconds; in scenarios a string such as `"50 ms"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Nanos(pub u64);

/// A number of bytes; in scenarios a string such as `"16 GiB"`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number in thousandths, so that it has one exact value everywhere; in scenarios a number such as `0.5`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Milli(pub u32);

impl fmt::Display for Milli {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_scaled(f, u64::from(self.0), 1_000, "")
    }
}

impl Serialize for Milli {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1_000.0)
    }
}

impl<'de> Deserialize<'de> for Milli {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Milli;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number from 0 with at most three decimals, such as 0.5")
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Milli, E> {
                let thousandths = (number * 1_000.0).round();
                // The next number of three decimals is nearer than any that has more.
                if (0.0..=1e6).contains(&thousandths) && (number - thousandths / 1_000.0).abs() < 1e-9 {
                    return Ok(Milli(thousandths as u32));
                }
                Err(E::invalid_value(de::Unexpected::Float(number), &self))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Milli, E> {
                self.visit_f64(number as f64)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Milli, E> {
                self.visit_f64(number as f64)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

/// Why a text is not a quantity; the message says what is allowed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{value:?} is not allowed: {problem}; allowed: {allowed}")]
pub struct QuantityError {
    /// The text as it was written.
    pub value: String,
    /// What is wrong with it.
    pub problem: &'static str,
    /// What may be written instead.
    pub allowed: &'static str,
}

const NANOS_ALLOWED: &str =
    "a number and a unit of ns, us, ms, s, min, h, such as \"50 ms\", from 0 ns to 8760 h (a year)";
const BYTES_ALLOWED: &str = "a number and a unit of B, KiB, MiB, GiB, such as \"1 MiB\", up to 1024 GiB";

/// The longest single duration: a year of 365 days.
pub const MAX_NANOS: Nanos = Nanos(365 * 24 * 3_600 * 1_000_000_000);
/// The largest single size: one tebibyte.
pub const MAX_BYTES: Bytes = Bytes(1 << 40);

/// Picoseconds in each unit of time, so that `"0.3 ns"` is exact.
const TIME_UNITS: [(&str, u128); 9] = [
    ("ps", 1),
    ("ns", 1_000),
    ("us", 1_000_000),
    ("µs", 1_000_000),
    ("μs", 1_000_000),
    ("ms", 1_000_000_000),
    ("s", 1_000_000_000_000),
    ("min", 60_000_000_000_000),
    ("h", 3_600_000_000_000_000),
];

const SIZE_UNITS: [(&str, u128); 4] = [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];

impl Nanos {
    /// Reads `"50 ms"`; the value is rounded to the nearest nanosecond.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let fail = |problem| QuantityError { value: text.to_owned(), problem, allowed: NANOS_ALLOWED };
        let ps = parse_scaled(text, &TIME_UNITS).map_err(fail)?;
        let ns = (ps + 500) / 1_000;
        match u64::try_from(ns) {
            Ok(ns) if ns <= MAX_NANOS.0 => Ok(Self(ns)),
            _ => Err(fail("the duration is too long")),
        }
    }

    /// Reads `"0.296 ns"` as whole picoseconds, for costs far below a nanosecond.
    pub fn parse_picos(text: &str) -> Result<u64, QuantityError> {
        let fail = |problem| QuantityError { value: text.to_owned(), problem, allowed: NANOS_ALLOWED };
        let ps = parse_scaled(text, &TIME_UNITS).map_err(fail)?;
        u64::try_from(ps).ok().filter(|&ps| ps <= 1_000_000_000).ok_or_else(|| fail("more than 1 ms"))
    }
}

impl Bytes {
    /// Reads `"1 MiB"`.
    pub fn parse(text: &str) -> Result<Self, QuantityError> {
        let fail = |problem| QuantityError { value: text.to_owned(), problem, allowed: BYTES_ALLOWED };
        match u64::try_from(parse_scaled(text, &SIZE_UNITS).map_err(fail)?) {
            Ok(bytes) if bytes <= MAX_BYTES.0 => Ok(Self(bytes)),
            _ => Err(fail("the size is too large")),
        }
    }
}

/// Reads a decimal number and a unit without floats: `"0.3 ns"` is exactly 300 ps.
fn parse_scaled(text: &str, units: &[(&str, u128)]) -> Result<u128, &'static str> {
    let text = text.trim();
    if text.starts_with('-') {
        return Err("it is negative");
    }
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '_')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit = unit.trim();
    if number.is_empty() {
        return Err("it does not start with a number");
    }
    if unit.is_empty() {
        return Err("the unit is missing");
    }
    let scale = units.iter().find(|(name, _)| *name == unit).map(|(_, scale)| *scale).ok_or("the unit is unknown")?;
    let number = number.replace('_', "");
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
        return Err("the number is malformed");
    }
    if whole.len() > 18 || fraction.len() > 12 {
        return Err("the number has too many digits");
    }
    let digits =
        |text: &str| if text.is_empty() { Ok(0) } else { text.parse::<u128>().map_err(|_| "the number is malformed") };
    let divisor = 10_u128.pow(fraction.len() as u32);
    Ok(digits(whole)? * scale + (digits(fraction)? * scale + divisor / 2) / divisor)
}

impl fmt::Display for Nanos {
    /// The shortest exact form: `50 ms`, `1.94 us`, `0 ns`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("us", 1_000),
            1_000_000..1_000_000_000 => ("ms", 1_000_000),
            _ => ("s", 1_000_000_000),
        };
        write_scaled(f, self.0, scale, unit)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, scale) = match self.0 {
            n if n >= 1 << 30 && n % (1 << 20) == 0 => ("GiB", 1 << 30),
            n if n >= 1 << 20 && n % (1 << 10) == 0 => ("MiB", 1 << 20),
            n if n >= 1 << 10 && n % (1 << 10) == 0 => ("KiB", 1 << 10),
            _ => ("B", 1),
        };
        let whole = self.0 / scale;
        if self.0.is_multiple_of(scale) {
            write!(f, "{whole} {unit}")
        } else {
            // Binary fractions of a unit end after at most ten digits.
            let text = format!("{:.10}", self.0 as f64 / scale as f64);
            write!(f, "{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
        }
    }
}

fn write_scaled(f: &mut fmt::Formatter<'_>, value: u64, scale: u64, unit: &str) -> fmt::Result {
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return write!(f, "{}", format!("{whole} {unit}").trim_end());
    }
    let width = scale.ilog10() as usize;
    let fraction = format!("{rest:0width$}");
    write!(f, "{}", format!("{whole}.{} {unit}", fraction.trim_end_matches('0')).trim_end())
}

macro_rules! text_serde {
    ($type:ty, $expected:literal) => {
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Visitor;
                impl de::Visitor<'_> for Visitor {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        <$type>::parse(text).map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Visitor)
            }
        }
    };
}
text_serde!(Nanos, "a duration with a unit, such as \"50 ms\"");
text_serde!(Bytes, "a size with a unit, such as \"1 MiB\"");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expect: Result<u64, &str>) {
        match (Nanos::parse(text), expect) {
            (Ok(Nanos(ns)), Ok(want)) => assert_eq!(ns, want, "{text}"),
            (Err(error), Err(want)) => assert_eq!(error.problem, want, "{text}"),
            (got, want) => panic!("{text}: got {got:?}, want {want:?}"),
        }
    }

    #[test]
    fn durations() {
        check("50 ms", Ok(50_000_000));
        check("1.94us", Ok(1_940));
        check("0.3 ns", Ok(0));
        check("2 s", Ok(2_000_000_000));
        check("0 ns", Ok(0));
        check("10_000 ns", Ok(10_000));
        check("8760 h", Ok(MAX_NANOS.0));
        check("8761 h", Err("the duration is too long"));
        check("999999999999999999 h", Err("the duration is too long"));
        check("99999999999999999999 ns", Err("the number has too many digits"));
        check("-5 ms", Err("it is negative"));
        check("5", Err("the unit is missing"));
        check("5 weeks", Err("the unit is unknown"));
        check("ms", Err("it does not start with a number"));
        check("1.2.3 ms", Err("the number is malformed"));
        check("", Err("it does not start with a number"));
    }

    #[test]
    fn picoseconds_are_exact() {
        assert_eq!(Nanos::parse_picos("0.296 ns"), Ok(296));
    }

    #[test]
    fn printing_reads_back() {
        for ns in [0, 1, 999, 1_000, 1_940, 50_000_000, 2_100_000_001, 41_878_476_000, MAX_NANOS.0] {
            assert_eq!(Nanos::parse(&Nanos(ns).to_string()), Ok(Nanos(ns)));
        }
        for bytes in [0, 1_023, 1_024, 47_104, 1 << 20, 3 << 29, 16 << 30] {
            assert_eq!(Bytes::parse(&Bytes(bytes).to_string()), Ok(Bytes(bytes)));
        }
    }
}
