//! The run: advances one model by a number of events at a time, to the same end whatever the number (invariant 4).

use crate::arena::Arena;
use crate::detect::{self, Waits};
use crate::error::{FieldError, ScenarioError};
use crate::finding::Finding;
use crate::kernel::{Kernel, MAX_CLOCK, Status};
use crate::model::{Coroutines, EventLoop, Go, GreenThreads, Scheduler, ThreadPool, Tokio};
use crate::plan::{ModelPlan, Plan};
use crate::quantity::Nanos;
use crate::queue::Event;
use crate::recording::{Recording, Records, Totals};
use crate::scenario::{Dispatcher, Scenario};

/// Events after which a run is given up: hogs that share a core for a year would need more time than there is.
pub const MAX_EVENTS: u64 = 50_000_000;

/// Records after which a run is given up: 1 GiB of them, a quarter of what a page can address.
pub const MAX_RECORDS: u64 = 1 << 26;

/// How often the records are counted, in events; an event makes few, so that there are hardly more than the most.
const COUNT_EVERY: u64 = 1 << 10;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether it has ended, or has been given up.
    pub finished: bool,
    /// Whether it has been given up, because it takes too many events or records; see [`Progress::check`].
    pub given_up: bool,
    /// It was the records.
    pub too_many_records: bool,
    /// [ns] The clock.
    pub now_ns: u64,
    /// Events processed so far.
    pub events: u64,
    /// Records kept so far, or the most if there are more.
    pub records: u64,
    /// Tasks that have ended.
    pub tasks_done: u32,
    /// Tasks in all.
    pub tasks: u32,
}

impl Progress {
    /// The error to show for run number `run` if it has been given up.
    pub fn check(self, run: usize) -> Result<Self, ScenarioError> {
        if !self.given_up {
            return Ok(self);
        }
        let (most, what) = if self.too_many_records { (self.records, "records") } else { (self.events, "events") };
        let value = format!(
            "more than {most} {what} ({} of {} tasks ended in {})",
            self.tasks_done,
            self.tasks,
            Nanos(self.now_ns)
        );
        let allowed = format!(
            "runs of up to {most} {what}: fewer tasks or steps, or less CPU time for threads that share a core"
        );
        Err(ScenarioError::Invalid(vec![FieldError::new(format!("runs[{run}]"), value, allowed)]))
    }
}

/// One run of a scenario in progress.
#[derive(Clone, Debug)]
pub struct Simulation {
    course: Course,
    model: AnyModel,
}

/// All of a run but its model.
#[derive(Clone, Debug)]
struct Course {
    kernel: Kernel,
    events: u64,
    max_events: u64,
    max_records: u64,
    too_many_records: bool,
    /// Nothing can happen any more: the last task has ended, or those that are left keep each other from ending.
    over: bool,
    /// What the model's random choices were when the retries were looked at before.
    choices: u64,
    /// The livelock that the run has stopped in.
    livelock: Vec<Finding>,
}

#[derive(Clone, Debug)]
enum AnyModel {
    ThreadPool(ThreadPool),
    GreenThreads(GreenThreads),
    Go(Go),
    Coroutines(Coroutines),
    EventLoop(EventLoop),
    Tokio(Tokio),
}

impl AnyModel {
    fn scheduler(&self) -> &dyn Scheduler {
        match self {
            Self::ThreadPool(model) => model,
            Self::GreenThreads(model) => model,
            Self::Go(model) => model,
            Self::Coroutines(model) => model,
            Self::EventLoop(model) => model,
            Self::Tokio(model) => model,
        }
    }
}

impl Simulation {
    /// Prepares run number `run` of the scenario, which must be an index into its `runs`.
    pub fn new(scenario: &Scenario, run: usize) -> Result<Self, ScenarioError> {
        Ok(Self::with_plan(Plan::new(scenario, run)?))
    }

    /// Prepares a run that has been resolved already, perhaps with other costs.
    pub fn with_plan(plan: Plan) -> Self {
        Self::with_plan_in(plan, &mut Arena::default())
    }

    /// The same in memory that finished runs have left, all of which it takes; see [`Self::into_recording_in`].
    pub fn with_plan_in(plan: Plan, arena: &mut Arena) -> Self {
        let mut kernel = Kernel::new(plan, arena);
        let model = match kernel.plan.model {
            ModelPlan::ThreadPool { .. } => AnyModel::ThreadPool(ThreadPool::new(&mut kernel)),
            ModelPlan::GreenThreads { .. } => AnyModel::GreenThreads(GreenThreads::new(&mut kernel)),
            ModelPlan::Coroutines { dispatcher: Dispatcher::EventLoop, .. } => {
                AnyModel::EventLoop(EventLoop::new(&mut kernel))
            }
            ModelPlan::Coroutines { .. } => AnyModel::Coroutines(Coroutines::new(&mut kernel)),
            ModelPlan::Go { .. } => AnyModel::Go(Go::new(&mut kernel)),
            ModelPlan::Tokio { .. } => AnyModel::Tokio(Tokio::new(&mut kernel)),
        };
        let course = Course {
            kernel,
            events: 0,
            max_events: MAX_EVENTS,
            max_records: MAX_RECORDS,
            too_many_records: false,
            over: false,
            choices: 0,
            livelock: Vec::new(),
        };
        Self { course, model }
    }

    /// The same run, given up after this many events instead of [`MAX_EVENTS`].
    #[must_use]
    pub fn with_max_events(mut self, max_events: u64) -> Self {
        self.course.max_events = max_events;
        self
    }

    /// The same run, given up after this many records instead of [`MAX_RECORDS`].
    #[must_use]
    pub fn with_max_records(mut self, max_records: u64) -> Self {
        self.course.max_records = max_records;
        self
    }

    /// The same run without its records: the recording has the threads and the totals alone, with the same digest.
    #[must_use]
    pub fn without_records(mut self) -> Self {
        self.course.kernel.recorder.drop_records();
        self
    }

    /// The same run, which no livelock ends.
    #[cfg(test)]
    pub(crate) fn looking_away(mut self) -> Self {
        self.course.kernel.retry_log.looks_away = true;
        self
    }

    /// Processes up to `budget` events.
    pub fn step(&mut self, budget: u64) -> Progress {
        // One copy of the loop for each model, so that nothing is looked up for an event.
        match &mut self.model {
            AnyModel::ThreadPool(model) => self.course.advance(model, budget),
            AnyModel::GreenThreads(model) => self.course.advance(model, budget),
            AnyModel::Go(model) => self.course.advance(model, budget),
            AnyModel::Coroutines(model) => self.course.advance(model, budget),
            AnyModel::EventLoop(model) => self.course.advance(model, budget),
            AnyModel::Tokio(model) => self.course.advance(model, budget),
        }
        self.course.progress()
    }

    /// Runs to the end, or until it is given up, and hands the recording over.
    pub fn run(mut self) -> Recording {
        while !self.step(1 << 20).finished {}
        self.into_recording()
    }

    /// Runs to the end as `run` does, and leaves the memory that the recording does not need to the next run.
    pub fn run_in(mut self, arena: &mut Arena) -> Recording {
        while !self.step(1 << 20).finished {}
        self.into_recording_in(arena)
    }

    /// Takes the records of tasks and of threads that have been made since the last call, so that a run of any length
    /// needs no memory for them. The recording at the end lacks them, and its digest does not; starvation at the workers
    /// is not looked for then, and a deadlock may be said to begin with the last record.
    pub fn take_records(&mut self) -> (Records, Records) {
        self.course.kernel.recorder.take()
    }

    /// The recording so far; whole once `step` has said finished.
    pub fn into_recording(self) -> Recording {
        let mut recording = self.into_recording_in(&mut Arena::default());
        recording.tasks.shrink();
        recording.threads.shrink();
        recording
    }

    /// The same, which leaves the memory that the recording does not need to the next run. The recording itself keeps what
    /// it has been given, which may be more than it fills; [`Arena::reclaim`] takes it when nobody reads it any more.
    pub fn into_recording_in(mut self, arena: &mut Arena) -> Recording {
        let findings = self.findings();
        let Course { kernel, events, over, .. } = self.course;
        let (reserved_bytes, resident_bytes) = memory(&kernel);
        // Where tasks wait for each other, only what has no effect can have come after the last record.
        let makespan = if over && !kernel.finished { kernel.recorder.last } else { kernel.now };
        let mut totals = Totals {
            tasks: kernel.plan.tasks,
            unfinished: kernel.plan.tasks - kernel.done,
            makespan_ns: makespan,
            events,
            voluntary_switches: kernel.voluntary_switches,
            involuntary_switches: kernel.involuntary_switches,
            reserved_bytes,
            resident_bytes,
            digest: 0,
        };
        totals.digest = kernel.recorder.digest(&[
            u64::from(totals.tasks),
            u64::from(totals.unfinished),
            totals.makespan_ns,
            totals.events,
            totals.voluntary_switches,
            totals.involuntary_switches,
            totals.reserved_bytes,
            totals.resident_bytes,
        ]);
        *arena = Arena {
            tasks: kernel.tasks.each,
            threads: kernel.threads,
            queue: kernel.queue,
            inbox: kernel.inbox,
            ..std::mem::take(arena)
        };
        let (tasks, threads) = kernel.recorder.into_records();
        Recording { tasks, threads, thread_info: kernel.thread_info, totals, findings }
    }

    /// What is wrong with the run as it stands.
    fn findings(&mut self) -> Vec<Finding> {
        let (course, model) = (&mut self.course, self.model.scheduler());
        if !course.over {
            return Vec::new();
        }
        course.kernel.recorder.settle();
        let kernel = &course.kernel;
        let mut findings = course.livelock.clone();
        if findings.is_empty() && !kernel.finished {
            let waits = Waits::new(kernel, model.locks(), true);
            findings.extend(detect::deadlock(&waits, kernel.recorder.task_records(), kernel.recorder.last));
        }
        if !kernel.recorder.taken {
            findings.extend(detect::starvation(kernel));
        }
        findings.extend(detect::overtaken(kernel, model.locks()));
        findings
    }
}

impl Course {
    /// Processes up to `budget` events, in portions after which the records are counted.
    fn advance<M: Scheduler>(&mut self, model: &mut M, budget: u64) {
        let mut left = budget.min(self.max_events.saturating_sub(self.events));
        while left > 0 && !self.over {
            let portion = left.min(COUNT_EVERY - self.events % COUNT_EVERY);
            if self.events.is_multiple_of(COUNT_EVERY) && self.has_too_many_records() {
                self.too_many_records = true;
                self.max_events = self.events;
                return;
            }
            let done = self.process(model, portion);
            self.events += done;
            left -= done;
            if self.kernel.retry_log.due {
                self.look_at_retries(model);
            } else if done < portion && !self.over {
                // The clock has run too far.
                self.max_events = self.events;
                return;
            }
        }
    }

    /// Whether the run must be given up before the next event, if there is one.
    fn has_too_many_records(&self) -> bool {
        let goes_on = self.kernel.queue.next_time().is_some_and(|time| time <= MAX_CLOCK);
        goes_on && self.kernel.recorder.len() as u64 > self.max_records
    }

    /// Processes up to `portion` events. Returns how many: fewer where the run is over, the clock has run too far, or the
    /// retries must be looked at.
    fn process<M: Scheduler>(&mut self, model: &mut M, portion: u64) -> u64 {
        let kernel = &mut self.kernel;
        kernel.left = portion;
        while kernel.left > 0 {
            let Some((time, event)) = kernel.queue.pop() else {
                self.over = true;
                break;
            };
            debug_assert!(time >= kernel.now, "time runs forward");
            if time > MAX_CLOCK {
                break;
            }
            kernel.now = time;
            kernel.left -= 1;
            let mut ready = None;
            match event {
                Event::BurstEnd(thread) => ready = kernel.burst_end(thread).then_some(thread),
                Event::Runnable(thread) => kernel.make_runnable(thread),
                Event::TimedWake(thread) => kernel.timed_wake(thread),
                Event::SliceEnd => kernel.slice_end(),
                Event::Deadline(task) => model.deadline(kernel, task),
                Event::Arrival => kernel.arrive(),
            }
            // One call, so that the model becomes a part of this loop.
            while let Some(thread) = ready.or_else(|| kernel.os.pop_ready()) {
                debug_assert_eq!(kernel.thread(thread).status, Status::OnCore);
                model.resume(kernel, thread);
                ready = None;
            }
            if kernel.finished || kernel.retry_log.due {
                self.over = kernel.finished;
                break;
            }
        }
        portion - kernel.left
    }

    /// Whether the tasks that try their locks again and again have got nowhere.
    #[cold]
    fn look_at_retries<M: Scheduler>(&mut self, model: &mut M) {
        self.kernel.retry_log.due = false;
        let choices = model.choices();
        let chance = std::mem::replace(&mut self.choices, choices) != choices;
        self.livelock = detect::livelock(&mut self.kernel, model.locks(), chance);
        self.over |= !self.livelock.is_empty();
    }

    fn progress(&self) -> Progress {
        let kernel = &self.kernel;
        let given_up = !self.over && self.events >= self.max_events;
        Progress {
            finished: self.over || given_up,
            given_up,
            too_many_records: given_up && self.too_many_records,
            now_ns: kernel.now,
            events: self.events,
            records: (kernel.recorder.len() as u64).min(self.max_records),
            tasks_done: kernel.done,
            tasks: kernel.plan.tasks,
        }
    }
}

/// [bytes] Reserved and resident at the peak (P-7): stacks of the threads that exist together, and what the tasks
/// need.
fn memory(kernel: &Kernel) -> (u64, u64) {
    let costs = &kernel.plan.costs;
    let alive = kernel.threads.iter().filter(|thread| thread.status != Status::Absent).count();
    debug_assert_eq!(alive, kernel.alive.now as usize, "every thread is counted when it is born and when it ends");
    let threads = u64::from(kernel.alive.peak);
    let live = u64::from(kernel.live_peak);
    let task_bytes = match kernel.plan.model {
        ModelPlan::ThreadPool { .. } => live * costs.pool_task_bytes,
        // A goroutine has its stack from the start.
        ModelPlan::Go { .. } => live * costs.go_bytes,
        // A green thread has a stack in the heap once it has run; before that it is about as small as a pool's task.
        ModelPlan::GreenThreads { .. } => {
            let started = u64::from(kernel.started_peak);
            started * costs.vt_parked_bytes + (live - started.min(live)) * costs.pool_task_bytes
        }
        ModelPlan::Coroutines { .. } => live * costs.kt_bytes,
        ModelPlan::Tokio { .. } => live * costs.tokio_bytes,
    };
    let (base, stack, thread) = match kernel.plan.model {
        ModelPlan::Tokio { .. } => (costs.tokio_base_resident, costs.tokio_stack_reserved, costs.tokio_thread_resident),
        // An M's stack is a piece of the runtime's heap.
        ModelPlan::Go { .. } => (costs.go_resident, costs.go_thread_resident, costs.go_thread_resident),
        _ => (costs.base_resident, costs.stack_reserved, costs.thread_resident),
    };
    let resident = base + threads * thread + task_bytes;
    let reserved = base + threads * stack + task_bytes;
    (reserved.max(resident), resident)
}
