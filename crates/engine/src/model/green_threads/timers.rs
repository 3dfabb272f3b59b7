//! The threads beside the carriers: those that fire deadlines (T-9, T-10) and the one that hands monitors over (T-14).

use std::collections::VecDeque;

use super::Pool;
use super::carriers::{Carriers, Entry, Work};
use super::run::Ran;
use crate::kernel::Kernel;
use crate::recording::NO_TASK;
use crate::state::{Activity, Reason, Role, TaskState};
use crate::timer::Timer;

/// The timer threads, and which of them has the deadline of which task.
#[derive(Clone, Debug)]
pub(super) struct Timers {
    list: Vec<Timer>,
    /// By task; empty where there is one timer thread.
    of_task: Vec<u8>,
}

impl Timers {
    pub(super) fn new(kernel: &mut Kernel, name: impl Fn(usize) -> String, count: usize) -> Self {
        let tasks = if count > 1 { kernel.plan.tasks as usize } else { 0 };
        Self { list: (0..count).map(|index| Timer::new(kernel, &name(index))).collect(), of_task: vec![0; tasks] }
    }

    /// The timer thread that this thread is.
    pub(super) fn position(&self, thread: u32) -> Option<usize> {
        self.list.iter().position(|timer| timer.thread == thread)
    }

    fn of_task(&self, task: u32) -> usize {
        self.of_task.get(task as usize).copied().map_or(0, usize::from)
    }

    /// The deadline of a task has passed.
    pub(super) fn expire(&mut self, kernel: &mut Kernel, task: u32) {
        let timer = self.of_task(task);
        self.list[timer].expire(kernel, kernel.now, task);
    }

    /// The carrier has put the deadline in.
    pub(super) fn arm(&mut self, kernel: &mut Kernel, deadline: u64, task: u32) {
        let timer = self.of_task(task);
        self.list[timer].arm(kernel, deadline, task);
    }
}

/// The thread that resubmits green threads which may take a monitor, and what it has to do (JDK 24 and later).
#[derive(Clone, Debug)]
pub(super) struct Unblocker {
    pub(super) thread: u32,
    current: Option<u32>,
    waiting: VecDeque<u32>,
}

impl Unblocker {
    pub(super) fn new(kernel: &mut Kernel, exists: bool) -> Self {
        let name = || "VirtualThread-unblocker".to_owned();
        let thread = if exists { kernel.add_parked_thread(Role::Unblocker, name()) } else { u32::MAX };
        Self { thread, current: None, waiting: VecDeque::new() }
    }

    /// The task may take the monitor that it waits for.
    pub(super) fn hand_over(&mut self, kernel: &mut Kernel, task: u32) {
        self.waiting.push_back(task);
        if kernel.is_parked(self.thread) {
            kernel.wake(self.thread);
        }
    }
}

impl Pool {
    /// The task waits without its carrier until `deadline`.
    pub(super) fn suspend_until(
        &mut self,
        kernel: &mut Kernel,
        thread: u32,
        index: usize,
        task: u32,
        deadline: u64,
        reason: Reason,
    ) -> Ran {
        kernel.task_suspended(task, TaskState::Waiting, reason);
        let timers = &mut self.timers;
        if self.rules.delay_scheduler() {
            // T-10: through a pending stack without a lock.
            timers.list[0].hand_over(kernel, deadline, task);
            self.carriers.list[index].work = Work::None;
            return Ran::Unmounted;
        }
        // T-9: under the lock of a scheduled executor; on JDK 24 the number of the carrier, which runs `afterYield`,
        // says which.
        let timer = index & (timers.list.len() - 1);
        if let Some(of_task) = timers.of_task.get_mut(task as usize) {
            *of_task = timer as u8;
        }
        self.carriers.list[index].work = Work::Inserting { task, deadline };
        let cost = timers.list[timer].under_lock(kernel.now, kernel.plan.costs.vt_timer_insert);
        if kernel.work(thread, cost, Activity::Overhead, task) { Ran::Busy } else { Ran::Unmounted }
    }

    #[allow(clippy::inline_always, reason = "a part of the loop over events")]
    #[inline(always)]
    pub(super) fn resume_timer(&mut self, kernel: &mut Kernel, timer: usize) {
        let costs = &kernel.plan.costs;
        let (insert, fire) = (costs.vt_timer_insert, costs.vt_timer_fire);
        let on_carriers = self.rules.delay_scheduler();
        while let Some(task) = self.timers.list[timer].resume(kernel, insert, !on_carriers, fire) {
            kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
            let entry = if on_carriers { Entry::Expiry(task) } else { Entry::Mount(task) };
            self.carriers.push(kernel, Carriers::of_timer(timer), entry);
        }
    }

    pub(super) fn resume_unblocker(&mut self, kernel: &mut Kernel) {
        loop {
            if let Some(task) = self.unblocker.current.take() {
                kernel.task_suspended(task, TaskState::Queued, Reason::Resumed);
                self.carriers.push(kernel, self.carriers.of_unblocker(), Entry::Mount(task));
            }
            self.unblocker.current = self.unblocker.waiting.pop_front();
            if self.unblocker.current.is_none() {
                kernel.park(self.unblocker.thread);
                return;
            }
            if kernel.work(self.unblocker.thread, kernel.plan.costs.vt_unblock, Activity::Overhead, NO_TASK) {
                return;
            }
        }
    }
}
