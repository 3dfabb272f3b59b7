//! Events that are far: four lanes of rising times beside a radix heap.

use std::collections::VecDeque;

use super::radix::Radix;
use super::{Entry, NOTHING};

/// Lanes beside the radix heap. Waits and bursts of a run have few lengths, and events of one length are pushed in
/// order of time; four lanes hold nearly all of them.
const LANES: usize = 4;

/// Entries in order of time; of equal times, the one that was pushed first comes first.
///
/// A lane is a queue whose times never fall. A push goes to the first lane that does not end later than the entry, or to
/// the radix heap if all do. So the ends never rise from lane to lane, and of entries with equal times those that were
/// pushed later are in the same lane or a later one: a pop takes the earliest of the heads, of equal ones that of the
/// first lane. Push is O(1) and pop O(lanes), with the heap amortised.
#[derive(Clone, Debug)]
pub(super) struct Far {
    /// [ns] The times of `heads`, or the greatest of all times.
    times: [u64; LANES + 1],
    /// The lane of the earliest, or [`LANES`] for the heap.
    first: usize,
    /// [ns] For each lane its last time so far. That of an empty lane is past, so that it takes anything.
    ends: [u64; LANES],
    /// The first event of each lane, then that of the heap.
    heads: [u32; LANES + 1],
    /// What follows upon the heads of the lanes.
    lanes: [VecDeque<Entry>; LANES],
    heap: Radix,
}

impl Default for Far {
    fn default() -> Self {
        Self {
            times: [NOTHING.time; LANES + 1],
            first: 0,
            ends: [0; LANES],
            heads: [NOTHING.event; LANES + 1],
            lanes: Default::default(),
            heap: Radix::default(),
        }
    }
}

impl Far {
    /// The earliest entry, or [`NOTHING`].
    #[inline]
    pub(super) fn least(&self) -> Entry {
        Entry { time: self.times[self.first], event: self.heads[self.first] }
    }

    /// How many lanes end later.
    #[inline]
    fn lane_for(&self, time: u64) -> usize {
        self.ends.iter().map(|&end| usize::from(end > time)).sum()
    }

    fn set_head(&mut self, lane: usize, head: Entry) {
        self.times[lane] = head.time;
        self.heads[lane] = head.event;
    }

    /// An entry that is not earlier than the last one popped.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        let lane = self.lane_for(entry.time);
        if let Some(end) = self.ends.get_mut(lane) {
            *end = entry.time;
            if self.times[lane] != NOTHING.time {
                // Not the head, and so not the earliest.
                self.lanes[lane].push_back(entry);
                return;
            }
            self.set_head(lane, entry);
        } else {
            self.heap.push(entry);
            self.set_head(LANES, self.heap.head());
        }
        if entry.time < self.times[self.first] {
            self.first = lane;
        }
    }

    /// An entry that was pushed before all others and is not later. It may be earlier than what the heap has popped, so it
    /// goes to a lane.
    #[cold]
    pub(super) fn push_first(&mut self, entry: Entry) {
        // To the lane of the earliest, for earlier lanes have no equal times. If that is none, no lane has.
        let lane = if self.times[self.first] != NOTHING.time && self.first < LANES {
            self.first
        } else {
            self.lane_for(entry.time).min(LANES - 1)
        };
        let behind = Entry { time: self.times[lane], event: self.heads[lane] };
        if behind.time == NOTHING.time {
            self.ends[lane] = entry.time;
        } else {
            self.lanes[lane].push_front(behind);
        }
        self.set_head(lane, entry);
        self.first = lane;
    }

    /// Takes the earliest entry out. There must be one.
    #[inline]
    pub(super) fn drop_least(&mut self) {
        let first = self.first;
        let head = if let Some(lane) = self.lanes.get_mut(first) {
            lane.pop_front().unwrap_or(NOTHING)
        } else {
            self.heap.pop();
            self.heap.head()
        };
        self.set_head(first, head);
        let (mut least, mut first) = (self.times[0], 0);
        for (lane, &time) in self.times.iter().enumerate().skip(1) {
            let earlier = time < least;
            least = if earlier { time } else { least };
            first = if earlier { lane } else { first };
        }
        self.first = first;
    }
}
