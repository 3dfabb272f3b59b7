//! The command `simulate`: runs the engine and prints what it gave.

use anyhow::Context as _;
use parkbench_engine::{Plan, Recording, Scenario, Simulation};
use parkbench_trace::{Metrics, ResultFile, RunResult, Tally, Trace};
use parkbench_view::format;

use crate::cli::{Format, SimulateArgs};
use crate::figures::{self, WIDTH};
use crate::input::{self, Input, InputError};
use crate::say::say;
use crate::{Failure, findings, flat, published, text};

/// After so many events records are folded into the figures: some megabytes of them.
const AGGREGATED_EVENTS: u64 = 1 << 18;

/// Simulates every run of the scenario and writes the result in the format that was asked for.
pub(crate) fn run(args: &SimulateArgs) -> Result<String, Failure> {
    let input = input::load_with(&args.choice, args.profile.as_deref())?;
    let mut metrics = Vec::new();
    for index in 0..input.scenario.runs.len() {
        metrics.push(if args.aggregate {
            aggregate(&input.scenario, index, args.step_budget)?
        } else {
            let recording = simulate(&input.scenario, index, args.step_budget)?;
            let trace = Trace::new(recording).context("the engine made a recording that cannot be read")?;
            Metrics::of(&trace)
        });
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
    let wrong = |error| InputError::Scenario(scenario.name.clone(), error);
    let mut simulation = Simulation::new(scenario, run).map_err(wrong)?;
    loop {
        let progress = simulation.step(step_budget);
        if progress.too_many_records {
            say("note: with --aggregate no record is kept, and the run is not given up for them");
        }
        if progress.check(run).map_err(wrong)?.finished {
            return Ok(simulation.into_recording());
        }
    }
}

/// Simulates one run and folds its records into its figures as it goes.
fn aggregate(scenario: &Scenario, run: usize, step_budget: u64) -> Result<Metrics, InputError> {
    let wrong = |error| InputError::Scenario(scenario.name.clone(), error);
    let plan = Plan::new(scenario, run).map_err(wrong)?;
    let mut tally = Tally::new(plan.tasks);
    let mut simulation = Simulation::with_plan(plan);
    loop {
        let finished = simulation.step(step_budget.min(AGGREGATED_EVENTS)).check(run).map_err(wrong)?.finished;
        let (tasks, threads) = simulation.take_records();
        tally.add(&tasks, &threads);
        if finished {
            return Ok(Metrics::aggregated(tally, &simulation.into_recording()));
        }
    }
}

fn table(input: &Input, result: &ResultFile) -> String {
    let runs: Vec<&RunResult> = result.runs.iter().collect();
    let scenario = &input.scenario;
    let mut out = text::wrap(&format!("{}, costs of {}", title(scenario), input.profile_name()), WIDTH, "", "");
    // With another number of tasks the description's own numbers may be wrong.
    if input.tasks_before.is_none() && !scenario.description.is_empty() {
        out.push_str(&text::wrap(&scenario.description, WIDTH, "", ""));
    }
    out.push('\n');
    out.push_str(&figures::render(&runs, |grid, chunk| {
        grid.row([""]);
        grid.figure("Events", chunk, |&run| figures::or_absent(runs[run].events, format::count));
        grid.figure("Digest", chunk, |&run| figures::or_absent(runs[run].digest.clone(), |digest| digest));
    }));
    for run in &runs {
        out.push_str(&figures::failures(run));
    }
    for run in runs.iter().filter(|run| run.tasks_unfinished > 0) {
        let note = format!(
            "{} tasks of {} never end; its total time is that of the last event, or until all repeats.",
            format::count(run.tasks_unfinished),
            run.variant
        );
        out.push('\n');
        out.push_str(&text::wrap(&note, WIDTH, "! ", "  "));
    }
    for run in runs.iter().filter(|run| run.records_dropped > 0) {
        let note = format!(
            "{} records of {} are in these figures and were not kept: starvation at the workers was not looked for.",
            format::count(run.records_dropped),
            run.variant
        );
        out.push('\n');
        out.push_str(&text::wrap(&note, WIDTH, "! ", "  "));
    }
    for findings in
        runs.iter().map(|run| findings::render(&run.findings, &run.variant)).filter(|findings| !findings.is_empty())
    {
        out.push('\n');
        out.push_str(&findings);
    }
    out.push_str(&published::render(result));
    if let Some(tasks) = input.tasks_before {
        let note = format!(
            "Published figures, where the scenario has any, hold for its {} tasks and are left out.",
            format::count(tasks)
        );
        out.push('\n');
        out.push_str(&text::wrap(&note, WIDTH, "", ""));
    }
    out
}

/// What is run, in a few words.
pub(crate) fn title(scenario: &Scenario) -> String {
    let title = if scenario.title.is_empty() { &scenario.name } else { &scenario.title };
    let count = |n: u64, what: &str| format!("{} {what}{}", format::count(n), if n == 1 { "" } else { "s" });
    let tasks = count(scenario.task_count(), "task");
    let cores = count(u64::from(scenario.machine.cores), "core");
    format!("{title}: {tasks}, {cores}, seed {}", scenario.seed)
}

#[cfg(test)]
mod tests {
    use parkbench_engine::Reason;
    use parkbench_trace::Failures;

    use super::*;

    /// A result with every kind of published figure; a file, so that its figures stay as they are.
    fn result() -> ResultFile {
        serde_json::from_str(include_str!("../tests/data/result.json")).unwrap()
    }

    #[test]
    fn the_table_reads_well() {
        let result = result();
        let input = Input { scenario: result.scenario.clone(), tasks_before: None, profile: None };
        insta::assert_snapshot!(table(&input, &result));
    }

    #[test]
    fn what_another_number_of_tasks_leaves_out_is_said() {
        let mut result = result();
        result.runs.iter_mut().for_each(|run| run.comparison.clear());
        let input = Input { scenario: result.scenario.clone(), tasks_before: Some(10_000), profile: None };
        let table = table(&input, &result);
        assert!(!table.contains("Three tasks on two cores."));
        assert!(table.ends_with(
            "\nPublished figures, where the scenario has any, hold for its 10,000 tasks and are left out.\n"
        ));
    }

    #[test]
    fn tasks_that_never_end_are_told() {
        let mut result = result();
        result.runs[1].tasks_unfinished = 2;
        result.runs[1].tasks_done = 1;
        let input = Input { scenario: result.scenario.clone(), tasks_before: None, profile: None };
        let table = table(&input, &result);
        let cells: Vec<&str> =
            table.lines().find(|line| line.contains("wait for each other  ")).unwrap().split_whitespace().collect();
        assert_eq!(cells, ["wait", "for", "each", "other", "0", "2", "0"]);
        assert!(table.contains("! 2 tasks of java-25 never end"), "{table}");
    }

    #[test]
    fn tasks_that_failed_are_told_with_the_reason() {
        let mut result = result();
        result.runs[0].tasks_failed = 2;
        result.runs[0].tasks_done = 1;
        result.runs[0].failures = vec![Failures { reason: Reason::NativeThreads, tasks: 2 }];
        let input = Input { scenario: result.scenario.clone(), tasks_before: None, profile: None };
        let table = table(&input, &result);
        let cells: Vec<&str> =
            table.lines().find(|line| line.trim_start().starts_with("failed")).unwrap().split_whitespace().collect();
        assert_eq!(cells, ["failed", "2", "0", "0"]);
        assert!(table.contains("\n! 2 tasks of fixed-2 failed: unable to create native thread.\n"), "{table}");
    }

    #[test]
    fn rows_of_csv_are_complete() {
        insta::assert_snapshot!(flat::simulated(&result()).unwrap());
    }

    #[test]
    fn many_runs_are_split_into_tables_that_fit() {
        let mut result = result();
        for run in &mut result.runs {
            run.variant = "java-21-p10000-reentrant".to_owned();
        }
        let five: Vec<&RunResult> = result.runs.iter().chain(&result.runs[..2]).collect();
        let text = figures::render(&five, |_, _| {});
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        assert_eq!(text.matches("Total time").count(), 3, "{text}");
        assert_eq!(text.matches("java-21-p10000-reentrant").count(), 5, "{text}");
    }
}
