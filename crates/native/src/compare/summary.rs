//! Several comparisons together: the errors of each runtime, their median and the worst of them.
//!
//! What explains an error that is too large is in `finding`.

use parkbench_view::format;
use serde::Serialize;

use super::figure::Figure;
use super::finding;
use super::pair::Pair;
use super::render::Comparison;
use crate::figures::WIDTH;
use crate::measure::kind::Kind;
use crate::text::{Grid, wrap};

/// The errors of one runtime over all scenarios that it was compared on.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Summary {
    pub(super) runtime: Kind,
    /// How many scenarios.
    pub(super) scenarios: usize,
    pub(super) total: Errors,
    pub(super) latency_p95: Errors,
}

/// Sizes of the errors of one figure.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Errors {
    /// [%] Half of the errors are no larger; `None` where there are none.
    pub(super) median_percent: Option<f64>,
    /// The largest ones, the worst first.
    pub(super) worst: Vec<Worst>,
}

/// A large error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Worst {
    pub(super) scenario: String,
    /// [%] Of the simulation, with its sign.
    pub(super) error_percent: f64,
}

/// Scenarios that are named for each runtime.
const NAMED: usize = 3;

impl Errors {
    fn of(mut errors: Vec<Worst>) -> Self {
        errors.sort_by(|a, b| b.error_percent.abs().total_cmp(&a.error_percent.abs()));
        let count = errors.len();
        let at = |index: usize| errors.get(index).map(|worst| worst.error_percent.abs());
        // The mean of the two in the middle, or of one twice.
        let median_percent = at(count / 2).zip(at(count.saturating_sub(1) / 2)).map(|(a, b)| f64::midpoint(a, b));
        errors.truncate(NAMED);
        Self { median_percent, worst: errors }
    }
}

/// The pairs of a runtime, each with the comparison that it is from.
fn pairs_of(comparisons: &[Comparison], kind: Kind) -> impl Iterator<Item = (&Comparison, &Pair)> {
    comparisons.iter().flat_map(move |comparison| {
        comparison.pairs.iter().filter(move |pair| pair.kind == kind).map(move |pair| (comparison, pair))
    })
}

/// One for each runtime that was compared, in the order of all runtimes.
pub(super) fn of(comparisons: &[Comparison]) -> Vec<Summary> {
    let mut summaries = Vec::new();
    for runtime in Kind::ALL {
        let errors = |figure: Figure| {
            let worst = |(comparison, pair): (&Comparison, &Pair)| {
                let error_percent = figure.of(pair).error_percent()?;
                Some(Worst { scenario: comparison.report.scenario.name.clone(), error_percent })
            };
            Errors::of(pairs_of(comparisons, runtime).filter_map(worst).collect())
        };
        let scenarios = pairs_of(comparisons, runtime).count();
        if scenarios > 0 {
            let (total, latency_p95) = (errors(Figure::Total), errors(Figure::LatencyP95));
            summaries.push(Summary { runtime, scenarios, total, latency_p95 });
        }
    }
    summaries
}

/// The summary, then for each runtime its scenarios with their errors, then what explains those that are too large.
pub(super) fn table(comparisons: &[Comparison]) -> String {
    let Some(first) = comparisons.first() else { return String::new() };
    let count = comparisons.len();
    let head = format!("Error of the simulation, costs of {}, {count} scenarios", first.profile);
    let mut out = wrap(&head, WIDTH, "", "");
    let percent = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.1} %"));
    let signed = |error: Option<f64>| error.map_or_else(|| "-".to_owned(), format::percent_signed);
    let worst = |errors: &Errors| signed(errors.worst.first().map(|worst| worst.error_percent));
    let summaries = of(comparisons);
    let mut grid = Grid::default();
    grid.row(["", "scenarios", "total: median", "worst", "in", "p95: median", "worst"]);
    for summary in &summaries {
        let name = |errors: &Errors| errors.worst.first().map_or_else(|| "-".to_owned(), |w| w.scenario.clone());
        grid.row([
            summary.runtime.as_str().to_owned(),
            summary.scenarios.to_string(),
            percent(summary.total.median_percent),
            worst(&summary.total),
            name(&summary.total),
            percent(summary.latency_p95.median_percent),
            worst(&summary.latency_p95),
        ]);
    }
    out.push('\n');
    out.push_str(&grid.render());
    for summary in &summaries {
        let mut grid = Grid::default();
        grid.row([summary.runtime.as_str(), "total", "measured", "error", "latency p95", "measured", "error"]);
        for (comparison, pair) in pairs_of(comparisons, summary.runtime) {
            let mut row = vec![format!("  {}", comparison.report.scenario.name)];
            for figure in [Figure::Total, Figure::LatencyP95] {
                let compared = figure.of(pair);
                let shown = |ns: Option<f64>| ns.map_or_else(|| "-".to_owned(), |ns| format::duration(ns as u64));
                row.extend([shown(compared.simulated), shown(compared.measured), signed(compared.error_percent())]);
            }
            grid.row(row);
        }
        out.push('\n');
        out.push_str(&grid.render());
        for (comparison, pair) in pairs_of(comparisons, summary.runtime) {
            for finding in finding::of(pair, comparison.cores) {
                let text = format!("{}: {}.", comparison.report.scenario.name, finding.message);
                out.push_str(&wrap(&text, WIDTH, "> ", "  "));
            }
        }
    }
    for comparison in comparisons {
        for absent in &comparison.report.absent {
            out.push_str(&wrap(&format!("{}: {absent}", comparison.report.scenario.name), WIDTH, "- ", "  "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(errors: &[f64], median: Option<f64>, worst: &[f64]) {
        let named = |&error_percent: &f64| Worst { scenario: format!("{error_percent}"), error_percent };
        let errors = Errors::of(errors.iter().map(named).collect());
        assert_eq!(errors.median_percent.map(f64::round), median);
        assert_eq!(errors.worst, worst.iter().map(named).collect::<Vec<_>>());
    }

    #[test]
    fn the_size_of_an_error_counts_and_its_sign_is_kept() {
        check(&[], None, &[]);
        check(&[-4.0], Some(4.0), &[-4.0]);
        check(&[1.0, -30.0, 9.0], Some(9.0), &[-30.0, 9.0, 1.0]);
        check(&[1.0, -30.0, 9.0, 3.0, 5.0, -2.0], Some(4.0), &[-30.0, 9.0, 5.0]);
    }
}
