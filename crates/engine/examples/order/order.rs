//! Who goes on to run and who ends, in order, and when, as a program sees it from inside.
//!
//! The engine's tests use this too. What no program can see is left out: a turn that a task only uses to wait for the
//! same lock again, and one after a preemption in which no other task has had a turn.

use parkbench_engine::{Reason, Recording, TaskState, TaskTag};

/// [ns] When who went on to run; a task that ended is `n.`.
pub(crate) fn order(recording: &Recording) -> Vec<(u64, String)> {
    let records = &recording.tasks;
    let tasks = recording.totals.tasks as usize;
    let mut events: Vec<(u64, Option<String>)> = Vec::new();
    // The event that is the last turn of each task, and whether it has waited for a lock before that.
    let (mut turn, mut waits) = (vec![None; tasks], vec![false; tasks]);
    // How many events there were when each task was preempted.
    let mut preempted = vec![None; tasks];
    for i in 0..records.len() {
        let (task, time) = (records.subject[i], records.time[i]);
        let at = task as usize;
        let Some(tag) = TaskTag::unpack(records.tag[i]) else { continue };
        match tag.state {
            TaskState::Running => {
                if preempted[at].take() == Some(events.len()) {
                    continue;
                }
                turn[at] = Some(events.len());
                events.push((time, Some(task.to_string())));
            }
            TaskState::LockWait => {
                if let Some(vain) = turn[at].filter(|&i: &usize| waits[at] && events[i].0 == time) {
                    events[vain].1 = None;
                }
                waits[at] = true;
            }
            TaskState::Done => events.push((time, Some(format!("{task}.")))),
            TaskState::Queued if tag.reason == Reason::Resumed => {}
            TaskState::Queued if tag.reason == Reason::TimeSlice => {
                waits[at] = false;
                preempted[at] = Some(events.len());
            }
            _ => waits[at] = false,
        }
    }
    events.into_iter().filter_map(|(time, name)| Some((time, name?))).collect()
}
