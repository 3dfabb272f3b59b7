//! `cargo xtask bench-engine`: the engine's speed and memory, printed, never asserted.
//!
//! The measuring is done by `crates/bench`; here it is built, run, and run again under callgrind, which counts
//! instructions and does not mind a busy machine.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::paths::Paths;
use crate::process;

const LIMIT: Duration = Duration::from_mins(20);
const SECTIONS: &[&str] = &["bare", "full", "pending", "memory", "instructions"];

/// Runs the named sections, or all of them; with `peers` also other engines beside this one.
pub(crate) fn bench_engine(paths: &Paths, only: &[String], peers: bool) -> Result<()> {
    if let Some(name) = only.iter().find(|name| !SECTIONS.contains(&name.as_str())) {
        bail!("unknown section {name:?}; the sections are {}", SECTIONS.join(", "));
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--release", "-p", "parkbench-bench"]).current_dir(&paths.root);
    process::run(&mut cargo, LIMIT)?;
    let binary = paths.target().join("release/parkbench-bench");
    let wanted = |section: &&&str| only.is_empty() || only.iter().any(|name| name == **section);
    for section in SECTIONS.iter().filter(wanted) {
        if *section == "instructions" {
            instructions(&binary)?;
        } else {
            process::run(Command::new(&binary).arg(section), LIMIT)?;
        }
    }
    if peers { run_peers(paths, &binary) } else { Ok(()) }
}

/// Builds the peers, which are no part of the workspace, and runs them in turn with the engine.
fn run_peers(paths: &Paths, binary: &Path) -> Result<()> {
    let (dir, target) = (paths.root.join("peers"), paths.target().join("peers"));
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--release", "--target-dir"]).arg(&target).current_dir(&dir);
    process::run(&mut cargo, LIMIT)?;
    let python = simpy(&target).unwrap_or_else(|error| {
        println!("SimPy: skipped, {error:#}");
        "-".into()
    });
    let script = dir.join("peer_simpy.py");
    process::run(Command::new(binary).arg("peers").arg(target.join("release")).arg(python).arg(script), LIMIT)
}

/// An interpreter with `SimPy` in an environment of its own.
fn simpy(target: &Path) -> Result<PathBuf> {
    let environment = target.join("python");
    let python = environment.join("bin/python");
    if !python.exists() {
        process::run(Command::new("python3").args(["-m", "venv"]).arg(&environment), LIMIT)?;
    }
    let mut pip = Command::new(&python);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "simpy==4.1.2"]);
    process::run(&mut pip, LIMIT)?;
    Ok(python)
}

/// Prints instructions for each task, or for each pop and push.
fn instructions(binary: &Path) -> Result<()> {
    let program = binary.to_str().context("the path of the clone is not UTF-8")?;
    if process::output_of("valgrind", &["--version"]).is_none() {
        println!("instructions: skipped, valgrind is not installed");
        return Ok(());
    }
    println!("instructions, counted by callgrind");
    let list = process::output_of(program, &["counted"]).context("`counted` failed")?;
    for work in list.lines() {
        let count: u64 = work.rsplit_once('/').and_then(|(_, count)| count.parse().ok()).context("a count")?;
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=*measured*"])
            .args([program, "counted", work])
            .stdin(Stdio::null())
            .output()?;
        let log = String::from_utf8_lossy(&output.stderr);
        let collected =
            log.lines().find_map(|line| line.split_once("Collected :")).and_then(|(_, n)| n.trim().parse().ok());
        let collected: u64 = collected.with_context(|| format!("callgrind failed on {work}:\n{log}"))?;
        println!("  {work:20} {:5} instructions for each", collected / count);
    }
    Ok(())
}
