//! The benchmark of the engine: `cargo xtask bench-engine` builds and runs it and counts its instructions.
//!
//! Times are CPU times, medians of rounds in which the things compared take turns; nothing here asserts a time.

mod alternate;
mod bare;
mod counted;
mod full;
mod heap;
mod memory;
mod peers;
mod pending;
mod reference;

use anyhow::{Result, bail};

const USAGE: &str = "\
Usage: parkbench-bench SECTION...

Sections:
  bare     The bare shape against a hand-written loop with FIFO lanes
  full     io-bound with all costs, trace and metrics, at 10,000 and 1,000,000 tasks
  pending  The event queue alone: random delays with 300,000 pending
  memory   Bytes for each live task and each trace record, counted
  peers DIR PYTHON SCRIPT   Other engines: where they are built, an interpreter with SimPy or -, and its program
  counted NAME   One piece of work for an instruction counter; without NAME the list of them";

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.is_empty() {
        println!("{USAGE}");
    }
    let mut args = args.iter().map(String::as_str);
    while let Some(section) = args.next() {
        match section {
            "bare" => bare::print()?,
            "full" => full::print()?,
            "pending" => pending::print(),
            "memory" => memory::print()?,
            "peers" => {
                let (Some(programs), Some(python), Some(script)) = (args.next(), args.next(), args.next()) else {
                    bail!("peers needs three arguments\n\n{USAGE}");
                };
                peers::print(programs.as_ref(), python, script.as_ref())?;
            }
            "counted" => counted::run(args.next())?,
            other => bail!("unknown section {other:?}\n\n{USAGE}"),
        }
    }
    Ok(())
}
