//! Every example of `docs/scenarios.md` runs, and the examples are of the whole vocabulary.

use std::fs;

use parkbench_engine::{Scenario, Simulation, TaskState, TaskTag};
use toml::{Table, Value};

use crate::{json_of, parkbench};

const DOCS: &str = include_str!("../../../../docs/scenarios.md");

/// The blocks of TOML with what stands beside `toml` in their first line.
fn examples() -> Vec<(&'static str, &'static str)> {
    let blocks = DOCS.split("```toml").skip(1).map(|block| block.split("```").next().unwrap());
    blocks.map(|block| block.split_once('\n').unwrap()).map(|(mark, text)| (mark.trim(), text)).collect()
}

/// The scenario of an example: it takes the place of the parts of the same name in the smallest one.
fn whole(smallest: &str, example: &str) -> String {
    let mut scenario: Table = toml::from_str(smallest).unwrap();
    let parts: Table = toml::from_str(example).unwrap_or_else(|e| panic!("{e}\n{example}"));
    scenario.extend(parts);
    toml::to_string(&Value::Table(scenario)).unwrap()
}

#[test]
fn every_example_runs() {
    let examples = examples();
    let smallest = examples[1].1;
    let mut ran = 0;
    for &(mark, text) in examples.iter().filter(|(mark, _)| *mark != "csv") {
        let scenario = match Scenario::from_toml(&whole(smallest, text)) {
            Ok(scenario) => scenario,
            Err(error) if mark == "later" => {
                println!("not yet: {error}");
                continue;
            }
            Err(error) => panic!("{error}\n{text}"),
        };
        for run in 0..scenario.runs.len() {
            let recording = Simulation::new(&scenario, run).unwrap().run();
            let ends = recording
                .tasks
                .tag
                .iter()
                .filter(|&&tag| matches!(TaskTag::unpack(tag).unwrap().state, TaskState::Done | TaskState::Failed));
            assert_eq!(recording.totals.unfinished, 0, "{text}");
            assert!(ends.count() >= scenario.task_count() as usize, "{text}");
            ran += 1;
        }
    }
    assert!(ran > 60, "{ran}");
}

#[test]
fn every_word_of_the_vocabulary_has_an_example() {
    let text: String = examples().into_iter().map(|(_, text)| text).collect();
    let schema = Scenario::json_schema();
    let mut words = Vec::new();
    for name in ["Step", "Arrival", "Distribution", "BlockKind", "LockKind", "LockScope"] {
        for member in schema["$defs"][name]["oneOf"].as_array().unwrap() {
            let key = member["required"][0].as_str().or(member["const"].as_str());
            words.push(key.unwrap_or_else(|| panic!("{member}")).to_owned());
        }
    }
    for name in ["RunSpec", "Machine", "TaskClass", "Mix", "LockSpec", "SemaphoreSpec", "SpawnSpec", "Repeat"] {
        words.extend(schema["$defs"][name]["properties"].as_object().unwrap().keys().cloned());
    }
    // The defaults of their lists.
    let defaults = ["native", "monitor", "shared"];
    for word in words.iter().filter(|word| !defaults.contains(&word.as_str())) {
        let stands = |before: &str, after: &str| text.contains(&format!("{before}{word}{after}"));
        assert!(stands("", " =") || stands("\"", "\""), "no example of {word}");
    }
    assert!(words.len() > 50, "{}", words.len());
}

#[test]
fn the_example_with_a_csv_file_draws_from_it() {
    let examples = examples();
    let (_, text) = examples.iter().find(|(mark, _)| *mark == "csv").unwrap();
    let csv = DOCS.split("```csv\n").nth(1).unwrap().split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    file("calls.csv", csv);
    let scenario = file("scenario.toml", &whole(examples[1].1, text));
    let json = json_of(&["simulate", &scenario, "--format", "json"]);
    let empirical = json["scenario"]["tasks"][0]["steps"][0]["io"]["empirical"].clone();
    assert_eq!(empirical, serde_json::json!(["10 ms", "12.5 ms", "90 ms"]));
    assert!(json["runs"][1]["latency_ns"]["max"].as_u64().unwrap() >= 90_000_000);
    // The same in JSON, and an error in the file.
    let again = file(
        "again.json",
        &serde_json::to_string(&toml::from_str::<Table>(&whole(examples[1].1, text)).unwrap()).unwrap(),
    );
    assert_eq!(json_of(&["simulate", &again, "--format", "json"])["runs"], json["runs"]);
    file("calls.csv", "url,took\n/a,10\n/b,soon\n");
    let output = parkbench().args(["simulate", &scenario]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let stderr = String::from_utf8(output.stderr).unwrap();
    for part in
        ["tasks[0].steps[0].io.empirical", "\"calls.csv\", line 3", "\"soon\" is not allowed", "allowed: a number"]
    {
        assert!(stderr.contains(part), "{stderr}");
    }
    fs::remove_file(folder.path().join("calls.csv")).unwrap();
    let stderr = String::from_utf8(parkbench().args(["simulate", &scenario]).output().unwrap().stderr).unwrap();
    assert!(stderr.contains("tasks[0].steps[0].io.empirical.file: \"calls.csv\" cannot be read"), "{stderr}");
}
