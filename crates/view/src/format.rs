//! Numbers for people: three significant digits, always with a unit.
//!
//! English only; a page in another language formats the digits itself and takes the unit from here.

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// A length of time from integer nanoseconds: `41.9 s`, `69.7 ms`, `1.30 us`; from two minutes on `43 min 45 s`,
/// from an hour on `2 h 26 min`.
pub fn duration(ns: u64) -> String {
    // The larger unit takes over where rounding to three digits would print 1,000 of the smaller.
    match ns {
        0..US => format!("{ns} ns"),
        US..999_500 => format!("{} us", three_digits(ns, US)),
        999_500..999_500_000 => format!("{} ms", three_digits(ns, MS)),
        999_500_000..120_000_000_000 => format!("{} s", three_digits(ns, S)),
        _ => {
            let seconds = ns / S + u64::from(ns % S >= S / 2);
            if seconds < 3_600 {
                return format!("{} min {} s", seconds / 60, seconds % 60);
            }
            let minutes = seconds / 60 + u64::from(seconds % 60 >= 30);
            if minutes < 100 * 60 {
                return format!("{} h {} min", minutes / 60, minutes % 60);
            }
            format!("{} h", count((minutes + 30) / 60))
        }
    }
}

/// A count with thousands separators: `10,000`.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A rate per second: `239 /s`, `143.5 K/s`, `1.33 M/s`; three significant digits and at least one decimal above
/// 1,000. A number that is none is an em dash.
pub fn rate(per_s: f64) -> String {
    if !per_s.is_finite() || per_s < 0.0 {
        return "\u{2014}".to_owned();
    }
    let (value, unit) = match per_s {
        v if v < 999.5 => return format!("{} /s", significant(v)),
        v if v < 999_950.0 => (v / 1e3, "K/s"),
        v if v < 999_950_000.0 => (v / 1e6, "M/s"),
        v => (v / 1e9, "G/s"),
    };
    let decimals = if value < 9.995 { 2 } else { 1 };
    format!("{value:.decimals$} {unit}")
}

/// A size in decimal units, as the published figures are: `4.80 GB`, `524 MB`, `47.1 kB`, `512 B`.
pub fn bytes(n: u64) -> String {
    let (scale, unit) = match n {
        0..1_000 => return format!("{n} B"),
        1_000..999_500 => (1_000, "kB"),
        999_500..999_500_000 => (1_000_000, "MB"),
        999_500_000..999_500_000_000 => (1_000_000_000, "GB"),
        _ => (1_000_000_000_000, "TB"),
    };
    format!("{} {unit}", three_digits(n, scale))
}

/// A difference in per cent with its sign: `+4.7 %`, `−0.4 %`, `0.0 %`; the minus is U+2212.
pub fn percent_signed(percent: f64) -> String {
    if !percent.is_finite() {
        return "\u{2014}".to_owned();
    }
    let size = percent.abs();
    let digits = if size < 999.95 { format!("{size:.1}") } else { count(size.round() as u64) };
    match digits.as_str() {
        "0.0" => "0.0 %".to_owned(),
        _ if percent < 0.0 => format!("\u{2212}{digits} %"),
        _ => format!("+{digits} %"),
    }
}

/// A share from 0 to 1 in per cent: `55.0 %`.
pub fn share(part: f64) -> String {
    if part.is_finite() { format!("{:.1} %", part * 100.0) } else { "\u{2014}".to_owned() }
}

/// An integer with the point moved left by `places`, exact, without zeros at the end: 12,500,000 and 6 are `12.5`.
pub fn decimal(value: u64, places: u32) -> String {
    let scale = 10_u64.saturating_pow(places.min(19));
    let (whole, rest) = (value / scale, value % scale);
    if rest == 0 {
        return whole.to_string();
    }
    let width = places as usize;
    format!("{whole}.{}", format!("{rest:0width$}").trim_end_matches('0'))
}

/// `value / scale` with three significant digits, rounded half up in integers; from 1,000 on with separators.
fn three_digits(value: u64, scale: u64) -> String {
    let (value, scale) = (u128::from(value), u128::from(scale));
    for decimals in [2, 1] {
        let factor = 10_u128.pow(decimals);
        let rounded = (value * factor + scale / 2) / scale;
        // Below 10 with two decimals, below 100 with one.
        if rounded < 1_000 {
            let width = decimals as usize;
            return format!("{}.{:0width$}", rounded / factor, rounded % factor);
        }
    }
    count(((value + scale / 2) / scale) as u64)
}

/// A number below 1,000 with three significant digits, without decimals where it is an integer.
fn significant(value: f64) -> String {
    let decimals = match value {
        v if v.fract() == 0.0 || v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (ns, expect) in [
            (0, "0 ns"),
            (999, "999 ns"),
            (1_000, "1.00 us"),
            (1_300, "1.30 us"),
            (999_499, "999 us"),
            (999_500, "1.00 ms"),
            (69_703_000, "69.7 ms"),
            (9_995_000, "10.0 ms"),
            (99_950_000, "100 ms"),
            (122_800_000, "123 ms"),
            (999_500_000, "1.00 s"),
            (41_878_476_000, "41.9 s"),
            (119_999_999_999, "120 s"),
            (120_000_000_000, "2 min 0 s"),
            (2_625_000_000_000, "43 min 45 s"),
            (3_599_500_000_000, "1 h 0 min"),
            (8_760_000_000_000, "2 h 26 min"),
            (31_536_000_000_000_000, "8,760 h"),
            (u64::MAX, "5,124,096 h"),
        ] {
            assert_eq!(duration(ns), expect, "{ns} ns");
        }
    }

    #[test]
    fn counts() {
        for (n, expect) in [(0, "0"), (999, "999"), (1_000, "1,000"), (10_000, "10,000"), (1_234_567, "1,234,567")] {
            assert_eq!(count(n), expect);
        }
    }

    #[test]
    fn rates() {
        for (per_s, expect) in [
            (0.0, "0 /s"),
            (0.37, "0.37 /s"),
            (9.87, "9.87 /s"),
            (238.78, "239 /s"),
            (999.5, "1.00 K/s"),
            (9_866.2, "9.87 K/s"),
            (143_464.0, "143.5 K/s"),
            (999_949.0, "999.9 K/s"),
            (999_950.0, "1.00 M/s"),
            (1_330_000.0, "1.33 M/s"),
            (f64::INFINITY, "\u{2014}"),
            (f64::NAN, "\u{2014}"),
        ] {
            assert_eq!(rate(per_s), expect, "{per_s}");
        }
    }

    #[test]
    fn sizes() {
        for (n, expect) in [
            (0, "0 B"),
            (999, "999 B"),
            (47_104, "47.1 kB"),
            (999_500, "1.00 MB"),
            (524_288_000, "524 MB"),
            (4_800_000_000, "4.80 GB"),
            (u64::MAX, "18,446,744 TB"),
        ] {
            assert_eq!(bytes(n), expect, "{n} bytes");
        }
    }

    #[test]
    fn percents() {
        for (percent, expect) in [
            (4.696, "+4.7 %"),
            (-0.4, "\u{2212}0.4 %"),
            (0.04, "0.0 %"),
            (-0.04, "0.0 %"),
            (999.96, "+1,000 %"),
            (f64::NAN, "\u{2014}"),
        ] {
            assert_eq!(percent_signed(percent), expect, "{percent}");
        }
        assert_eq!(share(0.55), "55.0 %");
    }

    #[test]
    fn decimals_are_exact() {
        for (value, places, expect) in
            [(12_500_000, 6, "12.5"), (40_000_000_050, 9, "40.00000005"), (7, 3, "0.007"), (7, 0, "7"), (0, 9, "0")]
        {
            assert_eq!(decimal(value, places), expect);
        }
    }
}
