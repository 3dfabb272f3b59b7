//! Thread pool: N OS threads, each runs one task at a time, and a blocking wait holds the thread (P-1 to P-8).
//!
//! ```text
//!             submit, workers < N: a new worker with this task first (P-1)
//!  pending ──────────────────────────────────────────┐
//!     │ submit, workers = N                          ▼
//!     └──────────► queued ── a worker is free ──► running ──► done
//!                                                 │  ▲ │  ▲
//!                                  io, block      │  │ │  │ given back, woken
//!                                 holds thread    ▼  │ ▼  │
//!                                              blocked lock-wait (holds the thread)
//! ```
//!
//! Modelled: growth to N on the submitter's time, one unbounded FIFO queue that wakes one idle worker when it was
//! empty, which wakes the next while more is left (`LinkedBlockingQueue`), dispatch, sleep lateness, the cores through `os`, locks with barging. Not modelled: lock internals below a switch (spinning), the
//! queue's own lock, warm-up.
//! Knobs: `size`, `poll_interval` (counts context switches only), the `thread_*`, `sleep_*` and `pool_*` costs.
//! Known divergence: the last `join` is one wake-up; a real program may poll every future.

use std::collections::VecDeque;

use super::Scheduler;
use crate::kernel::{Kernel, Next};
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::state::{Activity, Reason, Role, TaskState};
use crate::submit::{Accept, Submitter};

/// What a worker is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Nothing: it looks for a task.
    None,
    /// Has just been created for the task.
    New(u32),
    /// Takes the task from the queue and wraps it up.
    Taking(u32),
    /// Runs the task.
    Running(u32),
}

/// The pool.
#[derive(Clone, Debug)]
pub(crate) struct ThreadPool {
    submitter: Submitter,
    pool: Pool,
}

#[derive(Clone, Debug)]
struct Pool {
    size: u32,
    poll_interval: u64,
    /// The thread number of worker 0; the others follow.
    first_worker: u32,
    workers: Vec<Work>,
    /// Workers without a task; the one that has waited longest is served first, as by a condition queue.
    idle: VecDeque<u32>,
    queue: VecDeque<u32>,
    locks: Locks,
}

impl ThreadPool {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::ThreadPool { size, poll_interval, .. } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        let submitter = Submitter::new(kernel);
        // More workers than tasks are never created (P-1).
        let size = size.min(kernel.plan.tasks);
        let first_worker = kernel.threads.len() as u32;
        for index in 1..=size {
            kernel.add_thread(Role::Worker, format!("pool-1-thread-{index}"));
        }
        let pool = Pool {
            size,
            poll_interval,
            first_worker,
            workers: Vec::with_capacity(size as usize),
            idle: VecDeque::new(),
            queue: VecDeque::new(),
            locks: Locks::new(&kernel.plan.guards),
        };
        Self { submitter, pool }
    }
}

impl Scheduler for ThreadPool {
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if thread == self.submitter.thread {
            self.submitter.resume(kernel, &mut self.pool);
        } else if self.pool.resume_worker(kernel, thread) && kernel.all_done() {
            self.submitter.join(kernel, kernel.plan.costs.thread_wake);
        }
    }

    fn deadline(&mut self, _kernel: &mut Kernel, _task: u32) {
        unreachable!("a pool sets no deadlines; its threads sleep")
    }
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        let costs = &kernel.plan.costs;
        if (self.workers.len() as u32) < self.size {
            costs.thread_create
        } else {
            costs.pool_submit + if self.wakes_on_submit() { costs.pool_unpark } else { 0 }
        }
    }

    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        kernel.task_submitted(task);
        if (self.workers.len() as u32) < self.size {
            // P-1: a new worker, even if others are idle, with this task as its first.
            let thread = self.first_worker + self.workers.len() as u32;
            self.workers.push(Work::New(task));
            kernel.wake(thread);
            return;
        }
        let wakes = self.wakes_on_submit();
        self.queue.push_back(task);
        if wakes {
            self.wake_idle(kernel);
        }
    }
}

impl Pool {
    /// As in `LinkedBlockingQueue`: a submit wakes a worker only if the queue was empty.
    fn wakes_on_submit(&self) -> bool {
        self.queue.is_empty() && !self.idle.is_empty()
    }

    fn wake_idle(&mut self, kernel: &mut Kernel) {
        if let Some(thread) = self.idle.pop_front() {
            kernel.wake(thread);
        }
    }

    /// Returns whether a task has ended.
    fn resume_worker(&mut self, kernel: &mut Kernel, thread: u32) -> bool {
        let index = (thread - self.first_worker) as usize;
        let mut ended = false;
        loop {
            match self.workers[index] {
                Work::None => {
                    let Some(task) = self.queue.pop_front() else {
                        self.idle.push_back(thread);
                        kernel.park(thread);
                        return ended;
                    };
                    let mut cost = kernel.plan.costs.pool_dispatch;
                    if !self.queue.is_empty() && !self.idle.is_empty() {
                        // As in `LinkedBlockingQueue`: who takes and leaves something behind wakes the next.
                        cost += kernel.plan.costs.pool_unpark;
                        self.wake_idle(kernel);
                    }
                    self.workers[index] = Work::Taking(task);
                    if kernel.busy(thread, cost, Activity::Overhead, task) {
                        return ended;
                    }
                }
                Work::New(task) => {
                    self.workers[index] = Work::Taking(task);
                    if kernel.busy(thread, kernel.plan.costs.pool_dispatch, Activity::Overhead, task) {
                        return ended;
                    }
                }
                Work::Taking(task) => {
                    self.workers[index] = Work::Running(task);
                }
                Work::Running(task) => {
                    if !self.run(kernel, thread, task) {
                        return ended;
                    }
                    self.workers[index] = Work::None;
                    ended = true;
                }
            }
        }
    }

    /// Runs the task until its thread has to wait. Returns whether it has ended.
    fn run(&mut self, kernel: &mut Kernel, thread: u32, task: u32) -> bool {
        kernel.task_running(task, thread);
        while let Some(next) = kernel.next_op(task) {
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.busy(thread, ns, Activity::Running, task) {
                        return false;
                    }
                }
                Next::Io(ns, reason) => {
                    kernel.advance(task);
                    if ns > 0 {
                        self.wait(kernel, thread, task, ns, reason);
                        return false;
                    }
                }
                Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        self.wait(kernel, thread, task, ns, Reason::BlockingCall);
                        return false;
                    }
                }
                Next::Lock(lock) => {
                    if let Some(number) = lock.shared
                        && !self.locks.acquire(number, task)
                    {
                        kernel.task_held(task, TaskState::LockWait, lock.kind.reason());
                        kernel.hold(thread, task);
                        return false;
                    }
                    kernel.advance(task);
                }
                Next::TryLock(lock, otherwise) => match lock.shared {
                    Some(number) if !self.locks.try_acquire(number) => kernel.jump(task, otherwise),
                    _ => kernel.advance(task),
                },
                Next::Unlock(lock) => {
                    kernel.advance(task);
                    if let Some(heir) = lock.shared.and_then(|number| self.locks.release(number)) {
                        wake_holder(kernel, heir);
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if kernel.yield_core(thread, task) {
                        return false;
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    let cost = self.submit_cost(kernel, task);
                    if kernel.busy(thread, cost, Activity::Overhead, task) {
                        return false;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    self.accept(kernel, child);
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        // `Future.get` parks the thread, which stays the pool's.
                        kernel.task_held(task, TaskState::Blocked, Reason::Children);
                        kernel.hold(thread, task);
                        return false;
                    }
                    kernel.advance(task);
                }
            }
        }
        if let Some(parent) = kernel.task_done(task) {
            wake_holder(kernel, parent);
        }
        true
    }

    /// P-2: the thread waits with its task.
    fn wait(&self, kernel: &mut Kernel, thread: u32, task: u32, ns: u64, reason: Reason) {
        kernel.task_held(task, TaskState::Blocked, reason);
        if let Some(wakes) = ns.checked_div(self.poll_interval) {
            kernel.voluntary_switches += wakes;
        }
        kernel.block_for(thread, ns + kernel.plan.costs.sleep_lateness(ns), task);
    }
}

/// Wakes the thread that waits with this task.
fn wake_holder(kernel: &mut Kernel, task: u32) {
    let thread = kernel.tasks.worker[task as usize];
    kernel.wake(thread);
}
