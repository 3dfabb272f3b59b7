//! What every model stands on: the clock, the tasks' states, the records, and the calls by which a thread works,
//! waits and parks. Which thread has a core is decided in `os`; what a thread does next is the model's business.
//!
//! A model is a state machine per thread. The kernel calls `resume` when a thread is on a core and has nothing to
//! do; the model answers with `busy`, `work`, `block_for`, `hold`, `park` or `park_until`.

use std::collections::VecDeque;

use crate::alive::Alive;
use crate::arena::Arena;
use crate::detect::{RetryLog, Standstill};
use crate::os::Os;
use crate::plan::Plan;
use crate::queue::{Event, EventQueue};
use crate::recorder::Recorder;
use crate::recording::{NO_TASK, NO_WORKER, ThreadInfo, ThreadTag};
use crate::state::{Activity, Reason, Role, TaskState};
use crate::submissions::{Arrivals, Submissions};
use crate::tasks::Tasks;

/// Stands for "no burst" and "no timed wake".
pub(crate) const NEVER: u64 = u64::MAX;

/// [ns] Time at which a run is given up: tasks that try their locks for ever, each time after much work.
pub(crate) const MAX_CLOCK: u64 = u64::MAX / 2;

/// Where a thread is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// Not created.
    Absent,
    /// Idle until somebody wakes it.
    Parked,
    /// Waits for a time, or until somebody wakes it, and holds a task.
    Blocked,
    /// Woken, not yet at a core.
    Waking,
    /// Wants a core; all are taken.
    RunQueue,
    /// Has a core.
    OnCore,
}

/// An OS thread, of the size of a cache line.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) status: Status,
    /// The task it works for, or [`NO_TASK`].
    pub(crate) task: u32,
    /// It has slept, for which its next switch onto a core costs more.
    pub(crate) slept: bool,
    /// [ns] End of the burst in progress, or [`NEVER`].
    pub(crate) burst_end: u64,
    /// What the burst is, to be recorded again after a preemption.
    pub(crate) burst: Activity,
    /// [ns] What a preemption left of the burst.
    pub(crate) remaining: u64,
    /// The burst in progress is the switch itself.
    pub(crate) switching: bool,
    /// [ns] CPU time up to `accounted_at`, for fairness.
    pub(crate) vruntime: u64,
    pub(crate) accounted_at: u64,
    /// [ns] Start of the current slice.
    pub(crate) slice_start: u64,
    /// Position in the list of running threads.
    pub(crate) position: u32,
    /// [ns] End of a limited park, or [`NEVER`].
    pub(crate) wake_at: u64,
    last_tag: u32,
}

const _: () = assert!(size_of::<Thread>() == 64);

/// The common part of every simulation.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// [ns] The clock.
    pub(crate) now: u64,
    pub(crate) plan: Plan,
    pub(crate) tasks: Tasks,
    pub(crate) threads: Vec<Thread>,
    pub(crate) thread_info: Vec<ThreadInfo>,
    /// Threads that exist for the OS, now and at the peak.
    pub(crate) alive: Alive,
    pub(crate) queue: EventQueue,
    /// Events that may still be processed before it is looked at how the run stands.
    pub(crate) left: u64,
    pub(crate) os: Os,
    pub(crate) submissions: Submissions,
    /// Tasks that have arrived and have not been submitted.
    pub(crate) inbox: VecDeque<u32>,
    /// [ns] The time of the next [`Event::Arrival`], or [`NEVER`].
    arrival_at: u64,
    /// The thread that submits, where it is parked because nothing has arrived.
    awaits_arrival: Option<u32>,
    /// Steps that tasks have begun for the first time, where tasks try locks.
    pub(crate) progress: u64,
    /// Locks that tasks have tried in vain since the last of these.
    pub(crate) retry_log: RetryLog,
    /// Context switches and waits for a core up to the last of these.
    pub(crate) switches_at_retry: [u64; 3],
    /// The longest time in which no ready task was given a worker.
    pub(crate) standstill: Standstill,
    pub(crate) recorder: Recorder,
    /// Tasks that have ended.
    pub(crate) done: u32,
    /// Tasks submitted and not ended, now and at the peak.
    pub(crate) live: u32,
    pub(crate) live_peak: u32,
    /// Tasks started and not ended, now and at the peak.
    pub(crate) started: u32,
    pub(crate) started_peak: u32,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) finished: bool,
}

impl Kernel {
    /// A run that has not begun, in the memory of others.
    pub(crate) fn new(plan: Plan, arena: &mut Arena) -> Self {
        let Arena { tasks, mut threads, queue, mut inbox, task_records, thread_records } = std::mem::take(arena);
        threads.clear();
        inbox.clear();
        let mut kernel = Self {
            now: 0,
            submissions: plan.submissions(),
            inbox,
            tasks: Tasks::new(&plan, tasks),
            arrival_at: NEVER,
            awaits_arrival: None,
            progress: 0,
            retry_log: RetryLog::default(),
            standstill: Standstill::default(),
            switches_at_retry: [0; 3],
            threads,
            thread_info: Vec::new(),
            alive: Alive::default(),
            queue: queue.cleared(),
            left: 0,
            os: Os::new(plan.cores),
            recorder: Recorder::expecting(plan.tasks, [task_records, thread_records]),
            done: 0,
            live: 0,
            live_peak: 0,
            started: 0,
            started_peak: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            finished: false,
            plan,
        };
        kernel.arrive();
        kernel
    }

    // Arrivals.

    /// Handles [`Event::Arrival`]: whatever is due has arrived. Where arrivals take time, each leaves a record, for
    /// response times count from it; where all come at once, they count from the submission.
    pub(crate) fn arrive(&mut self) {
        if self.arrival_at > self.now && self.arrival_at != NEVER {
            return;
        }
        self.arrival_at = NEVER;
        while let Some(task) = self.submissions.next_by(self.now) {
            self.inbox.push_back(task);
            if self.takes_time_to_arrive(task) {
                self.set_task(task, TaskState::Pending, Reason::Arrived, NO_WORKER);
            }
        }
        self.arm_arrival();
        if !self.inbox.is_empty()
            && let Some(thread) = self.awaits_arrival.take()
            && self.is_parked(thread)
        {
            self.wake_after(thread, 0);
        }
    }

    fn takes_time_to_arrive(&self, task: u32) -> bool {
        let arrivals = match &self.plan.mix {
            Some(mix) => &mix.arrivals,
            None => &self.plan.classes[self.class_index(task)].arrivals,
        };
        *arrivals != Arrivals::AtOnce
    }

    /// Sees to it that the next arrival is noticed when it is due.
    pub(crate) fn arm_arrival(&mut self) {
        if let Some(due) = self.submissions.due().filter(|&due| due < self.arrival_at) {
            self.arrival_at = due;
            self.queue.push_late(due.max(self.now), Event::Arrival);
        }
    }

    /// The submitting thread has nothing to submit: it parks until something arrives.
    pub(crate) fn await_arrival(&mut self, thread: u32) {
        self.awaits_arrival = Some(thread);
        self.park(thread);
    }

    /// The next task to submit, if one has arrived.
    pub(crate) fn next_arrived(&mut self) -> Option<u32> {
        self.inbox.pop_front()
    }

    /// [ns] When the next task arrives, as far as that is known; `None` after the last.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.submissions.due()
    }

    /// Whether no task is on its way to the submitter, and none will be unless another one ends.
    pub(crate) fn nothing_arrives(&self) -> bool {
        self.inbox.is_empty() && self.submissions.due().is_none()
    }

    // Threads.

    /// A new thread that does not exist yet for the OS.
    pub(crate) fn add_thread(&mut self, role: Role, name: String) -> u32 {
        let thread = Thread {
            status: Status::Absent,
            task: NO_TASK,
            burst_end: NEVER,
            slept: false,
            burst: Activity::Absent,
            remaining: 0,
            switching: false,
            vruntime: 0,
            accounted_at: 0,
            slice_start: 0,
            position: 0,
            wake_at: NEVER,
            last_tag: ThreadTag { activity: Activity::Absent, task: NO_TASK }.pack(),
        };
        self.threads.push(thread);
        self.thread_info.push(ThreadInfo { role, name });
        self.threads.len() as u32 - 1
    }

    /// A new thread that exists and is parked.
    pub(crate) fn add_parked_thread(&mut self, role: Role, name: String) -> u32 {
        let thread = self.add_thread(role, name);
        self.born_parked(thread);
        thread
    }

    pub(crate) fn thread(&self, thread: u32) -> &Thread {
        &self.threads[thread as usize]
    }

    pub(crate) fn thread_mut(&mut self, thread: u32) -> &mut Thread {
        &mut self.threads[thread as usize]
    }

    pub(crate) fn is_parked(&self, thread: u32) -> bool {
        self.thread(thread).status == Status::Parked
    }

    /// The thread works on its core for `ns`. `false` if that is no time at all and the model may go on at once.
    #[must_use]
    pub(crate) fn busy(&mut self, thread: u32, ns: u64, activity: Activity, task: u32) -> bool {
        if ns == 0 {
            return false;
        }
        self.busy_event(thread, ns, activity, task);
        true
    }

    /// Like `busy`, where the caller goes on as it would if it were asked at the end: if nothing else happens until then,
    /// the clock is there at once, and this is `false` as well.
    #[must_use]
    #[inline]
    pub(crate) fn work(&mut self, thread: u32, ns: u64, activity: Activity, task: u32) -> bool {
        ns > 0 && self.work_event(thread, ns, activity, task)
    }

    /// Like `work`, but after no time at all others get their turn first.
    #[must_use]
    pub(crate) fn work_event(&mut self, thread: u32, ns: u64, activity: Activity, task: u32) -> bool {
        let end = self.now + ns;
        let alone = end < self.queue.next_time_or_max() && self.os.nobody_is_ready();
        if !alone || self.left == 0 || self.retry_log.due || end > MAX_CLOCK {
            self.busy_event(thread, ns, activity, task);
            return true;
        }
        self.begin(thread, ns, activity, task);
        self.left -= 1;
        self.now = end;
        false
    }

    /// Like `busy`, but even no time at all passes through the event queue, so that others get their turn.
    pub(crate) fn busy_event(&mut self, thread: u32, ns: u64, activity: Activity, task: u32) {
        let end = self.now + ns;
        let state = self.begin(thread, ns, activity, task);
        state.burst = activity;
        state.burst_end = end;
        self.queue.push(end, Event::BurstEnd(thread));
    }

    /// The thread begins to work for the task.
    #[inline]
    fn begin(&mut self, thread: u32, ns: u64, activity: Activity, task: u32) -> &mut Thread {
        let state = &mut self.threads[thread as usize];
        debug_assert_eq!(state.status, Status::OnCore);
        state.task = task;
        if ns > 0 {
            state.record(&mut self.recorder, self.now, thread, activity, task);
        }
        state
    }

    /// The thread sleeps with its task for `ns`, and a little longer as every sleep does, and gives its core up meanwhile.
    pub(crate) fn block_for(&mut self, thread: u32, task: u32, ns: u64, reason: Reason) {
        self.hold(thread, task, TaskState::Blocked, reason);
        self.thread_mut(thread).slept = true;
        let end = self.now + ns + self.plan.costs.sleep_lateness(ns);
        self.queue.push_late(end, Event::Runnable(thread));
    }

    /// The thread waits with its task until somebody wakes it; see [`Self::wake_holder`].
    pub(crate) fn hold(&mut self, thread: u32, task: u32, state: TaskState, reason: Reason) {
        self.task_held(task, state, reason);
        self.record_thread(thread, Activity::Blocked, task);
        self.leave(thread, Status::Blocked, task);
    }

    /// The thread waits without work until somebody wakes it.
    pub(crate) fn park(&mut self, thread: u32) {
        self.record_thread(thread, Activity::Idle, NO_TASK);
        self.leave(thread, Status::Parked, NO_TASK);
    }

    /// The thread waits without work until somebody wakes it, or until the time.
    pub(crate) fn park_until(&mut self, thread: u32, time: u64) {
        self.park(thread);
        self.thread_mut(thread).wake_at = time;
        self.queue.push(time, Event::TimedWake(thread));
    }

    #[inline]
    pub(crate) fn leave(&mut self, thread: u32, status: Status, task: u32) {
        self.voluntary_switches += 1;
        let state = self.thread_mut(thread);
        state.task = task;
        state.wake_at = NEVER;
        self.leave_core(thread, status);
    }

    /// Wakes a parked, blocked or new thread. If a core is free, it takes that after `thread_wake`, the time that an
    /// idle core and the thread need; otherwise it is in the run queue at once.
    pub(crate) fn wake(&mut self, thread: u32) {
        if self.os.has_free_core() {
            self.wake_after(thread, self.plan.costs.thread_wake);
        } else {
            self.born(thread);
            let state = self.thread_mut(thread);
            debug_assert!(matches!(state.status, Status::Absent | Status::Parked | Status::Blocked));
            state.status = Status::Waking;
            state.wake_at = NEVER;
            self.make_runnable(thread);
        }
    }

    /// Wakes a parked, blocked or new thread; it wants a core after `delay`.
    pub(crate) fn wake_after(&mut self, thread: u32, delay: u64) {
        self.born(thread);
        let state = self.thread_mut(thread);
        debug_assert!(matches!(state.status, Status::Absent | Status::Parked | Status::Blocked));
        let idle = state.status != Status::Blocked;
        state.status = Status::Waking;
        state.wake_at = NEVER;
        if idle {
            self.record_thread(thread, Activity::Waking, NO_TASK);
        }
        self.queue.push(self.now + delay, Event::Runnable(thread));
    }

    /// The thread leaves off what it is working on: the model is asked at once, or as soon as it has a core again.
    pub(crate) fn interrupt(&mut self, thread: u32) {
        let state = self.thread_mut(thread);
        state.remaining = 0;
        if state.status == Status::OnCore && !state.switching && state.burst_end != NEVER {
            state.burst_end = NEVER;
            self.os.make_ready(thread);
        }
    }

    /// The thread leaves off what it is working on; returns what was left of that, in ns. `None` if nothing was.
    pub(crate) fn cut_burst(&mut self, thread: u32) -> Option<u64> {
        let (now, state) = (self.now, self.thread(thread));
        let left = match state.status {
            Status::OnCore if !state.switching && state.burst_end != NEVER => state.burst_end - now,
            Status::OnCore | Status::RunQueue => state.remaining,
            _ => 0,
        };
        if left == 0 {
            return None;
        }
        self.interrupt(thread);
        Some(left)
    }

    /// Handles [`Event::TimedWake`].
    pub(crate) fn timed_wake(&mut self, thread: u32) {
        let now = self.now;
        let state = self.thread_mut(thread);
        if state.status == Status::Parked && state.wake_at == now {
            state.status = Status::Waking;
            state.wake_at = NEVER;
            self.make_runnable(thread);
        }
    }

    #[inline]
    pub(crate) fn record_thread(&mut self, thread: u32, activity: Activity, task: u32) {
        self.threads[thread as usize].record(&mut self.recorder, self.now, thread, activity, task);
    }
}

impl Thread {
    /// Records what this thread, which has the number `thread`, does from now on, unless it does that already.
    #[inline]
    pub(crate) fn record(&mut self, recorder: &mut Recorder, now: u64, thread: u32, activity: Activity, task: u32) {
        let tag = ThreadTag { activity, task };
        if self.last_tag != tag.pack() {
            self.last_tag = tag.pack();
            recorder.thread(now, thread, tag);
        }
    }
}
