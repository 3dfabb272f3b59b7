//! A scenario resolved for one run: tasks numbered, steps compiled, costs as integers, locks numbered.
//!
//! No scheduling here. The native binary uses the same plan, so that a measured task does what a simulated one does.

use crate::draw::Span;
use crate::error::ScenarioError;
use crate::profile::{CostProfile, Costs};
use crate::quantity::Milli;
use crate::rng::{Purpose, stream};
use crate::scenario::{
    Arrival, CpuWork, Dispatcher, Distribution, Duration, LockKind, LockScope, RunSpec, Scenario, Step,
};
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
    /// Waits, not suspendable.
    Block(Span),
    /// Takes a lock.
    Lock(LockRef),
    /// Gives a lock back.
    Unlock(LockRef),
}

/// Which lock a step means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockRef {
    /// Number of the shared lock; `None` for a lock of the task's own, which nobody else ever holds.
    pub shared: Option<u32>,
    /// How it is implemented.
    pub kind: LockKind,
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
    /// The steps.
    pub ops: Vec<Op>,
}

/// The model with every default filled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelPlan {
    /// A fixed pool.
    ThreadPool {
        /// Threads.
        size: u32,
        /// [ns] Wake-ups of a blocked thread, for counting; 0 for none.
        poll_interval: u64,
    },
    /// Java virtual threads.
    GreenThreads {
        /// 21 or 25.
        jdk: u32,
        /// Carriers.
        carriers: u32,
    },
    /// Kotlin coroutines.
    Coroutines {
        /// Where they run.
        dispatcher: Dispatcher,
    },
}

/// One run of a scenario, resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Seed of the draws.
    pub seed: u64,
    /// Cores of the machine.
    pub cores: u32,
    /// Tasks in all.
    pub tasks: u32,
    /// Shared locks in all.
    pub locks: u32,
    /// The classes, in the order of the file; their tasks are numbered consecutively.
    pub classes: Vec<Class>,
    /// The model.
    pub model: ModelPlan,
    /// The costs.
    pub costs: Costs,
}

impl Plan {
    /// Resolves run number `run` with the costs of the scenario's profile.
    pub fn new(scenario: &Scenario, run: usize) -> Result<Self, ScenarioError> {
        let mut profile = CostProfile::named(&scenario.profile)?;
        let errors = profile.replace(&scenario.costs);
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
        let mut lock_names: Vec<&str> = Vec::new();
        let mut classes = Vec::with_capacity(scenario.tasks.len());
        let mut first = 0;
        // The clock starts with the first submission, as in a measurement.
        let start = scenario.tasks.iter().map(|class| class.at.0).min().unwrap_or_default();
        for class in &scenario.tasks {
            let mut held: Vec<(&str, LockRef)> = Vec::new();
            let mut ops = Vec::with_capacity(class.steps.len());
            for step in &class.steps {
                ops.push(compile(step, spec, &costs, &mut lock_names, &mut held));
            }
            let count = class.count as u32;
            classes.push(Class {
                name: class.name.clone(),
                first,
                count,
                at: class.at.0 - start,
                arrivals: arrivals(&class.arrival),
                ops,
            });
            first += count;
        }
        Ok(Self {
            seed: scenario.seed,
            cores: scenario.machine.cores,
            tasks: first,
            locks: lock_names.len() as u32,
            classes,
            model: resolve(spec, scenario.machine.cores),
            costs,
        })
    }

    /// The class of a task.
    pub fn class_of(&self, task: u32) -> &Class {
        let index = self.classes.partition_point(|class| class.first + class.count <= task);
        &self.classes[index]
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

fn resolve(spec: &RunSpec, cores: u32) -> ModelPlan {
    use crate::scenario::{DEFAULT_JDK, Model};
    match spec.model {
        Model::ThreadPool => ModelPlan::ThreadPool {
            size: spec.size.unwrap_or(cores),
            poll_interval: spec.poll_interval.unwrap_or_default().0,
        },
        Model::GreenThreads => {
            ModelPlan::GreenThreads { jdk: spec.jdk.unwrap_or(DEFAULT_JDK), carriers: spec.carriers.unwrap_or(cores) }
        }
        Model::Coroutines => ModelPlan::Coroutines { dispatcher: spec.dispatcher.unwrap_or_default() },
    }
}

fn compile<'a>(
    step: &'a Step,
    spec: &RunSpec,
    costs: &Costs,
    names: &mut Vec<&'a str>,
    held: &mut Vec<(&'a str, LockRef)>,
) -> Op {
    match step {
        Step::Cpu(CpuWork::Iterations(n)) => {
            let ns = (u128::from(n.iterations) * u128::from(costs.cpu_iteration) + 500) / 1_000;
            Op::Iterations(n.iterations, Span::Constant(ns as u64))
        }
        Step::Cpu(CpuWork::Time(duration)) => Op::Cpu(duration.into()),
        Step::Io(duration) => Op::Io(duration.into()),
        Step::Block(duration) => Op::Block(duration.into()),
        Step::Lock(lock) => {
            let shared = (lock.scope == LockScope::Shared).then(|| {
                let known = names.iter().position(|name| *name == lock.name);
                known.unwrap_or_else(|| {
                    names.push(&lock.name);
                    names.len() - 1
                }) as u32
            });
            let lock_ref = LockRef { shared, kind: spec.lock.unwrap_or(lock.kind) };
            held.push((&lock.name, lock_ref));
            Op::Lock(lock_ref)
        }
        Step::Unlock(name) => {
            let position = held.iter().position(|(held, _)| held == name);
            // Validation has made sure that the lock is held.
            let (_, lock_ref) = held.remove(position.unwrap_or_default());
            Op::Unlock(lock_ref)
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

fn arrivals(arrival: &Arrival) -> Arrivals {
    match arrival {
        Arrival::AtOnce => Arrivals::AtOnce,
        Arrival::Every(gap) => Arrivals::Every(gap.0),
        Arrival::Poisson(mean) => Arrivals::Poisson(mean.0),
        Arrival::Bursts(bursts) => Arrivals::Bursts { size: bursts.size, every: bursts.every.0 },
        Arrival::Times(times) => Arrivals::Times(times.iter().map(|nanos| nanos.0).collect()),
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
        let kinds: Vec<LockKind> = (0..4)
            .map(|run| match &Plan::new(&scenario, run).unwrap().classes[0].ops[0] {
                Op::Lock(lock) => lock.kind,
                op => panic!("{op:?}"),
            })
            .collect();
        assert_eq!(kinds, [LockKind::Monitor, LockKind::Reentrant, LockKind::Monitor, LockKind::Reentrant]);
    }
}
