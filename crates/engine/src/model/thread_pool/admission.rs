//! What becomes of a task that is submitted: a new thread, an idle one, the queue, or none of these (P-1, P-5, P-6).
//!
//! The decision is made when the submitter begins, for it says what the submission costs, and carried out when it has
//! paid. Only whether the queue has room, and whether the OS gives a thread, is seen at the end.

use super::Pool;
use super::crew::Work;
use crate::kernel::Kernel;
use crate::scenario::{PoolKind, Rejection};
use crate::state::{Reason, TaskState};
use crate::submit::Accept;

/// Where a submission goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Route {
    /// To the tail of the queue.
    #[default]
    Queue,
    /// To a new thread.
    Create,
    /// To this idle thread.
    Hand(u32),
    /// Nowhere: nobody waits for it, and there is no queue.
    Refuse,
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        self.decide(kernel, self.main)
    }

    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        self.admit(kernel, self.main, task);
    }
}

impl Pool {
    /// The thread begins to submit a task. Returns what that costs it [ns].
    pub(super) fn decide(&mut self, kernel: &mut Kernel, thread: u32) -> u64 {
        let route = match self.kind {
            PoolKind::ThreadPerTask => Route::Create,
            PoolKind::Cached => self.crew.reserve_idle(kernel).map_or(Route::Create, Route::Hand),
            // P-1: even if others are idle.
            PoolKind::Fixed if self.crew.count < self.size => Route::Create,
            PoolKind::Fixed if self.hands_over() => self.crew.reserve_idle(kernel).map_or(Route::Refuse, Route::Hand),
            PoolKind::Fixed => Route::Queue,
        };
        if self.routes.len() <= thread as usize {
            self.routes.resize(thread as usize + 1, Route::default());
        }
        self.routes[thread as usize] = route;
        let costs = &kernel.plan.costs;
        match route {
            Route::Create => {
                self.crew.count += 1;
                costs.thread_create
            }
            Route::Hand(_) => costs.pool_submit + costs.pool_unpark,
            Route::Queue if self.wakes_on_submit() => costs.pool_submit + costs.pool_unpark,
            Route::Queue | Route::Refuse => costs.pool_submit,
        }
    }

    /// The thread has submitted the task. If the pool refuses it and the caller runs it, it is the thread's work now.
    pub(super) fn admit(&mut self, kernel: &mut Kernel, thread: u32, task: u32) {
        match self.routes[thread as usize] {
            Route::Create if kernel.can_create_thread() => {
                kernel.task_submitted(task);
                // `new Thread(task)` runs it as it is; a pool wraps it up.
                let work = if self.kind == PoolKind::ThreadPerTask { Work::Running(task) } else { Work::New(task) };
                self.crew.create(kernel, work);
            }
            Route::Create => {
                self.crew.count -= 1;
                fail(kernel, task, Reason::NativeThreads);
            }
            Route::Hand(idle) => {
                kernel.task_submitted(task);
                self.crew.set(idle, Work::New(task));
                kernel.wake(idle);
            }
            Route::Queue if self.queue.len() < self.room as usize => {
                kernel.task_submitted(task);
                let wakes = self.wakes_on_submit();
                self.queue.push_back(task);
                if wakes {
                    self.crew.wake_longest_idle(kernel);
                }
            }
            Route::Queue | Route::Refuse => self.refuse(kernel, thread, task),
        }
    }

    fn refuse(&mut self, kernel: &mut Kernel, thread: u32, task: u32) {
        match self.rejection {
            Rejection::Abort => fail(kernel, task, Reason::Rejected),
            Rejection::CallerRuns => {
                kernel.task_submitted(task);
                if let Some(parent) = kernel.plan.parent(task) {
                    // It is in the middle of its call of `execute`, and its thread is taken.
                    kernel.task_held(parent, TaskState::Blocked, Reason::Children);
                }
                self.called.insert(task);
                self.crew.set(thread, Work::Running(task));
            }
        }
    }

    /// As in `LinkedBlockingQueue`: a submit wakes a worker only if the queue was empty.
    fn wakes_on_submit(&self) -> bool {
        self.queue.is_empty() && self.crew.has_idle()
    }
}

/// The task ends before it begins; whoever waits for it alone need not wait any more.
fn fail(kernel: &mut Kernel, task: u32, reason: Reason) {
    if let Some(parent) = kernel.task_failed(task, reason) {
        kernel.wake_holder(parent);
    }
}
