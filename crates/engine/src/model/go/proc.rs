//! A P: its queue, its timers, and what `sysmon` has seen of it. Who runs on it is decided elsewhere.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Room in the queue of a P.
pub(super) const QUEUE: usize = 256;

#[derive(Clone, Debug, Default)]
pub(super) struct Proc {
    /// The M that has it; `None` where it is idle.
    pub(super) machine: Option<u32>,
    /// That M is in a call that blocks.
    pub(super) in_syscall: bool,
    /// Runs before the queue, in the time slice of whoever made it ready.
    pub(super) next: Option<u32>,
    pub(super) queue: VecDeque<u32>,
    /// (deadline, arrival, goroutine)
    pub(super) timers: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Time slices begun, and calls that have ended.
    pub(super) tick: u64,
    pub(super) syscall_tick: u64,
    /// What `sysmon` saw of both, and when in ns.
    pub(super) seen_tick: (u64, u64),
    pub(super) seen_syscall: (u64, u64),
}

impl Proc {
    /// Puts a goroutine first (`next`, and whoever was there goes last) or last; returns what overflows, in order:
    /// the older half of the queue and the newest.
    #[must_use]
    pub(super) fn put(&mut self, goroutine: u32, next: bool) -> Vec<u32> {
        let last = if next { self.next.replace(goroutine) } else { Some(goroutine) };
        let Some(last) = last else { return Vec::new() };
        if self.queue.len() < QUEUE {
            self.queue.push_back(last);
            return Vec::new();
        }
        self.queue.drain(..QUEUE / 2).chain([last]).collect()
    }

    /// The next goroutine, and whether it inherits the time slice.
    pub(super) fn take(&mut self) -> Option<(u32, bool)> {
        let next = self.next.take().map(|goroutine| (goroutine, true));
        next.or_else(|| self.queue.pop_front().map(|goroutine| (goroutine, false)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.next.is_none() && self.queue.is_empty()
    }

    /// [ns] When the first timer is due.
    pub(super) fn first_timer(&self) -> Option<u64> {
        self.timers.peek().map(|&Reverse((deadline, _, _))| deadline)
    }

    /// The goroutine of the first timer, if that is due: removes the timer.
    pub(super) fn take_due(&mut self, now: u64) -> Option<u32> {
        self.first_timer().filter(|&deadline| deadline <= now)?;
        self.timers.pop().map(|Reverse((_, _, goroutine))| goroutine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_runs_first_and_the_others_in_order() {
        let mut proc = Proc::default();
        for goroutine in 0..4 {
            assert!(proc.put(goroutine, true).is_empty());
        }
        let order: Vec<(u32, bool)> = std::iter::from_fn(|| proc.take()).collect();
        assert_eq!(order, [(3, true), (0, false), (1, false), (2, false)]);
    }

    #[test]
    fn half_of_a_full_queue_overflows_with_the_newest() {
        let mut proc = Proc::default();
        for goroutine in 0..256 {
            assert!(proc.put(goroutine, false).is_empty());
        }
        let over = proc.put(256, false);
        let expect: Vec<u32> = (0..128).chain([256]).collect();
        assert_eq!(over, expect);
        assert_eq!((proc.queue.len(), proc.take()), (128, Some((128, false))));
    }

    #[test]
    fn timers_are_due_in_order() {
        let mut proc = Proc::default();
        proc.timers.extend([Reverse((5, 0, 1)), Reverse((3, 1, 2)), Reverse((5, 2, 3))]);
        assert_eq!(proc.take_due(2), None);
        assert_eq!([proc.take_due(5), proc.take_due(5), proc.take_due(5)], [Some(2), Some(1), Some(3)]);
    }
}
