//! The steps of one coroutine on a worker: until the worker has to wait, or is free again.

use super::workers::Origin;
use super::{Pool, Work};
use crate::kernel::Kernel;
use crate::recording::NO_TASK;
use crate::state::{Activity, Reason, TaskState};
use crate::submit::Accept;
use crate::tasks::Next;

impl Pool {
    /// Runs the coroutine until its worker has to wait or is free again.
    pub(super) fn run(&mut self, kernel: &mut Kernel, thread: u32, index: usize, task: u32) -> Ran {
        kernel.task_running(task, thread);
        while let Some(next) = kernel.next_op(task) {
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.work(thread, ns, Activity::Running, task) {
                        return Ran::Busy;
                    }
                }
                Next::Io(ns, reason) if kernel.task(task).scopes == 0 => {
                    kernel.advance(task);
                    if ns == 0 {
                        continue;
                    }
                    let deadline = kernel.now + ns;
                    kernel.task_suspended(task, TaskState::Waiting, reason);
                    self.job(index).work = Work::Inserting { task, deadline };
                    let cost = self.timer.under_lock(kernel.now, kernel.plan.costs.kt_timer_insert);
                    let busy = kernel.work(thread, cost, Activity::Overhead, task);
                    return if busy { Ran::Busy } else { Ran::Inserting };
                }
                // K-9; a suspension point inside a critical section does not compile, so that call blocks too.
                Next::Io(ns, _) | Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        kernel.block_for(thread, task, ns, Reason::BlockingCall);
                        return Ran::Busy;
                    }
                }
                Next::Lock(lock) => {
                    let taken = lock.shared.is_none_or(|number| self.locks.acquire(number, task, kernel.now));
                    if !taken && lock.is_scoped() {
                        kernel.hold(thread, task, TaskState::LockWait, lock.kind.reason());
                        return Ran::Busy;
                    }
                    kernel.advance(task);
                    if !taken {
                        // A Mutex will be handed over to it.
                        return wait(kernel, thread, task, TaskState::LockWait, lock.kind.reason());
                    }
                    kernel.entered(task, lock);
                }
                Next::TryLock(lock, otherwise) => {
                    let taken = lock.shared.is_none_or(|number| self.locks.try_acquire(number, task));
                    kernel.tried(task, lock, otherwise, taken);
                }
                Next::Unlock(lock) => {
                    kernel.advance(task);
                    kernel.left(task, lock);
                    let Some(number) = lock.shared else { continue };
                    let barges = lock.is_scoped();
                    let heir =
                        if barges { self.locks.release(number) } else { self.locks.hand_over(number, kernel.now) };
                    if let Some(heir) = heir {
                        let cost = self.wake_waiter(kernel, index, heir);
                        if kernel.work(thread, cost, Activity::Overhead, task) {
                            return Ran::Busy;
                        }
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if kernel.task(task).scopes == 0 {
                        let cost = self.make_way(kernel, index, task);
                        self.job(index).work = Work::Leaving;
                        // Somebody else may be running it by now.
                        let busy = kernel.work(thread, cost, Activity::Overhead, NO_TASK);
                        return if busy { Ran::Busy } else { Ran::Inserting };
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    let cost = self.submit_cost(kernel, task);
                    if kernel.work(thread, cost, Activity::Overhead, task) {
                        return Ran::Busy;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    self.dispatch(kernel, child, Origin::Worker(index));
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        return wait(kernel, thread, task, TaskState::Waiting, Reason::Children);
                    }
                    kernel.advance(task);
                }
            }
        }
        if let Some(parent) = kernel.task_done(task) {
            // K-11: resumes the parent once, for the last child.
            let cost = self.wake_waiter(kernel, index, parent);
            self.job(index).work = Work::Leaving;
            return if kernel.busy(thread, cost, Activity::Overhead, task) { Ran::Ended } else { Ran::Released };
        }
        Ran::Released
    }

    /// K-4, the fair path: behind everything that the worker has. Returns what that costs the caller.
    fn make_way(&mut self, kernel: &mut Kernel, index: usize, task: u32) -> u64 {
        kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
        let cost = self.dispatch_cost(kernel);
        self.dispatch(kernel, task, Origin::Yield(index));
        cost
    }

    /// Wakes a coroutine that waited for another one. Returns what that costs the caller.
    fn wake_waiter(&mut self, kernel: &mut Kernel, index: usize, task: u32) -> u64 {
        if kernel.wake_holder(task) {
            return 0;
        }
        let cost = self.dispatch_cost(kernel);
        kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
        self.dispatch(kernel, task, Origin::Worker(index));
        cost
    }
}

/// The coroutine waits for another one: without its worker, unless it is inside a monitor.
fn wait(kernel: &mut Kernel, thread: u32, task: u32, state: TaskState, reason: Reason) -> Ran {
    if kernel.task(task).scopes > 0 {
        kernel.hold(thread, task, state, reason);
        return Ran::Busy;
    }
    kernel.task_suspended(task, state, reason);
    Ran::Released
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// The worker works or waits.
    Busy,
    /// The coroutine has left the worker, which does next, at no cost, what its `work` says.
    Inserting,
    /// The coroutine has ended, and the worker wakes another one.
    Ended,
    /// The coroutine has ended, or waits without the worker.
    Released,
}
