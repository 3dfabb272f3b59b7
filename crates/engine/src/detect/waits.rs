//! Who has what and who waits for what, at one instant: read off the states, the steps and the locks.
//!
//! Nothing here follows a chain of waits; see `deadlock`.

use crate::finding::{MAX_NAMED, Resource, ResourceKind, TaskName, Wait};
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::plan::{GuardKind, Op};
use crate::recording::NO_WORKER;
use crate::state::TaskState;

/// What a task waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Want {
    /// Nothing that another task has: it has ended, is not there yet, runs, or waits for a time to pass.
    Nothing,
    /// The lock or semaphore of this number.
    Guard(u32),
    /// The end of what it has spawned.
    Children,
    /// The end of this child, which its thread runs in its stead (`caller-runs`).
    Call(u32),
    /// A worker.
    Worker,
}

/// The waits of all tasks at one instant.
pub(crate) struct Waits<'a> {
    kernel: &'a Kernel,
    /// By task.
    wants: Vec<Want>,
    /// By guard: who holds it, ascending; who holds several permits is there as often.
    holders: Vec<Vec<u32>>,
    /// By guard: who has been woken to take it and has not run yet.
    turns: Vec<Vec<u32>>,
    /// Tasks that have a worker, ascending.
    on_workers: Vec<u32>,
}

impl<'a> Waits<'a> {
    /// O(tasks and their steps). `stopped`: no event is left, so that nobody waits for a time to pass any more.
    pub(crate) fn new(kernel: &'a Kernel, locks: &Locks, stopped: bool) -> Self {
        let guards = kernel.plan.guards.len();
        let mut waits = Self {
            kernel,
            wants: vec![Want::Nothing; kernel.plan.tasks as usize],
            holders: vec![Vec::new(); guards],
            turns: vec![Vec::new(); guards],
            on_workers: Vec::new(),
        };
        for guard in 0..guards as u32 {
            for (task, woken) in locks.waiters(guard) {
                if woken {
                    waits.turns[guard as usize].push(task);
                } else {
                    waits.wants[task as usize] = Want::Guard(guard);
                }
            }
        }
        let mut next_in_line = vec![Vec::new(); guards];
        for task in 0..kernel.plan.tasks {
            waits.add(task, stopped);
            if waits.want(task) == Want::Worker
                && let Some(guard) = next_guard(kernel, task)
                && !waits.turns[guard as usize].contains(&task)
            {
                next_in_line[guard as usize].push(task);
            }
        }
        for (guard, next) in next_in_line.iter().enumerate() {
            let given = kernel.plan.guards[guard].permits.saturating_sub(locks.free(guard as u32)) as usize;
            waits.settle(guard, given);
            // Who has been handed what it waited for in front of the step has not gone past it.
            let handed = given.saturating_sub(waits.holders[guard].len());
            waits.holders[guard].extend(next.iter().take(handed));
            waits.holders[guard].sort_unstable();
        }
        waits
    }

    fn add(&mut self, task: u32, stopped: bool) {
        let kernel = self.kernel;
        if matches!(kernel.state(task), TaskState::Pending | TaskState::Done | TaskState::Failed) {
            return;
        }
        if kernel.task(task).worker != NO_WORKER {
            self.on_workers.push(task);
        }
        if self.wants[task as usize] == Want::Nothing {
            self.wants[task as usize] = if kernel.tasks.joining.get(task as usize) == Some(&true) {
                Want::Children
            } else if let Some(child) = called(kernel, task) {
                Want::Call(child)
            } else if stopped || kernel.state(task) == TaskState::Queued {
                // Where a loop blocks that would have resumed it, its delay has no event of its own.
                Want::Worker
            } else {
                Want::Nothing
            };
        }
        for lock in kernel.held(task, usize::from(kernel.task(task).step)) {
            if let Some(guard) = lock.shared {
                self.holders[guard as usize].push(task);
            }
        }
    }

    /// Some models go past the step that takes a lock before they wait, others wait in front of it. Where the steps say
    /// that more is held than has been given out, it is those who wait that have gone past it.
    fn settle(&mut self, guard: usize, given: usize) {
        let mut surplus = self.holders[guard].len().saturating_sub(given);
        let (wants, mut last) = (&self.wants, None);
        self.holders[guard].retain(|&holder| {
            let here = wants[holder as usize] == Want::Guard(guard as u32) && last != Some(holder);
            if surplus == 0 || !here {
                return true;
            }
            last = Some(holder);
            surplus -= 1;
            false
        });
    }

    /// Who holds a lock or a permit.
    pub(crate) fn holders(&self, guard: u32) -> &[u32] {
        &self.holders[guard as usize]
    }

    /// What the task waits for.
    pub(crate) fn want(&self, task: u32) -> Want {
        self.wants[task as usize]
    }

    /// Tasks that have what this one waits for, or must end first.
    pub(crate) fn blockers(&self, task: u32) -> Vec<u32> {
        match self.want(task) {
            Want::Nothing => Vec::new(),
            Want::Guard(guard) => {
                let (holders, turns) = (&self.holders[guard as usize], &self.turns[guard as usize]);
                let mut all: Vec<u32> = holders.iter().chain(turns).copied().collect();
                all.dedup();
                all
            }
            Want::Children => self.open_children(task),
            Want::Call(child) => vec![child],
            Want::Worker => self.on_workers.clone(),
        }
    }

    /// The first of the blockers that is `stuck` itself, and the task itself only where there is no other.
    pub(crate) fn first_stuck_blocker(&self, task: u32, stuck: &[u32]) -> Option<u32> {
        let is_stuck = |task: &u32| stuck.binary_search(task).is_ok();
        if self.want(task) == Want::Worker {
            // As long as the list of all workers is, it is the same for everybody.
            return self.on_workers.iter().copied().find(is_stuck);
        }
        let all: Vec<u32> = self.blockers(task).into_iter().filter(is_stuck).collect();
        all.iter().copied().find(|&blocker| blocker != task).or_else(|| all.first().copied())
    }

    /// Tasks that wait for something that others have, ascending.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.wants.len() as u32).filter(|&task| self.want(task) != Want::Nothing)
    }

    fn open_children(&self, task: u32) -> Vec<u32> {
        let plan = &self.kernel.plan;
        let class = self.kernel.class_index(task);
        let spawned = plan.classes[class].ops.iter().filter_map(|op| match op {
            Op::Spawn(child) => Some(plan.child(task, class, *child)),
            _ => None,
        });
        let ended = |state| matches!(state, TaskState::Pending | TaskState::Done | TaskState::Failed);
        spawned.filter(|&child| !ended(self.kernel.state(child))).collect()
    }

    /// The wait in words' parts, with `next` as the first of those who have what is waited for.
    pub(crate) fn describe(&self, task: u32, next: Option<u32>) -> Wait {
        let wants = match self.want(task) {
            Want::Guard(guard) => self.resource(guard),
            Want::Children | Want::Call(_) => Resource { kind: ResourceKind::Children, name: String::new() },
            Want::Worker | Want::Nothing => Resource { kind: ResourceKind::Worker, name: String::new() },
        };
        let others = self.blockers(task).into_iter().filter(|&blocker| Some(blocker) != next);
        let held_by = next.into_iter().chain(others).take(MAX_NAMED).map(|task| self.name(task)).collect();
        Wait { task: self.name(task), holds: self.holds(task), wants, held_by, times: 0 }
    }

    pub(crate) fn name(&self, task: u32) -> TaskName {
        TaskName { id: task, class: self.kernel.plan.class_of(task).name.clone() }
    }

    /// What the task has: locks and permits in the order of their numbers, then its worker.
    pub(crate) fn holds(&self, task: u32) -> Vec<Resource> {
        let mut holds = Vec::new();
        for guard in 0..self.holders.len() {
            if self.holders[guard].contains(&task) {
                holds.push(self.resource(guard as u32));
            }
            if self.turns[guard].contains(&task) {
                holds.push(Resource { kind: ResourceKind::Turn, ..self.resource(guard as u32) });
            }
        }
        holds.truncate(MAX_NAMED - 1);
        let worker = self.kernel.task(task).worker;
        if worker != NO_WORKER {
            let name = self.kernel.thread_info[worker as usize].name.clone();
            holds.push(Resource { kind: ResourceKind::Worker, name });
        }
        holds
    }

    fn resource(&self, guard: u32) -> Resource {
        resource(self.kernel, guard)
    }
}

/// What the task is about to take.
fn next_guard(kernel: &Kernel, task: u32) -> Option<u32> {
    let step = usize::from(kernel.task(task).step);
    match kernel.plan.classes[kernel.class_index(task)].ops.get(step) {
        Some(Op::Lock(lock)) => lock.shared,
        _ => None,
    }
}

/// The child in whose call of `execute` the task is: it waits, and the last thing that it has done is to spawn.
fn called(kernel: &Kernel, task: u32) -> Option<u32> {
    let (class, step) = (kernel.class_index(task), usize::from(kernel.task(task).step));
    match kernel.plan.classes[class].ops.get(step.checked_sub(1)?) {
        Some(Op::Spawn(child)) if kernel.state(task) == TaskState::Blocked => {
            Some(kernel.plan.child(task, class, *child))
        }
        _ => None,
    }
}

/// The lock or semaphore of this number.
pub(super) fn resource(kernel: &Kernel, guard: u32) -> Resource {
    let is_semaphore =
        |op: &Op| matches!(op, Op::Lock(lock) if lock.shared == Some(guard) && lock.kind == GuardKind::Semaphore);
    let semaphore = kernel.plan.classes.iter().any(|class| class.ops.iter().any(is_semaphore));
    let kind = if semaphore { ResourceKind::Permit } else { ResourceKind::Lock };
    Resource { kind, name: kernel.plan.guards[guard as usize].name.clone() }
}
