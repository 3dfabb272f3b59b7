//! Charts of a measurement as SVG: one row per runtime along a common axis. Text in, text out; no browser, no fonts.

use std::fmt::Write as _;

use parkbench_view::format;

use super::report::{Report, Run};
use super::stats::{fences, quantile};

/// A chart with the name of its file and what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Chart {
    pub(crate) file: &'static str,
    pub(crate) title: &'static str,
    pub(crate) svg: String,
}

/// Every chart of a measurement.
pub(crate) fn charts(report: &Report) -> Vec<Chart> {
    let chart =
        |file, title, note: &str, axis: &Axis, rows: &[Row]| Chart { file, title, svg: draw(title, note, axis, rows) };
    let totals: Vec<Row> =
        report.runs.iter().map(|run| strip(run, run.makespans_ns.iter().map(|&ns| ns as f64))).collect();
    let relative: Vec<Row> = report
        .runs
        .iter()
        .map(|run| {
            let median = run.statistics.makespan_ns.median.max(1.0);
            strip(run, run.makespans_ns.iter().map(move |&ns| (ns as f64 / median - 1.0) * 100.0))
        })
        .collect();
    let latencies: Vec<Row> = report.runs.iter().map(quantiles).collect();
    vec![
        chart(
            "totals.svg",
            "Total time of each repetition",
            "A dot is a repetition. Box: quartiles and median; line: as far as the fences. Numbered: outliers.",
            &Axis::of_times(&totals),
            &totals,
        ),
        chart(
            "spread.svg",
            "Total time of each repetition, difference to the median of its runtime",
            "The same in per cent of each runtime's own median. Numbered: outliers, by repetition.",
            &Axis::of_percent(&relative),
            &relative,
        ),
        chart(
            "latency.svg",
            "Latency of the tasks, start to end",
            "Of the repetition with the median total time: p50, p95, p99 and the longest.",
            &Axis::of_times(&latencies),
            &latencies,
        ),
    ]
}

/// [px] Width of a chart.
const WIDTH: f64 = 880.0;
/// [px] Height of a row.
const ROW: f64 = 46.0;
/// [px] Above the first row: title and note.
const TOP: f64 = 64.0;
/// [px] Below the last row: the axis.
const BOTTOM: f64 = 40.0;
/// [px] Right of the axis, for half of a label.
const RIGHT: f64 = 44.0;
/// [px] An upper bound of a character's width in a label.
const LETTER: f64 = 7.6;
/// [px] Room that the name of a mark needs.
const NAME: f64 = 56.0;

/// One runtime.
struct Row {
    label: String,
    marks: Marks,
}

enum Marks {
    /// A value of each repetition, in their order.
    Strip(Vec<f64>),
    /// Values with names, rising.
    Points(Vec<(&'static str, f64)>),
}

impl Row {
    fn values(&self) -> Vec<f64> {
        match &self.marks {
            Marks::Strip(values) => values.clone(),
            Marks::Points(points) => points.iter().map(|&(_, value)| value).collect(),
        }
    }
}

fn strip(run: &Run, values: impl Iterator<Item = f64>) -> Row {
    Row { label: run.result.variant.clone(), marks: Marks::Strip(values.collect()) }
}

fn quantiles(run: &Run) -> Row {
    let latency = &run.result.latency_ns;
    let parts = [("p50", latency.p50), ("p95", latency.p95), ("p99", latency.p99), ("max", latency.max)];
    let known = parts.into_iter().filter(|_| latency.count > 0).map(|(name, ns)| (name, ns as f64)).collect();
    Row { label: run.result.variant.clone(), marks: Marks::Points(known) }
}

/// From values to places.
struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// Where a line stands, and what it says.
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Times in nanoseconds: from 0, or logarithmic where they differ by more than the factor 20.
    fn of_times(rows: &[Row]) -> Self {
        let values: Vec<f64> = rows.iter().flat_map(Row::values).filter(|&value| value > 0.0).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        if values.is_empty() {
            return Self { low: 0.0, high: 1.0, logarithmic: false, ticks: Vec::new() };
        }
        if most <= 20.0 * least {
            let ticks = linear_ticks(0.0, most * 1.05);
            let ticks = ticks.into_iter().map(|value| (value, time(value))).collect();
            return Self { low: 0.0, high: most * 1.05, logarithmic: false, ticks };
        }
        let (low, high) = (least / 1.3, most * 1.3);
        let decades = (low.log10().floor() as i32)..=(high.log10().ceil() as i32);
        let steps: &[f64] = if most / least > 1_000.0 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let ticks = decades
            .flat_map(|decade| steps.iter().map(move |step| step * 10.0_f64.powi(decade)))
            .filter(|value| (low..=high).contains(value))
            .map(|value| (value, time(value)))
            .collect();
        Self { low, high, logarithmic: true, ticks }
    }

    /// Differences in per cent.
    fn of_percent(rows: &[Row]) -> Self {
        let values: Vec<f64> = rows.iter().flat_map(Row::values).collect();
        let least = values.iter().copied().fold(-1.0, f64::min) * 1.1;
        let most = values.iter().copied().fold(1.0, f64::max) * 1.1;
        let ticks = linear_ticks(least, most);
        let ticks = ticks.into_iter().map(|value| (value, format::percent_signed(value))).collect();
        Self { low: least, high: most, logarithmic: false, ticks }
    }

    /// [0 to 1] Where a value stands.
    fn at(&self, value: f64) -> f64 {
        let place = |value: f64| if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value };
        let (low, high) = (place(self.low), place(self.high));
        ((place(value) - low) / (high - low)).clamp(0.0, 1.0)
    }
}

/// Multiples of 1, 2 or 5 times a power of ten: five to ten of them.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 8.0;
    if rough <= 0.0 || !rough.is_finite() {
        return Vec::new();
    }
    let power = 10.0_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|&step| step >= rough);
    let step = step.unwrap_or(rough);
    ((low / step).ceil() as i64..=(high / step).floor() as i64).map(|number| number as f64 * step).collect()
}

/// `50 ms`, without zeros behind the point.
fn time(ns: f64) -> String {
    let text = format::duration(ns.round() as u64);
    match text.split_once(' ') {
        Some(("0", _)) => "0".to_owned(),
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text,
    }
}

fn draw(title: &str, note: &str, axis: &Axis, rows: &[Row]) -> String {
    let longest = rows.iter().map(|row| row.label.chars().count()).max().unwrap_or(0);
    let left = longest as f64 * LETTER + 28.0;
    let bottom = TOP + rows.len() as f64 * ROW;
    let height = bottom + BOTTOM;
    let x = |value: f64| left + axis.at(value) * (WIDTH - left - RIGHT);
    let mut svg = String::new();
    let mut line = |text: String| {
        svg.push_str(&text);
        svg.push('\n');
    };
    line(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" \
         role=\"img\" font-family=\"system-ui, sans-serif\" font-size=\"13\" fill=\"#1f2933\">"
    ));
    line(format!("<title>{}</title>", escape(title)));
    line(format!("<desc>{}</desc>", escape(&describe(rows))));
    line(format!("<rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#ffffff\"/>"));
    line(format!("<text x=\"16\" y=\"24\" font-size=\"16\" font-weight=\"600\">{}</text>", escape(title)));
    line(format!("<text x=\"16\" y=\"44\" fill=\"#52606d\">{}</text>", escape(note)));
    let mut free = f64::NEG_INFINITY;
    for (value, label) in &axis.ticks {
        let at = x(*value);
        line(format!("<path d=\"M{at:.1} {TOP}V{bottom}\" stroke=\"#d9e2ec\"/>"));
        // Labels that would touch the one before are left out; their lines stay.
        let half = label.chars().count() as f64 * LETTER / 2.0 + 4.0;
        if at - half > free {
            line(format!(
                "<text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
                bottom + 20.0,
                escape(label)
            ));
            free = at + half;
        }
    }
    line(format!("<path d=\"M{left:.1} {bottom}H{:.1}\" stroke=\"#52606d\"/>", WIDTH - RIGHT));
    for (number, row) in rows.iter().enumerate() {
        let middle = TOP + (number as f64 + 0.5) * ROW;
        line(format!(
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 12.0,
            middle + 4.5,
            escape(&row.label)
        ));
        match &row.marks {
            Marks::Strip(values) => line(draw_strip(values, middle, x)),
            Marks::Points(points) => line(draw_points(points, middle, x)),
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// A box over the quartiles, a line to the furthest values inside the fences, a dot for each value.
fn draw_strip(values: &[f64], middle: f64, x: impl Fn(f64) -> f64) -> String {
    let mut out = String::new();
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    if sorted.is_empty() {
        return out;
    }
    let (below, above) = fences(&sorted);
    let inside: Vec<f64> = sorted.iter().copied().filter(|value| (below..=above).contains(value)).collect();
    if let ([first, .., last], true) = (inside.as_slice(), sorted.len() >= 4) {
        let (q1, q2, q3) = (quantile(&sorted, 0.25), quantile(&sorted, 0.5), quantile(&sorted, 0.75));
        let (from, to) = (x(q1), x(q3));
        let _ = write!(
            out,
            "<path d=\"M{:.1} {middle}H{:.1}\" stroke=\"#52606d\"/>\
             <rect x=\"{from:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"20\" fill=\"#d9e8f6\" stroke=\"#52606d\"/>\
             <path d=\"M{:.1} {:.1}v20\" stroke=\"#102a43\" stroke-width=\"2.5\"/>",
            x(*first),
            x(*last),
            middle - 10.0,
            (to - from).max(1.0),
            x(q2),
            middle - 10.0,
        );
    }
    for (number, &value) in (1..).zip(values) {
        // Dots of neighbours lie at five heights, so that equal ones can be told apart.
        let (at, y) = (x(value), middle + f64::from((number * 2) % 5 - 2) * 3.0);
        if (below..=above).contains(&value) {
            let _ =
                write!(out, "<circle cx=\"{at:.1}\" cy=\"{y:.1}\" r=\"2.6\" fill=\"#2166ac\" fill-opacity=\"0.6\"/>");
        } else {
            let _ = write!(
                out,
                "<circle cx=\"{at:.1}\" cy=\"{middle:.1}\" r=\"3.4\" fill=\"none\" stroke=\"#b2182b\" stroke-width=\"1.6\"/>\
                 <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#b2182b\">{number}</text>",
                middle - 8.0
            );
        }
    }
    out
}

/// A line from the first to the last, and a mark with its name for each.
fn draw_points(points: &[(&str, f64)], middle: f64, x: impl Fn(f64) -> f64) -> String {
    let mut out = String::new();
    if let [(_, first), .., (_, last)] = points {
        let _ = write!(
            out,
            "<path d=\"M{:.1} {middle}H{:.1}\" stroke=\"#2166ac\" stroke-width=\"2\"/>",
            x(*first),
            x(*last)
        );
    }
    for &(_, value) in points {
        let _ = write!(out, "<circle cx=\"{:.1}\" cy=\"{middle:.1}\" r=\"4\" fill=\"#2166ac\"/>", x(value));
    }
    // Marks that lie close together share a name.
    for group in points.chunk_by(|before, after| x(after.1) - x(before.1) < NAME) {
        if let ([(first, from), ..], [.., (last, to)]) = (group, group) {
            let name = if first == last { (*first).to_owned() } else { format!("{first} to {last}") };
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{name}</text>",
                f64::midpoint(x(*from), x(*to)),
                middle - 9.0
            );
        }
    }
    out
}

/// What the chart says, for those who do not see it.
fn describe(rows: &[Row]) -> String {
    let row = |row: &Row| {
        let values = row.values();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        match (&row.marks, values.is_empty()) {
            (_, true) => format!("{}: no values", row.label),
            (Marks::Strip(_), _) if least < 0.0 => format!("{}: {least:+.1} % to {most:+.1} %", row.label),
            _ => format!("{}: {} to {}", row.label, time(least), time(most)),
        }
    };
    rows.iter().map(row).collect::<Vec<_>>().join("; ")
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip_of(label: &str, values: &[f64]) -> Row {
        Row { label: label.to_owned(), marks: Marks::Strip(values.to_vec()) }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        for (low, high, expect) in [
            (0.0, 100.0, vec![0.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
            (-3.0, 9.0, vec![-2.0, 0.0, 2.0, 4.0, 6.0, 8.0]),
            (1.0, 1.0, vec![]),
        ] {
            assert_eq!(linear_ticks(low, high), expect, "{low} {high}");
        }
    }

    #[test]
    fn labels_have_no_idle_zeros() {
        for (ns, expect) in [(0.0, "0"), (5e6, "5 ms"), (5e7, "50 ms"), (1.5e9, "1.5 s"), (100.0, "100 ns")] {
            assert_eq!(time(ns), expect);
        }
    }

    #[test]
    fn an_axis_is_logarithmic_where_the_times_are_far_apart() {
        for (values, expect) in [(&[1e6, 19e6][..], false), (&[1e6, 21e6], true), (&[], false)] {
            let axis = Axis::of_times(&[strip_of("x", values)]);
            assert_eq!(axis.logarithmic, expect, "{values:?}");
            let places: Vec<f64> = values.iter().map(|&value| axis.at(value)).collect();
            assert!(places.is_sorted() && places.iter().all(|place| (0.0..1.0).contains(place)), "{places:?}");
        }
    }

    #[test]
    fn marks_that_are_close_share_a_name() {
        for (times, expect) in [
            ([1.0, 2.0, 3.0, 4.0], vec![">p50 to max<"]),
            ([1.0, 2.0, 300.0, 301.0], vec![">p50 to p95<", ">p99 to max<"]),
            ([1.0, 200.0, 400.0, 600.0], vec![">p50<", ">p95<", ">p99<", ">max<"]),
        ] {
            let points: Vec<_> = ["p50", "p95", "p99", "max"].into_iter().zip(times).collect();
            let svg = draw_points(&points, 20.0, |value| value);
            assert_eq!((svg.matches("<text").count(), svg.matches("<circle").count()), (expect.len(), 4), "{svg}");
            assert!(expect.iter().all(|name| svg.contains(name)), "{svg}");
        }
    }

    #[test]
    fn every_value_has_a_mark_and_outliers_have_their_number() {
        let rows = [strip_of("<a>", &[10e6, 11e6, 10.5e6, 40e6, 10.2e6, 10.8e6]), strip_of("b", &[9e6])];
        let svg = draw("A & B", "note", &Axis::of_times(&rows), &rows);
        assert_eq!(svg.matches("<circle").count(), 7);
        assert!(svg.contains(">4</text>") && svg.matches("#b2182b").count() == 2, "{svg}");
        assert!(svg.contains("A &amp; B") && svg.contains("&lt;a&gt;") && !svg.contains("NaN"));
        assert!(svg.contains("<desc>&lt;a&gt;: 10 ms to 40 ms; b: 9 ms to 9 ms</desc>"), "{svg}");
    }
}
