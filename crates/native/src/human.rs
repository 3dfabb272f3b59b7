//! Numbers for people, as the tables show them.

/// `41.9 s`
pub(crate) fn duration(ns: u64) -> String {
    let (value, unit) = match ns {
        0..1_000 => (ns as f64, "ns"),
        1_000..1_000_000 => (ns as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (ns as f64 / 1e6, "ms"),
        _ => (ns as f64 / 1e9, "s"),
    };
    format!("{value:.2} {unit}")
}
pub(crate) fn count(n: u64) -> String {
    n.to_string()
}
pub(crate) fn rate(per_s: f64) -> String {
    format!("{per_s:.0}/s")
}
pub(crate) fn bytes(n: u64) -> String {
    format!("{:.1} MiB", n as f64 / 1_048_576.0)
}
pub(crate) fn percent_signed(p: f64) -> String {
    format!("{p:+.1} %")
}
