//! The operating system: threads share the cores, in slices where there are more of them than cores (P-3).
//!
//! Modelled: one run queue for all cores, ordered by CPU time received (ties: first come, first served); a slice that
//! ends at a tick; a waking thread that preempts the running thread with the latest virtual deadline, if its own is
//! earlier; the core's time for each switch. Not modelled: priorities, affinity, migration, caches, SMT.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::kernel::{Kernel, NEVER, Status, Thread};
use crate::queue::Event;
use crate::recording::NO_TASK;
use crate::state::{Activity, Reason, TaskState};

/// Stands for "no thread".
const NOBODY: u32 = u32::MAX;

/// A thread that has a core.
#[derive(Clone, Copy, Debug)]
struct Running {
    /// [ns] The clock less its CPU time, which stays as it is while it has its core.
    behind: u64,
    thread: u32,
}

/// Who has a core and who wants one.
#[derive(Clone, Debug)]
pub(crate) struct Os {
    cores: usize,
    /// Threads on cores, in no order.
    running: Vec<Running>,
    /// [ns] The most that one of them is behind; 0 if no thread has a core.
    furthest_behind: u64,
    /// Threads without a core: (CPU time, arrival, thread).
    waiting: BinaryHeap<Reverse<(u64, u64, u32)>>,
    arrivals: u64,
    /// [ns] CPU time below which no thread is placed, so that sleep saves nobody up.
    min_vruntime: u64,
    slice_armed: bool,
    /// Threads that have got a core and wait for the model to say what to do with it: the first, or [`NOBODY`], and those
    /// after it.
    first_ready: u32,
    ready: VecDeque<u32>,
}

impl Os {
    pub(crate) fn new(cores: u32) -> Self {
        Self {
            cores: cores as usize,
            running: Vec::new(),
            furthest_behind: 0,
            waiting: BinaryHeap::new(),
            arrivals: 0,
            min_vruntime: 0,
            slice_armed: false,
            first_ready: NOBODY,
            ready: VecDeque::new(),
        }
    }

    pub(crate) fn has_free_core(&self) -> bool {
        self.running.len() < self.cores
    }

    /// How often a thread has had to wait for a core.
    pub(crate) fn times_without_core(&self) -> u64 {
        self.arrivals
    }

    /// The model must be asked about the thread, which has a core.
    pub(crate) fn make_ready(&mut self, thread: u32) {
        // Nearly always there is only one.
        if self.first_ready == NOBODY {
            self.first_ready = thread;
        } else {
            self.ready.push_back(thread);
        }
    }

    /// Whether the model need not be asked about any other thread now.
    #[inline]
    pub(crate) fn nobody_is_ready(&self) -> bool {
        self.first_ready == NOBODY
    }

    fn find_furthest_behind(&mut self) {
        self.furthest_behind = self.running.iter().map(|other| other.behind).max().unwrap_or(0);
    }

    /// The next thread that the model must be asked about.
    #[inline]
    pub(crate) fn pop_ready(&mut self) -> Option<u32> {
        let first = self.first_ready;
        if first == NOBODY {
            return None;
        }
        self.first_ready = self.ready.pop_front().unwrap_or(NOBODY);
        Some(first)
    }
}

impl Kernel {
    /// Handles [`Event::BurstEnd`]; a burst that was preempted meanwhile is ignored. Returns whether the thread is ready.
    #[must_use]
    #[inline]
    pub(crate) fn burst_end(&mut self, thread: u32) -> bool {
        let now = self.now;
        let state = self.thread_mut(thread);
        if state.status != Status::OnCore || state.burst_end != now {
            return false;
        }
        state.burst_end = NEVER;
        if state.switching {
            state.switching = false;
            if state.remaining > 0 {
                self.resume_burst(thread);
                return false;
            }
        }
        true
    }

    /// The thread wants a core now.
    #[inline]
    pub(crate) fn make_runnable(&mut self, thread: u32) {
        // Whether a core is free or not: a thread that was away must not make up for it later.
        self.raise_min_vruntime();
        let min = self.os.min_vruntime;
        let state = self.thread_mut(thread);
        state.vruntime = state.vruntime.max(min);
        if self.os.has_free_core() {
            self.take_core(thread);
        } else {
            self.contend(thread);
        }
    }

    /// Every core is taken: the thread preempts another one, or waits.
    #[inline(never)]
    fn contend(&mut self, thread: u32) {
        if self.os.waiting.is_empty() {
            self.renew_slices();
        }
        if let Some(victim) = self.victim_for(thread) {
            self.preempt(victim);
            self.take_core(thread);
        } else {
            self.enqueue(thread);
        }
    }

    /// `sched_yield`, called by the task: lets the thread go first that has waited longest for CPU time. `false` if none waits.
    #[must_use]
    pub(crate) fn yield_core(&mut self, thread: u32, task: u32) -> bool {
        let Some(&Reverse((vruntime, _, next))) = self.os.waiting.peek() else { return false };
        self.voluntary_switches += 1;
        self.release(thread, Status::RunQueue);
        self.os.waiting.pop();
        // It falls behind the one that goes first, as the virtual deadline of a thread that yields does.
        let state = self.thread_mut(thread);
        state.vruntime = state.vruntime.max(vruntime);
        state.task = task;
        self.enqueue(thread);
        self.task_held(task, TaskState::Preempted, Reason::Yielded);
        self.take_core(next);
        true
    }

    /// The thread gives its core up; whoever has waited longest for CPU time gets it.
    #[inline]
    pub(crate) fn leave_core(&mut self, thread: u32, status: Status) {
        self.release(thread, status);
        if !self.os.waiting.is_empty()
            && let Some(Reverse((_, _, next))) = self.os.waiting.pop()
        {
            self.take_core(next);
        }
    }

    /// Handles [`Event::SliceEnd`].
    pub(crate) fn slice_end(&mut self) {
        self.os.slice_armed = false;
        let mut over: Vec<(u64, u32)> = Vec::new();
        for &Running { thread, .. } in &self.os.running {
            if self.slice_over_at(thread) <= self.now {
                over.push((self.thread(thread).slice_start, thread));
            }
        }
        over.sort_unstable();
        for (_, thread) in over {
            let Some(&Reverse((vruntime, _, next))) = self.os.waiting.peek() else { break };
            self.account(thread);
            self.thread_mut(thread).slice_start = self.now;
            if self.thread(thread).burst_end != NEVER && vruntime < self.thread(thread).vruntime {
                self.os.waiting.pop();
                self.preempt(thread);
                self.take_core(next);
            }
        }
        self.arm_slice();
    }

    #[inline]
    fn take_core(&mut self, thread: u32) {
        let now = self.now;
        let state = &mut self.threads[thread as usize];
        let mut cost = self.plan.costs.context_switch;
        if state.slept {
            state.slept = false;
            cost += self.plan.costs.sleep_cpu;
        }
        state.status = Status::OnCore;
        state.slice_start = now;
        state.accounted_at = now;
        state.position = self.os.running.len() as u32;
        debug_assert!(state.vruntime <= now, "nobody has had more CPU time than there was");
        let behind = now - state.vruntime;
        self.os.running.push(Running { behind, thread });
        self.os.furthest_behind = self.os.furthest_behind.max(behind);
        if cost > 0 {
            state.switching = true;
            state.burst_end = now + cost;
            state.record(&mut self.recorder, now, thread, Activity::Overhead, state.task);
            self.queue.push(now + cost, Event::BurstEnd(thread));
        } else if state.remaining == 0 {
            self.os.make_ready(thread);
        } else {
            self.resume_burst(thread);
        }
        self.arm_slice();
    }

    /// The thread goes on with what a preemption interrupted.
    #[cold]
    fn resume_burst(&mut self, thread: u32) {
        let now = self.now;
        let state = self.thread_mut(thread);
        state.burst_end = now + state.remaining;
        state.remaining = 0;
        let (end, activity, task) = (state.burst_end, state.burst, state.task);
        self.record_thread(thread, activity, task);
        // A preempted task was running, be it its own code or the scheduler's on its behalf.
        if activity == Activity::Running || self.holds(thread, task) && self.state(task) == TaskState::Preempted {
            self.task_running(task, thread);
        }
        self.queue.push(end, Event::BurstEnd(thread));
    }

    /// Whether the task is on this thread: work on behalf of one that is queued may go on when another thread has it.
    fn holds(&self, thread: u32, task: u32) -> bool {
        task != NO_TASK && self.task(task).worker == thread
    }

    fn preempt(&mut self, thread: u32) {
        let now = self.now;
        self.involuntary_switches += 1;
        let state = self.thread_mut(thread);
        if state.switching {
            // The switch has to be made again; what was left of the burst before it still is.
            state.switching = false;
        } else {
            state.remaining = state.burst_end - now;
        }
        state.burst_end = NEVER;
        self.release(thread, Status::RunQueue);
        self.enqueue(thread);
    }

    #[inline]
    fn release(&mut self, thread: u32, status: Status) {
        let now = self.now;
        let state = &mut self.threads[thread as usize];
        state.account(now);
        state.status = status;
        let (place, vruntime) = (state.position, state.vruntime);
        if self.os.running.swap_remove(place as usize).behind == self.os.furthest_behind {
            self.os.find_furthest_behind();
        }
        if let Some(&Running { thread: moved, .. }) = self.os.running.get(place as usize) {
            self.thread_mut(moved).position = place;
        }
        if self.os.running.is_empty() && self.os.waiting.is_empty() {
            self.os.min_vruntime = self.os.min_vruntime.max(vruntime);
        }
    }

    fn enqueue(&mut self, thread: u32) {
        if self.os.waiting.is_empty() {
            self.renew_slices();
        }
        let arrival = self.os.arrivals;
        self.os.arrivals += 1;
        let state = self.thread_mut(thread);
        state.status = Status::RunQueue;
        let (vruntime, task) = (state.vruntime, state.task);
        self.os.waiting.push(Reverse((vruntime, arrival, thread)));
        self.record_thread(thread, Activity::Preempted, task);
        if self.holds(thread, task) && matches!(self.state(task), TaskState::Running | TaskState::Blocked) {
            self.task_held(task, TaskState::Preempted, Reason::NoCore);
        }
        self.arm_slice();
    }

    /// The running thread with the latest virtual deadline, if that is later than this thread's.
    fn victim_for(&self, thread: u32) -> Option<u32> {
        if self.plan.costs.base_slice == 0 {
            return None;
        }
        let mine = self.thread(thread).vruntime;
        // All slices are equally long, so the latest deadline is the latest virtual start of a slice.
        let start = |other: u32| {
            let state = self.thread(other);
            (state.vruntime + state.slice_start).saturating_sub(state.accounted_at)
        };
        // A thread without a burst is just being asked what it does next.
        let bursting =
            self.os.running.iter().map(|other| other.thread).filter(|&other| self.thread(other).burst_end != NEVER);
        let latest = bursting.max_by_key(|&other| (start(other), other))?;
        (mine < start(latest)).then_some(latest)
    }

    /// [ns] How far the thread's CPU time is ahead of the least that a thread is given credit for.
    pub(crate) fn lead_of(&self, thread: u32) -> u64 {
        let state = self.thread(thread);
        (state.vruntime + (self.now - state.accounted_at)).saturating_sub(self.os.min_vruntime)
    }

    /// Adds the CPU time since the last account.
    fn account(&mut self, thread: u32) {
        let now = self.now;
        self.thread_mut(thread).account(now);
    }

    /// While nobody waited, slices have ended and begun again unnoticed: each thread is in the middle of one.
    fn renew_slices(&mut self) {
        let (now, slice) = (self.now, self.plan.costs.base_slice);
        if slice == 0 {
            return;
        }
        for index in 0..self.os.running.len() {
            let thread = self.os.running[index].thread;
            self.account(thread);
            let state = self.thread_mut(thread);
            state.slice_start += (now - state.slice_start) / slice * slice;
        }
    }

    /// No thread that wakes is placed below the least CPU time of those that run or wait.
    #[inline]
    fn raise_min_vruntime(&mut self) {
        let waiting = self.os.waiting.peek().map(|&Reverse((vruntime, _, _))| vruntime);
        let least = match (self.os.running.is_empty(), waiting) {
            (true, None) => return,
            (true, Some(waiting)) => waiting,
            (false, None) => self.now - self.os.furthest_behind,
            (false, Some(waiting)) => waiting.min(self.now - self.os.furthest_behind),
        };
        self.os.min_vruntime = self.os.min_vruntime.max(least);
    }

    /// [ns] When the OS notices that the thread's slice is over.
    fn slice_over_at(&self, thread: u32) -> u64 {
        let (slice, tick) = (self.plan.costs.base_slice, self.plan.costs.tick);
        let end = self.thread(thread).slice_start + slice;
        if tick == 0 { end } else { end.div_ceil(tick) * tick }
    }

    #[inline]
    fn arm_slice(&mut self) {
        if !self.os.waiting.is_empty() && !self.os.slice_armed && self.plan.costs.base_slice > 0 {
            self.arm_next_slice();
        }
    }

    fn arm_next_slice(&mut self) {
        if let Some(first) = self.os.running.iter().map(|other| self.slice_over_at(other.thread)).min() {
            self.os.slice_armed = true;
            self.queue.push(first.max(self.now + 1), Event::SliceEnd);
        }
    }
}

impl Thread {
    /// Adds the CPU time since the last account.
    #[inline]
    fn account(&mut self, now: u64) {
        self.vruntime += now - self.accounted_at;
        self.accounted_at = now;
    }
}
