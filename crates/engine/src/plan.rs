//! A scenario resolved for one run: tasks numbered, steps compiled, costs as integers, locks numbered.
//!
//! No scheduling here. The native binary uses the same plan, so that a measured task does what a simulated one does.
//! How steps become operations is in `compile`.

mod compile;
mod held;

use self::compile::compile;
use crate::draw::Span;
use crate::error::ScenarioError;
use crate::profile::{CostProfile, Costs};
use crate::quantity::Milli;
use crate::rng::{Purpose, between, stream};
use crate::scenario::{
    Arrival, BlockKind, Blocking, Dispatcher, Distribution, Duration, Flavor, LockKind, Machine, Model, PoolKind,
    Rejection, RunSpec, Scenario,
};
use crate::state::Reason;
use crate::submissions::{Arrivals, Submissions};

/// A step as the engine runs it.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Computes for a time.
    Cpu(Span),
    /// Computes this many iterations of the seed's loop, for the time that the profile gives them.
    Iterations(u64, Span),
    /// Waits, suspendable.
    Io(Span),
    /// Waits, suspendable, before it tries its locks again.
    Backoff(Span),
    /// Waits, not suspendable.
    Block(BlockKind, Span),
    /// Takes a lock or a permit.
    Lock(LockRef),
    /// Takes a lock if it is free; otherwise goes on at the other step.
    TryLock(LockRef, u16),
    /// Gives a lock or a permit back.
    Unlock(LockRef),
    /// Lets others run first.
    Yield,
    /// Makes a task to spawn: what starting it costs.
    Prepare(ChildRef),
    /// Starts the task.
    Spawn(ChildRef),
    /// Waits for every task that this one has spawned.
    Join,
    /// Goes on at this step, at once.
    Jump(u16),
    /// The task ends.
    End,
}

/// Which lock or semaphore a step means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRef {
    /// Number of the shared lock; `None` for a lock of the task's own, which nobody else ever holds.
    pub shared: Option<u32>,
    /// How it is implemented.
    pub kind: GuardKind,
}

impl LockRef {
    /// Whether a monitor, a class initialiser or a native frame is on the stack while it is held: a coroutine cannot
    /// suspend in there, and a virtual thread of JDK 21 to 23 cannot unmount.
    pub const fn is_scoped(self) -> bool {
        !matches!(self.kind, GuardKind::Reentrant | GuardKind::Semaphore)
    }

    /// Whether a virtual thread of any JDK cannot unmount while it is held (T-15).
    pub const fn is_frame(self) -> bool {
        matches!(self.kind, GuardKind::ClassInitializer | GuardKind::NativeFrame)
    }
}

/// How a lock or semaphore is implemented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GuardKind {
    /// `synchronized`.
    Monitor,
    /// `ReentrantLock` or `Mutex`.
    Reentrant,
    /// The initialiser of a class.
    ClassInitializer,
    /// A native frame.
    NativeFrame,
    /// A semaphore.
    Semaphore,
}

impl GuardKind {
    /// Why a task waits for one.
    pub const fn reason(self) -> Reason {
        match self {
            Self::Monitor => Reason::Monitor,
            Self::Reentrant | Self::NativeFrame => Reason::Lock,
            Self::ClassInitializer => Reason::ClassInitializer,
            Self::Semaphore => Reason::Permit,
        }
    }
}

impl From<LockKind> for GuardKind {
    fn from(kind: LockKind) -> Self {
        match kind {
            LockKind::Monitor => Self::Monitor,
            LockKind::Reentrant => Self::Reentrant,
            LockKind::ClassInitializer => Self::ClassInitializer,
            LockKind::NativeFrame => Self::NativeFrame,
        }
    }
}

/// A lock or semaphore that tasks share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its name in the scenario.
    pub name: String,
    /// How many tasks may hold it at a time; 1 for a lock.
    pub permits: u32,
    /// Whether nobody overtakes those who wait.
    pub fair: bool,
}

/// A task that another one spawns, counted from the first of its class that the same task spawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildRef {
    /// Index of its class.
    pub class: u8,
    /// Its number among those of one parent.
    pub number: u32,
}

/// Where the tasks of a class come from, if they do not arrive from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    /// Index of the class that spawns them.
    pub class: u8,
    /// How many each task of that class spawns.
    pub each: u32,
}

/// Tasks that run the same steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Its name.
    pub name: String,
    /// Its first task's number.
    pub first: u32,
    /// How many tasks it has.
    pub count: u32,
    /// [ns] Earliest submission, from the first submission of the run.
    pub at: u64,
    /// When its tasks arrive.
    pub arrivals: Arrivals,
    /// Who spawns its tasks; `None` for those that arrive.
    pub parent: Option<Parent>,
    /// The steps, up to `End`; after it, what to do when a lock could not be taken.
    pub ops: Vec<Op>,
    /// Index of `End`.
    pub end: u16,
}

/// The model with every default filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPlan {
    /// A thread pool.
    ThreadPool {
        /// When threads are created.
        kind: PoolKind,
        /// Threads of a fixed pool.
        size: u32,
        /// Room in the queue of a fixed pool; `u32::MAX` for no limit.
        queue: u32,
        /// What becomes of a task that does not fit.
        rejection: Rejection,
        /// [ns] Wake-ups of a blocked thread, for counting; 0 for none.
        poll_interval: u64,
    },
    /// Java virtual threads.
    GreenThreads {
        /// 21 to 25.
        jdk: u32,
        /// Carriers wanted.
        carriers: u32,
        /// Most carriers with those that make up for blocked ones.
        max_pool: u32,
        /// Unblocked carriers below which a new one is created.
        min_runnable: u32,
    },
    /// Goroutines.
    Go {
        /// `GOMAXPROCS`.
        workers: u32,
    },
    /// Kotlin coroutines.
    Coroutines {
        /// Where they run.
        dispatcher: Dispatcher,
        /// A view by `limitedParallelism`; `None` for the dispatcher itself.
        parallelism: Option<u32>,
    },
    /// tokio tasks.
    Tokio {
        /// Which runtime.
        flavor: Flavor,
        /// Worker threads; 1 for the current thread.
        workers: u32,
        /// Where calls that block run.
        blocking: Blocking,
    },
}

/// One run of a scenario, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Seed of the draws.
    pub seed: u64,
    /// Cores of the machine.
    pub cores: u32,
    /// Most threads that the OS lets the process have (P-6).
    pub max_threads: u32,
    /// Tasks in all.
    pub tasks: u32,
    /// Shared locks and semaphores, by number.
    pub guards: Vec<Guard>,
    /// The classes, in the order of the file, each followed by those of the tasks that it spawns; their tasks are
    /// numbered consecutively.
    pub classes: Vec<Class>,
    /// One stream of arrivals for all classes that arrive.
    pub mix: Option<MixPlan>,
    /// The model.
    pub model: ModelPlan,
    /// The costs.
    pub costs: Costs,
}

/// One stream of arrivals.
#[derive(Clone, Debug, PartialEq)]
pub struct MixPlan {
    /// [ns] Earliest arrival.
    pub at: u64,
    /// When the tasks arrive.
    pub arrivals: Arrivals,
    /// The class of each, by its index, in order of arrival.
    pub order: Vec<u8>,
}

/// Half of Linux's default `max_map_count` of 65,530, for a thread of a JVM takes two mappings (P-6).
const DEFAULT_MAX_THREADS: u32 = 32_765;

impl Plan {
    /// Resolves run number `run` with the costs of the scenario's profile.
    pub fn new(scenario: &Scenario, run: usize) -> Result<Self, ScenarioError> {
        let mut profile = CostProfile::named(&scenario.profile)?;
        let mut errors = profile.replace(&scenario.costs);
        if let Some(spec) = scenario.runs.get(run) {
            errors.extend(profile.replace(&spec.costs));
        }
        if !errors.is_empty() {
            return Err(ScenarioError::Invalid(errors));
        }
        Self::with_costs(scenario, run, profile.costs)
    }

    /// Resolves run number `run` with these costs.
    pub fn with_costs(scenario: &Scenario, run: usize, costs: Costs) -> Result<Self, ScenarioError> {
        scenario.validate()?;
        let Some(spec) = scenario.runs.get(run) else {
            let allowed = format!("0 to {}", scenario.runs.len() - 1);
            return Err(ScenarioError::Invalid(vec![crate::error::FieldError::new("run", run, allowed)]));
        };
        let (classes, guards) = compile(scenario, spec, &costs);
        let mut plan = Self {
            seed: scenario.seed,
            cores: scenario.machine.cores,
            max_threads: max_threads(&scenario.machine, spec, &costs),
            tasks: 0,
            guards,
            classes,
            mix: None,
            model: resolve(spec, scenario.machine.cores),
            costs,
        };
        plan.mix(scenario);
        plan.number();
        Ok(plan)
    }

    /// Draws the class of every task of the mix, if there is one, and counts them.
    fn mix(&mut self, scenario: &Scenario) {
        let Some(mix) = &scenario.mix else { return };
        let roots: Vec<u8> = (0..).zip(&self.classes).filter(|(_, c)| c.parent.is_none()).map(|(i, _)| i).collect();
        let weights: Vec<u64> = scenario.tasks.iter().map(|class| u64::from(class.weight.unwrap_or(1))).collect();
        let all: u64 = weights.iter().sum();
        let mut rng = stream(self.seed, Purpose::Mix, 0);
        let draw = |_| {
            let mut at = between(&mut rng, 0, all.saturating_sub(1));
            let heavier = |weight: &u64| {
                let here = at < *weight;
                at = at.saturating_sub(*weight);
                here
            };
            let index = weights.iter().position(heavier).unwrap_or_default();
            roots.get(index).copied().unwrap_or_default()
        };
        let order: Vec<u8> = (0..mix.count).map(draw).collect();
        for &class in &order {
            self.classes[usize::from(class)].count += 1;
        }
        self.mix = Some(MixPlan { at: 0, arrivals: Arrivals::from(&mix.arrival), order });
    }

    /// Numbers the tasks; a class that is spawned has as many as its parents make.
    fn number(&mut self) {
        let mut first = 0;
        for index in 0..self.classes.len() {
            let count = match self.classes[index].parent {
                Some(parent) => self.classes[usize::from(parent.class)].count * parent.each,
                None => self.classes[index].count,
            };
            let class = &mut self.classes[index];
            class.first = first;
            class.count = count;
            first += count;
        }
        self.tasks = first;
    }

    /// The class of a task.
    pub fn class_of(&self, task: u32) -> &Class {
        let index = self.classes.partition_point(|class| class.first + class.count <= task);
        &self.classes[index]
    }

    /// The task that a task of class `parent_class` spawns.
    pub fn child(&self, parent: u32, parent_class: usize, child: ChildRef) -> u32 {
        let class = &self.classes[usize::from(child.class)];
        let each = class.parent.map_or(0, |parent| parent.each);
        class.first + (parent - self.classes[parent_class].first) * each + child.number
    }

    /// The task that spawns this one; `None` for one that arrives.
    pub fn parent(&self, task: u32) -> Option<u32> {
        let class = self.class_of(task);
        let parent = class.parent?;
        Some(self.classes[usize::from(parent.class)].first + (task - class.first) / parent.each.max(1))
    }

    /// [ns] How long this step of this task takes; the same in every model.
    pub fn duration(&self, task: u32, step: usize, span: &Span) -> u64 {
        if let Span::Constant(ns) = span {
            return *ns;
        }
        let subject = (step as u64) << 32 | u64::from(task);
        span.draw(&mut stream(self.seed, Purpose::StepDuration, subject))
    }

    /// The tasks in the order in which they are due.
    pub fn submissions(&self) -> Submissions {
        Submissions::new(self)
    }
}

/// How many threads the process can have: by the limit of the OS, and, in a thread pool, by what the memory holds (P-6).
fn max_threads(machine: &Machine, spec: &RunSpec, costs: &Costs) -> u32 {
    let limit = machine.max_threads.unwrap_or(DEFAULT_MAX_THREADS);
    let memory = machine.memory.filter(|_| spec.model == Model::ThreadPool);
    let held =
        memory.and_then(|memory| memory.0.saturating_sub(costs.base_resident).checked_div(costs.thread_resident));
    held.map_or(limit, |held| limit.min(u32::try_from(held).unwrap_or(u32::MAX)))
}

fn resolve(spec: &RunSpec, cores: u32) -> ModelPlan {
    use crate::scenario::{DEFAULT_JDK, Runtime};
    let workers = spec.workers.unwrap_or(cores);
    match spec.runtime() {
        None => ModelPlan::ThreadPool {
            kind: spec.pool.unwrap_or_default(),
            size: spec.size.unwrap_or(cores),
            queue: spec.queue.unwrap_or(u32::MAX),
            rejection: spec.rejection.unwrap_or_default(),
            poll_interval: spec.poll_interval.unwrap_or_default().0,
        },
        Some(Runtime::Java) => {
            let wanted = spec.carriers.unwrap_or(cores);
            let max_pool = spec.max_pool.unwrap_or_else(|| wanted.max(256));
            // As the JDK does where maxPoolSize is below the parallelism.
            let carriers = wanted.min(max_pool);
            let min_runnable = spec.min_runnable.unwrap_or_else(|| (carriers / 2).max(1));
            ModelPlan::GreenThreads { jdk: spec.jdk.unwrap_or(DEFAULT_JDK), carriers, max_pool, min_runnable }
        }
        Some(Runtime::Go) => ModelPlan::Go { workers },
        Some(Runtime::Kotlin) => {
            ModelPlan::Coroutines { dispatcher: spec.dispatcher.unwrap_or_default(), parallelism: spec.parallelism }
        }
        Some(Runtime::Tokio) => {
            let flavor = spec.flavor.unwrap_or_default();
            let workers = if flavor == Flavor::CurrentThread { 1 } else { workers };
            ModelPlan::Tokio { flavor, workers, blocking: spec.blocking.unwrap_or_default() }
        }
    }
}

impl From<&Duration> for Span {
    fn from(duration: &Duration) -> Self {
        let thousandths = |milli: Milli| f64::from(milli.0) / 1_000.0;
        match duration {
            Duration::Constant(nanos) => Span::Constant(nanos.0),
            Duration::Drawn(Distribution::Uniform(from, to)) => Span::Uniform(from.0, to.0),
            Duration::Drawn(Distribution::Exponential(mean)) => Span::Exponential(mean.0),
            Duration::Drawn(Distribution::Lognormal(l)) => {
                Span::Lognormal { median: l.median.0, sigma: thousandths(l.sigma) }
            }
            Duration::Drawn(Distribution::Pareto(p)) => {
                Span::Pareto { min: p.min.0, max: p.max.0, shape: thousandths(p.shape) }
            }
            Duration::Drawn(Distribution::Empirical(values)) => {
                Span::Empirical(values.iter().map(|nanos| nanos.0).collect())
            }
        }
    }
}

impl From<&Arrival> for Arrivals {
    fn from(arrival: &Arrival) -> Self {
        match arrival {
            Arrival::AtOnce => Self::AtOnce,
            Arrival::Every(gap) => Self::Every(gap.0),
            Arrival::Poisson(mean) => Self::Poisson(mean.0),
            Arrival::Bursts(bursts) => Self::Bursts { size: bursts.size, every: bursts.every.0 },
            Arrival::ClosedLoop(closed) => Self::ClosedLoop { users: closed.users, think: Span::from(&closed.think) },
            Arrival::Times(times) => Self::Times(times.iter().map(|nanos| nanos.0).collect()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::preset;

    #[test]
    fn every_model_gets_the_same_durations() {
        let scenario = preset("llm-agents").unwrap();
        let plans: Vec<Plan> = (0..scenario.runs.len()).map(|run| Plan::new(&scenario, run).unwrap()).collect();
        let span = Span::Uniform(2_000_000_000, 2_200_000_000);
        for task in [0, 1, 9_999] {
            let durations: Vec<u64> = plans.iter().map(|plan| plan.duration(task, 0, &span)).collect();
            assert!(durations.iter().all(|d| *d == durations[0] && (2_000_000_000..=2_200_000_000).contains(d)));
        }
    }

    #[test]
    fn a_run_can_replace_the_kind_of_the_locks() {
        let scenario = preset("pinning").unwrap();
        let kinds: Vec<GuardKind> = (0..4)
            .map(|run| match &Plan::new(&scenario, run).unwrap().classes[0].ops[0] {
                Op::Lock(lock) => lock.kind,
                op => panic!("{op:?}"),
            })
            .collect();
        assert_eq!(kinds, [GuardKind::Monitor, GuardKind::Reentrant, GuardKind::Monitor, GuardKind::Reentrant]);
    }
}
