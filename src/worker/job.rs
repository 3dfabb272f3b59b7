//! One request, or one run of it, as a sequence of short steps, for a worker and for slices in the page alike. No browser
//! here.

use parkbench_engine::{Arena, MAX_RECORDS, Plan, Recording, Scenario, ScenarioError, Simulation};
use parkbench_trace::{Metrics, Tally};
use serde::{Deserialize, Serialize};

/// Figures alone: after so many events their records are folded into them.
const AGGREGATED_EVENTS: u64 = 1 << 16;

/// What is kept of the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Every record, so that there is a picture.
    #[default]
    Records,
    /// The figures alone, so that a run may have any number of records.
    Figures,
}

/// Why a request breaks off.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Broken {
    /// A page cannot hold the records.
    #[error(
        "runs[{run}]: more than {most} records of all runs together; allowed: up to {most}: fewer tasks or steps, or the figures alone"
    )]
    TooManyRecords {
        /// In which run.
        run: usize,
        /// The most of all runs together.
        most: u64,
    },
    /// Anything else.
    #[error("{why}")]
    Other {
        /// In words.
        why: String,
    },
}

impl From<ScenarioError> for Broken {
    fn from(error: ScenarioError) -> Self {
        Self::other(&error)
    }
}

impl Broken {
    /// From any other error.
    pub fn other(why: &impl ToString) -> Self {
        Self::Other { why: why.to_string() }
    }
}

/// All runs of a scenario, one after the other.
#[derive(Debug)]
pub struct Job {
    scenario: Scenario,
    budget: u64,
    index: usize,
    /// The run after the last.
    end: usize,
    keep: Keep,
    current: Option<(Simulation, Tally)>,
    /// Records that the runs that have ended have, and that all may have.
    records: u64,
    most_records: u64,
    /// Memory of finished runs. Without it a recording is cut to its size, for whoever keeps it.
    arena: Option<Box<Arena>>,
}

/// What a step led to.
#[derive(Debug)]
pub enum JobEvent {
    /// Not at the end of a run yet.
    Progress {
        /// Which run.
        run: usize,
        /// Tasks of it that have ended.
        done: u64,
    },
    /// This run ended; the figures are there where its records are not.
    Run(usize, Box<Recording>, Option<Box<Metrics>>),
    /// Every run has ended.
    Finished,
}

impl Job {
    /// Prepares a request.
    pub fn new(scenario: Scenario, budget: u64, keep: Keep) -> Result<Self, Broken> {
        scenario.validate()?;
        let (budget, end) = (budget.max(1), scenario.runs.len());
        let (records, most_records) = (0, MAX_RECORDS);
        Ok(Self { scenario, budget, index: 0, end, keep, current: None, records, most_records, arena: None })
    }

    /// The same request for one of its runs alone; for none where there is no such run.
    #[must_use]
    pub fn only(mut self, run: usize) -> Self {
        self.end = self.scenario.runs.len().min(run.saturating_add(1));
        self.index = run.min(self.end);
        self
    }

    /// The same request with this many records of all runs at most, instead of [`MAX_RECORDS`].
    #[must_use]
    pub fn with_max_records(mut self, most: u64) -> Self {
        self.most_records = most;
        self
    }

    /// The same request in the memory that finished runs have left.
    #[must_use]
    pub fn with_arena(mut self, arena: Box<Arena>) -> Self {
        self.arena = Some(arena);
        self
    }

    /// The memory of its runs for the next request, with that of the last recording, which nobody reads any more.
    pub fn into_arena(self, recording: Option<Recording>) -> Box<Arena> {
        let mut arena = self.arena.unwrap_or_default();
        if let Some(recording) = recording {
            arena.reclaim(recording);
        }
        arena
    }

    /// The scenario.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// Processes up to `budget` events of the current run.
    pub fn step(&mut self) -> Result<JobEvent, Broken> {
        if self.index == self.end {
            return Ok(JobEvent::Finished);
        }
        let index = self.index;
        let (mut simulation, mut tally) = match self.current.take() {
            Some(current) => current,
            None => self.start()?,
        };
        let most = if self.keep == Keep::Figures { AGGREGATED_EVENTS } else { u64::MAX };
        let progress = simulation.step(self.budget.min(most));
        if progress.too_many_records {
            return Err(Broken::TooManyRecords { run: index, most: self.most_records });
        }
        let progress = progress.check(index)?;
        if self.keep == Keep::Figures {
            let (tasks, threads) = simulation.take_records();
            tally.add(&tasks, &threads);
        }
        if progress.finished {
            self.index += 1;
            let recording = match &mut self.arena {
                Some(arena) => simulation.into_recording_in(arena),
                None => simulation.into_recording(),
            };
            self.records += (recording.tasks.len() + recording.threads.len()) as u64;
            // The engine counts from time to time only.
            if self.records > self.most_records {
                return Err(Broken::TooManyRecords { run: index, most: self.most_records });
            }
            let figures = (self.keep == Keep::Figures).then(|| Box::new(Metrics::aggregated(tally, &recording)));
            return Ok(JobEvent::Run(index, Box::new(recording), figures));
        }
        self.current = Some((simulation, tally));
        Ok(JobEvent::Progress { run: index, done: u64::from(progress.tasks_done) })
    }

    /// The next run, with room for the records that those before it have left.
    fn start(&mut self) -> Result<(Simulation, Tally), ScenarioError> {
        let plan = Plan::new(&self.scenario, self.index)?;
        let tally = Tally::new(if self.keep == Keep::Figures { plan.tasks } else { 0 });
        let room = match self.keep {
            Keep::Records => self.most_records.saturating_sub(self.records),
            Keep::Figures => MAX_RECORDS,
        };
        let simulation = match &mut self.arena {
            Some(arena) => Simulation::with_plan_in(plan, arena),
            None => Simulation::with_plan(plan),
        };
        Ok((simulation.with_max_records(room), tally))
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::preset;

    use super::*;

    fn digests(budget: u64) -> Vec<u64> {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 50;
        let mut job = Job::new(scenario, budget, Keep::Records).unwrap();
        let mut digests = Vec::new();
        let mut last = (0, 0);
        loop {
            match job.step().unwrap() {
                JobEvent::Progress { run, done } => {
                    assert!(last <= (run, done) && run == digests.len() && done <= 50);
                    last = (run, done);
                }
                JobEvent::Run(index, recording, figures) => {
                    assert!(figures.is_none());
                    assert_eq!(index, digests.len());
                    digests.push(recording.totals.digest);
                }
                JobEvent::Finished => return digests,
            }
        }
    }

    fn small() -> Scenario {
        let mut scenario = preset("io-bound").unwrap();
        scenario.tasks[0].count = 50;
        scenario
    }

    #[test]
    fn the_memory_of_other_runs_changes_nothing() {
        let ended = |mut job: Job| loop {
            if let JobEvent::Run(_, recording, _) = job.step().unwrap() {
                return (job, *recording);
            }
        };
        let mut arena = Box::<Arena>::default();
        for run in [2, 0, 1, 2] {
            let job = || Job::new(small(), 1_000, Keep::Records).unwrap().only(run);
            let (used, recording) = ended(job().with_arena(arena));
            assert_eq!(recording, ended(job()).1, "run {run}");
            arena = used.into_arena(Some(recording));
        }
    }

    /// The figures of all runs, and how many records of each were kept.
    fn figures(mut job: Job) -> Result<Vec<(Metrics, usize)>, Broken> {
        let mut all = Vec::new();
        loop {
            match job.step()? {
                JobEvent::Progress { .. } => {}
                JobEvent::Run(_, recording, figures) => {
                    let kept = recording.tasks.len() + recording.threads.len();
                    let own = || Metrics::of(&parkbench_trace::Trace::new(*recording).unwrap());
                    all.push((figures.map_or_else(own, |figures| *figures), kept));
                }
                JobEvent::Finished => return Ok(all),
            }
        }
    }

    #[test]
    fn the_figures_alone_are_the_same_and_no_record_is_kept() {
        let whole = figures(Job::new(small(), 100, Keep::Records).unwrap()).unwrap();
        let alone = figures(Job::new(small(), 100, Keep::Figures).unwrap().with_max_records(0)).unwrap();
        for ((mut own, kept), (alone, none)) in whole.into_iter().zip(alone) {
            assert_eq!((alone.records_dropped, none), (kept as u64, 0));
            own.records_dropped = alone.records_dropped;
            assert_eq!(own, alone);
            let text = serde_json::to_string(&alone).unwrap();
            assert_eq!(serde_json::from_str::<Metrics>(&text).unwrap(), alone);
        }
    }

    #[test]
    fn all_runs_share_the_room_for_records() {
        let records: Vec<usize> = {
            let whole = figures(Job::new(small(), 100, Keep::Records).unwrap()).unwrap();
            whole.into_iter().map(|(_, kept)| kept).collect()
        };
        let broken = |most: usize| {
            let job = Job::new(small(), u64::MAX, Keep::Records).unwrap().with_max_records(most as u64);
            figures(job).map(|_| ()).unwrap_err()
        };
        let most = records[0] + records[1] / 2;
        assert_eq!(broken(most), Broken::TooManyRecords { run: 1, most: most as u64 });
        let text = broken(0).to_string();
        assert!(text.starts_with("runs[0]: more than 0 records of all runs together; allowed: "), "{text}");
    }

    #[test]
    fn a_run_alone_is_the_same_as_among_others() {
        let whole = digests(u64::MAX);
        let alone = |run| {
            let mut job = Job::new(small(), 100, Keep::Records).unwrap().only(run);
            let mut digests = Vec::new();
            loop {
                match job.step().unwrap() {
                    JobEvent::Progress { run: other, done } => assert!(other == run && done <= 50),
                    JobEvent::Run(index, recording, _) => digests.push((index, recording.totals.digest)),
                    JobEvent::Finished => return digests,
                }
            }
        };
        for (run, digest) in whole.into_iter().enumerate() {
            assert_eq!(alone(run), [(run, digest)]);
        }
        assert_eq!([alone(3), alone(usize::MAX)], [[], []]);
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
