//! What every part of the reference has: locks and semaphores, and tasks that spawn tasks.

use std::collections::VecDeque;

use parkbench_engine::{ChildRef, Plan};

/// What the reference knows of a lock or a semaphore: permits that are left, and who waits, in order of arrival, with
/// whether it has been woken.
#[derive(Clone)]
pub(super) struct Lock {
    left: u32,
    waiters: VecDeque<(u32, bool)>,
}

impl Lock {
    /// All that a plan has.
    pub(super) fn of(plan: &Plan) -> Vec<Self> {
        plan.guards.iter().map(|guard| Self { left: guard.permits, waiters: VecDeque::new() }).collect()
    }

    /// Anybody may take what is left; who was woken and comes too late keeps its place.
    pub(super) fn take(&mut self, task: u32) -> bool {
        let place = self.waiters.iter().position(|&waiter| waiter == (task, true));
        let taken = self.try_take();
        match place {
            Some(place) if taken => {
                self.waiters.remove(place);
            }
            Some(place) => self.waiters[place].1 = false,
            None if !taken => self.waiters.push_back((task, false)),
            None => {}
        }
        taken
    }

    pub(super) fn try_take(&mut self) -> bool {
        let taken = self.left > 0;
        self.left -= u32::from(taken);
        taken
    }

    /// One waiter is on its way for each permit that is left.
    pub(super) fn give_back(&mut self) -> Option<u32> {
        self.left += 1;
        let on_their_way = self.waiters.iter().filter(|(_, woken)| *woken).count();
        if on_their_way >= self.left as usize {
            return None;
        }
        let heir = self.waiters.iter_mut().find(|(_, woken)| !woken)?;
        heir.1 = true;
        Some(heir.0)
    }

    /// As a `Mutex` does: the first waiter has it from now on.
    pub(super) fn hand_over(&mut self) -> Option<u32> {
        let heir = self.waiters.pop_front();
        self.left += u32::from(heir.is_none());
        heir.map(|(task, _)| task)
    }
}

/// The tasks that each task has spawned.
pub(super) struct Families {
    /// Those that have not ended.
    pub(super) open: Vec<u32>,
    /// It waits for them.
    joining: Vec<bool>,
}

impl Families {
    pub(super) fn new(tasks: usize) -> Self {
        Self { open: vec![0; tasks], joining: vec![false; tasks] }
    }

    /// Whether the task can go on.
    pub(super) fn join(&mut self, task: u32) -> bool {
        self.joining[task as usize] = self.open[task as usize] > 0;
        !self.joining[task as usize]
    }

    /// The parent that waited for this task, and for no other any more.
    pub(super) fn ended(&mut self, plan: &Plan, task: u32) -> Option<u32> {
        let parent = plan.parent(task)?;
        self.open[parent as usize] -= 1;
        let last = self.open[parent as usize] == 0;
        (last && std::mem::take(&mut self.joining[parent as usize])).then_some(parent)
    }
}

/// The number of a task that another spawns.
pub(super) fn child_of(plan: &Plan, parent: u32, child: ChildRef) -> u32 {
    let class = plan.classes.iter().position(|class| class.first + class.count > parent).unwrap();
    plan.child(parent, class, child)
}
