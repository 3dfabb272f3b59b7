//! The form: a base scenario and the texts that differ from it; turns into a scenario or into messages beside fields.

use std::collections::BTreeMap;
use std::rc::Rc;

use parkbench_engine::{Model, Scenario, ScenarioError, preset};

use super::field::Field;

/// What the form starts from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// A shipped scenario.
    Preset(String),
    /// A scenario from a link, a file or the editor.
    Custom,
}

/// A base scenario with changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    base: Base,
    scenario: Rc<Scenario>,
    changes: BTreeMap<Field, String>,
}

/// A message and the control it belongs to; `None` is the summary above the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The control.
    pub field: Option<Field>,
    /// Path in the scenario, for the summary.
    pub path: String,
    /// What is wrong and what is allowed.
    pub text: String,
}

impl Form {
    /// A shipped scenario without changes.
    pub fn preset(name: &str) -> Result<Self, ScenarioError> {
        Ok(Self { base: Base::Preset(name.to_owned()), scenario: Rc::new(preset(name)?), changes: BTreeMap::new() })
    }

    /// A scenario of one's own without changes.
    pub fn custom(scenario: Scenario) -> Self {
        Self { base: Base::Custom, scenario: Rc::new(scenario), changes: BTreeMap::new() }
    }

    /// What the form started from.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// The scenario that the form started from.
    pub fn base_scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// The texts that differ from the base.
    pub fn changes(&self) -> impl Iterator<Item = (Field, &str)> {
        self.changes.iter().map(|(&field, text)| (field, text.as_str()))
    }

    /// The text in a control; `None` where the scenario has no such thing.
    pub fn text(&self, field: Field) -> Option<String> {
        self.changes.get(&field).cloned().or_else(|| field.read(&self.scenario))
    }

    /// Whether the scenario has what the control changes.
    pub fn applies(&self, field: Field) -> bool {
        field.read(&self.scenario).is_some()
    }

    /// Types a text into a control. A text that means the base's value is no change; a control that does not apply
    /// keeps none.
    #[must_use]
    pub fn with(&self, field: Field, text: &str) -> Self {
        let mut form = self.clone();
        let Some(base) = field.read(&self.scenario) else { return form };
        let mut copy = (*self.scenario).clone();
        let canonical = match field.write(&mut copy, text) {
            Ok(()) => field.read(&copy).unwrap_or_else(|| text.to_owned()),
            Err(_) => text.to_owned(),
        };
        if canonical == base && text.trim() != "" {
            form.changes.remove(&field);
        } else {
            form.changes.insert(field, text.to_owned());
        }
        form
    }

    /// The form with every text in the engine's spelling, as links have it; a text that cannot be read stays.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut form = self.clone();
        for (field, text) in &mut form.changes {
            let mut copy = (*self.scenario).clone();
            if field.write(&mut copy, text).is_ok()
                && let Some(read) = field.read(&copy)
            {
                *text = read;
            }
        }
        form
    }

    /// Whether anything differs from the base.
    pub fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Whether a run of this model exists, so that a control that does not apply stands for several values.
    pub fn has_model(&self, model: Model) -> bool {
        self.scenario.runs.iter().any(|run| run.model == model)
    }

    /// The scenario with all changes, checked; or every message there is.
    pub fn scenario(&self) -> Result<Scenario, Vec<Message>> {
        let mut scenario = (*self.scenario).clone();
        let mut messages = Vec::new();
        for (&field, text) in &self.changes {
            if let Err(refused) = field.write(&mut scenario, text) {
                messages.push(Message {
                    field: Some(field),
                    path: field.key().to_owned(),
                    text: format!("{:?} is not allowed; allowed: {}", text.trim(), refused.allowed),
                });
            }
        }
        self.drop_references(&mut scenario);
        if let Err(error) = scenario.validate() {
            for message in messages_of(&error) {
                // The sum over all tasks is wrong because one of its parts is, and that is said beside the part.
                let told = match message.field {
                    Some(_) => messages.iter().any(|known| known.field == message.field),
                    None => message.path == "tasks" && !messages.is_empty(),
                };
                if !told {
                    messages.push(message);
                }
            }
        }
        if messages.is_empty() { Ok(scenario) } else { Err(messages) }
    }

    /// A published figure belongs to the workload it was measured on, so it goes where that is changed. Seed and profile
    /// are the simulation's own, so they leave it.
    fn drop_references(&self, scenario: &mut Scenario) {
        let changed = |fields: &[Field]| fields.iter().any(|field| self.changes.contains_key(field));
        if changed(&[Field::Tasks, Field::Wait, Field::Cpu, Field::Cores]) {
            scenario.references.clear();
        }
        for (field, model) in [
            (Field::Pool, Model::ThreadPool),
            (Field::Jdk, Model::GreenThreads),
            (Field::Dispatcher, Model::Coroutines),
        ] {
            if changed(&[field]) {
                let runs = &scenario.runs;
                scenario.references.retain(|reference| runs.get(reference.run).is_none_or(|run| run.model != model));
            }
        }
    }
}

/// The messages of an error from the engine, each with its control.
pub fn messages_of(error: &ScenarioError) -> Vec<Message> {
    error.fields().into_iter().map(|(path, text)| Message { field: Field::for_path(&path), path, text }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, changes: &[(Field, &str)]) -> Form {
        changes.iter().fold(Form::preset(name).unwrap(), |form, (field, text)| form.with(*field, text))
    }

    #[test]
    fn the_base_value_is_no_change() {
        let form = form("io-bound", &[(Field::Tasks, "20000"), (Field::Tasks, "10,000"), (Field::Wait, "50ms")]);
        assert!(!form.is_changed());
        assert_eq!(form.scenario().unwrap(), preset("io-bound").unwrap());
    }

    #[test]
    fn a_change_reaches_the_scenario() {
        let scenario = form("io-bound", &[(Field::Cores, "4"), (Field::Pool, "200")]).scenario().unwrap();
        assert_eq!(scenario.machine.cores, 4);
        assert_eq!(scenario.runs[0].size, Some(200));
    }

    #[track_caller]
    fn check_refused(changes: &[(Field, &str)], expect: &[(Option<Field>, &str)]) {
        let messages = form("io-bound", changes).scenario().unwrap_err();
        assert_eq!(messages.len(), expect.len(), "{messages:?}");
        for (message, (field, text)) in messages.iter().zip(expect) {
            assert_eq!(message.field, *field);
            assert!(message.text.contains(text), "{}", message.text);
        }
    }

    #[test]
    fn what_is_wrong_is_said_beside_its_field() {
        check_refused(&[(Field::Tasks, "0")], &[(Some(Field::Tasks), "1 to 1000000")]);
        check_refused(&[(Field::Tasks, "1000000000000")], &[(Some(Field::Tasks), "1000000000000 is not allowed")]);
        check_refused(&[(Field::Cores, "0")], &[(Some(Field::Cores), "1 to 1024")]);
        check_refused(&[(Field::Wait, "-5 ms")], &[(Some(Field::Wait), "negative")]);
        check_refused(&[(Field::Wait, "99999999 h")], &[(Some(Field::Wait), "8760 h")]);
        check_refused(&[(Field::Wait, "2 s .. 1 s")], &[(Some(Field::Wait), "shorter duration first")]);
        check_refused(
            &[(Field::Cores, ""), (Field::Pool, "99999")],
            &[(Some(Field::Cores), "\"\" is not allowed"), (Some(Field::Pool), "1 to 32768")],
        );
        check_refused(&[(Field::Tasks, "1000000"), (Field::Wait, "8760 h")], &[(None, "years of work")]);
    }

    #[test]
    fn published_figures_stay_with_their_workload() {
        let left = |changes: &[(Field, &str)]| {
            let scenario = form("io-bound", changes).scenario().unwrap();
            let mut runs: Vec<usize> = scenario.references.iter().map(|reference| reference.run).collect();
            runs.dedup();
            runs
        };
        assert_eq!(left(&[(Field::Seed, "7"), (Field::Profile, "linux-default")]), [0, 1, 2]);
        assert_eq!(left(&[(Field::Pool, "200")]), [1, 2]);
        assert_eq!(left(&[(Field::Wait, "51 ms")]), [0; 0]);
    }
}
