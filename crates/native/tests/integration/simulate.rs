//! `simulate`: the formats agree, the digest depends on scenario and seed alone, a closed pipe is no failure.

use std::process::{Command, Stdio};

use parkbench_engine::PRESET_NAMES;
use serde_json::Value;

use crate::{json_of, parkbench, stdout_of};

#[test]
fn json_has_what_is_documented() {
    let docs = include_str!("../../../../docs/results.md");
    for preset in PRESET_NAMES {
        let json = json_of(&["simulate", preset, "--tasks", "50", "--format", "json"]);
        assert_eq!(json["version"], 1);
        assert_eq!(json["scenario"]["name"], preset);
        let runs = json["runs"].as_array().unwrap();
        assert_eq!(runs.len(), json["scenario"]["runs"].as_array().unwrap().len());
        for run in runs {
            // Each agent of the tool chain spawns three tasks.
            let tasks = if preset == "tool-chain" { 200 } else { 50 };
            assert_eq!((&run["tasks"], &run["tasks_done"]), (&tasks.into(), &tasks.into()));
            assert_eq!(run["digest"].as_str().unwrap().len(), 16);
            for (name, value) in fields(run) {
                assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/results.md");
                assert!(!value.is_null(), "{name}");
            }
        }
    }
}

/// Every field of an object and of the objects in it, but not of lists.
fn fields(value: &Value) -> Vec<(String, Value)> {
    let mut all = Vec::new();
    for (name, value) in value.as_object().into_iter().flatten() {
        all.push((name.clone(), value.clone()));
        all.extend(fields(value));
    }
    all
}

#[test]
fn the_formats_agree() {
    let args = ["simulate", "high-concurrency", "--tasks", "300", "--seed", "7", "--format"];
    let json = json_of(&[&args[..], &["json"]].concat());
    let csv = stdout_of(&[&args[..], &["csv"]].concat());
    let table = stdout_of(&[&args[..], &["table"]].concat());
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let header = rows.headers().unwrap().clone();
    let cell =
        |row: &csv::StringRecord, name: &str| row[header.iter().position(|column| column == name).unwrap()].to_owned();
    let rows: Vec<_> = rows.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 3);
    for (row, run) in rows.iter().zip(json["runs"].as_array().unwrap()) {
        assert_eq!(cell(row, "seed"), "7");
        for (column, pointer) in [
            ("model", "/model"),
            ("variant", "/variant"),
            ("tasks", "/tasks"),
            ("makespan_ns", "/makespan_ns"),
            ("latency_p95_ns", "/latency_ns/p95"),
            ("response_max_ns", "/response_ns/max"),
            ("memory_resident_bytes", "/memory_bytes/resident"),
            ("os_switches", "/os_switches"),
            ("digest", "/digest"),
            ("events", "/events"),
        ] {
            let value = run.pointer(pointer).unwrap();
            assert_eq!(cell(row, column), value.as_str().map_or_else(|| value.to_string(), str::to_owned), "{column}");
        }
        assert!(table.contains(run["digest"].as_str().unwrap()));
    }
}

#[test]
fn the_digest_depends_on_scenario_and_seed_alone() {
    let digests = |more: &[&str]| -> Vec<Value> {
        let json = json_of(&[&["simulate", "llm-agents", "--tasks", "700", "--format", "json"], more].concat());
        json["runs"].as_array().unwrap().iter().map(|run| run["digest"].clone()).collect()
    };
    let first = digests(&[]);
    for budget in ["1", "7", "1000000"] {
        assert_eq!(digests(&["--step-budget", budget]), first, "{budget}");
    }
    assert_eq!(digests(&["--seed", "1"]), first);
    assert_ne!(digests(&["--seed", "2"]), first);
    assert_eq!(digests(&["--model", "coroutines"]), first[2..]);
}

#[test]
fn an_aggregated_run_has_the_same_figures() {
    for name in ["pinning", "cpu-hog", "native-threads"] {
        let args = ["simulate", name, "--format", "json", "--step-budget", "70000"];
        let mut whole = json_of(&args);
        let mut aggregated = json_of(&[&args[..], &["--aggregate"]].concat());
        let runs = |result: &mut Value| std::mem::take(result["runs"].as_array_mut().unwrap());
        for (mut whole, mut aggregated) in runs(&mut whole).into_iter().zip(runs(&mut aggregated)) {
            let dropped = aggregated.as_object_mut().unwrap().remove("records_dropped").unwrap();
            assert!(dropped.as_u64().unwrap() > 10_000, "{name}: {dropped}");
            // Starvation at the workers is read off the records.
            whole.as_object_mut().unwrap().remove("findings");
            assert_eq!(whole, aggregated, "{name}");
        }
    }
}

#[test]
fn published_figures_stand_beside_simulated_ones() {
    let table = stdout_of(&["simulate", "io-bound"]);
    for text in ["Published figures", "40 s  !", "834 rounds x 50 ms = 41.7 s", "seed-2", "70 ms"] {
        assert!(table.contains(text), "{text}");
    }
    let table = stdout_of(&["simulate", "io-bound", "--tasks", "100"]);
    assert!(!table.contains("Published figures\n") && table.contains("hold for its 10,000 tasks"), "{table}");
}

#[test]
fn tables_are_at_most_100_wide() {
    for preset in PRESET_NAMES {
        for line in stdout_of(&["simulate", preset, "--tasks", "1000"]).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}

#[test]
fn a_scenario_comes_from_a_file_or_from_standard_input() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = json_of(&["simulate", "pinning", "--tasks", "30", "--format", "json"])["scenario"].to_string();
    for name in ["a.json", "b.scenario"] {
        let path = folder.path().join(name);
        std::fs::write(&path, &scenario).unwrap();
        assert_eq!(json_of(&["simulate", path.to_str().unwrap(), "--format", "json"])["scenario"]["name"], "pinning");
    }
    parkbench().args(["simulate", "-"]).write_stdin(scenario).assert().success();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_failure() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_parkbench"))
        .args(["simulate", "io-bound", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert!(output.status.success());
}
