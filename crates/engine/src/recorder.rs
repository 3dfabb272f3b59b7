//! Writes records and folds each into the digest; knows nothing of scheduling.

use crate::recording::{Records, TaskTag, ThreadTag};
use crate::rng::mix;

const MULTIPLIER: u64 = 0xF135_7AEA_2E62_A9C5;

/// The two streams under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) tasks: Records,
    pub(crate) threads: Records,
    /// [ns] The time of the last record.
    pub(crate) last: u64,
    hash: u64,
    /// Records are folded into the digest and then dropped.
    dropping: bool,
}

impl Recorder {
    /// From now on no record is kept, and those so far are dropped.
    pub(crate) fn drop_records(&mut self) {
        self.dropping = true;
        (self.tasks, self.threads) = Default::default();
    }

    pub(crate) fn task(&mut self, time: u64, task: u32, tag: TaskTag) {
        let tag = tag.pack();
        self.fold(time, task, tag, 0);
        if !self.dropping {
            self.tasks.push(time, task, tag);
        }
    }

    pub(crate) fn thread(&mut self, time: u64, thread: u32, tag: ThreadTag) {
        let tag = tag.pack();
        self.fold(time, thread, tag, u64::MAX);
        if !self.dropping {
            self.threads.push(time, thread, tag);
        }
    }

    /// How many records are kept.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len() + self.threads.len()
    }

    /// The digest of all records so far, with these totals folded in.
    pub(crate) fn digest(&self, totals: &[u64]) -> u64 {
        totals.iter().fold(mix(self.hash), |hash, &total| mix(hash ^ total))
    }

    fn fold(&mut self, time: u64, subject: u32, tag: u32, stream: u64) {
        self.last = time;
        let word = (u64::from(subject) << 32 | u64::from(tag)) ^ stream;
        let hash = (self.hash.rotate_left(23) ^ time).wrapping_mul(MULTIPLIER);
        self.hash = (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    }
}
