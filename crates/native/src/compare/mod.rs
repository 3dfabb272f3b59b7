//! The command `compare`: a scenario simulated with this machine's costs and measured on it, side by side.
//!
//! Here is the order of events; what stands beside what is in `pair`, the figures in `figure`, the words in `render`.

mod figure;
mod finding;
mod pair;
mod render;

use std::path::Path;

use anyhow::Context as _;
use parkbench_engine::{CostProfile, ScenarioError};

use crate::cli::{CompareArgs, Format};
use crate::input::{self, InputError};
use crate::measure::collect::{Collected, Request, collect, java};
use crate::measure::environment;
use crate::measure::select;
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
    let mut scenario = input::load(&args.choice)?.scenario;
    let cores = environment::limits().cores;
    // The scenario's runs on this machine: what defaults to the cores follows them, in both.
    scenario.machine.cores = cores;
    scenario.references.clear();
    // What a hypothetical machine would take is not compared with this one.
    scenario.costs.clear();
    scenario.runs.iter_mut().for_each(|run| run.costs.clear());
    let (profile, file, mut warnings) = profile(args.profile.as_deref())?;
    let cpu = environment::cpu_model();
    for difference in profiles::differences(&profile, cores, cpu.as_deref()) {
        warnings.push(format!(
            "The profile {} was measured on another machine: {difference}. Run parkbench calibrate here.",
            profile.name
        ));
    }
    for warning in &warnings {
        say(format_args!("warning: {warning}"));
    }
    let request = Request {
        runtimes: &args.runtime,
        java: args.java.as_deref(),
        ..Request::new(&args.choice.scenario, &scenario, args.reps)
    };
    let Collected { report, failure, .. } = collect(request)?;
    let invalid = |error: ScenarioError| InputError::Scenario(args.choice.scenario.clone(), error);
    let java = java(args.java.as_deref())?;
    let version = java.as_ref().map(|java| &java.version).map_err(String::as_str);
    let (planned, _) = select::plan(&scenario, &args.runtime, version).map_err(invalid)?;
    let mut pairs: Vec<Pair> = Vec::new();
    for run in &report.runs {
        let of_run = planned.iter().find(|planned| planned.runtime.variant() == run.result.variant);
        let planned = of_run.context("a runtime was measured that was not planned")?;
        pairs.push(pair::simulate(&scenario, planned, run, &profile)?);
    }
    let simulated = pair::together(&scenario, &profile, &pairs).map_err(invalid)?;
    let comparison =
        Comparison { report, pairs, simulated, profile: profile.name, profile_file: file, warnings, cores };
    let text = match args.format {
        Format::Table => render::table(&comparison),
        Format::Json => render::json(&comparison)?,
        Format::Csv => render::csv(&comparison)?,
    };
    Ok(Compared { text, failure })
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
