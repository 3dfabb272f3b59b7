//! Reading a scenario from JSON or TOML text; every error names the field.

use serde::Deserialize;

use super::{Scenario, validate::whole};
use crate::error::ScenarioError;

impl Scenario {
    /// Reads and checks a scenario written as JSON.
    pub fn from_json(text: &str) -> Result<Self, ScenarioError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let scenario: Self = read(&mut reader)?;
        reader.end().map_err(|e| ScenarioError::Syntax { field: "scenario".to_owned(), message: e.to_string() })?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// Reads and checks a scenario written as TOML.
    #[cfg(feature = "toml")]
    pub fn from_toml(text: &str) -> Result<Self, ScenarioError> {
        let syntax =
            |e: toml::de::Error| ScenarioError::Syntax { field: "scenario".to_owned(), message: short(&e.to_string()) };
        let scenario: Self = read(toml::Deserializer::parse(text).map_err(syntax)?)?;
        scenario.validate()?;
        Ok(scenario)
    }

    /// The scenario as JSON on one line; reading it back gives the same scenario.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_else(|e| unreachable!("a scenario has only text keys: {e}"))
    }
}

fn read<'de, D>(reader: D) -> Result<Scenario, ScenarioError>
where
    D: serde::Deserializer<'de>,
    D::Error: std::fmt::Display,
{
    let mut track = serde_path_to_error::Track::new();
    Scenario::deserialize(serde_path_to_error::Deserializer::new(reader, &mut track)).map_err(|error| {
        // A text that ends too early leaves its last field without a name.
        let path = track.path().to_string();
        let path = path.trim_end_matches(['.', '?']);
        let field = if path.is_empty() { "scenario".to_owned() } else { short(path) };
        let message = short(&whole_numbers(error.to_string().trim_end(), &field));
        ScenarioError::Syntax { field, message }
    })
}

/// What a reader calls by the name of a type, in words, with what is allowed in this field.
fn whole_numbers(message: &str, field: &str) -> String {
    let mut message = message.to_owned();
    let allowed = whole(field);
    for (name, most) in [("u32", u64::from(u32::MAX)), ("u64", u64::MAX), ("usize", u64::MAX)] {
        let (least, most) = allowed.unwrap_or((0, most));
        let words = format!("expected a whole number from {least} to {most}");
        if let Some(before) = message.strip_suffix(&format!("expected {name}")) {
            message = before.to_owned() + &words;
        }
        message = message.replace(&format!("expected {name} at line"), &format!("{words} at line"));
    }
    message
}

/// The message with every long line cut: readers repeat the line that they stumbled over, however long it is.
fn short(message: &str) -> String {
    const MOST: usize = 400;
    let cut = |line: &str| match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    message.trim_end().lines().map(cut).collect::<Vec<_>>().join("\n")
}
