//! The event queue: earliest time first, and first in, first out among equal times (design, invariant 3).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
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
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
}

/// Pending events. Push and pop are O(log n).
#[derive(Clone, Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Entry>,
    sequence: u64,
}

impl EventQueue {
    pub(crate) fn push(&mut self, time: u64, event: Event) {
        self.heap.push(Entry { time, sequence: self.sequence, event });
        self.sequence += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        self.heap.pop().map(|entry| (entry.time, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn pops_by_time_then_by_arrival(times in prop::collection::vec(0_u64..20, 0..200)) {
            let mut queue = EventQueue::default();
            for (index, &time) in times.iter().enumerate() {
                queue.push(time, Event::Deadline(index as u32));
            }
            let mut expect: Vec<(u64, u32)> = times.iter().enumerate().map(|(i, &t)| (t, i as u32)).collect();
            expect.sort_unstable();
            let mut got = Vec::new();
            while let Some((time, Event::Deadline(index))) = queue.pop() {
                got.push((time, index));
            }
            prop_assert_eq!(got, expect);
        }
    }
}
