//! The current-thread runtime: the thread of `block_on` runs the submitting future and every task.

use std::collections::VecDeque;

use super::task::{BUDGET, Common, Polled, Runtime};
use super::timers::Timers;
use crate::kernel::{Kernel, NEVER};
use crate::locks::Locks;
use crate::recording::NO_TASK;
use crate::scenario::Blocking;
use crate::state::{Activity, Role, TaskState};

/// Polls after which the thread polls the driver and the future of `block_on`.
const EVENT_INTERVAL: u32 = 61;
/// polls after which the injection queue goes first.
const GLOBAL_INTERVAL: u32 = 31;

/// What the thread is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// A round begins: the future of `block_on`, if it has been woken.
    Round,
    /// The future has spawned this task.
    Spawning(u32),
    /// Looks for a task.
    Find,
    /// Polls the driver.
    Driving,
    Parked,
    Starting(u32),
    Running(u32),
    /// Puts the deadline of a task into the wheel.
    Inserting {
        task: u32,
        deadline: u64,
    },
}

/// The runtime.
#[derive(Clone, Debug)]
pub(crate) struct CurrentThread {
    common: Common,
    thread: u32,
    work: Work,
    queue: VecDeque<u32>,
    /// Woken by threads of `spawn_blocking`.
    inject: VecDeque<u32>,
    /// Yielded: ready again after the next poll of the driver, the last to yield first.
    deferred: Vec<u32>,
    turns: u32,
    /// Polls left in the round.
    left: u32,
    budget: u32,
    /// The future of `block_on` is to be polled.
    woken: bool,
    /// [ns] Until when it sleeps, to spawn what arrives then, or [`NEVER`].
    sleeps_until: u64,
}

impl CurrentThread {
    pub(super) fn new(kernel: &mut Kernel, blocking: Blocking) -> Self {
        let thread = kernel.add_thread(Role::Worker, "main".to_owned());
        kernel.wake_after(thread, 0);
        Self {
            common: Common::new(kernel, blocking),
            thread,
            work: Work::Round,
            queue: VecDeque::new(),
            inject: VecDeque::new(),
            deferred: Vec::new(),
            turns: 0,
            left: EVENT_INTERVAL,
            budget: BUDGET,
            woken: true,
            sleeps_until: NEVER,
        }
    }

    pub(super) fn locks(&self) -> &Locks {
        &self.common.locks
    }

    pub(super) fn timers(&mut self) -> &mut Timers {
        &mut self.common.timers
    }

    pub(super) fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if thread != self.thread {
            self.resume_blocking(kernel, thread);
            return;
        }
        while self.step(kernel) {}
    }

    /// A call of `spawn_blocking` has returned: its task is woken from outside.
    fn resume_blocking(&mut self, kernel: &mut Kernel, thread: u32) {
        while let Some(task) = self.common.blocking.resume(kernel, thread) {
            self.inject.push_back(task);
            let mut cost = 0;
            if self.work == Work::Parked && kernel.is_parked(self.thread) {
                kernel.wake(self.thread);
                cost = kernel.plan.costs.tokio_unpark;
            }
            if kernel.busy(thread, cost, Activity::Overhead, NO_TASK) {
                return;
            }
        }
    }

    /// Does the next thing. Returns whether the thread goes on at once.
    fn step(&mut self, kernel: &mut Kernel) -> bool {
        let (thread, insert) = (self.thread, kernel.plan.costs.tokio_timer_insert);
        match self.work {
            Work::Round => {
                self.left = EVENT_INTERVAL;
                self.work = Work::Find;
                !self.woken || self.submit(kernel)
            }
            Work::Spawning(task) => {
                kernel.task_submitted(task);
                self.queue.push_back(task);
                self.work = Work::Round;
                true
            }
            Work::Find => self.find(kernel),
            Work::Driving => {
                self.driven(kernel);
                true
            }
            Work::Parked => self.drive(kernel),
            Work::Starting(task) => {
                self.budget = BUDGET;
                self.begin(kernel, thread, 0, task);
                self.work = Work::Running(task);
                true
            }
            Work::Running(task) => match self.run(kernel, thread, 0, task) {
                Polled::Busy => false,
                Polled::Sleeps(deadline) => {
                    self.work = Work::Inserting { task, deadline };
                    !kernel.busy(thread, insert, Activity::Overhead, task)
                }
                Polled::Left(cost) => {
                    if kernel.state(task) == TaskState::Done {
                        self.look_ahead(kernel);
                    }
                    self.work = Work::Find;
                    !kernel.busy(thread, cost, Activity::Overhead, NO_TASK)
                }
            },
            Work::Inserting { task, deadline } => {
                self.common.timers.insert(kernel, deadline, task);
                self.work = Work::Find;
                true
            }
        }
    }

    /// The future of `block_on`: spawns what has arrived, one after the other, then waits.
    fn submit(&mut self, kernel: &mut Kernel) -> bool {
        if kernel.next_due().is_some_and(|due| due <= kernel.now) {
            kernel.arrive();
        }
        if let Some(task) = kernel.next_arrived() {
            self.work = Work::Spawning(task);
            kernel.busy_event(self.thread, kernel.plan.costs.tokio_spawn, Activity::Overhead, NO_TASK);
            return false;
        }
        self.woken = false;
        if kernel.all_done() {
            kernel.finished = true;
            kernel.park(self.thread);
            return false;
        }
        self.look_ahead(kernel);
        true
    }

    /// The future wakes when all have ended, or sleeps until the next arrival; in a closed loop ends decide on that.
    fn look_ahead(&mut self, kernel: &mut Kernel) {
        let due = kernel.next_due();
        if kernel.all_done() || due.is_some_and(|due| due <= kernel.now) {
            self.woken = true;
        } else if let Some(due) = due.filter(|&due| due < self.sleeps_until) {
            self.sleeps_until = due;
            self.common.timers.insert(kernel, due, NO_TASK);
        }
    }

    fn find(&mut self, kernel: &mut Kernel) -> bool {
        if self.left == 0 {
            return self.drive(kernel);
        }
        self.left -= 1;
        self.turns = self.turns.wrapping_add(1);
        let (first, second) = if self.turns.is_multiple_of(GLOBAL_INTERVAL) {
            (&mut self.inject, &mut self.queue)
        } else {
            (&mut self.queue, &mut self.inject)
        };
        if let Some(task) = first.pop_front().or_else(|| second.pop_front()) {
            self.work = Work::Starting(task);
            return !kernel.busy(self.thread, kernel.plan.costs.tokio_poll, Activity::Overhead, task);
        }
        if self.woken || !self.deferred.is_empty() {
            return self.drive(kernel);
        }
        self.work = Work::Parked;
        match self.common.timers.park_until(kernel.now) {
            Some(time) if time <= kernel.now => return self.drive(kernel),
            Some(time) => kernel.park_until(self.thread, time + kernel.plan.costs.timer_lateness),
            None => kernel.park(self.thread),
        }
        false
    }

    /// Polls the driver; the tasks whose timers have fired are ready when the thread has worked for that.
    fn drive(&mut self, kernel: &mut Kernel) -> bool {
        self.work = Work::Driving;
        let due = self.common.timers.take_due(kernel.now);
        let cost = kernel.plan.costs.tokio_driver + due * kernel.plan.costs.tokio_timer_fire;
        !kernel.busy(self.thread, cost, Activity::Overhead, NO_TASK)
    }

    fn driven(&mut self, kernel: &mut Kernel) {
        for task in self.common.timers.fire(kernel) {
            if task == NO_TASK {
                self.woken = true;
                self.sleeps_until = NEVER;
            } else {
                self.queue.push_back(task);
            }
        }
        while let Some(task) = self.deferred.pop() {
            self.queue.push_back(task);
        }
        self.work = Work::Round;
    }
}

impl Runtime for CurrentThread {
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }

    fn budget(&mut self, _place: usize) -> &mut u32 {
        &mut self.budget
    }

    /// no slot, and nobody else to wake.
    fn schedule(&mut self, _kernel: &mut Kernel, _place: usize, task: u32) -> u64 {
        self.queue.push_back(task);
        0
    }

    fn defer(&mut self, _place: usize, task: u32) {
        self.deferred.push(task);
    }
}
