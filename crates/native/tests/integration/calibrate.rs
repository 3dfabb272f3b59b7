//! `calibrate` and `compare` on real runtimes, from the first measurement to the figures side by side. Nothing here
//! expects a time of a machine.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{json_of, parkbench, stdout_of};

const SCENARIO: &str = r#"
version = 1
name = "few"
machine = { cores = 3 }
tasks = [{ count = 40, steps = [{ io = "2 ms" }, { cpu = "10 us" }] }]
runs = [{ model = "thread-pool", size = 4 }, { model = "coroutines", runtime = "tokio" }]
"#;

/// Calibrates two runtimes into the folder; the profile.
fn calibrate(folder: &Path) -> (String, toml::Table) {
    let profile = folder.join("profile.toml").display().to_string();
    let said = stdout_of(&["calibrate", "--quick", "--runtime", "pool,tokio", "--out", &profile]);
    assert!(said.lines().all(|line| line.chars().count() <= 100), "{said}");
    assert!(said.contains("probe") && said.contains("profile.toml"), "{said}");
    let text = fs::read_to_string(&profile).unwrap();
    (profile, toml::from_str(&text).unwrap())
}

#[test]
fn a_profile_is_measured_read_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let (profile, table) = calibrate(folder.path());
    assert!(table["machine"]["cores"].as_integer().unwrap() > 0);
    for name in ["cpu_iteration", "thread_create", "thread_wake", "context_switch", "sleep_lateness_50ms"] {
        let source = table["costs"][name]["source"].as_str().unwrap();
        assert!(source.starts_with("M median ") && source.contains("IQR"), "{name}: {source}");
    }
    let runtimes = table["runtimes"].as_table().unwrap();
    assert_eq!(runtimes.keys().collect::<Vec<_>>(), ["pool", "tokio"]);
    assert!(runtimes["pool"].as_table().unwrap().len() > 3, "{runtimes:?}");

    // The simulation takes it by an option and by its name in a scenario, and the result can be run without the file.
    let scenario = folder.path().join("few.toml");
    fs::write(&scenario, SCENARIO).unwrap();
    let scenario = scenario.display().to_string();
    let by_option = json_of(&["simulate", &scenario, "--profile", &profile, "--format", "json"]);
    let named = folder.path().join("named.toml");
    fs::write(&named, format!("profile = \"./profile.toml\"\n{SCENARIO}")).unwrap();
    let by_name = json_of(&["simulate", &named.display().to_string(), "--format", "json"]);
    assert_eq!(by_option["runs"], by_name["runs"]);
    assert_ne!(by_option["runs"], json_of(&["simulate", &scenario, "--format", "json"])["runs"]);
    let again = folder.path().join("again.json");
    fs::write(&again, by_option["scenario"].to_string()).unwrap();
    assert_eq!(json_of(&["simulate", &again.display().to_string(), "--format", "json"])["runs"], by_option["runs"]);
    assert!(stdout_of(&["simulate", &scenario, "--profile", &profile]).contains("costs of calibrated"));
    assert!(stdout_of(&["explain", &scenario, "--profile", &profile]).contains("From calibrated: M median"));

    let args = ["compare", &scenario, "--profile", &profile, "--reps", "1", "--runtime", "rust"];
    let json = json_of(&[&args[..], &["--format", "json"]].concat());
    assert_eq!((&json["version"], &json["profile"]["name"]), (&1.into(), &"calibrated".into()));
    assert_eq!(json["scenario"]["machine"]["cores"], table["machine"]["cores"].as_integer().unwrap());
    let runs = json["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["variant"].as_str().unwrap()).next(), Some("pool-4"));
    for run in runs {
        for name in ["makespan_ns", "throughput_per_s", "latency_mean_ns", "latency_p95_ns"] {
            let figure = |part: &str| run["figures"][name][part].as_f64().unwrap();
            let error = (figure("simulated") / figure("measured") - 1.0) * 100.0;
            assert!((figure("error_percent") - error).abs() < 1e-6, "{name}: {run}");
        }
        assert!(run["figures"]["latency_mean_ns"]["simulated"].as_f64().unwrap() >= 2e6, "{run}");
    }
    // The scenario in the file gives the simulated figures again, without the profile.
    let exact = folder.path().join("exact.json");
    fs::write(&exact, json["simulated"].to_string()).unwrap();
    let again = json_of(&["simulate", &exact.display().to_string(), "--format", "json"]);
    for (run, again) in runs.iter().zip(again["runs"].as_array().unwrap()) {
        assert_eq!(run["simulated_variant"], again["variant"]);
        assert_eq!(run["figures"]["makespan_ns"]["simulated"].as_f64(), again["makespan_ns"].as_f64());
    }
    assert_eq!(again["runs"].as_array().unwrap().len(), runs.len());
    let table = stdout_of(&args);
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(table.contains("pool-4") && table.contains("OS context switches"), "{table}");
    let csv = stdout_of(&[&args[..], &["--format", "csv"]].concat());
    assert!(csv.starts_with("scenario,seed,profile,variant,") && csv.contains(",error_makespan_ns_percent,"), "{csv}");
}

#[test]
fn several_scenarios_are_compared_in_turn_and_summed_up() {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = ["few", "fewer"].map(|name| {
        let file = folder.path().join(format!("{name}.toml"));
        fs::write(&file, SCENARIO.replace("\"few\"", &format!("\"{name}\""))).unwrap();
        file.display().to_string()
    });
    let [few, fewer] = &scenarios;
    let args = ["compare", few, fewer, "--profile", "linux-default", "--reps", "1", "--runtime", "pool,tokio"];
    let json = json_of(&[&args[..], &["--format", "json"]].concat());
    let comparisons = json["comparisons"].as_array().unwrap();
    assert_eq!(comparisons.iter().map(|one| &one["scenario"]["name"]).collect::<Vec<_>>(), ["few", "fewer"]);
    let summary = json["summary"].as_array().unwrap();
    assert_eq!(summary.iter().map(|one| &one["runtime"]).collect::<Vec<_>>(), ["pool", "tokio"]);
    for (place, one) in summary.iter().enumerate() {
        assert_eq!(one["scenarios"], 2);
        let error = |comparison: &Value| {
            comparison["runs"][place]["figures"]["makespan_ns"]["error_percent"].as_f64().unwrap().abs()
        };
        let errors: Vec<f64> = comparisons.iter().map(error).collect();
        let median = one["total"]["median_percent"].as_f64().unwrap();
        assert!((median - f64::midpoint(errors[0], errors[1])).abs() < 1e-9, "{one}");
        let worst = one["total"]["worst"][0]["error_percent"].as_f64().unwrap().abs();
        assert!((worst - errors[0].max(errors[1])).abs() < 1e-9, "{one}");
    }
    let table = stdout_of(&args);
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    assert!(table.contains("2 scenarios") && table.contains("fewer"), "{table}");
    let csv = stdout_of(&[&args[..], &["--format", "csv"]].concat());
    assert_eq!(csv.lines().count(), 5, "{csv}");
    // One that is wrong is told before anything is measured.
    let output = parkbench().args(["compare", few, "./none.toml"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && String::from_utf8_lossy(&output.stderr).contains("none.toml"));
}

#[test]
fn what_is_refused_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("refused.toml");
    let scenario = "version = 1\nname = \"x\"\nmachine = { cores = 2 }\n\
                    tasks = [{ count = 6, steps = [{ io = \"400 ms\" }] }]\n\
                    runs = [{ model = \"thread-pool\", queue = 0 }]\n";
    fs::write(&file, scenario).unwrap();
    let args = ["compare", file.to_str().unwrap(), "--profile", "linux-default", "--reps", "1", "--runtime", "pool"];
    let json = json_of(&[&args[..], &["--format", "json"]].concat());
    let finding = json["runs"][0]["findings"].as_array().unwrap().iter().find(|one| one["kind"] == "refused").unwrap();
    let message = finding["message"].as_str().unwrap();
    assert!(message.starts_with("pool-2-queue0: 4 tasks were refused in the simulation and 4 when"), "{message}");
    assert_eq!(json["runs"][0]["simulated_variant"], "fixed-2-queue0");
}

#[test]
fn without_a_profile_of_this_machine_that_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["compare", "io-bound", "--tasks", "20", "--reps", "1", "--runtime", "tokio"];
    let output = parkbench().args(args).env("PARKBENCH_CACHE", folder.path()).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    let place = folder.path().join("profile.toml").display().to_string();
    assert!(stderr.contains(&place) && stderr.contains("parkbench calibrate"), "{stderr}");
}

#[test]
fn a_profile_of_another_machine_is_used_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let text = "version = 1\nname = \"there\"\ntitle = \"\"\ndescription = \"\"\nbase = \"linux-default\"\n\
                machine = { cores = 999, cpu = \"Slow 1\" }\n[costs]\n";
    fs::write(folder.path().join("profile.toml"), text).unwrap();
    let args = ["compare", "io-bound", "--tasks", "20", "--reps", "1", "--runtime", "tokio", "--format", "json"];
    let output = parkbench().args(args).env("PARKBENCH_CACHE", folder.path()).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let warnings = json["warnings"].to_string();
    assert!(warnings.contains("999 cores") && warnings.contains("Slow 1"), "{warnings}");
    assert_eq!(json["profile"]["name"], "there");
}
