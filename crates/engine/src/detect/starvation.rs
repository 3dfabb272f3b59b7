//! Starvation at the workers: tasks are ready, and for long none of them is taken, because a few others keep the
//! workers. It does not end the run.
//!
//! - A *standstill* is a time in which some task is ready (queued) and no ready task is given a worker.
//! - A *turn* is the time from when a task gets a worker until it lets go of it: computing, waiting for a core, blocked.
//! - The limit is 100 ms, or 100 times the median of all turns of the run (rounded down by an eighth at most), whichever
//!   is longer.
//! - The longest standstill of a run is a starvation if it is no shorter than the limit. Starved are the tasks that were
//!   ready for at least as long as the limit up to its end, counted from its beginning; they are blamed on those that
//!   had a worker for as long in it, and there must be one.
//!
//! Why so:
//! - Who waits for its turn in a queue that moves is not starved, however long the queue is: it moves whenever a turn
//!   ends, so a standstill is hardly longer than a turn of those who run.
//! - 100 medians: where turns are drawn from an exponential distribution, one in 10^30 is as long. Only a few turns that
//!   are very long among many short ones come into question: hogs, or calls that hold their workers.
//! - 100 ms: ten times what a scheduler that preempts lets a task keep its worker (10 ms in Go, G-1), and about the
//!   shortest delay that a person notices.
//!
//! What this does not find: tasks that are passed over while others of the queue are taken, as in a queue in no order;
//! and tasks that wait for a lock which others take first are found by `overtaken`.
//!
//! The longest standstill is found while the run goes on; where it is long enough, a pass over the records says the rest.
//! A run without records has no such finding. At most [`MAX_NAMED`] tasks are named, all are counted.

use std::cmp::Reverse;

use crate::finding::{Finding, FindingKind, MAX_NAMED, Resource, ResourceKind, STARVES_NS, TaskName, Wait};
use crate::kernel::Kernel;
use crate::recording::{NO_WORKER, Records, TaskTag};
use crate::state::TaskState;

/// How many median turns it must last.
const LEAST_TURNS: u64 = 100;

/// The starvation at the workers in the records of a run.
pub(crate) fn starvation(kernel: &Kernel) -> Option<Finding> {
    let (from_ns, to_ns) = kernel.standstill.longest;
    if to_ns - from_ns < STARVES_NS || kernel.recorder.len() == 0 {
        return None;
    }
    let records = kernel.recorder.task_records();
    let look = Look::at(records, kernel.plan.tasks, (from_ns, to_ns));
    let limit = look.turns.median()?.saturating_mul(LEAST_TURNS).max(STARVES_NS);
    let starved = names_of(look.ready, limit);
    let name = |task: u32| TaskName { id: task, class: kernel.plan.class_of(task).name.clone() };
    let held_by: Vec<TaskName> = names_of(look.holders, limit).into_iter().take(MAX_NAMED).map(name).collect();
    if starved.is_empty() || held_by.is_empty() {
        return None;
    }
    let wait = |&task: &u32| Wait {
        task: name(task),
        holds: Vec::new(),
        wants: Resource { kind: ResourceKind::Worker, name: String::new() },
        held_by: held_by.clone(),
        times: 0,
    };
    Some(Finding {
        kind: FindingKind::Starvation,
        from_ns,
        to_ns,
        tasks: starved.len() as u32,
        circle: 0,
        period_ns: None,
        waits: starved.iter().take(MAX_NAMED).map(wait).collect(),
    })
}

/// The longest standstill of a run so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standstill {
    /// Tasks that are ready now.
    ready: u32,
    /// [ns] Since when none of them has been given a worker.
    since: u64,
    /// [ns] From when until when the longest lasted, the first of several; one that has not ended is none.
    longest: (u64, u64),
}

impl Standstill {
    /// A task is in another state from now on.
    #[inline]
    pub(crate) fn change(&mut self, now: u64, from: TaskState, to: TaskState) {
        let (was_ready, is_ready) = (from == TaskState::Queued, to == TaskState::Queued);
        if was_ready && !is_ready {
            if now - self.since > self.longest.1 - self.longest.0 {
                self.longest = (self.since, now);
            }
            self.ready -= 1;
            self.since = now;
        } else if is_ready && !was_ready {
            if self.ready == 0 {
                self.since = now;
            }
            self.ready += 1;
        }
    }
}

/// Where a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Ready,
    OnWorker,
    Elsewhere,
}

/// Who was ready and who had a worker in a standstill, and how long the turns of the whole run were.
struct Look {
    /// [ns] How long each of those that were ready at the end of the standstill had been, within it.
    ready: Vec<(u64, u32)>,
    /// [ns] How long others had a worker, within it and without interruption; only those who had it for long.
    holders: Vec<(u64, u32)>,
    turns: Turns,
}

impl Look {
    fn at(records: &Records, tasks: u32, (start, end): (u64, u64)) -> Self {
        let mut places = vec![(Place::Elsewhere, 0_u64); tasks as usize];
        let mut look = Self { ready: Vec::new(), holders: Vec::new(), turns: Turns::default() };
        let mut over = false;
        for ((&time, &task), &tag) in records.time.iter().zip(&records.subject).zip(&records.tag) {
            if time >= end && !over {
                over = true;
                for (task, &(place, since)) in (0..).zip(&places) {
                    look.add(place, task, end - since.max(start));
                }
            }
            let now = match TaskTag::unpack(tag) {
                _ if TaskTag::is_queued(tag) => Place::Ready,
                Some(tag) if tag.worker != NO_WORKER => Place::OnWorker,
                _ => Place::Elsewhere,
            };
            let place = &mut places[task as usize];
            if place.0 == now {
                continue;
            }
            let (before, since) = std::mem::replace(place, (now, time));
            if before == Place::OnWorker {
                look.turns.add(time - since);
                if !over {
                    look.add(before, task, time.saturating_sub(since.max(start)));
                }
            }
        }
        look
    }

    fn add(&mut self, place: Place, task: u32, ns: u64) {
        match place {
            Place::Ready => self.ready.push((ns, task)),
            Place::OnWorker if ns >= STARVES_NS => self.holders.push((ns, task)),
            _ => {}
        }
    }
}

/// Those with at least as long as the limit, the longest first.
fn names_of(mut all: Vec<(u64, u32)>, limit: u64) -> Vec<u32> {
    all.retain(|&(ns, _)| ns >= limit);
    all.sort_unstable_by_key(|&(ns, task)| (Reverse(ns), task));
    all.into_iter().map(|(_, task)| task).collect()
}

/// How long turns were, in classes of which each is at most an eighth wide.
struct Turns {
    counts: [u64; 512],
    all: u64,
}

impl Default for Turns {
    fn default() -> Self {
        Self { counts: [0; 512], all: 0 }
    }
}

impl Turns {
    fn add(&mut self, ns: u64) {
        self.counts[Self::class(ns)] += 1;
        self.all += 1;
    }

    const fn class(ns: u64) -> usize {
        if ns < 8 {
            return ns as usize;
        }
        let octave = 63 - ns.leading_zeros() as usize;
        (octave - 3) * 8 + (ns >> (octave - 3)) as usize
    }

    /// [ns] The shortest turn of a class.
    const fn least(class: usize) -> u64 {
        if class < 8 { class as u64 } else { (8 + class as u64 % 8) << (class / 8 - 1) }
    }

    /// [ns] The median, rounded down by an eighth at most; `None` where no turn has ended.
    fn median(&self) -> Option<u64> {
        let mut seen = 0;
        let class = self.counts.iter().position(|count| {
            seen += count;
            *count > 0 && seen * 2 >= self.all
        })?;
        Some(Self::least(class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_of_turns_are_an_eighth_wide_and_follow_each_other() {
        let mut before = 0;
        for class in 1..=Turns::class(u64::MAX) {
            let least = Turns::least(class);
            assert_eq!((Turns::class(least), Turns::class(least - 1)), (class, class - 1));
            assert!(least - before <= before / 8 + 1, "{before} {least}");
            before = least;
        }
        assert!(Turns::class(u64::MAX) < 512);
    }

    #[test]
    fn the_median_is_the_lower_of_the_two_in_the_middle() {
        let median = |turns: &[u64]| {
            let mut all = Turns::default();
            for &ns in turns {
                all.add(ns);
            }
            all.median()
        };
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[0]), Some(0));
        assert_eq!(median(&[1_000, 3, 5]), Some(5));
        assert_eq!(median(&[1_000, 3, 5, 2_000]), Some(5));
        assert_eq!(median(&[1_000; 3]), Some(960));
    }
}
