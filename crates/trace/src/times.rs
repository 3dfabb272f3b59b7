//! How long each task took and what each thread did in all, in one pass over each stream of records.
//!
//! Sums and lists only; the figures made of them are in `metrics`, spans for drawing in `lanes`.

use parkbench_engine::{Reason, Records, TaskState, TaskTag};
use serde::{Deserialize, Serialize};

use crate::lanes::{ACTIVITIES, ActivityTotals};
use crate::trace::Trace;
use crate::workspace::Workspace;

/// Tasks that failed for one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failures {
    /// Why.
    pub reason: Reason,
    /// How many.
    pub tasks: u32,
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

/// What a run's records say, folded as they go by; it keeps 48 bytes for each task and nothing of a record.
#[derive(Clone, Debug)]
pub struct Tally {
    lives: Vec<Life>,
    threads: Vec<Use>,
    /// Tasks that failed, by reason.
    failed: [u32; Reason::ALL.len()],
    /// [ns] The time of the last task record.
    now: u64,
    /// Tasks in flight, now and at the peak.
    flying: u32,
    peak: u32,
    /// [ns] Nothing after it counts.
    end: u64,
    records: u64,
}

/// What a whole run's records say.
#[derive(Debug)]
pub(crate) struct Tallied {
    pub(crate) tasks: TaskTimes,
    /// In the order of the reasons' list.
    pub(crate) failures: Vec<Failures>,
    /// By thread; each adds up to the length of the run.
    pub(crate) threads: Vec<ActivityTotals>,
}

/// Time per activity of one thread so far; by the four bits of a tag, so that every tag has a place.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    ns: [u64; 16],
    since: u64,
    activity: usize,
}

/// Stands for "not yet"; times only go up, so that the least of it and a time is the first time.
const NEVER: u64 = u64::MAX;

/// What is known of one task while the records go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Life {
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

impl Tally {
    /// Of a run of so many tasks, before its first record.
    pub fn new(tasks: u32) -> Self {
        Self::until(tasks as usize, u64::MAX, Vec::new())
    }

    fn until(tasks: usize, end: u64, mut lives: Vec<Life>) -> Self {
        lives.clear();
        lives.resize(tasks, Life::UNBORN);
        Self { lives, threads: Vec::new(), failed: [0; Reason::ALL.len()], now: 0, flying: 0, peak: 0, end, records: 0 }
    }

    /// What a trace's records say. O(records + tasks).
    pub(crate) fn of(trace: &Trace, workspace: &mut Workspace) -> Tallied {
        let lives = std::mem::take(&mut workspace.lives);
        let mut tally = Self::until(trace.task_count(), trace.end_ns(), lives);
        let recording = trace.recording();
        tally.add(&recording.tasks, &recording.threads);
        tally.finish(trace.end_ns(), trace.thread_info().len(), workspace)
    }

    /// The next records of both streams, as the engine has written them.
    ///
    /// # Panics
    /// If they name a task that the run does not have.
    pub fn add(&mut self, tasks: &Records, threads: &Records) {
        self.records += (tasks.len() + threads.len()) as u64;
        let (mut now, mut flying, mut peak) = (self.now, self.flying, self.peak);
        for ((&at, &task), &tag) in tasks.time.iter().zip(&tasks.subject).zip(&tasks.tag) {
            if at != now {
                // A number that holds for no time at all does not count.
                (now, peak) = (at, peak.max(flying));
            }
            let life = &mut self.lives[task as usize];
            let flew = life.in_flight;
            let state = (tag >> 28) as u8;
            life.enter(state, at);
            flying = flying + u32::from(life.in_flight) - u32::from(flew);
            if state == FAILED {
                self.failed[TaskTag::unpack(tag).map_or(0, |tag| tag.reason as usize)] += 1;
            }
        }
        (self.now, self.flying, self.peak) = (now, flying, peak);
        for ((&at, &thread), &tag) in threads.time.iter().zip(&threads.subject).zip(&threads.tag) {
            if thread as usize >= self.threads.len() {
                self.threads.resize(thread as usize + 1, Use::default());
            }
            self.threads[thread as usize].enter((tag >> 28) as usize, at.min(self.end));
        }
    }

    /// How many records it has seen.
    pub const fn records(&self) -> u64 {
        self.records
    }

    /// Everything, for a run that ended at `end` [ns] and had so many threads.
    pub(crate) fn finish(mut self, end: u64, threads: usize, workspace: &mut Workspace) -> Tallied {
        self.threads.resize(threads, Use::default());
        let mut tasks = std::mem::take(&mut workspace.times).cleared(self.lives.len());
        tasks.in_flight_peak = self.peak.max(self.flying);
        for &life in &self.lives {
            match life.state {
                DONE => tasks.add(life),
                FAILED => tasks.failed += 1,
                _ => {}
            }
        }
        workspace.lives = self.lives;
        let failures = Reason::ALL.into_iter().zip(self.failed).map(|(reason, tasks)| Failures { reason, tasks });
        Tallied {
            tasks,
            failures: failures.filter(|failures| failures.tasks > 0).collect(),
            threads: self.threads.into_iter().map(|part| part.totals(end)).collect(),
        }
    }
}

impl Use {
    fn enter(&mut self, activity: usize, at: u64) {
        self.ns[self.activity & 15] += at - self.since;
        (self.since, self.activity) = (at, activity);
    }

    fn totals(mut self, end: u64) -> ActivityTotals {
        self.enter(self.activity, end.max(self.since));
        ActivityTotals { ns: std::array::from_fn::<_, ACTIVITIES, _>(|activity| self.ns[activity]) }
    }
}

impl TaskTimes {
    /// Nothing, in the memory of this one, with room for so many tasks.
    fn cleared(mut self, tasks: usize) -> Self {
        for list in [&mut self.latency, &mut self.response, &mut self.queue] {
            list.clear();
            list.reserve(tasks);
        }
        Self { latency: self.latency, response: self.response, queue: self.queue, ..Self::default() }
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
    const UNBORN: Self = Self {
        since: 0,
        submitted: NEVER,
        started: NEVER,
        queued: 0,
        state: TaskState::Pending as u8,
        in_flight: false,
    };

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Metrics;
    use crate::testkit::any_trace;
    use crate::{Lanes, in_flight_peak};
    use parkbench_engine::Recording;
    use proptest::prelude::*;

    /// The records from this place to that one.
    fn piece(records: &Records, from: usize, to: usize) -> Records {
        let (time, subject, tag) = (&records.time[from..to], &records.subject[from..to], &records.tag[from..to]);
        Records { time: time.to_vec(), subject: subject.to_vec(), tag: tag.to_vec() }
    }

    proptest! {
        #[test]
        fn the_figures_do_not_depend_on_how_the_records_come(
            trace in any_trace(), at in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..4)
        ) {
            let recording = trace.recording();
            // A run of the engine has no record after its end.
            let last = recording.threads.time.last().into_iter().chain(recording.tasks.time.last()).max();
            prop_assume!(last.is_none_or(|&last| last <= recording.totals.makespan_ns));
            let (tasks, threads) = (&recording.tasks, &recording.threads);
            let (mut cuts, mut other): (Vec<usize>, Vec<usize>) =
                at.iter().map(|(a, b)| (a.index(tasks.len() + 1), b.index(threads.len() + 1))).unzip();
            cuts.extend([0, tasks.len()]);
            other.extend([0, threads.len()]);
            cuts.sort_unstable();
            other.sort_unstable();
            let mut tally = Tally::new(recording.totals.tasks);
            for (a, b) in cuts.windows(2).zip(other.windows(2)) {
                tally.add(&piece(tasks, a[0], a[1]), &piece(threads, b[0], b[1]));
            }
            let records_dropped = (tasks.len() + threads.len()) as u64;
            prop_assert_eq!(tally.records(), records_dropped);
            let rest = Recording { tasks: Records::default(), threads: Records::default(), ..recording.clone() };
            prop_assert_eq!(Metrics::aggregated(tally, &rest), Metrics { records_dropped, ..Metrics::of(&trace) });
        }

        #[test]
        fn the_totals_are_those_of_the_lanes(trace in any_trace()) {
            let lanes = Lanes::new(&trace);
            let expect: Vec<_> = (0..lanes.thread_count() as u32).map(|thread| lanes.totals(thread)).collect();
            prop_assert_eq!(Tally::of(&trace, &mut Workspace::default()).threads, expect);
        }

        #[test]
        fn the_peak_is_that_of_the_density(trace in any_trace()) {
            prop_assert_eq!(Tally::of(&trace, &mut Workspace::default()).tasks.in_flight_peak, in_flight_peak(&trace));
        }
    }
}
