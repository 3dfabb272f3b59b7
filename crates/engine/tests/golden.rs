//! The same scenario gives the same bytes: golden digests, and any step budget; natively and in WebAssembly.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use parkbench_engine::{Arena, PRESET_NAMES, Plan, Scenario, Simulation, preset};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// Every distribution and every kind of arrival, so that the logarithms behind them are compared too; and the pools that
/// no preset has.
const DRAWS: &str = r#"{"version":1,"name":"draws","profile":"linux-default","machine":{"cores":3},"tasks":[
    {"count":500,"arrival":{"poisson":"30 us"},"steps":[{"cpu":{"exponential":"20 us"}},{"io":{"exponential":"2 ms"}}]},
    {"count":500,"arrival":{"every":"40 us"},"steps":[{"io":{"lognormal":{"median":"1 ms","sigma":0.8}}},{"cpu":"5 us"}]},
    {"count":500,"arrival":{"bursts":{"size":50,"every":"2 ms"}},
        "steps":[{"io":{"pareto":{"min":"100 us","max":"50 ms","shape":1.2}}},{"block":"10 us"}]},
    {"count":500,"at":"3 ms","steps":[{"io":{"empirical":["1 ms","2 ms","9 ms"]}},{"io":{"uniform":["1 us","2 ms"]}}]}],
    "runs":[{"model":"thread-pool","size":20},{"model":"green-threads","jdk":21},{"model":"green-threads"},
        {"model":"coroutines"},{"model":"coroutines","dispatcher":"io"},{"model":"coroutines","dispatcher":"event-loop"},
        {"model":"thread-pool","pool":"cached"},{"model":"thread-pool","size":9,"queue":30},
        {"model":"thread-pool","size":9,"queue":0,"rejection":"caller-runs"}]}"#;

fn scenarios() -> Vec<Scenario> {
    let presets = PRESET_NAMES.iter().map(|name| preset(name).unwrap());
    presets.chain([Scenario::from_json(DRAWS).unwrap()]).collect()
}

/// `scenario run digest` for each run of each preset, and of one more; the page's tests read the same file.
const GOLDEN: &str = include_str!("golden.txt");

fn digest(scenario: &Scenario, run: usize, budget: u64) -> String {
    let mut simulation = Simulation::new(scenario, run).unwrap();
    while !simulation.step(budget).finished {}
    format!("{:016x}", simulation.into_recording().totals.digest)
}

#[test]
fn digests_are_golden() {
    let mut got = String::new();
    for scenario in scenarios() {
        for run in 0..scenario.runs.len() {
            writeln!(got, "{} {run} {}", scenario.name, digest(&scenario, run, u64::MAX)).unwrap();
        }
    }
    assert_eq!(got, GOLDEN, "if the change is meant, put the left text into golden.txt and say why in the changelog");
}

#[test]
fn the_memory_of_other_runs_changes_nothing() {
    let mut arena = Arena::default();
    // The second time every run has the memory of all others.
    for scenario in scenarios().into_iter().chain(scenarios()) {
        for run in 0..scenario.runs.len() {
            let plan = Plan::new(&scenario, run).unwrap();
            let recording = Simulation::with_plan_in(plan, &mut arena).run_in(&mut arena);
            assert!(recording == Simulation::new(&scenario, run).unwrap().run(), "{} {run}", scenario.name);
            arena.reclaim(recording);
        }
    }
}

#[test]
fn the_step_budget_changes_nothing() {
    for scenario in scenarios() {
        for run in 0..scenario.runs.len() {
            let whole = digest(&scenario, run, 1_000_000);
            assert_eq!(digest(&scenario, run, 1), whole, "{} {run}", scenario.name);
            assert_eq!(digest(&scenario, run, 7), whole, "{} {run}", scenario.name);
        }
    }
}

#[test]
fn a_run_without_records_has_the_same_totals() {
    for scenario in scenarios() {
        for run in 0..scenario.runs.len() {
            let recording = Simulation::new(&scenario, run).unwrap().run();
            let without = Simulation::new(&scenario, run).unwrap().without_records().run();
            assert_eq!(without.totals, recording.totals, "{} {run}", scenario.name);
            assert_eq!(without.thread_info, recording.thread_info);
            assert!(without.tasks.is_empty() && without.threads.is_empty());
        }
    }
}
