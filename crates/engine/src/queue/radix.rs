//! A radix heap: the events whose times follow no pattern, by the highest bit in which they differ from the last pop.
//!
//! Ahuja, Mehlhorn, Orlin and Tarjan, "Faster algorithms for the shortest path problem", JACM 1990. It rests on time
//! that never runs back: no entry is earlier than the last one popped. Entries stay in the order of their pushes in
//! each bucket, so equal times are first in, first out.

use super::{Entry, NOTHING};

/// One bucket for each bit of a time, and one for the last time itself.
const BUCKETS: usize = 64;

/// Pending entries. Push is O(1); pop is O(1) amortised over the at most 63 moves of an entry, in practice a few.
#[derive(Clone, Debug)]
pub(super) struct Radix {
    /// [ns] The time of the last entry popped.
    last: u64,
    /// Entries that differ from `last` in bit `index - 1` and in no higher one; those of bucket 0 are equal to it.
    buckets: [Vec<Entry>; BUCKETS],
    /// The least entry of each bucket.
    least: [Entry; BUCKETS],
    /// Bit `index` is set if the bucket has entries.
    occupied: u64,
    /// Entries of bucket 0 that have been popped already.
    popped: usize,
    /// Memory of the bucket that was emptied last.
    spare: Vec<Entry>,
}

impl Default for Radix {
    fn default() -> Self {
        Self {
            last: 0,
            buckets: [const { Vec::new() }; BUCKETS],
            least: [NOTHING; BUCKETS],
            occupied: 0,
            popped: 0,
            spare: Vec::new(),
        }
    }
}

impl Radix {
    /// Nothing, in the memory of this one.
    pub(super) fn cleared(mut self) -> Self {
        self.buckets.iter_mut().for_each(Vec::clear);
        Self { buckets: self.buckets, spare: self.spare, ..Self::default() }
    }

    /// An entry that is not earlier than the last one popped.
    pub(super) fn push(&mut self, entry: Entry) {
        let index = self.index(entry);
        self.buckets[index].push(entry);
        // Of equal times the first stays.
        if entry.time < self.least[index].time {
            self.least[index] = entry;
        }
        self.occupied |= 1 << index;
    }

    /// The earliest entry, or [`NOTHING`].
    pub(super) fn head(&self) -> Entry {
        match self.occupied {
            0 => NOTHING,
            occupied => self.least[occupied.trailing_zeros() as usize],
        }
    }

    /// Drops the earliest entry. There must be one.
    pub(super) fn pop(&mut self) {
        let index = self.occupied.trailing_zeros() as usize;
        if index > 0 {
            self.spread(index);
        }
        self.popped += 1;
        if let Some(&next) = self.buckets[0].get(self.popped) {
            self.least[0] = next;
        } else {
            self.buckets[0].clear();
            self.least[0] = NOTHING;
            self.popped = 0;
            self.occupied &= !1;
        }
    }

    /// The least entry of this bucket, the first with entries, is popped next: its time becomes the last, and the
    /// entries go to lower buckets.
    fn spread(&mut self, index: usize) {
        self.last = self.least[index].time;
        self.least[index] = NOTHING;
        self.occupied &= !(1 << index);
        let mut entries = std::mem::replace(&mut self.buckets[index], std::mem::take(&mut self.spare));
        for &entry in &entries {
            self.push(entry);
        }
        entries.clear();
        self.spare = entries;
    }

    fn index(&self, entry: Entry) -> usize {
        let differs = entry.time ^ self.last;
        // Times are below 2^63 ns, so that the highest index is 63.
        ((u64::BITS - differs.leading_zeros()) as usize).min(BUCKETS - 1)
    }
}
