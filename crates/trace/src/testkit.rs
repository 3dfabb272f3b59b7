//! Recordings for the tests of this crate: a small one by hand and arbitrary sound ones for property tests.

use parkbench_engine::{
    Activity, NO_TASK, NO_WORKER, Reason, Recording, Records, Role, TaskTag, ThreadInfo, ThreadTag, Totals,
};
use proptest::prelude::*;

pub(crate) use parkbench_engine::TaskState;

use crate::Trace;

pub(crate) fn task_records(list: &[(u64, u32, TaskState, u32)]) -> Records {
    let mut records = Records::default();
    for &(time, task, state, worker) in list {
        records.time.push(time);
        records.subject.push(task);
        records.tag.push(TaskTag { state, reason: Reason::None, worker }.pack());
    }
    records
}

pub(crate) fn thread_records(list: &[(u64, u32, Activity, u32)]) -> Records {
    let mut records = Records::default();
    for &(time, thread, activity, task) in list {
        records.time.push(time);
        records.subject.push(thread);
        records.tag.push(ThreadTag { activity, task }.pack());
    }
    records
}

fn threads(count: usize) -> Vec<ThreadInfo> {
    (0..count)
        .map(|i| match i {
            0 => ThreadInfo { role: Role::Submitter, name: "main".to_owned() },
            i => ThreadInfo { role: Role::Worker, name: format!("pool-1-thread-{i}") },
        })
        .collect()
}

/// Two tasks on one worker, 100 ns: the submitter hands both over, the worker runs and blocks for each.
pub(crate) fn small() -> Recording {
    use Activity as A;
    use TaskState as S;
    Recording {
        tasks: task_records(&[
            (0, 0, S::Queued, NO_WORKER),
            (10, 0, S::Running, 1),
            (10, 1, S::Queued, NO_WORKER),
            (20, 0, S::Blocked, 1),
            (40, 0, S::Done, NO_WORKER),
            (40, 1, S::Running, 1),
            (60, 1, S::Blocked, 1),
            (90, 1, S::Done, NO_WORKER),
        ]),
        threads: thread_records(&[
            (0, 0, A::Overhead, 0),
            (5, 1, A::Waking, NO_TASK),
            (10, 1, A::Running, 0),
            (12, 0, A::Idle, NO_TASK),
            (20, 1, A::Blocked, 0),
            (40, 1, A::Running, 1),
            (60, 1, A::Blocked, 1),
            (90, 1, A::Idle, NO_TASK),
        ]),
        thread_info: threads(2),
        totals: Totals {
            tasks: 2,
            unfinished: 0,
            makespan_ns: 100,
            events: 16,
            voluntary_switches: 3,
            involuntary_switches: 1,
            reserved_bytes: 2 << 20,
            resident_bytes: 1 << 20,
            digest: 0x00ab_cdef,
        },
        findings: Vec::new(),
    }
}

/// Sound recordings of up to 6 tasks, 4 threads and 60 records each; states follow no schedule's logic.
pub(crate) fn any_recording() -> impl Strategy<Value = Recording> {
    let task_steps = prop::collection::vec((0_u64..50, 0_u32..6, 0_usize..9, 0_u32..5), 0..60);
    let thread_steps = prop::collection::vec((0_u64..50, 0_u32..4, 0_usize..7, 0_u32..7), 0..60);
    (task_steps, thread_steps, 0_u64..200).prop_map(|(tasks, threads_steps, rest)| {
        let mut now = 0;
        let tasks: Vec<_> = tasks
            .into_iter()
            .map(|(gap, task, state, worker)| {
                // A quarter of the records share their time with the one before.
                now += gap.saturating_sub(12);
                (now, task, TaskState::ALL[state], if worker == 4 { NO_WORKER } else { worker })
            })
            .collect();
        let mut then = 0;
        let thread_list: Vec<_> = threads_steps
            .into_iter()
            .map(|(gap, thread, activity, task)| {
                then += gap.saturating_sub(12);
                (then, thread, Activity::ALL[activity], if task == 6 { NO_TASK } else { task })
            })
            .collect();
        Recording {
            tasks: task_records(&tasks),
            threads: thread_records(&thread_list),
            thread_info: threads(4),
            // Thread records may lie after the end of the run.
            totals: Totals { tasks: 6, makespan_ns: now + rest, ..Totals::default() },
            findings: Vec::new(),
        }
    })
}

pub(crate) fn any_trace() -> impl Strategy<Value = Trace> {
    any_recording().prop_map(|recording| Trace::new(recording).unwrap())
}
