//! `measure` on a real JVM. Run by the step `jvm` of `cargo xtask test`, which brings a Java and Maven.
//!
//! Only facts that no slow machine can break, but for the two seconds in which an interrupt has to end everything.

// The helpers of a test may unwrap as the test itself does; clippy's own exception covers test functions only.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::{Pid, getuid};
use parkbench_engine::{Reason, TaskState};
use parkbench_trace::{Metrics, Trace, TraceFile};
use serde_json::Value;
use tempfile::NamedTempFile;

const MS: u64 = 1_000_000;
/// Two waits of a second, on a pool and on virtual threads.
const TWO_RUNS: &str = r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":2,"steps":[{"io":"1 s"}]}],
    "runs":[{"model":"thread-pool"},{"model":"green-threads"}]}"#;

fn measure(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_parkbench"));
    command.args(["measure", "--format", "json", "--reps", "1", "--warm-up", "0"]).args(args);
    command
}

/// The scenario as a file.
fn file(text: &str) -> NamedTempFile {
    let file = tempfile::Builder::new().suffix(".json").tempfile().unwrap();
    fs::write(file.path(), text).unwrap();
    file
}

fn json(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

fn words(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|entry| entry["variant"].as_str().unwrap()).collect()
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_pool_refuses_what_it_has_no_room_for() {
    let scenario = file(
        r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":6,"steps":[{"io":"400 ms"}]}],"runs":[
        {"model":"thread-pool","queue":1},{"model":"thread-pool","queue":1,"rejection":"caller-runs"},
        {"model":"thread-pool","queue":0},{"model":"thread-pool","pool":"cached"}]}"#,
    );
    let output = measure(&[scenario.path().to_str().unwrap(), "--runtime", "java-pool"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = json(&output);
    let facts = |run: &Value| {
        let number = |name: &str| run[name].as_u64().unwrap();
        let variant = run["variant"].as_str().unwrap().to_owned();
        assert!(number("makespan_ns") >= 400 * MS, "{run}");
        (variant, number("tasks_done"), number("tasks_failed"))
    };
    let expect = [
        ("java-pool-2-queue1", 3, 3),
        ("java-pool-2-queue1-caller-runs", 6, 0),
        ("java-pool-2-queue0", 2, 4),
        ("java-pool-cached", 6, 0),
    ];
    let got: Vec<_> = json["runs"].as_array().unwrap().iter().map(facts).collect();
    assert_eq!(got, expect.map(|(variant, done, failed)| (variant.to_owned(), done, failed)));
    assert!(json["runs"][0]["harness_share"].as_f64().unwrap() > 0.0);
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn every_runtime_keeps_the_floor_of_io_bound() {
    let runtimes = "java-pool,java-thread-per-task,java-virtual,kotlin-default,kotlin-io,kotlin-event-loop";
    let output = measure(&["io-bound", "--tasks", "240", "--runtime", runtimes]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = json(&output);
    assert!(json["environment"]["java"].is_string());
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    for run in runs {
        let number =
            |pointer: &str| run.pointer(pointer).and_then(Value::as_u64).unwrap_or_else(|| panic!("{pointer}: {run}"));
        let pool = run["variant"] == "java-pool-12";
        // 20 rounds of twelve; without a pool all wait together.
        let floor = if pool { 20 * 50 * MS } else { 50 * MS };
        assert!(number("/makespan_ns") >= floor.max(number("/response_ns/max")), "{run}");
        assert_eq!((number("/tasks_done"), number("/latency_ns/count")), (240, 240));
        assert!(number("/latency_ns/p50") >= 50 * MS, "{run}");
        let in_flight = number("/in_flight_peak");
        assert!(if pool { in_flight <= 12 } else { in_flight > 24 }, "{run}");
        assert!(number("/memory_bytes/resident") > 10_000_000 && number("/jvm/heap_peak_bytes") > 0);
        assert_eq!(number("/os_switches"), number("/voluntary_switches") + number("/involuntary_switches"));
        assert!(run["latency_histogram"].as_str().unwrap().starts_with("HISTFAAA"));
        assert!(run["throughput_per_s"].as_f64().unwrap() > 0.0);
        let pinned = run.pointer("/jvm/pinned").unwrap();
        assert_eq!(pinned.is_u64(), run["model"] == "green-threads", "{run}");
    }
    // Each task blocks a thread of its own, once at least (P-4).
    let per_task = runs.iter().find(|run| run["variant"] == "java-thread-per-task").unwrap();
    assert!(per_task["voluntary_switches"].as_u64().unwrap() >= 240, "{per_task}");
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn users_of_a_closed_loop_wait_for_their_tasks() {
    let scenario = file(
        r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":5,"arrival":{"every":"1 ms"},"steps":["yield"]},
        {"count":12,"arrival":{"closed-loop":{"users":3,"think":"4 ms"}},"steps":[{"io":"2 ms"}]}],
        "runs":[{"model":"thread-pool","size":9}]}"#,
    );
    let runtimes = "java-pool,java-thread-per-task,java-virtual,kotlin-default,kotlin-io,kotlin-event-loop";
    let output = measure(&[scenario.path().to_str().unwrap(), "--runtime", runtimes]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = json(&output);
    assert_eq!(json["runs"].as_array().unwrap().len(), 6, "{json}");
    for run in json["runs"].as_array().unwrap() {
        let number = |name: &str| run[name].as_u64().unwrap();
        assert_eq!((number("tasks_done"), number("tasks_failed")), (17, 0), "{run}");
        // One of the loop's tasks for each user, and the others.
        assert!((1..=8).contains(&number("in_flight_peak")), "{run}");
        assert!(number("makespan_ns") >= (4 * 2 + 3 * 4) * MS, "{run}");
    }
}

/// A wait in a class initialiser or in native code holds the carrier on every JDK (T-15, and vector 4 with shorter waits); without
/// such a frame all four would wait together.
#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn frames_that_pin_hold_their_carrier() {
    for kind in ["class-initializer", "native-frame"] {
        let scenario = file(&format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":2}},"tasks":[{{"count":4,"steps":[
            {{"lock":{{"name":"a","kind":"{kind}","scope":"task"}}}},{{"io":"100 ms"}},{{"unlock":"a"}}]}}],
            "runs":[{{"model":"green-threads","carriers":1}},{{"model":"green-threads","carriers":2}},{{"model":"thread-pool"}}]}}"#
        ));
        let runtimes = "java-virtual,java-pool,may";
        let output = measure(&[scenario.path().to_str().unwrap(), "--runtime", runtimes]).output().unwrap();
        let json = json(&output);
        let runs = json["runs"].as_array().unwrap();
        for (run, waits) in runs.iter().zip([4, 2, 2]) {
            assert!(run["makespan_ns"].as_u64().unwrap() >= waits * 100 * MS, "{kind} {run}");
        }
        assert_eq!(runs.len(), 3, "{json}");
        assert!(runs[0].pointer("/jvm/pinned").unwrap().as_u64().unwrap() >= 4, "{}", runs[0]);
        assert_eq!(words(&json["absent"]), ["may-1", "may-2"]);
        assert_eq!(json["absent"][0]["reason"], "class initialisers and native frames are of the JVM");
    }
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn the_java_decides_the_variant() {
    let output = measure(&["pinning", "--tasks", "20", "--runtime", "jvm"]).output().unwrap();
    let json = json(&output);
    let feature = json["environment"]["java"].as_str().unwrap().split('.').next().unwrap().parse::<u32>().unwrap();
    if feature >= 25 {
        let ours = |kind: &str| format!("java-virtual-jdk{feature}-{kind}");
        assert_eq!(words(&json["runs"]), [ours("reentrant"), ours("monitor")]);
        assert_eq!(words(&json["absent"]), [ours("monitor")]);
        let reason = json["absent"][0]["reason"].as_str().unwrap();
        assert!(reason.starts_with("the run is of JDK 21, where its steps behave otherwise"), "{reason}");
        assert_eq!(json["runs"][1]["stands_for"], serde_json::json!(["java-25-monitor"]));
        // A wait inside a monitor pins no carrier since JDK 24 (T-14).
        assert!(json["runs"][1]["makespan_ns"].as_u64().unwrap() >= 2_000 * MS);
        assert_eq!(json["runs"][1]["in_flight_peak"], 20);
    }
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_mutex_inside_a_monitor_is_refused_and_the_other_rows_are_kept() {
    let scenario = file(
        r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":4,"steps":[
            {"lock":{"name":"a","kind":"monitor","scope":"task"}},{"lock":{"name":"b","kind":"reentrant"}},{"io":"2 ms"},
            {"unlock":"b"},{"unlock":"a"}]}],
        "runs":[{"model":"thread-pool"},{"model":"green-threads"},{"model":"coroutines","dispatcher":"event-loop"}]}"#,
    );
    let path = scenario.path().to_str().unwrap();
    let output = measure(&[path, "--runtime", "jvm"]).output().unwrap();
    assert!(output.status.success());
    let json = json(&output);
    assert_eq!((words(&json["runs"]).len(), words(&json["absent"])), (2, vec!["kotlin-event-loop"]));
    for run in json["runs"].as_array().unwrap() {
        assert!(run["makespan_ns"].as_u64().unwrap() >= 8 * MS, "{run}");
    }

    let output = measure(&[path, "--runtime", "kotlin-event-loop"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("a Mutex or Semaphore inside a monitor may hold its event loop for ever"), "{stderr}");
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_jvm_that_is_killed_leaves_the_other_rows() {
    let scenario = file(TWO_RUNS);
    let mut parent = start(measure(&[scenario.path().to_str().unwrap(), "--runtime", "jvm"]));
    let jvm = jvm_of(&mut parent);
    kill(jvm, Signal::SIGKILL).unwrap();
    let output = parent.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json = json(&output);
    assert_eq!((words(&json["runs"]).len(), words(&json["absent"])), (1, vec!["java-pool-2"]));
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("java-pool-2 is not measured: the JVM ended with signal: 9")
    );
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_jvm_out_of_memory_leaves_the_other_rows() {
    let scenario = file(
        r#"{"version":1,"name":"x","machine":{"cores":2},"tasks":[{"count":1000000,"steps":[{"cpu":{"iterations":1}}]}],
        "runs":[{"model":"thread-pool"}]}"#,
    );
    let mut command = measure(&[scenario.path().to_str().unwrap()]);
    let output = command.env("JAVA_TOOL_OPTIONS", "-Xmx16m -XX:+UseSerialGC").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json = json(&output);
    assert_eq!((words(&json["runs"]), words(&json["absent"])), (vec!["pool-2"], vec!["java-pool-2"]));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("the JVM ran out of memory"), "{stderr}");
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn an_interrupt_ends_every_jvm_within_two_seconds() {
    let scenario = file(&TWO_RUNS.replace("1 s", "1000 s"));
    let mut command = measure(&[scenario.path().to_str().unwrap(), "--runtime", "jvm"]);
    command.process_group(0);
    let mut parent = start(command);
    let jvm = jvm_of(&mut parent);
    let group = Pid::from_raw(parent.id().cast_signed());
    let begin = Instant::now();
    // To the whole group, as a terminal does.
    killpg(group, Signal::SIGINT).unwrap();
    let output = parent.wait_with_output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("interrupted before a repetition was finished"));
    await_end(jvm);
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_jvm_does_not_outlive_its_parent() {
    let scenario = file(&TWO_RUNS.replace("1 s", "1000 s"));
    let mut parent = start(measure(&[scenario.path().to_str().unwrap(), "--runtime", "jvm"]));
    let jvm = jvm_of(&mut parent);
    // No handler runs.
    parent.kill().unwrap();
    parent.wait().unwrap();
    await_end(jvm);
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_build_that_fails_leaves_the_other_rows() {
    let dir = tempfile::tempdir().unwrap();
    let maven = dir.path().join("mvn");
    fs::write(&maven, "#!/bin/sh\necho '[ERROR] the repository is away'\nexit 1\n").unwrap();
    fs::set_permissions(&maven, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let mut command = measure(&["high-concurrency", "--tasks", "20", "--runtime", "pool,java-pool"]);
    let output = command.env("PATH", path).env("PARKBENCH_CACHE", dir.path().join("cache")).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let json = json(&output);
    assert_eq!((words(&json["runs"]), words(&json["absent"])), (vec!["pool-12"], vec!["java-pool-12"]));
    let reason = json["absent"][0]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("Maven could not build the runner") && reason.ends_with("the repository is away"),
        "{reason}"
    );
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn an_interrupt_ends_a_build_with_all_that_it_has_started() {
    let dir = tempfile::tempdir().unwrap();
    let maven = dir.path().join("mvn");
    let started = dir.path().join("started");
    fs::write(
        &maven,
        format!("#!/bin/sh\nsleep 1000 &\necho $! $$ >{0}.part\nmv {0}.part {0}\nwait\n", started.display()),
    )
    .unwrap();
    fs::set_permissions(&maven, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", dir.path().display(), std::env::var("PATH").unwrap());
    let cache = dir.path().join("cache");
    let mut command = measure(&["high-concurrency", "--tasks", "20", "--runtime", "java-pool"]);
    command.env("PATH", path).env("PARKBENCH_CACHE", &cache).process_group(0);
    let mut parent = start(command);
    while !started.exists() {
        assert!(parent.try_wait().unwrap().is_none(), "ended too early");
        thread::yield_now();
    }
    let begin = Instant::now();
    killpg(Pid::from_raw(parent.id().cast_signed()), Signal::SIGINT).unwrap();
    let output = parent.wait_with_output().unwrap();
    assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    assert_eq!(output.status.code(), Some(1));
    for process in fs::read_to_string(&started).unwrap().split_whitespace() {
        let state = || fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        // One that has ended and that nobody has asked about is a zombie.
        while state().rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z')) {
            thread::yield_now();
        }
    }
    let left: Vec<_> = fs::read_dir(cache.join("jvm")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["build.lock"]);
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_java_that_is_passed_over_is_said() {
    let old = tempfile::tempdir().unwrap();
    fs::create_dir(old.path().join("bin")).unwrap();
    fs::write(old.path().join("bin/java"), "").unwrap();
    fs::write(old.path().join("release"), "JAVA_VERSION=\"17.0.9\"\n").unwrap();
    let mut command = measure(&["high-concurrency", "--tasks", "20", "--runtime", "java-pool"]);
    let output = command.env("JAVA_HOME", old.path()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stderr}");
    assert!(
        stderr.contains("note: JAVA_HOME has Java 17.0.9") && stderr.contains("is taken, for 21 or newer"),
        "{stderr}"
    );
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn a_jvm_without_threads_names_the_limit() {
    if !getuid().is_root() {
        // This user has threads already, and a limit on them would hold for the test too.
        return;
    }
    // The runner is there afterwards.
    assert!(
        measure(&["high-concurrency", "--tasks", "20", "--runtime", "java-pool"]).output().unwrap().status.success()
    );
    let cache = std::env::var_os("PARKBENCH_CACHE").map(PathBuf::from);
    let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap().join(".cache/parkbench"));
    let dir = tempfile::tempdir().unwrap();
    let shelf = dir.path().join("jvm");
    fs::create_dir(&shelf).unwrap();
    for entry in fs::read_dir(cache.join("jvm")).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        fs::copy(entry.path(), shelf.join(entry.file_name())).unwrap();
    }
    let binary = dir.path().join("parkbench");
    fs::copy(env!("CARGO_BIN_EXE_parkbench"), &binary).unwrap();
    for path in [dir.path(), &shelf] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
    }
    // A Java of this user's own cannot be reached by that other one.
    let java = std::env::var_os("JAVA_HOME").map(PathBuf::from).map(|home| {
        let open = |part: &Path| fs::metadata(part).is_ok_and(|data| data.permissions().mode() & 5 == 5);
        if home.ancestors().all(open) {
            return home;
        }
        let copy = dir.path().join("java");
        assert!(Command::new("cp").arg("-r").args([&home, &copy]).status().unwrap().success());
        copy
    });
    let output = Command::new("bash")
        .args(["-c", "ulimit -u 8; exec \"$@\"", "bash"])
        .envs(java.map(|home| ("JAVA_HOME", home)))
        .arg(&binary)
        .args(["measure", "high-concurrency", "--tasks", "20", "--reps", "1", "--format", "json"])
        .args(["--runtime", "tokio-current,kotlin-event-loop"])
        .env("PARKBENCH_CACHE", dir.path())
        .env("HOME", dir.path())
        .current_dir("/")
        // Nobody else has this number, and no limit of a user holds for root.
        .uid(54_322)
        .gid(54_322)
        .output()
        .unwrap();
    let json = json(&output);
    assert_eq!((words(&json["runs"]), words(&json["absent"])), (vec!["tokio-current"], vec!["kotlin-event-loop"]));
    let reason = json["absent"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("RLIMIT_NPROC (ulimit -u) allows 8 threads in all"), "{reason}");
}

fn start(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// The JVM that the parent has started; waits for it.
fn jvm_of(parent: &mut Child) -> Pid {
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    loop {
        let list = fs::read_to_string(&children).unwrap();
        let runs_java = |process: &&str| {
            let line = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("parkbench-runner-")
        };
        if let Some(jvm) = list.split_whitespace().find(runs_java) {
            return Pid::from_raw(jvm.parse().unwrap());
        }
        assert!(parent.try_wait().unwrap().is_none(), "ended too early");
        thread::yield_now();
    }
}

/// Waits until the process is gone, has ended, or is another one because its number was given again.
fn await_end(process: Pid) {
    let line = || fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    while String::from_utf8_lossy(&line()).contains("parkbench-runner-") {
        thread::yield_now();
    }
}

#[test]
#[ignore = "needs a Java and Maven: cargo xtask test --only jvm"]
fn every_runtime_takes_down_what_its_tasks_do() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.pbtrace");
    let runtimes = "java-pool,java-thread-per-task,java-virtual,kotlin-default,kotlin-io,kotlin-event-loop";
    let output = measure(&["io-bound", "--tasks", "24", "--runtime", runtimes, "--trace"]).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let file = TraceFile::decode(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(file.runs.len(), 6);
    for run in file.runs {
        let (result, trace) = (run.about.result, Trace::new(run.recording).unwrap());
        let metrics = Metrics::of(&trace);
        assert_eq!(
            (metrics.latency_ns, metrics.response_ns),
            (result.latency_ns, result.response_ns),
            "{}",
            result.variant
        );
        // A thread that is a task's own or a pool's waits with its task; the reason is the same everywhere, as in a simulation.
        let holds = ["java-pool-12", "java-thread-per-task"].contains(&result.variant.as_str());
        let expect = (if holds { TaskState::Blocked } else { TaskState::Waiting }, Reason::Io);
        for task in 0..24 {
            let history = trace.history(task);
            let waits = history.iter().any(|record| (record.tag.state, record.tag.reason) == expect);
            assert!(waits, "{} {history:?}", result.variant);
        }
        // Start, wait, going on, end.
        assert_eq!(run.about.cost.events, 24 * 4, "{}", result.variant);
        let threads = trace.thread_info();
        let (most, part) = match result.variant.as_str() {
            "java-pool-12" => (12, "pool-"),
            "java-thread-per-task" => (24, "Thread-"),
            // Its tasks name their carriers and not themselves.
            variant if variant.starts_with("java-virtual") => (12, "ForkJoinPool-"),
            "kotlin-event-loop" => (1, "main"),
            _ => (24, "DefaultDispatcher-worker-"),
        };
        assert!((1..=most).contains(&threads.len()), "{} {threads:?}", result.variant);
        assert!(threads.iter().all(|thread| thread.name.contains(part)), "{} {threads:?}", result.variant);
    }
}
