//! The scenario file: tasks, machine, runs, cost profile, seed; version 1.
//!
//! Only the file's types live here. Reading is in `parse`, checking in `validate`, the shipped files in `presets`.

mod amounts;
mod arrival;
mod parse;
mod presets;
mod run;
#[cfg(feature = "schema")]
mod schema;
mod steps;
mod validate;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use arrival::{Arrival, Bursts, ClosedLoop, Mix};
pub use presets::{PRESET_NAMES, preset};
pub use run::{Blocking, DEFAULT_JDK, Dispatcher, Flavor, Model, PoolKind, Rejection, RunSpec, Runtime};
pub use steps::{
    Block, BlockKind, CpuWork, Distribution, Duration, Iterations, LockKind, LockScope, LockSpec, Lognormal, Pareto,
    Repeat, SemaphoreSpec, SpawnSpec, Step,
};
pub use validate::{MAX_CORES, MAX_DEPTH, MAX_OPS, MAX_RUNS, MAX_STEPS, MAX_TASKS, MAX_THREADS};

use crate::quantity::{Bytes, Nanos};

/// The version of the scenario format that this engine reads and writes.
pub const SCENARIO_VERSION: u32 = 1;

/// A workload, a machine, and the models to run it under.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(transform = schema::scenario))]
#[serde(deny_unknown_fields, expecting = "a scenario: version, name, machine, tasks, runs")]
pub struct Scenario {
    /// Format version; 1.
    #[cfg_attr(feature = "schema", schemars(range(min = SCENARIO_VERSION, max = SCENARIO_VERSION)))]
    pub version: u32,
    /// Identifier: lower-case letters, digits, hyphens.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[a-z0-9-]{1,64}$")))]
    pub name: String,
    /// A few words for a person.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 200), regex(pattern = schema::ONE_LINE)))]
    pub title: String,
    /// One sentence that says what to see.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 2_000), regex(pattern = schema::ONE_LINE)))]
    pub description: String,
    /// Seed of every random draw.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Name of the cost profile.
    #[serde(default = "default_profile")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::profile"))]
    pub profile: String,
    /// Costs that replace the profile's, by name, with their unit: `vt_spawn = "2 us"`.
    #[serde(default, deserialize_with = "amounts::no_name_twice", skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(schema_with = "schema::costs"))]
    pub costs: BTreeMap<String, String>,
    /// The machine.
    pub machine: Machine,
    /// One stream of arrivals for all classes, which then have weights instead of counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// Task classes; all are submitted in this order by one submitter.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = MAX_RUNS)))]
    pub tasks: Vec<TaskClass>,
    /// The models to run the same tasks under.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = MAX_RUNS)))]
    pub runs: Vec<RunSpec>,
    /// Published figures to compare with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub references: Vec<Reference>,
}

/// The machine that every run has to itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a machine such as { cores = 8 }")]
pub struct Machine {
    /// Processors; 1 to 1,024.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_CORES)))]
    pub cores: u32,
    /// Memory, where the source names it; a thread pool gets no more threads than it holds (P-6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Most threads that the OS lets the process have, all together (P-6): the least of `ulimit -u`, `pids.max`,
    /// `threads-max`, `pid_max` and half of `max_map_count`; default 32,765, half of 65,530 mappings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = validate::MAX_OS_THREADS)))]
    pub max_threads: Option<u32>,
}

/// Tasks that run the same steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a class of tasks such as { count = 10, steps = [{ io = \"50 ms\" }] }")]
pub struct TaskClass {
    /// A word for a person, such as `request`.
    #[serde(default = "default_class_name")]
    pub name: String,
    /// How many; none where the scenario has a `mix`.
    #[serde(default, skip_serializing_if = "is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_TASKS)))]
    pub count: u64,
    /// How often a task of the `mix` is of this class, relative to the other classes' weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000)))]
    pub weight: Option<u32>,
    /// The first is submitted no earlier than this; the clock starts with the first class to be submitted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub at: Nanos,
    /// When the others follow.
    #[serde(default, skip_serializing_if = "Arrival::is_at_once")]
    pub arrival: Arrival,
    /// What each task does, in order.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = MAX_STEPS)))]
    pub steps: Vec<Step>,
}

/// A published figure for one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Tasks that arrive from outside, of all classes together; those that they spawn do not count.
    pub fn task_count(&self) -> u64 {
        match &self.mix {
            Some(mix) => mix.count,
            None => self.tasks.iter().fold(0, |sum, class| sum.saturating_add(class.count)),
        }
    }

    /// Tasks of all classes with those that they spawn; `None` where draws decide, in a `mix` of classes that spawn
    /// different numbers.
    pub fn task_count_with_spawned(&self) -> Option<u64> {
        let each = |class: &TaskClass| validate::count_children(&class.steps).saturating_add(1);
        let Some(mix) = &self.mix else {
            let all = self.tasks.iter().map(|class| class.count.saturating_mul(each(class)));
            return Some(all.fold(0, u64::saturating_add));
        };
        let mut different = self.tasks.iter().map(each);
        let first = different.next()?;
        different.all(|other| other == first).then(|| mix.count.saturating_mul(first))
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
const fn is_none(count: &u64) -> bool {
    *count == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes the field by reference")]
fn is_zero(nanos: &Nanos) -> bool {
    nanos.0 == 0
}
