//! The threads of `spawn_blocking`: one queue, up to 512 of them, created where none is idle.

use std::collections::VecDeque;

use crate::kernel::Kernel;
use crate::state::{Activity, Reason, Role, TaskState};

/// `max_blocking_threads`.
const MOST: usize = 512;

/// What a thread is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    None,
    Taking { task: u32, ns: u64 },
    Calling(u32),
}

/// The pool.
#[derive(Clone, Debug)]
pub(super) struct BlockingPool {
    /// The first thread's number; nobody else creates threads after it.
    first: u32,
    threads: Vec<Work>,
    most: usize,
    /// Calls that no thread has taken, and how long each takes.
    queue: VecDeque<(u32, u64)>,
    /// The first to become idle is woken first.
    idle: VecDeque<u32>,
}

impl BlockingPool {
    /// The pool of a runtime whose other threads exist already.
    pub(super) fn new(kernel: &Kernel) -> Self {
        let left = kernel.plan.max_threads.saturating_sub(kernel.threads.len() as u32);
        Self {
            first: kernel.threads.len() as u32,
            threads: Vec::new(),
            // Where the OS refuses another thread, those that exist take the call; the first it must grant.
            most: MOST.min(left as usize).max(1),
            queue: VecDeque::new(),
            idle: VecDeque::new(),
        }
    }

    pub(super) fn owns(&self, thread: u32) -> bool {
        thread >= self.first
    }

    /// The task waits for a call of so many ns in the pool. Returns what that costs its worker.
    pub(super) fn spawn(&mut self, kernel: &mut Kernel, task: u32, ns: u64) -> u64 {
        kernel.task_suspended(task, TaskState::Queued, Reason::NoWorker);
        self.queue.push_back((task, ns));
        let costs = &kernel.plan.costs;
        let (spawn, create, unpark) = (costs.tokio_spawn, costs.thread_create, costs.tokio_unpark);
        if let Some(thread) = self.idle.pop_front() {
            kernel.wake(thread);
            return spawn + unpark;
        }
        if self.threads.len() >= self.most {
            return spawn;
        }
        self.threads.push(Work::None);
        let thread = kernel.add_thread(Role::Worker, format!("tokio-rt-blocking-{}", self.threads.len()));
        kernel.wake(thread);
        spawn + create
    }

    /// The thread is on a core and has nothing to do. Returns the task whose call has returned, which must be woken;
    /// the thread must then be told what that costs, with `woken`.
    pub(super) fn resume(&mut self, kernel: &mut Kernel, thread: u32) -> Option<u32> {
        let index = (thread - self.first) as usize;
        loop {
            match self.threads[index] {
                Work::None => {
                    let Some((task, ns)) = self.queue.pop_front() else {
                        self.idle.push_back(thread);
                        kernel.park(thread);
                        return None;
                    };
                    self.threads[index] = Work::Taking { task, ns };
                    if kernel.busy(thread, kernel.plan.costs.tokio_poll, Activity::Overhead, task) {
                        return None;
                    }
                }
                Work::Taking { task, ns } => {
                    self.threads[index] = Work::Calling(task);
                    kernel.task_mut(task).worker = thread;
                    kernel.block_for(thread, task, ns, Reason::BlockingCall);
                    return None;
                }
                Work::Calling(task) => {
                    self.threads[index] = Work::None;
                    kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
                    return Some(task);
                }
            }
        }
    }
}
