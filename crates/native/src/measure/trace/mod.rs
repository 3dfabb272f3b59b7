//! What every task of a measured run did and when, for `measure --trace`.
//!
//! `marks` takes the times down inside the tasks, `recording` makes of them what the page draws, `output` writes the
//! file, and `chrome` is its other format.

mod chrome;
mod marks;
mod output;
mod recording;

use parkbench_engine::{FieldError, Plan, Recording, Scenario, Totals};
use parkbench_trace::{AboutRun, TraceCost, TracedRun};
use serde::Serialize;

use super::child::Repetition;
use super::overhead::Harness;
use super::probe::Readings;
use super::repeat::Finished;
use super::report::Run;
use super::runtime::Runtime;
use super::select::Planned;
use crate::input::InputError;

pub(crate) use marks::{Marks, cost_ps};
pub(crate) use output::{Output, TraceFormat};
use recording::MAX_MARKS;
pub(crate) use recording::{Lives, mark_counts, record};

/// A traced repetition.
#[derive(Clone, Debug)]
pub(crate) struct Traced {
    /// Its figures.
    pub(crate) repetition: Repetition,
    /// What happened.
    pub(crate) recording: Recording,
    /// Times that its tasks have taken down.
    pub(crate) events: u64,
    /// [ps] To take down one.
    pub(crate) event_ps: u64,
}

/// Refuses a run that would take down more than a page can show.
pub(crate) fn check(plan: &Plan, runtime: &Runtime) -> Result<(), InputError> {
    let marks = mark_counts(plan, runtime.kind()).iter().fold(0_u64, |sum, &count| sum.saturating_add(count as u64));
    if marks <= MAX_MARKS {
        return Ok(());
    }
    let value = format!("{marks} times to take down on {}", runtime.variant());
    let allowed = format!("up to {MAX_MARKS} a run; --tasks takes fewer tasks");
    Err(InputError::Field(FieldError::new("--trace", value, allowed)))
}

/// The entry of a traced repetition in the file; `repetitions` are those that were not traced.
pub(crate) fn traced_run(
    scenario: &Scenario,
    planned: &Planned,
    repetitions: &[Repetition],
    traced: Traced,
    harness: &Harness,
) -> Option<TracedRun> {
    let Traced { repetition, recording, events, event_ps } = traced;
    let mut makespans: Vec<u64> = repetitions.iter().map(|repetition| repetition.makespan_ns).collect();
    makespans.sort_unstable();
    // The lower middle, as in the report.
    let untraced_makespan_ns = *makespans.get(makespans.len().saturating_sub(1) / 2)?;
    let alone = Finished { repetitions: vec![repetition], ..Finished::default() };
    let Run { mut result, runtime, stands_for, .. } = Run::new(scenario, planned, &alone, harness)?;
    // One repetition alone has none, and the file has no place for them.
    result.unavailable.retain(|name, _| !name.starts_with("statistics"));
    let cost = TraceCost { events, event_ps, untraced_makespan_ns };
    Some(TracedRun { about: AboutRun { result, runtime, stands_for, cost }, recording })
}

/// What it has cost to trace a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct TraceFigures {
    /// [ns] Makespan of the traced repetition, which is none of those that the other figures are from.
    pub(crate) makespan_ns: u64,
    /// Times that its tasks have taken down.
    pub(crate) events: u64,
    /// [ps] To take down one, measured after the run in the same process.
    pub(crate) event_ps: u64,
}

impl From<&Traced> for TraceFigures {
    fn from(traced: &Traced) -> Self {
        let Traced { repetition, events, event_ps, .. } = traced;
        Self { makespan_ns: repetition.makespan_ns, events: *events, event_ps: *event_ps }
    }
}

/// What the times of the tasks do not say. A figure that could not be read is 0 here, and absent with its reason in the
/// result beside the recording.
pub(crate) fn totals(makespan_ns: u64, events: u64, readings: &Readings) -> Totals {
    let or_none = |reading: &super::probe::Reading| *reading.as_ref().unwrap_or(&0);
    Totals {
        makespan_ns,
        events,
        voluntary_switches: or_none(&readings.voluntary_switches),
        involuntary_switches: or_none(&readings.involuntary_switches),
        reserved_bytes: or_none(&readings.reserved),
        resident_bytes: or_none(&readings.resident),
        ..Totals::default()
    }
}
