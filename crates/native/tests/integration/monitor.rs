//! `measure` again and again, and its metrics, as far as they need no Prometheus; `tests/metrics.rs` has the rest.
//!
//! Only facts that no slow machine can break, but for the two seconds in which an interrupt has to end everything.

use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::parkbench;

const QUICK: [&str; 10] =
    ["measure", "high-concurrency", "--tasks", "50", "--reps", "1", "--warm-up", "0", "--runtime", "tokio-current"];

/// A measurement that does not end by itself.
struct Running {
    child: Child,
    stdout: Lines<BufReader<ChildStdout>>,
    stderr: Lines<BufReader<ChildStderr>>,
}

impl Running {
    fn start(args: &[&[&str]]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_parkbench"))
            .args(args.concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap()).lines();
        let stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, stdout, stderr }
    }

    /// The next line of standard output.
    fn line(&mut self) -> String {
        self.stdout.next().unwrap().unwrap()
    }

    /// Where the metrics are, as it says on standard error.
    fn address(&mut self) -> String {
        let mut lines = self.stderr.by_ref().map(Result::unwrap);
        let line = lines.find_map(|line| line.strip_prefix("metrics: serving http://").map(str::to_owned));
        line.unwrap().strip_suffix("/metrics").unwrap().to_owned()
    }

    /// Interrupts it; how it ends, and what else it printed.
    fn interrupt(mut self) -> (ExitStatus, String) {
        kill(Pid::from_raw(self.child.id().cast_signed()), Signal::SIGINT).unwrap();
        let begin = Instant::now();
        let status = self.child.wait().unwrap();
        assert!(begin.elapsed() < Duration::from_secs(2), "it took {:?} to end", begin.elapsed());
        (status, self.stdout.by_ref().map(|line| line.unwrap() + "\n").collect())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The answer to a request, its head included.
fn ask(address: &str, method: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn rounds_go_on_until_an_interrupt_and_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("a.prom");
    let path = file.to_str().unwrap();
    let mut running = Running::start(&[&QUICK, &["--watch", "--interval", "0 s", "--metrics-file", path]]);
    assert!(running.line().starts_with("Round "));
    for round in ["1", "2", "3"] {
        let line = running.line();
        assert!(line.trim_start().starts_with(round) && line.ends_with("tokio-current"), "{line}");
        assert!(line.chars().count() <= 100, "{line}");
    }
    let (status, _) = running.interrupt();
    assert_eq!(status.code(), Some(0));
    let text = fs::read_to_string(&file).unwrap();
    let rounds = text.lines().find_map(|line| line.strip_prefix("benchmark_rounds_total{")?.split(' ').nth(1)).unwrap();
    assert!(rounds.parse::<u32>().unwrap() >= 3, "{rounds}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_pause_is_ended_by_an_interrupt() {
    let mut running = Running::start(&[&QUICK, &["--watch", "--interval", "24 h", "--format", "json"]]);
    let json: Value = serde_json::from_str(&running.line()).unwrap();
    assert_eq!(json["runs"][0]["variant"], "tokio-current");
    assert_eq!(running.interrupt().0.code(), Some(0));
}

#[test]
fn csv_has_one_header() {
    let mut running = Running::start(&[&QUICK, &["--watch", "--interval", "0 s", "--format", "csv"]]);
    let lines = [running.line(), running.line(), running.line()];
    let columns = |line: &str| line.split(',').next().unwrap().to_owned();
    assert_eq!(columns(&lines[1]), columns(&lines[2]));
    assert_ne!(columns(&lines[0]), columns(&lines[1]));
    running.interrupt();
}

#[test]
fn an_interrupted_round_keeps_its_repetitions() {
    // 50 s, unless it is interrupted.
    let args = ["measure", "io-bound", "--tasks", "1", "--reps", "1000", "--warm-up", "0", "--runtime", "pool"];
    let mut running = Running::start(&[&args, &["--watch", "--metrics-listen", "127.0.0.1:0"]]);
    let address = running.address();
    let repetitions = || -> Option<u32> {
        let answer = ask(&address, "GET", "/metrics");
        let line = answer.lines().find(|line| line.starts_with("benchmark_repetitions_total{"))?.to_owned();
        line.split(' ').nth(1)?.parse().ok()
    };
    // Served while it measures; the counter cannot be waited for.
    while repetitions().is_none_or(|count| count < 2) {
        std::thread::yield_now();
    }
    let (status, text) = running.interrupt();
    assert_eq!(status.code(), Some(0));
    assert!(text.lines().nth(1).is_some_and(|line| line.ends_with("pool-12")), "{text}");
}

#[test]
fn after_one_measurement_the_metrics_are_still_served() {
    let mut running = Running::start(&[&QUICK, &["--metrics-listen", "127.0.0.1:0"]]);
    let address = running.address();
    let still = running.stderr.by_ref().map(Result::unwrap).find(|line| line.contains("still serving"));
    assert!(still.unwrap().ends_with("until interrupted (Ctrl-C)"));
    // What was measured is printed by then.
    while !running.line().contains("tokio-current") {}
    let answer = ask(&address, "GET", "/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    assert!(answer.contains("content-type: text/plain; version=0.0.4; charset=utf-8"), "{answer}");
    assert!(
        answer.contains("benchmark_throughput{approach=\"tokio-current\",scenario=\"high-concurrency\",tasks=\"50\"}")
    );
    let docs = include_str!("../../../../docs/metrics.md");
    let names: Vec<&str> = answer.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    assert_eq!(names.len(), 14, "{names:?}");
    for name in names {
        assert!(docs.contains(&format!("| `{name}` |")), "{name} is not in docs/metrics.md");
    }
    assert!(ask(&address, "HEAD", "/metrics").ends_with("\r\n\r\n"));
    assert!(ask(&address, "POST", "/metrics").contains("allow: GET, HEAD"));
    assert!(ask(&address, "GET", "/nothing").starts_with("HTTP/1.1 404 "));
    assert_eq!(running.interrupt().0.code(), Some(0));
}

/// Ends with exit code 1 and this message, before anything is measured.
#[track_caller]
fn check_refused(args: &[&str], expect: &[&str]) {
    let output = parkbench().args([&QUICK, args].concat()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{stderr}");
    assert!(stderr.starts_with("error: "), "{stderr}");
    for text in expect {
        assert!(stderr.contains(text), "{text:?} is not in {stderr}");
    }
}

#[test]
fn what_cannot_be_had_here_is_said_before_anything_is_measured() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    check_refused(&["--metrics-listen", &address], &["--metrics-listen", &address, "in use", "allowed: a free port"]);
    // An address that is for documentation only.
    let nowhere = "203.0.113.7:9464";
    check_refused(&["--metrics-listen", nowhere], &["--metrics-listen", nowhere, "no address of this machine"]);
    let nowhere = "/proc/parkbench.prom";
    check_refused(&["--metrics-file", nowhere], &["--metrics-file", nowhere, "cannot be written"]);
}

#[test]
fn rounds_that_cannot_be_printed_end_the_watch() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args([&QUICK[..], &["--watch", "--interval", "24 h"]].concat())
        .stdout(full)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains("cannot write the result to standard output: No space left"), "{stderr}");
}
