//! The command `measure`: the tasks of a scenario on real runtimes, each repetition in a process of its own.
//!
//! Here is only what the command line asks for and gets; the order of events is in `collect`.

mod arrivals;
mod chart;
mod check;
mod child;
mod clock;
pub(crate) mod collect;
mod command;
pub(crate) mod cores;
mod coroutine;
mod counters;
pub(crate) mod cpu;
mod disk;
mod doctor;
pub(crate) mod environment;
mod estimate;
mod forecast;
mod green;
mod histogram;
mod judge;
pub(crate) mod jvm;
pub(crate) mod kind;
mod limits;
mod markdown;
mod metrics;
mod out;
mod overhead;
mod pool;
mod probe;
mod progress;
mod repeat;
pub(crate) mod report;
pub(crate) mod runtime;
pub(crate) mod select;
mod slots;
mod stats;
pub(crate) mod stop;
mod surroundings;
mod table;
mod trace;
pub(crate) mod warning;
mod watch;
mod workload;

use anyhow::{Context as _, anyhow};
use parkbench_trace::TraceFile;

pub(crate) use child::exec_one;
pub(crate) use cores::Cores;
pub(crate) use doctor::doctor;
pub(crate) use select::Wanted;
pub(crate) use trace::TraceFormat;

use crate::Failure;
use crate::cli::{MeasureArgs, MeasureFormat};
use crate::input;
use crate::say::say;
use collect::{Collected, Request};
use metrics::Monitor;
use out::Directory;
use stop::Stop;

/// What a measurement gave, and whether all of it could be had.
#[derive(Debug)]
pub(crate) struct Measured {
    /// The result in the format that was asked for.
    pub(crate) text: String,
    /// Why the measurement is not complete, if it is not.
    failure: Option<String>,
    /// What goes on being served, and until when; absent where nothing does.
    served: Option<(Monitor, Stop)>,
}

impl Measured {
    /// What is left when the text is printed: the metrics, which go on being served, and whether all could be had.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        if let Some((monitor, stop)) = &self.served {
            monitor.serve_until(stop)?;
        }
        self.failure.map_or(Ok(()), |reason| Err(Failure::Runtime(anyhow!(reason))))
    }
}

/// Measures every run of the scenario and writes the result in the format that was asked for.
pub(crate) fn run(args: &MeasureArgs) -> Result<Measured, Failure> {
    let input = input::load(&args.choice)?;
    let output = args.trace.as_deref().map(|path| trace::Output::open(path, args.trace_format)).transpose()?;
    let options = &args.monitor;
    let stop = stop::listen()?;
    let monitor = Monitor::start(&input.scenario, options.metrics_listen, options.metrics_file.as_deref())?;
    let request = Request {
        runtimes: &args.runtime,
        java: args.java.as_deref(),
        warm_up: args.warm_up,
        pin: args.pin.as_ref(),
        metrics: Some(&monitor.metrics),
        trace: output.is_some(),
        count: !options.watch,
        ..Request::new(&args.choice.scenario, &input.scenario, args.reps)
    };
    if options.watch {
        watch::watch(request, args.format, options.interval, &monitor, &stop)?;
        return Ok(Measured { text: String::new(), failure: None, served: None });
    }
    let directory = args.out.as_deref().map(Directory::claim).transpose()?;
    let Collected { report, traces, mut failure } = match collect::collect(request) {
        Ok(collected) => collected,
        Err(error) => {
            // The counts of what has failed are worth a file too.
            if !stop.is_requested()
                && matches!(error, Failure::Runtime(_))
                && let Err(error) = monitor.write()
            {
                say(format_args!("error: {error:#}"));
            }
            return Err(error);
        }
    };
    monitor.metrics.round(&report);
    let text = match args.format {
        MeasureFormat::Table => table::render(&report),
        MeasureFormat::Markdown => markdown::render(&report, &[]),
        MeasureFormat::Json => {
            serde_json::to_string_pretty(&report).context("the result cannot be written as JSON")? + "\n"
        }
        MeasureFormat::Csv => table::csv(&report)?,
    };
    let traced = output.map_or(Ok(()), |output| {
        if traces.is_empty() {
            return Err(anyhow!("no run could be traced"));
        }
        output.finish(&TraceFile { scenario: input.scenario.clone(), runs: traces })
    });
    // The rows are printed all the same.
    let written = directory.map_or(Ok(()), |directory| directory.write(&report));
    for error in [traced.err(), written.err(), monitor.write().err()].into_iter().flatten() {
        let reasons: Vec<String> = failure.into_iter().chain([format!("{error:#}")]).collect();
        failure = Some(reasons.join("; "));
    }
    Ok(Measured { text, failure, served: Some((monitor, stop)) })
}
