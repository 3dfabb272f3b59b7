//! Coroutines on `Dispatchers.Default` and `Dispatchers.IO`, and on views of them: one shared scheduler of worker
//! threads (K-3 to K-11).
//!
//! ```text
//!  pending ─launch, dispatch─► queued ─► running ──────────────────────────────► done
//!                                ▲         │  │
//!                                │         │  └─ block, io inside a monitor, contended monitor ─► holds the worker
//!             DefaultExecutor    │         │
//!             dispatches (K-8)   └─────────┴─► waiting (delay, join), lock-wait (Mutex): no worker; yield: queued
//!
//!  worker: ─► permit? ─► slot, ring ─► global queue ─► steal ─► parked, on the stack; or until a slot is old enough
//! ```
//!
//! Modelled, after kotlinx.coroutines 1.10.2: a dispatch from outside that wakes one parked worker each time (K-3); the
//! LIFO slot and the ring of a worker's own dispatches, the fair path of `yield` (K-4); CPU permits, the coin between
//! global and local, stealing of one item from a random worker on, slots that can be stolen after 100 us and for which
//! a thief waits off the stack, so that no dispatch wakes it (K-5); `Dispatchers.IO` as up to max(64, cores) loops that
//! run as blocking tasks, hand themselves on after 16 tasks and release the CPU permit (K-6); `limitedParallelism`: of
//! IO any number of loops, of Default fewer than it has workers, or else Default itself (K-7); delays in one timer
//! thread that dispatches each expiry itself (K-8); calls that block their worker (K-9); no preemption (K-10); a join
//! that resumes once (K-11); `Mutex` and `Semaphore` that hand over fairly.
//! Not modelled: threads that end after 60 s of idleness, limits of the OS on threads, Default and IO in one run.
//! Knobs: `dispatcher`, `parallelism`, the `kt_*` costs.
//! Known divergence: the scheduler is warm, so its core workers exist from the start; a view of Default costs a dispatch
//! as much more as `Dispatchers.IO` does.

mod queues;
mod run;
mod workers;

use self::queues::{Item, View};
use self::run::Ran;
use self::workers::{Found, Origin, Workers};
use super::Scheduler;
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::scenario::Dispatcher;
use crate::state::{Activity, Reason, TaskState};
use crate::submit::{Accept, Submitter};
use crate::timer::Timer;

/// K-6: `kotlinx.coroutines.io.parallelism`, unless there are more cores.
const IO_LIMIT: u32 = 64;
/// K-6: tasks after which a loop of a view dispatches itself again.
const LOOP_FAIRNESS: u32 = 16;

/// What a worker is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    None,
    Starting(u32),
    Running(u32),
    /// Has handed its coroutine on, or ended it.
    Leaving,
    /// Puts the delay of the task into the timer's heap.
    Inserting {
        task: u32,
        deadline: u64,
    },
}

/// What a worker does, and coroutines that the loop in progress has run.
#[derive(Clone, Copy, Debug)]
struct Job {
    work: Work,
    in_loop: Option<u32>,
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct Coroutines {
    submitter: Submitter,
    pool: Pool,
}

/// The dispatcher that the coroutines are launched on.
#[derive(Clone, Debug)]
struct Pool {
    workers: Workers,
    /// By worker.
    jobs: Vec<Job>,
    /// `None` for `Dispatchers.Default` itself.
    view: Option<View>,
    timer: Timer,
    locks: Locks,
}

impl Coroutines {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::Coroutines { dispatcher, parallelism } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        let submitter = Submitter::new(kernel);
        let timer = Timer::new(kernel, "kotlinx.coroutines.DefaultExecutor");
        let io = dispatcher == Dispatcher::Io;
        let cores = kernel.plan.cores;
        let limit = match parallelism {
            // K-7: a view of Default that may use every worker is Default itself.
            Some(most) if io || most < cores.max(2) => Some(most),
            _ => io.then_some(IO_LIMIT.max(cores)),
        };
        let pool = Pool {
            workers: Workers::new(kernel, io),
            jobs: Vec::new(),
            view: limit.map(View::new),
            timer,
            locks: Locks::new(&kernel.plan.guards),
        };
        Self { submitter, pool }
    }
}

impl Scheduler for Coroutines {
    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if thread == self.submitter.thread {
            self.submitter.resume(kernel, &mut self.pool);
        } else if thread == self.pool.timer.thread {
            self.pool.resume_timer(kernel);
        } else if self.pool.resume_worker(kernel, thread) && kernel.all_done() {
            self.submitter.join(kernel, kernel.plan.costs.thread_wake);
        }
    }

    fn deadline(&mut self, kernel: &mut Kernel, task: u32) {
        self.pool.timer.expire(kernel, kernel.now, task);
    }

    fn choices(&self) -> u64 {
        self.pool.workers.choices()
    }

    fn locks(&self) -> &Locks {
        &self.pool.locks
    }
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        kernel.plan.costs.kt_launch + self.dispatch_cost(kernel)
    }

    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        kernel.task_submitted(task);
        self.dispatch(kernel, task, Origin::Outside);
    }
}

impl Pool {
    /// [ns] What dispatching one coroutine costs the caller now (K-3, K-6).
    fn dispatch_cost(&self, kernel: &Kernel) -> u64 {
        let costs = &kernel.plan.costs;
        match &self.view {
            Some(view) if view.is_full() => costs.kt_dispatch + costs.kt_io_extra,
            Some(_) => costs.kt_dispatch + costs.kt_io_extra + self.workers.dispatch_cost(kernel),
            None => costs.kt_dispatch + self.workers.dispatch_cost(kernel),
        }
    }

    /// Hands a coroutine to the dispatcher.
    fn dispatch(&mut self, kernel: &mut Kernel, task: u32, from: Origin) {
        let item = match &mut self.view {
            None => Item::Task(task),
            Some(view) => match view.dispatch(task) {
                Some(first) => Item::Loop(first),
                None => return,
            },
        };
        self.workers.dispatch(kernel, item, from);
    }

    #[inline]
    fn job(&mut self, index: usize) -> &mut Job {
        &mut self.jobs[index]
    }

    /// Returns whether a task has ended.
    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    fn resume_worker(&mut self, kernel: &mut Kernel, thread: u32) -> bool {
        let index = self.workers.index(thread);
        if self.jobs.len() <= index {
            self.jobs.resize(index + 1, Job { work: Work::None, in_loop: None });
        }
        let mut ended = false;
        loop {
            let task = match self.job(index).work {
                Work::None => {
                    let run = kernel.plan.costs.kt_run;
                    let (task, cost) = match self.workers.find(kernel, index) {
                        Found::Item(Item::Task(task)) => (task, run),
                        Found::Item(Item::Loop(task)) => {
                            self.job(index).in_loop = Some(0);
                            (task, run + self.workers.begin_blocking(kernel, index))
                        }
                        Found::Later(until) => {
                            self.workers.park(kernel, index, Some(until));
                            return ended;
                        }
                        Found::Nothing => {
                            self.workers.park(kernel, index, None);
                            return ended;
                        }
                    };
                    if kernel.work(thread, cost, Activity::Overhead, task) {
                        self.job(index).work = Work::Starting(task);
                        return ended;
                    }
                    task
                }
                Work::Leaving => {
                    if self.after_task(kernel, thread, index) {
                        return ended;
                    }
                    continue;
                }
                Work::Inserting { task, deadline } => {
                    self.timer.arm(kernel, deadline, task);
                    if self.after_task(kernel, thread, index) {
                        return ended;
                    }
                    continue;
                }
                Work::Starting(task) | Work::Running(task) => task,
            };
            self.job(index).work = Work::Running(task);
            match self.run(kernel, thread, index, task) {
                Ran::Busy => return ended,
                Ran::Ended => return true,
                Ran::Inserting => {}
                Ran::Released => {
                    ended |= kernel.state(task) == TaskState::Done;
                    if self.after_task(kernel, thread, index) {
                        return ended;
                    }
                }
            }
        }
    }

    /// The worker is free of its coroutine: it goes on with its loop, if it is in one. Returns whether it is busy.
    fn after_task(&mut self, kernel: &mut Kernel, thread: u32, index: usize) -> bool {
        let job = self.job(index);
        job.work = Work::None;
        let Some((run, view)) = job.in_loop.zip(self.view.as_mut()) else { return false };
        let next = view.next();
        match next {
            Some(next) if run + 1 < LOOP_FAIRNESS => {
                *self.job(index) = Job { work: Work::Starting(next), in_loop: Some(run + 1) };
                return kernel.work(thread, kernel.plan.costs.kt_run, Activity::Overhead, next);
            }
            Some(next) => self.workers.hand_on(kernel, Item::Loop(next), index),
            None => self.workers.end_blocking(),
        }
        self.job(index).in_loop = None;
        false
    }

    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    fn resume_timer(&mut self, kernel: &mut Kernel) {
        loop {
            let fire = kernel.plan.costs.kt_timer_fire;
            // K-8: the timer thread dispatches each expiry itself; the heap's lock covers the removal only.
            let dispatch = self.dispatch_cost(kernel);
            let Some(task) = self.timer.resume(kernel, 0, false, fire + dispatch) else { return };
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            self.dispatch(kernel, task, Origin::Outside);
        }
    }
}
