//! The multi-thread runtime: what a worker does next, who is parked, who searches, and who has the driver.

use std::collections::VecDeque;

use rand_pcg::Pcg32;

use super::queues::{Local, Pace};
use super::task::{BUDGET, Common, Polled, Runtime};
use super::timers::Timers;
use crate::kernel::Kernel;
use crate::locks::Locks;
use crate::recording::NO_TASK;
use crate::rng::{Purpose, between, stream};
use crate::scenario::Blocking;
use crate::state::{Activity, Role, TaskState};
use crate::submit::{Accept, Submitter};

/// turns after which a worker polls the driver.
const EVENT_INTERVAL: u32 = 61;
/// polls from the slot in one turn.
const SLOT_POLLS: u32 = 3;

/// What a worker is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// A turn begins.
    Turn,
    /// Looks for a task.
    Find,
    /// Polls the driver.
    Driving(Then),
    /// Parked; whether on the driver.
    Parked(bool),
    Starting(u32),
    Running(u32),
    /// Puts the deadline of a task into the wheel.
    Inserting {
        task: u32,
        deadline: u64,
    },
    /// The poll is over.
    Leaving,
}

/// What a worker does after it has polled the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Find,
    Turn,
    Unpark,
}

#[derive(Clone, Debug)]
struct Worker {
    work: Work,
    local: Local,
    /// Yielded: ready again after the next poll of the driver, the last to yield first.
    deferred: Vec<u32>,
    turns: u32,
    /// whether a task that is woken may go to the slot, and polls from it in this turn.
    slot_open: bool,
    slot_polls: u32,
    budget: u32,
    searching: bool,
    /// Woken while it was not parked: its next park ends at once.
    notified: bool,
    pace: Pace,
    /// [ns] What it has to work for before the next task.
    owed: u64,
}

/// The runtime.
#[derive(Clone, Debug)]
pub(crate) struct MultiThread {
    submitter: Submitter,
    pool: Pool,
}

#[derive(Clone, Debug)]
struct Pool {
    common: Common,
    first_worker: u32,
    workers: Vec<Worker>,
    /// The injection queue.
    inject: VecDeque<u32>,
    /// Workers that are parked or about to be; the last is woken first.
    sleepers: Vec<usize>,
    /// Workers that search, and those that have been woken to.
    searching: usize,
    /// Who polls the driver or is parked on it.
    driver: Option<usize>,
    coin: Pcg32,
}

impl MultiThread {
    pub(super) fn new(kernel: &mut Kernel, workers: u32, blocking: Blocking) -> Self {
        let submitter = Submitter::new(kernel);
        let first_worker = kernel.threads.len() as u32;
        for number in 1..=workers {
            kernel.add_parked_thread(Role::Worker, format!("tokio-rt-worker-{number}"));
        }
        let worker = |index| Worker {
            work: Work::Parked(index == 0),
            local: Local::default(),
            deferred: Vec::new(),
            turns: 0,
            slot_open: true,
            slot_polls: 0,
            budget: BUDGET,
            searching: false,
            notified: false,
            pace: Pace::new(),
            owed: 0,
        };
        let pool = Pool {
            common: Common::new(kernel, blocking),
            first_worker,
            workers: (0..workers).map(worker).collect(),
            inject: VecDeque::new(),
            sleepers: (0..workers as usize).collect(),
            searching: 0,
            driver: Some(0),
            coin: stream(kernel.plan.seed, Purpose::Scheduler, 0),
        };
        Self { submitter, pool }
    }

    pub(super) fn locks(&self) -> &Locks {
        &self.pool.common.locks
    }

    /// What the coin will say next.
    pub(super) fn choices(&self) -> u64 {
        between(&mut self.pool.coin.clone(), 0, u64::MAX)
    }

    pub(super) fn timers(&mut self) -> &mut Timers {
        &mut self.pool.common.timers
    }

    pub(super) fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if thread == self.submitter.thread {
            self.submitter.resume(kernel, &mut self.pool);
        } else if self.pool.common.blocking.owns(thread) {
            self.pool.resume_blocking(kernel, thread);
        } else if self.pool.resume_worker(kernel, (thread - self.pool.first_worker) as usize) && kernel.all_done() {
            self.submitter.join(kernel, kernel.plan.costs.thread_wake);
        }
    }
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        let wakes = self.searching == 0 && !self.sleepers.is_empty();
        kernel.plan.costs.tokio_spawn + if wakes { kernel.plan.costs.tokio_unpark } else { 0 }
    }

    /// from outside to the injection queue.
    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        kernel.task_submitted(task);
        self.inject.push_back(task);
        self.notify(kernel);
    }
}

impl Runtime for Pool {
    fn common(&mut self) -> &mut Common {
        &mut self.common
    }

    fn budget(&mut self, place: usize) -> &mut u32 {
        &mut self.workers[place].budget
    }

    /// from a worker to its slot, and another worker is woken for the former occupant.
    fn schedule(&mut self, kernel: &mut Kernel, place: usize, task: u32) -> u64 {
        if self.push(place, task) { self.notify(kernel) } else { 0 }
    }

    fn defer(&mut self, place: usize, task: u32) {
        self.workers[place].deferred.push(task);
    }
}

impl Pool {
    /// Puts a ready task into the queue of a worker. Returns whether there is something for another one.
    fn push(&mut self, index: usize, task: u32) -> bool {
        let worker = &mut self.workers[index];
        if worker.slot_open {
            return worker.local.push_slot(task, &mut self.inject);
        }
        worker.local.push_ring(task, &mut self.inject);
        true
    }

    /// Wakes the worker that parked last, unless one is searching already. [ns] Returns what that costs the caller.
    fn notify(&mut self, kernel: &mut Kernel) -> u64 {
        if self.searching > 0 {
            return 0;
        }
        let Some(index) = self.sleepers.pop() else { return 0 };
        self.searching += 1;
        let thread = self.first_worker + index as u32;
        if !kernel.is_parked(thread) {
            self.workers[index].notified = !matches!(self.workers[index].work, Work::Parked(_));
            return 0;
        }
        kernel.wake(thread);
        kernel.plan.costs.tokio_unpark
    }

    /// A call of `spawn_blocking` has returned: its task is woken from outside.
    fn resume_blocking(&mut self, kernel: &mut Kernel, thread: u32) {
        while let Some(task) = self.common.blocking.resume(kernel, thread) {
            self.inject.push_back(task);
            let cost = self.notify(kernel);
            if kernel.busy(thread, cost, Activity::Overhead, NO_TASK) {
                return;
            }
        }
    }

    /// Returns whether a task has ended.
    fn resume_worker(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        let thread = self.first_worker + index as u32;
        let mut ended = false;
        loop {
            let goes_on = match self.workers[index].work {
                Work::Turn => self.turn(kernel, index),
                Work::Find => self.find(kernel, index),
                Work::Driving(then) => self.driven(kernel, index, then),
                Work::Parked(on_driver) => {
                    self.workers[index].notified = false;
                    if on_driver { self.drive(kernel, index, Then::Unpark) } else { self.unparked(kernel, index) }
                }
                Work::Starting(task) => {
                    self.begin(kernel, thread, index, task);
                    self.workers[index].work = Work::Running(task);
                    true
                }
                Work::Running(task) => match self.run(kernel, thread, index, task) {
                    Polled::Busy => false,
                    Polled::Sleeps(deadline) => {
                        self.workers[index].work = Work::Inserting { task, deadline };
                        !kernel.busy(thread, kernel.plan.costs.tokio_timer_insert, Activity::Overhead, task)
                    }
                    Polled::Left(cost) => {
                        ended |= kernel.state(task) == TaskState::Done;
                        self.workers[index].work = Work::Leaving;
                        !kernel.busy(thread, cost, Activity::Overhead, NO_TASK)
                    }
                },
                Work::Inserting { task, deadline } => {
                    self.insert(kernel, index, task, deadline);
                    true
                }
                Work::Leaving => self.leave(kernel, index),
            };
            if !goes_on {
                return ended;
            }
        }
    }

    /// the deadline is in the wheel; whoever is parked on the driver wakes if it parked for too long.
    fn insert(&mut self, kernel: &mut Kernel, index: usize, task: u32, deadline: u64) {
        self.workers[index].work = Work::Leaving;
        if self.common.timers.insert(kernel, deadline, task)
            && let Some(parked) = self.driver
            && kernel.is_parked(self.first_worker + parked as u32)
        {
            kernel.wake(self.first_worker + parked as u32);
            self.workers[index].owed += kernel.plan.costs.tokio_unpark;
        }
    }

    /// A turn begins; every 61st polls the driver, if nobody else has it.
    fn turn(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        let worker = &mut self.workers[index];
        worker.turns = worker.turns.wrapping_add(1);
        worker.work = Work::Find;
        if !worker.turns.is_multiple_of(EVENT_INTERVAL) {
            return true;
        }
        worker.pace.end(kernel.now);
        self.drive_now(kernel, index, Then::Find)
    }

    /// Takes a task from where the rules say, or parks.
    fn find(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        let count = self.workers.len();
        let worker = &mut self.workers[index];
        if worker.turns.is_multiple_of(worker.pace.interval) {
            worker.pace.tune();
            if let Some(task) = self.inject.pop_front().or_else(|| self.workers[index].local.pop()) {
                return self.start(kernel, index, task);
            }
        } else if let Some(task) = worker.local.pop().or_else(|| worker.local.refill(&mut self.inject, count)) {
            return self.start(kernel, index, task);
        }
        self.workers[index].pace.end(kernel.now);
        if let Some(task) = self.steal(index) {
            self.workers[index].pace.start(kernel.now);
            return self.start(kernel, index, task);
        }
        if self.workers[index].deferred.is_empty() {
            self.park(kernel, index)
        } else {
            self.drive_now(kernel, index, Then::Turn)
        }
    }

    /// Half of another worker's ring, from a random one on; at most half of the workers search.
    fn steal(&mut self, index: usize) -> Option<u32> {
        let count = self.workers.len();
        if !self.workers[index].searching {
            if 2 * self.searching >= count {
                return None;
            }
            self.workers[index].searching = true;
            self.searching += 1;
        }
        let start = if count > 1 { between(&mut self.coin, 0, count as u64 - 1) as usize } else { 0 };
        let mut mine = std::mem::take(&mut self.workers[index].local);
        let others = (0..count).map(|offset| (start + offset) % count).filter(|&other| other != index);
        let mut stolen = None;
        for other in others {
            stolen = mine.steal(&mut self.workers[other].local);
            if stolen.is_some() {
                break;
            }
        }
        self.workers[index].local = mine;
        stolen.or_else(|| self.inject.pop_front())
    }

    /// A turn's first poll. The last to search wakes another, which searches on.
    fn start(&mut self, kernel: &mut Kernel, index: usize, task: u32) -> bool {
        let mut cost = std::mem::take(&mut self.workers[index].owed) + kernel.plan.costs.tokio_poll;
        if std::mem::take(&mut self.workers[index].searching) {
            self.searching -= 1;
            cost += self.notify(kernel);
        }
        let worker = &mut self.workers[index];
        worker.pace.poll();
        worker.budget = BUDGET;
        worker.slot_polls = 0;
        worker.work = Work::Starting(task);
        !kernel.busy(self.first_worker + index as u32, cost, Activity::Overhead, task)
    }

    /// A poll is over: the slot comes next, three times, with what is left of the budget.
    fn leave(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        let worker = &mut self.workers[index];
        worker.work = Work::Turn;
        let Some(task) = worker.local.slot.take() else {
            worker.slot_open = true;
            return true;
        };
        if worker.budget == 0 {
            worker.local.push_ring(task, &mut self.inject);
            return true;
        }
        worker.slot_polls += 1;
        worker.slot_open = worker.slot_polls < SLOT_POLLS;
        worker.work = Work::Starting(task);
        let cost = std::mem::take(&mut worker.owed) + kernel.plan.costs.tokio_poll;
        !kernel.busy(self.first_worker + index as u32, cost, Activity::Overhead, task)
    }

    // Parking and the driver.

    /// Polls the driver without parking; where another worker has it, only what has yielded is ready again.
    fn drive_now(&mut self, kernel: &mut Kernel, index: usize, then: Then) -> bool {
        if self.driver.is_none() { self.drive(kernel, index, then) } else { self.after_driver(kernel, index, then) }
    }

    /// The worker fires what is due; the tasks are ready when it has worked for that.
    fn drive(&mut self, kernel: &mut Kernel, index: usize, then: Then) -> bool {
        self.driver = Some(index);
        self.workers[index].work = Work::Driving(then);
        let due = self.common.timers.take_due(kernel.now);
        let cost = kernel.plan.costs.tokio_driver + due * kernel.plan.costs.tokio_timer_fire;
        !kernel.busy(self.first_worker + index as u32, cost, Activity::Overhead, NO_TASK)
    }

    fn driven(&mut self, kernel: &mut Kernel, index: usize, then: Then) -> bool {
        self.driver = None;
        for task in self.common.timers.fire(kernel) {
            self.push(index, task);
        }
        self.after_driver(kernel, index, then)
    }

    /// What has yielded is ready again, and another worker is woken if there is more than one task.
    fn after_driver(&mut self, kernel: &mut Kernel, index: usize, then: Then) -> bool {
        while let Some(task) = self.workers[index].deferred.pop() {
            self.push(index, task);
        }
        if !self.workers[index].searching && self.workers[index].local.len() > 1 {
            self.workers[index].owed += self.notify(kernel);
        }
        match then {
            Then::Find => self.workers[index].work = Work::Find,
            Then::Turn => self.workers[index].work = Work::Turn,
            Then::Unpark => return self.unparked(kernel, index),
        }
        self.workers[index].pace.start(kernel.now);
        true
    }

    fn park(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        self.sleepers.push(index);
        if std::mem::take(&mut self.workers[index].searching) {
            self.searching -= 1;
            // The last to search looks once more whether there is work after all.
            let work = !self.inject.is_empty() || self.workers.iter().any(|worker| worker.local.has_ring());
            if self.searching == 0 && work {
                self.workers[index].owed += self.notify(kernel);
            }
        }
        self.park_again(kernel, index)
    }

    /// Parks on the driver, if nobody has it. Returns whether the worker goes on at once.
    fn park_again(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        let thread = self.first_worker + index as u32;
        if std::mem::take(&mut self.workers[index].notified) {
            return self.unparked(kernel, index);
        }
        let on_driver = self.driver.is_none();
        self.workers[index].work = Work::Parked(on_driver);
        if !on_driver {
            kernel.park(thread);
            return false;
        }
        self.driver = Some(index);
        match self.common.timers.park_until(kernel.now) {
            Some(time) if time <= kernel.now => return self.drive(kernel, index, Then::Unpark),
            Some(time) => kernel.park_until(thread, time + kernel.plan.costs.timer_lateness),
            None => kernel.park(thread),
        }
        false
    }

    /// The park is over: the worker has got tasks from the driver, or has been woken to search, or parks again.
    fn unparked(&mut self, kernel: &mut Kernel, index: usize) -> bool {
        let place = self.sleepers.iter().position(|&sleeper| sleeper == index);
        if self.workers[index].local.len() > 0 {
            self.workers[index].searching = place.is_none();
            if let Some(place) = place {
                self.sleepers.swap_remove(place);
            }
        } else if place.is_some() {
            return self.park_again(kernel, index);
        } else {
            self.workers[index].searching = true;
        }
        self.workers[index].pace.start(kernel.now);
        self.workers[index].work = Work::Turn;
        true
    }
}
