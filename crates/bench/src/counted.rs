//! Pieces of work for an instruction counter: callgrind counts inside `measured` and nowhere else.

use std::hint::black_box;

use anyhow::{Result, bail};
use parkbench_engine::Simulation;

use crate::pending::Hold;
use crate::{bare, full, reference};

/// Name and how many times the unit is done: tasks, or pops and pushes.
const WORK: [(&str, u64); 14] = [
    ("bare", 100_000),
    ("bare-trace", 100_000),
    ("loop", 100_000),
    ("loop-trace", 100_000),
    ("io-bound-0", 10_000),
    ("io-bound-1", 10_000),
    ("io-bound-2", 10_000),
    ("io-bound-0", 1_000_000),
    ("io-bound-1", 1_000_000),
    ("io-bound-2", 1_000_000),
    ("run-0", 10_000),
    ("run-1", 10_000),
    ("run-2", 10_000),
    ("pending", 300_000),
];

/// Does the work of this name, `NAME/COUNT`; prints the list without a name.
pub(crate) fn run(name: Option<&str>) -> Result<()> {
    let Some(name) = name else {
        for (name, count) in WORK {
            println!("{name}/{count}");
        }
        return Ok(());
    };
    let Some((name, count)) = WORK.into_iter().find(|(known, count)| format!("{known}/{count}") == name) else {
        bail!("unknown work {name:?}; `counted` alone lists them");
    };
    let tasks = count as u32;
    match name {
        "bare" => {
            let scenario = bare::scenario(tasks)?;
            measured(|| Simulation::new(&scenario, 0).map(|new| new.without_records().run().totals.digest))?;
        }
        "bare-trace" => {
            let scenario = bare::scenario(tasks)?;
            measured(|| Simulation::new(&scenario, 0).map(|new| new.run().totals.digest))?;
        }
        "loop" => _ = measured(|| reference::run::<false>(tasks).makespan),
        "loop-trace" => _ = measured(|| reference::run::<true>(tasks).records.len()),
        "pending" => {
            let mut hold = Hold::new(tasks, false);
            hold.hold(2 * tasks);
            measured(|| hold.hold(tasks));
        }
        _ => {
            let (kind, run) = name.rsplit_once('-').unwrap_or((name, "0"));
            let (scenario, run) = (full::scenario(count)?, run.parse()?);
            let work = if kind == "run" { full::run_only } else { full::simulate };
            measured(|| work(&scenario, run, &mut full::Kept::default()))?;
        }
    }
    Ok(())
}

#[inline(never)]
fn measured<T>(work: impl FnOnce() -> T) -> T {
    black_box(work())
}
