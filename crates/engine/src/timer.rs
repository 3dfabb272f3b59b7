//! A runtime's timer thread: puts deadlines in, sleeps until the first, and fires them one after the other.
//!
//! Used by green threads (one `ScheduledThreadPoolExecutor` thread on JDK 21, T-9; one `DelayScheduler` thread on
//! JDK 25, T-10) and by coroutines (`DefaultExecutor`, K-8). What firing does is the model's business.

use std::collections::VecDeque;

use crate::kernel::Kernel;
use crate::queue::Event;
use crate::recording::NO_TASK;
use crate::state::{Activity, Reason, Role, TaskState};

/// What the timer thread is in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Work {
    None,
    Inserting { deadline: u64, task: u32 },
    Firing { task: u32 },
}

/// The timer thread with its heap.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    pub(crate) thread: u32,
    /// Handed over and not yet in the heap (JDK 25).
    pending: VecDeque<(u64, u32)>,
    /// In the heap, and the deadline has passed: (deadline, task), the earliest first and in order of arrival.
    due: VecDeque<(u64, u32)>,
    /// [ns] When the lock around the heap is free again (JDK 21, `DefaultExecutor`).
    lock_free_at: u64,
    work: Work,
}

impl Timer {
    pub(crate) fn new(kernel: &mut Kernel, name: &str) -> Self {
        Self {
            thread: kernel.add_parked_thread(Role::Timer, name.to_owned()),
            pending: VecDeque::new(),
            due: VecDeque::new(),
            lock_free_at: 0,
            work: Work::None,
        }
    }

    /// [ns] How long a caller works to change the heap under its lock: the wait for the lock and its own `cost`.
    pub(crate) fn under_lock(&mut self, now: u64, cost: u64) -> u64 {
        self.lock_free_at = self.lock_free_at.max(now) + cost;
        self.lock_free_at - now
    }

    /// The deadline goes into the hands of the timer thread, which puts it into its heap itself (T-10).
    pub(crate) fn hand_over(&mut self, kernel: &mut Kernel, deadline: u64, task: u32) {
        self.pending.push_back((deadline, task));
        if kernel.is_parked(self.thread) {
            kernel.wake(self.thread);
        }
    }

    /// The deadline is in the heap.
    pub(crate) fn arm(&mut self, kernel: &mut Kernel, deadline: u64, task: u32) {
        if deadline > kernel.now {
            kernel.queue.push_late(deadline, Event::Deadline(task));
        } else {
            self.expire(kernel, deadline, task);
        }
    }

    /// The deadline has passed: the timer thread wakes, as late as a timed park does, or gets to it when it can.
    pub(crate) fn expire(&mut self, kernel: &mut Kernel, deadline: u64, task: u32) {
        match self.due.back() {
            // Deadlines nearly always pass one after the other.
            Some(&(last, _)) if deadline < last => {
                let at = self.due.partition_point(|&(other, _)| other <= deadline);
                self.due.insert(at, (deadline, task));
            }
            _ => self.due.push_back((deadline, task)),
        }
        if kernel.is_parked(self.thread) {
            kernel.wake_after(self.thread, kernel.plan.costs.timer_lateness);
        } else {
            kernel.task_suspended(task, TaskState::Waiting, Reason::TimerBacklog);
        }
    }

    /// The timer thread is on a core and has nothing to do. Returns the task whose expiry it has finished.
    ///
    /// It drains what has been handed over before it fires anything (`DelayScheduler`). `fire_cost` is what an expiry
    /// costs as things stand now; with `locked` the heap's lock is held meanwhile.
    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    pub(crate) fn resume(
        &mut self,
        kernel: &mut Kernel,
        insert_cost: u64,
        locked: bool,
        fire_cost: u64,
    ) -> Option<u32> {
        loop {
            match std::mem::replace(&mut self.work, Work::None) {
                Work::Inserting { deadline, task } => self.arm(kernel, deadline, task),
                Work::Firing { task } => return Some(task),
                Work::None => {}
            }
            let cost = if let Some((deadline, task)) = self.pending.pop_front() {
                self.work = Work::Inserting { deadline, task };
                insert_cost
            } else if let Some((_, task)) = self.due.pop_front() {
                self.work = Work::Firing { task };
                if locked { self.under_lock(kernel.now, fire_cost) } else { fire_cost }
            } else {
                kernel.park(self.thread);
                return None;
            };
            if kernel.work(self.thread, cost, Activity::Overhead, NO_TASK) {
                return None;
            }
        }
    }
}
