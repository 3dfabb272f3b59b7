//! Coroutines on the event loop of `runBlocking`: one thread, one queue, one heap of delays (K-1).
//!
//! ```text
//!  main: launch all ─► loop { due delays move to the queue; run one event } ─► the last has ended
//!
//!  pending ─launch─► queued ─► running ─► waiting (delay; holds nothing) ─► queued ─► ... ─► done
//!                                │
//!                                └─ block, or io inside a monitor ─► blocked: the whole loop stands still
//! ```
//!
//! Modelled: serial launches before the loop turns, FIFO events, delays that become due only between events, no
//! wake-ups between threads, blocking calls that block everybody, `Mutex` that hands over fairly.
//! Not modelled: the cost of a coroutine that neither delays nor computes.
//! Knobs: the `loop_*` costs, `timer_lateness`.
//! Known divergence: a contended monitor cannot be waited for on one thread, so it never occurs here.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use super::Scheduler;
use crate::kernel::{Kernel, NEVER};
use crate::locks::Locks;
use crate::plan::ModelPlan;
use crate::recording::NO_TASK;
use crate::scenario::Dispatcher;
use crate::state::{Activity, Reason, Role, TaskState};
use crate::tasks::Next;

/// An event of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// Run or resume the coroutine.
    Task(u32),
    /// Resume the body of `runBlocking`, which launches.
    Body,
}

/// What the thread is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// The body launches.
    Body,
    /// The body has launched this task.
    Launching(u32),
    /// The loop looks for an event.
    Loop,
    /// Resumes the task after its delay.
    Resuming(u32),
    /// Runs the task.
    Running(u32),
    /// Puts the task's delay into the heap.
    Delaying { task: u32, deadline: u64 },
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct EventLoop {
    thread: u32,
    work: Work,
    queue: VecDeque<Event>,
    /// (deadline, arrival, event)
    delays: BinaryHeap<Reverse<(u64, u64, Event)>>,
    arrivals: u64,
    /// [ns] Until when the body delays, to launch what arrives then, or [`NEVER`].
    body_at: u64,
    locks: Locks,
}

impl EventLoop {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        debug_assert!(matches!(kernel.plan.model, ModelPlan::Coroutines { dispatcher: Dispatcher::EventLoop, .. }));
        let thread = kernel.add_thread(Role::Worker, "main".to_owned());
        kernel.wake_after(thread, 0);
        Self {
            thread,
            work: Work::Body,
            queue: VecDeque::new(),
            delays: BinaryHeap::new(),
            arrivals: 0,
            body_at: NEVER,
            locks: Locks::new(&kernel.plan.guards),
        }
    }

    fn delay(&mut self, deadline: u64, event: Event) {
        self.delays.push(Reverse((deadline, self.arrivals, event)));
        self.arrivals += 1;
    }

    /// Moves every delay that is due to the queue, as the loop does before each event.
    fn move_due(&mut self, kernel: &mut Kernel) {
        while let Some(&Reverse((deadline, _, event))) = self.delays.peek() {
            if deadline > kernel.now {
                break;
            }
            self.delays.pop();
            if let Event::Task(task) = event {
                kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            }
            self.queue.push_back(event);
        }
    }

    /// Runs the task until the thread works or waits (`false`) or the coroutine has given the thread back (`true`).
    fn run(&mut self, kernel: &mut Kernel, task: u32) -> bool {
        let thread = self.thread;
        kernel.task_running(task, thread);
        while let Some(next) = kernel.next_op(task) {
            match next {
                Next::Cpu(ns) => {
                    kernel.advance(task);
                    if kernel.work(thread, ns, Activity::Running, task) {
                        return false;
                    }
                }
                Next::Io(ns, reason) if kernel.task(task).scopes == 0 => {
                    kernel.advance(task);
                    if ns == 0 {
                        continue;
                    }
                    kernel.task_suspended(task, TaskState::Waiting, reason);
                    self.work = Work::Delaying { task, deadline: kernel.now + ns };
                    return !kernel.work(thread, kernel.plan.costs.loop_delay, Activity::Overhead, task);
                }
                // A suspension point inside a critical section does not compile, so that call blocks too.
                Next::Io(ns, _) | Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        kernel.block_for(thread, task, ns, Reason::BlockingCall);
                        return false;
                    }
                }
                Next::Lock(lock) => {
                    kernel.advance(task);
                    let taken = lock.shared.is_none_or(|number| self.locks.acquire(number, task, kernel.now));
                    if !taken {
                        return self.wait(kernel, task, TaskState::LockWait, lock.kind.reason(), lock.is_scoped());
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
                    if let Some(heir) = lock.shared.and_then(|number| self.locks.hand_over(number, kernel.now)) {
                        self.requeue(kernel, heir, Reason::Resumed);
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if kernel.task(task).scopes == 0 {
                        self.requeue(kernel, task, Reason::Yielded);
                        self.work = Work::Loop;
                        return true;
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    if kernel.work(thread, kernel.plan.costs.loop_launch, Activity::Overhead, task) {
                        return false;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    self.queue.push_back(Event::Task(child));
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        return self.wait(kernel, task, TaskState::Waiting, Reason::Children, false);
                    }
                    kernel.advance(task);
                }
            }
        }
        if let Some(parent) = kernel.task_done(task) {
            self.requeue(kernel, parent, Reason::Resumed);
        }
        self.work = Work::Loop;
        true
    }

    /// The coroutine waits for another one. Where it cannot suspend, nobody else runs who could wake it.
    fn wait(&mut self, kernel: &mut Kernel, task: u32, state: TaskState, reason: Reason, enters: bool) -> bool {
        if enters || kernel.task(task).scopes > 0 {
            kernel.hold(self.thread, task, state, reason);
            return false;
        }
        kernel.task_suspended(task, state, reason);
        self.work = Work::Loop;
        true
    }

    fn requeue(&mut self, kernel: &mut Kernel, task: u32, reason: Reason) {
        kernel.task_suspended(task, TaskState::Queued, reason);
        self.queue.push_back(Event::Task(task));
    }
}

impl Scheduler for EventLoop {
    #[inline]
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        let costs = &kernel.plan.costs;
        let (launch, resume, lateness) = (costs.loop_launch, costs.loop_resume, costs.timer_lateness);
        loop {
            match self.work {
                Work::Body => {
                    if let Some(task) = kernel.next_arrived() {
                        self.work = Work::Launching(task);
                        if kernel.work_event(thread, launch, Activity::Overhead, NO_TASK) {
                            return;
                        }
                        continue;
                    }
                    self.work = Work::Loop;
                }
                Work::Launching(task) => {
                    kernel.task_submitted(task);
                    self.queue.push_back(Event::Task(task));
                    self.work = Work::Body;
                }
                Work::Loop => {
                    if kernel.all_done() {
                        kernel.finished = true;
                        kernel.park(thread);
                        return;
                    }
                    // In a closed loop the end of a task decides when the next arrives.
                    if let Some(due) = kernel.next_due().filter(|&due| due < self.body_at) {
                        self.body_at = due;
                        self.delay(due, Event::Body);
                    }
                    self.move_due(kernel);
                    match self.queue.pop_front() {
                        Some(Event::Body) => {
                            self.body_at = NEVER;
                            kernel.arrive();
                            self.work = Work::Body;
                        }
                        Some(Event::Task(task)) if kernel.has_begun(task) => {
                            self.work = Work::Resuming(task);
                            if kernel.work(thread, resume, Activity::Overhead, task) {
                                return;
                            }
                        }
                        Some(Event::Task(task)) => self.work = Work::Running(task),
                        None => {
                            match self.delays.peek() {
                                Some(&Reverse((deadline, _, _))) => kernel.park_until(thread, deadline + lateness),
                                None => kernel.park(thread),
                            }
                            return;
                        }
                    }
                }
                Work::Resuming(task) => self.work = Work::Running(task),
                Work::Running(task) => {
                    if !self.run(kernel, task) {
                        return;
                    }
                }
                Work::Delaying { task, deadline } => {
                    self.delay(deadline, Event::Task(task));
                    self.work = Work::Loop;
                }
            }
        }
    }

    fn deadline(&mut self, _kernel: &mut Kernel, _task: u32) {
        unreachable!("the loop keeps its own heap and sets no deadlines")
    }

    fn locks(&self) -> &Locks {
        &self.locks
    }
}
