//! What all repetitions say together, as aligned columns: one block per figure, one row per runtime.

use parkbench_view::format;

use crate::figures::{WIDTH, or_absent};
use crate::measure::report::{Report, Run};
use crate::measure::stats::{Interval, Outlier, Spread, Statistics};
use crate::text::{Grid, wrap};

/// A figure of the statistics: where it is, what it is called, and how it is written.
pub(crate) struct Figure {
    /// For people.
    pub(crate) label: &'static str,
    /// In names of columns.
    pub(crate) name: &'static str,
    /// At the end of such names.
    pub(crate) unit: &'static str,
    pub(crate) of: fn(&Statistics) -> Option<&Spread>,
    pub(crate) show: fn(f64) -> String,
}

/// Every figure, in the order of the tables.
pub(crate) const FIGURES: [Figure; 6] = [
    Figure {
        label: "Total time",
        name: "makespan",
        unit: "ns",
        of: |statistics| Some(&statistics.makespan_ns),
        show: |ns| format::duration(ns.round() as u64),
    },
    Figure {
        label: "Throughput",
        name: "throughput",
        unit: "per_s",
        of: |statistics| Some(&statistics.throughput_per_s),
        show: format::rate,
    },
    Figure {
        label: "Latency, mean of the tasks",
        name: "latency_mean",
        unit: "ns",
        of: |statistics| Some(&statistics.latency_mean_ns),
        show: |ns| format::duration(ns.round() as u64),
    },
    Figure {
        label: "Latency, p95 of the tasks",
        name: "latency_p95",
        unit: "ns",
        of: |statistics| Some(&statistics.latency_p95_ns),
        show: |ns| format::duration(ns.round() as u64),
    },
    Figure {
        label: "CPU time",
        name: "cpu",
        unit: "ns",
        of: |statistics| statistics.cpu_ns.as_ref(),
        show: |ns| format::duration(ns.round() as u64),
    },
    Figure {
        label: "Growth in resident memory",
        name: "resident_growth",
        unit: "bytes",
        of: |statistics| statistics.resident_growth_bytes.as_ref(),
        show: |bytes| format::bytes(bytes.round() as u64),
    },
];

/// The statistics of every run; nothing where no run was repeated.
pub(super) fn render(report: &Report) -> String {
    if report.runs.iter().all(|run| run.makespans_ns.len() < 2) {
        return String::new();
    }
    let runs = report.runs.iter().collect::<Vec<_>>();
    let whole = blocks(&runs, &COLUMNS);
    let mut out = if fits(&whole) {
        whole
    } else {
        // Long names: the mean and the median one below the other.
        let (of_mean, of_median) = COLUMNS.split_at(3);
        format!("{}\n{}", blocks(&runs, of_mean), blocks(&runs, of_median))
    };
    out.push('\n');
    out.push_str(&throughputs(&runs));
    out.push('\n');
    for run in runs {
        out.push_str(&outliers(run));
    }
    out
}

fn fits(text: &str) -> bool {
    text.lines().all(|line| line.chars().count() <= WIDTH)
}

/// The heading of a column, and its cell.
type Column = (&'static str, fn(&Figure, &Spread) -> String);

const COLUMNS: [Column; 5] = [
    ("mean", |figure, spread| (figure.show)(spread.mean)),
    ("95 % interval of it", |figure, spread| or_absent(spread.mean_interval, |interval| between(figure, interval))),
    ("sd", |_, spread| or_absent(spread.cv(), format::share)),
    ("median", |figure, spread| (figure.show)(spread.median)),
    ("95 % interval of it", |figure, spread| or_absent(spread.median_interval, |interval| between(figure, interval))),
];

fn blocks(runs: &[&Run], columns: &[Column]) -> String {
    let mut grid = Grid::default();
    grid.row(std::iter::once("Over all repetitions").chain(columns.iter().map(|(heading, _)| *heading)));
    for figure in &FIGURES {
        grid.row([figure.label]);
        for run in runs {
            let cell = |(_, cell): &Column| or_absent((figure.of)(&run.statistics), |spread| cell(figure, spread));
            let label = format!("  {}", run.result.variant);
            grid.row(std::iter::once(label).chain(columns.iter().map(cell)));
        }
    }
    grid.render()
}

/// `1.01 to 1.03 s`, or `999 us to 1.02 ms` where the units differ.
pub(crate) fn between(figure: &Figure, interval: Interval) -> String {
    let (low, high) = ((figure.show)(interval.low), (figure.show)(interval.high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, same))) if unit == same => format!("{number} to {high}"),
        _ => format!("{low} to {high}"),
    }
}

/// The throughput in one number, in both ways.
fn throughputs(runs: &[&Run]) -> String {
    let mut grid = Grid::default();
    grid.row(["Throughput in one number", "mean of rates", "rate of means", "ratio", "1 + c^2"]);
    for run in runs {
        let both = &run.statistics.throughput;
        grid.row([
            format!("  {}", run.result.variant),
            format::rate(both.mean_of_rates),
            format::rate(both.rate_of_means),
            format!("{:.4}", both.ratio),
            format!("{:.4}", both.one_plus_cv_squared),
        ]);
    }
    grid.render()
}

/// The repetitions of a run that are far from the others, as a point of a list.
fn outliers(run: &Run) -> String {
    let text = outlier_list(run);
    if text.is_empty() { text } else { wrap(&text, WIDTH, "- ", "  ") }
}

/// The repetitions of a run that are far from the others, by figure; nothing where there are none.
pub(crate) fn outlier_list(run: &Run) -> String {
    let list = |figure: &Figure, outliers: &[Outlier]| {
        let each: Vec<_> = outliers
            .iter()
            .map(|outlier| format!("{} ({})", outlier.repetition, (figure.show)(outlier.value)))
            .collect();
        format!("{} in {}", figure.label.to_lowercase().replace("cpu", "CPU"), each.join(", "))
    };
    let found: Vec<String> = FIGURES
        .iter()
        // A throughput is an outlier where the total time is.
        .filter(|figure| figure.name != "throughput")
        .filter_map(|figure| Some((figure, (figure.of)(&run.statistics)?)))
        .filter(|(_, spread)| !spread.outliers.is_empty())
        .map(|(figure, spread)| list(figure, &spread.outliers))
        .collect();
    if found.is_empty() {
        return String::new();
    }
    format!("Outliers of {}, by repetition: {}.", run.result.variant, found.join("; "))
}
