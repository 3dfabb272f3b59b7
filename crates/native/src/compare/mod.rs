//! The command `compare`: a scenario simulated with this machine's costs and measured on it, side by side.
//!
//! Here is the order of events; what stands beside what is in `pair`, the figures in `figure`, the words in `render`,
//! and what several scenarios say together in `summary`.

mod cause;
mod figure;
mod finding;
mod pair;
mod render;
mod summary;

use std::path::Path;

use anyhow::{Context as _, anyhow};
use parkbench_engine::{CostProfile, Scenario, ScenarioError};

use crate::cli::{Choice, CompareArgs, Format};
use crate::input::{self, InputError};
use crate::measure::collect::{Collected, Request, collect, java};
use crate::measure::environment;
use crate::measure::select;
use crate::measure::stop;
use crate::say::say;
use crate::{Failure, profiles};
use pair::Pair;
use render::Comparison;

/// What a comparison gave, and whether all of it could be had.
#[derive(Debug)]
pub(crate) struct Compared {
    /// The result in the format that was asked for.
    pub(crate) text: String,
    /// Why it is not complete, if it is not.
    pub(crate) failure: Option<String>,
}

/// Measures, simulates and writes both in the format that was asked for.
pub(crate) fn run(args: &CompareArgs) -> Result<Compared, Failure> {
    // A scenario that is wrong is told before anything is measured.
    let mut scenarios = vec![(args.choice.scenario.as_str(), scenario(&args.choice)?)];
    for more in &args.more {
        scenarios.push((more, scenario(&Choice { scenario: more.clone(), ..args.choice.clone() })?));
    }
    let costs = Costs::find(args.profile.as_deref())?;
    for warning in &costs.warnings {
        say(format_args!("warning: {warning}"));
    }
    let stop = stop::listen()?;
    let (mut comparisons, mut failure) = (Vec::new(), None);
    for (name, scenario) in &scenarios {
        match compare(args, name, scenario, &costs) {
            Ok((comparison, incomplete)) => {
                comparisons.push(comparison);
                failure = failure.or(incomplete);
            }
            // Of several, the others are kept.
            Err(Failure::Runtime(error)) if scenarios.len() > 1 => {
                say(format_args!("error: {name}: {error:#}"));
                failure.get_or_insert_with(|| "not every scenario could be compared".to_owned());
            }
            Err(error) => return Err(error),
        }
        if stop.is_requested() {
            break;
        }
    }
    let text = match (args.format, comparisons.as_slice()) {
        (_, []) => return Err(Failure::Runtime(anyhow!("nothing could be compared"))),
        (Format::Table, [comparison]) if scenarios.len() == 1 => render::table(comparison),
        (Format::Json, [comparison]) if scenarios.len() == 1 => render::json(comparison)?,
        (Format::Table, all) => summary::table(all),
        (Format::Json, all) => render::json_of_all(all)?,
        (Format::Csv, all) => render::csv(all)?,
    };
    Ok(Compared { text, failure })
}

/// The scenario as it is compared.
fn scenario(choice: &Choice) -> Result<Scenario, InputError> {
    let mut scenario = input::load(choice)?.scenario;
    // The scenario's runs on this machine: what defaults to the cores follows them, in both.
    scenario.machine.cores = environment::limits().cores;
    scenario.references.clear();
    // What a hypothetical machine would take is not compared with this one.
    scenario.costs.clear();
    scenario.runs.iter_mut().for_each(|run| run.costs.clear());
    Ok(scenario)
}

/// One scenario, and why the comparison is not complete if it is not.
fn compare(
    args: &CompareArgs,
    name: &str,
    scenario: &Scenario,
    costs: &Costs,
) -> Result<(Comparison, Option<String>), Failure> {
    let request =
        Request { runtimes: &args.runtime, java: args.java.as_deref(), ..Request::new(name, scenario, args.reps) };
    let Collected { report, failure, .. } = collect(request)?;
    let invalid = |error: ScenarioError| InputError::Scenario(name.to_owned(), error);
    let java = java(args.java.as_deref())?;
    let version = java.as_ref().map(|java| &java.version).map_err(String::as_str);
    let (planned, _) = select::plan(scenario, &args.runtime, version).map_err(invalid)?;
    let mut pairs: Vec<Pair> = Vec::new();
    for run in &report.runs {
        let of_run = planned.iter().find(|planned| planned.runtime.variant() == run.result.variant);
        let planned = of_run.context("a runtime was measured that was not planned")?;
        pairs.push(pair::simulate(scenario, planned, run, &costs.profile)?);
    }
    let simulated = pair::together(scenario, &costs.profile, &pairs).map_err(invalid)?;
    let comparison = Comparison {
        report,
        pairs,
        simulated,
        profile: costs.profile.name.clone(),
        profile_file: costs.file.clone(),
        warnings: costs.warnings.clone(),
        cores: scenario.machine.cores,
    };
    Ok((comparison, failure))
}

/// What to simulate with.
struct Costs {
    profile: CostProfile,
    file: Option<String>,
    /// What is to be said about it.
    warnings: Vec<String>,
}

impl Costs {
    fn find(option: Option<&str>) -> Result<Self, InputError> {
        let (profile, file, mut warnings) = profile(option)?;
        let cpu = environment::cpu_model();
        for difference in profiles::differences(&profile, environment::limits().cores, cpu.as_deref()) {
            warnings.push(format!(
                "The profile {} was measured on another machine: {difference}. Run parkbench calibrate here.",
                profile.name
            ));
        }
        Ok(Self { profile, file, warnings })
    }
}

/// The profile to simulate with, its file, and what is to be said about it: the one of the option, else the one that
/// `calibrate` has left here, else the default.
fn profile(option: Option<&str>) -> Result<(CostProfile, Option<String>, Vec<String>), InputError> {
    if let Some(name) = option {
        let file = profiles::is_file(name).then(|| name.to_owned());
        return Ok((profiles::load(name, Path::new(""))?, file, Vec::new()));
    }
    if let Some(path) = profiles::default_path().filter(|path| path.exists()) {
        return Ok((profiles::read(&path)?, Some(path.display().to_string()), Vec::new()));
    }
    let place = profiles::default_path().map_or_else(String::new, |path| format!(" in {}", path.display()));
    let warning = format!(
        "There is no profile of this machine{place}, so the simulation has the costs of {}. Run parkbench calibrate \
         first.",
        profiles::BASE
    );
    Ok((profiles::load(profiles::BASE, Path::new(""))?, None, vec![warning]))
}
