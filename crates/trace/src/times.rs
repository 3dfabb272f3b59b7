//! How long each task took and what each thread did in all, in one pass over each stream of records.
//!
//! Sums and lists only; the figures made of them are in `metrics`, spans for drawing in `lanes`.

use parkbench_engine::{Reason, TaskState};
use serde::{Deserialize, Serialize};

use crate::lanes::{ACTIVITIES, ActivityTotals};
use crate::trace::Trace;

/// Tasks that failed for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// Why.
    pub reason: Reason,
    /// How many.
    pub tasks: u32,
}

/// The tasks that failed, by reason, in the order of the reasons' list. O(records), or nothing where none has failed.
pub(crate) fn failures(trace: &Trace, failed: u32) -> Vec<Failures> {
    if failed == 0 {
        return Vec::new();
    }
    let mut tasks = [0; Reason::ALL.len()];
    for record in 0..trace.recording().tasks.len() {
        let tag = trace.tag_of(record as u32);
        if tag.state == TaskState::Failed {
            tasks[tag.reason as usize] += 1;
        }
    }
    let failures = Reason::ALL.into_iter().zip(tasks).map(|(reason, tasks)| Failures { reason, tasks });
    failures.filter(|failures| failures.tasks > 0).collect()
}

/// Times of the tasks that finished, in no particular order.
#[derive(Debug, Default)]
pub(crate) struct TaskTimes {
    pub(crate) done: u32,
    pub(crate) failed: u32,
    /// Most tasks in flight at one time, as [`crate::in_flight_peak`] defines it.
    pub(crate) in_flight_peak: u32,
    pub(crate) latency: Vec<u64>,
    pub(crate) response: Vec<u64>,
    pub(crate) queue: Vec<u64>,
}

/// Stands for "not yet"; times only go up, so that the least of it and a time is the first time.
const NEVER: u64 = u64::MAX;

/// What is known of one task while the records go by.
#[derive(Clone, Copy)]
struct Life {
    since: u64,
    submitted: u64,
    started: u64,
    queued: u64,
    /// As a number.
    state: u8,
    /// Started and not ended.
    in_flight: bool,
}

const QUEUED: u8 = TaskState::Queued as u8;
const DONE: u8 = TaskState::Done as u8;
const FAILED: u8 = TaskState::Failed as u8;

/// The states of which the first is the start of the body, as bits.
const STARTED: u16 = 1 << TaskState::Running as u8
    | 1 << TaskState::Waiting as u8
    | 1 << TaskState::Blocked as u8
    | 1 << TaskState::LockWait as u8;

/// The states in which a task is not in flight, as bits.
const ASHORE: u16 = 1 << TaskState::Pending as u8 | 1 << DONE | 1 << FAILED;

impl TaskTimes {
    /// O(records + tasks).
    pub(crate) fn of(trace: &Trace) -> Self {
        let unborn = Life {
            since: 0,
            submitted: NEVER,
            started: NEVER,
            queued: 0,
            state: TaskState::Pending as u8,
            in_flight: false,
        };
        let mut lives = vec![unborn; trace.task_count()];
        let records = &trace.recording().tasks;
        let (mut now, mut flying, mut peak) = (0, 0_u32, 0);
        for ((&at, &task), &tag) in records.time.iter().zip(&records.subject).zip(&records.tag) {
            if at != now {
                // A number that holds for no time at all does not count.
                (now, peak) = (at, peak.max(flying));
            }
            let life = &mut lives[task as usize];
            let flew = life.in_flight;
            life.enter((tag >> 28) as u8, at);
            flying = flying + u32::from(life.in_flight) - u32::from(flew);
        }
        let count = lives.len();
        let list = || Vec::with_capacity(count);
        let mut times = Self {
            in_flight_peak: peak.max(flying),
            latency: list(),
            response: list(),
            queue: list(),
            ..Self::default()
        };
        for life in lives {
            match life.state {
                DONE => times.add(life),
                FAILED => times.failed += 1,
                _ => {}
            }
        }
        times
    }

    fn add(&mut self, life: Life) {
        self.done += 1;
        // `since` is the time of the end.
        if life.started != NEVER {
            self.latency.push(life.since - life.started);
        }
        if life.submitted != NEVER {
            self.response.push(life.since - life.submitted);
        }
        self.queue.push(life.queued);
    }
}

impl Life {
    #[inline]
    fn enter(&mut self, state: u8, at: u64) {
        if self.state == QUEUED {
            self.queued += at - self.since;
        }
        // A record of pending is an arrival that the submitter has not reached yet.
        self.submitted = self.submitted.min(at);
        if STARTED >> state & 1 != 0 {
            self.started = self.started.min(at);
        }
        if !(self.state == state && state == DONE) {
            self.since = at;
        }
        self.in_flight = ASHORE >> state & 1 == 0 && (state != QUEUED || self.in_flight);
        self.state = state;
    }
}

/// Time per activity of each thread; each adds up to the length of the run. O(thread records).
pub(crate) fn thread_totals(trace: &Trace) -> Vec<ActivityTotals> {
    /// By the four bits of a tag, so that every tag has a place.
    #[derive(Clone, Copy, Default)]
    struct Use {
        ns: [u64; 16],
        since: u64,
        activity: usize,
    }
    let end = trace.end_ns();
    let records = &trace.recording().threads;
    let mut uses = vec![Use::default(); trace.thread_info().len()];
    for ((&at, &thread), &tag) in records.time.iter().zip(&records.subject).zip(&records.tag) {
        let (at, part) = (at.min(end), &mut uses[thread as usize]);
        part.ns[part.activity & 15] += at - part.since;
        (part.since, part.activity) = (at, (tag >> 28) as usize);
    }
    let total = |mut part: Use| {
        part.ns[part.activity & 15] += end - part.since;
        ActivityTotals { ns: std::array::from_fn::<_, ACTIVITIES, _>(|activity| part.ns[activity]) }
    };
    uses.into_iter().map(total).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::any_trace;
    use crate::{Lanes, in_flight_peak};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_totals_are_those_of_the_lanes(trace in any_trace()) {
            let lanes = Lanes::new(&trace);
            let expect: Vec<_> = (0..lanes.thread_count() as u32).map(|thread| lanes.totals(thread)).collect();
            prop_assert_eq!(thread_totals(&trace), expect);
        }

        #[test]
        fn the_peak_is_that_of_the_density(trace in any_trace()) {
            prop_assert_eq!(TaskTimes::of(&trace).in_flight_peak, in_flight_peak(&trace));
        }
    }
}
