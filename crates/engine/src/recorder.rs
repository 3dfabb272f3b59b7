//! Writes records and folds each into the digest; knows nothing of scheduling.

use crate::recording::{Records, TaskTag, ThreadTag};
use crate::rng::mix;

const MULTIPLIER: u64 = 0xF135_7AEA_2E62_A9C5;

/// Records that are gathered before they go to their columns.
const GATHERED: usize = 128;

/// The two streams under construction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder {
    tasks: Stream,
    threads: Stream,
    /// [ns] The time of the last record.
    pub(crate) last: u64,
    hash: u64,
    /// Some records have been taken away, so that those here are not all.
    pub(crate) taken: bool,
}

/// One stream, and its last records apart, so that the columns grow by many at a time.
#[derive(Clone, Debug)]
struct Stream {
    records: Records,
    times: [u64; GATHERED],
    subjects: [u32; GATHERED],
    tags: [u32; GATHERED],
    count: usize,
    /// So many records are expected at least.
    expected: usize,
    /// Records are folded into the digest and then dropped.
    dropping: bool,
}

impl Default for Stream {
    fn default() -> Self {
        Self {
            records: Records::default(),
            times: [0; GATHERED],
            subjects: [0; GATHERED],
            tags: [0; GATHERED],
            count: 0,
            expected: 0,
            dropping: false,
        }
    }
}

impl Stream {
    #[inline]
    fn push(&mut self, time: u64, subject: u32, tag: u32) {
        let place = self.count % GATHERED;
        self.times[place] = time;
        self.subjects[place] = subject;
        self.tags[place] = tag;
        self.count += 1;
        if self.count == GATHERED {
            self.settle();
        }
    }

    /// What is gathered goes to the columns.
    #[inline(never)]
    fn settle(&mut self) {
        if !self.dropping {
            if self.records.is_empty() {
                self.records.reserve(self.expected);
            }
            let count = self.count;
            self.records.extend(&self.times[..count], &self.subjects[..count], &self.tags[..count]);
        }
        self.count = 0;
    }

    fn len(&self) -> usize {
        if self.dropping { 0 } else { self.records.len() + self.count }
    }
}

impl Recorder {
    /// For a run of so many tasks, each of which is queued, runs and ends, on a thread that is busy and then is not.
    /// The records go to these columns of tasks and of threads, which are empty.
    pub(crate) fn expecting(tasks: u32, columns: [Records; 2]) -> Self {
        let stream = |records: Records, each: usize| {
            debug_assert!(records.is_empty());
            Stream { records, expected: tasks as usize * each, ..Stream::default() }
        };
        let [of_tasks, of_threads] = columns;
        Self { tasks: stream(of_tasks, 3), threads: stream(of_threads, 2), ..Self::default() }
    }

    /// From now on no record is kept, and those so far are dropped.
    pub(crate) fn drop_records(&mut self) {
        for stream in [&mut self.tasks, &mut self.threads] {
            stream.records.clear();
            (stream.count, stream.dropping) = (0, true);
        }
    }

    /// The records so far, which are in the digest and are not kept any more.
    pub(crate) fn take(&mut self) -> (Records, Records) {
        self.settle();
        self.taken = true;
        let [tasks, threads] = [&mut self.tasks, &mut self.threads].map(|stream| {
            stream.expected = 0;
            std::mem::take(&mut stream.records)
        });
        (tasks, threads)
    }

    #[inline]
    pub(crate) fn task(&mut self, time: u64, task: u32, tag: TaskTag) {
        let tag = tag.pack();
        self.fold(time, u64::from(task) << 32 | u64::from(tag));
        self.tasks.push(time, task, tag);
    }

    #[inline]
    pub(crate) fn thread(&mut self, time: u64, thread: u32, tag: ThreadTag) {
        let tag = tag.pack();
        self.fold(time, !(u64::from(thread) << 32 | u64::from(tag)));
        self.threads.push(time, thread, tag);
    }

    /// How many records are kept.
    pub(crate) fn len(&self) -> usize {
        self.tasks.len() + self.threads.len()
    }

    /// All records so far go to their columns, so that they can be read.
    pub(crate) fn settle(&mut self) {
        self.tasks.settle();
        self.threads.settle();
    }

    /// The task records that have been settled.
    pub(crate) fn task_records(&self) -> &Records {
        debug_assert_eq!(self.tasks.count, 0, "settled before they are read");
        &self.tasks.records
    }

    /// The records of tasks and of threads.
    pub(crate) fn into_records(mut self) -> (Records, Records) {
        self.settle();
        (self.tasks.records, self.threads.records)
    }

    /// The digest of all records so far, with these totals folded in.
    pub(crate) fn digest(&self, totals: &[u64]) -> u64 {
        totals.iter().fold(mix(self.hash), |hash, &total| mix(hash ^ total))
    }

    #[inline]
    fn fold(&mut self, time: u64, word: u64) {
        self.last = time;
        let hash = (self.hash.rotate_left(23) ^ time).wrapping_mul(MULTIPLIER);
        self.hash = (hash.rotate_left(23) ^ word).wrapping_mul(MULTIPLIER);
    }
}
