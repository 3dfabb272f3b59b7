//! Runs the first run of a scenario (JSON, standard input) and prints who went on to run, in order, as a line of JSON.
//!
//! `cargo xtask go` holds it against the same scenario on real Go.

mod order;

use std::io::{self, Read as _};
use std::process::ExitCode;

use parkbench_engine::{Scenario, Simulation};

fn main() -> ExitCode {
    match line() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(err) => {
            eprintln!("error: {err}");
            ExitCode::from(2)
        }
    }
}

fn line() -> Result<String, String> {
    let mut text = String::new();
    io::stdin().read_to_string(&mut text).map_err(|err| err.to_string())?;
    let scenario = Scenario::from_json(&text).map_err(|err| err.to_string())?;
    let recording = Simulation::new(&scenario, 0).map_err(|err| err.to_string())?.run();
    let (times, order): (Vec<u64>, Vec<String>) = order::order(&recording).into_iter().unzip();
    let line = serde_json::json!({ "total_ns": recording.totals.makespan_ns, "order": order, "times": times });
    Ok(line.to_string())
}
