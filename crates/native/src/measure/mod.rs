//! The command `measure`: the tasks of a scenario on real runtimes, each repetition in a process of its own.
//!
//! Here is only what the command line asks for and gets; the order of events is in `collect`.

mod chart;
mod check;
mod child;
mod collect;
mod command;
mod cores;
mod coroutine;
mod cpu;
mod doctor;
mod environment;
mod estimate;
mod forecast;
mod green;
mod histogram;
mod judge;
mod jvm;
mod kind;
mod limits;
mod markdown;
mod metrics;
mod out;
mod overhead;
mod pool;
mod probe;
mod progress;
mod repeat;
mod report;
mod runtime;
mod select;
mod slots;
mod stats;
mod stop;
mod surroundings;
mod table;
mod warning;
mod workload;

use anyhow::Context as _;

pub(crate) use child::exec_one;
pub(crate) use cores::Cores;
pub(crate) use doctor::doctor;
pub(crate) use select::Wanted;

use crate::Failure;
use crate::cli::{MeasureArgs, MeasureFormat};
use crate::input;
use collect::{Collected, Request};
use out::Directory;

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
    let request = Request {
        runtimes: &args.runtime,
        java: args.java.as_deref(),
        warm_up: args.warm_up,
        pin: args.pin.as_ref(),
        ..Request::new(&args.choice.scenario, &input.scenario, args.reps)
    };
    let directory = args.out.as_deref().map(Directory::claim).transpose()?;
    let Collected { report, mut failure } = collect::collect(request)?;
    let text = match args.format {
        MeasureFormat::Table => table::render(&report),
        MeasureFormat::Markdown => markdown::render(&report, &[]),
        MeasureFormat::Json => {
            serde_json::to_string_pretty(&report).context("the result cannot be written as JSON")? + "\n"
        }
        MeasureFormat::Csv => table::csv(&report)?,
    };
    if let Some(error) = directory.and_then(|directory| directory.write(&report).err()) {
        // The rows are printed all the same.
        let reasons: Vec<String> = failure.into_iter().chain([format!("{error:#}")]).collect();
        failure = Some(reasons.join("; "));
    }
    Ok(Measured { text, failure })
}
