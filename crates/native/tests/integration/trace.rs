//! `measure --trace`: what is in the file agrees with itself and with the scenario, on every runtime that is built in.

use std::fs;
use std::path::Path;

use parkbench_engine::{Activity, NO_WORKER, Reason, Scenario, Simulation, TaskState, TaskTag};
use parkbench_trace::{Lanes, Metrics, Origin, Trace, TraceFile};

use crate::{json_of, parkbench};

const MS: u64 = 1_000_000;
const RUNTIMES: &str = "pool,thread-per-task,may,tokio,tokio-current,smol";
/// Every kind of step that can be measured, and tasks that are late for each other.
const ALL_STEPS: &str = r#"{"version":1,"name":"all","machine":{"cores":2},"runs":[{"model":"thread-pool","size":3},
    {"model":"green-threads","carriers":2}],"tasks":[
    {"name":"a","count":12,"steps":[{"lock":{"name":"l"}},{"cpu":"50 us"},{"unlock":"l"},{"io":"2 ms"},"yield",
        {"block":"1 ms"},{"lock":{"name":"own","scope":"task"}},{"unlock":"own"}]},
    {"name":"b","count":2,"at":"3 ms","steps":[{"acquire":{"name":"s","permits":1}},{"io":"1 ms"},{"release":"s"},
        {"spawn":{"count":2,"steps":[{"io":"1 ms"}]}},"join"]}]}"#;

/// Traces the scenario on these runtimes, and checks what holds for every run.
#[track_caller]
fn traced(dir: &Path, scenario: &str, runtimes: &str) -> Vec<(String, Trace)> {
    let path = dir.join("run.pbtrace");
    let args = ["measure", scenario, "--reps", "1", "--tasks", "20", "--format", "json"];
    let args: Vec<&str> = if scenario.ends_with("json") { [&args[..4], &args[6..]].concat() } else { args.to_vec() };
    let json = json_of(&[&args[..], &["--runtime", runtimes, "--trace", path.to_str().unwrap()]].concat());
    let file = TraceFile::decode(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&file.scenario).unwrap(), json["scenario"]);
    let mut traces = Vec::new();
    for (run, entry) in file.runs.into_iter().zip(json["runs"].as_array().unwrap()) {
        let result = run.about.result;
        assert_eq!((result.origin, &entry["variant"]), (Origin::Measured, &result.variant.clone().into()));
        assert_eq!(entry["trace"]["makespan_ns"], result.makespan_ns);
        assert_eq!(entry["makespan_ns"], run.about.cost.untraced_makespan_ns);
        assert_eq!(entry["trace"]["events"], run.about.cost.events);
        assert!(run.about.cost.event_ps > 0);
        let trace = Trace::new(run.recording).unwrap();
        // The figures follow from the records, as those of a simulated run do.
        let metrics = Metrics::of(&trace);
        assert_eq!(
            (metrics.latency_ns, metrics.response_ns),
            (result.latency_ns, result.response_ns),
            "{}",
            result.variant
        );
        assert_eq!((metrics.makespan_ns, u64::from(metrics.tasks_done)), (result.makespan_ns, result.tasks));
        traces.push((result.variant, trace));
    }
    traces
}

#[test]
fn io_bound_waits_as_its_model_does() {
    let dir = tempfile::tempdir().unwrap();
    let traces = traced(dir.path(), "io-bound", RUNTIMES);
    let names: Vec<&str> = traces.iter().map(|(variant, _)| variant.as_str()).collect();
    assert_eq!(names, ["pool-12", "may-12", "tokio-64", "thread-per-task", "tokio-current", "smol-64"]);
    for (variant, trace) in &traces {
        let holds = variant.starts_with("pool") || variant.starts_with("thread");
        let expect = (if holds { TaskState::Blocked } else { TaskState::Waiting }, Reason::Io);
        for task in 0..20 {
            let history = trace.history(task);
            let wait = history.iter().position(|record| (record.tag.state, record.tag.reason) == expect).unwrap();
            let record = history[wait];
            assert_eq!(record.tag.worker == NO_WORKER, !holds, "{variant} {history:?}");
            assert!(record.end_ns - record.start_ns >= 50 * MS, "{variant} {history:?}");
            let before = history[wait - 1].tag;
            assert_eq!((before.state, before.worker == NO_WORKER), (TaskState::Running, false));
            assert!(!holds || record.tag.worker == before.worker, "{variant} {history:?}");
        }
    }
    let lanes = Lanes::new(&traces[0].1);
    assert_eq!(lanes.thread_count(), 12);
    for thread in 0..12 {
        let totals = lanes.totals(thread);
        assert!(totals.get(Activity::Blocked) >= 50 * MS, "{totals:?}");
    }
    assert_eq!(traces[4].1.thread_info().len(), 1);
}

#[test]
fn every_step_is_in_the_trace() {
    use TaskState::{Blocked, Done, LockWait, Preempted, Queued, Running, Waiting};
    let dir = tempfile::tempdir().unwrap();
    let scenario = dir.path().join("all.json");
    fs::write(&scenario, ALL_STEPS).unwrap();
    for (variant, trace) in traced(dir.path(), scenario.to_str().unwrap(), "pool,may,tokio,tokio-current,smol") {
        let states = |task: u32| -> Vec<TaskState> {
            let mut states: Vec<_> = trace.history(task).iter().map(|record| record.tag.state).collect();
            states.dedup();
            states
        };
        let of_a = if variant == "pool-3" {
            vec![Queued, Running, LockWait, Running, Blocked, Running, Preempted, Running, Blocked, Running, Done]
        } else if variant == "may-2" {
            // The timer thread hands it over before it goes on (R-5).
            vec![Queued, Running, LockWait, Running, Waiting, Queued, Running, Queued, Running, Blocked, Running, Done]
        } else {
            vec![Queued, Running, LockWait, Running, Waiting, Running, Queued, Running, Blocked, Running, Done]
        };
        assert_eq!(states(0), of_a, "{variant}");
        let children = trace.history(12).iter().any(|record| record.tag.reason == Reason::Children);
        let permit = trace.history(13).iter().any(|record| record.tag.reason == Reason::Permit);
        assert!(children && permit, "{variant}");
        // Both clocks begin with the first submission, which is at 0, and those that come later keep their time.
        assert!(trace.history(12)[0].start_ns >= 3 * MS, "{variant}");
    }
}

/// What the first task and its first child do where the pool has one thread and no queue, and whether it is a call of a
/// child by which a task is blocked.
#[test]
fn what_is_refused_is_in_the_trace_as_in_a_simulation() {
    use TaskState::{Blocked, Done, Failed, Queued, Running};
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.pbtrace");
    let scenario = dir.path().join("refused.json");
    for rejection in ["abort", "caller-runs"] {
        let text = format!(
            r#"{{"version":1,"name":"x","machine":{{"cores":2}},"tasks":[{{"count":2,"steps":[{{"io":"300 ms"}},
            {{"spawn":{{"count":2,"steps":[{{"io":"1 ms"}}]}}}},{{"io":"1 ms"}}]}}],
            "runs":[{{"model":"thread-pool","size":1,"queue":0,"rejection":"{rejection}"}}]}}"#
        );
        fs::write(&scenario, &text).unwrap();
        let args = ["measure", scenario.to_str().unwrap(), "--runtime", "pool", "--reps", "1", "--format", "json"];
        json_of(&[&args[..], &["--trace", path.to_str().unwrap()]].concat());
        let file = TraceFile::decode(&fs::read(&path).unwrap()).unwrap();
        let run = file.runs.into_iter().next().unwrap();
        let trace = Trace::new(run.recording).unwrap();
        let mut simulation = Simulation::new(&Scenario::from_json(&text).unwrap(), 0).unwrap();
        while !simulation.step(1 << 20).finished {}
        let simulated = Trace::new(simulation.into_recording()).unwrap();
        let states = |trace: &Trace, task: u32| -> Vec<(TaskState, bool)> {
            let called = |tag: TaskTag| (tag.state, tag.state == Blocked && tag.reason == Reason::Children);
            let mut states: Vec<_> = trace.history(task).iter().map(|record| called(record.tag)).collect();
            states.dedup();
            states
        };
        let plain = |states: &[TaskState]| -> Vec<_> { states.iter().map(|&state| (state, false)).collect() };
        let calls = [(Blocked, true), (Running, false)];
        let (parent, child, failed) = if rejection == "abort" {
            (plain(&[Queued, Running, Blocked, Running, Blocked, Running, Done]), plain(&[Failed]), 5)
        } else {
            let (before, after) = (plain(&[Queued, Running, Blocked, Running]), plain(&[Blocked, Running, Done]));
            let parent = [&before[..], &calls, &calls, &after].concat();
            (parent, plain(&[Queued, Running, Blocked, Running, Done]), 0)
        };
        for (who, trace) in [("measured", &trace), ("simulated", &simulated)] {
            assert_eq!(states(trace, 0), parent, "{who} {rejection}");
            assert_eq!(states(trace, 2), child, "{who} {rejection}");
            assert_eq!(Metrics::of(trace).tasks_failed, failed, "{who} {rejection}");
        }
        // A lane for the thread that submits, where it runs what is refused.
        let names: Vec<_> = trace.thread_info().iter().map(|thread| thread.name.as_str()).collect();
        assert_eq!(names, if failed > 0 { vec!["pool-0"] } else { vec!["main", "pool-0"] });
    }
}

#[test]
fn a_trace_for_perfetto_is_json() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    let args = ["measure", "io-bound", "--tasks", "5", "--reps", "1", "--runtime", "tokio-current"];
    parkbench().args(args).args(["--trace-format", "chrome", "--trace"]).arg(&path).assert().success();
    let json: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let runs = json["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "task 4");
    assert!(runs.count() >= 2, "{json}");
}

#[test]
fn a_file_that_cannot_be_written_is_refused_before_anything_runs() {
    let dir = tempfile::tempdir().unwrap();
    for (path, expect) in [("", "it is no regular file"), ("none/run.pbtrace", "it is in no directory")] {
        let output = parkbench().args(["measure", "io-bound", "--trace"]).arg(dir.path().join(path)).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.starts_with("error: --trace: ") && stderr.contains(expect), "{stderr}");
    }
    let long = r#"{"version":1,"name":"long","machine":{"cores":2},"runs":[{"model":"thread-pool"}],"tasks":[
        {"count":1000000,"steps":[{"repeat":{"times":20,"steps":[{"io":"1 us"}]}}]}]}"#;
    let (scenario, path) = (dir.path().join("long.json"), dir.path().join("run.pbtrace"));
    fs::write(&scenario, long).unwrap();
    let output = parkbench().arg("measure").arg(&scenario).args(["--runtime", "pool", "--trace"]).arg(&path).output();
    let output = output.unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), path.exists()), (Some(2), false), "{stderr}");
    assert!(stderr.contains("42000000 times to take down"), "{stderr}");
}
