//! `cargo xtask agreement`: whether `parkbench measure` says what independent programs say, printed, never asserted.
//!
//! The programs are `minimal-pool.rs` and `minimal-tokio.rs` in `crates/native/examples` and those in `jvm/examples`. A program and `measure` run in
//! turn, so that both see the same machine; what is compared are the medians of the totals of both.

mod cells;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::jvm;
use crate::paths::Paths;
use crate::process;
use crate::tools::java_home;
use cells::{Cell, RUNTIMES, Runtime, WORKLOADS};

/// For the build of what is in Rust.
const LIMIT: Duration = Duration::from_mins(15);
/// Repetitions without `--reps`, as for `parkbench measure`.
const REPS: u32 = 20;
/// The program and `measure` take turns so often at most.
const TURNS: u32 = 4;
/// The totals agree where their ratio is no further from 1.
const AGREES: f64 = 0.1;
/// Of the total of a workload that waits, measuring may be so much.
const MOST_HARNESS: f64 = 0.01;
/// A program on a JVM warms up for so long, as `measure` does.
const WARM_UP_MS: u32 = 2_000;

/// What to compare; empty means everything.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Workloads by their names.
    pub(crate) only: Vec<String>,
    /// Runtimes by their names, as for `parkbench measure --runtime`.
    pub(crate) runtimes: Vec<String>,
    /// Repetitions of each; fewer where one takes long.
    pub(crate) reps: Option<u32>,
}

/// The programs, built.
struct Programs {
    parkbench: PathBuf,
    pool: PathBuf,
    tokio: PathBuf,
    java: PathBuf,
    /// The source of the program in Java, which is run as it is.
    minimal_java: PathBuf,
    kotlin: PathBuf,
    /// Where the scenarios are written.
    folder: PathBuf,
}

/// [ns] Totals of both, and what measuring has cost.
#[derive(Default)]
struct Totals {
    program: Vec<u64>,
    measured: Vec<u64>,
    harness: Vec<f64>,
}

pub(crate) fn agreement(paths: &Paths, options: &Options) -> Result<()> {
    known("workload", &options.only, WORKLOADS.iter().map(|workload| workload.name))?;
    known("runtime", &options.runtimes, RUNTIMES.iter().map(|runtime| runtime.name()))?;
    let cores = u32::try_from(thread::available_parallelism()?.get())?;
    let cells = cells::cells(cores, options);
    let programs = build(paths)?;
    println!("{cores} cores; medians of the totals; a program and `parkbench measure` in turn");
    println!();
    println!("| workload | tasks | runtime | program | measured | ratio | repetitions | measuring itself |");
    println!("|---|---|---|---|---|---|---|---|");
    let (mut apart, mut costly) = (0, 0);
    for cell in &cells {
        let mut totals = Totals::default();
        let reps = cell.reps(options.reps.unwrap_or(REPS));
        for turn in 0..TURNS.min(reps) {
            // What does not divide is done by the first turns.
            let of_turn = reps / TURNS.min(reps) + u32::from(turn < reps % TURNS.min(reps));
            totals.program.extend(programs.run(cell, of_turn)?);
            programs.measure(cell, of_turn, &mut totals)?;
        }
        let (program, measured) = (median(&mut totals.program), median(&mut totals.measured));
        let ratio = measured as f64 / program as f64;
        let harness = totals.harness.iter().copied().reduce(f64::max);
        let is_apart = (ratio - 1.0).abs() > AGREES;
        apart += u32::from(is_apart);
        costly += u32::from(cell.workload.waits() && harness.is_none_or(|share| share > MOST_HARNESS));
        println!(
            "| `{}` | {} | `{}` | {} | {} | {ratio:.3}{} | {reps} | {} |",
            cell.workload.name,
            cell.tasks,
            cell.variant(),
            ms(program),
            ms(measured),
            if is_apart { " (apart)" } else { "" },
            harness.map_or_else(|| "not known".to_owned(), |share| format!("{:.2} %", share * 100.0)),
        );
    }
    println!();
    let count = cells.len();
    println!("{apart} of {count} ratios are further than {:.0} % from 1;", AGREES * 100.0);
    println!("in {costly} of the workloads that wait measuring itself is more than {:.0} %.", MOST_HARNESS * 100.0);
    Ok(())
}

/// An error that lists what there is, unless each name is one of it.
fn known(what: &str, wanted: &[String], names: impl Iterator<Item = &'static str>) -> Result<()> {
    let names: Vec<&str> = names.collect();
    match wanted.iter().find(|name| !names.contains(&name.as_str())) {
        Some(name) => bail!("unknown {what} {name:?}; there are {}", names.join(", ")),
        None => Ok(()),
    }
}

fn build(paths: &Paths) -> Result<Programs> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--release", "-p", "parkbench-native", "--bins"]);
    cargo.args(["--example", "minimal-pool", "--example", "minimal-tokio"]);
    process::run(cargo.current_dir(&paths.root), LIMIT)?;
    let home = java_home(paths).context("no Java that is new enough")?;
    let folder = paths.target().join("agreement");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut maven = jvm::maven(paths, &home, &folder.join("kotlin"));
    maven.args(["--quiet", "-Dmaven.test.skip=true", "-Dsources=examples/kotlin", "-DmainClass=MinimalKt", "package"]);
    process::run(&mut maven, jvm::LIMIT)?;
    let release = paths.target().join("release");
    Ok(Programs {
        parkbench: release.join("parkbench"),
        pool: release.join("examples/minimal-pool"),
        tokio: release.join("examples/minimal-tokio"),
        java: home.join("bin/java"),
        minimal_java: paths.root.join("jvm/examples/Minimal.java"),
        kotlin: folder.join("kotlin/parkbench-runner.jar"),
        folder,
    })
}

impl Programs {
    /// [ns] So many totals of the independent program.
    fn run(&self, cell: &Cell, reps: u32) -> Result<Vec<u64>> {
        let (tasks, workload) = (cell.tasks.to_string(), cell.workload.argument);
        let carriers = format!("-Djdk.virtualThreadScheduler.parallelism={}", cell.cores);
        // A program that takes long needs no compiler that has seen the code.
        let warm_up = if cell.is_long() { 0 } else { WARM_UP_MS };
        let on_jvm = [workload, &tasks, &reps.to_string(), &warm_up.to_string()].map(str::to_owned);
        let java = |kind: &str, threads: u32| {
            let mut command = Command::new(&self.java);
            command.arg(&carriers).arg(&self.minimal_java).args([kind, &threads.to_string()]).args(&on_jvm);
            command
        };
        let kotlin = |place: &str| {
            let mut command = Command::new(&self.java);
            command.arg("-jar").arg(&self.kotlin).arg(place).args(&on_jvm);
            command
        };
        let tokio = |flavor: &str| {
            let mut command = Command::new(&self.tokio);
            command.args([flavor, &cell.cores.to_string(), workload, &tasks]);
            command
        };
        match cell.runtime {
            // A process for each, as `measure` has it.
            Runtime::Pool => {
                let arguments = [&cell.threads.to_string(), workload, &tasks];
                (0..reps).flat_map(|_| all_or_one(totals(Command::new(&self.pool).args(arguments)))).collect()
            }
            Runtime::JavaPool => totals(&mut java("pool", cell.threads)),
            Runtime::JavaThreadPerTask => totals(&mut java("threads", cell.threads)),
            Runtime::JavaVirtual => totals(&mut java("virtual", cell.cores)),
            Runtime::KotlinDefault => totals(&mut kotlin("default")),
            Runtime::KotlinIo => totals(&mut kotlin("io")),
            Runtime::KotlinEventLoop => totals(&mut kotlin("loop")),
            Runtime::Tokio => (0..reps).flat_map(|_| all_or_one(totals(&mut tokio("multi")))).collect(),
            Runtime::TokioCurrent => (0..reps).flat_map(|_| all_or_one(totals(&mut tokio("current")))).collect(),
        }
    }

    /// Adds so many totals of `parkbench measure`.
    fn measure(&self, cell: &Cell, reps: u32, totals: &mut Totals) -> Result<()> {
        let scenario = self.folder.join(format!("{}.toml", cell.workload.name));
        fs::write(&scenario, cell.scenario()).with_context(|| format!("cannot write {}", scenario.display()))?;
        let mut command = Command::new(&self.parkbench);
        command.arg("measure").arg(&scenario).args(["--runtime", cell.runtime.name(), "--format", "json"]);
        command.args(["--reps", &reps.to_string()]);
        if cell.is_long() {
            command.args(["--warm-up", "0"]);
        }
        if let Some(home) = self.java.ancestors().nth(2) {
            command.arg("--java").arg(home);
        }
        let json: Value = serde_json::from_slice(&output(&mut command)?).context("`measure` has printed no result")?;
        let run = &json["runs"][0];
        let makespans = run["makespans_ns"].as_array().context("the result has no totals")?;
        totals.measured.extend(makespans.iter().filter_map(Value::as_u64));
        totals.harness.extend(run["harness_share"].as_f64());
        Ok(())
    }
}

/// The totals, or the one error.
fn all_or_one(totals: Result<Vec<u64>>) -> Vec<Result<u64>> {
    match totals {
        Ok(totals) => totals.into_iter().map(Ok).collect(),
        Err(error) => vec![Err(error)],
    }
}

/// [ns] What the program prints: one total a line.
fn totals(command: &mut Command) -> Result<Vec<u64>> {
    let text = String::from_utf8(output(command)?).context("the program prints no text")?;
    let line = |line: &str| line.parse().with_context(|| format!("{line:?} is no total"));
    text.lines().map(line).collect()
}

/// The standard output of a command that succeeds; what it says on standard error is dropped unless it fails.
fn output(command: &mut Command) -> Result<Vec<u8>> {
    let program = Path::new(command.get_program()).display().to_string();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {program}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program} failed ({}): {}", output.status, said.trim());
    Ok(output.stdout)
}

/// The middle one, the mean of the two where there are two; 0 of none.
fn median(totals: &mut [u64]) -> u64 {
    totals.sort_unstable();
    match (totals.get(totals.len().saturating_sub(1) / 2), totals.get(totals.len() / 2)) {
        (Some(low), Some(high)) => low.midpoint(*high),
        _ => 0,
    }
}

fn ms(ns: u64) -> String {
    let ms = ns as f64 / 1e6;
    if ms < 100.0 { format!("{ms:.2} ms") } else { format!("{ms:.0} ms") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        for (totals, expect) in
            [(vec![], 0), (vec![7], 7), (vec![9, 1], 5), (vec![5, 100, 1], 5), (vec![4, 1, 2, 3], 2)]
        {
            assert_eq!(median(&mut totals.clone()), expect, "{totals:?}");
        }
    }

    #[test]
    fn an_unknown_name_says_what_there_is() {
        let names = || ["a", "b"].into_iter();
        assert!(known("runtime", &["b".to_owned()], names()).is_ok());
        let error = known("runtime", &["c".to_owned()], names()).expect_err("it is unknown");
        assert_eq!(error.to_string(), "unknown runtime \"c\"; there are a, b");
    }
}
