//! `schema scenario`: a real validator accepts every preset and refuses the mistakes that are documented.

use boon::{Compiler, SchemaIndex, Schemas};
use parkbench_engine::{PRESET_NAMES, Scenario, preset};
use serde_json::{Value, json};

use crate::json_of;

/// The schema that the binary prints, ready to judge.
struct Schema(Schemas, SchemaIndex);

impl Schema {
    fn load() -> Self {
        let mut compiler = Compiler::new();
        compiler.add_resource("scenario.json", json_of(&["schema", "scenario"])).unwrap();
        let mut schemas = Schemas::new();
        // Compiling checks the schema itself against that of its draft.
        let index = compiler.compile("scenario.json", &mut schemas).unwrap();
        Self(schemas, index)
    }

    /// What it has against the value.
    fn refuses(&self, value: &Value) -> Option<String> {
        self.0.validate(value, self.1).err().map(|error| error.to_string())
    }
}

#[test]
fn every_preset_is_valid() {
    let schema = Schema::load();
    for name in PRESET_NAMES {
        let json = serde_json::from_str(&preset(name).unwrap().to_json()).unwrap();
        assert_eq!(schema.refuses(&json), None, "{name}");
    }
}

#[test]
fn every_documented_mistake_is_refused() {
    let docs = include_str!("../../../../docs/scenarios.md");
    let schema = Schema::load();
    let valid = docs.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let json = |text: &str| toml::from_str::<Value>(text).unwrap();
    assert_eq!(schema.refuses(&json(valid)), None);
    let (mut by_editor, mut by_parkbench) = (0, 0);
    for row in docs.split("## Mistakes").nth(1).unwrap().lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let [from, to, message, editor] = cells[..] else { panic!("{row}") };
        let text =
            |cell: &str| if cell == "(left out)" { String::new() } else { cell.trim_matches('`').replace("\\n", "\n") };
        assert!(valid.contains(&text(from)), "{row}");
        let wrong = valid.replacen(&text(from), &text(to), 1);
        let error = Scenario::from_toml(&wrong).unwrap_err().to_string();
        for part in text(message).split('…') {
            assert!(error.contains(part.trim()), "{row}\n{error}");
        }
        let refused = schema.refuses(&json(&wrong)).is_some();
        assert_eq!(refused, editor == "yes", "{row}");
        if refused { by_editor += 1 } else { by_parkbench += 1 }
    }
    assert!(by_editor > 15 && by_parkbench > 5, "{by_editor} {by_parkbench}");
}

#[test]
fn knobs_stand_where_the_engine_takes_them() {
    let schema = Schema::load();
    let knobs = [
        ("pool", json!("fixed")),
        ("size", json!(5)),
        ("queue", json!(5)),
        ("poll_interval", json!("1 ms")),
        ("jdk", json!(21)),
        ("carriers", json!(2)),
        ("max_pool", json!(300)),
        ("min_runnable", json!(1)),
        ("dispatcher", json!("io")),
        ("parallelism", json!(2)),
        ("workers", json!(2)),
        ("flavor", json!("multi-thread")),
        ("blocking", json!("on-worker")),
        ("lock", json!("monitor")),
    ];
    let kinds = [
        json!({ "model": "thread-pool" }),
        json!({ "model": "thread-pool", "pool": "cached" }),
        json!({ "model": "green-threads" }),
        json!({ "model": "green-threads", "runtime": "go" }),
        json!({ "model": "green-threads", "runtime": "kotlin" }),
        json!({ "model": "coroutines", "runtime": "kotlin" }),
        json!({ "model": "coroutines", "dispatcher": "event-loop", "lock": "monitor" }),
        json!({ "model": "coroutines", "runtime": "tokio" }),
        json!({ "model": "coroutines", "runtime": "java" }),
    ];
    let mut accepted = 0;
    for kind in &kinds {
        for (name, value) in &knobs {
            let mut run = kind.clone();
            if run.get(name).is_none() {
                run[name] = value.clone();
            }
            let scenario = json!({
                "version": 1, "name": "x", "machine": { "cores": 2 }, "runs": [run],
                "tasks": [{ "count": 1, "steps": [{ "io": "1 ms" }] }],
            });
            // What a knob belongs to is the format's; what the engine cannot run yet is not.
            let owner = match Scenario::from_json(&scenario.to_string()) {
                Err(error) => ["knob of", "java, go", "kotlin, tokio", "one thread"]
                    .iter()
                    .any(|text| error.to_string().contains(text)),
                Ok(_) => false,
            };
            assert_eq!(schema.refuses(&scenario).is_some(), owner, "{run}");
            accepted += usize::from(!owner);
        }
    }
    assert!(accepted > 20, "{accepted}");
}
