//! One request as a sequence of short steps, for the worker and for slices in the page alike. No browser here.

use parkbench_engine::{Recording, Scenario, ScenarioError, Simulation};

/// All runs of a scenario, one after the other.
#[derive(Debug)]
pub struct Job {
    scenario: Scenario,
    budget: u64,
    index: usize,
    current: Option<Simulation>,
    /// Tasks of the runs that have ended.
    ended: u64,
}

/// What a step led to.
#[derive(Debug)]
pub enum JobEvent {
    /// Not at the end of a run yet.
    Progress {
        /// Tasks ended, in all runs.
        done: u64,
        /// Tasks in all runs.
        total: u64,
    },
    /// This run ended.
    Run(usize, Box<Recording>),
    /// Every run has ended.
    Finished,
}

impl Job {
    /// Prepares a request.
    pub fn new(scenario: Scenario, budget: u64) -> Result<Self, ScenarioError> {
        scenario.validate()?;
        Ok(Self { scenario, budget: budget.max(1), index: 0, current: None, ended: 0 })
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Processes up to `budget` events of the current run.
    pub fn step(&mut self) -> Result<JobEvent, ScenarioError> {
        if self.index == self.scenario.runs.len() {
            return Ok(JobEvent::Finished);
        }
        let mut simulation = match self.current.take() {
            Some(simulation) => simulation,
            None => Simulation::new(&self.scenario, self.index)?,
        };
        let progress = simulation.step(self.budget).check(self.index)?;
        if progress.finished {
            let index = self.index;
            self.index += 1;
            self.ended += u64::from(progress.tasks);
            return Ok(JobEvent::Run(index, Box::new(simulation.into_recording())));
        }
        self.current = Some(simulation);
        Ok(JobEvent::Progress { done: self.ended + u64::from(progress.tasks_done), total: self.total() })
    }

    /// Tasks in all runs.
    fn total(&self) -> u64 {
        self.scenario.task_count() * self.scenario.runs.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    fn digests(budget: u64) -> Vec<u64> {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 50;
        let mut job = Job::new(scenario, budget).unwrap();
        let mut digests = Vec::new();
        let mut last = 0;
        loop {
            match job.step().unwrap() {
                JobEvent::Progress { done, total } => {
                    assert!(last <= done && done <= total && total == 150);
                    last = done;
                }
                JobEvent::Run(index, recording) => {
                    assert_eq!(index, digests.len());
                    digests.push(recording.totals.digest);
                }
                JobEvent::Finished => return digests,
            }
        }
    }

    #[test]
    fn the_budget_changes_no_digest() {
        let whole = digests(u64::MAX);
        assert_eq!(whole.len(), 3);
        for budget in [0, 1, 7, 1_000_000] {
            assert_eq!(digests(budget), whole, "{budget}");
        }
    }
}
