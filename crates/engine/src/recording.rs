//! What a run leaves behind: two streams of fixed-size records in time order, and totals that only the engine knows.
//!
//! No statistics here; `parkbench-trace` derives every number that is shown from these columns.

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::state::{Activity, Reason, Role, TaskState};

/// Stands for "no worker" in a task record.
pub const NO_WORKER: u32 = (1 << 22) - 1;
/// Stands for "no task" in a thread record.
pub const NO_TASK: u32 = (1 << 28) - 1;

/// A column store of records `(time, subject, tag)`, 16 bytes each, in time order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Records {
    /// [ns] from the start of the run, ascending.
    pub time: Vec<u64>,
    /// The task or thread that the record is about.
    pub subject: Vec<u32>,
    /// Packed payload; see [`TaskTag`] and [`ThreadTag`].
    pub tag: Vec<u32>,
}

impl Records {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.time.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.time.is_empty()
    }

    /// Drops all records and keeps their memory.
    pub(crate) fn clear(&mut self) {
        self.time.clear();
        self.subject.clear();
        self.tag.clear();
    }

    /// Gives the memory back that was reserved for records to come.
    pub(crate) fn shrink(&mut self) {
        self.time.shrink_to_fit();
        self.subject.shrink_to_fit();
        self.tag.shrink_to_fit();
    }

    /// Reserves memory for so many more.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.time.reserve(count);
        self.subject.reserve(count);
        self.tag.reserve(count);
    }

    /// Adds records, of which these are the columns.
    pub(crate) fn extend(&mut self, time: &[u64], subject: &[u32], tag: &[u32]) {
        self.time.extend_from_slice(time);
        self.subject.extend_from_slice(subject);
        self.tag.extend_from_slice(tag);
    }
}

/// From this record on the task is in this state, for this reason, on this worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskTag {
    /// The new state.
    pub state: TaskState,
    /// Why.
    pub reason: Reason,
    /// The thread it holds, or [`NO_WORKER`].
    pub worker: u32,
}

impl TaskTag {
    /// 4 bits of state, 6 bits of reason, 22 bits of worker.
    pub const fn pack(self) -> u32 {
        (self.state as u32) << 28 | (self.reason as u32) << 22 | (self.worker & NO_WORKER)
    }

    /// Whether the task is ready from this record on: the state alone, without unpacking the rest.
    pub(crate) const fn is_queued(tag: u32) -> bool {
        tag >> 28 == TaskState::Queued as u32
    }

    /// The reverse of [`TaskTag::pack`]; `None` for a number that is in no list.
    pub const fn unpack(tag: u32) -> Option<Self> {
        match (TaskState::from_u8((tag >> 28) as u8), Reason::from_u8((tag >> 22 & 63) as u8)) {
            (Some(state), Some(reason)) => Some(Self { state, reason, worker: tag & NO_WORKER }),
            _ => None,
        }
    }
}

/// From this record on the thread does this, for this task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadTag {
    /// The new activity.
    pub activity: Activity,
    /// The task it is about, or [`NO_TASK`].
    pub task: u32,
}

impl ThreadTag {
    /// 4 bits of activity, 28 bits of task.
    pub const fn pack(self) -> u32 {
        (self.activity as u32) << 28 | (self.task & NO_TASK)
    }

    /// The reverse of [`ThreadTag::pack`]; `None` for a number that is in no list.
    pub const fn unpack(tag: u32) -> Option<Self> {
        match Activity::from_u8((tag >> 28) as u8) {
            Some(activity) => Some(Self { activity, task: tag & NO_TASK }),
            None => None,
        }
    }
}

/// A thread of the run; its index is the `subject` of the thread records and the `worker` of the task records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadInfo {
    /// What it is for.
    pub role: Role,
    /// As a thread dump would name it: `pool-1-thread-3`, `ForkJoinPool-1-worker-3`, `main`.
    pub name: String,
}

/// Totals that the records alone do not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Tasks in the run; their ids are `0..tasks`.
    pub tasks: u32,
    /// Tasks that never ended, because they wait for each other.
    pub unfinished: u32,
    /// [ns] from the first submission until the submitter has seen the last task end.
    pub makespan_ns: u64,
    /// Events that the engine processed.
    pub events: u64,
    /// OS context switches that a thread asked for by blocking or parking.
    pub voluntary_switches: u64,
    /// OS context switches forced at the end of a slice or by a waking thread.
    pub involuntary_switches: u64,
    /// [bytes] Address space reserved at the peak: stacks and heap.
    pub reserved_bytes: u64,
    /// [bytes] Resident at the peak: base, touched stacks, queued and parked tasks.
    pub resident_bytes: u64,
    /// Hash of every record in the order in which it was made.
    pub digest: u64,
}

/// A finished run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// State changes of tasks; tags are [`TaskTag`]. A task without a record yet is pending.
    pub tasks: Records,
    /// Activity changes of threads; tags are [`ThreadTag`]. A thread without a record yet is absent.
    pub threads: Records,
    /// The threads, by index.
    pub thread_info: Vec<ThreadInfo>,
    /// The totals.
    pub totals: Totals,
    /// What is wrong with the run; what ends it comes first. Not part of the digest, for it follows from the records.
    pub findings: Vec<Finding>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_read_back() {
        for state in TaskState::ALL {
            for reason in Reason::ALL {
                for worker in [0, 1, 12_345, NO_WORKER] {
                    let tag = TaskTag { state, reason, worker };
                    assert_eq!(TaskTag::unpack(tag.pack()), Some(tag));
                    assert_eq!(TaskTag::is_queued(tag.pack()), state == TaskState::Queued);
                }
            }
        }
        for activity in Activity::ALL {
            for task in [0, 9_999, NO_TASK] {
                let tag = ThreadTag { activity, task };
                assert_eq!(ThreadTag::unpack(tag.pack()), Some(tag));
            }
        }
        assert_eq!(TaskTag::unpack(u32::MAX), None);
    }
}
