//! From the command line to a scenario: presets, files, standard input, and the options that change a scenario.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use parkbench_engine::{FieldError, MAX_TASKS, Model, PRESET_NAMES, Scenario, ScenarioError, TaskClass, preset};
use serde_json::Value;
use thiserror::Error;

use crate::cli::Choice;
use crate::empirical::{self, CsvError};

/// Largest scenario file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// What is to be run, and what the options changed in it.
#[derive(Debug)]
pub(crate) struct Input {
    /// The scenario as it will be run.
    pub(crate) scenario: Scenario,
    /// Tasks in the scenario before `--tasks`, where that changed them; its published figures are left out then.
    pub(crate) tasks_before: Option<u64>,
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
    let (origin, mut scenario) = find(&choice.scenario)?;
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
    Ok(Input { scenario, tasks_before })
}

/// The scenario of this name and the name by which an error calls it.
fn find(argument: &str) -> Result<(String, Scenario), InputError> {
    if argument == "-" {
        let text = read("standard input", io::stdin().lock())?;
        return parse("standard input", None, &text);
    }
    if !argument.contains(['/', '.']) {
        let scenario = preset(argument).map_err(|error| InputError::NoPreset(error, argument.to_owned()))?;
        return Ok((argument.to_owned(), scenario));
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
    let mut bytes = Vec::new();
    let read = source.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| InputError::Unreadable(origin.to_owned(), error))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(InputError::TooLarge(origin.to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let offset = error.utf8_error().valid_up_to();
        InputError::NotUtf8 { origin: origin.to_owned(), offset, byte: error.as_bytes()[offset] }
    })
}

fn parse(origin: &str, extension: Option<&str>, text: &str) -> Result<(String, Scenario), InputError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let json = match extension {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    };
    let completed = complete(origin, json, text)?;
    let scenario = match &completed {
        Some(text) => Scenario::from_json(text),
        None if json => Scenario::from_json(text),
        None => Scenario::from_toml(text),
    };
    match scenario {
        Ok(scenario) => Ok((origin.to_owned(), scenario)),
        Err(error) => Err(InputError::Scenario(origin.to_owned(), error)),
    }
}

/// The scenario as JSON with the values of the CSV files that it names; `None` where it names none, or is malformed.
fn complete(origin: &str, json: bool, text: &str) -> Result<Option<String>, InputError> {
    if !text.contains("empirical") {
        return Ok(None);
    }
    let value: Option<Value> = if json { serde_json::from_str(text).ok() } else { toml::from_str(text).ok() };
    let Some(mut value) = value.filter(empirical::names_a_file) else { return Ok(None) };
    // Of standard input the folder is the one that parkbench runs in.
    let folder = Path::new(origin).parent().unwrap_or_else(|| Path::new(""));
    empirical::fill(&mut value, folder).map_err(|error| InputError::Csv(origin.to_owned(), error))?;
    Ok(Some(value.to_string()))
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
            assert_eq!(parse("x", extension, &text).unwrap().1, scenario);
        }
        assert!(parse("x", Some("toml"), "{}").is_err());
    }
}
