//! The scenarios and cost profiles that ship with the engine: data files, turned to JSON by the build script.

use super::Scenario;
use crate::error::ScenarioError;

include!(concat!(env!("OUT_DIR"), "/presets.rs"));

/// The scenario of this name.
pub fn preset(name: &str) -> Result<Scenario, ScenarioError> {
    let Some((_, json)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        return Err(ScenarioError::UnknownPreset { name: name.to_owned(), allowed: PRESET_NAMES.join(", ") });
    };
    Scenario::from_json(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_is_valid_and_reads_back() {
        for name in PRESET_NAMES {
            let scenario = preset(name).unwrap();
            assert_eq!(scenario.name, name);
            assert!(!scenario.title.is_empty() && !scenario.description.is_empty(), "{name}");
            assert_eq!(Scenario::from_json(&scenario.to_json()), Ok(scenario));
        }
    }

    #[test]
    fn an_unknown_preset_lists_the_known_ones() {
        let error = preset("nope").unwrap_err().to_string();
        assert!(error.contains("\"nope\"") && error.contains("io-bound"), "{error}");
    }
}
