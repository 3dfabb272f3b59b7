//! One input of the fuzz target: a byte for the language, a byte for the step budget, and a scenario.

use parkbench_engine::{Scenario, Simulation};

/// Events after which a run is given up here; a full run may take 50 million.
const MAX_EVENTS: u64 = 30_000;
/// Tasks above which a scenario is only read, so that an input takes milliseconds.
const MAX_TASKS: u32 = 5_000;

/// Reads the scenario and runs it twice, in one piece and in pieces; panics if the two differ, or if anything in the
/// engine does. How many runs there were.
pub fn run(data: &[u8]) -> usize {
    let [language, budget, text @ ..] = data else { return 0 };
    let Ok(text) = std::str::from_utf8(text) else { return 0 };
    let scenario = if language % 2 == 0 { Scenario::from_json(text) } else { Scenario::from_toml(text) };
    let Ok(scenario) = scenario else { return 0 };
    let mut ran = 0;
    // What has been read can be written and read again.
    assert_eq!(Scenario::from_json(&scenario.to_json()).as_ref(), Ok(&scenario));
    for run in 0..scenario.runs.len().min(4) {
        let Ok(whole) = Simulation::new(&scenario, run) else { continue };
        let mut pieces = whole.clone().with_max_events(MAX_EVENTS);
        if pieces.step(0).tasks > MAX_TASKS {
            continue;
        }
        let whole = whole.with_max_events(MAX_EVENTS).run();
        while !pieces.step(1 + u64::from(*budget)).finished {}
        assert_eq!(pieces.into_recording().totals, whole.totals, "run {run}");
        ran += 1;
    }
    ran
}
