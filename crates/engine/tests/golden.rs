//! The same scenario gives the same bytes: golden digests, and any step budget; natively and in WebAssembly.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;

use parkbench_engine::{PRESET_NAMES, Simulation, preset};
#[cfg(target_arch = "wasm32")]
use wasm_bindgen_test::wasm_bindgen_test as test;

/// `preset run digest` for each run of each preset; the page's tests read the same file.
const GOLDEN: &str = include_str!("golden.txt");

fn digest(name: &str, run: usize, budget: u64) -> String {
    let mut simulation = Simulation::new(&preset(name).unwrap(), run).unwrap();
    while !simulation.step(budget).finished {}
    format!("{:016x}", simulation.into_recording().totals.digest)
}

#[test]
fn digests_are_golden() {
    let mut got = String::new();
    for name in PRESET_NAMES {
        for run in 0..preset(name).unwrap().runs.len() {
            writeln!(got, "{name} {run} {}", digest(name, run, u64::MAX)).unwrap();
        }
    }
    assert_eq!(got, GOLDEN, "if the change is meant, put the left text into golden.txt and say why in the changelog");
}

#[test]
fn the_step_budget_changes_nothing() {
    for name in PRESET_NAMES {
        for run in 0..preset(name).unwrap().runs.len() {
            let whole = digest(name, run, 1_000_000);
            assert_eq!(digest(name, run, 1), whole, "{name} {run}");
            assert_eq!(digest(name, run, 7), whole, "{name} {run}");
        }
    }
}
