//! Green threads: Java virtual threads of JDK 21 and 25 on carriers (T-1 to T-20).
//!
//! ```text
//!  pending ─start─► queued ──mount──► running ──────────────────► done
//!                     ▲                │  │  │
//!                     │ fire, resubmit │  │  └─ block, or io inside a monitor on 21 ─► blocked (holds the carrier)
//!                     │                │  └──── contended lock ─► lock-wait (holds the carrier: monitor on 21)
//!                     └─── waiting ◄───┘ io: unmount, deadline to the timer thread
//! ```
//!
//! Modelled: serial start on the submitter; FIFO queues, one for each carrier and one for each outside submitter, with
//! stealing from the oldest end (T-2); waking one idle carrier when a queue was empty, which wakes the next (T-3); idle
//! carriers that look for work on their core for some microseconds before they park; no
//! time slicing (T-4); the one timer thread of 21, whose lock carriers take to insert (T-9), and of 25, which inserts
//! itself before it fires and lets a carrier run the expiry (T-10, T-6); pinning in monitors and contended monitors on
//! 21 (T-12, T-13); monitors that unmount, and the unblocker thread, on 25 (T-14); barging locks.
//! Not modelled yet: compensation (T-16), class initialisers (T-15), the depth of the stack (T-11), carrier creation:
//! carriers exist from the start, as in a warm JVM.
//! Knobs: `jdk`, `carriers`, the `vt_*` costs.
//! Known divergence: a carrier goes on with the queue that it took from last and then looks at the others in turn; the
//! real pool starts at a random one. The timer thread parks whenever it has nothing to do, so the count of OS switches
//! is rather high where expiries come one by one.

use std::collections::VecDeque;

use super::Scheduler;
use crate::kernel::{Kernel, Next};
use crate::locks::Locks;
use crate::plan::{GuardKind, ModelPlan};
use crate::recording::NO_TASK;
use crate::state::{Activity, Reason, Role, TaskState};
use crate::submit::{Accept, Submitter};
use crate::timer::Timer;

/// An entry of a run queue: a green thread to mount, or on JDK 25 an expiry to run, which readies one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Mount(u32),
    Expiry(u32),
}

/// What a carrier is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    /// Nothing: it looks for a task.
    None,
    /// Looks for work before it parks.
    Spinning,
    /// Mounts the task.
    Mounting(u32),
    /// Runs the task.
    Running(u32),
    /// Puts the deadline of the task, which has unmounted, into the timer under its lock (JDK 21).
    Inserting { task: u32, deadline: u64 },
}

#[derive(Clone, Debug)]
struct Carrier {
    work: Work,
    /// The queue that it took from last.
    source: usize,
    /// It has been woken and has not taken anything yet; if more is there, it wakes the next (T-3).
    activated: bool,
}

/// The model.
#[derive(Clone, Debug)]
pub(crate) struct GreenThreads {
    submitter: Submitter,
    pool: Pool,
}

#[derive(Clone, Debug)]
struct Pool {
    jdk: u32,
    /// JDK 24 or later: monitors do not pin, expiries run on carriers.
    monitors_unmount: bool,
    first_carrier: u32,
    carriers: Vec<Carrier>,
    /// Idle carriers, spinning or parked; the last to become idle is woken first.
    idle: Vec<u32>,
    /// One queue for each carrier, then those of the submitter, the timer thread and the unblocker thread.
    queues: Vec<VecDeque<Entry>>,
    /// Entries in all queues.
    queued: usize,
    timer: Timer,
    /// The thread that resubmits green threads which may take a monitor (JDK 24 and later), and what it has to do.
    unblocker: u32,
    unblocking: Option<u32>,
    to_unblock: VecDeque<u32>,
    locks: Locks,
}

impl GreenThreads {
    pub(crate) fn new(kernel: &mut Kernel) -> Self {
        let ModelPlan::GreenThreads { jdk, carriers, .. } = kernel.plan.model else {
            unreachable!("the plan is for this model")
        };
        let submitter = Submitter::new(kernel);
        let first_carrier = kernel.threads.len() as u32;
        for index in 1..=carriers {
            kernel.add_parked_thread(Role::Worker, format!("ForkJoinPool-1-worker-{index}"));
        }
        let monitors_unmount = jdk >= 24;
        let timer_name = if monitors_unmount { "ForkJoinPool-1-delayScheduler" } else { "VirtualThread-unparker" };
        let timer = Timer::new(kernel, timer_name);
        let unblocker = if monitors_unmount {
            kernel.add_parked_thread(Role::Unblocker, "VirtualThread-unblocker".to_owned())
        } else {
            u32::MAX
        };
        let carriers = carriers as usize;
        let pool = Pool {
            jdk,
            monitors_unmount,
            first_carrier,
            carriers: vec![Carrier { work: Work::None, source: carriers, activated: false }; carriers],
            idle: (0..carriers as u32).rev().map(|index| first_carrier + index).collect(),
            queues: vec![VecDeque::new(); carriers + 3],
            queued: 0,
            timer,
            unblocker,
            unblocking: None,
            to_unblock: VecDeque::new(),
            locks: Locks::new(&kernel.plan.guards),
        };
        Self { submitter, pool }
    }
}

impl Scheduler for GreenThreads {
    fn resume(&mut self, kernel: &mut Kernel, thread: u32) {
        if thread == self.submitter.thread {
            self.submitter.resume(kernel, &mut self.pool);
        } else if thread == self.pool.timer.thread {
            self.pool.resume_timer(kernel);
        } else if thread == self.pool.unblocker {
            self.pool.resume_unblocker(kernel);
        } else if self.pool.resume_carrier(kernel, thread) && kernel.all_done() {
            let delay = kernel.plan.costs.thread_wake + kernel.plan.costs.vt_join;
            self.submitter.join(kernel, delay);
        }
    }

    fn deadline(&mut self, kernel: &mut Kernel, task: u32) {
        self.pool.timer.expire(kernel, kernel.now, task);
    }
}

impl Accept for Pool {
    fn submit_cost(&mut self, kernel: &mut Kernel, _task: u32) -> u64 {
        kernel.plan.costs.vt_spawn
    }

    /// T-1: one submission queue for everything that this thread starts. T-20: no limit.
    fn accept(&mut self, kernel: &mut Kernel, task: u32) {
        kernel.task_submitted(task);
        self.push(kernel, self.carriers.len(), Entry::Mount(task));
    }
}

impl Pool {
    /// Puts an entry at the end of a queue and wakes an idle carrier if the queue was empty (T-3).
    fn push(&mut self, kernel: &mut Kernel, queue: usize, entry: Entry) {
        self.queues[queue].push_back(entry);
        self.queued += 1;
        if self.queues[queue].len() == 1 {
            self.signal(kernel);
        }
    }

    fn signal(&mut self, kernel: &mut Kernel) {
        if let Some(thread) = self.idle.pop() {
            let carrier = &mut self.carriers[(thread - self.first_carrier) as usize];
            carrier.activated = true;
            if carrier.work == Work::Spinning {
                carrier.work = Work::None;
                kernel.interrupt(thread);
            } else {
                kernel.wake(thread);
            }
        }
    }

    /// The next entry for this carrier: its own queue first, then the queue it took from last and the ones after it.
    fn take(&mut self, kernel: &mut Kernel, index: usize) -> Option<Entry> {
        if self.queued == 0 {
            return None;
        }
        let count = self.queues.len();
        let source = self.carriers[index].source;
        let others = (0..count).map(|offset| (source + offset) % count);
        let queue = std::iter::once(index).chain(others).find(|&queue| !self.queues[queue].is_empty())?;
        if queue != index {
            self.carriers[index].source = queue;
        }
        let entry = self.queues[queue].pop_front();
        self.queued -= 1;
        let changed = std::mem::take(&mut self.carriers[index].activated);
        if changed && self.queued > 0 {
            self.signal(kernel);
        }
        entry
    }

    /// Returns whether a task has ended.
    fn resume_carrier(&mut self, kernel: &mut Kernel, thread: u32) -> bool {
        let index = (thread - self.first_carrier) as usize;
        let mut ended = false;
        loop {
            match self.carriers[index].work {
                Work::None => match self.take(kernel, index) {
                    Some(Entry::Expiry(task)) => {
                        // T-6: lazily, that is without waking anybody, onto the queue of this very carrier.
                        self.queues[index].push_back(Entry::Mount(task));
                        self.queued += 1;
                    }
                    Some(Entry::Mount(task)) => {
                        self.carriers[index].work = Work::Mounting(task);
                        let costs = &kernel.plan.costs;
                        let cost = if kernel.has_begun(task) { costs.vt_resume } else { costs.vt_first_run };
                        if kernel.busy(thread, cost, Activity::Overhead, task) {
                            return ended;
                        }
                    }
                    None => {
                        self.carriers[index].activated = false;
                        self.idle.push(thread);
                        self.carriers[index].work = Work::Spinning;
                        if kernel.busy(thread, kernel.plan.costs.vt_spin, Activity::Overhead, NO_TASK) {
                            return ended;
                        }
                    }
                },
                Work::Spinning => {
                    self.carriers[index].work = Work::None;
                    kernel.park(thread);
                    return ended;
                }
                Work::Mounting(task) => self.carriers[index].work = Work::Running(task),
                Work::Inserting { task, deadline } => {
                    self.timer.arm(kernel, deadline, task);
                    self.carriers[index].work = Work::None;
                }
                Work::Running(task) => match self.run(kernel, thread, index, task) {
                    Ran::Busy => return ended,
                    Ran::Unmounted => {}
                    Ran::Ended => ended = true,
                },
            }
        }
    }

    /// Runs the task until its carrier has to wait or is free again.
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
                Next::Io(ns, reason) => {
                    kernel.advance(task);
                    let pinned = self.is_pinned(kernel, task);
                    if ns == 0 && pinned {
                        continue;
                    }
                    if ns == 0 {
                        // T-7: `sleep(0)` is `yield`.
                        self.make_way(kernel, index, task);
                        return Ran::Unmounted;
                    }
                    if pinned {
                        // T-12, T-15: the freeze fails, and the carrier itself waits; nobody compensates.
                        kernel.task_held(task, TaskState::Blocked, Reason::Pinned);
                        kernel.block_for(thread, ns + kernel.plan.costs.sleep_lateness(ns), task);
                        return Ran::Busy;
                    }
                    return self.suspend_until(kernel, thread, index, task, kernel.now + ns, reason);
                }
                Next::Block(ns, _) => {
                    kernel.advance(task);
                    if ns > 0 {
                        kernel.task_held(task, TaskState::Blocked, Reason::BlockingCall);
                        kernel.block_for(thread, ns + kernel.plan.costs.sleep_lateness(ns), task);
                        return Ran::Busy;
                    }
                }
                Next::Lock(lock) => {
                    if let Some(number) = lock.shared
                        && !self.locks.acquire(number, task)
                    {
                        // T-13: to enter a monitor pins on 21 to 23; T-15: to wait for a class pins on every JDK.
                        let enters = lock.is_frame() || lock.is_scoped() && !self.monitors_unmount;
                        if enters || self.is_pinned(kernel, task) {
                            kernel.task_held(task, TaskState::LockWait, lock.kind.reason());
                            kernel.hold(thread, task);
                            return Ran::Busy;
                        }
                        kernel.task_suspended(task, TaskState::LockWait, lock.kind.reason());
                        self.carriers[index].work = Work::None;
                        return Ran::Unmounted;
                    }
                    kernel.entered(task, lock);
                    kernel.advance(task);
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
                    if let Some(heir) = lock.shared.and_then(|number| self.locks.release(number)) {
                        self.wake_waiter(kernel, index, heir, lock.kind == GuardKind::Monitor);
                    }
                }
                Next::Yield => {
                    kernel.advance(task);
                    if !self.is_pinned(kernel, task) {
                        self.make_way(kernel, index, task);
                        return Ran::Unmounted;
                    }
                }
                Next::Prepare => {
                    kernel.advance(task);
                    if kernel.busy(thread, kernel.plan.costs.vt_spawn, Activity::Overhead, task) {
                        return Ran::Busy;
                    }
                }
                Next::Spawn(child) => {
                    kernel.advance(task);
                    kernel.task_submitted(child);
                    // T-1: from a virtual thread of JDK 25 onto an outside queue, before that onto its carrier's own.
                    let queue = if self.jdk >= 25 { self.carriers.len() } else { index };
                    self.push(kernel, queue, Entry::Mount(child));
                }
                Next::Join => {
                    if !kernel.joined(task) {
                        // T-18: `Thread.join` parks.
                        if self.is_pinned(kernel, task) {
                            kernel.task_held(task, TaskState::Blocked, Reason::Children);
                            kernel.hold(thread, task);
                            return Ran::Busy;
                        }
                        kernel.task_suspended(task, TaskState::Waiting, Reason::Children);
                        self.carriers[index].work = Work::None;
                        return Ran::Unmounted;
                    }
                    kernel.advance(task);
                }
            }
        }
        if let Some(parent) = kernel.task_done(task) {
            self.wake_waiter(kernel, index, parent, false);
        }
        self.carriers[index].work = Work::None;
        Ran::Ended
    }

    /// T-12, T-15: whether something on its stack keeps the task on its carrier.
    fn is_pinned(&self, kernel: &Kernel, task: u32) -> bool {
        let tasks = &kernel.tasks;
        tasks.frames[task as usize] > 0 || tasks.scopes[task as usize] > 0 && !self.monitors_unmount
    }

    /// T-8: to the end of the carrier's own queue, or of an outside one if that is empty.
    fn make_way(&mut self, kernel: &mut Kernel, index: usize, task: u32) {
        kernel.task_suspended(task, TaskState::Queued, Reason::Yielded);
        self.carriers[index].work = Work::None;
        let queue = if self.queues[index].is_empty() { self.carriers.len() } else { index };
        self.push(kernel, queue, Entry::Mount(task));
    }

    /// The task waits without its carrier; where its deadline goes depends on the JDK.
    fn suspend_until(
        &mut self,
        kernel: &mut Kernel,
        thread: u32,
        index: usize,
        task: u32,
        deadline: u64,
        reason: Reason,
    ) -> Ran {
        kernel.task_suspended(task, TaskState::Waiting, reason);
        if self.monitors_unmount {
            // T-10: after the yield, through a pending stack without a lock.
            self.timer.hand_over(kernel, deadline, task);
            self.carriers[index].work = Work::None;
            return Ran::Unmounted;
        }
        // T-9: before the yield, under the lock of the one scheduled executor.
        self.carriers[index].work = Work::Inserting { task, deadline };
        let cost = self.timer.under_lock(kernel.now, kernel.plan.costs.vt_timer_insert);
        if kernel.busy(thread, cost, Activity::Overhead, task) { Ran::Busy } else { Ran::Unmounted }
    }

    /// What the task waits for has come: a lock, of which it is next, or the end of what it has spawned.
    fn wake_waiter(&mut self, kernel: &mut Kernel, index: usize, task: u32, monitor: bool) {
        let holds = kernel.tasks.worker[task as usize];
        if holds != crate::recording::NO_WORKER {
            kernel.wake(holds);
        } else if monitor {
            // T-14: the unblocker thread resubmits it.
            self.to_unblock.push_back(task);
            if kernel.is_parked(self.unblocker) {
                kernel.wake(self.unblocker);
            }
        } else {
            // T-6: unparked by a green thread of this scheduler, so onto the queue of its carrier.
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            self.push(kernel, index, Entry::Mount(task));
        }
    }

    fn resume_timer(&mut self, kernel: &mut Kernel) {
        let costs = &kernel.plan.costs;
        let (insert, fire) = (costs.vt_timer_insert, costs.vt_timer_fire);
        let locked = !self.monitors_unmount;
        while let Some(task) = self.timer.resume(kernel, insert, locked, fire) {
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            let entry = if self.monitors_unmount { Entry::Expiry(task) } else { Entry::Mount(task) };
            self.push(kernel, self.carriers.len() + 1, entry);
        }
    }

    fn resume_unblocker(&mut self, kernel: &mut Kernel) {
        loop {
            if let Some(task) = self.unblocking.take() {
                kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
                self.push(kernel, self.carriers.len() + 2, Entry::Mount(task));
            }
            self.unblocking = self.to_unblock.pop_front();
            if self.unblocking.is_none() {
                kernel.park(self.unblocker);
                return;
            }
            if kernel.busy(self.unblocker, kernel.plan.costs.vt_unblock, Activity::Overhead, NO_TASK) {
                return;
            }
        }
    }
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ran {
    /// The carrier works or waits.
    Busy,
    /// The task has left its carrier.
    Unmounted,
    /// The task has ended.
    Ended,
}
