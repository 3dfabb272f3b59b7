//! The event queue: earliest time first, and first in, first out among equal times (design, invariant 3).

mod far;
mod radix;

use std::collections::VecDeque;

use far::Far;

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

/// An event that lies ahead: its time [ns], and itself, packed.
///
/// There is no number that says which of two events of one time was pushed first: every structure keeps them in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: u64,
    event: u32,
}

/// Stands for no entry, and is later than all.
const NOTHING: Entry = Entry { time: u64::MAX, event: u32::MAX };

/// How many entries are near, at most.
const NEAR: usize = 4;

/// Pending events.
///
/// Which structure holds an event changes nothing about the order, for that is by time and arrival alone:
/// - `present`: what is pushed for the present needs neither time nor sequence. What was pushed for this time while it
///   lay ahead comes first.
/// - `near`: the few that are next. What a thread does is often over before whatever others do, so that many events are
///   among the next as soon as they are pushed.
/// - `far`: all that are later than those.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    /// [ns] The time of the last event popped.
    now: u64,
    /// Packed events of the time `now` that were pushed at it, in order.
    present: VecDeque<u32>,
    /// The first `near_len`, the earliest last; all are earlier than those that are far.
    near: [Entry; NEAR],
    near_len: usize,
    far: Far,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self { now: 0, present: VecDeque::new(), near: [NOTHING; NEAR], near_len: 0, far: Far::default() }
    }
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
        let entry = Entry { time, event };
        // It comes after all of the same time.
        if time < self.far.least().time {
            self.push_near(entry);
        } else {
            self.far.push(entry);
        }
    }

    /// An entry that is earlier than all that are far.
    #[inline]
    fn push_near(&mut self, entry: Entry) {
        let mut at = self.near_len;
        if at == NEAR {
            // The latest of them leaves.
            if entry.time >= self.near[0].time {
                self.far.push_first(entry);
                return;
            }
            self.far.push_first(self.near[0]);
            self.near.copy_within(1.., 0);
            at -= 1;
        } else {
            self.near_len += 1;
        }
        while at > 0 && self.near[at - 1].time <= entry.time {
            self.near[at] = self.near[at - 1];
            at -= 1;
        }
        self.near[at] = entry;
    }

    /// The earliest event; of equal times the one that was pushed first.
    #[allow(clippy::inline_always, reason = "once for each event; what it returns is taken apart by the caller")]
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        let near = self.near_len.checked_sub(1);
        let entry = match near {
            Some(last) => self.near[last % NEAR],
            None => self.far.least(),
        };
        if entry.time > self.now
            && let Some(bits) = self.present.pop_front()
        {
            return Some((self.now, Event::unpack(bits)));
        }
        if let Some(last) = near {
            self.near_len = last;
        } else if entry.time == NOTHING.time {
            return None;
        } else {
            self.far.drop_least();
        }
        self.now = entry.time;
        Some((self.now, Event::unpack(entry.event)))
    }

    /// [ns] The time of the earliest event.
    pub(crate) fn next_time(&self) -> Option<u64> {
        let ahead = self.near_len.checked_sub(1).map_or(self.far.least(), |last| self.near[last]);
        match ahead {
            _ if !self.present.is_empty() => Some(self.now),
            NOTHING => None,
            entry => Some(entry.time),
        }
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

    #[test]
    fn the_latest_times_leave_in_order() {
        let mut queue = EventQueue::default();
        let far = 1 << 61;
        let times = [far + 3, far + 1, far + 1, 5, far + 2, 4, far, far + 9, far + 1, 7, far + 4];
        for (number, &time) in (0..).zip(&times) {
            queue.push(time, Event::Deadline(number));
        }
        let mut expect: Vec<(u64, u32)> = times.iter().copied().zip(0..).collect();
        expect.sort_unstable();
        for (time, number) in expect {
            assert_eq!(queue.next_time(), Some(time));
            assert_eq!(queue.pop(), Some((time, Event::Deadline(number))));
        }
        assert_eq!((queue.next_time(), queue.pop()), (None, None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        /// Pushes and pops in any order, never into the past, against a sorted list; short delays make many ties, long
        /// ones fill the radix heap.
        #[test]
        fn pops_by_time_then_by_arrival(
            calls in prop::collection::vec(
                prop::option::weighted(0.6, prop_oneof![0_u64..5, 0_u64..20, 0_u64..1 << 40]), 0..300,
            ),
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
