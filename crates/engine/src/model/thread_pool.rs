//! Thread pools: OS threads that run one task at a time, and a blocking wait holds the thread (P-1 to P-8).
//!
//! ```text
//!             submit: a new thread with this task first (P-1)
//!  pending ───────────────────────────────────────────────┐
//!     │ submit: queued, or handed to an idle thread       ▼
//!     ├──────────► queued ───── a worker is free ────► running ──► done
//!     │ no thread to be had (P-6),                     │  ▲ │  ▲
//!     │ or no room in the queue (abort)   io, block    │  │ │  │ given back, woken
//!     ▼                                   holds thread ▼  │ ▼  │
//!   failed                                          blocked lock-wait (holds the thread)
//!
//!  thread: absent ── created on the submitter's time (P-5) ──► runs tasks ──► idle (fixed, cached) ──► runs tasks
//!             ▲                                                    │             │ cached: 60 s
//!             └───── thread-per-task: its task has ended ──────────┴─────────────┘
//! ```
//!
//! Modelled:
//! - `fixed` (`newFixedThreadPool`): a new thread for each submission until there are `size` of them, even if others
//!   are idle (P-1); then one FIFO queue that wakes one idle worker when it was empty, which wakes the next while more
//!   is left (`LinkedBlockingQueue`). A bounded `queue` refuses what does not fit; `queue = 0` hands over to an idle
//!   worker or refuses (`SynchronousQueue`).
//! - `cached` (`newCachedThreadPool`): the task goes to the thread that became idle last (`SynchronousQueue` serves
//!   waiting consumers as a stack), otherwise to a new one; a thread idle for 60 s ends.
//! - `thread-per-task` (`new Thread(task).start()`): a new thread for each task, which ends with it.
//! - What is refused fails (`abort`) or is run by the thread that submitted it, which submits nothing meanwhile
//!   (`caller-runs`). Who submits is `main`, or the thread of the task that spawns; that thread enters again the locks
//!   that the task holds, so a child that it runs itself does not wait for them, but does for permits.
//! - The OS refuses a thread beyond `machine.max_threads`, or beyond what `machine.memory` holds (P-6); the task fails
//!   with `unable-to-create-native-thread`, the submitter goes on, and the next submission tries again. Queued tasks
//!   never need a thread. Memory counts the stacks of the threads that exist together (P-7).
//! - The end of a thread that has one task: its own time, which is longer while there are more threads than cores.
//! - Growth on the submitter's time (P-5), dispatch, sleep lateness, the cores through `os` (P-3), locks with barging.
//!
//! Not modelled: lock internals below a switch (spinning), the queue's own lock, warm-up, the threads that a JVM has
//! for itself (they count towards the real limit), `allowCoreThreadTimeOut`.
//!
//! Knobs: `pool`, `size`, `queue`, `rejection`, `poll_interval` (counts context switches only), `machine.max_threads`,
//! `machine.memory`, the `thread_*`, `sleep_*` and `pool_*` costs.
//!
//! Known divergences: the last `join` is one wake-up; a real program may poll every future. An attempt to create a
//! thread costs the same whether it succeeds or not. A submitter survives the `OutOfMemoryError` that a real one would
//! have to catch. A thread that ends leaves its number and name to the next one, so that a lane stands for a place and
//! not for a thread.

mod admission;
mod crew;
mod run;

use std::collections::{BTreeSet, VecDeque};

use self::admission::Route;
use self::crew::{Crew, Work};
use self::run::Outcome;
use super::Scheduler;
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::recording::NO_TASK;
use crate::scenario::{PoolKind, Rejection};
use crate::state::Activity;
use crate::submit::Submitter;

/// [ns] After which an idle thread of `newCachedThreadPool` ends.
const KEEP_ALIVE: u64 = 60_000_000_000;

/// The pool and `main`, which submits to it.
#[derive(Clone, Debug)]
pub(crate) struct ThreadPool {
    submitter: Submitter,
    pool: Pool,
}

/// The pool.
#[derive(Clone, Debug)]
struct Pool {
    kind: PoolKind,
    /// Threads of a fixed pool.
    size: u32,
    /// Room in its queue; `u32::MAX` for no limit.
    room: u32,
    rejection: Rejection,
    poll_interval: u64,
    crew: Crew,
    queue: VecDeque<u32>,
    locks: Locks,
    /// The thread that hands over what arrives from outside.
    main: u32,
    /// What each thread that is submitting has decided, by thread.
    routes: Vec<Route>,
    /// Tasks that the thread that submitted them runs, or has begun to run, itself.
    called: BTreeSet<u32>,
}

impl ThreadPool {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::ThreadPool { kind, size, queue, rejection, poll_interval } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        let submitter = Submitter::new(kernel);
        let pool = Pool {
            kind,
            size,
            room: queue,
            rejection,
            poll_interval,
            crew: Crew::new(kind, submitter.thread),
            queue: VecDeque::new(),
            locks: Locks::new(&kernel.plan.guards),
            main: submitter.thread,
            routes: Vec::new(),
            called: BTreeSet::new(),
        };
        Self { submitter, pool }
    }
}

impl Scheduler for ThreadPool {
    #[inline]
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if thread != self.submitter.thread {
            if self.pool.resume(kernel, thread) && kernel.all_done() {
                self.submitter.join(kernel, kernel.plan.costs.thread_wake);
            }
            return;
        }
        loop {
            self.submitter.hand_over(kernel, &mut self.pool);
            if self.pool.crew.work(thread) != Work::None {
                // It runs what the pool has refused.
                self.pool.resume(kernel, thread);
            }
            if self.pool.crew.work(thread) != Work::None || self.submitter.go_on(kernel, &mut self.pool) {
                return;
            }
        }
    }

    fn deadline(&mut self, _kernel: &mut Kernel, _task: u32) {
        unreachable!("a pool sets no deadlines; its threads sleep")
    }

    fn locks(&self) -> &Locks {
        &self.pool.locks
    }
}

impl Pool {
    /// The thread goes on. Returns whether a task has ended.
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) -> bool {
        let mut ended = false;
        loop {
            match self.crew.work(thread) {
                Work::None if thread == self.main => return ended,
                Work::None => {
                    if !self.take(kernel, thread) {
                        return ended;
                    }
                }
                // Nobody has given it work for too long, or it was there for one task only.
                Work::Idle | Work::Ending => {
                    self.crew.end(kernel, thread);
                    return ended;
                }
                Work::New(task) => {
                    self.crew.set(thread, Work::Running(task));
                    if kernel.work(thread, kernel.plan.costs.pool_dispatch, Activity::Overhead, task) {
                        return ended;
                    }
                }
                Work::Running(task) => match self.run(kernel, thread, task) {
                    Outcome::Waits => return ended,
                    Outcome::Calls => {}
                    Outcome::Ended => {
                        ended = true;
                        self.ended(kernel, thread, task);
                    }
                },
            }
        }
    }

    /// A worker without a task looks for one. `false` if it has none and must not go on.
    fn take(&mut self, kernel: &mut Kernel, thread: u32) -> bool {
        if self.kind == PoolKind::ThreadPerTask {
            self.crew.set(thread, Work::Ending);
            let (costs, crowded) = (&kernel.plan.costs, self.crew.count > kernel.plan.cores);
            let cost = costs.thread_end + if crowded { costs.thread_end_cold } else { 0 };
            return !kernel.busy(thread, cost, Activity::Overhead, NO_TASK);
        }
        let Some(task) = self.queue.pop_front() else {
            let until = (self.kind == PoolKind::Cached).then(|| kernel.now.saturating_add(KEEP_ALIVE));
            self.crew.idle(kernel, thread, self.hands_over(), until);
            return false;
        };
        let mut cost = kernel.plan.costs.pool_dispatch;
        if !self.queue.is_empty() && self.crew.has_idle() {
            // As in `LinkedBlockingQueue`: who takes and leaves something behind wakes the next.
            cost += kernel.plan.costs.pool_unpark;
            self.crew.wake_longest_idle(kernel);
        }
        self.crew.set(thread, Work::Running(task));
        !kernel.work(thread, cost, Activity::Overhead, task)
    }

    /// Whether tasks go from the submitter to an idle worker without a queue in between (`SynchronousQueue`).
    fn hands_over(&self) -> bool {
        self.kind == PoolKind::Cached || self.room == 0
    }

    /// The thread's task has ended: it goes back to the task on whose stack it was, if it was refused by the pool.
    fn ended(&mut self, kernel: &Kernel, thread: u32, task: u32) {
        let caller = if self.called.remove(&task) { kernel.plan.parent(task) } else { None };
        self.crew.set(thread, caller.map_or(Work::None, Work::Running));
    }
}
