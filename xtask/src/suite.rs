//! `cargo xtask test`: every check, in an order that never waits for a tool while another step could run.

mod schedule;
mod steps;

use std::process::ExitCode;
use std::time::Instant;

use crate::paths::Paths;
use crate::tools::{Tool, Toolbox};
use schedule::{Choice, Status};
use steps::{Outcome, STEPS, Step};

/// What a step ended with.
enum Verdict {
    Passed(String),
    Failed(String),
    Skipped(String),
}

pub(crate) fn list() {
    for step in STEPS {
        println!("{:14} {}", step.name, step.about);
    }
}

/// Runs the named steps and those they build on; all of them when no name is given.
pub(crate) fn run(paths: &Paths, only: &[String]) -> ExitCode {
    if let Some(name) = only.iter().find(|name| !STEPS.iter().any(|step| step.name == name.as_str())) {
        let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
        eprintln!("error: unknown step {name:?}; the steps are {}", known.join(", "));
        return ExitCode::from(2);
    }
    let chosen = schedule::with_requirements(STEPS, only);
    let tools: Vec<Tool> =
        Tool::ALL.iter().copied().filter(|tool| chosen.iter().any(|step| step.needs.contains(tool))).collect();
    let start = Instant::now();
    let verdicts = run_steps(paths, &chosen, &Toolbox::start(paths, &tools));
    let failed = verdicts.iter().filter(|(_, _, verdict)| matches!(verdict, Verdict::Failed(_))).count();
    print_summary(&verdicts, start.elapsed().as_secs_f64());
    let passed = verdicts.iter().filter(|(_, _, verdict)| matches!(verdict, Verdict::Passed(_))).count();
    println!("{passed} passed, {failed} failed");
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Each step with its time in seconds and its verdict, in the order in which they ran.
fn run_steps<'a>(paths: &Paths, chosen: &[&'a Step], toolbox: &Toolbox) -> Vec<(&'a Step, f64, Verdict)> {
    let mut statuses = vec![Status::Open; chosen.len()];
    let mut verdicts = Vec::new();
    loop {
        let choose = |statuses: &[Status]| schedule::choose(chosen, statuses, |tool| toolbox.state(tool));
        if choose(&statuses) == Choice::Wait {
            println!("\n== waiting for tools to be installed");
            toolbox.wait_until(|| choose(&statuses) != Choice::Wait);
        }
        let (index, verdict, seconds) = match choose(&statuses) {
            Choice::Finished => return verdicts,
            Choice::Wait => continue,
            Choice::Impossible(index, reason) => (index, Verdict::Failed(reason), 0.0),
            Choice::Skip(index, reason) => (index, Verdict::Skipped(reason), 0.0),
            Choice::Run(index) => {
                let step = chosen[index];
                println!("\n== {}: {}", step.name, step.about);
                let start = Instant::now();
                let verdict = match (step.run)(paths) {
                    Ok(Outcome::Passed(note)) => Verdict::Passed(note),
                    Ok(Outcome::Skipped(reason)) => Verdict::Skipped(reason),
                    Err(err) => Verdict::Failed(format!("{err:#}")),
                };
                (index, verdict, start.elapsed().as_secs_f64())
            }
        };
        let (word, text) = verdict.describe();
        println!(
            "-- {}: {word} after {seconds:.1} s{}",
            chosen[index].name,
            text.map(|text| format!(": {text}")).unwrap_or_default()
        );
        statuses[index] = if matches!(verdict, Verdict::Failed(_)) { Status::Failed } else { Status::Passed };
        verdicts.push((chosen[index], seconds, verdict));
    }
}

fn print_summary(verdicts: &[(&Step, f64, Verdict)], total: f64) {
    println!("\n== summary");
    for (step, seconds, verdict) in verdicts {
        let (word, text) = verdict.describe();
        let note = text.and_then(|text| text.lines().next()).unwrap_or_default();
        println!("{:14} {word:8} {seconds:7.1} s  {note}", step.name);
    }
    println!("{:14} {:8} {total:7.1} s", "all", "");
}

impl Verdict {
    fn describe(&self) -> (&'static str, Option<&str>) {
        let (word, text) = match self {
            Self::Passed(text) => ("passed", text),
            Self::Failed(text) => ("FAILED", text),
            Self::Skipped(text) => ("skipped", text),
        };
        (word, Some(text.as_str()).filter(|text| !text.is_empty()))
    }
}
