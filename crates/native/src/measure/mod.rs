//! The command `measure`: the tasks of a scenario on real runtimes, each repetition in a process of its own.
//!
//! Here is only the order of events: plan, check, calibrate, repeat, report.

mod child;
mod coroutine;
mod cpu;
mod environment;
mod estimate;
mod green;
mod pool;
mod probe;
mod progress;
mod report;
mod runtime;
mod slots;
mod table;
mod warning;
mod workload;

use std::time::Duration;

use anyhow::{Context as _, anyhow};
use parkbench_engine::{LockKind, Model, RunSpec, Scenario, Step};
use tokio::signal::unix::{SignalKind, signal};

pub(crate) use child::exec_one;

use crate::Failure;
use crate::cli::{Format, MeasureArgs};
use crate::input::{self, InputError};
use child::{Job, Repetition};
use environment::Environment;
use progress::Progress;
use report::Report;
use runtime::Planned;
use warning::Warning;

/// [s] A measurement that will take longer says so before it starts.
const LONG_S: u64 = 600;

/// What a measurement gave, and whether it was cut short.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The result in the format that was asked for.
    pub(crate) text: String,
    /// Whether the user ended it before the last repetition.
    pub(crate) interrupted: bool,
}

/// Measures every run of the scenario and writes the result in the format that was asked for.
pub(crate) fn run(args: &MeasureArgs) -> Result<Measured, Failure> {
    let input = input::load(&args.choice)?;
    let scenario = input.scenario;
    let plan = runtime::plan(&scenario);
    let limits = environment::limits();
    estimate::check(&scenario, &plan, limits).map_err(InputError::Field)?;

    let iteration_ps = cpu::calibrate();
    if iteration_ps <= cpu::FASTEST_ITERATION_PS {
        let reason = "no processor is that fast, so the optimiser has removed the loop";
        return Err(Failure::Runtime(anyhow!("an iteration of the CPU loop took {iteration_ps} ps: {reason}")));
    }
    let mut environment = Environment::here(iteration_ps);
    let mut warnings = warnings(&scenario, &plan, limits.cores);
    warnings.extend(environment::load_percent().and_then(|load| Warning::of_load(load, limits.cores)));
    let estimates: Vec<Duration> = plan
        .iter()
        .map(|planned| estimate::makespan_ns(&scenario, &planned.runtime, limits.cores, iteration_ps))
        .map(Duration::from_nanos)
        .collect();
    let total_s = estimates.iter().map(Duration::as_secs_f64).sum::<f64>() * f64::from(args.reps);
    if total_s > LONG_S as f64 {
        let warning = Warning::Long { total_s: total_s as u64 };
        eprintln!("warning: {}", warning.message());
        warnings.push(warning);
    }

    let jobs: Vec<Job> = plan
        .iter()
        .map(|planned| Job {
            scenario: scenario.clone(),
            run: planned.runs[0],
            runtime: planned.runtime.clone(),
            iteration_ps,
            parent: std::process::id(),
        })
        .collect();
    let repetitions = repeat(&jobs, &estimates, args.reps)?;
    let finished: u32 = repetitions.iter().map(|of_one| of_one.len() as u32).sum();
    let planned = args.reps * plan.len() as u32;
    let interrupted = finished < planned;
    if interrupted {
        if finished == 0 {
            return Err(Failure::Runtime(anyhow!("interrupted before a repetition was finished")));
        }
        warnings.push(Warning::Interrupted { finished, planned });
    }

    let after_ps = cpu::calibrate();
    environment.cpu_iteration_after_ps = Some(after_ps);
    warnings.extend(Warning::of_speeds(iteration_ps, after_ps));
    let results: Vec<_> = plan.into_iter().zip(repetitions).collect();
    let report = Report::new(&scenario, environment, warnings, &results);
    let text = match args.format {
        Format::Table => table::render(&report),
        Format::Json => serde_json::to_string_pretty(&report).context("the result cannot be written as JSON")? + "\n",
        Format::Csv => table::csv(&report)?,
    };
    Ok(Measured { text, interrupted })
}

/// Runs every job `reps` times, all jobs once before any runs again, so that a slow minute touches them alike.
/// Ends early, with what is finished, when the user interrupts.
fn repeat(jobs: &[Job], estimates: &[Duration], reps: u32) -> anyhow::Result<Vec<Vec<Repetition>>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime that waits for the repetitions")?;
    runtime.block_on(async {
        let mut interrupt = signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?;
        let mut terminate = signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?;
        let mut progress = Progress::new(estimates, reps);
        let mut finished: Vec<Vec<Repetition>> = vec![Vec::new(); jobs.len()];
        for rep in 1..=reps {
            for (index, (job, estimate)) in jobs.iter().zip(estimates).enumerate() {
                progress.begin(&job.runtime.variant(), rep, *estimate);
                // Time for overhead that the estimate leaves out, and for a machine that is busy with other things.
                let limit = estimate.saturating_mul(5).saturating_add(Duration::from_mins(2));
                let outcome = tokio::select! {
                    // The signals first: one that reaches a child that has just started ends that too.
                    biased;
                    _ = interrupt.recv() => return Ok(finished),
                    _ = terminate.recv() => return Ok(finished),
                    outcome = child::run(job, limit) => outcome,
                    () = progress.advance() => unreachable!("progress has no end"),
                };
                finished[index].push(outcome.with_context(|| format!("{}, repetition {rep}", job.runtime.name()))?);
                progress.end();
            }
        }
        Ok(finished)
    })
}

/// What can be told before the measurement.
fn warnings(scenario: &Scenario, plan: &[Planned], cores_here: u32) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let cores = scenario.machine.cores;
    if cores != cores_here {
        warnings.push(Warning::OtherCores { scenario: cores, here: cores_here });
    }
    if cfg!(debug_assertions) {
        warnings.push(Warning::DebugBuild);
    }
    let variant = |run: usize| scenario.runs[run].variant(&scenario.machine);
    for planned in plan {
        if let [_, _, ..] = planned.runs[..] {
            let variants = planned.runs.iter().map(|&run| variant(run)).collect();
            warnings.push(Warning::Shared { variants, runtime: planned.runtime.name() });
        }
        for &run in &planned.runs {
            let spec = &scenario.runs[run];
            if spec.poll_interval.is_some() {
                warnings.push(Warning::NoPolling { variant: variant(run) });
            }
            if monitors_hold_workers(scenario, spec) {
                warnings.push(Warning::NoMonitor { variant: variant(run), runtime: planned.runtime.name() });
            }
        }
    }
    warnings
}

/// Whether the scenario has a monitor that holds a worker in the simulation: of green threads before JDK 24 (T-12), and
/// of coroutines.
fn monitors_hold_workers(scenario: &Scenario, run: &RunSpec) -> bool {
    let mut steps = scenario.tasks.iter().flat_map(|class| &class.steps);
    let holds = match run.model {
        Model::ThreadPool => false,
        Model::GreenThreads => run.jdk.is_some_and(|jdk| jdk < 24),
        Model::Coroutines => true,
    };
    holds
        && steps.any(|step| match step {
            Step::Lock(lock) => run.lock.unwrap_or(lock.kind) == LockKind::Monitor,
            _ => false,
        })
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    #[track_caller]
    fn check_warnings(name: &str, cores_here: u32, expect: &[&str]) {
        let scenario = preset(name).unwrap();
        let warnings = warnings(&scenario, &runtime::plan(&scenario), cores_here);
        let kinds: Vec<_> = warnings.iter().map(Warning::kind).filter(|kind| *kind != "debug-build").collect();
        assert_eq!(kinds, expect, "{name}");
    }

    #[test]
    fn warnings_tell_where_scenario_and_measurement_differ() {
        check_warnings("io-bound", 12, &[]);
        check_warnings("io-bound", 2, &["other-cores"]);
        check_warnings("llm-agents", 8, &["no-polling"]);
        check_warnings("pinning", 8, &["shared", "no-monitor"]);
    }
}
