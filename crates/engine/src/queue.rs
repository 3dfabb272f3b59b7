//! The event queue: earliest time first, and first in, first out among equal times (design, invariant 3).

mod far;
mod radix;

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

/// An event that lies ahead: its time [ns], and itself, packed, below how many were pushed before it (modulo 2^32).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: u64,
    sequence_and_event: u64,
}

impl Entry {
    /// Whether this entry is popped before the other one.
    #[inline]
    const fn is_before(self, other: Self) -> bool {
        let apart = self.sequence_and_event.wrapping_sub(other.sequence_and_event);
        self.time < other.time || self.time == other.time && apart.cast_signed() < 0
    }

    const fn event(self) -> Event {
        Event::unpack(self.sequence_and_event as u32)
    }
}

/// Stands for no entry, and is later than all.
const NOTHING: Entry = Entry { time: u64::MAX, sequence_and_event: 0 };

/// How many entries are near, with the sentinel: a power of two, so that no index needs a check.
const NEAR: usize = 8;
/// So many are near before the latest of all joins them.
const FEW: usize = 4;

/// Pending events.
///
/// Which structure holds an event changes nothing about the order, for that is by time and sequence alone:
/// - `near`: a few, in order. What a thread does is often over before whatever others do, so that it is the next event
///   or nearly so as soon as it is pushed.
/// - `far`: all others.
#[derive(Clone, Debug)]
pub(crate) struct EventQueue {
    near: Near,
    far: Far,
    pushed: u32,
}

/// First a sentinel, then `len` entries, the earliest last. The two words of an entry are apart, for a processor is slow
/// to read together what it has just written apart.
#[derive(Clone, Debug)]
struct Near {
    times: [u64; NEAR],
    rest: [u64; NEAR],
    len: usize,
}

impl Default for EventQueue {
    fn default() -> Self {
        let mut near = Near { times: [0; NEAR], rest: [NOTHING.sequence_and_event; NEAR], len: 0 };
        near.times[0] = NOTHING.time;
        Self { near, far: Far::default(), pushed: 0 }
    }
}

impl Near {
    /// The earliest, or [`NOTHING`].
    #[inline]
    fn first(&self) -> Entry {
        let at = self.len % NEAR;
        Entry { time: self.times[at], sequence_and_event: self.rest[at] }
    }

    /// Whether there is room for an entry of this time, which is the latest only if it `may_be_last`.
    #[inline]
    fn takes(&self, time: u64, may_be_last: bool) -> bool {
        // If there is none, the first place has one that has been popped, and so it is not later.
        if time < self.times[1] { self.len < NEAR - 1 } else { may_be_last && self.len < FEW }
    }

    /// An entry that was pushed after all others.
    #[inline]
    fn insert(&mut self, entry: Entry) {
        let mut at = self.len;
        self.len += 1;
        // The sentinel is later than all.
        while self.times[at % NEAR] <= entry.time {
            self.times[(at + 1) % NEAR] = self.times[at % NEAR];
            self.rest[(at + 1) % NEAR] = self.rest[at % NEAR];
            at -= 1;
        }
        self.times[(at + 1) % NEAR] = entry.time;
        self.rest[(at + 1) % NEAR] = entry.sequence_and_event;
    }
}

impl EventQueue {
    /// An empty queue in the memory of this one.
    pub(crate) fn cleared(self) -> Self {
        Self { far: self.far.cleared(), ..Self::default() }
    }

    /// An event at a time that is not past, and not long after those that are pending.
    #[inline]
    pub(crate) fn push(&mut self, time: u64, event: Event) {
        self.push_by(time, event, true);
    }

    /// An event at a time that is not past, and often long after others.
    #[inline]
    pub(crate) fn push_late(&mut self, time: u64, event: Event) {
        self.push_by(time, event, false);
    }

    #[inline]
    fn push_by(&mut self, time: u64, event: Event, may_be_last: bool) {
        debug_assert!(time < NOTHING.time);
        let entry = Entry { time, sequence_and_event: u64::from(self.pushed) << 32 | u64::from(event.pack()) };
        self.pushed = self.pushed.wrapping_add(1);
        if self.near.takes(time, may_be_last) {
            self.near.insert(entry);
        } else {
            self.far.push(entry);
        }
    }

    /// The earliest event; of equal times the one that was pushed first.
    #[allow(clippy::inline_always, reason = "once for each event; what it returns is taken apart by the caller")]
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(u64, Event)> {
        let (near, far) = (self.near.first(), self.far.least());
        let entry = if near.is_before(far) {
            self.near.len -= 1;
            near
        } else if far.time == NOTHING.time {
            return None;
        } else {
            self.far.drop_least();
            far
        };
        Some((entry.time, entry.event()))
    }

    /// [ns] The time of the earliest event.
    pub(crate) fn next_time(&self) -> Option<u64> {
        Some(self.next_time_or_max()).filter(|&time| time != NOTHING.time)
    }

    /// [ns] The time of the earliest event, or later than all times if there is none.
    #[inline]
    pub(crate) fn next_time_or_max(&self) -> u64 {
        self.near.first().time.min(self.far.least().time)
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
                    let event = Event::Deadline(number as u32);
                    if number % 2 == 0 { queue.push(now + delay, event) } else { queue.push_late(now + delay, event) }
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
