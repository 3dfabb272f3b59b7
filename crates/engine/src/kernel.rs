//! What every model stands on: the clock, the tasks' states, the records, and the calls by which a thread works,
//! waits and parks. Which thread has a core is decided in `os`; what a thread does next is the model's business.
//!
//! A model is a state machine per thread. The kernel calls `resume` when a thread is on a core and has nothing to
//! do; the model answers with `busy`, `block_for`, `hold`, `park` or `park_until`.

use std::collections::VecDeque;

use crate::alive::Alive;
use crate::detect::{Retry, RetryLog};
use crate::draw::Span;
use crate::os::Os;
use crate::plan::{GuardKind, LockRef, Op, Plan};
use crate::queue::{Event, EventQueue};
use crate::recorder::Recorder;
use crate::recording::{NO_TASK, NO_WORKER, TaskTag, ThreadInfo, ThreadTag};
use crate::rng::mix;
use crate::scenario::BlockKind;
use crate::state::{Activity, Reason, Role, TaskState};
use crate::submissions::{Arrivals, Submissions};

/// Stands for "no burst" and "no timed wake".
pub(crate) const NEVER: u64 = u64::MAX;

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

/// An OS thread.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    pub(crate) status: Status,
    /// The task it works for, or [`NO_TASK`].
    pub(crate) task: u32,
    /// [ns] What its next switch onto a core costs more, for the wait before it.
    pub(crate) wait_cost: u64,
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
    pub(crate) position: usize,
    /// [ns] End of a limited park, or [`NEVER`].
    pub(crate) wake_at: u64,
    last_tag: u32,
}

/// What a task does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// [ns] Computes.
    Cpu(u64),
    /// [ns] Waits, suspendable, for this reason.
    Io(u64, Reason),
    /// [ns] Waits in such a call, not suspendable.
    Block(u64, BlockKind),
    /// Takes a lock or a permit.
    Lock(LockRef),
    /// Takes a lock if it is free; otherwise goes on at the other step.
    TryLock(LockRef, u16),
    /// Gives a lock or a permit back.
    Unlock(LockRef),
    /// Lets others run first.
    Yield,
    /// Makes a task, which it spawns next.
    Prepare,
    /// Starts this task.
    Spawn(u32),
    /// Waits until all tasks that it has spawned have ended.
    Join,
}

/// The state of every task, by task number.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    /// Index of the next step.
    pub(crate) step: Vec<u16>,
    /// Monitors, class initialisers and native frames on its stack.
    pub(crate) scopes: Vec<u8>,
    /// Class initialisers and native frames alone.
    pub(crate) frames: Vec<u8>,
    /// The thread it holds, or [`NO_WORKER`].
    pub(crate) worker: Vec<u32>,
    state: Vec<TaskState>,
    begun: Vec<bool>,
    class: Vec<u8>,
    /// Tasks that it has spawned and that have not ended; empty where no task spawns any.
    open_children: Vec<u32>,
    /// It waits for them.
    pub(crate) joining: Vec<bool>,
    /// The furthest step that it has begun; empty where no task tries locks.
    furthest: Vec<u16>,
}

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
    pub(crate) os: Os,
    submissions: Submissions,
    /// Tasks that have arrived and have not been submitted.
    inbox: VecDeque<u32>,
    /// [ns] The time of the next [`Event::Arrival`], or [`NEVER`].
    arrival_at: u64,
    /// The thread that submits, where it is parked because nothing has arrived.
    awaits_arrival: Option<u32>,
    /// Steps that tasks have begun for the first time, where tasks try locks.
    pub(crate) progress: u64,
    /// Locks that tasks have tried in vain since the last of these.
    pub(crate) retry_log: RetryLog,
    /// Context switches and waits for a core up to the last of these.
    switches_at_retry: [u64; 3],
    pub(crate) recorder: Recorder,
    /// Tasks that have ended.
    pub(crate) done: u32,
    /// Tasks submitted and not ended, now and at the peak.
    pub(crate) live: u32,
    pub(crate) live_peak: u32,
    /// Tasks started and not ended, now and at the peak.
    started: u32,
    pub(crate) started_peak: u32,
    pub(crate) voluntary_switches: u64,
    pub(crate) involuntary_switches: u64,
    pub(crate) finished: bool,
}

impl Kernel {
    pub(crate) fn new(plan: Plan) -> Self {
        let count = plan.tasks as usize;
        let mut class = Vec::with_capacity(count);
        for (index, spec) in plan.classes.iter().enumerate() {
            class.resize(class.len() + spec.count as usize, index as u8);
        }
        let spawns = plan.classes.iter().any(|class| class.parent.is_some());
        let tries = plan.classes.iter().flat_map(|class| &class.ops).any(|op| matches!(op, Op::TryLock(..)));
        let mut kernel = Self {
            now: 0,
            submissions: plan.submissions(),
            inbox: VecDeque::new(),
            tasks: Tasks {
                step: vec![0; count],
                scopes: vec![0; count],
                frames: vec![0; count],
                worker: vec![NO_WORKER; count],
                state: vec![TaskState::Pending; count],
                begun: vec![false; count],
                class,
                open_children: vec![0; if spawns { count } else { 0 }],
                joining: vec![false; if spawns { count } else { 0 }],
                furthest: vec![0; if tries { count } else { 0 }],
            },
            arrival_at: NEVER,
            awaits_arrival: None,
            progress: 0,
            retry_log: RetryLog::default(),
            switches_at_retry: [0; 3],
            threads: Vec::new(),
            thread_info: Vec::new(),
            alive: Alive::default(),
            queue: EventQueue::default(),
            os: Os::new(plan.cores),
            recorder: Recorder::default(),
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
        while self.submissions.due().is_some_and(|due| due <= self.now)
            && let Some((_, task)) = self.submissions.next()
        {
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
    fn arm_arrival(&mut self) {
        if let Some(due) = self.submissions.due().filter(|&due| due < self.arrival_at) {
            self.arrival_at = due;
            self.queue.push(due.max(self.now), Event::Arrival);
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
            wait_cost: 0,
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

    /// Like `busy`, but even no time at all passes through the event queue, so that others get their turn.
    pub(crate) fn busy_event(&mut self, thread: u32, ns: u64, activity: Activity, task: u32) {
        let end = self.now + ns;
        let state = self.thread_mut(thread);
        debug_assert_eq!(state.status, Status::OnCore);
        state.task = task;
        state.burst = activity;
        state.burst_end = end;
        if ns > 0 {
            self.record_thread(thread, activity, task);
        }
        self.queue.push(end, Event::BurstEnd(thread));
    }

    /// The thread sleeps with its task for `ns`, and a little longer as every sleep does, and gives its core up meanwhile.
    pub(crate) fn block_for(&mut self, thread: u32, task: u32, ns: u64, reason: Reason) {
        self.hold(thread, task, TaskState::Blocked, reason);
        self.thread_mut(thread).wait_cost = self.plan.costs.sleep_cpu;
        let end = self.now + ns + self.plan.costs.sleep_lateness(ns);
        self.queue.push(end, Event::Runnable(thread));
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

    pub(crate) fn record_thread(&mut self, thread: u32, activity: Activity, task: u32) {
        let tag = ThreadTag { activity, task };
        let state = &mut self.threads[thread as usize];
        if state.last_tag != tag.pack() {
            state.last_tag = tag.pack();
            self.recorder.thread(self.now, thread, tag);
        }
    }

    // Tasks.

    /// The step that the task is at, with its duration drawn; `None` at the end.
    pub(crate) fn next_op(&mut self, task: u32) -> Option<Next> {
        let class = self.class_index(task);
        let duration = |plan: &Plan, step: usize, span: &Span| match span {
            Span::Constant(ns) => *ns,
            drawn => plan.duration(task, step, drawn),
        };
        loop {
            let step = usize::from(self.tasks.step[task as usize]);
            let plan = &self.plan;
            return Some(match plan.classes[class].ops.get(step)? {
                Op::Cpu(span) | Op::Iterations(_, span) => Next::Cpu(duration(plan, step, span)),
                Op::Io(span) => Next::Io(duration(plan, step, span), Reason::Io),
                Op::Backoff(span) => Next::Io(duration(plan, step, span), Reason::Retry),
                Op::Block(kind, span) => Next::Block(duration(plan, step, span), *kind),
                Op::Lock(lock) => Next::Lock(*lock),
                Op::TryLock(lock, otherwise) => Next::TryLock(*lock, *otherwise),
                Op::Unlock(lock) => Next::Unlock(*lock),
                Op::Yield => Next::Yield,
                Op::Prepare(_) => Next::Prepare,
                Op::Spawn(child) => Next::Spawn(plan.child(task, class, *child)),
                Op::Join => Next::Join,
                Op::Jump(step) => {
                    self.tasks.step[task as usize] = *step;
                    continue;
                }
                Op::End => return None,
            });
        }
    }

    /// The task has begun its step; `next_op` gives the one after it.
    pub(crate) fn advance(&mut self, task: u32) {
        let step = &mut self.tasks.step[task as usize];
        *step += 1;
        if !self.tasks.furthest.is_empty() {
            let (class, furthest) =
                (usize::from(self.tasks.class[task as usize]), &mut self.tasks.furthest[task as usize]);
            // What comes after the end is what to do when a lock could not be taken, which is no progress.
            if *furthest < *step && *step <= self.plan.classes[class].end {
                *furthest = *step;
                self.progress += 1;
            }
        }
    }

    /// The task could not take a lock and goes on at another step.
    pub(crate) fn jump(&mut self, task: u32, step: u16) {
        let tried = std::mem::replace(&mut self.tasks.step[task as usize], step);
        let switches = [self.voluntary_switches, self.involuntary_switches, self.os.times_without_core()];
        let before = std::mem::replace(&mut self.switches_at_retry, switches);
        let [voluntary, involuntary, without_core] = [0, 1, 2].map(|i| switches[i] - before[i]);
        let mut hidden = mix(voluntary ^ mix(involuntary));
        if without_core > 0 {
            hidden ^= mix(self.lead_of(self.tasks.worker[task as usize]));
        }
        self.retry_log.push(self.progress, Retry { time: self.now, task, step: tried, hidden });
    }

    /// The task has taken a lock: whether it can leave its worker depends on that.
    pub(crate) fn entered(&mut self, task: u32, lock: LockRef) {
        self.tasks.scopes[task as usize] += u8::from(lock.is_scoped());
        self.tasks.frames[task as usize] += u8::from(lock.is_frame());
    }

    /// The task has tried to take a lock: it has it, or goes on at the other step.
    pub(crate) fn tried(&mut self, task: u32, lock: LockRef, otherwise: u16, taken: bool) {
        if taken {
            self.entered(task, lock);
            self.advance(task);
        } else {
            self.jump(task, otherwise);
        }
    }

    /// The task has given a lock back.
    pub(crate) fn left(&mut self, task: u32, lock: LockRef) {
        self.tasks.scopes[task as usize] -= u8::from(lock.is_scoped());
        self.tasks.frames[task as usize] -= u8::from(lock.is_frame());
    }

    /// Whether the task has waited in a monitor and takes that back next.
    pub(crate) fn takes_monitor_back(&self, task: u32) -> bool {
        let (ops, step) = (&self.plan.classes[self.class_index(task)].ops, usize::from(self.tasks.step[task as usize]));
        let waited = step.checked_sub(2).and_then(|from| ops.get(from..=step));
        let Some([Op::Unlock(left), Op::Block(BlockKind::ObjectWait, _), Op::Lock(taken)]) = waited else {
            return false;
        };
        left == taken && left.kind == GuardKind::Monitor
    }

    /// Whether every task that this one has spawned has ended; if not, it waits for them from now on.
    pub(crate) fn joined(&mut self, task: u32) -> bool {
        let open = self.tasks.open_children.get(task as usize).is_some_and(|&open| open > 0);
        if open {
            self.tasks.joining[task as usize] = true;
        }
        !open
    }

    pub(crate) fn state(&self, task: u32) -> TaskState {
        self.tasks.state[task as usize]
    }

    /// Index of the task's class.
    pub(crate) fn class_index(&self, task: u32) -> usize {
        usize::from(self.tasks.class[task as usize])
    }

    /// What the task has at this step.
    pub(crate) fn held(&self, task: u32, step: usize) -> Vec<LockRef> {
        self.plan.classes[self.class_index(task)].held(step)
    }

    /// The submitter has handed the task over.
    pub(crate) fn task_submitted(&mut self, task: u32) {
        self.count_child(task);
        self.live += 1;
        self.live_peak = self.live_peak.max(self.live);
        self.set_task(task, TaskState::Queued, Reason::NoWorker, NO_WORKER);
    }

    /// Whether the task's code has begun to run.
    pub(crate) fn has_begun(&self, task: u32) -> bool {
        self.tasks.begun[task as usize]
    }

    /// The task's code runs on the thread from now on.
    pub(crate) fn task_running(&mut self, task: u32, thread: u32) {
        if self.state(task) == TaskState::Running {
            return;
        }
        if !std::mem::replace(&mut self.tasks.begun[task as usize], true) {
            self.started += 1;
            self.started_peak = self.started_peak.max(self.started);
        }
        self.tasks.worker[task as usize] = thread;
        self.set_task(task, TaskState::Running, Reason::None, thread);
    }

    /// The task waits and holds no worker.
    pub(crate) fn task_suspended(&mut self, task: u32, state: TaskState, reason: Reason) {
        self.tasks.worker[task as usize] = NO_WORKER;
        self.set_task(task, state, reason, NO_WORKER);
    }

    /// The task waits and holds its worker.
    pub(crate) fn task_held(&mut self, task: u32, state: TaskState, reason: Reason) {
        let worker = self.tasks.worker[task as usize];
        self.set_task(task, state, reason, worker);
    }

    /// Wakes the thread that the task holds while it waits; `false` if it waits without one.
    pub(crate) fn wake_holder(&mut self, task: u32) -> bool {
        let thread = self.tasks.worker[task as usize];
        let holds = thread != NO_WORKER;
        if holds {
            self.wake(thread);
        }
        holds
    }

    /// The task has ended. Returns the task that waited for it and for no other, which must be woken.
    #[must_use]
    pub(crate) fn task_done(&mut self, task: u32) -> Option<u32> {
        self.live -= 1;
        self.started -= 1;
        self.task_suspended(task, TaskState::Done, Reason::None);
        self.task_ended(task)
    }

    /// The task has ended without finishing, and has not begun: what it would have spawned fails as well. Returns the
    /// task that waited for it and for no other, which must be woken.
    #[must_use]
    pub(crate) fn task_failed(&mut self, task: u32, reason: Reason) -> Option<u32> {
        if self.state(task) == TaskState::Pending {
            self.count_child(task);
        } else {
            self.live -= 1;
        }
        self.task_suspended(task, TaskState::Failed, reason);
        let mut orphans = vec![task];
        while let Some(parent) = orphans.pop() {
            let class = self.class_index(parent);
            for op in 0..self.plan.classes[class].ops.len() {
                if let Op::Spawn(child) = self.plan.classes[class].ops[op] {
                    let child = self.plan.child(parent, class, child);
                    self.done += 1;
                    self.task_suspended(child, TaskState::Failed, Reason::ParentFailed);
                    orphans.push(child);
                }
            }
        }
        self.task_ended(task)
    }

    /// A task that was spawned is one that its parent can wait for.
    fn count_child(&mut self, task: u32) {
        if !self.tasks.open_children.is_empty()
            && let Some(parent) = self.plan.parent(task)
        {
            self.tasks.open_children[parent as usize] += 1;
        }
    }

    fn task_ended(&mut self, task: u32) -> Option<u32> {
        self.done += 1;
        let class = self.class_index(task);
        if self.submissions.is_closed() && self.plan.classes[class].parent.is_none() {
            self.submissions.ended(class, self.now);
            self.arm_arrival();
        }
        if self.tasks.open_children.is_empty() {
            return None;
        }
        let parent = self.plan.parent(task)?;
        self.tasks.open_children[parent as usize] -= 1;
        let last = self.tasks.open_children[parent as usize] == 0;
        (last && std::mem::take(&mut self.tasks.joining[parent as usize])).then_some(parent)
    }

    fn set_task(&mut self, task: u32, state: TaskState, reason: Reason, worker: u32) {
        self.tasks.state[task as usize] = state;
        self.recorder.task(self.now, task, TaskTag { state, reason, worker });
    }

    /// Whether every task has ended.
    pub(crate) fn all_done(&self) -> bool {
        self.done == self.plan.tasks
    }
}
