//! Cost profiles by name or from files, the one that `calibrate` has left here, and a profile put into a scenario.
//!
//! What a profile's costs are is the engine's business.

use std::path::{Path, PathBuf};
use std::{env, io};

use parkbench_engine::{COSTS, CostProfile, FieldError, PROFILE_NAMES, Scenario, ScenarioError, Unit};
use thiserror::Error;

use crate::bounded;

/// Largest profile file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 4 << 20;
/// The profile that a calibrated one stands on, and under which a scenario keeps only the differences.
pub(crate) const BASE: &str = "linux-default";
/// The file that `calibrate` writes where `--out` says nothing else.
const FILE: &str = "profile.toml";

/// Why there is no profile.
#[derive(Debug, Error)]
pub(crate) enum ProfileError {
    /// No such name.
    #[error("{0}; a file of that name is written ./{1}")]
    Unknown(ScenarioError, String),
    /// The file cannot be read.
    #[error("profile: {0:?} cannot be read ({1}); allowed: a file of parkbench calibrate, or one of {list}", list = PROFILE_NAMES.join(", "))]
    Unreadable(String, io::Error),
    /// It is larger than any profile.
    #[error("profile: {0:?} is larger than 4 MiB; allowed: up to {MAX_FILE_BYTES} bytes")]
    TooLarge(String),
    /// What stands in it is wrong.
    #[error("profile {0:?}: {1}")]
    Wrong(String, ScenarioError),
}

/// Whether a profile of this name is a file; others ship with the engine.
pub(crate) fn is_file(name: &str) -> bool {
    name.contains(['/', '.'])
}

/// The profile of a name, or of a file relative to `folder`.
pub(crate) fn load(name: &str, folder: &Path) -> Result<CostProfile, ProfileError> {
    if !is_file(name) {
        return CostProfile::named(name).map_err(|error| ProfileError::Unknown(error, name.to_owned()));
    }
    read(&folder.join(name))
}

/// The profile in a file: JSON where it begins with `{`, else TOML.
pub(crate) fn read(path: &Path) -> Result<CostProfile, ProfileError> {
    let shown = path.display().to_string();
    let unreadable = |error| ProfileError::Unreadable(shown.clone(), error);
    let Some(bytes) = bounded::read(path, MAX_FILE_BYTES).map_err(unreadable)? else {
        return Err(ProfileError::TooLarge(shown));
    };
    let text =
        String::from_utf8(bytes).map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
    let json = text.trim_start().starts_with('{');
    let profile = if json { CostProfile::from_json(&text) } else { CostProfile::from_toml(&text) };
    profile.map_err(|error| ProfileError::Wrong(shown, error))
}

/// Where `calibrate` leaves the profile of this machine; `None` without a home directory.
pub(crate) fn default_path() -> Option<PathBuf> {
    let xdg = || env::var_os("XDG_CACHE_HOME").map(|dir| PathBuf::from(dir).join("parkbench"));
    let home = || env::home_dir().map(|home| home.join(".cache/parkbench"));
    Some(env::var_os("PARKBENCH_CACHE").map(PathBuf::from).or_else(xdg).or_else(home)?.join(FILE))
}

/// Puts the costs of a profile into the scenario, so that it needs no file any more; its own costs stay before them.
pub(crate) fn put_into(scenario: &mut Scenario, profile: &CostProfile) -> Result<(), ScenarioError> {
    let base = CostProfile::named(BASE)?;
    let own = scenario.costs.clone();
    BASE.clone_into(&mut scenario.profile);
    for info in COSTS {
        let value = profile.costs.get(info.name).unwrap_or_default();
        if !own.contains_key(info.name) && base.costs.get(info.name) != Some(value) {
            scenario.costs.insert(info.name.to_owned(), text(info.unit, value));
        }
    }
    for run in &mut scenario.runs {
        let section = run.profile_runtimes().iter().find_map(|runtime| profile.runtimes.get(*runtime));
        for (name, entry) in section.into_iter().flatten() {
            if !own.contains_key(name) && !run.costs.contains_key(name) {
                run.costs.insert(name.clone(), entry.value.clone());
            }
        }
    }
    Ok(())
}

/// The profile as its costs hold for run number `run`.
pub(crate) fn of_run(profile: &CostProfile, scenario: &Scenario, run: usize) -> CostProfile {
    let runtimes = scenario.runs.get(run).map_or(&[][..], |run| run.profile_runtimes());
    match runtimes.iter().find(|runtime| profile.runtimes.contains_key(**runtime)) {
        Some(runtime) => profile.of_runtime(runtime),
        None => profile.clone(),
    }
}

/// The unit of the cost of this name.
pub(crate) fn unit(name: &str) -> Unit {
    COSTS.iter().find(|info| info.name == name).map_or(Unit::Nanos, |info| info.unit)
}

/// A cost as it stands in files.
pub(crate) fn text(unit: Unit, value: u64) -> String {
    match unit {
        Unit::Nanos => format!("{value} ns"),
        Unit::Picos => format!("{}.{:03} ns", value / 1_000, value % 1_000),
        Unit::Bytes => format!("{value} B"),
    }
}

/// Where this machine is another than the one that the profile was measured on.
pub(crate) fn differences(profile: &CostProfile, cores: u32, cpu: Option<&str>) -> Vec<String> {
    let Some(machine) = &profile.machine else { return Vec::new() };
    let mut differences = Vec::new();
    if machine.cores != cores {
        differences.push(format!("{} cores and not {cores}", machine.cores));
    }
    if let (Some(there), Some(here)) = (machine.cpu.as_deref(), cpu)
        && there != here
    {
        differences.push(format!("the processor {there:?} and not {here:?}"));
    }
    differences
}

/// An option that names a file which cannot be written.
pub(crate) fn unwritable(option: &str, path: &Path, error: &io::Error) -> FieldError {
    FieldError::new(option, format!("{:?} ({error})", path.display().to_string()), "a file that can be written")
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{Plan, preset};

    use super::*;

    const TEXT: &str = r#"
        version = 1
        name = "here"
        title = "Here"
        description = ""
        base = "linux-default"
        machine = { cores = 2, cpu = "Fast" }
        costs = { tick = { value = "1 ms", source = "M" }, vt_spawn = { value = "2 us", source = "M" } }
        [runtimes]
        java-pool = { pool_submit = { value = "3 us", source = "M" }, pool_dispatch = { value = "4 us", source = "M" } }
        kotlin-io = { kt_launch = { value = "5 us", source = "M" } }
    "#;

    #[test]
    fn a_scenario_takes_the_costs_of_its_runs_and_keeps_its_own() {
        let profile = CostProfile::from_toml(TEXT).unwrap();
        let mut scenario = preset("io-bound").unwrap();
        scenario.costs.insert("pool_dispatch".into(), "9 us".into());
        put_into(&mut scenario, &profile).unwrap();
        scenario.validate().unwrap();
        let costs = |run| Plan::new(&scenario, run).unwrap().costs;
        assert_eq!((costs(0).pool_submit, costs(0).pool_dispatch, costs(0).tick), (3_000, 9_000, 1_000_000));
        assert_eq!((costs(1).vt_spawn, costs(1).pool_submit), (2_000, 200));
        assert_eq!((costs(2).kt_launch, costs(2).cpu_iteration), (5_000, 300));
        assert_eq!(scenario.profile, BASE);
        let text = scenario.to_json();
        assert_eq!(Scenario::from_json(&text).unwrap(), scenario);
        assert_eq!(of_run(&profile, &scenario, 2).sources["kt_launch"], "M");
    }

    #[test]
    fn another_machine_is_told() {
        let profile = CostProfile::from_toml(TEXT).unwrap();
        assert_eq!(differences(&profile, 2, Some("Fast")), Vec::<String>::new());
        assert_eq!(differences(&profile, 8, Some("Slow")).len(), 2);
        assert_eq!(differences(&CostProfile::named(BASE).unwrap(), 8, None), Vec::<String>::new());
    }

    #[test]
    fn costs_are_written_as_they_are_read() {
        let mut profile = CostProfile::zero();
        for (name, unit, value) in
            [("tick", Unit::Nanos, 7), ("cpu_iteration", Unit::Picos, 1_042), ("kt_bytes", Unit::Bytes, 416)]
        {
            let errors = profile.replace(&[(name.to_owned(), text(unit, value))].into());
            assert_eq!((errors.len(), profile.costs.get(name)), (0, Some(value)), "{name}");
        }
    }
}
