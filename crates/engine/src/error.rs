//! What can be wrong with a scenario or a profile, always with field, value and what is allowed.

use std::fmt;

use thiserror::Error;

use crate::near::nearest;

/// One field that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// Path of the field, such as `runs[0].size`.
    pub field: String,
    /// The value as it was given.
    pub value: String,
    /// What is allowed instead.
    pub allowed: String,
}

impl FieldError {
    /// An error about one field.
    pub fn new(field: impl Into<String>, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Self { field: field.into(), value: value.to_string(), allowed: allowed.into() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} is not allowed; allowed: {}", self.field, self.value, self.allowed)
    }
}

/// Why a scenario cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScenarioError {
    /// No preset has this name.
    #[error("preset: {name:?} is unknown{}; allowed: {allowed}", meant(name, allowed))]
    UnknownPreset {
        /// The name as given.
        name: String,
        /// The names that exist.
        allowed: String,
    },
    /// No profile has this name.
    #[error("profile: {name:?} is unknown{}; allowed: {allowed}", meant(name, allowed))]
    UnknownProfile {
        /// The name as given.
        name: String,
        /// The names that exist.
        allowed: String,
    },
    /// The text is no scenario: syntax, an unknown field, a value of the wrong type.
    #[error("{field}: {message}")]
    Syntax {
        /// Path of the field, or `scenario` where the text itself is malformed.
        field: String,
        /// What the reader says: the value and what it expected.
        message: String,
    },
    /// The text is a scenario, and values are out of range; every one of them is listed.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
    Invalid(Vec<FieldError>),
}

/// `, "io-bound" is near`, where one of the names is.
fn meant(name: &str, allowed: &str) -> String {
    nearest(name, allowed.split(", ")).map(|near| format!(", {near:?} is near")).unwrap_or_default()
}

impl ScenarioError {
    /// The fields that are wrong, for showing each message beside its field.
    pub fn fields(&self) -> Vec<(String, String)> {
        match self {
            Self::UnknownPreset { .. } => vec![("preset".to_owned(), self.to_string())],
            Self::UnknownProfile { .. } => vec![("profile".to_owned(), self.to_string())],
            Self::Syntax { field, message } => vec![(field.clone(), message.clone())],
            Self::Invalid(errors) => errors
                .iter()
                .map(|e| (e.field.clone(), format!("{} is not allowed; allowed: {}", e.value, e.allowed)))
                .collect(),
        }
    }
}
