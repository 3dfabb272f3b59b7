//! The command `presets`: what comes with parkbench, for people and for programs.

use anyhow::Context as _;
use parkbench_engine::{PRESET_NAMES, RunSpec, Scenario, preset};
use parkbench_view::format;
use serde::Serialize;

use crate::Failure;
use crate::cli::{ListFormat, PresetsArgs};
use crate::figures::WIDTH;
use crate::input::InputError;
use crate::text::wrap;

/// One preset, as JSON has it; `docs/results.md` says what each field is.
#[derive(Debug, Serialize)]
struct Entry {
    name: String,
    title: String,
    description: String,
    /// Tasks that arrive.
    tasks: u64,
    /// With those that they spawn.
    tasks_with_spawned: Option<u64>,
    cores: u32,
    profile: String,
    runs: Vec<Run>,
}

/// One run of it.
#[derive(Debug, Serialize)]
struct Run {
    model: &'static str,
    variant: String,
}

impl From<Scenario> for Entry {
    fn from(scenario: Scenario) -> Self {
        let run = |run: &RunSpec| Run { model: run.model.as_str(), variant: run.variant(&scenario.machine) };
        Self {
            tasks: scenario.task_count(),
            tasks_with_spawned: scenario.task_count_with_spawned(),
            cores: scenario.machine.cores,
            runs: scenario.runs.iter().map(run).collect(),
            name: scenario.name,
            title: scenario.title,
            description: scenario.description,
            profile: scenario.profile,
        }
    }
}

/// Lists every preset.
pub(crate) fn run(args: &PresetsArgs) -> Result<String, Failure> {
    let entry = |name: &str| preset(name).map(Entry::from).map_err(|e| InputError::Scenario(name.to_owned(), e));
    let entries = PRESET_NAMES.into_iter().map(entry).collect::<Result<Vec<_>, _>>()?;
    match args.format {
        ListFormat::Table => Ok(table(&entries)),
        ListFormat::Json => {
            let json = serde_json::to_string_pretty(&entries).context("the list cannot be written as JSON")?;
            Ok(json + "\n")
        }
    }
}

/// A paragraph for each: what it is about, what it compares, what to see.
fn table(entries: &[Entry]) -> String {
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let indent = " ".repeat(width + 2);
    let mut out = String::new();
    for entry in entries {
        let runs: Vec<&str> = entry.runs.iter().map(|run| run.variant.as_str()).collect();
        let spawned = entry.tasks_with_spawned.map_or(0, |all| all - entry.tasks);
        let spawn = if spawned > 0 { format!(" that spawn {}", format::count(spawned)) } else { String::new() };
        let head = format!(
            "{}: {} tasks{spawn}, {} cores; {}",
            entry.title,
            format::count(entry.tasks),
            entry.cores,
            runs.join(", ")
        );
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&wrap(&head, WIDTH, &format!("{:width$}  ", entry.name), &indent));
        out.push_str(&wrap(&entry.description, WIDTH, &indent, &indent));
    }
    out
}
