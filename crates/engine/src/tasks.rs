//! The tasks: where each is in its steps, what state it is in, and the calls by which a model changes that.
//!
//! Which thread does what is not known here; see `kernel`.

use crate::detect::Retry;
use crate::draw::Span;
use crate::kernel::Kernel;
use crate::plan::{GuardKind, LockRef, Op, Plan};
use crate::recording::{NO_WORKER, TaskTag};
use crate::rng::mix;
use crate::scenario::BlockKind;
use crate::state::{Reason, TaskState};

/// A task as it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Task {
    /// The thread it holds, or [`NO_WORKER`].
    pub(crate) worker: u32,
    /// Index of the next step.
    pub(crate) step: u16,
    /// Monitors, class initialisers and native frames on its stack.
    pub(crate) scopes: u8,
    /// Class initialisers and native frames alone.
    pub(crate) frames: u8,
    state: TaskState,
    class: u8,
    begun: bool,
}

/// The tasks, by number.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    pub(crate) each: Vec<Task>,
    /// Tasks that it has spawned and that have not ended; empty where no task spawns any.
    open_children: Vec<u32>,
    /// It waits for them.
    pub(crate) joining: Vec<bool>,
    /// The furthest step that it has begun; empty where no task tries locks.
    furthest: Vec<u16>,
}

impl Tasks {
    /// The tasks of the plan, none of which has been submitted, in this memory.
    pub(crate) fn new(plan: &Plan, mut each: Vec<Task>) -> Self {
        let count = plan.tasks as usize;
        each.clear();
        each.reserve_exact(count);
        for (index, spec) in plan.classes.iter().enumerate() {
            let task = Task {
                worker: NO_WORKER,
                step: 0,
                scopes: 0,
                frames: 0,
                state: TaskState::Pending,
                class: index as u8,
                begun: false,
            };
            each.resize(each.len() + spec.count as usize, task);
        }
        let spawns = plan.classes.iter().any(|class| class.parent.is_some());
        let tries = plan.classes.iter().flat_map(|class| &class.ops).any(|op| matches!(op, Op::TryLock(..)));
        Self {
            each,
            open_children: vec![0; if spawns { count } else { 0 }],
            joining: vec![false; if spawns { count } else { 0 }],
            furthest: vec![0; if tries { count } else { 0 }],
        }
    }
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

impl Kernel {
    pub(crate) fn task(&self, task: u32) -> &Task {
        &self.tasks.each[task as usize]
    }

    pub(crate) fn task_mut(&mut self, task: u32) -> &mut Task {
        &mut self.tasks.each[task as usize]
    }

    /// The step that the task is at, with its duration drawn; `None` at the end.
    #[allow(clippy::inline_always, reason = "a model takes what it returns apart at once")]
    #[inline(always)]
    pub(crate) fn next_op(&mut self, task: u32) -> Option<Next> {
        let class = self.class_index(task);
        let duration = |plan: &Plan, step: usize, span: &Span| match span {
            Span::Constant(ns) => *ns,
            drawn => plan.duration(task, step, drawn),
        };
        loop {
            let step = usize::from(self.task(task).step);
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
                    self.task_mut(task).step = *step;
                    continue;
                }
                Op::End => return None,
            });
        }
    }

    /// The task has begun its step; `next_op` gives the one after it.
    #[inline]
    pub(crate) fn advance(&mut self, task: u32) {
        self.task_mut(task).step += 1;
        if !self.tasks.furthest.is_empty() {
            self.note_progress(task);
        }
    }

    /// What comes after the end is what to do when a lock could not be taken, which is no progress.
    #[cold]
    fn note_progress(&mut self, task: u32) {
        let Task { step, class, .. } = *self.task(task);
        let furthest = &mut self.tasks.furthest[task as usize];
        if *furthest < step && step <= self.plan.classes[usize::from(class)].end {
            *furthest = step;
            self.progress += 1;
        }
    }

    /// The task could not take a lock and goes on at another step.
    pub(crate) fn jump(&mut self, task: u32, step: u16) {
        let tried = std::mem::replace(&mut self.task_mut(task).step, step);
        let switches = [self.voluntary_switches, self.involuntary_switches, self.os.times_without_core()];
        let before = std::mem::replace(&mut self.switches_at_retry, switches);
        let [voluntary, involuntary, without_core] = [0, 1, 2].map(|i| switches[i] - before[i]);
        let mut hidden = mix(voluntary ^ mix(involuntary));
        if without_core > 0 {
            hidden ^= mix(self.lead_of(self.task(task).worker));
        }
        self.retry_log.push(self.progress, Retry { time: self.now, task, step: tried, hidden });
    }

    /// The task has taken a lock: whether it can leave its worker depends on that.
    pub(crate) fn entered(&mut self, task: u32, lock: LockRef) {
        self.task_mut(task).scopes += u8::from(lock.is_scoped());
        self.task_mut(task).frames += u8::from(lock.is_frame());
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
        self.task_mut(task).scopes -= u8::from(lock.is_scoped());
        self.task_mut(task).frames -= u8::from(lock.is_frame());
    }

    /// Whether the task has waited in a monitor and takes that back next.
    pub(crate) fn takes_monitor_back(&self, task: u32) -> bool {
        let (ops, step) = (&self.plan.classes[self.class_index(task)].ops, usize::from(self.task(task).step));
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
        self.task(task).state
    }

    /// Index of the task's class.
    pub(crate) fn class_index(&self, task: u32) -> usize {
        usize::from(self.task(task).class)
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
        self.task(task).begun
    }

    /// The task's code runs on the thread from now on.
    #[inline]
    pub(crate) fn task_running(&mut self, task: u32, thread: u32) {
        if self.state(task) == TaskState::Running {
            return;
        }
        if !std::mem::replace(&mut self.task_mut(task).begun, true) {
            self.started += 1;
            self.started_peak = self.started_peak.max(self.started);
        }
        self.task_mut(task).worker = thread;
        self.set_task(task, TaskState::Running, Reason::None, thread);
    }

    /// The task waits and holds no worker.
    #[inline]
    pub(crate) fn task_suspended(&mut self, task: u32, state: TaskState, reason: Reason) {
        self.task_mut(task).worker = NO_WORKER;
        self.set_task(task, state, reason, NO_WORKER);
    }

    /// The task waits and holds its worker.
    pub(crate) fn task_held(&mut self, task: u32, state: TaskState, reason: Reason) {
        let worker = self.task(task).worker;
        self.set_task(task, state, reason, worker);
    }

    /// Wakes the thread that the task holds while it waits; `false` if it waits without one.
    pub(crate) fn wake_holder(&mut self, task: u32) -> bool {
        let thread = self.task(task).worker;
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

    #[inline]
    pub(crate) fn set_task(&mut self, task: u32, state: TaskState, reason: Reason, worker: u32) {
        let from = std::mem::replace(&mut self.task_mut(task).state, state);
        self.standstill.change(self.now, from, state);
        self.recorder.task(self.now, task, TaskTag { state, reason, worker });
    }

    /// Whether every task has ended.
    pub(crate) fn all_done(&self) -> bool {
        self.done == self.plan.tasks
    }
}
