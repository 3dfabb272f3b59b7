//! When each task was submitted, began and ended: one slot per task, written without locks, read after the run.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::arrivals::{ClosedArrivals, Next};
use super::clock::Clock;
use super::trace::{Lives, Marks};
use super::workload::{Action, Workload};

/// Stands for "not yet".
pub(crate) const ABSENT: u64 = u64::MAX;

/// The slots of all tasks and the number that has not ended.
#[derive(Debug)]
pub(crate) struct Slots {
    clock: Clock,
    /// [ns] The first submission.
    first: AtomicU64,
    tasks: Vec<Slot>,
    remaining: Apart,
    /// Where a run is traced, all that each task does.
    marks: Option<Marks>,
    /// Where tasks arrive because others have ended, what is still to arrive.
    closed: Option<ClosedArrivals>,
}

/// A counter that every thread changes, on cache lines of its own: beside it nothing else is read at full speed.
#[derive(Debug)]
#[repr(align(128))]
struct Apart(AtomicUsize);

#[derive(Debug)]
struct Slot {
    submitted: AtomicU64,
    began: AtomicU64,
    ended: AtomicU64,
}

/// What the slots of a finished run say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Times {
    /// [ns] Start of the body to its end, of every task that ended.
    pub(crate) latency: Vec<u64>,
    /// [ns] Submission to end, of every task that ended.
    pub(crate) response: Vec<u64>,
    /// Tasks started and not ended, at the peak.
    pub(crate) in_flight_peak: u32,
    /// Tasks that a pool has refused: they were submitted, and the run is over, and they have not begun.
    pub(crate) rejected: u64,
    /// Tasks that such a task would have started.
    pub(crate) orphaned: u64,
}

impl Slots {
    /// Slots for so many tasks; the memory is touched now, so that it does not count as the run's.
    pub(crate) fn new(tasks: usize) -> Self {
        let slot =
            || Slot { submitted: AtomicU64::new(ABSENT), began: AtomicU64::new(ABSENT), ended: AtomicU64::new(ABSENT) };
        let tasks: Vec<_> = std::iter::repeat_with(slot).take(tasks).collect();
        let remaining = Apart(AtomicUsize::new(tasks.len()));
        Self { clock: Clock::start(), first: AtomicU64::new(ABSENT), remaining, tasks, marks: None, closed: None }
    }

    /// Slots with room for so many marks of each task.
    pub(crate) fn traced(counts: Vec<usize>) -> Self {
        let slots = Self::new(counts.len());
        Self { marks: Some(Marks::new(counts)), ..slots }
    }

    /// The same for a run with these arrivals.
    pub(crate) fn with_arrivals(self, closed: Option<ClosedArrivals>) -> Self {
        Self { closed, ..self }
    }

    /// What the submitter of this workload does next, each time it is called.
    pub(crate) fn agenda<'a>(&'a self, workload: &'a Workload) -> impl FnMut() -> Next + 'a {
        let mut known = workload.submissions().peekable();
        move || {
            if let Some(closed) = &self.closed {
                return closed.next(self.since_first_submission());
            }
            let Some(&(task, after)) = known.peek() else { return Next::Nothing };
            let early = self.until(after);
            if !early.is_zero() {
                return Next::Wait(early);
            }
            known.next();
            Next::Submit(task)
        }
    }

    /// [ns] since these slots were made.
    pub(crate) fn now(&self) -> u64 {
        self.clock.now()
    }

    /// The submitter is about to hand the task over.
    pub(crate) fn submitted(&self, task: u32) {
        let now = self.now();
        // Later ones are later, and reading is cheaper.
        if self.first.load(Ordering::Relaxed) == ABSENT {
            self.first.fetch_min(now, Ordering::Relaxed);
        }
        self.tasks[task as usize].submitted.store(now, Ordering::Relaxed);
    }

    /// The task's body begins.
    pub(crate) fn began(&self, task: u32) {
        let now = self.now();
        self.tasks[task as usize].began.store(now, Ordering::Relaxed);
        if let Some(marks) = &self.marks {
            marks.take(task, now);
        }
    }

    /// The task is about to do what can hold it up, or has done it; takes the time down where the run is traced.
    pub(crate) fn mark(&self, task: u32, action: Action) {
        if self.marks.is_some() && action.stops() {
            self.mark_stop(task);
        }
    }

    /// As [`Self::mark`], for an action that is known to be one that can hold the task up.
    pub(crate) fn mark_stop(&self, task: u32) {
        if let Some(marks) = &self.marks {
            marks.take(task, self.now());
        }
    }

    /// The task's wait is over, and it is on a thread that is no worker.
    pub(crate) fn mark_fired(&self, task: u32) {
        if let Some(marks) = &self.marks {
            marks.take_elsewhere(task, self.now());
        }
    }

    /// The task's body has ended; true where its thread must wake the submitter: after the last of all, or because the next
    /// task of a closed loop is due earlier than the submitter looks.
    pub(crate) fn ended(&self, task: u32) -> bool {
        let now = self.now();
        self.tasks[task as usize].ended.store(now, Ordering::Relaxed);
        if let Some(marks) = &self.marks {
            marks.take(task, now);
        }
        let sends = self.sends(task, now);
        self.remaining.0.fetch_sub(1, Ordering::AcqRel) == 1 || sends
    }

    /// The pool has refused the task, which will never begin, and with it `family` tasks, itself and all that it would
    /// have started; true as for [`Self::ended`].
    pub(crate) fn rejected(&self, task: u32, family: usize) -> bool {
        let sends = self.closed.is_some() && self.sends(task, self.now());
        self.remaining.0.fetch_sub(family, Ordering::AcqRel) == family || sends
    }

    /// The user who sent the task, if there is one, may send another; whether the submitter must learn of it.
    fn sends(&self, task: u32, now: u64) -> bool {
        let since = now.saturating_sub(self.first.load(Ordering::Relaxed));
        self.closed.as_ref().is_some_and(|closed| closed.ended(task, since))
    }

    /// Whether every task has ended.
    pub(crate) fn all_ended(&self) -> bool {
        self.remaining.0.load(Ordering::Acquire) == 0
    }

    /// [ns] since the first submission; 0 before it.
    pub(crate) fn since_first_submission(&self) -> u64 {
        self.now().saturating_sub(self.first.load(Ordering::Relaxed))
    }

    /// How much later than now a task is to be submitted that is due this long after the first.
    fn until(&self, after: Duration) -> Duration {
        if after.is_zero() { after } else { after.saturating_sub(Duration::from_nanos(self.since_first_submission())) }
    }

    /// What the tasks have taken down, and how many times; after a traced run.
    pub(crate) fn lives(&self) -> Option<(Lives, u64)> {
        let marks = self.marks.as_ref()?;
        let lives = Lives {
            submitted: self.tasks.iter().map(|slot| slot.submitted.load(Ordering::Relaxed)).collect(),
            marks: (0..self.tasks.len() as u32).map(|task| marks.of(task).collect()).collect(),
            names: marks.names(),
        };
        Some((lives, marks.count()))
    }

    /// Latencies, response times and tasks in flight, after the run.
    pub(crate) fn times(&self) -> Times {
        let at = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        Times::of(self.tasks.iter().map(|slot| (at(&slot.submitted), (at(&slot.began), at(&slot.ended)))))
    }
}

impl Times {
    /// From the times (submitted, (began, ended)) of each task; [`ABSENT`] stands for "not yet".
    pub(crate) fn of(tasks: impl Iterator<Item = (u64, (u64, u64))>) -> Self {
        let mut times = Self::default();
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for (submit, (begin, end)) in tasks {
            match (submit, begin) {
                (ABSENT, _) => times.orphaned += 1,
                (_, ABSENT) => times.rejected += 1,
                (_, begin) => starts.push(begin),
            }
            if end != ABSENT {
                ends.push(end);
                // By the processor's counter, two cores may differ by some nanoseconds.
                times.latency.push(end.saturating_sub(begin));
                times.response.push(end.saturating_sub(submit));
            }
        }
        times.in_flight_peak = in_flight_peak(starts, ends);
        times
    }
}

/// The largest number of intervals that are open at once; one that ends when another begins is closed first.
fn in_flight_peak(mut began: Vec<u64>, mut ended: Vec<u64>) -> u32 {
    began.sort_unstable();
    ended.sort_unstable();
    let (mut closed, mut peak) = (0, 0);
    for (opened, begin) in began.iter().enumerate() {
        while ended.get(closed).is_some_and(|end| end <= begin) {
            closed += 1;
        }
        peak = peak.max(opened + 1 - closed.min(opened));
    }
    peak as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_counts_open_intervals() {
        for (began, ended, expect) in [
            (vec![], vec![], 0),
            (vec![0, 10, 20], vec![10, 20, 30], 1),
            (vec![0, 1, 2], vec![5, 3, 9], 3),
            (vec![0, 1, 6], vec![5, 7, 9], 2),
            (vec![0, 1], vec![], 2),
        ] {
            assert_eq!(in_flight_peak(began.clone(), ended), expect, "{began:?}");
        }
    }

    #[test]
    fn a_task_is_due_so_long_after_the_first() {
        let slots = Slots::new(1);
        let hour = Duration::from_hours(1);
        assert_eq!((slots.since_first_submission(), slots.until(hour)), (0, hour));
        slots.submitted(0);
        assert_eq!(slots.until(Duration::ZERO), Duration::ZERO);
        assert!(slots.until(hour) <= hour && slots.until(hour) > hour / 2);
    }

    #[test]
    fn the_last_end_is_known() {
        let slots = Slots::new(6);
        for task in [1, 0] {
            slots.submitted(task);
            slots.began(task);
        }
        slots.submitted(2);
        assert!(!slots.rejected(2, 3) && !slots.ended(1) && !slots.all_ended());
        slots.submitted(5);
        assert!(!slots.ended(0) && slots.rejected(5, 1) && slots.all_ended());
        let times = slots.times();
        assert_eq!((times.rejected, times.orphaned), (2, 2));
        assert_eq!((times.latency.len(), times.response.len()), (2, 2));
        assert!(times.response.iter().zip(&times.latency).all(|(response, latency)| response >= latency));
    }
}
