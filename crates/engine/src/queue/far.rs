//! Events that are far: four lanes of rising times beside a radix heap.

use std::collections::VecDeque;

use super::radix::Radix;
use super::{Entry, NOTHING, time_of};

/// Lanes beside the radix heap. Waits and bursts of a run have few lengths, and events of one length are pushed in
/// order of time; four lanes hold nearly all of them.
const LANES: usize = 4;

/// Entries in order of time and sequence.
///
/// A lane is a queue whose times never fall. A push goes to the first lane that does not end later than the entry, or to
/// the radix heap if all do; so the ends never rise from lane to lane. A pop takes the least of the lanes' heads and the
/// heap's. Push is O(1) and pop O(lanes), with the heap amortised.
#[derive(Clone, Debug)]
pub(super) struct Far {
    /// The least of the heads.
    least: Entry,
    /// Where it is: a lane, or [`LANES`] for the heap.
    first: usize,
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
            ends: [0; LANES],
            heads: [NOTHING; LANES + 1],
            lanes: Default::default(),
            heap: Radix::default(),
        }
    }
}

impl Far {
    /// The earliest entry, or [`NOTHING`].
    pub(super) const fn least(&self) -> Entry {
        self.least
    }

    /// How many lanes end later.
    #[inline]
    fn lane_for(&self, time: u64) -> usize {
        self.ends.iter().map(|&end| usize::from(end > time)).sum()
    }

    /// An entry that is not earlier than the last one popped, and has a later sequence than all others.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry) {
        let time = time_of(entry);
        let lane = self.lane_for(time);
        if let Some(end) = self.ends.get_mut(lane) {
            *end = time;
            if self.heads[lane] == NOTHING {
                self.heads[lane] = entry;
            } else {
                self.lanes[lane].push_back(entry);
            }
        } else {
            self.heap.push(entry);
            self.heads[LANES] = self.heads[LANES].min(entry);
        }
        if entry < self.least {
            (self.least, self.first) = (entry, lane);
        }
    }

    /// An entry that is earlier than all others. It may be earlier than what the heap has popped, so it goes to a lane.
    #[cold]
    pub(super) fn push_first(&mut self, entry: Entry) {
        // Any lane that has entries will do.
        let lane = self.lane_for(time_of(entry)).min(LANES - 1);
        let behind = std::mem::replace(&mut self.heads[lane], entry);
        if behind == NOTHING {
            self.ends[lane] = time_of(entry);
        } else {
            self.lanes[lane].push_front(behind);
        }
        (self.least, self.first) = (entry, lane);
    }

    /// Takes the earliest entry out. There must be one.
    #[inline]
    pub(super) fn drop_least(&mut self) {
        let first = self.first;
        if let Some(lane) = self.lanes.get_mut(first) {
            self.heads[first] = lane.pop_front().unwrap_or(NOTHING);
        } else {
            self.heap.pop();
            self.heads[LANES] = self.heap.head();
        }
        let (mut least, mut first) = (self.heads[0], 0);
        for (lane, &head) in self.heads.iter().enumerate().skip(1) {
            let earlier = head < least;
            least = if earlier { head } else { least };
            first = if earlier { lane } else { first };
        }
        (self.least, self.first) = (least, first);
    }
}
