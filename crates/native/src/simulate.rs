//! The command `simulate`: runs the engine and prints what it gave.

use anyhow::Context as _;
use parkbench_engine::{Recording, Scenario, Simulation};
use parkbench_trace::{Metrics, ResultFile, RunResult, Trace};

use crate::cli::{Format, SimulateArgs};
use crate::figures::{self, WIDTH};
use crate::input::{self, Input, InputError};
use crate::{Failure, flat, human, published, text};

/// Simulates every run of the scenario and writes the result in the format that was asked for.
pub(crate) fn run(args: &SimulateArgs) -> Result<String, Failure> {
    let input = input::load(&args.choice)?;
    let mut metrics = Vec::new();
    for index in 0..input.scenario.runs.len() {
        let recording = simulate(&input.scenario, index, args.step_budget)?;
        let trace = Trace::new(recording).context("the engine made a recording that cannot be read")?;
        metrics.push(Metrics::of(&trace));
    }
    let result = ResultFile::simulated(&input.scenario, &metrics);
    match args.format {
        Format::Table => Ok(table(&input, &result)),
        Format::Json => {
            let json = serde_json::to_string_pretty(&result).context("the result cannot be written as JSON")?;
            Ok(json + "\n")
        }
        Format::Csv => Ok(flat::simulated(&result)?),
    }
}

fn simulate(scenario: &Scenario, run: usize, step_budget: u64) -> Result<Recording, InputError> {
    let mut simulation =
        Simulation::new(scenario, run).map_err(|error| InputError::Scenario(scenario.name.clone(), error))?;
    while !simulation.step(step_budget).finished {}
    Ok(simulation.into_recording())
}

fn table(input: &Input, result: &ResultFile) -> String {
    let runs: Vec<&RunResult> = result.runs.iter().collect();
    let mut out = heading(&input.scenario);
    out.push('\n');
    out.push_str(&figures::render(&runs, |grid, chunk| {
        grid.row([""]);
        let cells = |label: &str, cell: &dyn Fn(&RunResult) -> String| {
            std::iter::once(label.to_owned()).chain(chunk.iter().map(|&run| cell(runs[run]))).collect::<Vec<_>>()
        };
        grid.row(cells("Events", &|run| figures::or_absent(run.events, human::count)));
        grid.row(cells("Digest", &|run| figures::or_absent(run.digest.clone(), |digest| digest)));
    }));
    out.push_str(&published::render(result));
    if let Some(tasks) = input.tasks_before {
        let note = format!(
            "Published figures, where the scenario has any, hold for its {} tasks and are left out.",
            human::count(tasks)
        );
        out.push('\n');
        out.push_str(&text::wrap(&note, WIDTH, "", ""));
    }
    out
}

/// What is run: title, size and description.
pub(crate) fn heading(scenario: &Scenario) -> String {
    let title = if scenario.title.is_empty() { &scenario.name } else { &scenario.title };
    let cores = scenario.machine.cores;
    let line = format!(
        "{title}: {} tasks, {cores} core{}, seed {}, costs of {}",
        human::count(scenario.task_count()),
        if cores == 1 { "" } else { "s" },
        scenario.seed,
        scenario.profile
    );
    let mut out = text::wrap(&line, WIDTH, "", "");
    if !scenario.description.is_empty() {
        out.push_str(&text::wrap(&scenario.description, WIDTH, "", ""));
    }
    out
}
