//! The event queue: earliest time first, and first in, first out among equal times (design, invariant 3).

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// What happens at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// The thread's burst on its core ends.
    BurstEnd(u32),
    /// The thread's wait is over; it wants a core.
    Runnable(u32),
    /// A thread that parked for a limited time may wake by itself.
    TimedWake(u32),
    /// Some thread's slice may be over.
    SliceEnd,
    /// A deadline of the model, usually of a task.
    Deadline(u32),
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    time: u64,
    sequence: u64,
    event: Event,
}

impl Entry {
    const fn key(&self) -> (u64, u64) {
        (self.time, self.sequence)
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    /// Reversed, because the heap of the standard library keeps the greatest on top.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

/// Lanes beside the heap. Waits and bursts of a run have few lengths, and events of one length are pushed in order of
/// time; four lanes hold nearly all of them.
const LANES: usize = 4;

/// Pending events.
///
/// A lane is a queue whose times never fall. A push goes to the lane with the latest end that is not later than the
/// event, or to the heap if there is none; a pop takes the least of the lanes' heads and the heap's top. Push is O(1)
/// and pop O(lanes) as long as the lanes suffice, otherwise both are O(log n). Which structure holds an event changes
/// nothing about the order, for that is by (time, sequence) alone.
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    lanes: [VecDeque<Entry>; LANES],
    heap: BinaryHeap<Entry>,
    sequence: u64,
}

impl EventQueue {
    pub(crate) fn push(&mut self, time: u64, event: Event) {
        let entry = Entry { time, sequence: self.sequence, event };
        self.sequence += 1;
        let mut best: Option<(usize, u64)> = None;
        let mut empty = None;
        for (index, lane) in self.lanes.iter().enumerate() {
            match lane.back() {
                Some(last) if last.time <= time && best.is_none_or(|(_, end)| last.time > end) => {
                    best = Some((index, last.time));
                }
                Some(_) => {}
                None => empty = Some(index),
            }
        }
        match best.map(|(index, _)| index).or(empty) {
            Some(index) => self.lanes[index].push_back(entry),
            None => self.heap.push(entry),
        }
    }

    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        let mut first: Option<(usize, (u64, u64))> = self.heap.peek().map(|entry| (LANES, entry.key()));
        for (index, lane) in self.lanes.iter().enumerate() {
            if let Some(entry) = lane.front()
                && first.is_none_or(|(_, key)| entry.key() < key)
            {
                first = Some((index, entry.key()));
            }
        }
        let entry = match first? {
            (LANES, _) => self.heap.pop(),
            (index, _) => self.lanes[index].pop_front(),
        };
        entry.map(|entry| (entry.time, entry.event))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Pushes and pops in any order, never into the past, against a sorted list.
        #[test]
        fn pops_by_time_then_by_arrival(calls in prop::collection::vec(prop::option::weighted(0.6, 0_u64..20), 0..300)) {
            let mut queue = EventQueue::default();
            let mut model: Vec<(u64, u32)> = Vec::new();
            let mut now = 0;
            for (number, call) in calls.into_iter().enumerate() {
                if let Some(delay) = call {
                    queue.push(now + delay, Event::Deadline(number as u32));
                    model.push((now + delay, number as u32));
                    continue;
                }
                model.sort_unstable();
                let expect = (!model.is_empty()).then(|| model.remove(0));
                let got = queue.pop();
                prop_assert_eq!(got, expect.map(|(time, number)| (time, Event::Deadline(number))));
                now = got.map_or(now, |(time, _)| time);
            }
        }
    }
}
