//! A thread runs a task, step by step, until it has to wait (P-2).
//!
//! Where the thread gets the task from is not known here.

use std::iter::successors;

use super::Pool;
use super::crew::Work;
use crate::kernel::Kernel;
use crate::plan::{GuardKind, LockRef};
use crate::state::{Activity, Reason, TaskState};
use crate::tasks::Next;

/// Why a thread has left off running a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It waits with it, or works.
    Waits,
    /// The task has submitted another, which the thread runs first.
    Calls,
    /// The task has ended.
    Ended,
}

impl Pool {
    /// Runs the task until its thread has to do something else.
    pub(super) fn run(&mut self, kernel: &mut Kernel, thread: u32, task: u32) -> Outcome {
        kernel.task_running(task, thread);
        while let Some(next) = kernel.next_op(task) {
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.work(thread, ns, Activity::Running, task) {
                        return Outcome::Waits;
                    }
                }
                Next::Io(ns, reason) => {
                    kernel.advance(task);
                    if ns > 0 {
                        self.wait(kernel, thread, task, ns, reason);
                        return Outcome::Waits;
                    }
                }
                Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        self.wait(kernel, thread, task, ns, Reason::BlockingCall);
                        return Outcome::Waits;
                    }
                }
                Next::Lock(lock) => {
                    if let Some(number) = self.contended(kernel, task, lock)
                        && !self.locks.acquire(number, task, kernel.now)
                    {
                        kernel.hold(thread, task, TaskState::LockWait, lock.kind.reason());
                        return Outcome::Waits;
                    }
                    kernel.advance(task);
                }
                Next::TryLock(lock, otherwise) => match self.contended(kernel, task, lock) {
                    Some(number) if !self.locks.try_acquire(number, task) => kernel.jump(task, otherwise),
                    _ => kernel.advance(task),
                },
                Next::Unlock(lock) => {
                    let number = self.contended(kernel, task, lock);
                    kernel.advance(task);
                    if let Some(heir) = number.and_then(|number| self.locks.release(number)) {
                        kernel.wake_holder(heir);
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if kernel.yield_core(thread, task) {
                        return Outcome::Waits;
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    let cost = self.decide(kernel, thread);
                    if kernel.work(thread, cost, Activity::Overhead, task) {
                        return Outcome::Waits;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    self.admit(kernel, thread, child);
                    if self.crew.work(thread) != Work::Running(task) {
                        return Outcome::Calls;
                    }
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        // `Future.get` parks the thread, which stays the pool's.
                        kernel.hold(thread, task, TaskState::Blocked, Reason::Children);
                        return Outcome::Waits;
                    }
                    kernel.advance(task);
                }
            }
        }
        if let Some(parent) = kernel.task_done(task) {
            kernel.wake_holder(parent);
        }
        Outcome::Ended
    }

    /// The shared lock that the task takes or gives back, unless its thread has it already: locks belong to threads, and
    /// the thread of a task that its parent runs enters again what the parent holds. Permits belong to nobody.
    fn contended(&self, kernel: &Kernel, task: u32, lock: LockRef) -> Option<u32> {
        let number = lock.shared?;
        if lock.kind == GuardKind::Semaphore {
            return Some(number);
        }
        let caller = |task: &u32| kernel.plan.parent(*task).filter(|_| self.called.contains(task));
        let callers = successors(caller(&task), caller);
        let step = |task: u32| usize::from(kernel.task(task).step);
        let mut held = callers.flat_map(|caller| kernel.held(caller, step(caller)));
        (!held.any(|held| held.shared == lock.shared)).then_some(number)
    }

    /// P-2: the thread waits with its task.
    fn wait(&self, kernel: &mut Kernel, thread: u32, task: u32, ns: u64, reason: Reason) {
        if let Some(wakes) = ns.checked_div(self.poll_interval) {
            kernel.voluntary_switches += wakes;
        }
        kernel.block_for(thread, task, ns, reason);
    }
}
