//! The command `explain`: what made the result of each run, in words: its bounds, the rules, the costs.
//!
//! Everything said is derived from the scenario and from simulating it; nothing is known by a preset's name.

mod bounds;
mod costs;
mod rules;
mod workload;

use anyhow::Context as _;
use parkbench_engine::{CostProfile, Recording, Scenario, Simulation};
use parkbench_trace::{Metrics, Trace};
use parkbench_view::format;

use crate::Failure;
use crate::cli::ExplainArgs;
use crate::figures::WIDTH;
use crate::findings;
use crate::input::{self, InputError};
use crate::profiles;
use crate::simulate::title;
use crate::text::wrap;

/// Explains every run of the scenario.
pub(crate) fn run(args: &ExplainArgs) -> Result<String, Failure> {
    let input = input::load_with(&args.choice, args.profile.as_deref())?;
    let scenario = &input.scenario;
    let named = || CostProfile::named(&scenario.profile);
    let profile = input.profile.clone().map_or_else(named, Ok);
    let profile = profile.map_err(|e| InputError::Scenario(scenario.name.clone(), e))?;
    let mut out = wrap(&format!("{}, costs of {}", title(scenario), profile.name), WIDTH, "", "");
    if input.tasks_before.is_none() && !scenario.description.is_empty() {
        out.push_str(&wrap(&scenario.description, WIDTH, "", ""));
    }
    out.push_str("\nThe work\n");
    out.push_str(&workload::render(scenario));
    for index in 0..scenario.runs.len() {
        out.push_str(&explain(scenario, index, &profiles::of_run(&profile, scenario, index))?);
    }
    Ok(out)
}

/// One run: its total, what bounds it, the rules behind it and what each cost has to do with it.
fn explain(scenario: &Scenario, index: usize, profile: &CostProfile) -> Result<String, Failure> {
    let run = &scenario.runs[index];
    let recording = simulate(scenario, index)?;
    let totals = recording.totals.clone();
    let trace = Trace::new(recording).context("the engine made a recording that cannot be read")?;
    let metrics = Metrics::of(&trace);
    let variant = run.variant(&scenario.machine);
    let mut out = format!("\n{}, {variant}: {}\n", run.model.as_str(), format::duration(metrics.makespan_ns));
    if metrics.tasks_unfinished == 0 {
        out.push_str(&bounds::render(scenario, index, &trace, &metrics));
    } else {
        let count = format::count(u64::from(metrics.tasks_unfinished));
        let text = format!("{count} tasks never end; the time is that of the last event, or until all repeats.");
        out.push_str(&wrap(&text, WIDTH, "  ", "  "));
    }
    out.push_str(&findings::render(&metrics.findings, &variant));
    out.push_str("\n  Rules\n");
    for (number, sentence) in rules::of(scenario, index) {
        out.push_str(&wrap(sentence, WIDTH, &format!("    {number:<5}"), "         "));
    }
    if metrics.tasks_unfinished == 0 {
        out.push_str(&costs::render(scenario, index, profile, &totals)?);
    } else {
        out.push_str("\n  Costs: without an end there is no total that they could have to do with\n");
    }
    Ok(out)
}

/// Simulates one run to its end.
fn simulate(scenario: &Scenario, index: usize) -> Result<Recording, InputError> {
    let wrong = |error| InputError::Scenario(scenario.name.clone(), error);
    let mut simulation = Simulation::new(scenario, index).map_err(wrong)?;
    while !simulation.step(1 << 20).check(index).map_err(wrong)?.finished {}
    Ok(simulation.into_recording())
}
