//! Starvation at a lock: a task waits for it, and for long others take it whenever it is given back. It does not end
//! the run.
//!
//! - A *standstill* of a lock is a time in which some task waits for it and none that waits gets it (`locks::passing`).
//! - The longest standstill of all locks of a run is a starvation if it lasts at least 100 ms and others took the lock
//!   at least 100 times in it. Starved are those that waited for at least 100 ms; they are blamed on those that took it.
//!
//! Locks that hand over, fair ones, and Go's, which hand over after 1 ms (G-1), have no such standstill; monitors and
//! `ReentrantLock`s have one where a task takes the lock again before the thread that it has woken arrives. Who waits
//! in a long queue is not starved as long as the queue moves.

use super::waits::resource;
use crate::finding::{Finding, FindingKind, TaskName, Wait};
use crate::kernel::Kernel;
use crate::locks::Locks;

/// The starvation at the locks of a run.
pub(crate) fn overtaken(kernel: &Kernel, locks: &Locks) -> Option<Finding> {
    let standstill = locks.longest_standstill()?;
    let name = |&task: &u32| TaskName { id: task, class: kernel.plan.class_of(task).name.clone() };
    let held_by: Vec<TaskName> = standstill.by.iter().map(name).collect();
    let wait = |task: &u32| Wait {
        task: name(task),
        holds: Vec::new(),
        wants: resource(kernel, standstill.lock),
        held_by: held_by.clone(),
        times: standstill.times,
    };
    Some(Finding {
        kind: FindingKind::Starvation,
        from_ns: standstill.from,
        to_ns: standstill.to,
        tasks: standstill.starved,
        circle: 0,
        period_ns: None,
        waits: standstill.first_starved.iter().map(wait).collect(),
    })
}
