//! One measurement from its request to its report: plan, check, calibrate, repeat, put together.
//!
//! Nothing is written here but the warnings that are worth knowing while it runs.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use parkbench_engine::{FieldError, Plan, Scenario};

use super::environment::{self, Environment};
use super::jvm::{self, Java, JavaError};
use super::repeat::{self, Finished, Order};
use super::report::Report;
use super::select::{self, Planned, Wanted};
use super::warning::Warning;
use super::{check, cpu, estimate, forecast, limits};
use crate::Failure;
use crate::input::InputError;

/// [s] A measurement that will take longer says so before it starts.
const LONG_S: u64 = 600;

/// What is to be measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// What the user calls the scenario, for messages.
    pub(crate) name: &'a str,
    pub(crate) scenario: &'a Scenario,
    /// Only these runtimes; empty for those that the runs of the scenario stand for.
    pub(crate) runtimes: &'a [Wanted],
    /// `--java`.
    pub(crate) java: Option<&'a Path>,
    /// How often each run is repeated.
    pub(crate) reps: u32,
}

impl<'a> Request<'a> {
    /// The runtimes that the runs of the scenario stand for, repeated so often; everything else as without options.
    pub(crate) const fn new(name: &'a str, scenario: &'a Scenario, reps: u32) -> Self {
        Self { name, scenario, runtimes: &[], java: None, reps }
    }
}

/// What a measurement gave, and whether all of it could be had.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) report: Report,
    /// Why the measurement is not complete, if it is not.
    pub(crate) failure: Option<String>,
}

/// Measures every run of the scenario, and keeps what is finished, whatever ends the rest.
pub(crate) fn collect(request: Request<'_>) -> Result<Collected, Failure> {
    let scenario = request.scenario;
    let invalid = |error| InputError::Scenario(request.name.to_owned(), error);
    check::check(scenario).map_err(invalid)?;
    let limits = environment::limits();
    let java = java(request.java)?;
    let version = java.as_ref().map(|java| &java.version).map_err(String::as_str);
    let (mut plan, mut absent) = select::plan(scenario, request.runtimes, version).map_err(invalid)?;
    plan.retain(|planned| match limits::too_large(scenario, &planned.runtime, limits) {
        None => true,
        Some(reason) => {
            absent.push(planned.absent(scenario, reason));
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
    let mut warnings = forecast::warnings(scenario, &plan, limits.cores);
    warnings.extend(environment::load_percent().and_then(|load| Warning::of_load(load, limits.cores)));
    let mut estimates: Vec<Duration> = Vec::new();
    for planned in &plan {
        let run = Plan::new(scenario, planned.workload).map_err(invalid)?;
        let ns = estimate::makespan_ns(scenario, &run, &planned.runtime, limits.cores, iteration_ps);
        estimates.push(Duration::from_nanos(ns));
    }
    let total_s = estimates.iter().map(Duration::as_secs_f64).sum::<f64>() * f64::from(request.reps);
    if total_s > LONG_S as f64 {
        let warning = Warning::Long { total_s: total_s as u64 };
        eprintln!("warning: {}", warning.message());
        warnings.push(warning);
    }

    let order = Order {
        scenario,
        planned: &plan,
        estimates: &estimates,
        reps: request.reps,
        iteration_ps,
        java: java.as_ref().ok(),
    };
    let (results, interrupted) = repeat::repeat(order)?;
    let finished: u32 = results.iter().map(|of_one| of_one.repetitions.len() as u32).sum();
    for (planned, of_one) in plan.iter().zip(&results) {
        if let Some(reason) = &of_one.failure {
            let absent_now = planned.absent(scenario, failed(reason, of_one, request.reps));
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
        warnings.push(Warning::Interrupted { finished, planned: request.reps * plan.len() as u32 });
        failure = Some("interrupted before the last repetition".to_owned());
    }
    if finished == 0 {
        return Err(Failure::Runtime(anyhow!("no repetition was finished")));
    }

    let after_ps = cpu::calibrate();
    environment.cpu_iteration_after_ps = Some(after_ps);
    warnings.extend(Warning::of_speeds(iteration_ps, after_ps));
    let results: Vec<(Planned, Finished)> = plan.into_iter().zip(results).collect();
    let report = Report::new(scenario, environment, warnings, absent, &results);
    Ok(Collected { report, failure })
}

/// The Java to measure with, or why there is none; an error where `--java` is wrong.
pub(crate) fn java(option: Option<&Path>) -> Result<Result<Java, String>, InputError> {
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
