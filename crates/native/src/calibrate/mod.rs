//! The command `calibrate`: this machine's costs for the simulation, measured and written as a profile.
//!
//! Here is the order of events; what is measured is in `machine` and `probe`, what becomes of it in `runtime` and
//! `solve`, how it is written in `write`.

mod machine;
mod params;
mod probe;
mod runtime;
mod sample;
mod solve;
mod write;

use std::fs::{self, File};
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, anyhow};
use parkbench_engine::{CostProfile, FieldError, ProfileMachine};

use crate::cli::CalibrateArgs;
use crate::input::InputError;
use crate::measure::collect::java;
use crate::measure::environment;
use crate::measure::kind::Kind;
use crate::measure::select::Wanted;
use crate::measure::stop;
use crate::{Failure, profiles};
use runtime::{Calibrated, Measured};

/// Repetitions of each probe.
const REPS: u32 = 15;
/// The same with `--quick`.
const QUICK_REPS: u32 = 7;
/// The runtimes of the JVM that `--quick` measures where none is named: the others take the defaults.
const QUICK_JVM: [Kind; 3] = [Kind::JavaPool, Kind::JavaVirtual, Kind::KotlinDefault];

/// The costs that the simulation of a runtime stands on, by name: what its probes tell, and what is the machine's.
pub(crate) fn costs_of(kind: Kind) -> Vec<&'static str> {
    let mut names: Vec<&'static str> = params::of(kind, false).iter().map(|param| param.name).collect();
    for name in machine::COSTS {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// Calibrates and writes the profile; returns what to print.
pub(crate) fn run(args: &CalibrateArgs) -> Result<String, Failure> {
    let begin = Instant::now();
    let path = match &args.out {
        Some(path) => path.clone(),
        None => {
            profiles::default_path().context("no home directory: name the file by --out, or set PARKBENCH_CACHE")?
        }
    };
    // A file that cannot be written is told before anything is measured.
    let writable = open(&path, args.out.is_none());
    writable.map_err(|error| InputError::Field(profiles::unwritable("--out", &path, &error)))?;
    let cores = environment::limits().cores;
    let (java, no_java) = match java(args.java.as_deref())? {
        Ok(java) => (Some(java), None),
        Err(reason) => (None, Some(reason)),
    };
    let jdk = java.as_ref().map_or(25, |java| java.version.feature);
    if let Some(Wanted::Named(kind)) =
        args.runtime.iter().find(|wanted| matches!(wanted, Wanted::Named(kind) if !kind.is_simulated()))
    {
        let allowed = "a runtime that the simulation has costs for, such as tokio";
        return Err(InputError::Field(FieldError::new("--runtime", kind.as_str(), allowed)).into());
    }
    let kinds = kinds(&args.runtime, args.quick);
    let load = environment::load_percent();
    say("the machine");
    let found = machine::measure(args.quick, cores);
    let mut base = CostProfile::named(profiles::BASE).context("the shipped profile cannot be read")?;
    let costs = write::of_machine(&found, cores);
    let errors = base.replace(&costs.iter().map(|(name, entry)| (name.clone(), entry.value.clone())).collect());
    if let Some(error) = errors.first() {
        return Err(Failure::Runtime(anyhow!("a cost of this machine is out of its range: {error}")));
    }
    let stop = stop::listen()?;
    let reps = if args.quick { QUICK_REPS } else { REPS };
    let mut absent = Vec::new();
    let mut measured: Vec<(Kind, Vec<Measured>)> = Vec::new();
    for &kind in &kinds {
        if let Some(reason) = no_java.as_ref().filter(|_| kind.is_jvm()) {
            absent.push((kind, reason.clone()));
            continue;
        }
        say(kind.as_str());
        let outcome = runtime::measure(kind, cores, jdk, args.java.as_deref(), reps, args.quick);
        if stop.is_requested() {
            return Err(Failure::Runtime(anyhow!("interrupted, and nothing was written")));
        }
        match outcome {
            Ok(probes) => measured.push((kind, probes)),
            Err(Failure::Runtime(error)) => absent.push((kind, format!("{error:#}"))),
            Err(error) => return Err(error),
        }
    }
    say("solving");
    let calibrated = solve(&measured, &base, args.quick, cores)?;
    if calibrated.is_empty() {
        return Err(Failure::Runtime(anyhow!("no runtime could be calibrated")));
    }
    let machine = ProfileMachine {
        cores,
        cpu: environment::cpu_model(),
        kernel: environment::kernel(),
        java: java.map(|java| java.version.text),
        load_percent: load,
    };
    let file = write::profile(machine, costs, &calibrated, SystemTime::now());
    // What is written is what can be read.
    CostProfile::resolve(file.clone()).context("the profile that was measured cannot be read")?;
    let text = toml::to_string(&file).context("the profile cannot be written as TOML")?;
    fs::write(&path, text).map_err(|error| InputError::Field(profiles::unwritable("--out", &path, &error)))?;
    for (kind, reason) in &absent {
        crate::say::say(format_args!("warning: {} is not calibrated: {reason}", kind.as_str()));
    }
    Ok(write::summary(&file, &calibrated, &path, begin.elapsed(), args.out.is_some()))
}

/// Every runtime in its own thread, as many at once as there are cores.
fn solve(
    measured: &[(Kind, Vec<Measured>)],
    base: &CostProfile,
    quick: bool,
    cores: u32,
) -> anyhow::Result<Vec<Calibrated>> {
    let mut calibrated = Vec::new();
    for part in measured.chunks(cores.max(1) as usize) {
        let solved: Vec<anyhow::Result<Calibrated>> = std::thread::scope(|scope| {
            let solve = |(kind, probes): &(Kind, Vec<Measured>)| runtime::calibrate(*kind, probes, base, quick);
            let threads: Vec<_> = part.iter().map(|one| scope.spawn(move || solve(one))).collect();
            let panicked = |_| Err(anyhow!("a runtime's costs could not be solved"));
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(panicked)).collect()
        });
        for one in solved {
            calibrated.push(one?);
        }
    }
    Ok(calibrated)
}

/// The runtimes to calibrate.
fn kinds(wanted: &[Wanted], quick: bool) -> Vec<Kind> {
    let all = wanted.is_empty() || wanted.contains(&Wanted::All);
    let by_name = |kind: &Kind| wanted.contains(&Wanted::Named(*kind));
    let by_group = |kind: &Kind| {
        let group = if kind.is_jvm() { Wanted::Jvm } else { Wanted::Rust };
        (all || wanted.contains(&group)) && (!quick || !kind.is_jvm() || QUICK_JVM.contains(kind))
    };
    let simulated = Kind::ALL.into_iter().filter(|kind| kind.is_simulated());
    simulated.filter(|kind| by_name(kind) || by_group(kind)).collect()
}

/// Makes sure that the file can be written, without changing one that is there.
fn open(path: &PathBuf, with_folder: bool) -> io::Result<()> {
    if let Some(folder) = path.parent().filter(|_| with_folder) {
        fs::create_dir_all(folder)?;
    }
    let existed = path.exists();
    File::options().append(true).create(true).open(path)?;
    if !existed {
        fs::remove_file(path)?;
    }
    Ok(())
}

fn say(what: &str) {
    if io::stderr().is_terminal() {
        crate::say::say(format_args!("calibrating: {what}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_leaves_runtimes_out_that_are_not_named() {
        assert_eq!(kinds(&[], false).len(), Kind::ALL.len() - 1);
        assert_eq!(kinds(&[Wanted::Named(Kind::Smol)], false), []);
        let quick = kinds(&[], true);
        assert!(quick.contains(&Kind::JavaVirtual) && !quick.contains(&Kind::KotlinIo));
        assert_eq!(kinds(&[Wanted::Named(Kind::KotlinIo)], true), [Kind::KotlinIo]);
        assert_eq!(kinds(&[Wanted::Rust], true).len(), 5);
    }
}
