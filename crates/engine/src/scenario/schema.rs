//! The JSON Schema of a scenario file, for editors: what the types do not say of themselves.
//!
//! It is made from the types and their comments. What one field alone cannot show (locks that are given back, times
//! that rise, sums) is left to `validate`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Block, BlockKind, Duration, Model, Runtime, Scenario};
use crate::profile::{COSTS, PROFILE_NAMES};
use crate::quantity::{Bytes, Milli, Nanos};

/// Text without control characters.
pub(super) const ONE_LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
const DURATION: &str = r"^\s*(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)\s*(ps|ns|us|µs|μs|ms|s|min|h)\s*$";
const SIZE: &str = r"^\s*(\d[\d_]*\.?[\d_]*|\.\d[\d_]*)\s*(B|KiB|MiB|GiB)\s*$";

impl Scenario {
    /// The JSON Schema (draft 2020-12) of a scenario file, version 1.
    pub fn json_schema() -> Value {
        let generator = schemars::generate::SchemaSettings::draft2020_12().into_generator();
        let mut schema = generator.into_root_schema_for::<Self>().to_value();
        join_lines(&mut schema);
        schema
    }
}

/// Descriptions are comments in the code, broken into lines there.
fn join_lines(value: &mut Value) {
    match value {
        Value::String(text) => *text = text.replace('\n', " "),
        Value::Array(values) => values.iter_mut().for_each(join_lines),
        Value::Object(fields) => fields.values_mut().for_each(join_lines),
        _ => {}
    }
}

macro_rules! named {
    ($($type:ident: $schema:expr;)*) => {$(
        impl JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                $schema
            }
        }
    )*};
}
named! {
    Nanos: json_schema!({
        "type": "string", "pattern": DURATION,
        "description": "A number and a unit of ns, us, ms, s, min, h, such as \"50 ms\", from 0 ns to 8760 h.",
    });
    Bytes: json_schema!({
        "type": "string", "pattern": SIZE,
        "description": "A number and a unit of B, KiB, MiB, GiB, such as \"1 MiB\", up to 1024 GiB.",
    });
    Milli: json_schema!({
        "type": "number", "minimum": 0, "maximum": 1_000, "description": "A number with up to three decimals.",
    });
}

impl JsonSchema for Block {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Block".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let time = generator.subschema_for::<Duration>();
        let kind = generator.subschema_for::<BlockKind>();
        json_schema!({
            "description": "A duration, or a duration and the kind of call.",
            "anyOf": [
                time,
                {
                    "type": "object",
                    "properties": { "time": time, "kind": kind },
                    "required": ["time"],
                    "additionalProperties": false,
                },
            ],
        })
    }
}

/// The values of an empirical distribution: a list, or the CSV file that has them.
pub(super) fn empirical(generator: &mut SchemaGenerator) -> Schema {
    let value = generator.subschema_for::<Nanos>();
    json_schema!({
        "anyOf": [
            { "type": "array", "items": value, "minItems": 1, "maxItems": super::validate::MAX_VALUES },
            {
                "description": "A CSV file, relative to the scenario file; only the command line reads it.",
                "type": "object",
                "properties": {
                    "file": { "description": "Name of the file.", "type": "string", "minLength": 1 },
                    "column": {
                        "description": "Name of the column; without it the first is read.",
                        "type": "string", "minLength": 1,
                    },
                    "unit": {
                        "description": "Unit of numbers that have none.",
                        "enum": ["ns", "us", "ms", "s", "min", "h"],
                    },
                },
                "required": ["file"],
                "additionalProperties": false,
            },
        ],
    })
}

/// Of a lognormal distribution.
pub(super) fn sigma(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "number", "minimum": 0, "maximum": 4 })
}

/// Of a Pareto distribution.
pub(super) fn shape(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "number", "minimum": 0.1, "maximum": 10 })
}

/// The kind of a lock that a run may put in the place of others.
pub(super) fn replaceable_lock(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "enum": ["monitor", "reentrant"] })
}

/// The name of a shipped profile, or of a file, which has a slash or a dot and is for the command line.
pub(super) fn profile(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "string", "enum": PROFILE_NAMES },
        { "type": "string", "pattern": r"[./]", "description": "A file of parkbench calibrate, on the command line" },
    ] })
}

/// Costs by name.
pub(super) fn costs(_: &mut SchemaGenerator) -> Schema {
    let cost = |info: &crate::profile::CostInfo| {
        let pattern = if info.unit == crate::profile::Unit::Bytes { SIZE } else { DURATION };
        (info.name.to_owned(), json!({ "type": "string", "pattern": pattern, "description": info.meaning }))
    };
    let properties: Map<String, Value> = COSTS.iter().map(cost).collect();
    json_schema!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// With a mix, classes have weights and the mix the count and the arrival; without, each class has its own count.
pub(super) fn scenario(schema: &mut Schema) {
    let classes = |class: Value| json!({ "properties": { "tasks": { "items": class } } });
    let never = |name: &str| json!({ "not": { "required": [name] } });
    schema.insert("if".to_owned(), json!({ "required": ["mix"] }));
    let mixed = json!({
        "required": ["weight"], "properties": { "arrival": { "const": "at-once" } }, "allOf": [never("count")],
    });
    schema.insert("then".to_owned(), classes(mixed));
    let alone = json!({ "required": ["count"], "allOf": [never("weight")] });
    schema.insert("else".to_owned(), classes(alone));
}

/// A knob stands only where its model and runtime have it.
pub(super) fn run(schema: &mut Schema) {
    let of_pool = ["pool", "size", "queue", "rejection", "poll_interval"];
    let of_java = ["jdk", "carriers", "max_pool", "min_runnable"];
    let of_kotlin = ["dispatcher", "parallelism"];
    let of_tokio = ["workers", "flavor", "blocking"];
    let both = |first: &[&'static str], second: &[&'static str]| [first, second].concat();
    let green = both(&["runtime", "workers"], &of_java);
    let coroutines = both(&["runtime"], &both(&of_kotlin, &of_tokio));
    let has = |name: &str, value: &str| json!({ "required": [name], "properties": { name: { "const": value } } });
    let model = |model: Model| has("model", model.as_str());
    let both_are = |m: Model, runtime: Runtime| json!({ "allOf": [model(m), has("runtime", runtime.as_str())] });
    let is_not =
        |m: Model, runtime: Runtime| json!({ "allOf": [model(m), { "not": has("runtime", runtime.as_str()) }] });
    let may_have = |when: Value, knobs: &[&str]| {
        let names = [&["model", "lock"], knobs].concat();
        json!({ "if": when, "then": { "propertyNames": { "enum": names } } })
    };
    let must_not_have = |when: Value, knobs: &[&str]| {
        let never: Vec<Value> = knobs.iter().map(|knob| json!({ "required": [knob] })).collect();
        json!({ "if": when, "then": { "not": { "anyOf": never } } })
    };
    let one_of = |m: Model, runtimes: &[Runtime]| {
        let words: Vec<&str> = runtimes.iter().map(|runtime| runtime.as_str()).collect();
        json!({ "if": model(m), "then": { "properties": { "runtime": { "enum": words } } } })
    };
    let growing = json!({
        "required": ["pool"], "properties": { "pool": { "enum": ["cached", "thread-per-task"] } },
    });
    let rules = json!([
        may_have(model(Model::ThreadPool), &of_pool),
        may_have(model(Model::GreenThreads), &green),
        may_have(model(Model::Coroutines), &coroutines),
        one_of(Model::GreenThreads, &[Runtime::Java, Runtime::Go]),
        one_of(Model::Coroutines, &[Runtime::Kotlin, Runtime::Tokio]),
        must_not_have(both_are(Model::GreenThreads, Runtime::Go), &of_java),
        must_not_have(is_not(Model::GreenThreads, Runtime::Go), &["workers"]),
        must_not_have(both_are(Model::Coroutines, Runtime::Tokio), &of_kotlin),
        must_not_have(is_not(Model::Coroutines, Runtime::Tokio), &of_tokio),
        must_not_have(has("dispatcher", "event-loop"), &["parallelism"]),
        must_not_have(growing, &["size", "queue", "rejection"]),
    ]);
    schema.insert("allOf".to_owned(), rules);
    schema.insert("dependentRequired".to_owned(), json!({ "rejection": ["queue"] }));
}
