//! The form: a base scenario and the texts that differ from it; turns into a scenario or into messages beside fields.

use std::collections::BTreeMap;
use std::rc::Rc;

use parkbench_engine::{Model, RunSpec, Runtime, Scenario, ScenarioError, preset};

use super::field::{Field, has_workers, is_fixed, is_pool, is_viewable, runs_on};

/// The controls on which it depends which others apply.
const CHOICES: [Field; 5] = [Field::PoolKind, Field::Green, Field::Coroutine, Field::Flavor, Field::Dispatcher];

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

/// Why a control changes nothing in a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// Its runs differ in it.
    Varies,
    /// No run is of its model.
    Model,
    /// Its thread pools are not fixed ones.
    FixedPool,
    /// Its green threads are not those of Java.
    Java,
    /// Its coroutines are not those of Kotlin.
    Kotlin,
    /// There are no limited views of the event loop.
    NoView,
    /// Its coroutines are not those of tokio.
    Tokio,
    /// Nothing in it has workers: neither Go nor the threads of tokio.
    Workers,
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
        self.changes.get(&field).cloned().or_else(|| field.read(&self.basis(field)))
    }

    /// Whether the scenario has what the control changes.
    pub fn applies(&self, field: Field) -> bool {
        field.read(&self.basis(field)).is_some()
    }

    /// Types a text into a control. A text that means the base's value is no change; a control that does not apply
    /// keeps none.
    #[must_use]
    pub fn with(&self, field: Field, text: &str) -> Self {
        let mut form = self.clone();
        let basis = self.basis(field);
        let Some(base) = field.read(&basis) else { return form };
        let mut copy = (*basis).clone();
        let canonical = match field.write(&mut copy, text) {
            Ok(()) => field.read(&copy).unwrap_or_else(|| text.to_owned()),
            Err(_) => text.to_owned(),
        };
        if canonical == base && text.trim() != "" {
            form.changes.remove(&field);
        } else {
            form.changes.insert(field, text.to_owned());
        }
        if CHOICES.contains(&field) {
            // The other kind or runtime has other controls.
            let kept = form.clone();
            form.changes.retain(|&field, _| kept.applies(field));
        }
        form
    }

    /// The scenario that a control changes: the base with all other changes, for what is not given may follow them, as
    /// carriers follow the cores.
    fn basis(&self, field: Field) -> Rc<Scenario> {
        let mut scenario = self.scenario.clone();
        for (other, text) in self.changes.iter().filter(|(other, _)| **other != field) {
            // A text that is refused changes nothing.
            let _ = other.write(Rc::make_mut(&mut scenario), text);
        }
        scenario
    }

    /// The form with every text in the engine's spelling, as links have it; a text that cannot be read stays.
    #[must_use]
    pub fn canonical(&self) -> Self {
        let mut form = self.clone();
        for (&field, text) in &self.changes {
            let basis = form.basis(field);
            let mut copy = (*basis).clone();
            if field.write(&mut copy, text).is_err() {
                continue;
            }
            match field.read(&copy) {
                // What another change has made of it anyway.
                Some(read) if field.read(&basis).as_deref() == Some(&read) => _ = form.changes.remove(&field),
                Some(read) => _ = form.changes.insert(field, read),
                None => {}
            }
        }
        form
    }

    /// Whether anything differs from the base.
    pub fn is_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Why a control changes nothing; `None` where it does.
    pub fn absence(&self, field: Field) -> Option<Absence> {
        if self.applies(field) {
            return None;
        }
        let basis = self.basis(field);
        let any = |is: &dyn Fn(&RunSpec) -> bool| basis.runs.iter().any(is);
        let of = |model: Model| move |run: &RunSpec| run.model == model;
        let (pool, green, coroutines) = (of(Model::ThreadPool), of(Model::GreenThreads), of(Model::Coroutines));
        let unless = |is: &dyn Fn(&RunSpec) -> bool, why: Absence, model: &dyn Fn(&RunSpec) -> bool| {
            if any(is) {
                Absence::Varies
            } else if any(model) {
                why
            } else {
                Absence::Model
            }
        };
        Some(match field {
            Field::PoolKind => unless(&is_pool, Absence::Model, &pool),
            Field::Pool | Field::Queue | Field::Rejection => unless(&is_fixed, Absence::FixedPool, &pool),
            Field::Green => unless(&green, Absence::Model, &green),
            Field::Jdk | Field::Carriers | Field::MaxPool | Field::MinRunnable => {
                unless(&runs_on(Runtime::Java), Absence::Java, &green)
            }
            Field::Workers => unless(&has_workers, Absence::Workers, &|_| true),
            Field::Coroutine => unless(&coroutines, Absence::Model, &coroutines),
            Field::Dispatcher => unless(&runs_on(Runtime::Kotlin), Absence::Kotlin, &coroutines),
            Field::Parallelism if any(&runs_on(Runtime::Kotlin)) => unless(&is_viewable, Absence::NoView, &coroutines),
            Field::Parallelism => unless(&is_viewable, Absence::Kotlin, &coroutines),
            Field::Flavor | Field::Blocking => unless(&runs_on(Runtime::Tokio), Absence::Tokio, &coroutines),
            Field::Tasks | Field::Wait | Field::Cpu | Field::Cores | Field::Seed | Field::Profile => Absence::Varies,
        })
    }

    /// The class whose tasks, wait and computation the form has, where the scenario has others too.
    pub fn class(&self) -> Option<&str> {
        match self.scenario.tasks.as_slice() {
            [first, _, ..] => Some(&first.name),
            _ => None,
        }
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
            (Field::PoolKind, Model::ThreadPool),
            (Field::Pool, Model::ThreadPool),
            (Field::Queue, Model::ThreadPool),
            (Field::Rejection, Model::ThreadPool),
            (Field::Green, Model::GreenThreads),
            (Field::Jdk, Model::GreenThreads),
            (Field::Carriers, Model::GreenThreads),
            (Field::MaxPool, Model::GreenThreads),
            (Field::MinRunnable, Model::GreenThreads),
            (Field::Workers, Model::GreenThreads),
            (Field::Workers, Model::Coroutines),
            (Field::Coroutine, Model::Coroutines),
            (Field::Flavor, Model::Coroutines),
            (Field::Dispatcher, Model::Coroutines),
            (Field::Parallelism, Model::Coroutines),
            (Field::Blocking, Model::Coroutines),
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
    use parkbench_engine::Rejection;

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

    #[test]
    fn a_queue_may_have_a_limit_and_a_rejection() {
        let changes = [(Field::Rejection, "caller-runs"), (Field::Queue, "20"), (Field::Pool, "4")];
        let form = form("io-bound", &changes);
        let run = form.scenario().unwrap().runs[0].clone();
        assert_eq!((run.size, run.queue, run.rejection), (Some(4), Some(20), Some(Rejection::CallerRuns)));
        assert_eq!(form.canonical(), form);
        let cached = form.with(Field::PoolKind, "cached");
        assert!([Field::Pool, Field::Queue, Field::Rejection].iter().all(|&field| !cached.applies(field)));
        assert_eq!(cached.changes().collect::<Vec<_>>(), [(Field::PoolKind, "cached")]);
        assert_eq!(cached.scenario().unwrap().runs[0].size, None);
        check_refused(&changes[..1], &[(Some(Field::Rejection), "no rejection without a queue")]);
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
    fn the_runtime_decides_which_controls_there_are() {
        let go = form("io-bound", &[(Field::Jdk, "21"), (Field::Green, "go")]);
        assert_eq!((go.text(Field::Jdk), go.text(Field::Workers)), (None, Some("12".to_owned())));
        assert_eq!(go.absence(Field::Jdk), Some(Absence::Java));
        let go = go.with(Field::Workers, "4");
        assert_eq!(go.scenario().unwrap().runs[1].workers, Some(4));
        let java = go.with(Field::Green, "java");
        assert!(!java.is_changed(), "{:?}", java.changes);
        // Runs that differ in their runtime have the controls of both.
        let both = form("cpu-hog", &[(Field::Workers, "2"), (Field::Jdk, "21")]);
        assert!(both.absence(Field::Green) == Some(Absence::Varies) && both.scenario().is_ok());
    }

    #[test]
    fn another_runtime_of_the_coroutines_has_its_own_knobs() {
        let tokio = form("io-bound", &[(Field::Parallelism, "128"), (Field::Coroutine, "tokio")]);
        assert_eq!(tokio.changes().count(), 1, "no views on tokio");
        let tokio = tokio.with(Field::Workers, "4").with(Field::Blocking, "spawn-blocking");
        let run = tokio.scenario().unwrap().runs[2].clone();
        assert_eq!((run.workers, run.dispatcher), (Some(4), None));
        assert_eq!(run.blocking, Some(parkbench_engine::Blocking::SpawnBlocking));
        let one = tokio.with(Field::Flavor, "current-thread");
        assert_eq!(one.scenario().unwrap().runs[2].workers, None);
        assert_eq!(one.text(Field::Workers), None);
        let back = one.with(Field::Coroutine, "kotlin");
        assert!(!back.is_changed());
        // The loop of `runBlocking` is one thread.
        let looped = form("io-bound", &[(Field::Parallelism, "128"), (Field::Dispatcher, "event-loop")]);
        assert_eq!(looped.text(Field::Parallelism), None);
        assert_eq!(looped.scenario().unwrap().runs[2].parallelism, None);
    }

    #[test]
    fn a_control_that_changes_nothing_has_a_reason() {
        let check = |form: &Form, field, expect| assert_eq!(form.absence(field), expect, "{field:?}");
        for name in parkbench_engine::PRESET_NAMES {
            let form = Form::preset(name).unwrap();
            for field in Field::ALL {
                assert_eq!(form.absence(field).is_none(), form.text(field).is_some(), "{name} {field:?}");
            }
        }
        let plain = form("io-bound", &[]);
        check(&plain, Field::Carriers, None);
        check(&plain, Field::Workers, Some(Absence::Workers));
        check(&plain, Field::Flavor, Some(Absence::Tokio));
        check(&form("io-bound", &[(Field::PoolKind, "cached")]), Field::Queue, Some(Absence::FixedPool));
        check(&form("io-bound", &[(Field::Green, "go")]), Field::MaxPool, Some(Absence::Java));
        check(&form("io-bound", &[(Field::Coroutine, "tokio")]), Field::Dispatcher, Some(Absence::Kotlin));
        check(&form("io-bound", &[(Field::Coroutine, "tokio")]), Field::Parallelism, Some(Absence::Kotlin));
        check(&form("io-bound", &[(Field::Dispatcher, "event-loop")]), Field::Parallelism, Some(Absence::NoView));
        check(&form("pinning", &[]), Field::Jdk, Some(Absence::Varies));
        check(&Form::custom(preset("io-bound").unwrap().only(Model::ThreadPool)), Field::Jdk, Some(Absence::Model));
    }

    #[test]
    fn what_is_not_given_follows_the_other_changes() {
        let form = form("io-bound", &[(Field::Cores, "4")]);
        assert_eq!(form.text(Field::Carriers).as_deref(), Some("4"));
        let held = form.with(Field::Carriers, "12").with(Field::MinRunnable, "0");
        let run = held.scenario().unwrap().runs[1].clone();
        assert_eq!((run.carriers, run.max_pool, run.min_runnable), (Some(12), None, Some(0)));
        assert_eq!(form.with(Field::Carriers, "4"), form);
        let both = Form::preset("io-bound").unwrap().with(Field::Carriers, "4").with(Field::Cores, "4");
        assert_eq!(both.canonical(), form);
    }

    #[test]
    fn the_first_class_is_named_where_there_are_others() {
        assert_eq!(form("io-bound", &[]).class(), None);
        assert_eq!(form("cpu-hog", &[]).class(), Some("hog"));
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
