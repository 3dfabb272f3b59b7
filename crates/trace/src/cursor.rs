//! The state of every task at one moving time.
//!
//! Only the sweep over the task records lives here; averages over time are in `density`.

use parkbench_engine::{TaskState, TaskTag};

use crate::trace::{NO_RECORD, PENDING, STATES, Trace};

/// The states of all tasks at a time, moved by [`StateCursor::seek`].
///
/// A move costs O(records between the two times); a move back undoes records, or starts again if that is nearer.
/// A cursor belongs to the trace that it was made for; with another trace its answers mean nothing.
#[derive(Clone, Debug)]
pub struct StateCursor {
    now: u64,
    /// Number of records applied.
    applied: usize,
    states: Vec<u8>,
    /// For each task the packed [`TaskTag`] that holds.
    tags: Vec<u32>,
    counts: [u32; STATES],
    /// Number of tasks whose record has changed in the last seek, counted per record.
    moved: usize,
    end: u64,
}

impl StateCursor {
    /// A cursor at time 0, with the records of time 0 applied.
    pub fn new(trace: &Trace) -> Self {
        let tasks = trace.task_count();
        let mut counts = [0; STATES];
        counts[TaskState::Pending as usize] = tasks as u32;
        let mut cursor = Self {
            now: 0,
            applied: 0,
            states: vec![TaskState::Pending as u8; tasks],
            tags: vec![PENDING.pack(); tasks],
            counts,
            moved: 0,
            end: trace.end_ns(),
        };
        cursor.seek(trace, 0);
        cursor
    }

    /// Moves to `t_ns`: every record with a time of at most `t_ns` holds. Returns the number of records passed.
    pub fn seek(&mut self, trace: &Trace, t_ns: u64) -> usize {
        let target = trace.records_until(t_ns);
        self.now = t_ns;
        self.moved = 0;
        if target < self.applied - target.min(self.applied) {
            self.restart();
        }
        self.moved += target.abs_diff(self.applied);
        while self.applied < target {
            let record = self.applied;
            self.set(trace, record, record as u32);
            self.applied += 1;
        }
        while self.applied > target {
            self.applied -= 1;
            self.set(trace, self.applied, trace.previous_record(self.applied));
        }
        self.moved
    }

    /// [`TaskState`] of each task as its number, by task.
    pub fn states(&self) -> &[u8] {
        &self.states
    }

    /// State, reason and worker of a task; a task that does not exist is pending.
    pub fn tag(&self, task: u32) -> TaskTag {
        self.tags.get(task as usize).and_then(|&tag| TaskTag::unpack(tag)).unwrap_or(PENDING)
    }

    /// Number of tasks in each state, by `TaskState as usize`.
    pub fn counts(&self) -> [u32; STATES] {
        self.counts
    }

    /// [ns] The time of the last seek.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Whether the run is over at this time.
    pub fn finished(&self) -> bool {
        self.now >= self.end
    }

    /// Whether the last seek changed anything.
    pub fn changed(&self) -> bool {
        self.moved > 0
    }

    /// Makes `holding` the record of the task that `record` is about.
    fn set(&mut self, trace: &Trace, record: usize, holding: u32) {
        let task = trace.recording().tasks.subject[record] as usize;
        let tag = match holding {
            NO_RECORD => PENDING.pack(),
            holding => trace.recording().tasks.tag[holding as usize],
        };
        let state = (tag >> 28) as u8;
        self.counts[self.states[task] as usize] -= 1;
        self.counts[state as usize] += 1;
        self.states[task] = state;
        self.tags[task] = tag;
    }

    fn restart(&mut self) {
        self.moved += self.applied;
        self.applied = 0;
        self.states.fill(TaskState::Pending as u8);
        self.tags.fill(PENDING.pack());
        self.counts = [0; STATES];
        self.counts[TaskState::Pending as usize] = self.states.len() as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{any_trace, small};
    use proptest::prelude::*;

    #[test]
    fn records_at_the_time_itself_hold() {
        use TaskState::{Blocked, Done, Pending, Queued, Running};
        let trace = Trace::new(small()).unwrap();
        let mut cursor = StateCursor::new(&trace);
        for (at, expect) in [
            (0, [Queued, Pending]),
            (9, [Queued, Pending]),
            (10, [Running, Queued]),
            (40, [Done, Running]),
            (59, [Done, Running]),
            (1_000, [Done, Done]),
            (60, [Done, Blocked]),
            (0, [Queued, Pending]),
        ] {
            cursor.seek(&trace, at);
            assert_eq!(cursor.states(), expect.map(|state| state as u8), "at {at}");
            assert_eq!(cursor.tag(0).state, expect[0]);
            assert_eq!(cursor.finished(), at >= 100);
        }
    }

    proptest! {
        #[test]
        fn any_walk_ends_where_a_fresh_seek_does(trace in any_trace(), walk in prop::collection::vec(0_u64..2_500, 1..12)) {
            let mut cursor = StateCursor::new(&trace);
            for at in walk {
                cursor.seek(&trace, at);
                let mut fresh = StateCursor::new(&trace);
                fresh.seek(&trace, at);
                prop_assert_eq!(cursor.states(), fresh.states());
                prop_assert_eq!(&cursor.tags, &fresh.tags);
                prop_assert_eq!(cursor.counts(), fresh.counts());
                prop_assert_eq!(cursor.counts().iter().sum::<u32>() as usize, trace.task_count());
            }
        }
    }
}
