//! A green thread on its carrier: its steps one after the other, and what becomes of the carrier at each (T-4 to T-18).

use super::Pool;
use super::carriers::{Compensation, Entry, SUBMITTED, Work};
use crate::kernel::Kernel;
use crate::plan::{GuardKind, LockRef};
use crate::scenario::BlockKind;
use crate::state::{Activity, Reason, TaskState};
use crate::tasks::Next;

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ran {
    /// The carrier works or waits.
    Busy,
    /// The task has left its carrier.
    Unmounted,
    /// The task has ended.
    Ended,
}

impl Pool {
    /// Runs the task until its carrier has to wait or is free again.
    pub(super) fn run(&mut self, kernel: &mut Kernel, thread: u32, index: usize, task: u32) -> Ran {
        kernel.task_running(task, thread);
        if self.carriers.list[index].compensation == Compensation::Blocked && !kernel.takes_monitor_back(task) {
            self.carriers.end_compensation(index);
        }
        while let Some(next) = kernel.next_op(task) {
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.work(thread, ns, Activity::Running, task) {
                        return Ran::Busy;
                    }
                }
                Next::Io(ns, reason) => {
                    kernel.advance(task);
                    let pinned = self.is_pinned(kernel, task);
                    if ns == 0 && pinned {
                        continue;
                    }
                    if ns == 0 {
                        // T-7: `sleep(0)` is `yield`.
                        self.make_way(kernel, index, task);
                        return Ran::Unmounted;
                    }
                    if pinned {
                        // T-12, T-15: the freeze fails, and the carrier itself waits; nobody compensates.
                        kernel.block_for(thread, task, ns, Reason::Pinned);
                        return Ran::Busy;
                    }
                    return self.suspend_until(kernel, thread, index, task, kernel.now + ns, reason);
                }
                Next::Block(0, _) => kernel.advance(task),
                Next::Block(ns, BlockKind::ObjectWait) if self.rules.monitors_unmount() => {
                    // T-14: it leaves its carrier, unless something else pins it (T-15).
                    kernel.advance(task);
                    if self.is_pinned(kernel, task) {
                        kernel.block_for(thread, task, ns, Reason::Pinned);
                        return Ran::Busy;
                    }
                    return self.suspend_until(kernel, thread, index, task, kernel.now + ns, Reason::Io);
                }
                Next::Block(ns, kind) => {
                    if self.rules.compensates(kind) && self.prepare_compensation(kernel, thread, index, task) {
                        return Ran::Busy;
                    }
                    kernel.advance(task);
                    kernel.block_for(thread, task, ns, Reason::BlockingCall);
                    return Ran::Busy;
                }
                Next::Lock(lock) => {
                    if let Some(ran) = self.lock(kernel, thread, index, task, lock) {
                        return ran;
                    }
                }
                Next::TryLock(lock, otherwise) => {
                    let taken = lock.shared.is_none_or(|number| self.locks.try_acquire(number, task));
                    kernel.tried(task, lock, otherwise, taken);
                }
                Next::Unlock(lock) => {
                    kernel.advance(task);
                    kernel.left(task, lock);
                    if let Some(heir) = lock.shared.and_then(|number| self.locks.release(number)) {
                        self.wake_waiter(kernel, index, heir, lock.kind == GuardKind::Monitor);
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if !self.is_pinned(kernel, task) {
                        self.make_way(kernel, index, task);
                        return Ran::Unmounted;
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    let cost = kernel.plan.costs.vt_spawn + self.stack_cost(kernel);
                    if kernel.work(thread, cost, Activity::Overhead, task) {
                        return Ran::Busy;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    // T-1: from JDK 24 on onto an outside queue, before that onto its carrier's own.
                    let queue = if self.rules.starts_outside() { SUBMITTED } else { self.carriers.own(index) };
                    self.carriers.push(kernel, queue, Entry::Mount(child));
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        // T-18: `Thread.join` parks.
                        if self.is_pinned(kernel, task) {
                            kernel.hold(thread, task, TaskState::Blocked, Reason::Children);
                            return Ran::Busy;
                        }
                        kernel.task_suspended(task, TaskState::Waiting, Reason::Children);
                        self.carriers.list[index].work = Work::None;
                        return Ran::Unmounted;
                    }
                    kernel.advance(task);
                }
            }
        }
        if let Some(parent) = kernel.task_done(task) {
            self.wake_waiter(kernel, index, parent, false);
        }
        self.carriers.list[index].work = Work::None;
        Ran::Ended
    }

    /// Takes a lock; if it is taken, says what became of the run.
    fn lock(&mut self, kernel: &mut Kernel, thread: u32, index: usize, task: u32, lock: LockRef) -> Option<Ran> {
        if let Some(number) = lock.shared
            && !self.locks.acquire(number, task, kernel.now)
        {
            // T-13: to enter a monitor pins on 21 to 23; T-15: to wait for a class pins on every JDK.
            let enters = lock.is_frame() || lock.is_scoped() && !self.rules.monitors_unmount();
            if enters || self.is_pinned(kernel, task) {
                kernel.hold(thread, task, TaskState::LockWait, lock.kind.reason());
                return Some(Ran::Busy);
            }
            kernel.task_suspended(task, TaskState::LockWait, lock.kind.reason());
            self.carriers.list[index].work = Work::None;
            return Some(Ran::Unmounted);
        }
        // `Object.wait` before JDK 24 is over once the monitor is its own again.
        self.carriers.end_compensation(index);
        kernel.entered(task, lock);
        kernel.advance(task);
        None
    }

    /// Whether the carrier has to create another one before the call; then the task is at the same step afterwards.
    fn prepare_compensation(&mut self, kernel: &mut Kernel, thread: u32, index: usize, task: u32) -> bool {
        if self.carriers.list[index].compensation == Compensation::None {
            self.carriers.compensate(kernel, index);
            if matches!(self.carriers.list[index].compensation, Compensation::Creating(_))
                && kernel.busy(thread, kernel.plan.costs.thread_create, Activity::Overhead, task)
            {
                return true;
            }
        }
        if let Compensation::Creating(spare) = self.carriers.list[index].compensation {
            self.carriers.created(kernel, index, spare);
        }
        false
    }

    /// T-12, T-15: whether something on its stack keeps the task on its carrier.
    fn is_pinned(&self, kernel: &Kernel, task: u32) -> bool {
        let task = kernel.task(task);
        task.frames > 0 || task.scopes > 0 && !self.rules.monitors_unmount()
    }

    /// T-8: to the end of the carrier's own queue, or of an outside one if that is empty.
    fn make_way(&mut self, kernel: &mut Kernel, index: usize, task: u32) {
        kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
        self.carriers.list[index].work = Work::None;
        let own = self.carriers.own(index);
        let queue = if self.carriers.is_empty(own) { SUBMITTED } else { own };
        self.carriers.push(kernel, queue, Entry::Mount(task));
    }

    /// What the task waits for has come: a lock, of which it is next, or the end of what it has spawned.
    fn wake_waiter(&mut self, kernel: &mut Kernel, index: usize, task: u32, monitor: bool) {
        if kernel.wake_holder(task) {
            return;
        }
        if monitor {
            // T-14: the unblocker thread resubmits it.
            self.unblocker.hand_over(kernel, task);
        } else {
            // T-6: unparked by a green thread of this scheduler, so onto the queue of its carrier.
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            self.carriers.push(kernel, self.carriers.own(index), Entry::Mount(task));
        }
    }
}
