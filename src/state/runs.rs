//! What is kept of a simulation: for each run its trace and everything derived from it once.

use std::cell::OnceCell;
use std::rc::Rc;

use parkbench_engine::{RunSpec, Scenario};
use parkbench_trace::{AboutRun, Comparison, LaneChoice, Lanes, Metrics, Trace, choose_lanes, compare};

use super::window::Window;

/// Most lanes shown per run; the rest are ranked out, and the page says so.
const MAX_LANES: usize = 14;

/// What a run is.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLabel {
    /// The model and its knobs; of a measured run the model alone.
    pub spec: RunSpec,
    /// The variant in one word.
    pub variant: String,
    /// Of a measured run, its runtime and what was read besides its records.
    pub measured: Option<Rc<AboutRun>>,
}

/// One finished run.
#[derive(Debug)]
pub struct Finished {
    /// What it is.
    pub label: RunLabel,
    /// Every record of a task.
    pub trace: Trace,
    /// See [`Finished::lanes`].
    lanes: OnceCell<(Lanes, LaneChoice)>,
    /// The figures.
    pub metrics: Metrics,
    /// Published figures beside simulated ones.
    pub comparisons: Vec<Comparison>,
    /// Records of tasks and threads that it has, or had.
    pub records: u64,
}

/// All runs of one scenario.
#[derive(Debug)]
pub struct RunSet {
    /// What was simulated.
    pub scenario: Scenario,
    /// Those of the scenario in its order, then measured ones.
    pub runs: Vec<Rc<Finished>>,
    /// [us] From the first run handed out until all have been read.
    pub wall_us: u64,
}

impl Finished {
    /// Derives everything but the lanes from the trace of run `index`.
    /// The figures are given where the trace has no records, and derived where it has.
    pub fn new(scenario: &Scenario, index: usize, trace: Trace, figures: Option<Box<Metrics>>) -> Option<Self> {
        let label = RunLabel::of(scenario, index)?;
        let finished = Self::derive(label, trace, figures);
        Some(Self { comparisons: compare(scenario, index, &finished.metrics), ..finished })
    }

    /// Derives everything from the trace of a measured run.
    pub fn measured(about: AboutRun, trace: Trace) -> Self {
        let (spec, variant) = (RunSpec::new(about.result.model), about.result.variant.clone());
        Self::derive(RunLabel { spec, variant, measured: Some(Rc::new(about)) }, trace, None).with_lanes()
    }

    fn derive(label: RunLabel, trace: Trace, figures: Option<Box<Metrics>>) -> Self {
        let records = (trace.recording().tasks.len() + trace.recording().threads.len()) as u64;
        let metrics = figures.map_or_else(|| Metrics::of(&trace), |figures| *figures);
        Self { label, comparisons: Vec::new(), records, trace, lanes: OnceCell::new(), metrics }
    }

    /// Derives the lanes too, and gives up the records that only they need.
    #[must_use]
    pub fn with_lanes(mut self) -> Self {
        self.lanes();
        self.trace.forget_threads();
        self
    }

    /// Spans per thread, and which threads have a lane. Derived when they are first asked for, which they are not of a run
    /// that a dragged slider replaces before it is looked at.
    pub fn lanes(&self) -> &(Lanes, LaneChoice) {
        self.lanes.get_or_init(|| {
            let lanes = Lanes::new(&self.trace);
            let choice = choose_lanes(&lanes, MAX_LANES);
            (lanes, choice)
        })
    }
}

impl Finished {
    /// Whether there is something to draw: a run of which only the figures were kept has no picture.
    pub const fn has_picture(&self) -> bool {
        self.metrics.records_dropped == 0
    }
}

impl RunLabel {
    /// Run `index` of a scenario.
    pub fn of(scenario: &Scenario, index: usize) -> Option<Self> {
        let spec = scenario.runs.get(index)?.clone();
        Some(Self { variant: spec.variant(&scenario.machine), spec, measured: None })
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

    /// Number of tasks with those that they spawn, the same in every run.
    pub fn tasks(&self) -> u32 {
        self.runs.iter().map(|run| run.metrics.tasks).max().unwrap_or(0)
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
