//! `presets`: every preset with its sentence, its tasks and its runs, for people and for programs.

use parkbench_engine::{PRESET_NAMES, preset};

use crate::{json_of, stdout_of};

#[test]
fn the_table_has_a_sentence_for_each() {
    let text = stdout_of(&["presets"]);
    let words: Vec<&str> = text.split_whitespace().collect();
    let has = |entry: Vec<&str>| words.windows(entry.len()).any(|window| window == entry);
    for name in PRESET_NAMES {
        let scenario = preset(name).unwrap();
        assert!(has(scenario.description.split_whitespace().collect()), "{name}: {text}");
        let runs: Vec<String> = scenario.runs.iter().map(|run| run.variant(&scenario.machine)).collect();
        assert!(has(runs.join(", ").split_whitespace().collect()), "{name}: {text}");
    }
    assert!(text.contains("2,500 tasks that spawn 7,500, 8 cores"), "{text}");
}

#[test]
fn json_has_what_is_documented() {
    let docs = include_str!("../../../../docs/results.md");
    let list = json_of(&["presets", "--format", "json"]);
    let list = list.as_array().unwrap();
    assert_eq!(list.iter().map(|entry| entry["name"].as_str().unwrap()).collect::<Vec<_>>(), PRESET_NAMES);
    for entry in list {
        let scenario = preset(entry["name"].as_str().unwrap()).unwrap();
        assert_eq!(entry["description"], scenario.description);
        assert_eq!(entry["tasks"], scenario.task_count());
        assert_eq!(entry["tasks_with_spawned"].as_u64(), scenario.task_count_with_spawned());
        assert_eq!(entry["runs"].as_array().unwrap().len(), scenario.runs.len());
        assert_eq!(entry["runs"][0]["model"], scenario.runs[0].model.as_str());
        for name in entry.as_object().unwrap().keys() {
            assert!(docs.contains(&format!("`{name}`")), "{name} is not in docs/results.md");
        }
    }
}

#[test]
fn every_preset_is_explained() {
    for name in PRESET_NAMES {
        let text = stdout_of(&["explain", name]);
        for run in preset(name).unwrap().runs {
            let variant = run.variant(&preset(name).unwrap().machine);
            assert!(text.contains(&format!(", {variant}: ")), "{name}: no {variant}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{name}: {text}");
    }
}

#[test]
fn a_run_without_an_end_and_one_without_time_are_explained() {
    let dir = tempfile::tempdir().unwrap();
    let explain = |tasks: &str| {
        let text = format!(
            "version = 1\nname = \"x\"\nprofile = \"zero\"\ntasks = {tasks}\nruns = [{{ model = \"thread-pool\", size = 2 }}]\n[machine]\ncores = 2\n"
        );
        let file = dir.path().join("x.toml");
        std::fs::write(&file, text).unwrap();
        stdout_of(&["explain", file.to_str().unwrap()])
    };
    insta::assert_snapshot!(
        "explain-deadlock",
        explain("[{ count = 2, steps = [{ spawn = { steps = [{ io = \"1 ms\" }] } }, \"join\"] }]")
    );
    insta::assert_snapshot!("explain-no-time", explain("[{ count = 2, steps = [\"yield\"] }]"));
}
