//! All costs: `io-bound` under each of its models with trace and metrics, at 10,000 and at 1,000,000 tasks.

use std::cell::RefCell;

use anyhow::Result;
use parkbench_engine::{Arena, Plan, Scenario, Simulation, preset};
use parkbench_trace::{Metrics, Trace, Workspace};

use crate::alternate::{Time, ratio, times};

/// Tasks and rounds.
const SIZES: [(u64, usize); 2] = [(10_000, 41), (1_000_000, 5)];

/// The preset with another number of tasks.
pub(crate) fn scenario(tasks: u64) -> Result<Scenario> {
    let mut scenario = preset("io-bound")?;
    scenario.tasks[0].count = tasks;
    Ok(scenario)
}

/// Memory that is kept between runs.
#[derive(Default)]
pub(crate) struct Kept {
    arena: Arena,
    workspace: Workspace,
}

/// Everything from the scenario to the figures; returns the time at which the run ends.
pub(crate) fn simulate(scenario: &Scenario, run: usize, kept: &mut Kept) -> Result<u64> {
    let recording = Simulation::with_plan_in(Plan::new(scenario, run)?, &mut kept.arena).run_in(&mut kept.arena);
    let trace = Trace::new_in(recording, &mut kept.workspace)?;
    let makespan = Metrics::of_in(&trace, &mut kept.workspace).makespan_ns;
    kept.arena.reclaim(trace.into_recording_in(&mut kept.workspace));
    Ok(makespan)
}

/// The run alone, without trace and figures.
pub(crate) fn run_only(scenario: &Scenario, run: usize, kept: &mut Kept) -> Result<u64> {
    let recording = Simulation::with_plan_in(Plan::new(scenario, run)?, &mut kept.arena).run_in(&mut kept.arena);
    let makespan = recording.totals.makespan_ns;
    kept.arena.reclaim(recording);
    Ok(makespan)
}

pub(crate) fn print() -> Result<()> {
    let mut per_task = Vec::new();
    for (tasks, rounds) in SIZES {
        let scenario = scenario(tasks)?;
        let kept = RefCell::default();
        let mut work: Vec<_> = (0..scenario.runs.len())
            .flat_map(|run| {
                let (scenario, kept) = (&scenario, &kept);
                let measure = move |work: fn(&Scenario, usize, &mut Kept) -> Result<u64>, fresh: bool| {
                    let work = move || {
                        if fresh {
                            kept.take();
                        }
                        work(scenario, run, &mut kept.borrow_mut()).unwrap_or_default()
                    };
                    Box::new(work) as Box<dyn FnMut() -> u64>
                };
                [measure(simulate, false), measure(run_only, false), measure(simulate, true)]
            })
            .collect();
        let mut work: Vec<&mut dyn FnMut() -> u64> = work.iter_mut().map(|work| work.as_mut() as _).collect();
        let times = times(rounds, &mut work);
        println!("io-bound, {tasks} tasks");
        for (run, spec) in scenario.runs.iter().enumerate() {
            let [whole, alone, fresh] = [0, 1, 2].map(|part| times[3 * run + part].per(tasks));
            println!(
                "  {:12} {:4} ns per task with trace and metrics (least {:4}), of it the run {:4} (least {:4}); in fresh memory \
                 {:4} (least {:4})",
                spec.variant(&scenario.machine),
                whole.median,
                whole.least,
                alone.median,
                alone.least,
                fresh.median,
                fresh.least
            );
            per_task.push((spec.variant(&scenario.machine), whole));
        }
        let sum = |part: fn(&Time) -> u64| times.iter().step_by(3).map(part).sum::<u64>() as f64 / 1e6;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heap::handed_out;

    /// The only test here that needs memory, for the allocator counts for the whole process.
    #[test]
    fn the_second_run_needs_hardly_any_memory() {
        let scenario = scenario(10_000).unwrap();
        for run in 0..scenario.runs.len() {
            let mut kept = Kept::default();
            let [first, second] = [0, 1].map(|_| {
                let before = handed_out();
                simulate(&scenario, run, &mut kept).unwrap();
                handed_out() - before
            });
            assert!(second < first / 16, "{run}: {first} and {second} bytes");
        }
    }
}
