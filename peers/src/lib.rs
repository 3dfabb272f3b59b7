//! What the peers share: how a run is measured and what a peer prints.

use std::time::Instant;

/// Runs the program for the number of tasks in the first argument and prints `MAKESPAN_NS WALL_NS`; the wall time covers
/// building the simulation and running it.
pub fn measure(run: impl FnOnce(u32) -> u64) {
    let tasks = std::env::args().nth(1).and_then(|tasks| tasks.parse().ok()).expect("the number of tasks");
    let start = Instant::now();
    let makespan = run(tasks);
    println!("{makespan} {}", start.elapsed().as_nanos());
}
