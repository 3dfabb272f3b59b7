//! `cargo xtask go`: simulated Go beside the real scheduler, printed, never asserted.
//!
//! `peers/go` runs the scenarios of `crates/engine/tests/data/go` on real goroutines. Where there is one P, who goes on
//! to run when is compared as a sequence; elsewhere the totals. The engine's tests hold the engine against the sequences
//! that `--record` has written.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::paths::Paths;
use crate::process;

/// For each build.
const LIMIT: Duration = Duration::from_mins(15);
/// Repetitions without `--reps`.
const REPS: u32 = 9;
/// The totals agree where their ratio is no further from 1.
const AGREES: f64 = 0.1;
/// The program looks into this version of the runtime.
const VERSION: &str = "go1.26";
/// Where the scenarios are.
const DATA: &str = "crates/engine/tests/data/go";

/// What to compare.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Scenarios by their names; empty means all.
    pub(crate) only: Vec<String>,
    pub(crate) reps: Option<u32>,
    /// Write the sequences down for the engine's tests.
    pub(crate) record: bool,
}

struct Programs {
    real: PathBuf,
    simulated: PathBuf,
}

/// One run, real or simulated.
struct Run {
    total_ns: u64,
    order: String,
}

pub(crate) fn go(paths: &Paths, options: &Options) -> Result<()> {
    let go = env::var_os("GO").unwrap_or_else(|| "go".into());
    let Some(version) = process::output_of(&go, &["version"]) else {
        bail!(
            "there is no Go: install Go 1.26 from go.dev/dl and put its `bin` into PATH, or set GO to the program `go`"
        );
    };
    ensure!(version.contains(VERSION), "this needs Go 1.26, whose runtime the program looks into; there is {version}");
    let programs = build(paths, &go)?;
    let costs: Value = serde_json::from_str(&output(Command::new(&programs.real).arg("-costs"), None)?)?;
    let reps = options.reps.unwrap_or(REPS);
    println!("{version}; {reps} repetitions, medians; costs measured by the program:");
    println!("{costs}");
    orders(paths, &programs, &costs, &version, reps, options)?;
    totals(paths, &programs, &costs, reps, options)
}

/// Where there is one P: whether the sequence that most repetitions had is the simulated one.
fn orders(
    paths: &Paths,
    programs: &Programs,
    costs: &Value,
    version: &str,
    reps: u32,
    options: &Options,
) -> Result<()> {
    println!();
    println!("| one P | of the repetitions had the same order | the simulation has it |");
    println!("|---|---|---|");
    let mut record =
        format!("# {version}: who went on to run and who ended (`n.`), as most of {reps} repetitions had it.\n");
    for file in scenarios(&paths.root.join(DATA).join("order"), options)? {
        let real = programs.real(&file, reps)?;
        let simulated = programs.simulated(&file, costs, 0)?;
        let count = |order: &str| real.iter().filter(|run| run.order == order).count();
        let Some(most) = real.iter().map(|run| run.order.as_str()).max_by_key(|order| count(order)) else { continue };
        let name = name_of(&file);
        println!(
            "| `{name}` | {} of {reps} | {} |",
            count(most),
            if simulated.order == most { "yes" } else { "**no**" }
        );
        if simulated.order != most {
            eprintln!("{name}\n  real      {most}\n  simulated {}", simulated.order);
        }
        writeln!(record, "{name}: {most}")?;
    }
    if options.record {
        fs::write(paths.root.join(DATA).join("orders.txt"), record)?;
    }
    Ok(())
}

/// Totals of real and simulated runs, each with other draws.
fn totals(paths: &Paths, programs: &Programs, costs: &Value, reps: u32, options: &Options) -> Result<()> {
    println!();
    println!("| scenario | Ps | real | from | to | simulated | ratio |");
    println!("|---|---|---|---|---|---|---|");
    let (mut apart, mut count) = (0, 0);
    for file in scenarios(&paths.root.join(DATA).join("total"), options)? {
        let mut real: Vec<u64> = programs.real(&file, reps)?.iter().map(|run| run.total_ns).collect();
        let mut simulated = Vec::new();
        for seed in 0..reps {
            simulated.push(programs.simulated(&file, costs, seed)?.total_ns);
        }
        let (median_real, median_simulated) = (median(&mut real), median(&mut simulated));
        let ratio = median_simulated as f64 / median_real as f64;
        let is_apart = (ratio - 1.0).abs() > AGREES;
        apart += u32::from(is_apart);
        count += 1;
        println!(
            "| `{}` | {} | {} | {} | {} | {} | {ratio:.3}{} |",
            name_of(&file),
            read(&file)?["runs"][0]["workers"],
            ms(median_real),
            ms(real[0]),
            ms(real[real.len() - 1]),
            ms(median_simulated),
            if is_apart { " (apart)" } else { "" },
        );
    }
    println!();
    println!("{apart} of {count} ratios are further than {:.0} % from 1.", AGREES * 100.0);
    Ok(())
}

fn build(paths: &Paths, go: impl AsRef<std::ffi::OsStr>) -> Result<Programs> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--locked", "--release", "-p", "parkbench-engine", "--example", "order"]);
    process::run(cargo.current_dir(&paths.root), LIMIT)?;
    let real = paths.target().join("go/peer");
    let mut build = Command::new(go);
    // The program sets the tick of a P, to which the linker has to agree.
    build.args(["build", "-ldflags=-checklinkname=0", "-o"]).arg(&real).arg(".");
    process::run(build.current_dir(paths.root.join("peers/go")), LIMIT)?;
    Ok(Programs { real, simulated: paths.target().join("release/examples/order") })
}

impl Programs {
    fn real(&self, scenario: &Path, reps: u32) -> Result<Vec<Run>> {
        let text = output(Command::new(&self.real).args(["-reps", &reps.to_string()]).arg(scenario), None)?;
        text.lines().map(run_of).collect()
    }

    fn simulated(&self, scenario: &Path, costs: &Value, seed: u32) -> Result<Run> {
        let mut scenario = read(scenario)?;
        scenario["costs"] = costs.clone();
        scenario["seed"] = seed.into();
        run_of(&output(&mut Command::new(&self.simulated), Some(&scenario.to_string()))?)
    }
}

fn run_of(line: &str) -> Result<Run> {
    let run: Value = serde_json::from_str(line)?;
    let names = run["order"].as_array().context("a run without an order")?;
    let order: Vec<&str> = names.iter().filter_map(Value::as_str).collect();
    Ok(Run { total_ns: run["total_ns"].as_u64().context("a run without a total")?, order: order.join(" ") })
}

/// The scenarios of a folder that are wanted, by name.
fn scenarios(folder: &Path, options: &Options) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.push(entry?.path());
    }
    files.retain(|file| options.only.is_empty() || options.only.contains(&name_of(file)));
    files.sort();
    Ok(files)
}

fn name_of(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(file: &Path) -> Result<Value> {
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| file.display().to_string())
}

fn output(command: &mut Command, input: Option<&str>) -> Result<String> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    if let (Some(text), Some(mut stdin)) = (input, child.stdin.take()) {
        stdin.write_all(text.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{command:?} has failed");
    Ok(String::from_utf8(output.stdout)?)
}

fn median(values: &mut [u64]) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn ms(ns: u64) -> String {
    format!("{:.2} ms", ns as f64 / 1e6)
}
