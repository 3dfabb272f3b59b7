//! Coroutines on `Dispatchers.Default` and `Dispatchers.IO`: one shared scheduler of worker threads (K-3 to K-11).
//!
//! ```text
//!  pending ─launch, dispatch─► queued ─► running ──────────────────────────────► done
//!                                ▲         │  │
//!                                │         │  └─ block, io inside a monitor, contended monitor ─► holds the worker
//!             DefaultExecutor    │         │
//!             dispatches (K-8)   └─────────┴─► waiting (delay), lock-wait (Mutex): no worker
//! ```
//!
//! Modelled: a dispatch from outside that wakes one parked worker each time (K-3); the LIFO slot and the ring of a
//! worker's own dispatches (K-4); CPU permits, the coin between global and local, stealing of one task, slots that can
//! be stolen after 100 us (K-5); `Dispatchers.IO` as up to max(64, cores) loops that run as blocking tasks, hand
//! themselves on after 16 tasks and release the CPU permit (K-6); delays in one timer thread that dispatches each
//! expiry itself (K-8); no preemption (K-10); `Mutex` that hands over fairly.
//! Not modelled yet: `limitedParallelism`, threads that end after 60 s of idleness, `yield`.
//! Knobs: `dispatcher`, the `kt_*` costs.
//! Known divergence: the scheduler is warm, so its core workers exist from the start.

use std::collections::VecDeque;

use rand_pcg::Pcg32;

use super::Scheduler;
use crate::kernel::{Kernel, Next};
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::recording::NO_WORKER;
use crate::rng::{Purpose, between, stream};
use crate::scenario::Dispatcher;
use crate::state::{Activity, Reason, Role, TaskState};
use crate::submit::{Accept, Submitter};
use crate::timer::Timer;

/// K-6: `kotlinx.coroutines.io.parallelism`, unless there are more cores.
const IO_LIMIT: u32 = 64;
/// K-6: tasks after which a loop of `Dispatchers.IO` dispatches itself again.
const LOOP_FAIRNESS: u32 = 16;
/// K-4: usable slots of a worker's ring.
const RING: usize = 127;
/// [ns] K-5: age from which a slot can be stolen.
const STEAL_AGE: u64 = 100_000;

/// What the scheduler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// A coroutine: CPU work.
    Task(u32),
    /// A loop of `Dispatchers.IO` with its first coroutine: blocking work.
    Loop(u32),
}

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

#[derive(Clone, Debug)]
struct Worker {
    work: Work,
    /// K-4: dispatched last by this worker, and when.
    slot: Option<(Item, u64)>,
    ring: VecDeque<Item>,
    permit: bool,
    /// Coroutines that the loop in progress has run.
    in_loop: Option<u32>,
    /// Its park may end by itself, and then leaves it in the stack of parked workers.
    parked_until: bool,
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct Coroutines {
    submitter: Submitter,
    pool: Pool,
}

#[derive(Clone, Debug)]
struct Pool {
    io: bool,
    core: u32,
    first_worker: u32,
    workers: Vec<Worker>,
    /// Parked workers; the last to park is woken first.
    parked: Vec<u32>,
    permits: u32,
    /// Items in all slots and rings.
    local: usize,
    global_cpu: VecDeque<Item>,
    global_blocking: VecDeque<Item>,
    /// Blocking tasks dispatched and not ended.
    blocking: u32,
    /// `Dispatchers.IO`: coroutines without a loop, loops in progress, and how many may be.
    io_queue: VecDeque<u32>,
    loops: u32,
    loop_limit: u32,
    timer: Timer,
    locks: Locks,
    coin: Pcg32,
}

impl Coroutines {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::Coroutines { dispatcher, .. } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        let submitter = Submitter::new(kernel);
        let timer = Timer::new(kernel, "kotlinx.coroutines.DefaultExecutor");
        let core = kernel.plan.cores.max(2);
        let mut pool = Pool {
            io: dispatcher == Dispatcher::Io,
            core,
            first_worker: kernel.threads.len() as u32,
            workers: Vec::new(),
            parked: Vec::new(),
            permits: core,
            local: 0,
            global_cpu: VecDeque::new(),
            global_blocking: VecDeque::new(),
            blocking: 0,
            io_queue: VecDeque::new(),
            loops: 0,
            loop_limit: IO_LIMIT.max(kernel.plan.cores),
            timer,
            locks: Locks::new(&kernel.plan.guards),
            coin: stream(kernel.plan.seed, Purpose::Scheduler, 0),
        };
        for _ in 0..core {
            let thread = pool.add_worker(kernel);
            kernel.born_parked(thread);
            pool.parked.insert(0, thread);
        }
        Self { submitter, pool }
    }
}

impl Scheduler for Coroutines {
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
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        kernel.plan.costs.kt_launch + self.dispatch_cost(kernel)
    }

    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        kernel.task_submitted(task);
        self.dispatch(kernel, task, None);
    }
}

impl Pool {
    fn add_worker(&mut self, kernel: &mut Kernel) -> u32 {
        let number = self.workers.len() + 1;
        self.workers.push(Worker {
            work: Work::None,
            slot: None,
            ring: VecDeque::new(),
            permit: false,
            in_loop: None,
            parked_until: false,
        });
        kernel.add_thread(Role::Worker, format!("DefaultDispatcher-worker-{number}"))
    }

    /// [ns] What dispatching one coroutine costs the caller now (K-3, K-6).
    fn dispatch_cost(&self, kernel: &Kernel) -> u64 {
        let costs = &kernel.plan.costs;
        let base = costs.kt_dispatch + if self.io { costs.kt_io_extra } else { 0 };
        if self.io && self.loops >= self.loop_limit {
            return base;
        }
        // A loop counts as blocking work before the scheduler looks for a worker.
        base + self.signal_cost(kernel, u32::from(self.io))
    }

    /// [ns] What waking or creating a worker costs the caller now.
    fn signal_cost(&self, kernel: &Kernel, more_blocking: u32) -> u64 {
        if self.parked.iter().rev().any(|&thread| kernel.is_parked(thread)) {
            kernel.plan.costs.kt_unpark
        } else if self.may_create(more_blocking) {
            kernel.plan.costs.thread_create
        } else {
            0
        }
    }

    /// Fewer workers than `core` are free of blocking work.
    fn may_create(&self, more_blocking: u32) -> bool {
        (self.workers.len() as u32).saturating_sub(self.blocking + more_blocking) < self.core
    }

    /// Hands a coroutine to the dispatcher, from outside or from a worker.
    fn dispatch(&mut self, kernel: &mut Kernel, task: u32, from: Option<usize>) {
        if !self.io {
            self.enqueue(kernel.now, Item::Task(task), from);
            self.signal(kernel);
            return;
        }
        self.io_queue.push_back(task);
        if self.loops < self.loop_limit
            && let Some(first) = self.io_queue.pop_front()
        {
            self.loops += 1;
            self.dispatch_loop(kernel, first, from);
        }
    }

    fn dispatch_loop(&mut self, kernel: &mut Kernel, first: u32, from: Option<usize>) {
        self.blocking += 1;
        self.enqueue(kernel.now, Item::Loop(first), from);
        self.signal(kernel);
    }

    /// K-3: from outside to the global queue. K-4: from a worker to its slot, whose occupant moves to the ring, or to
    /// the global queue when the ring is full; a worker in blocking work keeps no CPU work to itself.
    fn enqueue(&mut self, now: u64, item: Item, from: Option<usize>) {
        let local = from.filter(|&index| self.workers[index].permit || matches!(item, Item::Loop(_)));
        let Some(index) = local else {
            self.enqueue_global(item);
            return;
        };
        self.local += 1;
        let worker = &mut self.workers[index];
        if let Some((previous, _)) = worker.slot.replace((item, now)) {
            if worker.ring.len() < RING {
                worker.ring.push_back(previous);
            } else {
                self.local -= 1;
                self.enqueue_global(previous);
            }
        }
    }

    fn enqueue_global(&mut self, item: Item) {
        match item {
            Item::Task(_) => self.global_cpu.push_back(item),
            Item::Loop(_) => self.global_blocking.push_back(item),
        }
    }

    /// Wakes the worker that parked last, or creates one if there are too few.
    fn signal(&mut self, kernel: &mut Kernel) {
        while let Some(thread) = self.parked.pop() {
            // One whose limited park has just ended is on its way by itself.
            if kernel.is_parked(thread) {
                kernel.wake(thread);
                return;
            }
        }
        if self.may_create(0) {
            let thread = self.add_worker(kernel);
            kernel.wake(thread);
        }
    }

    /// K-5. The second value is when a slot that is too young now may be stolen.
    fn find(&mut self, kernel: &Kernel, index: usize) -> Result<Item, u64> {
        if !self.workers[index].permit && self.permits > 0 {
            self.permits -= 1;
            self.workers[index].permit = true;
        }
        if !self.workers[index].permit {
            // Without a permit only blocking work may be taken.
            return self.global_blocking.pop_front().ok_or(u64::MAX);
        }
        let has_local = self.workers[index].slot.is_some() || !self.workers[index].ring.is_empty();
        let has_global = !self.global_cpu.is_empty() || !self.global_blocking.is_empty();
        let global_first = has_local && has_global && between(&mut self.coin, 0, 2 * u64::from(self.core) - 1) == 0;
        if has_local && !global_first {
            let worker = &mut self.workers[index];
            let item = worker.slot.take().map(|(item, _)| item).or_else(|| worker.ring.pop_front());
            self.local -= 1;
            return item.ok_or(u64::MAX);
        }
        if has_global {
            let both = !self.global_cpu.is_empty() && !self.global_blocking.is_empty();
            let blocking = self.global_cpu.is_empty() || both && between(&mut self.coin, 0, 1) == 0;
            let queue = if blocking { &mut self.global_blocking } else { &mut self.global_cpu };
            return queue.pop_front().ok_or(u64::MAX);
        }
        self.steal(kernel.now, index)
    }

    fn steal(&mut self, now: u64, index: usize) -> Result<Item, u64> {
        let count = self.workers.len();
        let mut young_until = u64::MAX;
        if self.local == 0 {
            return Err(young_until);
        }
        for offset in 1..count {
            let victim = &mut self.workers[(index + offset) % count];
            if let Some(item) = victim.ring.pop_front() {
                self.local -= 1;
                return Ok(item);
            }
            if let Some((item, since)) = victim.slot {
                if now >= since + STEAL_AGE {
                    victim.slot = None;
                    self.local -= 1;
                    return Ok(item);
                }
                young_until = young_until.min(since + STEAL_AGE);
            }
        }
        Err(young_until)
    }

    /// Returns whether a task has ended.
    fn resume_worker(&mut self, kernel: &mut Kernel, thread: u32) -> bool {
        let index = (thread - self.first_worker) as usize;
        let mut ended = false;
        if std::mem::take(&mut self.workers[index].parked_until) {
            self.parked.retain(|&parked| parked != thread);
        }
        loop {
            let costs = &kernel.plan.costs;
            match self.workers[index].work {
                Work::None => match self.find(kernel, index) {
                    Ok(Item::Task(task)) => {
                        self.workers[index].work = Work::Starting(task);
                        if kernel.busy(thread, costs.kt_run, Activity::Overhead, task) {
                            return ended;
                        }
                    }
                    Ok(Item::Loop(task)) => {
                        let cost = costs.kt_run + self.begin_blocking(kernel, index);
                        self.workers[index].in_loop = Some(0);
                        self.workers[index].work = Work::Starting(task);
                        if kernel.busy(thread, cost, Activity::Overhead, task) {
                            return ended;
                        }
                    }
                    Err(young_until) => {
                        if std::mem::take(&mut self.workers[index].permit) {
                            self.permits += 1;
                        }
                        self.parked.push(thread);
                        if young_until == u64::MAX {
                            kernel.park(thread);
                        } else {
                            self.workers[index].parked_until = true;
                            kernel.park_until(thread, young_until);
                        }
                        return ended;
                    }
                },
                Work::Starting(task) => self.workers[index].work = Work::Running(task),
                Work::Leaving => {
                    if self.after_task(kernel, thread, index) {
                        return ended;
                    }
                }
                Work::Inserting { task, deadline } => {
                    self.timer.arm(kernel, deadline, task);
                    if self.after_task(kernel, thread, index) {
                        return ended;
                    }
                }
                Work::Running(task) => match self.run(kernel, thread, index, task) {
                    Ran::Busy => return ended,
                    Ran::Ended => return true,
                    Ran::Inserting => {}
                    Ran::Released => {
                        ended |= kernel.state(task) == TaskState::Done;
                        if self.after_task(kernel, thread, index) {
                            return ended;
                        }
                    }
                },
            }
        }
    }

    /// K-6: a worker that starts blocking work releases its CPU permit and signals. Returns what that costs it.
    fn begin_blocking(&mut self, kernel: &mut Kernel, index: usize) -> u64 {
        if !std::mem::take(&mut self.workers[index].permit) {
            return 0;
        }
        self.permits += 1;
        let cost = self.signal_cost(kernel, 0);
        self.signal(kernel);
        cost
    }

    /// The worker is free of its coroutine: it goes on with its loop, if it is in one. Returns whether it is busy.
    fn after_task(&mut self, kernel: &mut Kernel, thread: u32, index: usize) -> bool {
        self.workers[index].work = Work::None;
        let Some(run) = self.workers[index].in_loop else { return false };
        let Some(next) = self.io_queue.pop_front() else {
            self.loops -= 1;
            self.blocking -= 1;
            self.workers[index].in_loop = None;
            return false;
        };
        if run + 1 >= LOOP_FAIRNESS {
            self.workers[index].in_loop = None;
            self.blocking -= 1;
            self.dispatch_loop(kernel, next, Some(index));
            return false;
        }
        self.workers[index].in_loop = Some(run + 1);
        self.workers[index].work = Work::Starting(next);
        kernel.busy(thread, kernel.plan.costs.kt_run, Activity::Overhead, next)
    }

    /// Runs the coroutine until its worker has to wait or is free again.
    fn run(&mut self, kernel: &mut Kernel, thread: u32, index: usize, task: u32) -> Ran {
        kernel.task_running(task, thread);
        while let Some(next) = kernel.next_op(task) {
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.busy(thread, ns, Activity::Running, task) {
                        return Ran::Busy;
                    }
                }
                Next::Io(ns, reason) if kernel.tasks.scopes[task as usize] == 0 => {
                    kernel.advance(task);
                    if ns == 0 {
                        continue;
                    }
                    let deadline = kernel.now + ns;
                    kernel.task_suspended(task, TaskState::Waiting, reason);
                    self.workers[index].work = Work::Inserting { task, deadline };
                    let cost = self.timer.under_lock(kernel.now, kernel.plan.costs.kt_timer_insert);
                    let busy = kernel.busy(thread, cost, Activity::Overhead, task);
                    return if busy { Ran::Busy } else { Ran::Inserting };
                }
                // K-9; a suspension point inside a critical section does not compile, so that call blocks too.
                Next::Io(ns, _) | Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        kernel.task_held(task, TaskState::Blocked, Reason::BlockingCall);
                        kernel.block_for(thread, ns + kernel.plan.costs.sleep_lateness(ns), task);
                        return Ran::Busy;
                    }
                }
                Next::Lock(lock) => {
                    let taken = lock.shared.is_none_or(|number| self.locks.acquire(number, task));
                    if !taken && lock.is_scoped() {
                        kernel.task_held(task, TaskState::LockWait, lock.kind.reason());
                        kernel.hold(thread, task);
                        return Ran::Busy;
                    }
                    kernel.advance(task);
                    if !taken {
                        // A Mutex will be handed over to it.
                        return wait(kernel, thread, task, TaskState::LockWait, lock.kind.reason());
                    }
                    kernel.entered(task, lock);
                }
                Next::TryLock(lock, otherwise) => match lock.shared {
                    Some(number) if !self.locks.try_acquire(number) => kernel.jump(task, otherwise),
                    _ => {
                        kernel.entered(task, lock);
                        kernel.advance(task);
                    }
                },
                Next::Unlock(lock) => {
                    kernel.advance(task);
                    kernel.left(task, lock);
                    let Some(number) = lock.shared else { continue };
                    let barges = lock.is_scoped();
                    let heir = if barges { self.locks.release(number) } else { self.locks.hand_over(number) };
                    if let Some(heir) = heir {
                        let cost = self.wake_waiter(kernel, index, heir);
                        if kernel.busy(thread, cost, Activity::Overhead, task) {
                            return Ran::Busy;
                        }
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if kernel.tasks.scopes[task as usize] == 0 {
                        let cost = self.make_way(kernel, index, task);
                        self.workers[index].work = Work::Leaving;
                        return if kernel.busy(thread, cost, Activity::Overhead, task) {
                            Ran::Busy
                        } else {
                            Ran::Inserting
                        };
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    let cost = self.submit_cost(kernel, task);
                    if kernel.busy(thread, cost, Activity::Overhead, task) {
                        return Ran::Busy;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    self.dispatch(kernel, child, Some(index));
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
            self.workers[index].work = Work::Leaving;
            return if kernel.busy(thread, cost, Activity::Overhead, task) { Ran::Ended } else { Ran::Released };
        }
        Ran::Released
    }

    /// K-4, the fair path: behind everything that the worker has. Returns what that costs the caller.
    fn make_way(&mut self, kernel: &mut Kernel, index: usize, task: u32) -> u64 {
        kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
        let cost = self.dispatch_cost(kernel);
        if self.io {
            self.dispatch(kernel, task, Some(index));
        } else if self.workers[index].permit && self.workers[index].ring.len() < RING {
            self.workers[index].ring.push_back(Item::Task(task));
            self.local += 1;
            self.signal(kernel);
        } else {
            self.enqueue_global(Item::Task(task));
            self.signal(kernel);
        }
        cost
    }

    /// Wakes a coroutine that waited for another one. Returns what that costs the caller.
    fn wake_waiter(&mut self, kernel: &mut Kernel, index: usize, task: u32) -> u64 {
        let holds = kernel.tasks.worker[task as usize];
        if holds != NO_WORKER {
            kernel.wake(holds);
            return 0;
        }
        let cost = self.dispatch_cost(kernel);
        kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
        self.dispatch(kernel, task, Some(index));
        cost
    }

    fn resume_timer(&mut self, kernel: &mut Kernel) {
        loop {
            let fire = kernel.plan.costs.kt_timer_fire;
            // K-8: the timer thread dispatches each expiry itself; the heap's lock covers the removal only.
            let dispatch = self.dispatch_cost(kernel);
            let Some(task) = self.timer.resume(kernel, 0, false, fire + dispatch) else { return };
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            self.dispatch(kernel, task, None);
        }
    }
}

/// The coroutine waits for another one: without its worker, unless it is inside a monitor.
fn wait(kernel: &mut Kernel, thread: u32, task: u32, state: TaskState, reason: Reason) -> Ran {
    if kernel.tasks.scopes[task as usize] > 0 {
        kernel.task_held(task, state, reason);
        kernel.hold(thread, task);
        return Ran::Busy;
    }
    kernel.task_suspended(task, state, reason);
    Ran::Released
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    /// The worker works or waits.
    Busy,
    /// The coroutine has left the worker, which does next, at no cost, what its `work` says.
    Inserting,
    /// The coroutine has ended, and the worker wakes another one.
    Ended,
    /// The coroutine has ended, or waits without the worker.
    Released,
}
