//! The time driver: a wheel of milliseconds that nobody watches but the worker that polls it.
//!
//! A deadline is rounded up to a millisecond of the run, the clock down; so a sleep is never early. A parked worker
//! sleeps for whole milliseconds, and also wakes where entries of an upper level of the wheel fall to a lower one.
//! Who polls, and what becomes of a task whose timer has fired, is not known here.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::{Kernel, NEVER};
use crate::queue::Event;
use crate::recording::NO_TASK;
use crate::state::{Reason, TaskState};

/// [ns] The wheel's granularity.
const TICK: u64 = 1_000_000;
/// Bits of a level: 64 slots each.
const LEVEL_BITS: u32 = 6;
/// The topmost level.
const TOP_LEVEL: u32 = 5;

/// The wheel.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    /// (tick, arrival, task or [`NO_TASK`] for the future of `block_on`)
    entries: BinaryHeap<Reverse<(u64, u64, u32)>>,
    arrivals: u64,
    /// [ticks] Up to where the wheel has been polled.
    elapsed: u64,
    /// [ticks] When the driver means to wake by itself; an earlier entry wakes whoever is parked on it.
    next_wake: u64,
    /// [ns] By task, when its timer may fire, or [`NEVER`].
    fires_at: Vec<u64>,
    /// Taken out, and about to fire.
    pub(super) firing: Vec<u32>,
}

impl Timers {
    pub(super) fn new(tasks: u32) -> Self {
        Self {
            entries: BinaryHeap::new(),
            arrivals: 0,
            elapsed: 0,
            next_wake: NEVER,
            fires_at: vec![NEVER; tasks as usize],
            firing: Vec::new(),
        }
    }

    /// Puts a deadline into the wheel. Returns whether it comes before what the driver means to wake for.
    pub(super) fn insert(&mut self, kernel: &mut Kernel, deadline: u64, task: u32) -> bool {
        // A deadline that the wheel has passed already fires at the next poll.
        let tick = deadline.div_ceil(TICK);
        self.entries.push(Reverse((tick, self.arrivals, task)));
        self.arrivals += 1;
        if let Some(fires_at) = self.fires_at.get_mut(task as usize) {
            *fires_at = tick * TICK;
            kernel.queue.push_late((tick * TICK).max(kernel.now), Event::Deadline(task));
        }
        tick < self.next_wake
    }

    /// Handles [`Event::Deadline`]: from now on the timer is late.
    pub(super) fn overdue(&mut self, kernel: &mut Kernel, task: u32) {
        if self.fires_at[task as usize] == kernel.now {
            kernel.task_suspended(task, TaskState::Waiting, Reason::TimerBacklog);
        }
    }

    /// Takes everything that is due out of the wheel, first in, first out within a tick. Returns how many.
    pub(super) fn take_due(&mut self, now: u64) -> u64 {
        self.elapsed = self.elapsed.max(now / TICK);
        let mut due = 0;
        while let Some(&Reverse((tick, _, task))) = self.entries.peek() {
            if tick > self.elapsed {
                break;
            }
            self.entries.pop();
            if let Some(fires_at) = self.fires_at.get_mut(task as usize) {
                *fires_at = NEVER;
            }
            self.firing.push(task);
            due += 1;
        }
        self.next_wake = self.expiration().unwrap_or(NEVER);
        due
    }

    /// What has been taken out, tasks marked as resumed.
    pub(super) fn fire(&mut self, kernel: &mut Kernel) -> Vec<u32> {
        let fired = std::mem::take(&mut self.firing);
        for &task in fired.iter().filter(|&&task| task != NO_TASK) {
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
        }
        fired
    }

    /// [ns] Until when a thread may park that begins to at `now`: `None` for ever, `Some(now)` not at all.
    pub(super) fn park_until(&mut self, now: u64) -> Option<u64> {
        let expiration = self.expiration();
        self.next_wake = expiration.unwrap_or(NEVER);
        expiration.map(|tick| now + tick.saturating_sub(now / TICK) * TICK)
    }

    /// [ticks] When the wheel has to be looked at next: an entry is due, or the slot of its level begins.
    fn expiration(&self) -> Option<u64> {
        let &Reverse((tick, _, _)) = self.entries.peek()?;
        let differs = (self.elapsed ^ tick) | ((1 << LEVEL_BITS) - 1);
        let level = (differs.ilog2() / LEVEL_BITS).min(TOP_LEVEL);
        Some(tick >> (level * LEVEL_BITS) << (level * LEVEL_BITS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wheel(ticks: &[u64]) -> Timers {
        let mut timers = Timers::new(0);
        for &tick in ticks {
            timers.entries.push(Reverse((tick, timers.arrivals, NO_TASK)));
            timers.arrivals += 1;
        }
        timers
    }

    #[test]
    fn a_parked_worker_sleeps_for_whole_milliseconds() {
        for (ticks, now, expect) in [
            (&[][..], 0, None),
            (&[50], 0, Some(50 * TICK)),
            // From the middle of a tick: as late after the tick that is due.
            (&[51], 300_000, Some(51 * TICK + 300_000)),
            (&[3, 2], 2_500_000, Some(2_500_000)),
            // 100 lies in the second slot of the next level, which begins at 64.
            (&[100], 0, Some(64 * TICK)),
            (&[5_000], 0, Some(4_096 * TICK)),
        ] {
            assert_eq!(wheel(ticks).park_until(now), expect, "{ticks:?} at {now}");
        }
        let mut timers = wheel(&[100]);
        assert_eq!(timers.take_due(64 * TICK), 0);
        assert_eq!(timers.park_until(64 * TICK), Some(100 * TICK), "it has fallen to the lowest level");
        assert_eq!(timers.take_due(100 * TICK), 1);
        assert_eq!(timers.park_until(100 * TICK), None);
    }
}
