//! The metrics of `measure`, scraped by a real Prometheus and read by a real `node_exporter`. Run by the step `metrics`
//! of `cargo xtask test`, which brings both.
//!
//! Whatever a test starts ends with it.

// The helpers of a test may unwrap as the test itself does; clippy's own exception covers test functions only.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

/// How long anything may take on a slow machine.
const LIMIT: Duration = Duration::from_mins(3);
/// Between two questions to a program that cannot be waited for.
const POLL: Duration = Duration::from_millis(200);
/// Names of the published benchmark, whose units the linter would rather have in full.
const ABBREVIATED: [&str; 2] = ["benchmark_duration_ms", "benchmark_memory_mb"];
const METRICS: [&str; 21] = [
    "benchmark_throughput",
    "benchmark_duration_ms",
    "benchmark_latency_avg",
    "benchmark_latency_p95",
    "benchmark_memory_mb",
    "benchmark_resident_memory_bytes",
    "benchmark_latency_seconds_bucket",
    "benchmark_latency_seconds_sum",
    "benchmark_latency_seconds_count",
    "benchmark_response_seconds_bucket",
    "benchmark_response_seconds_sum",
    "benchmark_response_seconds_count",
    "benchmark_repetitions_total",
    "benchmark_failures_total",
    "benchmark_failed_tasks_total",
    "benchmark_rounds_total",
    "benchmark_latest_round_timestamp_seconds",
    "parkbench_build_info",
    // Of Prometheus itself.
    "up",
    "scrape_duration_seconds",
    "scrape_samples_scraped",
];

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill(Pid::from_raw(self.0.id().cast_signed()), Signal::SIGTERM);
        let ended = Instant::now() + Duration::from_secs(10);
        while matches!(self.0.try_wait(), Ok(None)) && Instant::now() < ended {
            thread::sleep(POLL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A program that the step names.
fn program(variable: &str) -> PathBuf {
    std::env::var_os(variable)
        .unwrap_or_else(|| panic!("{variable} is not set: cargo xtask test --only metrics"))
        .into()
}

fn deploy(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A measurement that goes on until the test ends, and the address of its metrics.
fn watching(args: &[&str]) -> (Running, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args(["measure", "high-concurrency", "--tasks", "200", "--reps", "2", "--warm-up", "0", "--runtime", "rust"])
        .args(["--watch", "--interval", "200 ms", "--metrics-listen", "127.0.0.1:0"])
        .args(args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let serving = lines.find_map(|line| line.strip_prefix("metrics: serving http://").map(str::to_owned)).unwrap();
    // The rest is read, so that the program never waits for its reader.
    thread::spawn(move || lines.for_each(drop));
    (Running(child), serving.strip_suffix("/metrics").unwrap().to_owned())
}

/// The body of a page; `None` where nobody answers with it.
fn get(address: &str, path: &str) -> Option<String> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    // HTTP 1.0, so that the answer comes in one piece and ends with the connection.
    write!(stream, "GET {path} HTTP/1.0\r\nHost: {address}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    (head.lines().next()?.contains(" 200 ")).then(|| body.to_owned())
}

/// Asks until there is an answer.
#[track_caller]
fn await_some<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < LIMIT, "{what}: no answer");
        thread::sleep(POLL);
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// A Prometheus with the configuration of `deploy/`, but for the target and how often it is scraped; its address.
fn prometheus(dir: &Path, target: &str) -> (Running, String) {
    let config = deploy("prometheus.yml");
    let changed = config.replace("127.0.0.1:9464", target).replace("scrape_interval: 5s", "scrape_interval: 1s");
    assert!(changed.contains(target) && changed.contains(" 1s"), "{config}");
    let file = dir.join("prometheus.yml");
    fs::write(&file, changed).unwrap();
    let address = format!("127.0.0.1:{}", free_port());
    let child = Command::new(program("PARKBENCH_PROMETHEUS"))
        .arg(format!("--config.file={}", file.display()))
        .arg(format!("--storage.tsdb.path={}", dir.join("data").display()))
        .arg(format!("--web.listen-address={address}"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(dir.join("prometheus.log")).unwrap())
        .spawn()
        .unwrap();
    let mut running = Running(child);
    await_some("Prometheus", || {
        let ended = running.0.try_wait().unwrap();
        assert!(ended.is_none(), "{}", fs::read_to_string(dir.join("prometheus.log")).unwrap());
        get(&address, "/-/ready")
    });
    (running, address)
}

/// The answer to a query of the API of Prometheus; `None` where it has no values yet, or none that are numbers.
#[track_caller]
fn query(address: &str, expression: &str) -> Option<Vec<Value>> {
    let encoded = expression.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02x}"));
    let path = format!("/api/v1/query?query={encoded}");
    let answer = get(address, &path).unwrap_or_else(|| panic!("{expression} is refused"));
    let json: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(json["status"], "success", "{expression}: {json}");
    let series = json["data"]["result"].as_array().unwrap().clone();
    let number = |one: &Value| one["value"][1].as_str().is_some_and(|text| text.parse::<f64>().unwrap().is_finite());
    (!series.is_empty() && series.iter().all(number)).then_some(series)
}

fn label<'a>(series: &'a [Value], name: &str) -> Vec<&'a str> {
    let mut values: Vec<&str> = series.iter().filter_map(|one| one["metric"][name].as_str()).collect();
    values.sort_unstable();
    values.dedup();
    values
}

/// Every query of the dashboard, with what Grafana puts in for its variables.
fn queries(dashboard: &Value) -> Vec<String> {
    let targets = dashboard["panels"].as_array().unwrap().iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let queries = targets.map(|target| {
        let expression = target["expr"].as_str().unwrap().to_owned();
        let names = ["approach", "scenario", "tasks"];
        let filled = names.iter().fold(expression, |text, name| text.replace(&format!("${name}"), ".*"));
        let filled = filled.replace("$__rate_interval", "1m");
        assert!(!filled.contains('$'), "{filled}");
        filled
    });
    queries.collect()
}

#[test]
#[ignore = "needs a Prometheus: cargo xtask test --only metrics"]
fn every_metric_and_every_query_of_the_dashboard_has_data() {
    let dir = tempfile::tempdir().unwrap();
    let (_parkbench, target) = watching(&[]);
    let (_prometheus, address) = prometheus(dir.path(), &target);
    for metric in METRICS {
        let series = await_some(metric, || query(&address, metric));
        assert_eq!(label(&series, "job"), ["parkbench"], "{metric}");
        if metric.starts_with("benchmark_") {
            assert_eq!((label(&series, "scenario"), label(&series, "tasks")), (vec!["high-concurrency"], vec!["200"]));
        }
    }
    let approaches = ["may-12", "pool-12", "tokio-current"];
    for metric in &METRICS[..14] {
        let series = await_some(metric, || query(&address, metric).filter(|all| label(all, "approach").len() == 3));
        assert_eq!(label(&series, "approach"), approaches, "{metric}");
    }

    let dashboard: Value = serde_json::from_str(&deploy("grafana/dashboards/parkbench.json")).unwrap();
    let queries = queries(&dashboard);
    assert!(queries.len() >= 15, "{queries:?}");
    for expression in &queries {
        await_some(expression, || query(&address, expression));
    }
    // Every metric is shown.
    for metric in &METRICS[..17] {
        assert!(queries.iter().any(|query| query.contains(metric)) || metric.contains("response_seconds_"), "{metric}");
    }
    // The choices that the dashboard offers.
    for variable in dashboard["templating"]["list"].as_array().unwrap() {
        let Some(definition) = variable["definition"].as_str() else { continue };
        let (metric, name) =
            definition.strip_prefix("label_values(").unwrap().strip_suffix(')').unwrap().split_once(", ").unwrap();
        assert_eq!(variable["name"], name);
        let path = format!("/api/v1/label/{name}/values?match%5B%5D={metric}");
        let json: Value = serde_json::from_str(&get(&address, &path).unwrap()).unwrap();
        assert!(!json["data"].as_array().unwrap().is_empty(), "{definition}: {json}");
    }

    // The bodies of 200 tasks and of two repetitions add up, and each waits for 1 ms at least.
    let whole = "sum by (approach) (benchmark_latency_seconds_count) / on (approach) benchmark_repetitions_total";
    for one in await_some(whole, || query(&address, whole)) {
        assert_eq!(one["value"][1], "200", "{one}");
    }
    let short = "benchmark_latency_seconds_bucket{le=\"0.001\"} > 0";
    assert_eq!(query(&address, short), None);
    let failures = "benchmark_failures_total > 0";
    assert_eq!(query(&address, failures), None);
}

/// What the linter says about this text.
fn lint(text: &str) -> Vec<String> {
    let mut child = Command::new(program("PARKBENCH_PROMTOOL"))
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(text.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert_eq!(output.status.success(), said.is_empty(), "{}: {said}", output.status);
    said.lines().map(str::to_owned).collect()
}

/// The linter finds nothing but the two abbreviations that the published names have.
#[track_caller]
fn check_lint(text: &str) {
    let expect = ABBREVIATED.map(|name| format!("{name} metric names should not contain abbreviated units"));
    assert_eq!(lint(text), expect);
    let abbreviated = |line: &&str| ABBREVIATED.iter().any(|name| line.contains(name));
    let others: String = text.lines().filter(|line| !abbreviated(line)).flat_map(|line| [line, "\n"]).collect();
    assert_eq!(lint(&others), Vec::<String>::new());
}

#[test]
#[ignore = "needs a Prometheus: cargo xtask test --only metrics"]
fn promtool_accepts_what_is_served_and_how_it_is_scraped() {
    let (_parkbench, target) = watching(&[]);
    check_lint(&await_some("a round", || get(&target, "/metrics").filter(|text| text.contains("benchmark_memory_mb"))));

    let config = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/prometheus.yml");
    let output = Command::new(program("PARKBENCH_PROMTOOL")).args(["check", "config"]).arg(config).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
#[ignore = "needs a node_exporter: cargo xtask test --only metrics"]
fn node_exporter_reads_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("parkbench.prom");
    let output = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args(["measure", "high-concurrency", "--tasks", "100", "--reps", "2", "--runtime", "rust", "--metrics-file"])
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = fs::read_to_string(&file).unwrap();
    check_lint(&text);

    let address = format!("127.0.0.1:{}", free_port());
    let child = Command::new(program("PARKBENCH_NODE_EXPORTER"))
        .args(["--collector.disable-defaults", "--collector.textfile"])
        .arg(format!("--collector.textfile.directory={}", dir.path().display()))
        .arg(format!("--web.listen-address={address}"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _exporter = Running(child);
    let read = await_some("node_exporter", || get(&address, "/metrics"));
    assert!(read.contains("node_textfile_scrape_error 0"), "{read}");
    let series = |text: &str| {
        let mut names: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("benchmark_") || line.starts_with("parkbench_"))
            .map(|line| line.split(['{', ' ']).next().unwrap().to_owned())
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(series(&read), series(&text));
}
