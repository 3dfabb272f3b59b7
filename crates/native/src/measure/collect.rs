//! One measurement from its request to its report: plan, check, calibrate, repeat, put together.
//!
//! Nothing is written here but the warnings that are worth knowing while it runs.

use std::path::Path;
use std::time::Duration;

use anyhow::anyhow;
use parkbench_engine::{FieldError, Plan, Scenario};
use parkbench_trace::TracedRun;

use super::cores::{Cores, Pinned};
use super::environment::{self, Environment};
use super::jvm::{self, Java, JavaError};
use super::metrics::Metrics;
use super::overhead::Harness;
use super::repeat::{self, Finished, Order};
use super::report::Report;
use super::runtime::Runtime;
use super::select::{self, Planned, Wanted};
use super::surroundings::Surroundings;
use super::warning::{self, Warning};
use super::{check, cpu, estimate, forecast, judge, limits, trace};
use crate::Failure;
use crate::input::InputError;
use crate::say::say;

/// [s] A measurement that will take longer says so before it starts.
const LONG_S: u64 = 600;

/// A repetition up to this long is short.
const SHORT: Duration = Duration::from_secs(2);

/// Unmeasured runs of all tasks on a JVM where they are short.
const JVM_WARM_UPS: u32 = 3;

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
    /// Unmeasured runs of each runtime before; as many as its kind needs where it is not said.
    pub(crate) warm_up: Option<u32>,
    /// The cores to measure on; all that this process may use where it is not said.
    pub(crate) pin: Option<&'a Cores>,
    /// Whether what is known beforehand is said on standard error.
    pub(crate) announce: bool,
    /// Who is told of each repetition as it ends.
    pub(crate) metrics: Option<&'a Metrics>,
    /// Whether one more repetition of each is traced.
    pub(crate) trace: bool,
    /// Whether the processor counts what one more repetition of each does, where it can.
    pub(crate) count: bool,
}

impl<'a> Request<'a> {
    /// The runtimes that the runs of the scenario stand for, repeated so often; everything else as without options.
    pub(crate) const fn new(name: &'a str, scenario: &'a Scenario, reps: u32) -> Self {
        Self {
            name,
            scenario,
            runtimes: &[],
            java: None,
            reps,
            warm_up: None,
            pin: None,
            announce: true,
            metrics: None,
            trace: false,
            count: false,
        }
    }
}

/// What a measurement gave, and whether all of it could be had.
#[derive(Debug)]
pub(crate) struct Collected {
    pub(crate) report: Report,
    /// The traced repetitions, where they were asked for and could be had.
    pub(crate) traces: Vec<TracedRun>,
    /// Why the measurement is not complete, if it is not.
    pub(crate) failure: Option<String>,
}

/// Measures every run of the scenario, and keeps what is finished, whatever ends the rest.
pub(crate) fn collect(request: Request<'_>) -> Result<Collected, Failure> {
    let scenario = request.scenario;
    let invalid = |error| InputError::Scenario(request.name.to_owned(), error);
    check::check(scenario).map_err(invalid)?;
    let _pinned = request.pin.map(Pinned::to).transpose()?;
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
    for absent in absent.iter().filter(|_| request.announce) {
        say(format_args!("warning: {absent}"));
    }
    if plan.is_empty() {
        return Err(Failure::Runtime(anyhow!("there is nothing to measure")));
    }

    let iteration_ps = cpu::calibrate();
    if iteration_ps <= cpu::FASTEST_ITERATION_PS {
        let reason = "no processor is that fast, so the optimiser has removed the loop";
        return Err(Failure::Runtime(anyhow!("an iteration of the CPU loop took {iteration_ps} ps: {reason}")));
    }
    let harness = Harness::measure();
    let mut environment = Environment::here(iteration_ps, harness);
    environment.pinned = request.pin.map(ToString::to_string);
    let uses_jvm = plan.iter().any(|planned| planned.runtime.kind().is_jvm());
    if let Some(note) = java.as_ref().ok().filter(|_| uses_jvm && request.announce).and_then(Java::note) {
        say(format_args!("note: {note}"));
    }
    environment.java = java.as_ref().ok().filter(|_| uses_jvm).map(|java| java.version.text.clone());
    let mut warnings = forecast::warnings(scenario, &plan, limits.cores);
    warnings.extend(environment::load_percent().and_then(|load| Warning::of_load(load, limits.cores)));
    let mut estimates: Vec<Duration> = Vec::new();
    for planned in &plan {
        let run = Plan::new(scenario, planned.workload).map_err(invalid)?;
        let ns = estimate::makespan_ns(scenario, &run, &planned.runtime, limits.cores, iteration_ps);
        estimates.push(Duration::from_nanos(ns));
        if request.trace {
            trace::check(&run, &planned.runtime)?;
        }
    }
    let warm_ups: Vec<u32> = plan
        .iter()
        .zip(&estimates)
        .map(|(planned, &estimate)| request.warm_up.unwrap_or_else(|| warm_up(&planned.runtime, estimate)))
        .collect();
    let reps = request.reps + u32::from(request.trace);
    let budget = |(estimate, &warm_up): (&Duration, &u32)| estimate.as_secs_f64() * f64::from(reps + warm_up);
    let total_s = estimates.iter().zip(&warm_ups).map(budget).sum::<f64>();
    if request.announce {
        say(announcement(plan.len(), request.reps, &warm_ups, total_s));
    }
    if total_s > LONG_S as f64 {
        let warning = Warning::Long { total_s: total_s as u64 };
        if request.announce {
            say(format_args!("warning: {}", warning.message()));
        }
        warnings.push(warning);
    }

    let order = Order {
        scenario,
        planned: &plan,
        estimates: &estimates,
        reps: request.reps,
        warm_ups: &warm_ups,
        java: java.as_ref().ok(),
        metrics: request.metrics,
        trace: request.trace,
        count: request.count,
    };
    let before = Surroundings::now();
    let (results, interrupted) = repeat::repeat(order)?;
    warnings.extend(judge::surroundings(&Surroundings::now().since(&before, limits.cores)));
    let finished: u32 = results.iter().map(|of_one| of_one.repetitions.len() as u32).sum();
    for (planned, of_one) in plan.iter().zip(&results) {
        if let Some(reason) = &of_one.failure {
            let absent_now =
                planned.absent(scenario, failed(&limits::explained(reason, limits.most_threads), of_one, request.reps));
            say(format_args!("error: {absent_now}"));
            absent.push(absent_now);
        }
    }
    let incomplete = "not every runtime could be measured".to_owned();
    let mut failure = absent.iter().any(|absent| absent.failed).then_some(incomplete);
    if interrupted {
        if finished == 0 {
            return Err(Failure::Runtime(anyhow!("interrupted before a repetition was finished")));
        }
        let planned = request.reps * plan.len() as u32;
        let complete = finished == planned;
        if !complete {
            warnings.push(Warning::Interrupted { finished, planned });
        }
        let what =
            if complete { "after the last repetition, before all was done" } else { "before the last repetition" };
        failure = Some(format!("interrupted {what}"));
    }
    if finished == 0 {
        return Err(Failure::Runtime(anyhow!("no repetition was finished")));
    }

    let after_ps = cpu::calibrate();
    environment.cpu_iteration_after_ps = Some(after_ps);
    warnings.extend(Warning::of_speeds(iteration_ps, after_ps));
    let results: Vec<(Planned, Finished)> = plan.into_iter().zip(results).collect();
    let mut report = Report::new(scenario, environment, warnings, absent, &results);
    report.warnings.extend(judge::runs(&report.runs, &harness));
    let mut traces = Vec::new();
    for (planned, finished) in results {
        match finished.traced {
            Some(Ok(run)) => {
                traces.extend(trace::traced_run(scenario, &planned, &finished.repetitions, *run, &harness));
            }
            Some(Err(reason)) => {
                say(format_args!("error: {} is not traced: {reason}", planned.runtime.variant()));
                failure.get_or_insert_with(|| "not every run could be traced".to_owned());
            }
            None => {}
        }
    }
    Ok(Collected { report, traces, failure })
}

/// Unmeasured runs of this runtime where the user has not said how many.
///
/// A repetition that has a process of its own needs one, for files in the page cache and the processor's clock. A JVM has
/// warmed up on a part of the tasks before; with all of them its heap grows and its compiler sees more.
fn warm_up(runtime: &Runtime, estimate: Duration) -> u32 {
    if runtime.kind().is_jvm() && estimate <= SHORT { JVM_WARM_UPS } else { 1 }
}

/// What is going to happen, for standard error.
fn announcement(runtimes: usize, reps: u32, warm_ups: &[u32], total_s: f64) -> String {
    let of_each = |least: u32, most: u32| match (least, most) {
        (0, 0) => String::new(),
        (least, most) if least == most => format!(" after {most} to warm up"),
        (least, most) => format!(" after {least} to {most} to warm up"),
    };
    let before = of_each(warm_ups.iter().min().copied().unwrap_or(0), warm_ups.iter().max().copied().unwrap_or(0));
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let time = if total_s < 1.0 { "less than a second".to_owned() } else { warning::minutes(total_s.ceil() as u64) };
    format!(
        "measuring {runtimes} runtime{}, {reps} repetition{} of each{before}: about {time}",
        plural(runtimes),
        plural(reps as usize)
    )
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
