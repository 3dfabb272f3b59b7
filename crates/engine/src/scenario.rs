//! The scenario file: tasks, machine, runs, cost profile, seed; version 1.
//!
//! Only the file's types live here. Reading is in `parse`, checking in `validate`, the shipped files in `presets`.

mod amounts;
mod parse;
mod presets;
mod validate;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use presets::{PRESET_NAMES, preset};
pub use validate::{MAX_CORES, MAX_RUNS, MAX_STEPS, MAX_TASKS, MAX_THREADS};

use crate::quantity::{Bytes, Milli, Nanos};

/// The version of the scenario format that this engine reads and writes.
pub const SCENARIO_VERSION: u32 = 1;

/// A workload, a machine, and the models to run it under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a scenario: version, name, machine, tasks, runs")]
pub struct Scenario {
    /// Format version; 1.
    pub version: u32,
    /// Identifier: lower-case letters, digits, hyphens.
    pub name: String,
    /// A few words for a person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// One sentence that says what to see.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Seed of every random draw.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Name of the cost profile.
    #[serde(default = "default_profile")]
    pub profile: String,
    /// Costs that replace the profile's, by name, with their unit: `vt_spawn = "2 us"`.
    #[serde(default, deserialize_with = "amounts::no_name_twice", skip_serializing_if = "BTreeMap::is_empty")]
    pub costs: BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
    /// Task classes; all are submitted in this order by one submitter.
    pub tasks: Vec<TaskClass>,
    /// The models to run the same tasks under.
    pub runs: Vec<RunSpec>,
    /// Published figures to compare with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// The machine that every run has to itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a machine such as { cores = 8 }")]
pub struct Machine {
    /// Processors; 1 to 1,024.
    pub cores: u32,
    /// Memory, where the source names it; for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
}

/// Tasks that run the same steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a class of tasks such as { count = 10, steps = [{ io = \"50 ms\" }] }")]
pub struct TaskClass {
    /// A word for a person, such as `request`.
    #[serde(default = "default_class_name")]
    pub name: String,
    /// How many.
    pub count: u64,
    /// The first is submitted no earlier than this; the clock starts with the first class to be submitted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at: Nanos,
    /// When the others follow.
    #[serde(default, skip_serializing_if = "Arrival::is_at_once")]
    pub arrival: Arrival,
    /// What each task does, in order.
    pub steps: Vec<Step>,
}

/// When the tasks of a class arrive, counted from the class's `at`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrival {
    /// All at once.
    #[default]
    AtOnce,
    /// One after each gap of this length.
    Every(Nanos),
    /// A Poisson process: gaps drawn from an exponential distribution with this mean.
    Poisson(Nanos),
    /// Several at a time.
    Bursts(Bursts),
    /// At these times, which do not fall; as many as there are tasks.
    Times(Vec<Nanos>),
}

impl Arrival {
    /// [ns] About when the last of `count` tasks arrives, counted from the first's earliest time.
    pub fn mean_end_ns(&self, count: u64) -> u64 {
        match self {
            Self::AtOnce => 0,
            Self::Every(gap) => gap.0.saturating_mul(count.saturating_sub(1)),
            Self::Poisson(mean) => mean.0.saturating_mul(count),
            Self::Bursts(bursts) => bursts.every.0.saturating_mul(count.saturating_sub(1) / bursts.size.max(1)),
            Self::Times(times) => times.last().map_or(0, |time| time.0),
        }
    }

    fn is_at_once(&self) -> bool {
        *self == Self::AtOnce
    }
}

/// See [`Arrival::Bursts`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "bursts such as { size = 100, every = \"10 ms\" }")]
pub struct Bursts {
    /// Tasks in a burst.
    pub size: u64,
    /// From one burst to the next.
    pub every: Nanos,
}

/// One part of a task. In a file: `{ cpu = "20 us" }`, `{ io = "50 ms" }`, `{ lock = { name = "agent" } }`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Computes.
    Cpu(CpuWork),
    /// Waits in a way that the runtime can suspend: sleep, socket, remote call.
    Io(Duration),
    /// Waits in a way that the runtime cannot suspend: native call, file read, `Thread.sleep` in a coroutine.
    Block(Duration),
    /// Takes a lock; `unlock` must follow.
    Lock(LockSpec),
    /// Gives the lock of this name back.
    Unlock(String),
}

/// An amount of computation: a time, or iterations of the seed's loop (`sum += i * i`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum CpuWork {
    /// Iterations; the profile's `cpu_iteration` says how long one takes.
    Iterations(Iterations),
    /// A time on a core.
    Time(Duration),
}

/// See [`CpuWork`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Iterations {
    /// How many.
    pub iterations: u64,
}

/// A length of time, the same for every task or drawn per task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Duration {
    /// Always the same.
    Constant(Nanos),
    /// Drawn for each task.
    Drawn(Distribution),
}

/// A distribution of durations; draws are whole nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distribution {
    /// Every nanosecond from the first to the second, both included, is equally likely.
    Uniform(Nanos, Nanos),
    /// Exponential with this mean.
    Exponential(Nanos),
    /// Lognormal: the logarithm is normally distributed.
    Lognormal(Lognormal),
    /// Bounded Pareto: many short and a few long ones.
    Pareto(Pareto),
    /// One of these, each as likely as it is frequent in the list.
    Empirical(Vec<Nanos>),
}

/// See [`Distribution::Lognormal`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a lognormal distribution such as { median = \"50 ms\", sigma = 0.5 }")]
pub struct Lognormal {
    /// Half of the draws are shorter.
    pub median: Nanos,
    /// Standard deviation of the logarithm, from 0 to 4.
    pub sigma: Milli,
}

/// See [`Distribution::Pareto`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a Pareto distribution such as { min = \"1 ms\", max = \"1 s\", shape = 1.2 }"
)]
pub struct Pareto {
    /// The shortest.
    pub min: Nanos,
    /// The longest.
    pub max: Nanos,
    /// How fast the tail falls, from 0.1 to 10; below 2 the tail is heavy.
    pub shape: Milli,
}

/// A lock to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a lock such as { name = \"a\" }")]
pub struct LockSpec {
    /// Which one.
    pub name: String,
    /// How it is implemented.
    #[serde(default)]
    pub kind: LockKind,
    /// One for all tasks, or one for each.
    #[serde(default)]
    pub scope: LockScope,
}

/// How a lock is implemented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockKind {
    /// `synchronized`.
    #[default]
    Monitor,
    /// `ReentrantLock` on threads; `kotlinx.coroutines.sync.Mutex` in coroutines.
    Reentrant,
}

/// How many locks a name stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LockScope {
    /// One lock that all tasks share.
    #[default]
    Shared,
    /// Each task has a lock of its own, so nobody ever waits for it.
    Task,
}

/// The three models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// A pool of OS threads, one task at a time on each.
    ThreadPool,
    /// Green threads on carriers (Java virtual threads).
    GreenThreads,
    /// Coroutines on a dispatcher (Kotlin).
    Coroutines,
}

impl Model {
    /// Every model.
    pub const ALL: [Self; 3] = [Self::ThreadPool, Self::GreenThreads, Self::Coroutines];

    /// The word used in files, links and commands.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ThreadPool => "thread-pool",
            Self::GreenThreads => "green-threads",
            Self::Coroutines => "coroutines",
        }
    }
}

/// One model with its knobs; a knob of another model is refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a run such as { model = \"thread-pool\" }")]
pub struct RunSpec {
    /// Which model.
    pub model: Model,
    /// Thread pool: number of threads; default: the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u32>,
    /// Thread pool: a blocking wait wakes its thread this often to poll; counted as context switches only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<Nanos>,
    /// Green threads: JDK, 21 or 25; default 25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jdk: Option<u32>,
    /// Green threads: `jdk.virtualThreadScheduler.parallelism`; default: the cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carriers: Option<u32>,
    /// Coroutines: dispatcher; default `default`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dispatcher: Option<Dispatcher>,
    /// Replaces the kind of every lock in the tasks, to compare kinds on one workload.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lock: Option<LockKind>,
}

impl RunSpec {
    /// A run of this model with every knob at its default.
    pub const fn new(model: Model) -> Self {
        Self { model, size: None, poll_interval: None, jdk: None, carriers: None, dispatcher: None, lock: None }
    }

    /// The variant in one word that is unique among the runs of a sensible scenario: `fixed-12`, `java-25`,
    /// `java-21-monitor`, `kotlin-io`.
    pub fn variant(&self, machine: &Machine) -> String {
        let mut text = match self.model {
            Model::ThreadPool => format!("fixed-{}", self.size.unwrap_or(machine.cores)),
            Model::GreenThreads => format!("java-{}", self.jdk.unwrap_or(DEFAULT_JDK)),
            Model::Coroutines => format!("kotlin-{}", self.dispatcher.unwrap_or_default().as_str()),
        };
        if let Some(carriers) = self.carriers.filter(|&n| n != machine.cores) {
            text = format!("{text}-p{carriers}");
        }
        match self.lock {
            Some(LockKind::Monitor) => text.push_str("-monitor"),
            Some(LockKind::Reentrant) => text.push_str("-reentrant"),
            None => {}
        }
        text
    }
}

/// The JDK of a green-threads run that names none.
pub const DEFAULT_JDK: u32 = 25;

/// Where coroutines run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatcher {
    /// `Dispatchers.Default`: as many workers as cores (K-3 to K-5).
    #[default]
    Default,
    /// `Dispatchers.IO`: at most max(64, cores) at once (K-6).
    Io,
    /// `runBlocking`: the caller's own loop (K-1).
    EventLoop,
}

impl Dispatcher {
    /// The word used in files and links.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Io => "io",
            Self::EventLoop => "event-loop",
        }
    }
}

/// A published figure for one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reference {
    /// Where it is from, such as `seed-2`.
    pub source: String,
    /// Index in `runs`.
    pub run: usize,
    /// What was measured.
    pub metric: Metric,
    /// The figure as an integer: ns, tasks per 1,000 s (so that 9.9 per s is exact), bytes, switches per second, tasks.
    pub value: u64,
    /// The figure as it is printed in the source.
    pub printed: String,
    /// Why the source contradicts itself here, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<String>,
    /// The value that the source's own rules allow, in the same unit, where that differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistent_value: Option<u64>,
}

/// What a published figure measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// [ns] Start of the run to its end.
    Makespan,
    /// [tasks per 1,000 s]
    Throughput,
    /// [bytes] Resident set at its peak.
    Resident,
    /// [per second] OS context switches.
    SwitchesPerSecond,
    /// [tasks] Started and not ended, at the peak.
    InFlight,
}

impl Scenario {
    /// Tasks of all classes together.
    pub fn task_count(&self) -> u64 {
        self.tasks.iter().fold(0, |sum, class| sum.saturating_add(class.count))
    }

    /// The same scenario with only the runs of this model; references follow their runs.
    #[must_use]
    pub fn only(&self, model: Model) -> Self {
        let kept: Vec<usize> = (0..self.runs.len()).filter(|&i| self.runs[i].model == model).collect();
        let mut scenario = self.clone();
        scenario.runs = kept.iter().map(|&i| self.runs[i].clone()).collect();
        scenario.references.retain_mut(|reference| match kept.iter().position(|&i| i == reference.run) {
            Some(new) => {
                reference.run = new;
                true
            }
            None => false,
        });
        scenario
    }
}

fn default_seed() -> u64 {
    1
}

fn default_profile() -> String {
    "linux-default".to_owned()
}

fn default_class_name() -> String {
    "task".to_owned()
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(nanos: &Nanos) -> bool {
    nanos.0 == 0
}
