//! From the command line to a scenario: presets, files, standard input, and the options that change a scenario.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use parkbench_engine::{
    CostProfile, FieldError, MAX_TASKS, Model, PRESET_NAMES, Scenario, ScenarioError, TaskClass, preset,
};
use serde_json::Value;
use thiserror::Error;

use crate::bounded;
use crate::cli::Choice;
use crate::empirical::{self, CsvError};
use crate::profiles::{self, ProfileError};

/// Largest scenario file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What is to be run, and what the options changed in it.
#[derive(Debug)]
pub(crate) struct Input {
    /// The scenario as it will be run.
    pub(crate) scenario: Scenario,
    /// Tasks in the scenario before `--tasks`, where that changed them; its published figures are left out then.
    pub(crate) tasks_before: Option<u64>,
    /// The profile whose costs the scenario has, by `--profile` or by the name of a file in it; else it names its own.
    pub(crate) profile: Option<CostProfile>,
}

impl Input {
    /// Name of the profile, for people.
    pub(crate) fn profile_name(&self) -> &str {
        self.profile.as_ref().map_or(&self.scenario.profile, |profile| &profile.name)
    }
}

/// Why there is no scenario to run.
#[derive(Debug, Error)]
pub(crate) enum InputError {
    /// The argument is no preset.
    #[error("{0}; a file of that name is written ./{1}")]
    NoPreset(ScenarioError, String),
    /// The scenario itself is wrong.
    #[error("{0}: {1}")]
    Scenario(String, ScenarioError),
    /// An option does not fit the scenario, or the scenario does not fit this machine.
    #[error("{0}")]
    Field(FieldError),
    /// The file cannot be opened or read.
    #[error("scenario file: {0} cannot be read ({1}); allowed: a readable file, a preset ({list}), or -", list = PRESET_NAMES.join(", "))]
    Unreadable(String, io::Error),
    /// It is a directory.
    #[error("scenario file: {0} is a directory; allowed: a .toml or .json file")]
    Directory(String),
    /// It is larger than any scenario.
    #[error("scenario file: {0} is larger than 16 MiB; allowed: up to {MAX_FILE_BYTES} bytes")]
    TooLarge(String),
    /// A CSV file that it names is wrong.
    #[error("{0}: {1}")]
    Csv(String, CsvError),
    /// The profile that it or an option names is wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// It is not text.
    #[error("scenario file: {origin} is not UTF-8, byte {offset} is {byte:#04x}; allowed: TOML or JSON as UTF-8 text")]
    NotUtf8 {
        /// The file.
        origin: String,
        /// [bytes] from its start.
        offset: usize,
        /// What stands there.
        byte: u8,
    },
}

/// Finds the scenario and applies the options.
pub(crate) fn load(choice: &Choice) -> Result<Input, InputError> {
    load_with(choice, None)
}

/// As [`load`], with the costs of this profile instead of the scenario's.
pub(crate) fn load_with(choice: &Choice, profile: Option<&str>) -> Result<Input, InputError> {
    let Found { origin, mut scenario, profile: own } = find(&choice.scenario)?;
    let profile = match profile {
        Some(name) => Some(profiles::load(name, Path::new(""))?),
        None => own,
    };
    if let Some(profile) = &profile {
        profiles::put_into(&mut scenario, profile).map_err(|error| InputError::Scenario(origin.clone(), error))?;
    }
    if let Some(seed) = choice.seed {
        scenario.seed = seed;
    }
    let before = scenario.task_count();
    let tasks_before = choice.tasks.filter(|&n| n != before).map(|_| before);
    if let Some(tasks) = choice.tasks.filter(|&n| n != before) {
        set_tasks(&mut scenario.tasks, tasks)?;
        scenario.references.clear();
    }
    if let Some(model) = choice.model.map(Model::from) {
        let kept = scenario.only(model);
        if kept.runs.is_empty() {
            let models = Model::ALL.into_iter().filter(|&m| scenario.runs.iter().any(|run| run.model == m));
            let allowed = models.map(Model::as_str).collect::<Vec<_>>().join(", ");
            let allowed = format!("{allowed} (the models of the runs in {origin})");
            return Err(InputError::Field(FieldError::new("--model", model.as_str(), allowed)));
        }
        scenario = kept;
    }
    scenario.validate().map_err(|error| InputError::Scenario(origin, error))?;
    Ok(Input { scenario, tasks_before, profile })
}

/// A scenario before the options.
#[derive(Debug)]
struct Found {
    /// How an error calls it.
    origin: String,
    scenario: Scenario,
    /// The profile of the file that it names.
    profile: Option<CostProfile>,
}

/// The scenario of this name.
fn find(argument: &str) -> Result<Found, InputError> {
    if argument == "-" {
        let text = read("standard input", io::stdin().lock())?;
        return parse("standard input", None, &text);
    }
    if !argument.contains(['/', '.']) {
        let scenario = preset(argument).map_err(|error| InputError::NoPreset(error, argument.to_owned()))?;
        return Ok(Found { origin: argument.to_owned(), scenario, profile: None });
    }
    let path = Path::new(argument);
    let origin = format!("{argument:?}");
    if path.is_dir() {
        return Err(InputError::Directory(origin));
    }
    let file = File::open(path).map_err(|error| InputError::Unreadable(origin.clone(), error))?;
    let text = read(&origin, file)?;
    parse(argument, path.extension().and_then(|extension| extension.to_str()), &text)
}

fn read(origin: &str, source: impl Read) -> Result<String, InputError> {
    let read = bounded::read_from(source, MAX_FILE_BYTES);
    let bytes = read.map_err(|error| InputError::Unreadable(origin.to_owned(), error))?;
    let bytes = bytes.ok_or_else(|| InputError::TooLarge(origin.to_owned()))?;
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        InputError::NotUtf8 { origin: origin.to_owned(), offset, byte: error.as_bytes()[offset] }
    })
}

fn parse(origin: &str, extension: Option<&str>, text: &str) -> Result<Found, InputError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json = match extension {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    };
    let (completed, profile) = complete(origin, json, text)?;
    let scenario = match &completed {
        Some(text) => Scenario::from_json(text),
        None if json => Scenario::from_json(text),
        None => Scenario::from_toml(text),
    };
    match scenario {
        Ok(scenario) => Ok(Found { origin: origin.to_owned(), scenario, profile }),
        Err(error) => Err(InputError::Scenario(origin.to_owned(), error)),
    }
}

/// The scenario as JSON with the values of the CSV files that it names, and the profile if that is a file; `None` where
/// it names no file, or is malformed.
fn complete(origin: &str, json: bool, text: &str) -> Result<(Option<String>, Option<CostProfile>), InputError> {
    if !text.contains("empirical") && !text.contains("profile") {
        return Ok((None, None));
    }
    let value: Option<Value> = if json { serde_json::from_str(text).ok() } else { toml::from_str(text).ok() };
    let Some(mut value) = value else { return Ok((None, None)) };
    // Of standard input the folder is the one that parkbench runs in.
    let folder = Path::new(origin).parent().unwrap_or_else(|| Path::new(""));
    let named = value.get("profile").and_then(Value::as_str).filter(|name| profiles::is_file(name));
    let profile = named.map(|name| profiles::load(name, folder)).transpose()?;
    if profile.is_none() && !empirical::names_a_file(&value) {
        return Ok((None, None));
    }
    if profile.is_some() {
        value["profile"] = profiles::BASE.into();
    }
    empirical::fill(&mut value, folder).map_err(|error| InputError::Csv(origin.to_owned(), error))?;
    Ok((Some(value.to_string()), profile))
}

/// Shares `tasks` out over the classes in proportion to their counts, at least one for each.
fn set_tasks(classes: &mut [TaskClass], tasks: u64) -> Result<(), InputError> {
    let least = classes.len() as u64;
    if tasks < least {
        let allowed = format!("{least} to {MAX_TASKS}, at least one task for each of the {least} classes");
        return Err(InputError::Field(FieldError::new("--tasks", tasks, allowed)));
    }
    // Every class gets one; the rest goes out by the running total, so that the shares add up to `tasks` exactly.
    let rest = u128::from(tasks - least);
    let before: u128 = classes.iter().map(|class| u128::from(class.count)).sum();
    let (mut seen, mut given) = (0_u128, 0_u128);
    for class in classes {
        seen += u128::from(class.count);
        let share = rest * seen / before.max(1) - given;
        given += share;
        class.count = 1 + share as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_tasks(counts: &[u64], tasks: u64, expect: Result<&[u64], &str>) {
        let class = |&count| TaskClass { name: "task".into(), count, ..preset("io-bound").unwrap().tasks[0].clone() };
        let mut classes: Vec<_> = counts.iter().map(class).collect();
        let outcome = set_tasks(&mut classes, tasks);
        match expect {
            Ok(want) => assert_eq!(classes.iter().map(|class| class.count).collect::<Vec<_>>(), want),
            Err(want) => assert!(outcome.unwrap_err().to_string().contains(want)),
        }
    }

    #[test]
    fn tasks_are_shared_out_in_proportion() {
        check_tasks(&[10_000], 7, Ok(&[7]));
        check_tasks(&[9_000, 1_000], 102, Ok(&[91, 11]));
        check_tasks(&[1, 1_000_000], 2, Ok(&[1, 1]));
        check_tasks(&[1, 1, 1], 1_000_000, Ok(&[333_333, 333_333, 333_334]));
        check_tasks(&[5, 5], 1, Err("--tasks: 1 is not allowed; allowed: 2 to 1000000"));
    }

    #[test]
    fn the_format_is_told_by_name_or_by_the_first_character() {
        let scenario = preset("pinning").unwrap();
        let json = scenario.to_json();
        for (extension, text) in
            [(Some("json"), json.clone()), (None, format!("\u{feff}\n  {json}")), (Some("x"), json)]
        {
            assert_eq!(parse("x", extension, &text).unwrap().scenario, scenario);
        }
        assert!(parse("x", Some("toml"), "{}").is_err());
    }
}
