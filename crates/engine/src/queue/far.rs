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
    /// The earliest entry, or [`NOTHING`].
    least: Entry,
    /// The lane that has it, or [`LANES`] for the heap.
    first: usize,
    /// [ns] The time of the earliest that is elsewhere.
    second: u64,
    /// [ns] For each lane its last time so far. That of an empty lane is past, so that it takes anything.
    ends: [u64; LANES],
    /// The first entry of each lane, then that of the heap.
    heads: [Entry; LANES + 1],
    /// What follows upon the heads of the lanes.
    lanes: [VecDeque<Entry>; LANES],
    heap: Radix,
}

impl Default for Far {
    fn default() -> Self {
        Self {
            least: NOTHING,
            first: 0,
            second: NOTHING.time,
            ends: [0; LANES],
            heads: [NOTHING; LANES + 1],
            lanes: Default::default(),
            heap: Radix::default(),
        }
    }
}

impl Far {
    /// Nothing, in the memory of this one.
    pub(super) fn cleared(mut self) -> Self {
        self.lanes.iter_mut().for_each(VecDeque::clear);
        Self { lanes: self.lanes, heap: self.heap.cleared(), ..Self::default() }
    }

    /// The earliest entry, or [`NOTHING`].
    #[inline]
    pub(super) fn least(&self) -> Entry {
        self.least
    }

    /// An entry that is not earlier than the last one popped.
    #[inline(never)]
    pub(super) fn push(&mut self, entry: Entry) {
        let mut lane = 0;
        while lane < LANES && self.ends[lane] > entry.time {
            lane += 1;
        }
        if let Some(end) = self.ends.get_mut(lane) {
            *end = entry.time;
            if self.heads[lane].time != NOTHING.time {
                // Not the head, and so not the earliest.
                self.lanes[lane].push_back(entry);
                return;
            }
            self.heads[lane] = entry;
        } else {
            self.heap.push(entry);
            self.heads[LANES] = self.heap.head();
        }
        if entry.time < self.least.time {
            if lane != self.first {
                self.second = self.least.time;
                self.first = lane;
            }
            self.least = entry;
        } else if lane != self.first {
            self.second = self.second.min(entry.time);
        }
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
        self.heads[first] = head;
        self.least = head;
        // Often the next one is in the same lane.
        if head.time >= self.second && self.second != NOTHING.time {
            self.find_least();
        }
    }

    /// Of equal heads the one of the first lane is the earliest.
    fn find_least(&mut self) {
        let (mut first, mut second) = (0, NOTHING.time);
        for lane in 1..=LANES {
            let (time, least) = (self.heads[lane].time, self.heads[first].time);
            second = second.min(time.max(least));
            if time < least {
                first = lane;
            }
        }
        (self.first, self.second, self.least) = (first, second, self.heads[first]);
    }
}
