//! How much of what `parkbench measure` says about tokio is parkbench: the same tasks in a program that does nothing
//! else, run in turn with it, each time in a new process.
//!
//! `cargo build --release -p parkbench-native && cargo run --release -p parkbench-native --example minimal-tokio`

use std::env;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};

/// Tasks of a run, as in the scenarios that come with parkbench.
const TASKS: u64 = 10_000;

/// What each task does: nothing, or one wait.
const WORKLOADS: [(&str, u64); 3] = [("spawn and join", 0), ("a wait of 1 ms", 1), ("a wait of 50 ms", 50)];

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.as_slice() {
        [run, wait_ms] if run == "run" => {
            let [total, cpu] = minimal(wait_ms.parse()?)?;
            println!("{total} {cpu}");
        }
        [] => compare(30)?,
        [reps] => compare(reps.parse().context("the argument is the number of repetitions")?)?,
        _ => anyhow::bail!("the only argument is the number of repetitions"),
    }
    Ok(())
}

/// [ns] From the first spawn until the last task has been joined, and the CPU time of that.
fn minimal(wait_ms: u64) -> anyhow::Result<[u64; 2]> {
    let before = cpu_ns()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build()?;
    runtime.block_on(async {
        let begin = Instant::now();
        let tasks: Vec<_> = (0..TASKS)
            .map(|_| {
                tokio::spawn(async move {
                    if wait_ms > 0 {
                        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await?;
        }
        Ok([begin.elapsed().as_nanos() as u64, cpu_ns()? - before])
    })
}

/// [ns] CPU time of this process.
fn cpu_ns() -> anyhow::Result<u64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let times = [usage.user_time(), usage.system_time()];
    Ok(times.map(|time| time.tv_sec() * 1_000_000_000 + time.tv_usec() * 1_000).iter().sum::<i64>().cast_unsigned())
}

fn compare(reps: usize) -> anyhow::Result<()> {
    ensure!(reps > 0, "the argument is the number of repetitions, 1 or more");
    let this = env::current_exe()?;
    let parkbench = this.with_file_name("../parkbench");
    ensure!(parkbench.is_file(), "build the binary first: cargo build --release -p parkbench-native");
    println!("{TASKS} tasks on 2 workers of tokio, {reps} runs of each in turn: the fastest, a quarter, the median");
    for (name, wait_ms) in WORKLOADS {
        let (mut own, mut measured) = (Vec::new(), Vec::new());
        for _ in 0..reps {
            let output = Command::new(&this).args(["run", &wait_ms.to_string()]).output()?;
            let numbers: Vec<u64> =
                String::from_utf8(output.stdout)?.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
            own.push([numbers[0], numbers[1]]);
            measured.push(by_parkbench(&parkbench, wait_ms)?);
        }
        println!("{name}");
        for (what, part) in [("total", 0), ("CPU time", 1)] {
            let sorted = |runs: &[[u64; 2]]| {
                let mut values: Vec<u64> = runs.iter().map(|run| run[part]).collect();
                values.sort_unstable();
                ranks(reps).map(|rank| values[rank] as f64 / 1e6)
            };
            let (own, measured) = (sorted(&own), sorted(&measured));
            for (who, values) in [("minimal", own), ("parkbench", measured)] {
                println!("  {what:<10}{who:<12}{}", values.map(|ms| format!("{ms:>9.3} ms")).concat());
            }
            let differences = [0, 1, 2].map(|rank| (measured[rank] / own[rank] - 1.0) * 100.0);
            println!("  {:<10}{:<12}{}", "", "difference", differences.map(|of| format!("{of:>+10.1} %")).concat());
        }
    }
    Ok(())
}

/// The fastest, a quarter, the median, of so many sorted values.
const fn ranks(count: usize) -> [usize; 3] {
    [0, count / 4, count / 2]
}

/// [ns] The total and the CPU time that one repetition of `parkbench measure` has.
fn by_parkbench(parkbench: &Path, wait_ms: u64) -> anyhow::Result<[u64; 2]> {
    let step = if wait_ms == 0 { json!({"cpu": {"iterations": 1}}) } else { json!({"io": format!("{wait_ms} ms")}) };
    let scenario = json!({"version": 1, "name": "minimal", "machine": {"cores": 2},
        "tasks": [{"count": TASKS, "steps": [step]}], "runs": [{"model": "coroutines"}]});
    let mut child = Command::new(parkbench)
        .args(["measure", "-", "--runtime", "tokio", "--reps", "1", "--warm-up", "0", "--format", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    child.stdin.take().context("standard input is a pipe")?.write_all(scenario.to_string().as_bytes())?;
    let output = child.wait_with_output()?;
    let json: Value = serde_json::from_slice(&output.stdout).context("parkbench has printed no result")?;
    let number = |name: &str| json["runs"][0][name].as_u64().with_context(|| format!("the run has no {name}"));
    Ok([number("makespan_ns")?, number("cpu_ns")?])
}
