//! Prints how long each run of each preset takes to simulate: `cargo run --release -p parkbench-engine --example
//! time_presets [PRESET RUN REPETITIONS]`.

#![allow(clippy::disallowed_types, reason = "a benchmark needs a clock; the engine itself has none")]

use std::time::Instant;

use parkbench_engine::{PRESET_NAMES, ScenarioError, Simulation, preset};

fn main() -> Result<(), ScenarioError> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let only_run: Option<usize> = args.get(1).and_then(|text| text.parse().ok());
    let repetitions: usize = args.get(2).and_then(|text| text.parse().ok()).unwrap_or(11).max(1);
    for name in PRESET_NAMES.iter().filter(|name| args.first().is_none_or(|only| only == *name)) {
        let scenario = preset(name)?;
        for (index, run) in
            scenario.runs.iter().enumerate().filter(|(index, _)| only_run.is_none_or(|only| only == *index))
        {
            let mut times = Vec::new();
            let mut events = 0;
            for _ in 0..repetitions {
                let start = Instant::now();
                events = Simulation::new(&scenario, index)?.run().totals.events;
                times.push(start.elapsed());
            }
            times.sort_unstable();
            let ns = times[repetitions / 2].as_nanos() as u64;
            let tasks = scenario.task_count();
            println!(
                "{name:17} {:22} median {:6} us, {:4} ns per task, {:3} ns per event",
                run.variant(&scenario.machine),
                ns / 1_000,
                ns / tasks,
                ns / events
            );
        }
    }
    Ok(())
}
