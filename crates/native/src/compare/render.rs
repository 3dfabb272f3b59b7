//! A comparison for people, as JSON, and as CSV.

use std::collections::BTreeMap;

use anyhow::Context as _;
use parkbench_engine::Scenario;
use parkbench_view::format;
use serde::Serialize;

use super::figure::{Compared, Figure};
use super::finding::{self, Finding};
use super::pair::Pair;
use super::summary::{self, Summary};
use crate::figures::WIDTH;
use crate::measure::environment::Environment;
use crate::measure::report::Report;
use crate::measure::select::Absent;
use crate::measure::warning::Warning;
use crate::text::{Grid, wrap};
use crate::{flat, simulate};

/// The version of the format.
const COMPARISON_VERSION: u32 = 1;

/// All that there is to say.
#[derive(Debug)]
pub(super) struct Comparison {
    pub(super) report: Report,
    pub(super) pairs: Vec<Pair>,
    /// What was simulated, a run for each pair; absent where there is none.
    pub(super) simulated: Option<Scenario>,
    /// Name of the profile, and its file.
    pub(super) profile: String,
    pub(super) profile_file: Option<String>,
    /// What limits the comparison, besides the measurement's own warnings.
    pub(super) warnings: Vec<String>,
    pub(super) cores: u32,
}

/// The figures side by side, a row for each runtime and figure.
pub(super) fn table(comparison: &Comparison) -> String {
    let scenario = &comparison.report.scenario;
    let head = format!("{}, costs of {}", simulate::title(scenario), comparison.profile);
    let mut out = wrap(&head, WIDTH, "", "");
    let mut grid = Grid::default();
    grid.row(["", "simulated", "measured", "error", "shortest", "longest"]);
    for pair in &comparison.pairs {
        grid.section(&pair.measured.result.variant);
        let (shortest, longest) = pair.measured.makespan_range_ns();
        for figure in Figure::ALL {
            let compared = figure.of(pair);
            let mut row = vec![
                format!("  {}", label(figure)),
                shown(figure, compared.simulated),
                shown(figure, compared.measured),
                compared.error_percent().map_or_else(|| "-".to_owned(), format::percent_signed),
            ];
            if figure == Figure::Total {
                row.extend([format::duration(shortest), format::duration(longest)]);
            }
            grid.row(row);
        }
    }
    out.push('\n');
    out.push_str(&grid.render());
    let reps = comparison.pairs.iter().map(|pair| pair.measured.makespans_ns.len()).max().unwrap_or(0);
    let note = format!("Measured: the repetition with the median total of {reps}; the error is the simulation's.");
    out.extend(["\n", &wrap(&note, WIDTH, "", "")]);
    for pair in &comparison.pairs {
        for finding in finding::of(pair, comparison.cores) {
            out.push_str(&wrap(&(finding.message + "."), WIDTH, "> ", "  "));
        }
    }
    for absent in &comparison.report.absent {
        out.push_str(&wrap(&absent.to_string(), WIDTH, "- ", "  "));
    }
    let warnings = comparison.report.warnings.iter().map(Warning::message);
    for warning in comparison.warnings.iter().cloned().chain(warnings) {
        out.push_str(&wrap(&warning, WIDTH, "! ", "  "));
    }
    out
}

const fn label(figure: Figure) -> &'static str {
    match figure {
        Figure::Total => "Total time",
        Figure::Throughput => "Throughput",
        Figure::LatencyMean => "Latency, mean",
        Figure::LatencyP95 => "Latency, p95",
        Figure::Resident => "Memory, resident",
        Figure::Switches => "OS context switches",
    }
}

fn shown(figure: Figure, value: Option<f64>) -> String {
    let Some(value) = value else { return "-".to_owned() };
    match figure {
        Figure::Total | Figure::LatencyMean | Figure::LatencyP95 => format::duration(value as u64),
        Figure::Throughput => format::rate(value),
        Figure::Resident => format::bytes(value as u64),
        Figure::Switches => format::count(value as u64),
    }
}

#[derive(Serialize)]
struct File<'a> {
    version: u32,
    scenario: &'a Scenario,
    environment: &'a Environment,
    profile: Profile<'a>,
    warnings: Vec<String>,
    absent: &'a [Absent],
    simulated: Option<&'a Scenario>,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Profile<'a> {
    name: &'a str,
    file: Option<&'a str>,
}

#[derive(Serialize)]
struct Run<'a> {
    variant: &'a str,
    runtime: &'a str,
    simulated_variant: &'a str,
    figures: BTreeMap<&'static str, Cell>,
    makespans_ns: &'a [u64],
    findings: Vec<Finding>,
}

#[derive(Serialize)]
struct Cell {
    simulated: Option<f64>,
    measured: Option<f64>,
    error_percent: Option<f64>,
}

impl From<Compared> for Cell {
    fn from(compared: Compared) -> Self {
        let Compared { simulated, measured } = compared;
        Self { simulated, measured, error_percent: compared.error_percent() }
    }
}

#[derive(Serialize)]
struct Together<'a> {
    version: u32,
    comparisons: Vec<File<'a>>,
    summary: Vec<Summary>,
}

/// The comparison as `docs/results.md` describes it.
pub(super) fn json(comparison: &Comparison) -> anyhow::Result<String> {
    write(&File::of(comparison))
}

/// Several comparisons, and what they say together.
pub(super) fn json_of_all(comparisons: &[Comparison]) -> anyhow::Result<String> {
    write(&Together {
        version: COMPARISON_VERSION,
        comparisons: comparisons.iter().map(File::of).collect(),
        summary: summary::of(comparisons),
    })
}

fn write(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(serde_json::to_string_pretty(value).context("the comparison cannot be written as JSON")? + "\n")
}

impl<'a> File<'a> {
    fn of(comparison: &'a Comparison) -> Self {
        let report = &comparison.report;
        let run = |pair: &'a Pair| Run {
            variant: &pair.measured.result.variant,
            runtime: &pair.measured.runtime,
            simulated_variant: &pair.simulated.variant,
            figures: Figure::ALL.into_iter().map(|figure| (figure.name(), Cell::from(figure.of(pair)))).collect(),
            makespans_ns: &pair.measured.makespans_ns,
            findings: finding::of(pair, comparison.cores),
        };
        let warnings = report.warnings.iter().map(Warning::message);
        Self {
            version: COMPARISON_VERSION,
            scenario: &report.scenario,
            environment: &report.environment,
            profile: Profile { name: &comparison.profile, file: comparison.profile_file.as_deref() },
            warnings: comparison.warnings.iter().cloned().chain(warnings).collect(),
            absent: &report.absent,
            simulated: comparison.simulated.as_ref(),
            runs: comparison.pairs.iter().map(run).collect(),
        }
    }
}

/// One row for each scenario and runtime.
pub(super) fn csv(comparisons: &[Comparison]) -> anyhow::Result<String> {
    flat::write(comparisons.iter().flat_map(|comparison| {
        comparison.pairs.iter().map(move |pair| {
            let scenario = &comparison.report.scenario;
            let mut row = vec![
                ("scenario".to_owned(), scenario.name.clone()),
                ("seed".to_owned(), scenario.seed.to_string()),
                ("profile".to_owned(), comparison.profile.clone()),
                ("variant".to_owned(), pair.measured.result.variant.clone()),
                ("tasks".to_owned(), pair.measured.result.tasks.to_string()),
                ("repetitions".to_owned(), pair.measured.makespans_ns.len().to_string()),
            ];
            for figure in Figure::ALL {
                let compared = figure.of(pair);
                let text = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
                row.push((format!("simulated_{}", figure.name()), text(compared.simulated)));
                row.push((format!("measured_{}", figure.name()), text(compared.measured)));
                let error = compared.error_percent().map(|error| format!("{error:.2}")).unwrap_or_default();
                row.push((format!("error_{}_percent", figure.name()), error));
            }
            row
        })
    }))
}
