//! Published figures beside simulated ones: the table, and why a source contradicts itself.

use parkbench_engine::Metric;
use parkbench_trace::{Comparison, ResultFile};
use parkbench_view::format;

use crate::figures::{WIDTH, or_absent};
use crate::text::{Grid, wrap};

/// The table and the explanations, after an empty line; nothing where there are no published figures.
pub(crate) fn render(result: &ResultFile) -> String {
    let rows: Vec<(&str, &Comparison)> =
        result.runs.iter().flat_map(|run| run.comparison.iter().map(|cell| (run.variant.as_str(), cell))).collect();
    if rows.is_empty() {
        return String::new();
    }
    let mut grid = Grid::default();
    grid.section("Published figures");
    grid.row(["Run", "Figure", "Source", "Published", "", "Simulated", "Difference"]);
    for (variant, cell) in &rows {
        grid.row([
            (*variant).to_owned(),
            name(cell.metric).to_owned(),
            cell.source.clone(),
            cell.printed.clone(),
            if cell.contradiction.is_some() { "!" } else { "" }.to_owned(),
            or_absent(cell.simulated, |value| show(cell.metric, value)),
            or_absent(cell.residual_percent, format::percent_signed),
        ]);
    }
    grid.render() + &explanations(&rows)
}

/// One sentence for each contradiction, with the cells that it is about.
fn explanations(rows: &[(&str, &Comparison)]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (variant, cell) in rows {
        let Some(reason) = &cell.contradiction else { continue };
        let mut what = format!("{variant} {}", name(cell.metric));
        if let (Some(value), Some(percent)) = (cell.consistent_value, cell.residual_to_consistent_percent) {
            what = format!(
                "{what} ({} against {}, which the source's own rules allow)",
                format::percent_signed(percent),
                show(cell.metric, value)
            );
        }
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, cells)) => cells.push(what),
            None => reasons.push((reason, vec![what])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut out = "\n! The source contradicts itself here:\n".to_owned();
    for (reason, cells) in reasons {
        out.push_str(&wrap(&format!("{}: {reason}", cells.join(", ")), WIDTH, "  - ", "    "));
    }
    out
}

const fn name(metric: Metric) -> &'static str {
    match metric {
        Metric::Makespan => "total time",
        Metric::Throughput => "throughput",
        Metric::Resident => "resident memory",
        Metric::SwitchesPerSecond => "OS switches",
        Metric::InFlight => "in flight",
    }
}

/// A value in the unit of its metric.
fn show(metric: Metric, value: u64) -> String {
    match metric {
        Metric::Makespan => format::duration(value),
        Metric::Throughput => format::rate(value as f64 / 1_000.0),
        Metric::Resident => format::bytes(value),
        Metric::SwitchesPerSecond => format::rate(value as f64),
        Metric::InFlight => format::count(value),
    }
}
