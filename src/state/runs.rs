//! What is kept of a simulation: for each run its trace and everything derived from it once.

use parkbench_engine::{RunSpec, Scenario};
use parkbench_trace::{Comparison, LaneChoice, Lanes, Metrics, Trace, choose_lanes, compare};

use super::window::Window;

/// Most lanes shown per run; the rest are ranked out, and the page says so.
const MAX_LANES: usize = 14;

/// One finished run.
#[derive(Debug)]
pub struct Finished {
    /// The model and its knobs.
    pub spec: RunSpec,
    /// The variant in one word.
    pub variant: String,
    /// Every record.
    pub trace: Trace,
    /// Spans per thread.
    pub lanes: Lanes,
    /// Which threads have a lane.
    pub choice: LaneChoice,
    /// The figures.
    pub metrics: Metrics,
    /// Published figures beside simulated ones.
    pub comparisons: Vec<Comparison>,
}

/// All runs of one scenario.
#[derive(Debug)]
pub struct RunSet {
    /// What was simulated.
    pub scenario: Scenario,
    /// In the order of the scenario.
    pub runs: Vec<Finished>,
    /// [us] Wall time of the simulation, where it ran.
    pub wall_us: u64,
}

impl Finished {
    /// Derives everything from the trace of run `index`.
    pub fn new(scenario: &Scenario, index: usize, trace: Trace) -> Option<Self> {
        let spec = scenario.runs.get(index)?.clone();
        let lanes = Lanes::new(&trace);
        let metrics = Metrics::of(&trace);
        Some(Self {
            variant: spec.variant(&scenario.machine),
            choice: choose_lanes(&lanes, MAX_LANES),
            comparisons: compare(scenario, index, &metrics),
            spec,
            trace,
            lanes,
            metrics,
        })
    }
}

impl RunSet {
    /// [ns] The end of the time axis: the longest run.
    pub fn end_ns(&self) -> u64 {
        self.runs.iter().map(|run| run.trace.end_ns()).max().unwrap_or(0)
    }

    /// The window to open with.
    pub fn opening_window(&self) -> Window {
        Window::opening(&self.runs.iter().map(|run| run.trace.end_ns()).collect::<Vec<_>>())
    }

    /// Number of tasks, the same in every run.
    pub fn tasks(&self) -> u32 {
        u32::try_from(self.scenario.task_count()).unwrap_or(u32::MAX)
    }

    /// [ns] The next time after `at` at which a task changes in any run.
    pub fn next_time(&self, at: u64) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.trace.next_time(at)).min()
    }

    /// [ns] The last time before `at` at which a task changed in any run.
    pub fn previous_time(&self, at: u64) -> Option<u64> {
        self.runs.iter().filter_map(|run| run.trace.previous_time(at)).max()
    }
}
