//! `measure` when things go wrong: an interrupt at any time, limits, disks that are full. What is finished is kept.
//!
//! Only facts that no slow machine can break, but for the two seconds in which an interrupt has to end everything.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getuid};
use serde_json::Value;

use crate::measure::child_of;

/// A short measurement.
const QUICK: [&str; 12] = [
    "measure",
    "high-concurrency",
    "--tasks",
    "50",
    "--reps",
    "1",
    "--warm-up",
    "0",
    "--runtime",
    "tokio-current",
    "--format",
    "json",
];

fn parkbench(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parkbench"));
    command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

/// Interrupts it; it ends within two seconds, and so does the child that it has.
fn interrupt(mut parent: Child) -> Output {
    let child = child_of(&mut parent);
    kill(Pid::from_raw(parent.id().cast_signed()), Signal::SIGINT).unwrap();
    let begin = Instant::now();
    let output = parent.wait_with_output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "it took {:?} to end", begin.elapsed());
    while fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name.trim() == "parkbench") {
        thread::yield_now();
    }
    output
}

/// Starts it with its metrics served, and waits until so many repetitions are finished.
fn after_repetitions(args: &[&str], count: u32) -> Child {
    let mut parent = parkbench(&[args, &["--metrics-listen", "127.0.0.1:0"]].concat()).spawn().unwrap();
    let mut lines = BufReader::new(parent.stderr.take().unwrap()).lines().map(Result::unwrap);
    let address = lines.find_map(|line| line.strip_prefix("metrics: serving http://").map(str::to_owned)).unwrap();
    // What it says afterwards is read, so that it never waits for a reader.
    thread::spawn(move || lines.for_each(drop));
    let address = address.strip_suffix("/metrics").unwrap();
    let finished = || {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let line = answer.lines().find(|line| line.starts_with("benchmark_repetitions_total{"))?.to_owned();
        line.split(' ').nth(1)?.parse::<u32>().ok()
    };
    // The counter cannot be waited for.
    while finished().is_none_or(|done| done < count) {
        assert!(parent.try_wait().unwrap().is_none(), "ended too early");
        thread::yield_now();
    }
    parent
}

#[test]
fn an_interrupt_between_repetitions_keeps_what_is_finished_and_writes_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    // 50 s, unless it is interrupted.
    let args = ["measure", "io-bound", "--tasks", "1", "--reps", "1000", "--warm-up", "0", "--runtime", "pool"];
    let parent = after_repetitions(&[&args[..], &["--format", "json", "--out", path.to_str().unwrap()]].concat(), 2);
    let output = interrupt(parent);
    assert_eq!(output.status.code(), Some(1));
    let printed = json(&output);
    let finished = printed["runs"][0]["makespans_ns"].as_array().unwrap().len();
    assert!((2..1_000).contains(&finished), "{finished}");
    let kinds: Vec<_> = printed["warnings"].as_array().unwrap().iter().map(|warning| &warning["kind"]).collect();
    assert!(kinds.contains(&&Value::from("interrupted")), "{kinds:?}");
    let written: Value = serde_json::from_slice(&fs::read(path.join("result.json")).unwrap()).unwrap();
    assert_eq!(written, printed);
    assert!(path.join("report.md").exists() && path.join("totals.svg").exists());
}

#[test]
fn an_interrupt_while_it_traces_keeps_every_repetition() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.pbtrace");
    let scenario = dir.path().join("a.json");
    let text = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1,"steps":[{"io":"3 s"}]}],
        "runs":[{"model":"thread-pool"}]}"#;
    fs::write(&scenario, text).unwrap();
    let args = ["measure", scenario.to_str().unwrap(), "--reps", "1", "--warm-up", "0", "--runtime", "pool"];
    let parent = after_repetitions(&[&args[..], &["--format", "json", "--trace", path.to_str().unwrap()]].concat(), 1);
    let output = interrupt(parent);
    assert_eq!(output.status.code(), Some(1));
    let printed = json(&output);
    assert_eq!(printed["runs"][0]["makespans_ns"].as_array().unwrap().len(), 1);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "no part of a trace is left");
}

#[test]
fn what_it_says_may_be_lost_and_the_figures_are_not() {
    let full = || fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let (reader, closed) = std::io::pipe().unwrap();
    drop(reader);
    for stderr in [Stdio::from(full()), Stdio::from(closed)] {
        let output = parkbench(&QUICK).stderr(stderr).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(json(&output)["runs"][0]["variant"], "tokio-current");
    }
    let status = parkbench(&["measure", "no-such-preset"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[test]
fn a_full_disk_leaves_the_rows_and_no_part_of_a_file() {
    let dir = tempfile::tempdir().unwrap();
    for (option, name) in [("--trace", "run.pbtrace"), ("--metrics-file", "run.prom")] {
        let path = dir.path().join(name);
        let args = [&QUICK[..], &[option, path.to_str().unwrap()]].concat();
        // No file may grow, and the signal that says so is ignored: a write fails as on a full disk.
        let output = Command::new("bash")
            .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "bash", env!("CARGO_BIN_EXE_parkbench")])
            .args(args)
            .output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(name) && stderr.contains("File too large"), "{stderr}");
        assert_eq!(json(&output)["runs"][0]["variant"], "tokio-current");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{option}");
    }
}

/// Measures as a user who may have so many threads at once.
fn limited(threads: u32, args: &[&str]) -> Output {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = dir.path().join("parkbench");
    fs::copy(env!("CARGO_BIN_EXE_parkbench"), &binary).unwrap();
    let mut command = Command::new("bash");
    command.args(["-c", &format!("ulimit -u {threads}; exec \"$@\""), "bash"]).arg(&binary).args(args);
    if getuid().is_root() {
        // No limit of a user holds for root. Nobody else has this number.
        command.uid(54_321).gid(54_321);
    }
    command.current_dir(Path::new("/")).output().unwrap()
}

#[test]
fn a_limit_on_threads_is_named_and_leaves_the_other_rows() {
    let args = ["measure", "io-bound", "--tasks", "200", "--reps", "1", "--warm-up", "0", "--format", "json"];
    let runtimes = "thread-per-task,tokio-current";
    let output = limited(60, &[&args[..], &["--runtime", runtimes]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    if !getuid().is_root() {
        // This user has threads already, and perhaps more than that.
        return;
    }
    let known = "200 tasks are more than this machine holds, up to 60, for RLIMIT_NPROC (ulimit -u) allows no more; \
                 use --tasks 60";
    assert!(stderr.contains(known), "{stderr}");
    let json = json(&output);
    assert_eq!(
        (&json["runs"][0]["variant"], &json["absent"][0]["variant"]),
        (&"tokio-current".into(), &"thread-per-task".into())
    );

    // Within the limit, but for what the program needs itself.
    for runtime in ["thread-per-task", "pool", "tokio", "may"] {
        let output = limited(8, &["measure", "io-bound", "--tasks", "8", "--reps", "1", "--runtime", runtime]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{runtime} {stderr}");
        assert!(
            stderr.contains("RLIMIT_NPROC (ulimit -u) allows 8 threads in all")
                || stderr.contains("up to 8, for RLIMIT_NPROC (ulimit -u)"),
            "{runtime} {stderr}"
        );
    }
}
