//! The types of the page's state.

use std::rc::Rc;

use parkbench_engine::{Scenario, TaskState, preset};

use super::compared::{Compared, ComparedRun};
use super::field::Field;
use super::form::{Form, Message};
use super::link::{Link, ReadLink};
use super::measured::Measured;
use super::runs::{RunLabel, RunSet};
use super::window::Window;
use crate::i18n::Locale;
use crate::worker::{Broken, Keep};

/// Something large that is the same only if it is the same object.
#[derive(Debug)]
pub struct Shared<T>(pub Rc<T>);

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<T> PartialEq for Shared<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> std::ops::Deref for Shared<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// Light, dark, or as the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the system says.
    #[default]
    Auto,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// The word in storage and in the page's `data-theme`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of this name; anything else is automatic.
    pub fn from_name(name: &str) -> Self {
        match name {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::Auto,
        }
    }

    /// The next one of the toggle.
    #[must_use]
    pub const fn next(self) -> Self {
        match self {
            Self::Auto => Self::Light,
            Self::Light => Self::Dark,
            Self::Dark => Self::Auto,
        }
    }
}

/// Which part of the axis to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The opening window.
    Opening,
    /// From 0 to the end of the longest run.
    All,
    /// From 0 to a little after the end of this run.
    Run(usize),
    /// Exactly this.
    Window(Window),
    /// Where playing goes on when the clock is at this time, outside of the window.
    Follow(u64),
}

/// A simulation that was asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    /// Counts up, so that a late answer to an older request is told apart.
    pub id: u32,
    /// What to simulate.
    pub scenario: Scenario,
    /// What to keep of it.
    pub keep: Keep,
    /// It follows a slider: runs that are the same as in the last one are not simulated again.
    pub follows: bool,
}

/// What the simulation is doing.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum RunState {
    /// Nothing was asked for, or it was cancelled.
    #[default]
    Idle,
    /// In progress.
    Running {
        /// Tasks that have ended, in all runs.
        done: u64,
        /// Tasks in all runs.
        total: u64,
    },
    /// The result is there.
    Done,
    /// It broke off.
    Failed(Broken),
}

impl RunState {
    /// The word in the page's `data-run-state`.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running { .. } => "running",
            Self::Done => "done",
            Self::Failed(_) => "failed",
        }
    }
}

/// How a dragged slider is followed: simulated again whenever the last simulation has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// A slider is being dragged.
    pub dragging: bool,
    /// The form has changed since the simulation in progress was asked for.
    pub again: bool,
    /// The clock keeps its time when the next result comes, and goes on if it plays.
    pub keeps_time: bool,
}

/// Everything that the page knows, except the playback clock, which would change it on every frame.
#[derive(Clone, Debug, PartialEq)]
pub struct AppState {
    /// The controls.
    pub form: Form,
    /// The form of the result that is shown, for the link.
    pub shown: Form,
    /// What is wrong with the form.
    pub messages: Vec<Message>,
    /// The newest simulation asked for.
    pub request: Option<Shared<Request>>,
    /// The number of the last request.
    pub last_id: u32,
    /// What the simulation is doing.
    pub run: RunState,
    /// Whether it follows a slider.
    pub live: Live,
    /// The last finished simulation.
    pub result: Option<Shared<RunSet>>,
    /// Measured runs from a file.
    pub measured: Measured,
    /// Comparisons of simulation and measurement from a file.
    pub compared: Compared,
    /// Why the last file was refused.
    pub open_error: Option<String>,
    /// The window; `None` is the opening window.
    pub window: Option<Window>,
    /// [ns] A time from a link, until the clock has taken it.
    pub at: Option<u64>,
    /// The selected task; `None` is the one in the middle.
    pub task: Option<u32>,
    /// Only this state is lit in the grids.
    pub lit: Option<TaskState>,
    /// What a link asked for in vain.
    pub ignored: Vec<String>,
    /// Colours.
    pub theme: Theme,
    /// Words.
    pub locale: Locale,
}

impl AppState {
    /// The state that a link describes; its simulation still has to be asked for.
    pub fn from_link(read: ReadLink, theme: Theme, locale: Locale) -> Self {
        let Link { form, window, at, task, comparison } = read.link;
        Self {
            shown: form.clone(),
            form,
            messages: Vec::new(),
            request: None,
            last_id: 0,
            run: RunState::Idle,
            live: Live::default(),
            result: None,
            measured: Measured::None,
            compared: Compared { file: None, place: comparison },
            open_error: None,
            window,
            at,
            task,
            lit: None,
            ignored: read.ignored,
            theme,
            locale,
        }
    }

    /// The window in view; empty until there is a result.
    pub fn window_in_view(&self) -> Window {
        match (&self.result, self.window) {
            (Some(result), Some(window)) => Window::clamped(window.from, window.to, result.end_ns()),
            (Some(result), None) => result.opening_window(),
            (None, _) => Window::default(),
        }
    }

    /// The scenario whose runs are shown, or will be.
    pub fn scenario_in_view(&self) -> &Scenario {
        match (&self.result, &self.request) {
            (Some(result), _) => &result.scenario,
            (None, Some(request)) => &request.scenario,
            (None, None) => self.form.base_scenario(),
        }
    }

    /// The runs that are shown, or will be.
    pub fn runs_in_view(&self) -> Vec<RunLabel> {
        if let Some(result) = &self.result {
            return result.runs.iter().map(|run| run.label.clone()).collect();
        }
        let scenario = self.scenario_in_view();
        (0..scenario.runs.len()).filter_map(|index| RunLabel::of(scenario, index)).collect()
    }

    /// Whether the description of the scenario holds for the runs that are shown: it tells numbers, so it does not where a
    /// parameter was changed, or where a file has a shipped scenario with others.
    pub fn describes_what_is_shown(&self) -> bool {
        let own_numbers = |field| matches!(field, Field::Seed | Field::Profile);
        let scenario = self.shown.base_scenario();
        let shipped = preset(&scenario.name).ok().filter(|shipped| shipped.description == scenario.description);
        let same = |shipped: Scenario| (&shipped.tasks, &shipped.machine) == (&scenario.tasks, &scenario.machine);
        self.shown.changes().all(|(field, _)| own_numbers(field)) && shipped.is_none_or(same)
    }

    /// The runtime that was measured beside this run, where a comparison is open and the run is one of it.
    pub fn beside(&self, run: usize) -> Option<&ComparedRun> {
        self.compared.set()?.beside(self.scenario_in_view(), run)
    }

    /// The selected task.
    pub fn task_in_view(&self) -> u32 {
        let arriving = u32::try_from(self.scenario_in_view().task_count()).unwrap_or(u32::MAX);
        let last = self.result.as_ref().map_or(arriving, |result| result.tasks()).saturating_sub(1);
        self.task.unwrap_or(arriving / 2).min(last)
    }

    /// What to share, with the clock at this time.
    pub fn link(&self, now: u64) -> Link {
        let opening = self.result.as_ref().map(|result| result.opening_window());
        let still = opening.map(Window::opening_time);
        Link {
            form: self.shown.clone(),
            window: self.window.filter(|window| Some(*window) != opening),
            at: Some(now).filter(|now| Some(*now) != still),
            task: self.task,
            comparison: self.compared.place,
        }
    }
}
