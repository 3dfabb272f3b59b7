//! Profile files, version 1: costs with their sources, the profile under them, and what differs on real runtimes.
//!
//! Text in, profile out; where the text is from is the caller's business.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CostProfile, PROFILE_RUNTIMES};
use crate::error::{FieldError, ScenarioError};
use crate::near::nearest;

/// The version of the profile format that this engine reads and writes.
const PROFILE_VERSION: u32 = 1;

/// A cost in a profile file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CostEntry {
    /// The value with its unit, such as `1.2 us` or `416 B`.
    pub value: String,
    /// Where it is from.
    pub source: String,
}

/// The machine that a profile was measured on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProfileMachine {
    /// Processors that the process could use.
    pub cores: u32,
    /// Model of the processor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Version of the kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The Java that runtimes of the JVM ran on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub java: Option<String>,
    /// [1/100 threads] Mean number of threads that ran or wanted to in the minute before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_percent: Option<u64>,
}

/// A profile file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(
    deny_unknown_fields,
    expecting = "a profile: version, name, title, description, base, machine, costs, runtimes"
)]
pub struct ProfileFile {
    /// Format version; 1.
    pub version: u32,
    /// Identifier.
    pub name: String,
    /// A few words for a person.
    pub title: String,
    /// What machine, date or source it stands for.
    pub description: String,
    /// The shipped profile whose costs hold where this one names none; without it those are zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The machine that it was measured on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<ProfileMachine>,
    /// The costs by name.
    pub costs: BTreeMap<String, CostEntry>,
    /// What is other on a real runtime: its name, then the costs by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub runtimes: BTreeMap<String, BTreeMap<String, CostEntry>>,
}

impl ProfileFile {
    /// The JSON Schema of profile files.
    #[cfg(feature = "schema")]
    pub fn json_schema() -> schemars::Schema {
        schemars::schema_for!(Self)
    }
}

impl CostProfile {
    /// Reads a profile written as JSON and, through `base`, the shipped one under it.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        Self::resolve(serde_json::from_str(text).map_err(syntax)?)
    }

    /// Reads a profile written as TOML and, through `base`, the shipped one under it.
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        Self::resolve(toml::from_str(text).map_err(syntax)?)
    }

    /// The profile that a file says.
    pub fn resolve(file: ProfileFile) -> Result<Self, ScenarioError> {
        let mut profile = match &file.base {
            Some(base) => Self::named(base)?,
            None => Self::zero(),
        };
        profile.name = file.name;
        profile.title = file.title;
        profile.description = file.description;
        let mut errors = Vec::new();
        if file.version != PROFILE_VERSION {
            errors.push(FieldError::new("version", file.version, PROFILE_VERSION.to_string()));
        }
        if file.machine.as_ref().is_some_and(|machine| machine.cores == 0) {
            errors.push(FieldError::new("machine.cores", 0, "1 or more"));
        }
        profile.machine = file.machine;
        for (name, entry) in file.costs {
            match profile.set(&name, &entry.value) {
                Ok(()) => {
                    profile.sources.insert(name, entry.source);
                }
                Err(error) => errors.push(error),
            }
        }
        for (runtime, costs) in file.runtimes {
            if !PROFILE_RUNTIMES.contains(&runtime.as_str()) {
                let value = match nearest(&runtime, PROFILE_RUNTIMES) {
                    Some(near) => format!("an unknown runtime, {near:?} is near,"),
                    None => "an unknown runtime".to_owned(),
                };
                errors.push(FieldError::new(format!("runtimes.{runtime}"), value, PROFILE_RUNTIMES.join(", ")));
                continue;
            }
            let mut scratch = Self::zero();
            for (name, entry) in &costs {
                if let Err(mut error) = scratch.set(name, &entry.value) {
                    error.field = format!("runtimes.{runtime}.{name}");
                    errors.push(error);
                }
            }
            profile.runtimes.insert(runtime, costs);
        }
        if errors.is_empty() { Ok(profile) } else { Err(ScenarioError::Invalid(errors)) }
    }
}

fn syntax(error: impl std::fmt::Display) -> ScenarioError {
    ScenarioError::Syntax { field: "profile".to_owned(), message: error.to_string().trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_has_costs_of_its_own() {
        let text = r#"{"version":1,"name":"here","title":"","description":"","base":"linux-default",
            "machine":{"cores":2},"costs":{"tick":{"value":"1 ms","source":"a"}},
            "runtimes":{"may":{"vt_spawn":{"value":"4 us","source":"b"}}}}"#;
        let profile = CostProfile::from_json(text).unwrap();
        assert_eq!((profile.costs.vt_spawn, profile.costs.tick), (1_000, 1_000_000));
        let may = profile.of_runtime("may");
        assert_eq!((may.costs.vt_spawn, may.costs.tick, may.sources["vt_spawn"].as_str()), (4_000, 1_000_000, "b"));
        assert_eq!(profile.of_runtime("tokio"), profile);
        assert_eq!(profile.machine.map(|machine| machine.cores), Some(2));
    }

    #[test]
    fn what_is_wrong_in_a_section_is_named() {
        let text = r#"{"version":2,"name":"x","title":"","description":"","machine":{"cores":0},"costs":{},
            "runtimes":{"tokyo":{},"may":{"vt_spawn":{"value":"4","source":""}}}}"#;
        let error = CostProfile::from_json(text).unwrap_err().to_string();
        for part in ["version", "machine.cores", "runtimes.tokyo", "\"tokio\" is near", "runtimes.may.vt_spawn"] {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
