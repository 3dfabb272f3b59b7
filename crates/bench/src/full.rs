//! All costs: `io-bound` under each of its models with trace and metrics, at 10,000 and at 1,000,000 tasks.

use anyhow::Result;
use parkbench_engine::{Scenario, Simulation, preset};
use parkbench_trace::{Metrics, Trace};

use crate::alternate::{Time, ratio, times};

/// Tasks and rounds.
const SIZES: [(u64, usize); 2] = [(10_000, 41), (1_000_000, 5)];

/// The preset with another number of tasks.
pub(crate) fn scenario(tasks: u64) -> Result<Scenario> {
    let mut scenario = preset("io-bound")?;
    scenario.tasks[0].count = tasks;
    Ok(scenario)
}

/// Everything from the scenario to the figures; returns the time at which the run ends.
pub(crate) fn simulate(scenario: &Scenario, run: usize) -> Result<u64> {
    let trace = Trace::new(Simulation::new(scenario, run)?.run())?;
    Ok(Metrics::of(&trace).makespan_ns)
}

/// The run alone, without trace and figures.
pub(crate) fn run_only(scenario: &Scenario, run: usize) -> Result<u64> {
    Ok(Simulation::new(scenario, run)?.run().totals.makespan_ns)
}

pub(crate) fn print() -> Result<()> {
    let mut per_task = Vec::new();
    for (tasks, rounds) in SIZES {
        let scenario = scenario(tasks)?;
        let mut work: Vec<_> = (0..scenario.runs.len())
            .flat_map(|run| {
                let scenario = &scenario;
                let whole: Box<dyn FnMut() -> u64> = Box::new(move || simulate(scenario, run).unwrap_or_default());
                let alone: Box<dyn FnMut() -> u64> = Box::new(move || run_only(scenario, run).unwrap_or_default());
                [whole, alone]
            })
            .collect();
        let mut work: Vec<&mut dyn FnMut() -> u64> = work.iter_mut().map(|work| work.as_mut() as _).collect();
        let times = times(rounds, &mut work);
        println!("io-bound, {tasks} tasks");
        for (run, spec) in scenario.runs.iter().enumerate() {
            let (whole, alone) = (times[2 * run].per(tasks), times[2 * run + 1].per(tasks));
            println!(
                "  {:12} {:4} ns per task with trace and metrics (least {:4}), of it the run {:4} (least {:4})",
                spec.variant(&scenario.machine),
                whole.median,
                whole.least,
                alone.median,
                alone.least
            );
            per_task.push((spec.variant(&scenario.machine), whole));
        }
        let sum = |part: fn(&Time) -> u64| times.iter().step_by(2).map(part).sum::<u64>() as f64 / 1e6;
        println!("  all models   {:.2} ms (least {:.2})", sum(|time| time.median), sum(|time| time.least));
    }
    println!("growth of the cost per task from 10,000 to 1,000,000 tasks");
    let models = per_task.len() / 2;
    for run in 0..models {
        let (small, large) = (per_task[run].1, per_task[models + run].1);
        println!(
            "  {:12} {} (of the least {})",
            per_task[run].0,
            ratio(large.median, small.median),
            ratio(large.least, small.least)
        );
    }
    Ok(())
}
