//! One poll of a task: its steps until it has to wait, in either runtime. Where it goes then is the runtime's business.

use super::blocking::BlockingPool;
use super::timers::Timers;
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::scenario::Blocking;
use crate::state::{Activity, Reason, TaskState};
use crate::tasks::Next;

/// Operations that a poll may complete before it has to yield.
pub(super) const BUDGET: u32 = 128;

/// What both runtimes have.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) locks: Locks,
    pub(super) timers: Timers,
    pub(super) blocking: BlockingPool,
    /// Whether blocking calls go to the pool.
    spawns_blocking: bool,
    /// By task: whether what it waits for is an operation that counts against the budget.
    counts: Vec<bool>,
}

impl Common {
    /// Of a runtime whose threads exist already.
    pub(super) fn new(kernel: &Kernel, blocking: Blocking) -> Self {
        Self {
            locks: Locks::new(&kernel.plan.guards),
            timers: Timers::new(kernel.plan.tasks),
            blocking: BlockingPool::new(kernel),
            spawns_blocking: blocking == Blocking::SpawnBlocking,
            counts: vec![false; kernel.plan.tasks as usize],
        }
    }
}

/// What became of a poll.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Polled {
    /// The thread works, or waits and holds the task.
    Busy,
    /// The task waits for a deadline [ns], which has to be put into the wheel.
    Sleeps(u64),
    /// The task has ended, or waits for something else; the thread works for so many ns on that.
    Left(u64),
}

/// A runtime as its tasks see it. `place` is the worker that polls.
pub(super) trait Runtime {
    fn common(&mut self) -> &mut Common;
    /// Operations that the poll in progress may still complete.
    fn budget(&mut self, place: usize) -> &mut u32;
    /// The task is ready, by the doing of the one that runs. [ns] Returns what that costs it.
    fn schedule(&mut self, kernel: &mut Kernel, place: usize, task: u32) -> u64;
    /// The task is ready again after the next poll of the driver.
    fn defer(&mut self, place: usize, task: u32);

    /// The task's poll begins on the thread.
    fn begin(&mut self, kernel: &mut Kernel, thread: u32, place: usize, task: u32) {
        kernel.task_running(task, thread);
        if std::mem::take(&mut self.common().counts[task as usize]) {
            *self.budget(place) -= 1;
        }
    }

    /// Goes on with the task until the thread has to wait or the poll is over.
    fn run(&mut self, kernel: &mut Kernel, thread: u32, place: usize, task: u32) -> Polled {
        kernel.task_running(task, thread);
        while let Some(next) = kernel.next_op(task) {
            let suspendable = kernel.task(task).scopes == 0;
            let counts = match next {
                Next::Io(ns, _) => ns > 0,
                Next::Lock(lock) => !lock.is_scoped(),
                Next::Join => true,
                _ => false,
            };
            if counts && suspendable && *self.budget(place) == 0 {
                return self.give_way(kernel, place, task);
            }
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.busy(thread, ns, Activity::Running, task) {
                        return Polled::Busy;
                    }
                }
                Next::Io(ns, reason) if suspendable => {
                    kernel.advance(task);
                    if ns > 0 {
                        let deadline = kernel.now + ns;
                        self.wait(kernel, task, TaskState::Waiting, reason);
                        return Polled::Sleeps(deadline);
                    }
                }
                Next::Block(ns, _) if suspendable && self.common().spawns_blocking => {
                    kernel.advance(task);
                    if ns > 0 {
                        self.common().counts[task as usize] = true;
                        return Polled::Left(self.common().blocking.spawn(kernel, task, ns));
                    }
                }
                // R-2; a guard of a monitor cannot be held across an `await`, so that call blocks too.
                Next::Io(ns, _) | Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        kernel.block_for(thread, task, ns, Reason::BlockingCall);
                        return Polled::Busy;
                    }
                }
                Next::Lock(lock) => {
                    let taken = lock.shared.is_none_or(|number| self.common().locks.acquire(number, task, kernel.now));
                    if !taken && (lock.is_scoped() || !suspendable) {
                        if !lock.is_scoped() {
                            kernel.advance(task);
                        }
                        kernel.hold(thread, task, TaskState::LockWait, lock.kind.reason());
                        return Polled::Busy;
                    }
                    kernel.advance(task);
                    if !taken {
                        // It will be handed over to it.
                        self.wait(kernel, task, TaskState::LockWait, lock.kind.reason());
                        return Polled::Left(0);
                    }
                    if counts && suspendable {
                        *self.budget(place) -= 1;
                    }
                    kernel.entered(task, lock);
                }
                Next::TryLock(lock, otherwise) => {
                    let taken = lock.shared.is_none_or(|number| self.common().locks.try_acquire(number, task));
                    kernel.tried(task, lock, otherwise, taken);
                }
                Next::Unlock(lock) => {
                    kernel.advance(task);
                    kernel.left(task, lock);
                    let Some(number) = lock.shared else { continue };
                    let locks = &mut self.common().locks;
                    let heir =
                        if lock.is_scoped() { locks.release(number) } else { locks.hand_over(number, kernel.now) };
                    if let Some(heir) = heir {
                        let cost = self.wake(kernel, place, heir);
                        if kernel.busy(thread, cost, Activity::Overhead, task) {
                            return Polled::Busy;
                        }
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if suspendable {
                        return self.give_way(kernel, place, task);
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    if kernel.busy(thread, kernel.plan.costs.tokio_spawn, Activity::Overhead, task) {
                        return Polled::Busy;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    let cost = self.schedule(kernel, place, child);
                    if kernel.busy(thread, cost, Activity::Overhead, task) {
                        return Polled::Busy;
                    }
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        if suspendable {
                            // On its return it finds that all have ended.
                            self.wait(kernel, task, TaskState::Waiting, Reason::Children);
                            return Polled::Left(0);
                        }
                        kernel.hold(thread, task, TaskState::Waiting, Reason::Children);
                        return Polled::Busy;
                    }
                    kernel.advance(task);
                }
            }
        }
        let parent = kernel.task_done(task);
        Polled::Left(parent.map_or(0, |parent| self.wake(kernel, place, parent)))
    }

    /// The task waits without its worker for an operation that counts.
    fn wait(&mut self, kernel: &mut Kernel, task: u32, state: TaskState, reason: Reason) {
        self.common().counts[task as usize] = true;
        kernel.task_suspended(task, state, reason);
    }

    fn give_way(&mut self, kernel: &mut Kernel, place: usize, task: u32) -> Polled {
        kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
        self.defer(place, task);
        Polled::Left(0)
    }

    /// Wakes a task that waited for the one that runs. [ns] Returns what that costs.
    fn wake(&mut self, kernel: &mut Kernel, place: usize, task: u32) -> u64 {
        if kernel.wake_holder(task) {
            return 0;
        }
        kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
        self.schedule(kernel, place, task)
    }
}
