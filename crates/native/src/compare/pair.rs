//! A measured runtime and the simulated run that stands beside it: the same tasks, threads and cores, and the costs that
//! the profile has for that runtime.

use std::collections::BTreeMap;

use parkbench_engine::{
    Blocking, COSTS, CostInfo, CostProfile, Dispatcher, Flavor, Model, Plan, PoolKind, RunSpec, Runtime, Scenario,
    ScenarioError, Simulation,
};
use parkbench_trace::{Metrics, RunResult, Trace};

use super::cause::{self, Search};
use super::finding;
use crate::input::InputError;
use crate::measure::kind::Kind;
use crate::measure::report::Run;
use crate::measure::runtime::{self, Admission, Jvm};
use crate::measure::select::Planned;
use crate::profiles;

/// One runtime, measured and simulated.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) kind: Kind,
    pub(crate) measured: Run,
    /// The run that was simulated, without its costs.
    pub(crate) spec: RunSpec,
    pub(crate) simulated: RunResult,
    /// [ns] Time of all cores in which they worked in the simulation.
    pub(crate) simulated_cpu_ns: u64,
    /// Whether the profile has costs for this runtime.
    pub(crate) has_costs: bool,
    /// Where the total is off: the cost that would explain it.
    pub(crate) cause: Search,
}

/// Simulates what was measured.
pub(crate) fn simulate(
    scenario: &Scenario,
    planned: &Planned,
    measured: &Run,
    profile: &CostProfile,
) -> Result<Pair, InputError> {
    let kind = planned.runtime.kind();
    let mut scenario = scenario.clone();
    let spec = spec(&planned.runtime, &scenario.runs[planned.workload]);
    scenario.runs = vec![spec.clone()];
    scenario.references.clear();
    let own = profile.of_runtime(kind.as_str());
    let wrong = |error| InputError::Scenario(scenario.name.clone(), error);
    let plan = Plan::with_costs(&scenario, 0, own.costs.clone()).map_err(wrong)?;
    let mut simulation = Simulation::with_plan(plan.clone());
    while !simulation.step(1 << 20).check(0).map_err(wrong)?.finished {}
    let trace = Trace::new(simulation.into_recording())
        .unwrap_or_else(|error| unreachable!("the engine made a recording that cannot be read: {error}"));
    let metrics = Metrics::of(&trace);
    let simulated =
        RunResult::simulated(&scenario, 0, &metrics).unwrap_or_else(|| unreachable!("the scenario has this one run"));
    let mut pair = Pair {
        kind,
        measured: measured.clone(),
        spec,
        simulated,
        simulated_cpu_ns: cpu_ns(&metrics),
        has_costs: profile.runtimes.contains_key(kind.as_str()),
        cause: Search::NotTried,
    };
    if finding::off(&pair).is_some() {
        pair.cause = cause::find(&pair, &plan, &own);
    }
    Ok(pair)
}

/// [ns] Time of all cores in which they worked in a simulation.
pub(super) fn cpu_ns(metrics: &Metrics) -> u64 {
    metrics.busy_ns.saturating_add(metrics.overhead_ns)
}

/// What was simulated as one scenario that needs no profile file: a run for each pair, with the costs in it.
pub(crate) fn together(
    scenario: &Scenario,
    profile: &CostProfile,
    pairs: &[Pair],
) -> Result<Option<Scenario>, ScenarioError> {
    if pairs.is_empty() {
        return Ok(None);
    }
    let base = CostProfile::named(profiles::BASE)?;
    let runs = pairs.iter().map(|pair| {
        let costs = changed(profile, &profile.of_runtime(pair.kind.as_str()));
        RunSpec { costs, ..pair.spec.clone() }
    });
    Ok(Some(Scenario {
        profile: profiles::BASE.to_owned(),
        costs: changed(&base, profile),
        runs: runs.collect(),
        references: Vec::new(),
        ..scenario.clone()
    }))
}

/// The costs in which `own` is other than `base`, as they stand in a scenario.
fn changed(base: &CostProfile, own: &CostProfile) -> BTreeMap<String, String> {
    let differs = |info: &&CostInfo| base.costs.get(info.name) != own.costs.get(info.name);
    let entry = |info: &CostInfo| {
        (info.name.to_owned(), profiles::text(info.unit, own.costs.get(info.name).unwrap_or_default()))
    };
    COSTS.iter().filter(differs).map(entry).collect()
}

/// The run that this runtime is, with the knobs and the lock of the scenario's.
fn spec(runtime: &runtime::Runtime, run: &RunSpec) -> RunSpec {
    let model = runtime.model();
    let plain = RunSpec { lock: run.lock, ..RunSpec::new(model) };
    let elsewhere = (!runtime.holds_in_blocks()).then_some(Blocking::SpawnBlocking);
    match runtime {
        runtime::Runtime::Pool { threads, admission } => of_pool(*threads, *admission, plain),
        runtime::Runtime::ThreadPerTask => RunSpec { pool: Some(PoolKind::ThreadPerTask), ..plain },
        // Its locks hold no worker, as those of JDK 25.
        runtime::Runtime::May { workers } => RunSpec { carriers: Some(*workers), jdk: Some(25), ..plain },
        // The simulation has no smol; tokio is the nearest.
        runtime::Runtime::Tokio { workers, .. } | runtime::Runtime::Smol { workers, .. } => {
            RunSpec { runtime: Some(Runtime::Tokio), workers: Some(*workers), blocking: elsewhere, ..plain }
        }
        runtime::Runtime::TokioCurrentThread { .. } => {
            RunSpec { runtime: Some(Runtime::Tokio), flavor: Some(Flavor::CurrentThread), blocking: elsewhere, ..plain }
        }
        runtime::Runtime::Jvm(jvm) => of_jvm(jvm, plain),
    }
}

fn of_pool(threads: u32, admission: Admission, plain: RunSpec) -> RunSpec {
    match admission {
        Admission::Unbounded => RunSpec { size: Some(threads), ..plain },
        Admission::Bounded { capacity, rejection } => {
            RunSpec { size: Some(threads), queue: Some(capacity), rejection: Some(rejection), ..plain }
        }
        Admission::Cached => RunSpec { pool: Some(PoolKind::Cached), ..plain },
    }
}

fn of_jvm(jvm: &Jvm, plain: RunSpec) -> RunSpec {
    let dispatcher = |dispatcher| RunSpec {
        dispatcher: Some(dispatcher),
        parallelism: jvm.parallelism,
        model: Model::Coroutines,
        ..plain.clone()
    };
    match jvm.kind {
        Kind::JavaPool => of_pool(jvm.threads, jvm.admission, plain),
        Kind::JavaVirtual => RunSpec {
            carriers: Some(jvm.threads),
            max_pool: jvm.max_pool,
            min_runnable: jvm.min_runnable,
            jdk: Some(jvm.java.feature.clamp(21, 25)),
            ..plain
        },
        Kind::KotlinDefault => dispatcher(Dispatcher::Default),
        Kind::KotlinIo => dispatcher(Dispatcher::Io),
        Kind::KotlinEventLoop => dispatcher(Dispatcher::EventLoop),
        _ => RunSpec { pool: Some(PoolKind::ThreadPerTask), ..plain },
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;
    use crate::measure::jvm::Version;
    use crate::measure::select::{Wanted, plan};

    #[test]
    fn every_runtime_has_a_run_with_its_threads() {
        let java = Version { feature: 26, text: "26".to_owned() };
        for (name, expect) in [
            ("io-bound", "fixed-12 fixed-12 java-25 java-25 tokio-p64 kotlin-io"),
            ("high-concurrency", "fixed-12 fixed-12 java-25 java-25 tokio-current-thread kotlin-event-loop"),
        ] {
            let scenario = preset(name).unwrap();
            let planned = plan(&scenario, &[Wanted::All], Ok(&java)).unwrap().0;
            let variants: Vec<String> = planned
                .iter()
                .map(|planned| {
                    let spec = spec(&planned.runtime, &scenario.runs[planned.workload]);
                    let mut scenario = scenario.clone();
                    scenario.runs = vec![spec];
                    scenario.references.clear();
                    scenario.validate().unwrap();
                    scenario.runs[0].variant(&scenario.machine)
                })
                .collect();
            assert_eq!(variants.join(" "), expect, "{name}");
        }
    }
}
