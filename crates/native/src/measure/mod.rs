//! The command `measure`: the tasks of a scenario on real runtimes, each repetition in a process of its own.
//!
//! Here is only the order of events: plan, check, calibrate, repeat, report.

mod check;
mod child;
mod coroutine;
mod cpu;
mod doctor;
mod environment;
mod estimate;
mod green;
mod jvm;
mod kind;
mod limits;
mod pool;
mod probe;
mod progress;
mod repeat;
mod report;
mod runtime;
mod select;
mod slots;
mod table;
mod warning;
mod workload;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use parkbench_engine::{FieldError, Model, Op, Plan, Scenario};

pub(crate) use child::exec_one;
pub(crate) use doctor::doctor;
pub(crate) use select::Wanted;

use crate::Failure;
use crate::cli::{Format, MeasureArgs};
use crate::input::{self, InputError};
use environment::Environment;
use jvm::{Java, JavaError};
use repeat::{Finished, Order};
use report::Report;
use runtime::Runtime;
use select::Planned;
use warning::Warning;

/// [s] A measurement that will take longer says so before it starts.
const LONG_S: u64 = 600;

/// What a measurement gave, and whether all of it could be had.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The result in the format that was asked for.
    pub(crate) text: String,
    /// Why the measurement is not complete, if it is not.
    pub(crate) failure: Option<String>,
}

/// Measures every run of the scenario and writes the result in the format that was asked for.
pub(crate) fn run(args: &MeasureArgs) -> Result<Measured, Failure> {
    let input = input::load(&args.choice)?;
    let scenario = input.scenario;
    let invalid = |error| InputError::Scenario(args.choice.scenario.clone(), error);
    check::check(&scenario).map_err(invalid)?;
    let limits = environment::limits();
    let java = java(args.java.as_deref())?;
    let version = java.as_ref().map(|java| &java.version).map_err(String::as_str);
    let (mut plan, mut absent) = select::plan(&scenario, &args.runtime, version).map_err(invalid)?;
    plan.retain(|planned| match limits::too_large(&scenario, &planned.runtime, limits) {
        None => true,
        Some(reason) => {
            absent.push(planned.absent(&scenario, reason));
            false
        }
    });
    for absent in &absent {
        eprintln!("warning: {absent}");
    }
    if plan.is_empty() {
        return Err(Failure::Runtime(anyhow!("there is nothing to measure")));
    }

    let iteration_ps = cpu::calibrate();
    if iteration_ps <= cpu::FASTEST_ITERATION_PS {
        let reason = "no processor is that fast, so the optimiser has removed the loop";
        return Err(Failure::Runtime(anyhow!("an iteration of the CPU loop took {iteration_ps} ps: {reason}")));
    }
    let mut environment = Environment::here(iteration_ps);
    let uses_jvm = plan.iter().any(|planned| planned.runtime.kind().is_jvm());
    environment.java = java.as_ref().ok().filter(|_| uses_jvm).map(|java| java.version.text.clone());
    let mut warnings = warnings(&scenario, &plan, limits.cores);
    warnings.extend(environment::load_percent().and_then(|load| Warning::of_load(load, limits.cores)));
    let mut estimates: Vec<Duration> = Vec::new();
    for planned in &plan {
        let run = Plan::new(&scenario, planned.workload).map_err(invalid)?;
        let ns = estimate::makespan_ns(&scenario, &run, &planned.runtime, limits.cores, iteration_ps);
        estimates.push(Duration::from_nanos(ns));
    }
    let total_s = estimates.iter().map(Duration::as_secs_f64).sum::<f64>() * f64::from(args.reps);
    if total_s > LONG_S as f64 {
        let warning = Warning::Long { total_s: total_s as u64 };
        eprintln!("warning: {}", warning.message());
        warnings.push(warning);
    }

    let order = Order {
        scenario: &scenario,
        planned: &plan,
        estimates: &estimates,
        reps: args.reps,
        iteration_ps,
        java: java.as_ref().ok(),
    };
    let (results, interrupted) = repeat::repeat(order)?;
    let finished: u32 = results.iter().map(|of_one| of_one.repetitions.len() as u32).sum();
    for (planned, of_one) in plan.iter().zip(&results) {
        if let Some(reason) = &of_one.failure {
            let absent_now = planned.absent(&scenario, failed(reason, of_one, args.reps));
            eprintln!("error: {absent_now}");
            absent.push(absent_now);
        }
    }
    let incomplete = "not every runtime could be measured".to_owned();
    let mut failure = absent.iter().any(|absent| absent.failed).then_some(incomplete);
    if interrupted {
        if finished == 0 {
            return Err(Failure::Runtime(anyhow!("interrupted before a repetition was finished")));
        }
        warnings.push(Warning::Interrupted { finished, planned: args.reps * plan.len() as u32 });
        failure = Some("interrupted before the last repetition".to_owned());
    }
    if finished == 0 {
        return Err(Failure::Runtime(anyhow!("no repetition was finished")));
    }

    let after_ps = cpu::calibrate();
    environment.cpu_iteration_after_ps = Some(after_ps);
    warnings.extend(Warning::of_speeds(iteration_ps, after_ps));
    let results: Vec<(Planned, Finished)> = plan.into_iter().zip(results).collect();
    let report = Report::new(&scenario, environment, warnings, absent, &results);
    let text = match args.format {
        Format::Table => table::render(&report),
        Format::Json => serde_json::to_string_pretty(&report).context("the result cannot be written as JSON")? + "\n",
        Format::Csv => table::csv(&report)?,
    };
    Ok(Measured { text, failure })
}

/// The Java to measure with, or why there is none; an error where `--java` is wrong.
fn java(option: Option<&Path>) -> Result<Result<Java, String>, InputError> {
    let cache = jvm::cache();
    match jvm::find_java(option, cache.as_deref()) {
        Ok(java) => Ok(jvm::can_build().map(|()| java)),
        Err(error @ JavaError::Missing(_)) => Ok(Err(error.to_string())),
        Err(JavaError::Option(value)) => {
            let allowed = format!("the home of a Java {} or newer, or its program java", jvm::OLDEST);
            Err(InputError::Field(FieldError::new("--java", value, allowed)))
        }
    }
}

/// The reason of a runtime that has failed, with what is kept of it.
fn failed(reason: &str, of_one: &Finished, reps: u32) -> String {
    match of_one.repetitions.len() {
        0 => reason.to_owned(),
        kept => format!("after {kept} of {reps} repetitions, which are kept, {reason}"),
    }
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
            let no_polling = Warning::NoPolling { variant: variant(run) };
            if spec.poll_interval.is_some() && !warnings.contains(&no_polling) {
                warnings.push(no_polling);
            }
            if let Runtime::Jvm(jvm) = &planned.runtime
                && let Some(jdk) = select::other_jdk(jvm.kind, spec, &jvm.java)
            {
                warnings.push(Warning::OtherJdk { variant: variant(run), jdk, java: jvm.java.text.clone() });
            }
            if !planned.runtime.kind().is_jvm() && monitors_hold_workers(scenario, run) {
                warnings.push(Warning::NoMonitor { variant: variant(run), runtime: planned.runtime.name() });
            }
        }
    }
    warnings
}

/// Whether the scenario has a monitor that holds a worker in the simulation: of green threads before JDK 24 (T-12), and
/// of coroutines.
fn monitors_hold_workers(scenario: &Scenario, run: usize) -> bool {
    let spec = &scenario.runs[run];
    let holds = match spec.model {
        Model::ThreadPool => false,
        Model::GreenThreads => spec.jdk.is_some_and(|jdk| jdk < 24),
        Model::Coroutines => true,
    };
    let is_monitor = |op: &Op| matches!(op, Op::Lock(lock) if lock.is_scoped());
    let any = |plan: Plan| plan.classes.iter().flat_map(|class| &class.ops).any(is_monitor);
    holds && Plan::new(scenario, run).is_ok_and(any)
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    #[track_caller]
    fn check_warnings(name: &str, cores_here: u32, expect: &[&str]) {
        let scenario = preset(name).unwrap();
        let planned = select::plan(&scenario, &[Wanted::Rust], Err("none")).unwrap().0;
        let warnings = warnings(&scenario, &planned, cores_here);
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
