//! A recording of a measured run, as the engine makes one of a simulated run: the times that tasks have taken down, read
//! with the plan that says what each of them waited for.
//!
//! What a task cannot see from inside is not made up: it runs from the time it went on until the time it waits or ends,
//! though the kernel may have taken its core away meanwhile, and a thread that runs no task is idle, though it may do
//! the runtime's own work. A wait that is over while the task does not run yet is a [`Reason::TimerBacklog`]: whether
//! the timer was late or no thread was free, nobody has told the task.

use std::collections::HashMap;

use parkbench_engine::{
    Activity, LockRef, Model, NO_TASK, NO_WORKER, Op, Plan, Reason, Recording, Records, Role, TaskState, TaskTag,
    ThreadInfo, ThreadTag, Totals,
};

use super::super::kind::Kind;
use super::super::runtime::Runtime;

/// Most marks of a run: 16 bytes each for the task, and as much again for its thread.
pub(crate) const MAX_MARKS: u64 = 5_000_000;

/// What the tasks of a run have taken down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lives {
    /// [ns] The submission of each task; `u64::MAX` for none.
    pub(crate) submitted: Vec<u64>,
    /// [ns] Each task's times with their threads, in order.
    pub(crate) marks: Vec<Vec<(u64, u32)>>,
    /// What the threads are called; `None` for one without a name.
    pub(crate) names: Vec<Option<String>>,
}

impl Lives {
    /// Whether the child has run on the thread of its parent and before that has ended, so inside of its body.
    fn has_called(&self, parent: u32, child: u32) -> bool {
        let (parent, child) = (&self.marks[parent as usize], &self.marks[child as usize]);
        match (parent.first(), parent.last(), child.first()) {
            (Some((from, its)), Some((until, _)), Some((began, thread))) => {
                its == thread && (from..until).contains(&began)
            }
            _ => false,
        }
    }
}

/// A step at which a task may not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// [ns] A wait that the runtime can suspend.
    Io(u64),
    Block,
    Lock(LockRef),
    Yield,
    Join,
}

/// The marks that each task of this plan takes on this runtime: its start, two for each stop, and its end.
pub(crate) fn mark_counts(plan: &Plan, kind: Kind) -> Vec<usize> {
    let of_class = |number: usize| {
        let ops = &plan.classes[number].ops[..usize::from(plan.classes[number].end)];
        let marks = ops.iter().map(|op| if stops(op) { 2 + usize::from(fires(kind, op)) } else { 0 });
        2 + marks.sum::<usize>()
    };
    let of_classes: Vec<usize> = (0..plan.classes.len()).map(of_class).collect();
    (0..plan.tasks).map(|task| of_classes[class_number(plan, task)]).collect()
}

/// Whether the step can hold its task up; a lock of the task's own cannot.
pub(crate) fn stops(op: &Op) -> bool {
    matches!(op, Op::Io(_) | Op::Block(..) | Op::Yield | Op::Join)
        || matches!(op, Op::Lock(lock) if lock.shared.is_some())
}

/// Whether the task learns that its wait is over before it goes on: `may` resumes it on the timer thread first.
const fn fires(kind: Kind, op: &Op) -> bool {
    matches!((kind, op), (Kind::May, Op::Io(_)))
}

fn class_number(plan: &Plan, task: u32) -> usize {
    plan.classes.partition_point(|class| class.first + class.count <= task)
}

/// Makes the recording; `totals` has what the times do not say.
pub(crate) fn record(plan: &Plan, runtime: &Runtime, lives: &Lives, totals: &Totals) -> Recording {
    let origin = lives.submitted.iter().copied().min().unwrap_or(0);
    // A simulated run counts from its start, and so does this one, so that both have one clock.
    let start = plan.submissions().due().unwrap_or(0);
    let (numbers, thread_info) = threads(&lives.names);
    let number = |thread: u32| numbers.get(thread as usize).copied().unwrap_or(NO_WORKER);
    let mut streams = Streams::default();
    for task in 0..plan.tasks {
        let at = |time: u64| time.saturating_sub(origin) + start;
        let submitted = lives.submitted[task as usize];
        if submitted == u64::MAX {
            continue;
        }
        // The run is over, so a task that has not begun was refused.
        if lives.marks[task as usize].is_empty() {
            streams.fails(at(submitted), plan, task, Reason::Rejected);
            continue;
        }
        streams.task(at(submitted), task, TaskState::Queued, Reason::NoWorker, NO_WORKER);
        let caller =
            plan.parent(task).filter(|&parent| runtime.admission().caller_runs() && lives.has_called(parent, task));
        let marks = lives.marks[task as usize].iter().map(|&(time, thread)| (at(time), number(thread)));
        one_life(&mut streams, plan, runtime, task, caller, marks);
    }
    let totals = Totals { makespan_ns: totals.makespan_ns + start, tasks: plan.tasks, ..totals.clone() };
    let (tasks, threads) = streams.sorted();
    Recording { tasks, threads, thread_info, totals, findings: Vec::new() }
}

/// One task from its start on; `caller` is the task inside whose body it runs, where the caller runs what is refused.
fn one_life(
    streams: &mut Streams,
    plan: &Plan,
    runtime: &Runtime,
    task: u32,
    caller: Option<u32>,
    mut marks: impl Iterator<Item = (u64, u32)>,
) {
    let Some((began, thread)) = marks.next() else { return };
    if let Some(caller) = caller {
        // Its thread is taken, and it is in the middle of its call of `execute`.
        streams.task(began, caller, TaskState::Blocked, Reason::Children, thread);
    }
    streams.runs(began, task, thread);
    let class = &plan.classes[class_number(plan, task)];
    // Whether each lock that is held is one in which nothing can be suspended.
    let mut held: Vec<bool> = Vec::new();
    for (step, op) in class.ops[..usize::from(class.end)].iter().enumerate() {
        let inside = held.contains(&true);
        let stop = match op {
            Op::Io(span) => Some(Stop::Io(plan.duration(task, step, span))),
            Op::Block(..) => Some(Stop::Block),
            Op::Lock(lock) => {
                held.push(lock.is_scoped() && runtime.holds_in_monitors());
                lock.shared.map(|_| Stop::Lock(*lock))
            }
            Op::Unlock(_) => {
                held.pop();
                None
            }
            Op::Yield => Some(Stop::Yield),
            Op::Join => Some(Stop::Join),
            _ => None,
        };
        let Some(stop) = stop else { continue };
        let Some((from, thread)) = marks.next() else { return };
        let (state, reason, holds) = while_stopped(stop, runtime, inside);
        streams.stops(from, task, state, reason, Some(thread).filter(|_| holds), thread);
        let Some((mut until, mut thread)) = marks.next() else { return };
        let due = match stop {
            Stop::Io(ns) if !holds => from.saturating_add(ns),
            _ => u64::MAX,
        };
        if due < until {
            streams.task(due, task, state, Reason::TimerBacklog, NO_WORKER);
        }
        if fires(runtime.kind(), op) {
            streams.task(until, task, TaskState::Queued, Reason::Resumed, NO_WORKER);
            let Some(after) = marks.next() else { return };
            (until, thread) = after;
        }
        streams.runs(until, task, thread);
    }
    let Some((ended, thread)) = marks.next() else { return };
    match caller {
        Some(caller) => {
            streams.task(ended, task, TaskState::Done, Reason::None, NO_WORKER);
            streams.runs(ended, caller, thread);
        }
        None => streams.stops(ended, task, TaskState::Done, Reason::None, None, thread),
    }
}

/// The state of a task that has stopped, why, and whether it holds its thread meanwhile.
fn while_stopped(stop: Stop, runtime: &Runtime, inside: bool) -> (TaskState, Reason, bool) {
    let model = runtime.kind().model();
    let pool = model == Model::ThreadPool;
    let pinned = if model == Model::GreenThreads { Reason::Pinned } else { Reason::BlockingCall };
    match stop {
        // As the engine has it: what the task waits for is the reason, that its thread waits too is the state (P-2).
        Stop::Io(_) if pool => (TaskState::Blocked, Reason::Io, true),
        Stop::Io(_) if inside => (TaskState::Blocked, pinned, true),
        Stop::Io(_) => (TaskState::Waiting, Reason::Io, false),
        Stop::Block if !runtime.holds_in_blocks() => (TaskState::Blocked, Reason::BlockingCall, false),
        Stop::Block => (TaskState::Blocked, if inside { pinned } else { Reason::BlockingCall }, true),
        Stop::Lock(lock) => {
            let holds = pool || inside || lock.is_scoped() && runtime.holds_in_monitors();
            (TaskState::LockWait, lock.kind.reason(), holds)
        }
        // A thread that yields keeps its task.
        Stop::Yield if pool || inside => (TaskState::Preempted, Reason::NoCore, true),
        Stop::Yield => (TaskState::Queued, Reason::Yielded, false),
        Stop::Join if pool || inside => (TaskState::Blocked, Reason::Children, true),
        Stop::Join => (TaskState::Waiting, Reason::Children, false),
    }
}

/// The new number of each thread, and the threads by it: in the order of their names, each of which is told apart.
fn threads(names: &[Option<String>]) -> (Vec<u32>, Vec<ThreadInfo>) {
    let mut times: HashMap<&str, usize> = HashMap::new();
    for name in names.iter().flatten() {
        *times.entry(name).or_default() += 1;
    }
    let mut unique: Vec<String> = Vec::with_capacity(names.len());
    for (number, name) in names.iter().enumerate() {
        unique.push(match name {
            Some(name) if times.get(name.as_str()) == Some(&1) => name.clone(),
            Some(name) => format!("{name}-{number}"),
            None => format!("worker-{number}"),
        });
    }
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&thread| natural(&unique[thread]));
    let mut numbers = vec![0; names.len()];
    for (number, &thread) in (0..).zip(&order) {
        numbers[thread] = number;
    }
    let info = |thread: usize| ThreadInfo { role: Role::Worker, name: unique[thread].clone() };
    (numbers, order.into_iter().map(info).collect())
}

/// So that `pool-10` stands after `pool-9`.
fn natural(name: &str) -> (String, u64) {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (text, number) = name.split_at(name.len() - digits);
    (text.to_owned(), number.parse().unwrap_or(0))
}

/// Both streams of records, in no order yet.
#[derive(Debug, Default)]
struct Streams {
    tasks: Vec<(u64, u32, u32)>,
    threads: Vec<(u64, u32, u32)>,
}

impl Streams {
    fn task(&mut self, time: u64, task: u32, state: TaskState, reason: Reason, worker: u32) {
        self.tasks.push((time, task, TaskTag { state, reason, worker }.pack()));
    }

    /// The task fails, and all that it would have started.
    fn fails(&mut self, time: u64, plan: &Plan, task: u32, reason: Reason) {
        self.task(time, task, TaskState::Failed, reason, NO_WORKER);
        let class = class_number(plan, task);
        let steps = &plan.classes[class];
        for op in &steps.ops[..usize::from(steps.end)] {
            if let Op::Spawn(child) = op {
                self.fails(time, plan, plan.child(task, class, *child), Reason::ParentFailed);
            }
        }
    }

    fn thread(&mut self, time: u64, thread: u32, activity: Activity, task: u32) {
        if thread != NO_WORKER {
            self.threads.push((time, thread, ThreadTag { activity, task }.pack()));
        }
    }

    fn runs(&mut self, time: u64, task: u32, thread: u32) {
        self.task(time, task, TaskState::Running, Reason::None, thread);
        self.thread(time, thread, Activity::Running, task);
    }

    /// The task stops on this thread, and holds it or not.
    fn stops(&mut self, time: u64, task: u32, state: TaskState, reason: Reason, holds: Option<u32>, thread: u32) {
        self.task(time, task, state, reason, holds.unwrap_or(NO_WORKER));
        match (holds, state) {
            (None, _) => self.thread(time, thread, Activity::Idle, NO_TASK),
            (Some(_), TaskState::Preempted) => self.thread(time, thread, Activity::Preempted, task),
            (Some(_), _) => self.thread(time, thread, Activity::Blocked, task),
        }
    }

    /// By time; what one task did, in its order, and what a thread left at one time before what it took up then.
    fn sorted(self) -> (Records, Records) {
        let Self { mut tasks, mut threads } = self;
        tasks.sort_by_key(|record| record.0);
        threads.sort_by_key(|&(time, _, tag)| (time, tag & NO_TASK != NO_TASK));
        (columns(&tasks), columns(&threads))
    }
}

fn columns(records: &[(u64, u32, u32)]) -> Records {
    Records {
        time: records.iter().map(|record| record.0).collect(),
        subject: records.iter().map(|record| record.1).collect(),
        tag: records.iter().map(|record| record.2).collect(),
    }
}
