//! The event queue: earliest time first, and first in, first out among equal times (design, invariant 3).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::scenario::{MAX_TASKS, MAX_THREADS};

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
    /// Tasks arrive.
    Arrival,
}

/// Bits of a thread's or task's number: more than the most of either.
const ID_BITS: u32 = 21;
const KIND_BITS: u32 = 3;
const _: () = assert!(MAX_TASKS < 1 << ID_BITS && (MAX_THREADS as u64) < 1 << ID_BITS);

impl Event {
    const fn pack(self) -> u64 {
        let (kind, id) = match self {
            Self::BurstEnd(id) => (0, id),
            Self::Runnable(id) => (1, id),
            Self::TimedWake(id) => (2, id),
            Self::SliceEnd => (3, 0),
            Self::Deadline(id) => (4, id),
            Self::Arrival => (5, 0),
        };
        kind << ID_BITS | id as u64
    }

    const fn unpack(bits: u64) -> Self {
        let id = (bits & ((1 << ID_BITS) - 1)) as u32;
        match bits >> ID_BITS & ((1 << KIND_BITS) - 1) {
            0 => Self::BurstEnd(id),
            1 => Self::Runnable(id),
            2 => Self::TimedWake(id),
            3 => Self::SliceEnd,
            4 => Self::Deadline(id),
            _ => Self::Arrival,
        }
    }
}

/// 64 bits of time, 40 of sequence, then kind and number; entries compare by time and sequence, for no two sequences
/// are equal. 2^40 pushes are a million tasks with 256 steps and four thousand pushes each.
type Entry = u128;

/// Stands for the head of an empty lane.
const NOTHING: Entry = Entry::MAX;

/// Lanes beside the heap. Waits and bursts of a run have few lengths, and events of one length are pushed in order of
/// time; four lanes hold nearly all of them.
const LANES: usize = 4;

/// Pending events.
///
/// A lane is a queue whose times never fall. A push goes to the lane with the latest end that is not later than the
/// event, or to the heap if there is none; a pop takes the least of the lanes' heads and the heap's top. Push is O(1)
/// and pop O(lanes) as long as the lanes suffice, otherwise both are O(log n). Which structure holds an event changes
/// nothing about the order, for that is by (time, sequence) alone.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    lanes: [VecDeque<Entry>; LANES],
    heap: BinaryHeap<Reverse<Entry>>,
    /// The first entry of each lane, then that of the heap.
    heads: [Entry; LANES + 1],
    /// [ns] The last time of each lane; 0 if it is empty, so that it takes anything.
    ends: [u64; LANES],
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            lanes: Default::default(),
            heap: BinaryHeap::new(),
            heads: [NOTHING; LANES + 1],
            ends: [0; LANES],
            sequence: 0,
        }
    }
}

impl EventQueue {
    pub(crate) fn push(&mut self, time: u64, event: Event) {
        let entry = u128::from(time) << 64 | u128::from(self.sequence << (KIND_BITS + ID_BITS) | event.pack());
        self.sequence += 1;
        // The latest end that is not too late, counted from 1 so that 0 is none.
        let (mut lane, mut latest) = (LANES, 0);
        for (index, &end) in self.ends.iter().enumerate() {
            let fits = end <= time && end + 1 > latest;
            (lane, latest) = if fits { (index, end + 1) } else { (lane, latest) };
        }
        if lane == LANES {
            self.heap.push(Reverse(entry));
            self.heads[LANES] = self.heads[LANES].min(entry);
            return;
        }
        if self.heads[lane] == NOTHING {
            self.heads[lane] = entry;
        }
        self.ends[lane] = time;
        self.lanes[lane].push_back(entry);
    }

    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        let (mut first, mut entry) = (0, self.heads[0]);
        for index in 1..=LANES {
            let head = self.heads[index];
            (first, entry) = if head < entry { (index, head) } else { (first, entry) };
        }
        if entry == NOTHING {
            return None;
        }
        if first == LANES {
            self.heap.pop();
            self.heads[LANES] = self.heap.peek().map_or(NOTHING, |&Reverse(entry)| entry);
        } else {
            self.lanes[first].pop_front();
            if let Some(&next) = self.lanes[first].front() {
                self.heads[first] = next;
            } else {
                self.heads[first] = NOTHING;
                self.ends[first] = 0;
            }
        }
        Some(((entry >> 64) as u64, Event::unpack(entry as u64)))
    }
}

#[cfg(all(test, not(target_arch = "wasm32")))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_read_back() {
        for id in [0, 1, (1 << ID_BITS) - 1] {
            for event in [Event::BurstEnd(id), Event::Runnable(id), Event::TimedWake(id), Event::Deadline(id)] {
                assert_eq!(Event::unpack(event.pack()), event);
            }
        }
        for event in [Event::SliceEnd, Event::Arrival] {
            assert_eq!(Event::unpack(event.pack()), event);
        }
    }

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
