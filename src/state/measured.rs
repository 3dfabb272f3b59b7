//! Runs that were measured on real runtimes, from a file of `parkbench measure --trace`, to stand beside simulated ones.

use std::rc::Rc;

use parkbench_engine::{Scenario, preset};
use parkbench_trace::{Trace, TraceError, TraceFile};

use super::form::Form;
use super::runs::{Finished, RunSet};

/// The runs of one file.
#[derive(Debug)]
pub struct MeasuredSet {
    /// What the file is called.
    pub name: String,
    /// What was measured.
    pub scenario: Scenario,
    /// In the order of the file.
    pub runs: Vec<Rc<Finished>>,
}

/// The file of measured runs, as far as there is one.
#[derive(Clone, Debug, Default)]
pub enum Measured {
    /// None was opened.
    #[default]
    None,
    /// This one.
    Open(Rc<MeasuredSet>),
}

impl PartialEq for Measured {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::None, Self::None) => true,
            (Self::Open(own), Self::Open(other)) => Rc::ptr_eq(own, other),
            _ => false,
        }
    }
}

impl Measured {
    /// The runs, where there is a file.
    pub fn set(&self) -> Option<&Rc<MeasuredSet>> {
        match self {
            Self::None => None,
            Self::Open(set) => Some(set),
        }
    }
}

impl MeasuredSet {
    /// Reads a file and derives everything from it that the page shows.
    pub fn read(name: &str, bytes: &[u8]) -> Result<Self, TraceError> {
        let file = TraceFile::decode(bytes)?;
        let mut runs = Vec::with_capacity(file.runs.len());
        for run in file.runs {
            runs.push(Rc::new(Finished::measured(run.about, Trace::new(run.recording)?)));
        }
        Ok(Self { name: name.to_owned(), scenario: file.scenario, runs })
    }

    /// Whether a scenario has the same tasks with the same draws, so that its runs can stand beside these.
    pub fn fits(&self, scenario: &Scenario) -> bool {
        let own = &self.scenario;
        (&own.tasks, &own.mix, own.seed) == (&scenario.tasks, &scenario.mix, scenario.seed)
    }

    /// The form of the scenario that was measured.
    pub fn form(&self) -> Form {
        let shipped = preset(&self.scenario.name).ok().filter(|shipped| *shipped == self.scenario);
        match shipped.and_then(|_| Form::preset(&self.scenario.name).ok()) {
            Some(form) => form,
            None => Form::custom(self.scenario.clone()),
        }
    }
}

impl RunSet {
    /// The simulated runs alone, followed by those of a file where they fit.
    #[must_use]
    pub fn beside(&self, measured: &Measured) -> Self {
        let mut runs = self.runs.clone();
        runs.retain(|run| run.label.measured.is_none());
        if let Some(set) = measured.set().filter(|set| set.fits(&self.scenario)) {
            runs.extend(set.runs.iter().cloned());
        }
        Self { scenario: self.scenario.clone(), runs, wall_us: self.wall_us }
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::Simulation;
    use parkbench_trace::{AboutRun, Metrics, Origin, RunResult, TraceCost, TracedRun};

    use super::*;

    /// A file as a measurement writes it, with simulated records.
    fn bytes(scenario: &Scenario) -> Vec<u8> {
        let recording = Simulation::new(scenario, 0).unwrap().run();
        let metrics = Metrics::of(&Trace::new(recording.clone()).unwrap());
        let mut result = RunResult::simulated(scenario, 0, &metrics).unwrap();
        result.origin = Origin::Measured;
        result.variant = "pool-12".to_owned();
        let cost = TraceCost { events: 9, event_ps: 1, untraced_makespan_ns: 1 };
        let about = AboutRun { result, runtime: "own pool".to_owned(), stands_for: Vec::new(), cost };
        TraceFile { scenario: scenario.clone(), runs: vec![TracedRun { about, recording }] }.encode()
    }

    fn scenario() -> Scenario {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 40;
        scenario
    }

    fn simulated(scenario: &Scenario) -> RunSet {
        let trace = Trace::new(Simulation::new(scenario, 0).unwrap().run()).unwrap();
        let runs = vec![Rc::new(Finished::new(scenario, 0, trace, None).unwrap())];
        RunSet { scenario: scenario.clone(), runs, wall_us: 0 }
    }

    #[test]
    fn measured_runs_stand_beside_those_of_the_same_tasks() {
        let measured = Measured::Open(Rc::new(MeasuredSet::read("a", &bytes(&scenario())).unwrap()));
        let variants = |set: &RunSet| set.runs.iter().map(|run| run.label.variant.clone()).collect::<Vec<_>>();
        let both = simulated(&scenario()).beside(&measured);
        assert_eq!(variants(&both), ["fixed-12", "pool-12"]);
        assert_eq!(variants(&both.beside(&measured)), ["fixed-12", "pool-12"]);
        assert_eq!(variants(&both.beside(&Measured::None)), ["fixed-12"]);
        let mut other = scenario();
        other.machine.cores = 3;
        assert_eq!(variants(&simulated(&other).beside(&measured)).len(), 2);
        other.tasks[0].count = 41;
        assert_eq!(variants(&simulated(&other).beside(&measured)).len(), 1);
    }

    #[test]
    fn a_shipped_scenario_is_recognised() {
        let base = |scenario: &Scenario| MeasuredSet::read("a", &bytes(scenario)).unwrap().form().base().clone();
        assert_eq!(base(&preset("io-bound").unwrap()), super::super::form::Base::Preset("io-bound".to_owned()));
        assert_eq!(base(&scenario()), super::super::form::Base::Custom);
    }
}
