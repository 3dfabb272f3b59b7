//! `measure` on real runtimes. Only facts that no slow machine can break: lower bounds, counts, order; no upper bound
//! in time.

use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;
use serde_json::Value;

use crate::{json_of, parkbench, stdout_of};

const MS: u64 = 1_000_000;

/// Measures a preset at a reduced size; the runs.
#[track_caller]
fn runs(preset: &str, tasks: &str) -> Vec<Value> {
    let json = json_of(&[
        "measure",
        preset,
        "--tasks",
        tasks,
        "--reps",
        "1",
        "--warm-up",
        "0",
        "--runtime",
        "rust",
        "--format",
        "json",
    ]);
    assert_eq!(json["version"], 1);
    assert!(json["environment"]["cpu_iteration_ps"].as_u64().unwrap() > 50);
    json["runs"].as_array().unwrap().clone()
}

/// Checks what holds for every run of `tasks` tasks whose waits are at least `wait_ns` long.
#[track_caller]
fn check(run: &Value, variant: &str, tasks: u64, wait_ns: u64, makespan_ns: u64, most_in_flight: u64) {
    let number = |pointer: &str| run.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!((&run["variant"], &run["origin"]), (&variant.into(), &"measured".into()));
    assert_eq!((number("/tasks"), number("/tasks_done"), number("/tasks_failed")), (tasks, tasks, 0));
    assert_eq!(number("/latency_ns/count"), tasks);
    assert!(number("/latency_ns/mean") >= wait_ns && number("/latency_ns/p50") >= wait_ns, "{run}");
    assert!(number("/response_ns/mean") >= number("/latency_ns/mean"));
    assert!(number("/makespan_ns") >= makespan_ns.max(number("/response_ns/max")), "{run}");
    assert_eq!(number("/makespan_ns"), run["makespans_ns"][0].as_u64().unwrap());
    assert!((1..=most_in_flight).contains(&number("/in_flight_peak")), "{run}");
    assert!(number("/memory_bytes/reserved") >= number("/memory_bytes/resident"));
    assert_eq!(number("/os_switches"), number("/voluntary_switches") + number("/involuntary_switches"));
    assert!(run["digest"].is_null() && run["unavailable"]["digest"].is_string());
}

/// What is refused is counted, and nobody waits for it: done, failed, in flight, the least total.
#[test]
fn a_pool_refuses_what_it_has_no_room_for() {
    let scenario = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":6,"steps":[{"io":"500 ms"}]}],"runs":[
        {"model":"thread-pool","queue":1},{"model":"thread-pool","queue":1,"rejection":"caller-runs"},
        {"model":"thread-pool","queue":0},{"model":"thread-pool","pool":"cached"}]}"#;
    let runs = of_scenario(scenario);
    let facts = |run: &Value| {
        let number = |name: &str| run[name].as_u64().unwrap();
        (number("tasks_done"), number("tasks_failed"), number("in_flight_peak"))
    };
    let expect = [
        ("pool-2-queue1", (3, 3, 2), 2),
        ("pool-2-queue1-caller-runs", (6, 0, 3), 2),
        ("pool-2-queue0", (2, 4, 2), 1),
        ("pool-cached", (6, 0, 6), 1),
    ];
    for (run, (variant, expect, rounds)) in runs.iter().zip(expect) {
        assert_eq!((run["variant"].as_str().unwrap(), facts(run)), (variant, expect));
        assert!(run["makespan_ns"].as_u64().unwrap() >= rounds * 500 * MS, "{run}");
    }
    assert_eq!(runs[2]["failures"], serde_json::json!([{"reason": "rejected", "tasks": 4}]));
}

#[test]
fn a_join_does_not_wait_for_what_was_refused() {
    let scenario = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":4,"steps":[{"io":"100 ms"},
        {"spawn":{"count":2,"steps":[{"io":"1 ms"},{"spawn":{"count":3,"steps":["yield"]}}]}},"join"]}],
        "runs":[{"model":"thread-pool","size":5,"queue":0},{"model":"thread-pool","size":5,"queue":0,"rejection":"caller-runs"}]}"#;
    let runs = of_scenario(scenario);
    let number = |run: &Value, name: &str| run[name].as_u64().unwrap();
    for run in &runs {
        assert_eq!(number(run, "tasks_done") + number(run, "tasks_failed"), 36);
        assert_eq!(number(run, "tasks_unfinished"), 0);
    }
    // One thread is free for all children of four parents at once.
    assert!(number(&runs[0], "tasks_failed") > 0);
    assert_eq!(number(&runs[1], "tasks_done"), 36);
}

/// The second child finds no thread, and the one that runs it has the lock already.
#[test]
fn a_caller_enters_its_lock_again() {
    let scenario = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1,"steps":[{"lock":{"name":"a"}},
        {"spawn":{"count":2,"steps":[{"lock":{"name":"a"}},{"io":"1 ms"},{"unlock":"a"}]}},{"unlock":"a"}]}],
        "runs":[{"model":"thread-pool","queue":0,"rejection":"caller-runs"}]}"#;
    assert_eq!(of_scenario(scenario)[0]["tasks_done"], 3);
}

/// The runs of one repetition of this scenario on the runtimes that are built in.
fn of_scenario(scenario: &str) -> Vec<Value> {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    fs::write(file.path(), scenario).unwrap();
    let path = file.path().to_str().unwrap();
    let json = json_of(&["measure", path, "--reps", "1", "--warm-up", "0", "--runtime", "rust", "--format", "json"]);
    json["runs"].as_array().unwrap().clone()
}

#[test]
fn io_bound() {
    let runs = runs("io-bound", "100");
    // Nine rounds of twelve.
    check(&runs[0], "pool-12", 100, 50 * MS, 9 * 50 * MS, 12);
    check(&runs[1], "may-12", 100, 50 * MS, 50 * MS, 100);
    check(&runs[2], "tokio-64", 100, 50 * MS, 50 * MS, 100);
    // A sleeping pool thread asks for at least one switch for each task (P-4).
    assert!(runs[0]["voluntary_switches"].as_u64().unwrap() >= 100);
}

#[test]
fn cpu_bound() {
    let runs = runs("cpu-bound", "60");
    for (run, variant) in runs.iter().zip(["pool-12", "may-12", "tokio-12"]) {
        // 100,000 iterations cannot take less than 5 us if the loop is there.
        check(run, variant, 60, 5_000, 5_000, 60);
        assert!(run["cpu_ns"].as_u64().unwrap() > 0);
    }
}

#[test]
fn high_concurrency() {
    let runs = runs("high-concurrency", "600");
    check(&runs[0], "pool-12", 600, MS, 50 * MS, 12);
    check(&runs[1], "may-12", 600, MS, MS, 600);
    check(&runs[2], "tokio-current", 600, MS, MS, 600);
}

#[test]
fn llm_agents() {
    let runs = runs("llm-agents", "501");
    check(&runs[0], "pool-500", 501, 2_000 * MS, 4_000 * MS, 500);
    check(&runs[1], "may-8", 501, 2_000 * MS, 2_000 * MS, 501);
    check(&runs[2], "tokio-64", 501, 2_000 * MS, 2_000 * MS, 501);
}

#[test]
fn pinning_is_one_measurement_and_says_so() {
    let json = json_of(&[
        "measure",
        "pinning",
        "--tasks",
        "20",
        "--reps",
        "1",
        "--warm-up",
        "0",
        "--runtime",
        "rust",
        "--format",
        "json",
    ]);
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 1);
    check(&runs[0], "may-8", 20, 2_000 * MS, 2_000 * MS, 20);
    assert_eq!(runs[0]["stands_for"].as_array().unwrap().len(), 4);
    let kinds: Vec<_> = json["warnings"].as_array().unwrap().iter().map(|w| w["kind"].as_str().unwrap()).collect();
    assert!(kinds.contains(&"shared") && kinds.contains(&"no-monitor"), "{kinds:?}");
}

#[test]
fn steps_of_every_kind_do_what_they_say_on_every_runtime() {
    // 24 tasks hold a shared lock for 2 ms, then hold their thread for 5 ms; 2 threads of each runtime.
    let scenario = r#"{"version":1,"name":"x","machine":{"cores":2},
        "tasks":[
            {"count":24,"steps":[{"lock":{"name":"a"}},{"io":"2 ms"},{"unlock":"a"},{"block":"5 ms"}]},
            {"count":1,"at":"100 ms","steps":[{"cpu":"10 us"}]}],
        "runs":[{"model":"thread-pool"},{"model":"green-threads"},{"model":"coroutines"},
            {"model":"coroutines","dispatcher":"event-loop"}]}"#;
    let output = parkbench()
        .args(["measure", "-", "--reps", "1", "--warm-up", "0", "--runtime", "rust,smol", "--format", "json"])
        .write_stdin(scenario)
        .output();
    let json: Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let runs = json["runs"].as_array().unwrap();
    let expect = [("pool-2", 2), ("may-2", 2), ("tokio-2", 2), ("tokio-current", 1), ("smol-2", 2)];
    assert_eq!(runs.len(), expect.len());
    for (run, (variant, threads)) in runs.iter().zip(expect) {
        let serial = 24 * 2 * MS;
        let held = 24 / threads * 5 * MS;
        // The last task is submitted 100 ms after the first.
        check(run, variant, 25, 0, serial.max(held).max(100 * MS), 25);
    }
}

#[test]
fn blocking_steps_hold_the_worker_or_do_not_as_the_run_says() {
    let run = |blocking: &str| {
        let scenario = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":1}},"tasks":[{{"count":6,"steps":[{{"block":"20 ms"}}]}}],
            "runs":[{{"model":"coroutines","runtime":"tokio","workers":1,"blocking":"{blocking}"}},
                {{"model":"coroutines","runtime":"tokio","flavor":"current-thread","blocking":"{blocking}"}}]}}"#
        );
        let args = ["measure", "-", "--reps", "1", "--warm-up", "0", "--runtime", "rust,smol", "--format", "json"];
        let output = parkbench().args(args).write_stdin(scenario).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()["runs"].as_array().unwrap().clone()
    };
    let (held, free) = (run("on-worker"), run("spawn-blocking"));
    assert_eq!((held.len(), free.len()), (3, 3));
    for ((held, free), variant) in held.iter().zip(&free).zip(["tokio-1", "tokio-current", "smol-1"]) {
        // One after the other, for there is one thread.
        check(held, variant, 6, 20 * MS, 6 * 20 * MS, 1);
        check(free, &format!("{variant}-spawn-blocking"), 6, 20 * MS, 20 * MS, 6);
        assert!(free["in_flight_peak"].as_u64().unwrap() > 1, "{free}");
        assert!(free["runtime"].as_str().unwrap().contains(", block steps by "), "{free}");
    }
}

#[test]
fn permits_yields_repetitions_and_mixes_on_every_runtime() {
    let scenario = r#"{"version":1,"name":"x","machine":{"cores":2},"mix":{"count":24},
        "tasks":[
            {"weight":1,"steps":[{"acquire":{"name":"s","permits":3}},{"repeat":{"times":2,"steps":[{"io":"1 ms"}]}},
                {"release":"s"},"yield"]},
            {"weight":1,"steps":[{"acquire":{"name":"s","permits":3}},{"io":"2 ms"},{"release":"s"}]}],
        "runs":[{"model":"thread-pool","size":8},{"model":"green-threads"},{"model":"coroutines"},
            {"model":"coroutines","dispatcher":"event-loop"}]}"#;
    let args = ["measure", "-", "--reps", "1", "--warm-up", "0", "--runtime", "rust,smol", "--format", "json"];
    let output = parkbench().args(args).write_stdin(scenario).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 5);
    for (run, variant) in runs.iter().zip(["pool-8", "may-2", "tokio-2", "tokio-current", "smol-2"]) {
        // Eight rounds of three.
        check(run, variant, 24, 2 * MS, 8 * 2 * MS, 24);
    }
}

#[test]
fn users_of_a_closed_loop_wait_for_their_tasks_on_every_runtime() {
    let scenario = r#"{"version":1,"name":"x","machine":{"cores":2},"mix":{"count":12,
        "arrival":{"closed-loop":{"users":3,"think":"4 ms"}}},
        "tasks":[{"weight":1,"steps":[{"io":"2 ms"}]},{"weight":1,"steps":["yield",{"spawn":{"count":1,"steps":[{"io":"2 ms"}]}},"join"]}],
        "runs":[{"model":"thread-pool","size":12},{"model":"green-threads"},{"model":"coroutines"},
            {"model":"coroutines","dispatcher":"event-loop"},{"model":"thread-pool","size":1,"queue":0}]}"#;
    let args = ["measure", "-", "--reps", "1", "--warm-up", "0", "--runtime", "rust,smol", "--format", "json"];
    let output = parkbench().args(args).write_stdin(scenario).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let runs = json["runs"].as_array().unwrap();
    let variants: Vec<_> = runs.iter().map(|run| run["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["pool-12", "may-2", "tokio-2", "tokio-current", "pool-1-queue0", "smol-2"]);
    for run in runs {
        let number = |name: &str| run[name].as_u64().unwrap();
        if run["variant"] == "pool-1-queue0" {
            // A user whose task is refused sends the next all the same.
            assert!(number("tasks_done") >= 1 && number("tasks_failed") >= 1, "{run}");
            assert_eq!(number("tasks_done") + number("tasks_failed"), number("tasks"), "{run}");
            continue;
        }
        assert_eq!((number("tasks_done"), number("tasks_failed")), (number("tasks"), 0), "{run}");
        // Each user has one task under way, and that one child at most; somebody sends four or more.
        assert!((1..=6).contains(&number("in_flight_peak")), "{run}");
        assert!(number("makespan_ns") >= (4 * 2 + 3 * 4) * MS, "{run}");
    }
}

#[test]
fn tasks_that_start_others_wait_for_them_on_every_runtime() {
    let runs = runs("tool-chain", "3");
    for (run, variant) in runs.iter().zip(["pool-3000", "may-8", "tokio-8"]) {
        // An agent and its three tools; the agent waits three times for 2 s at least, in a row.
        let makespan = run["makespan_ns"].as_u64().unwrap();
        check(run, variant, 12, 2_000 * MS, 6_000 * MS, 12);
        assert!(makespan >= 6_000 * MS && run["latency_ns"]["max"].as_u64().unwrap() >= 6_000 * MS, "{run}");
    }
    assert_eq!(runs.len(), 3);
}

#[test]
fn repetitions_and_formats() {
    let args = [
        "measure",
        "high-concurrency",
        "--tasks",
        "50",
        "--reps",
        "3",
        "--warm-up",
        "0",
        "--runtime",
        "tokio-current",
        "--format",
    ];
    let json = json_of(&[&args[..], &["json"]].concat());
    let times: Vec<u64> =
        json["runs"][0]["makespans_ns"].as_array().unwrap().iter().map(|ns| ns.as_u64().unwrap()).collect();
    let mut sorted = times.clone();
    sorted.sort_unstable();
    assert_eq!((times.len(), json["runs"][0]["makespan_ns"].as_u64()), (3, Some(sorted[1])));

    let csv = stdout_of(&[&args[..], &["csv"]].concat());
    assert_eq!(csv.lines().count(), 2);
    assert!(csv.lines().nth(1).unwrap().contains("tokio-current"));

    let table = stdout_of(&[&args[..], &["table"]].concat());
    assert!(table.contains("current-thread, measured in place of kotlin-event-loop"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
}

#[test]
fn json_has_what_is_documented() {
    let docs = include_str!("../../../../docs/results.md");
    let json = json_of(&[
        "measure",
        "io-bound",
        "--tasks",
        "12",
        "--reps",
        "1",
        "--warm-up",
        "0",
        "--runtime",
        "rust",
        "--format",
        "json",
    ]);
    let documented = |object: &Value| {
        for name in object.as_object().unwrap().keys() {
            assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/results.md");
        }
    };
    documented(&json);
    documented(&json["environment"]);
    documented(&json["runs"][0]);
    documented(&json["runs"][0]["counters"]);
    documented(
        &serde_json::json!({"absent": [], "java": "", "jvm": {}, "gc_ns": 0, "gc_count": 0, "heap_peak_bytes": 0,
        "threads_peak": 0, "pinned": 0, "variant": "", "stands_for": "", "reason": ""}),
    );
}

#[test]
fn an_interrupt_ends_the_measurement_and_its_child() {
    // 42 s, unless it is interrupted.
    let mut parent = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args(["measure", "io-bound", "--runtime", "pool"])
        .process_group(0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let child = child_of(&mut parent);
    // To the whole group, as a terminal does.
    killpg(Pid::from_raw(parent.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("interrupted before a repetition was finished"), "{stderr}");
    await_end(&child);
}

#[test]
fn a_child_does_not_outlive_its_parent() {
    let mut parent = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args(["measure", "io-bound", "--runtime", "pool"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let child = child_of(&mut parent);
    // No handler runs.
    parent.kill().unwrap();
    parent.wait().unwrap();
    await_end(&child);
}

/// The process that the parent has started for a repetition; waits for it.
pub(crate) fn child_of(parent: &mut Child) -> String {
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    loop {
        let list = fs::read_to_string(&children).unwrap();
        if let Some(child) = list.split_whitespace().next() {
            return child.to_owned();
        }
        assert!(parent.try_wait().unwrap().is_none(), "ended too early");
        thread::yield_now();
    }
}

/// Waits until the process is gone, or has another program's name because its number was given again.
fn await_end(process: &str) {
    while fs::read_to_string(format!("/proc/{process}/comm")).is_ok_and(|name| name.trim() == "parkbench") {
        thread::yield_now();
    }
}

#[test]
fn without_maven_the_rows_of_the_jvm_are_absent_with_the_reason() {
    let cache = tempfile::tempdir().unwrap();
    let mut command = parkbench();
    command.env("PATH", cache.path()).env("PARKBENCH_CACHE", cache.path()).env_remove("JAVA_HOME");
    command.args(["measure", "high-concurrency", "--tasks", "20", "--reps", "1", "--warm-up", "0", "--format", "json"]);
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["runs"].as_array().unwrap().len(), 3);
    let absent = json["absent"].as_array().unwrap();
    let variants: Vec<_> = absent.iter().map(|absent| absent["variant"].as_str().unwrap()).collect();
    assert_eq!(variants, ["java-pool", "java-virtual", "kotlin-event-loop"]);
    for absent in absent {
        // Which of the two is missing first depends on the machine.
        let reason = absent["reason"].as_str().unwrap();
        assert!(reason.starts_with("Maven is missing") || reason.starts_with("no Java 21 or newer"), "{reason}");
        assert!(reason.contains("install"), "{reason}");
        assert!(stderr.contains(&format!("{} is not measured: {reason}", absent["variant"].as_str().unwrap())));
    }

    // Asked for by its name, it is a failure.
    command.args(["--runtime", "pool,java-pool"]);
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["runs"].as_array().unwrap().len(), json["absent"].as_array().unwrap().len()), (1, 1));
}

#[test]
fn what_is_beyond_the_limits_of_the_machine_leaves_the_other_rows() {
    let text = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1000000,"steps":[{"cpu":{"iterations":1}}]}],
        "runs":[{"model":"thread-pool"},{"model":"green-threads"}]}"#;
    let output = parkbench()
        .args(["measure", "-", "--runtime", "rust", "--reps", "1", "--warm-up", "0", "--format", "json"])
        .write_stdin(text)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["runs"].as_array().unwrap().len(), &json["absent"][0]["variant"]), (1, &"may-2".into()));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("1000000 tasks are more than this machine holds") && stderr.contains("vm.max_map_count"));

    let output = parkbench().args(["measure", "io-bound", "--tasks", "1000000", "--runtime", "may"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("there is nothing to measure"));
}

#[test]
fn a_child_that_is_killed_leaves_the_other_rows() {
    let scenario = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    let text = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1,"steps":[{"io":"1 s"}]}],
        "runs":[{"model":"thread-pool"},{"model":"coroutines"}]}"#;
    fs::write(scenario.path(), text).unwrap();
    let mut parent = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args([
            "measure",
            scenario.path().to_str().unwrap(),
            "--runtime",
            "rust",
            "--reps",
            "1",
            "--warm-up",
            "0",
            "--format",
            "json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let child: i32 = child_of(&mut parent).parse().unwrap();
    kill(Pid::from_raw(child), Signal::SIGKILL).unwrap();
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((json["runs"].as_array().unwrap().len(), &json["runs"][0]["variant"]), (1, &"tokio-2".into()));
    assert_eq!(json["absent"][0]["variant"], "pool-2");
    assert!(String::from_utf8_lossy(&output.stderr).contains("signal: 9"));
}

#[test]
fn a_job_that_is_none_is_a_failure() {
    let output = parkbench().arg("exec-one").write_stdin("{}").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("standard input is no job"));
}

/// A short measurement that also writes into this directory.
fn writes(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parkbench"));
    command
        .args(["measure", "high-concurrency", "--tasks", "50", "--runtime", "tokio-current", "--reps", "6", "--out"])
        .arg(dir)
        .args(["--format", "markdown"]);
    command
}

#[test]
fn a_directory_gets_what_is_printed_and_charts_and_is_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let output = writes(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json: Value = serde_json::from_slice(&fs::read(path.join("result.json")).unwrap()).unwrap();
    let statistics = &json["runs"][0]["statistics"];
    assert_eq!(statistics["makespan_ns"]["count"], 6);
    let part = |pointer: &str| statistics.pointer(pointer).and_then(Value::as_f64).unwrap();
    assert!(part("/makespan_ns/median_interval/low") <= part("/makespan_ns/median"));
    assert!(part("/makespan_ns/median") <= part("/makespan_ns/median_interval/high"));
    assert_eq!(json["runs"][0]["warm_ups"], 1);
    assert!(json["environment"]["harness"]["task_ns"].as_f64().unwrap() > 0.0);
    assert!(json["environment"]["limits"]["mappings"].as_u64().unwrap() > 0);
    let report = fs::read_to_string(path.join("report.md")).unwrap();
    for chart in ["totals.svg", "spread.svg", "latency.svg"] {
        assert!(report.contains(&format!("]({chart})")), "{report}");
        assert!(fs::read_to_string(path.join(chart)).unwrap().ends_with("</svg>\n"));
    }
    // The charts apart, the report is what was printed.
    let printed = String::from_utf8(output.stdout).unwrap();
    let (before, rest) = report.split_once("## Charts\n").unwrap();
    assert_eq!(printed, before.to_owned() + &rest[rest.find("## ").unwrap()..]);

    let again = writes(&path).output().unwrap();
    assert_eq!((again.status.code(), again.stdout.len()), (Some(1), 0));
    let stderr = String::from_utf8_lossy(&again.stderr);
    assert!(stderr.contains("is not empty, and nothing is overwritten") && !stderr.contains("measuring"), "{stderr}");
}

#[test]
fn a_file_that_cannot_be_written_leaves_the_rows_on_standard_output() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    let measure = writes(&path);
    // No file may grow, and the signal that says so is ignored: a write fails as on a full disk.
    let output = Command::new("bash")
        .args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$@\"", "bash"])
        .arg(measure.get_program())
        .args(measure.get_args())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("cannot write") && stderr.contains("result.json"), "{stderr}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("tokio-current"));
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0, "no part of a file is left");

    let nowhere = writes(Path::new("/proc/parkbench")).output().unwrap();
    assert_eq!((nowhere.status.code(), nowhere.stdout.len()), (Some(1), 0));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("cannot make the directory /proc/parkbench"));
}
