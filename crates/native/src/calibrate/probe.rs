//! The workloads that a calibration measures: small, each with one thing in it that takes the time.
//!
//! Which costs they are to tell is in `params`; how they are measured and simulated in `measure`.

use parkbench_engine::{Model, Scenario, ScenarioError};

use crate::measure::kind::Kind;

/// What a probe is made of; `{cores}` in its numbers stands for the cores of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// One word, for sources and messages.
    pub(super) name: &'static str,
    /// Of which runtimes.
    family: Family,
    /// Threads of a pool; 0 for as many as cores.
    size: u32,
    /// Tasks.
    count: u32,
    /// What each does, as JSON.
    steps: &'static str,
    /// Whether the mean latency tells something that the total does not.
    pub(super) latency: bool,
    /// Whether `--quick` has it.
    quick: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    /// Fixed pools.
    Pools,
    /// A thread for each task.
    Threads,
    /// Runtimes whose tasks wait without a thread.
    Light,
    /// `may`, which maps stacks.
    Stacks,
    /// Whose tasks' computing is not lost beside the threads that it takes.
    Any,
    /// Runtimes with more than one worker and waits without a thread.
    Workers,
}

/// What each task does where there is nothing to do.
const NOTHING: &str = r#"{"cpu":{"iterations":1}}"#;

const RECIPES: &[Recipe] = &[
    pool("empty", 0, 10_000, NOTHING).quick(),
    pool("work", 0, 4_000, r#"{"cpu":"20 us"}"#).quick(),
    pool("threads", 300, 300, r#"{"io":"20 ms"}"#),
    pool("waits-1", 0, 60, r#"{"io":"1 ms"}"#).quick(),
    pool("waits-10", 16, 80, r#"{"io":"10 ms"}"#),
    pool("waits-50", 50, 100, r#"{"io":"50 ms"}"#),
    pool("crowd", 100, 8_000, r#"{"io":"200 us"}"#).quick(),
    pool("crowd-work", 100, 4_000, r#"{"io":"1 ms"},{"cpu":"20 us"}"#),
    pool("yields", 8, 200, r#"{"repeat":{"times":50,"steps":["yield"]}}"#),
    recipe("threads", Family::Threads, 1_000, NOTHING).quick(),
    recipe("waits-10", Family::Threads, 300, r#"{"io":"10 ms"}"#).quick(),
    recipe("waits-1", Family::Threads, 2_000, r#"{"io":"1 ms"}"#),
    recipe("crowd-work", Family::Threads, 1_000, r#"{"io":"5 ms"},{"cpu":"50 us"}"#),
    recipe("work", Family::Threads, 1_000, r#"{"cpu":"200 us"}"#),
    recipe("rounds", Family::Threads, 200, r#"{"repeat":{"times":10,"steps":[{"io":"3 ms"}]}}"#),
    recipe("iterations", Family::Threads, 200, r#"{"cpu":{"iterations":3000000}}"#).quick(),
    recipe("empty", Family::Light, 10_000, NOTHING),
    recipe("work", Family::Light, 4_000, r#"{"cpu":"20 us"}"#).quick(),
    recipe("tiny", Family::Light, 25_000, r#"{"cpu":"1 us"}"#),
    recipe("yields", Family::Light, 200, r#"{"repeat":{"times":50,"steps":["yield"]}}"#),
    recipe("short-waits", Family::Light, 10_000, r#"{"io":"1 ms"}"#).latency().quick(),
    recipe("long-waits", Family::Light, 10_000, r#"{"io":"50 ms"}"#).latency(),
    recipe("stacks", Family::Stacks, 4_000, r#"{"io":"300 ms"}"#),
    recipe("rounds", Family::Light, 500, r#"{"repeat":{"times":10,"steps":[{"io":"2 ms"}]}}"#),
    recipe("few", Family::Light, 4, r#"{"repeat":{"times":10,"steps":[{"io":"3 ms"}]}}"#).latency().quick(),
    recipe("mixed", Family::Workers, 3_000, r#"{"io":"5 ms"},{"cpu":"30 us"},{"io":"5 ms"}"#),
    recipe("iterations", Family::Any, 2_000, r#"{"cpu":{"iterations":100000}}"#).quick(),
];

const fn recipe(name: &'static str, family: Family, count: u32, steps: &'static str) -> Recipe {
    Recipe { name, family, size: 0, count, steps, latency: false, quick: false }
}

const fn pool(name: &'static str, size: u32, count: u32, steps: &'static str) -> Recipe {
    Recipe { size, ..recipe(name, Family::Pools, count, steps) }
}

impl Recipe {
    const fn quick(self) -> Self {
        Self { quick: true, ..self }
    }

    const fn latency(self) -> Self {
        Self { latency: true, ..self }
    }

    /// The probes of a runtime.
    pub(super) fn of(kind: Kind, quick: bool) -> Vec<Self> {
        let pool = matches!(kind, Kind::Pool | Kind::JavaPool);
        let light = kind.model() != Model::ThreadPool;
        let fits = |family| match family {
            Family::Pools => pool,
            Family::Threads => !light && !pool,
            Family::Light => light,
            Family::Stacks => kind == Kind::May,
            Family::Workers => light && !matches!(kind, Kind::TokioCurrent | Kind::KotlinEventLoop),
            Family::Any => pool || light,
        };
        // A JVM has to be started and warmed up for each.
        let few = |recipe: &Self| {
            recipe.quick && (!kind.is_jvm() || !matches!(recipe.name, "few" | "waits-1" | "iterations"))
        };
        RECIPES.iter().filter(|recipe| fits(recipe.family) && (!quick || few(recipe))).copied().collect()
    }

    /// The workload as a scenario with one run, for which the runtime stands.
    pub(super) fn scenario(&self, kind: Kind, cores: u32, jdk: u32) -> Result<Scenario, ScenarioError> {
        let run = match kind {
            Kind::Pool | Kind::JavaPool => {
                let size = if self.size == 0 { cores } else { self.size };
                format!(r#"{{"model":"thread-pool","size":{size}}}"#)
            }
            Kind::ThreadPerTask | Kind::JavaThreadPerTask => {
                r#"{"model":"thread-pool","pool":"thread-per-task"}"#.to_owned()
            }
            Kind::May => r#"{"model":"green-threads"}"#.to_owned(),
            Kind::JavaVirtual => format!(r#"{{"model":"green-threads","jdk":{}}}"#, jdk.clamp(21, 25)),
            Kind::Tokio | Kind::Smol => r#"{"model":"coroutines","runtime":"tokio"}"#.to_owned(),
            Kind::TokioCurrent => r#"{"model":"coroutines","runtime":"tokio","flavor":"current-thread"}"#.to_owned(),
            Kind::KotlinDefault => r#"{"model":"coroutines"}"#.to_owned(),
            Kind::KotlinIo => r#"{"model":"coroutines","dispatcher":"io"}"#.to_owned(),
            Kind::KotlinEventLoop => r#"{"model":"coroutines","dispatcher":"event-loop"}"#.to_owned(),
        };
        Scenario::from_json(&format!(
            r#"{{"version":1,"name":"calibrate-{}","machine":{{"cores":{cores}}},"tasks":[{{"count":{},"steps":[{}]}}],"runs":[{run}]}}"#,
            self.name, self.count, self.steps
        ))
    }

    /// Tasks that wait at the same time, at least; what a task takes of memory is told where there are many.
    pub(super) fn waiting(&self) -> u32 {
        if self.steps.contains("\"io\"") { self.count } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_runtime_has_probes_that_it_stands_for() {
        for kind in Kind::ALL.into_iter().filter(|kind| kind.is_simulated()) {
            let quick = Recipe::of(kind, true);
            assert!(!quick.is_empty() && quick.len() <= Recipe::of(kind, false).len(), "{kind:?}");
            for recipe in Recipe::of(kind, false) {
                let scenario = recipe.scenario(kind, 3, 21).unwrap();
                assert!(kind.stands_for(&scenario.runs[0]), "{kind:?} {}", recipe.name);
            }
        }
    }
}
