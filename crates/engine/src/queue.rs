//! The event queue: earliest time first, and first in, first out among equal times (design, invariant 3).

mod radix;

use std::collections::VecDeque;

use radix::Radix;

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
    const fn pack(self) -> u32 {
        let (kind, id) = match self {
            Self::BurstEnd(id) => (0, id),
            Self::Runnable(id) => (1, id),
            Self::TimedWake(id) => (2, id),
            Self::SliceEnd => (3, 0),
            Self::Deadline(id) => (4, id),
            Self::Arrival => (5, 0),
        };
        kind << ID_BITS | id
    }

    const fn unpack(bits: u32) -> Self {
        let id = bits & ((1 << ID_BITS) - 1);
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

/// 64 bits of time, 37 of sequence, 3 of lane, then kind and number; entries compare by time and sequence, for no two
/// sequences are equal. 2^37 pushes are more than two thousand for each event of the longest run.
type Entry = u128;

const LANE_BITS: u32 = 3;
const LANE_SHIFT: u32 = ID_BITS + KIND_BITS;

const fn time_of(entry: Entry) -> u64 {
    (entry >> 64) as u64
}

/// The lane that holds the entry; [`LANES`] for the heap.
const fn lane_of(entry: Entry) -> usize {
    (entry as u64 >> LANE_SHIFT) as usize & ((1 << LANE_BITS) - 1)
}

/// Stands for the head of an empty lane.
const NOTHING: Entry = Entry::MAX;

/// Lanes beside the radix heap. Waits and bursts of a run have few lengths, and events of one length are pushed in
/// order of time; four lanes hold nearly all of them.
const LANES: usize = 4;
const _: () = assert!(LANES < 1 << LANE_BITS);

/// [ns] Times from here on, 73 years, go to the heap, so that a lane's number fits beside its end.
const LANE_TIMES: u64 = 1 << (63 - LANE_BITS);

/// Pending events.
///
/// A lane is a queue whose times never fall. A push for the present goes to a queue of its own, which needs neither
/// time nor sequence: what was pushed for this time while it lay ahead comes first. Another push goes to the lane with
/// the latest end that is not later than the event, or to the radix heap if there is none; a pop takes the least of
/// the lanes' heads and the heap's. Push is O(1) and pop O(lanes), with the heap amortised. Which structure holds an
/// event changes nothing about the order, for that is by (time, sequence) alone.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    /// [ns] The time of the last event popped.
    now: u64,
    /// The least of the heads.
    next: Entry,
    /// Packed events of the time `now` that were pushed at it, in order.
    present: VecDeque<u32>,
    /// For each lane its last time, plus 1 and 0 for an empty lane, and the lane's number in the lowest bits.
    ends: [u64; LANES],
    /// The first entry of each lane, then that of the heap.
    heads: [Entry; LANES + 1],
    sequence: u64,
    lanes: [VecDeque<Entry>; LANES],
    heap: Radix,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            now: 0,
            next: NOTHING,
            present: VecDeque::new(),
            ends: std::array::from_fn(|lane| end(0, lane)),
            heads: [NOTHING; LANES + 1],
            sequence: 0,
            lanes: Default::default(),
            heap: Radix::default(),
        }
    }
}

/// An entry of [`EventQueue::ends`]; of equal times the higher lane is the later.
const fn end(time: u64, lane: usize) -> u64 {
    time << LANE_BITS | (lane as u64 + 1)
}

impl EventQueue {
    /// An event at a time that is not past.
    #[inline]
    pub(crate) fn push(&mut self, time: u64, event: Event) {
        if time <= self.now {
            debug_assert_eq!(time, self.now, "no event in the past");
            self.present.push_back(event.pack());
        } else {
            self.push_ahead(time, event.pack());
        }
    }

    fn push_ahead(&mut self, time: u64, event: u32) {
        // The latest end that is not too late.
        let mut latest = 0;
        if time < LANE_TIMES {
            let bound = end(time, LANES);
            for end in self.ends {
                let end = if end <= bound { end } else { 0 };
                latest = if end > latest { end } else { latest };
            }
        }
        // 0 if none fits, and otherwise one more than the lane.
        let lane = (latest as usize & ((1 << LANE_BITS) - 1)).wrapping_sub(1).min(LANES);
        let low = self.sequence << LANE_BITS | lane as u64;
        let entry = Entry::from(time) << 64 | Entry::from(low << LANE_SHIFT | u64::from(event));
        self.sequence += 1;
        if let Some(queue) = self.lanes.get_mut(lane) {
            if latest >> LANE_BITS == 0 {
                self.heads[lane] = entry;
            }
            self.ends[lane] = end(time, lane);
            queue.push_back(entry);
        } else {
            self.heap.push(entry);
            self.heads[LANES] = self.heads[LANES].min(entry);
        }
        // Its sequence is the latest, so that it is earlier only by its time.
        if time < time_of(self.next) {
            self.next = entry;
        }
    }

    /// The earliest event; of equal times the one that was pushed first.
    #[allow(clippy::inline_always, reason = "once for each event; what it returns is taken apart by the caller")]
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        if time_of(self.next) > self.now
            && let Some(bits) = self.present.pop_front()
        {
            return Some((self.now, Event::unpack(bits)));
        }
        let entry = self.next;
        if entry == NOTHING {
            return None;
        }
        self.drop_next();
        self.now = time_of(entry);
        Some((self.now, Event::unpack(entry as u32)))
    }

    /// Takes the least head out.
    fn drop_next(&mut self) {
        let first = lane_of(self.next);
        if let Some(lane) = self.lanes.get_mut(first) {
            lane.pop_front();
            if let Some(&head) = lane.front() {
                self.heads[first] = head;
            } else {
                self.heads[first] = NOTHING;
                self.ends[first] = end(0, first);
            }
        } else {
            self.heap.pop();
            self.heads[LANES] = self.heap.head();
        }
        let mut next = self.heads[0];
        for &head in &self.heads[1..] {
            next = if head < next { head } else { next };
        }
        self.next = next;
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
        /// Pushes and pops in any order, never into the past, against a sorted list; short delays make many ties, long
        /// ones fill the radix heap.
        #[test]
        fn pops_by_time_then_by_arrival(
            calls in prop::collection::vec(prop::option::weighted(0.6, prop_oneof![0_u64..20, 0_u64..1 << 40]), 0..300),
        ) {
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
