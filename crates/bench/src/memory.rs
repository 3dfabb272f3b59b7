//! Memory: bytes for each live task and for each trace record, as the allocator counts them.

use anyhow::Result;
use parkbench_engine::{Recording, Simulation};
use parkbench_trace::{Metrics, Trace};

use crate::heap::measure;
use crate::{bare, full};

const TASKS: usize = 1_000_000;

pub(crate) fn print() -> Result<()> {
    println!("memory, {TASKS} tasks, counted by the allocator");
    let bare = bare::scenario(TASKS as u32)?;
    let io_bound = full::scenario(TASKS as u64)?;
    let scenarios = (0..io_bound.runs.len()).map(|run| (&io_bound, run)).chain([(&bare, 0)]);
    for (scenario, run) in scenarios {
        let variant = scenario.runs[run].variant(&scenario.machine);
        let simulation = Simulation::new(scenario, run)?.without_records();
        // The tasks have been submitted before the run begins, so what `new` reserves is counted with it.
        drop(simulation);
        let (_, _, live) = measure(|| Simulation::new(scenario, run).map(|new| new.without_records().run()));
        let (recording, kept, peak) = measure(|| Simulation::new(scenario, run).map(Simulation::run));
        let records = records(&recording?);
        println!(
            "  {:8} {variant:10} {:3} bytes for each task at the peak without records; {:.1} records for each task, \
             {:.1} bytes kept for each record, {} bytes for each task at the peak with records",
            scenario.name,
            live / TASKS,
            records as f64 / TASKS as f64,
            kept as f64 / records as f64,
            peak / TASKS
        );
    }
    let (traces, kept, peak) = measure(|| -> Result<Vec<Trace>> {
        (0..io_bound.runs.len())
            .map(|run| {
                let trace = Trace::new(Simulation::new(&io_bound, run)?.run())?;
                Metrics::of(&trace);
                Ok(trace)
            })
            .collect()
    });
    let models = traces?.len();
    println!(
        "  io-bound {models} models with traces and metrics: {} MiB kept, {} MiB at the peak",
        kept >> 20,
        peak >> 20
    );
    Ok(())
}

fn records(recording: &Recording) -> usize {
    recording.tasks.len() + recording.threads.len()
}
