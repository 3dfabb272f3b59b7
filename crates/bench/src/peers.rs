//! Other engines beside this one: separate programs that run the bare shape and print `MAKESPAN_NS WALL_NS`.
//!
//! They keep no trace, so the engine runs without one. All take turns in each round.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use parkbench_engine::Simulation;

use crate::alternate::ratio;
use crate::{bare, reference};

/// Tasks, rounds, and whether the peer in Python takes part: at a million tasks it needs minutes.
const SIZES: [(u32, usize, bool); 2] = [(10_000, 9, true), (1_000_000, 3, false)];

/// [ns] Peers whose clock is a float of seconds are this near.
const NEAR: u64 = 1_000;

enum Program<'a> {
    Engine,
    Loop,
    Peer(&'a Path),
    Python(&'a str, &'a Path),
}

/// `programs` is where the built peers are, `python` an interpreter that has `SimPy`, or `-`.
pub(crate) fn print(programs: &Path, python: &str, script: &Path) -> Result<()> {
    let [simcore, nexosim] = ["peer-simcore", "peer-nexosim"].map(|name| programs.join(name));
    for (tasks, rounds, slow) in SIZES {
        let mut contest = vec![
            ("loop", Program::Loop),
            ("engine", Program::Engine),
            ("simcore 0.1", Program::Peer(&simcore)),
            ("nexosim 1.0", Program::Peer(&nexosim)),
        ];
        if slow && python != "-" {
            contest.push(("SimPy 4.1", Program::Python(python, script)));
        }
        let mut times = vec![Vec::new(); contest.len()];
        let makespan = reference::run::<false>(tasks).makespan;
        for round in 0..rounds {
            for turn in 0..contest.len() {
                let index = if round % 2 == 0 { turn } else { contest.len() - 1 - turn };
                let (name, program) = &contest[index];
                times[index].push(measure(name, program, tasks, makespan)?);
            }
        }
        for times in &mut times {
            times.sort_unstable();
        }
        println!("bare shape without a trace, {tasks} tasks, {rounds} rounds in turn");
        for ((name, _), wall) in contest.iter().zip(&times) {
            let (median, loop_median, engine_median) = (wall[rounds / 2], times[0][rounds / 2], times[1][rounds / 2]);
            println!(
                "  {name:12} {:7} ns per task, {:>8} of the loop, {:>8} of the engine",
                median / u64::from(tasks),
                ratio(median, loop_median),
                ratio(median, engine_median)
            );
        }
    }
    Ok(())
}

/// [ns] Wall time of one run, of which the makespan must be the loop's.
fn measure(name: &str, program: &Program, tasks: u32, makespan: u64) -> Result<u64> {
    let mut command = match program {
        Program::Loop => {
            let start = Instant::now();
            ensure!(reference::run::<false>(tasks).makespan == makespan, "the loop has two makespans");
            return Ok(start.elapsed().as_nanos() as u64);
        }
        Program::Engine => {
            let scenario = bare::scenario(tasks)?;
            let start = Instant::now();
            // That it does what the loop does is checked by the section `bare`.
            Simulation::new(&scenario, 0)?.without_records().run();
            return Ok(start.elapsed().as_nanos() as u64);
        }
        Program::Peer(path) => Command::new(path),
        Program::Python(python, script) => {
            let mut command = Command::new(python);
            command.arg(script);
            command
        }
    };
    let output = command.arg(tasks.to_string()).stdin(Stdio::null()).output().with_context(|| name.to_owned())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().map(str::parse::<u64>);
    let (Some(Ok(end)), Some(Ok(wall))) = (numbers.next(), numbers.next()) else {
        anyhow::bail!("{name} printed {text:?}: {}", String::from_utf8_lossy(&output.stderr));
    };
    ensure!(end.abs_diff(makespan) <= NEAR, "{name} ends at {end} ns, the loop at {makespan} ns");
    Ok(wall)
}
