//! The checked recording with an index of each task's own records.
//!
//! Checks and look-ups only; everything that is computed over time lives in the modules beside this one.

#![allow(clippy::needless_bitwise_bool, reason = "checks without a branch are made for several records at a time")]

use parkbench_engine::{
    Activity, MAX_TASKS, NO_TASK, NO_WORKER, Reason, Recording, Records, TaskState, TaskTag, ThreadInfo, ThreadTag,
};

use crate::error::{TASKS, THREADS, TraceError};
use crate::workspace::Workspace;

/// Number of task states; arrays by state have this length and are indexed by `TaskState as usize`.
pub const STATES: usize = TaskState::ALL.len();

/// No record: the task was pending before.
pub(crate) const NO_RECORD: u32 = u32::MAX;

/// The tag of a task that has no record yet.
pub(crate) const PENDING: TaskTag =
    TaskTag { state: TaskState::Pending, reason: Reason::NotSubmitted, worker: NO_WORKER };

/// A recording whose records are known to be sound.
#[derive(Clone, Debug)]
pub struct Trace {
    recording: Recording,
    /// For each task record, the index of the same task's record before it, or [`NO_RECORD`].
    previous: Vec<u32>,
    /// For each task, the index of its last record, or [`NO_RECORD`].
    last: Vec<u32>,
}

/// One state of one task, from its record until the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskRecord {
    /// [ns] When it began.
    pub start_ns: u64,
    /// [ns] When it ended: the task's next record, or the end of the run.
    pub end_ns: u64,
    /// State, reason and worker.
    pub tag: TaskTag,
}

impl Trace {
    /// Checks every record: columns of one length, times ascending, subjects and references in range, tags known.
    pub fn new(recording: Recording) -> Result<Self, TraceError> {
        Self::new_in(recording, &mut Workspace::default())
    }

    /// The same in memory that other traces have left; see [`Self::into_recording_in`].
    pub fn new_in(recording: Recording, workspace: &mut Workspace) -> Result<Self, TraceError> {
        let tasks = recording.totals.tasks;
        if u64::from(tasks) > MAX_TASKS {
            return Err(TraceError::TooManyTasks { value: tasks, max: MAX_TASKS });
        }
        let threads = recording.thread_info.len();
        if threads > NO_WORKER as usize {
            return Err(TraceError::TooManyThreads { value: threads, max: NO_WORKER as usize });
        }
        let none_or = |value: u32, none: u32, count: u32| (value == none) | (value < count);
        let (last_state, last_reason) = (TaskState::ALL.len() as u32 - 1, Reason::ALL.len() as u32 - 1);
        let sound = |tag: u32| {
            let known = (tag >> 28 <= last_state) & (tag >> 22 & 63 <= last_reason);
            known & none_or(tag & NO_WORKER, NO_WORKER, threads as u32)
        };
        check_stream(TASKS, &recording.tasks, tasks as usize, sound, |tag| {
            let tag = TaskTag::unpack(tag)?;
            Some((tag.worker != NO_WORKER).then_some(("worker", tag.worker, threads)))
        })?;
        let last_activity = Activity::ALL.len() as u32 - 1;
        let sound = |tag: u32| (tag >> 28 <= last_activity) & none_or(tag & NO_TASK, NO_TASK, tasks);
        check_stream(THREADS, &recording.threads, threads, sound, |tag| {
            let tag = ThreadTag::unpack(tag)?;
            Some((tag.task != NO_TASK).then_some(("task", tag.task, tasks as usize)))
        })?;
        let (mut last, mut previous) = (std::mem::take(&mut workspace.last), std::mem::take(&mut workspace.previous));
        last.clear();
        last.resize(tasks as usize, NO_RECORD);
        previous.clear();
        let before = |(record, &task): (u32, &u32)| std::mem::replace(&mut last[task as usize], record);
        previous.extend((0_u32..).zip(&recording.tasks.subject).map(before));
        Ok(Self { recording, previous, last })
    }

    /// The recording as it was given.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Gives the recording back.
    pub fn into_recording(self) -> Recording {
        self.recording
    }

    /// The same, which leaves the rest of its memory to the next trace.
    pub fn into_recording_in(self, workspace: &mut Workspace) -> Recording {
        (workspace.previous, workspace.last) = (self.previous, self.last);
        self.recording
    }

    /// Gives the records of threads up, where [`Lanes`](crate::Lanes) and figures have been made of them and nobody needs
    /// the recording: they are a good half of it.
    pub fn forget_threads(&mut self) {
        self.recording.threads = Records::default();
    }

    /// Number of tasks; their ids are `0..task_count()`.
    pub fn task_count(&self) -> usize {
        self.recording.totals.tasks as usize
    }

    /// [ns] The end of the time axis, which starts at 0.
    pub fn end_ns(&self) -> u64 {
        self.recording.totals.makespan_ns
    }

    /// The threads, by index.
    pub fn thread_info(&self) -> &[ThreadInfo] {
        &self.recording.thread_info
    }

    /// Number of task records.
    pub fn record_count(&self) -> usize {
        self.recording.tasks.len()
    }

    /// Number of task records with a time of at most `t_ns`; these are the ones that hold at that time.
    pub fn records_until(&self, t_ns: u64) -> usize {
        self.recording.tasks.time.partition_point(|&time| time <= t_ns)
    }

    /// The states of one task in time order, from its first record; before that it is pending.
    ///
    /// O(records of this task). Empty for a task that does not exist or has no record.
    pub fn history(&self, task: u32) -> Vec<TaskRecord> {
        let mut states = Vec::new();
        let mut record = self.last.get(task as usize).copied().unwrap_or(NO_RECORD);
        let mut end_ns = self.end_ns();
        while record != NO_RECORD {
            let start_ns = self.recording.tasks.time[record as usize];
            states.push(TaskRecord { start_ns, end_ns: end_ns.max(start_ns), tag: self.tag_of(record) });
            end_ns = start_ns;
            record = self.previous[record as usize];
        }
        states.reverse();
        states
    }

    /// [ns] The time of the first task record after `t_ns`: where a step forward leads.
    pub fn next_time(&self, t_ns: u64) -> Option<u64> {
        self.recording.tasks.time.get(self.records_until(t_ns)).copied()
    }

    /// [ns] The time of the last task record before `t_ns`: where a step back leads.
    pub fn previous_time(&self, t_ns: u64) -> Option<u64> {
        let before = self.recording.tasks.time.partition_point(|&time| time < t_ns);
        before.checked_sub(1).map(|record| self.recording.tasks.time[record])
    }

    /// The tag of a task record, or of a pending task for [`NO_RECORD`].
    pub(crate) fn tag_of(&self, record: u32) -> TaskTag {
        // `new` has checked every tag, so the fallback is never taken for a record.
        self.recording.tasks.tag.get(record as usize).and_then(|&tag| TaskTag::unpack(tag)).unwrap_or(PENDING)
    }

    /// The state in a task record, as its number.
    pub(crate) fn state_of(&self, record: usize) -> u8 {
        (self.recording.tasks.tag[record] >> 28) as u8
    }

    /// The state that a task record ends, as its number.
    pub(crate) fn state_before(&self, record: usize) -> u8 {
        match self.previous[record] {
            NO_RECORD => TaskState::Pending as u8,
            previous => self.state_of(previous as usize),
        }
    }

    /// The index of the same task's record before this one, or [`NO_RECORD`].
    pub(crate) fn previous_record(&self, record: usize) -> u32 {
        self.previous[record]
    }
}

/// The record's reference to the other kind of subject: field, value, count; `None` if it has none.
type TagReference = Option<(&'static str, u32, usize)>;

/// The numbers of each list follow upon each other from 0 on, so that one comparison tells whether one is in it.
const _: () = {
    let mut number = 0;
    while number <= u8::MAX as usize {
        let byte = number as u8;
        assert!(TaskState::from_u8(byte).is_some() == (number < TaskState::ALL.len()));
        assert!(Reason::from_u8(byte).is_some() == (number < Reason::ALL.len()));
        assert!(Activity::from_u8(byte).is_some() == (number < Activity::ALL.len()));
        number += 1;
    }
};

/// Checks all records at once with `sound`, and only if one is wrong looks for it with `read_tag`, to name it.
fn check_stream(
    stream: &'static str,
    records: &Records,
    subjects: usize,
    sound: impl Fn(u32) -> bool,
    read_tag: impl Fn(u32) -> Option<TagReference>,
) -> Result<(), TraceError> {
    let (time, subject, tag) = (records.time.len(), records.subject.len(), records.tag.len());
    if time != subject || time != tag {
        return Err(TraceError::ColumnLengths { stream, time, subject, tag });
    }
    if time >= NO_RECORD as usize {
        return Err(TraceError::TooManyRecords { stream, records: time, max: NO_RECORD as usize - 1 });
    }
    // Without a way out in the middle, so that several records are checked at a time.
    let ascending = records.time.windows(2).fold(true, |all, pair| all & (pair[0] <= pair[1]));
    let known = records.subject.iter().fold(true, |all, &subject| all & (subject < subjects as u32));
    if ascending && known && records.tag.iter().fold(true, |all, &tag| all & sound(tag)) {
        return Ok(());
    }
    let mut min = 0;
    for record in 0..time {
        let value = records.time[record];
        if value < min {
            return Err(TraceError::TimeGoesBack { stream, record, value, min });
        }
        min = value;
        let value = records.subject[record];
        if value as usize >= subjects {
            return Err(TraceError::OutOfRange { stream, record, field: "subject", value, count: subjects });
        }
        let value = records.tag[record];
        match read_tag(value) {
            None => return Err(TraceError::UnknownTag { stream, record, value }),
            Some(Some((field, value, count))) if value as usize >= count => {
                return Err(TraceError::OutOfRange { stream, record, field, value, count });
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{TaskState::*, small};

    #[track_caller]
    fn check(spoil: impl FnOnce(&mut Recording), expect: &str) {
        let mut recording = small();
        spoil(&mut recording);
        let error = Trace::new(recording).unwrap_err().to_string();
        assert!(error.starts_with(expect), "{error}");
    }

    #[test]
    fn a_wrong_record_is_named() {
        check(|r| r.tasks.tag.truncate(1), "tasks: columns of 8, 8 and 1 records");
        check(|r| r.tasks.time[3] = 0, "tasks[3].time: 0 ns; allowed: at least 10 ns");
        check(|r| r.tasks.subject[2] = 2, "tasks[2].subject: 2; allowed: less than 2");
        check(|r| r.tasks.tag[4] = u32::MAX, "tasks[4].tag: 0xffffffff");
        check(
            |r| r.tasks.tag[4] = TaskTag { state: Running, reason: Reason::None, worker: 9 }.pack(),
            "tasks[4].worker: 9; allowed: less than 2",
        );
        check(|r| r.threads.subject[0] = 2, "threads[0].subject: 2");
        check(|r| r.threads.tag[0] = 15 << 28, "threads[0].tag: 0xf0000000");
        check(|r| r.threads.tag[0] = 4 << 28 | 2, "threads[0].task: 2; allowed: less than 2");
        check(|r| r.totals.tasks = u32::MAX, "totals.tasks: 4294967295; allowed: up to ");
    }

    #[test]
    fn history_is_contiguous() {
        let trace = Trace::new(small()).unwrap();
        let states: Vec<_> =
            trace.history(1).iter().map(|record| (record.start_ns, record.end_ns, record.tag.state)).collect();
        assert_eq!(states, [(10, 40, Queued), (40, 60, Running), (60, 90, Blocked), (90, 100, Done)]);
        assert!(trace.history(7).is_empty());
    }

    #[test]
    fn steps_go_to_the_neighbouring_record() {
        let trace = Trace::new(small()).unwrap();
        for (at, previous, next) in
            [(0, None, Some(10)), (10, Some(0), Some(20)), (15, Some(10), Some(20)), (90, Some(60), None)]
        {
            assert_eq!((trace.previous_time(at), trace.next_time(at)), (previous, next), "at {at}");
        }
    }
}
