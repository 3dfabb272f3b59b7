//! The one function that changes the page's state. Total: every action is defined in every state.

use std::rc::Rc;

use parkbench_engine::{Scenario, TaskState};

use super::compared::Compared;
use super::field::Field;
use super::form::{Base, Form, messages_of};
use super::link::ReadLink;
use super::measured::Measured;
use super::model::{AppState, Axis, Live, Request, RunState, Shared, Theme};
use super::opened::Opened;
use super::runs::RunSet;
use super::window::Window;
use crate::i18n::Locale;
use crate::worker::{Broken, Keep};

/// What can happen.
#[derive(Debug)]
pub enum Action {
    /// Text was typed into a control.
    Edit(Field, String),
    /// A slider was dragged to this text: the form is simulated at once, or as soon as the last simulation has ended.
    Slide(Field, String),
    /// The slider was let go.
    SlideEnd,
    /// A preset was picked; it runs at once.
    Preset(String),
    /// A scenario of one's own was given; it runs at once.
    Custom(Box<Scenario>),
    /// All changes to the base are taken back, and it runs.
    Reset,
    /// The form is to be simulated.
    Submit,
    /// The same, for its figures alone: no record is kept.
    SubmitForFigures,
    /// The simulation in progress is to stop.
    Cancel,
    /// A simulation told how far it is: request, tasks ended, tasks in all.
    Progress(u32, u64, u64),
    /// A simulation ended.
    Finished(u32, Rc<RunSet>),
    /// A simulation broke off.
    Failed(u32, Broken),
    /// A file to stand beside simulated runs was opened.
    Opened(Opened),
    /// A file cannot be opened, for this reason.
    OpenRefused(String),
    /// Measured runs are to go.
    MeasuredClosed,
    /// The comparison at this place of its file is to be shown; what it simulated runs at once.
    ComparedChosen(usize),
    /// The file of comparisons is to go.
    ComparedClosed,
    /// The part of the axis in view.
    View(Axis),
    /// A task was selected.
    Select(u32),
    /// Only this state is lit; the same again lights all.
    Light(TaskState),
    /// The chips were read.
    ForgetIgnored,
    /// The clock has taken the time of a link.
    TimeTaken,
    /// The fragment of the address changed.
    Follow(Box<ReadLink>),
    /// Colours.
    Theme(Theme),
    /// Words.
    Locale(Locale),
}

impl AppState {
    /// The state after an action.
    #[must_use]
    pub fn after(&self, action: Action) -> Self {
        let mut next = self.clone();
        match action {
            Action::Edit(field, text) => {
                next.form = self.form.with(field, &text);
                next.messages = next.form.scenario().err().unwrap_or_default();
            }
            Action::Slide(field, text) => {
                next.form = self.form.with(field, &text);
                next.live.dragging = true;
                next.follow();
            }
            Action::SlideEnd => next.live.dragging = false,
            Action::Preset(name) => match Form::preset(&name) {
                Ok(form) => next.open(form),
                Err(error) => next.messages = messages_of(&error),
            },
            Action::Custom(scenario) => next.open(Form::custom(*scenario)),
            Action::Reset => {
                let form = match self.form.base() {
                    Base::Preset(name) => Form::preset(name).unwrap_or_else(|_| self.form.clone()),
                    Base::Custom => Form::custom(self.form.base_scenario().clone()),
                };
                next.open(form);
            }
            Action::Submit => {
                next.live = Live::default();
                next.submit(Keep::Records);
            }
            Action::SubmitForFigures => {
                next.live = Live::default();
                next.submit(Keep::Figures);
            }
            Action::Cancel => {
                next.live.again = false;
                if matches!(self.run, RunState::Running { .. }) {
                    next.request = None;
                    next.run = if self.result.is_some() { RunState::Done } else { RunState::Idle };
                }
            }
            Action::Progress(id, done, total) => {
                if self.is_current(id) {
                    next.run = RunState::Running { done, total };
                }
            }
            Action::Finished(id, result) => {
                if self.is_current(id) {
                    next.result = Some(Shared(match self.measured {
                        Measured::None => result,
                        Measured::Open(_) => Rc::new(result.beside(&self.measured)),
                    }));
                    next.run = RunState::Done;
                    next.follow_up();
                }
            }
            Action::Failed(id, message) => {
                if self.is_current(id) {
                    next.request = None;
                    next.run = RunState::Failed(message);
                    next.follow_up();
                }
            }
            Action::Opened(opened) => {
                next.open_error = None;
                match opened {
                    Opened::Measured(set) => {
                        let form = set.form();
                        next.measured = Measured::Open(set);
                        next.open(form);
                    }
                    Opened::Compared(file) => {
                        next.compared = self.compared.open(file);
                        next.open_compared();
                    }
                }
            }
            Action::ComparedChosen(place) => next.choose_compared(place),
            Action::OpenRefused(why) => next.open_error = Some(why),
            Action::ComparedClosed => {
                next.compared = Compared::default();
                next.open_error = None;
            }
            Action::MeasuredClosed => {
                next.measured = Measured::None;
                next.open_error = None;
                next.result = self.result.as_ref().map(|result| Shared(Rc::new(result.beside(&Measured::None))));
            }
            Action::View(axis) => next.view(axis),
            Action::Select(task) => next.task = Some(task),
            Action::Light(state) => next.lit = if self.lit == Some(state) { None } else { Some(state) },
            Action::ForgetIgnored => next.ignored.clear(),
            Action::TimeTaken => next.at = None,
            Action::Follow(read) => {
                next.ignored = read.ignored;
                let same = read.link.form == self.shown;
                next.form = read.link.form;
                next.window = read.link.window;
                next.at = read.link.at;
                next.task = read.link.task;
                let place = read.link.comparison;
                if self.compared.file.is_none() {
                    next.compared.place = place;
                }
                if !same {
                    next.live = Live::default();
                    next.submit(Keep::Records);
                } else if self.compared.file.is_some() {
                    next.choose_compared(place);
                }
            }
            Action::Theme(theme) => next.theme = theme,
            Action::Locale(locale) => next.locale = locale,
        }
        next
    }

    fn is_current(&self, id: u32) -> bool {
        matches!(self.run, RunState::Running { .. }) && self.request.as_ref().is_some_and(|request| request.id == id)
    }

    /// Simulates the form now, or once the simulation in progress has ended, so that each is shown.
    fn follow(&mut self) {
        self.live.again = matches!(self.run, RunState::Running { .. });
        if !self.live.again {
            self.live.keeps_time = self.result.is_some();
            self.submit(Keep::Records);
        }
    }

    /// Goes on with what has changed meanwhile.
    fn follow_up(&mut self) {
        if std::mem::take(&mut self.live.again) {
            self.follow();
        }
    }

    /// Shows another comparison of the file.
    fn choose_compared(&mut self, place: usize) {
        if place != self.compared.place && self.compared.file.as_ref().is_some_and(|file| file.get(place).is_some()) {
            self.compared.place = place;
            self.open_compared();
        }
    }

    /// Takes up what the comparison that is shown has simulated.
    fn open_compared(&mut self) {
        if let Some(form) = self.compared.set().map(|set| set.form()) {
            self.open(form);
        }
    }

    /// Takes up another base; what was looked at in the old one means nothing there.
    fn open(&mut self, form: Form) {
        if self.compared.file.is_none() {
            self.compared.place = 0;
        }
        self.live = Live::default();
        self.form = form;
        self.window = None;
        self.at = None;
        self.task = None;
        self.submit(Keep::Records);
    }

    /// Asks for a simulation, or says what is wrong and keeps the previous one.
    fn submit(&mut self, keep: Keep) {
        match self.form.scenario() {
            Ok(scenario) => {
                self.last_id = self.last_id.wrapping_add(1);
                let id = self.last_id;
                let total = scenario.task_count().saturating_mul(scenario.runs.len() as u64);
                self.messages.clear();
                self.shown = self.form.canonical();
                self.form = self.shown.clone();
                self.run = RunState::Running { done: 0, total };
                self.request = Some(Shared(Rc::new(Request { id, scenario, keep, follows: self.live.keeps_time })));
            }
            Err(messages) => {
                self.messages = messages;
                // A bad link has nothing to keep, so its base runs; the messages stay.
                if self.result.is_none() && self.request.is_none() {
                    let base = match self.form.base() {
                        Base::Preset(name) => Form::preset(name).ok(),
                        Base::Custom => Some(Form::custom(self.form.base_scenario().clone())),
                    };
                    if let Some(base) = base {
                        let (form, messages) = (self.form.clone(), self.messages.clone());
                        self.form = base;
                        if self.form.scenario().is_ok() {
                            self.submit(Keep::Records);
                        }
                        self.form = form;
                        self.messages = messages;
                    }
                }
            }
        }
    }

    fn view(&mut self, axis: Axis) {
        let Some(result) = &self.result else { return };
        let end = result.end_ns();
        self.window = match axis {
            Axis::Opening => None,
            Axis::All => Some(Window::all(end)),
            Axis::Run(run) => result.runs.get(run).map(|run| {
                let to = run.trace.end_ns();
                Window::clamped(0, to.saturating_add(to / 20), end)
            }),
            Axis::Window(window) => Some(Window::clamped(window.from, window.to, end)),
            Axis::Follow(now) => Some(self.window_in_view().follow(now, end)),
        };
    }
}

#[cfg(test)]
mod tests {
    use parkbench_engine::{Simulation, preset};
    use parkbench_trace::Trace;

    use super::super::link::Link;
    use super::super::runs::Finished;
    use super::*;

    fn opened(fragment: &str) -> AppState {
        AppState::from_link(Link::read(fragment), Theme::Auto, Locale::En).after(Action::Submit)
    }

    fn result(name: &str) -> Rc<RunSet> {
        let mut scenario = preset(name).unwrap();
        scenario.tasks[0].count = 40;
        let run = |index| {
            let recording = Simulation::new(&scenario, index).unwrap().run();
            Finished::new(&scenario, index, Trace::new(recording).unwrap(), None).unwrap()
        };
        let runs = (0..scenario.runs.len()).map(run).map(Rc::new).collect();
        Rc::new(RunSet { runs, scenario, wall_us: 0 })
    }

    fn done() -> AppState {
        let state = opened("");
        let id = state.last_id;
        state.after(Action::Finished(id, result("io-bound")))
    }

    #[test]
    fn the_page_opens_with_a_run() {
        let state = opened("");
        assert_eq!(state.run, RunState::Running { done: 0, total: 30_000 });
        assert_eq!(state.request.unwrap().scenario, preset("io-bound").unwrap());
    }

    #[test]
    fn a_bad_link_runs_its_base_and_keeps_its_messages() {
        let state = opened("preset=cpu-bound&cores=0");
        assert_eq!(state.form.text(Field::Cores).as_deref(), Some("0"));
        assert_eq!(state.messages.len(), 1);
        assert_eq!(state.messages[0].field, Some(Field::Cores));
        assert_eq!(state.request.as_ref().unwrap().scenario, preset("cpu-bound").unwrap());
        assert_eq!(state.link(5).write(), "v=1&preset=cpu-bound&t=5ns");
    }

    #[test]
    fn bad_input_keeps_the_previous_run() {
        let before = done();
        let after = before.after(Action::Edit(Field::Cores, "0".to_owned())).after(Action::Submit);
        assert_eq!(after.messages[0].field, Some(Field::Cores));
        assert_eq!((&after.result, &after.run), (&before.result, &before.run));
        let mended = after.after(Action::Edit(Field::Cores, "2".to_owned()));
        assert_eq!(mended.messages, []);
        assert!(matches!(mended.after(Action::Submit).run, RunState::Running { .. }));
    }

    #[test]
    fn late_answers_change_nothing() {
        let state = done().after(Action::Submit);
        let old = state.last_id - 1;
        for action in [
            Action::Progress(old, 1, 2),
            Action::Finished(old, result("io-bound")),
            Action::Failed(old, Broken::other(&"late")),
        ] {
            assert_eq!(state.after(action), state);
        }
        let cancelled = state.after(Action::Cancel);
        assert_eq!(cancelled.run, RunState::Done);
        let id = state.last_id;
        assert_eq!(cancelled.after(Action::Progress(id, 1, 2)), cancelled);
    }

    #[test]
    fn a_failure_keeps_the_previous_run() {
        let state = done().after(Action::Submit);
        let id = state.last_id;
        let broken = Broken::TooManyRecords { run: 0, most: 7 };
        let failed = state.after(Action::Failed(id, broken.clone()));
        assert_eq!(failed.run, RunState::Failed(broken));
        assert!(failed.result.is_some());
        let figures = failed.after(Action::SubmitForFigures);
        assert_eq!(figures.request.unwrap().keep, Keep::Figures);
    }

    #[test]
    fn a_slider_is_followed_whenever_the_last_simulation_has_ended() {
        let slide = |state: &AppState, text: &str| state.after(Action::Slide(Field::Pool, text.to_owned()));
        let first = slide(&done(), "20");
        assert_eq!(first.live, Live { dragging: true, again: false, keeps_time: true });
        assert!(first.request.as_ref().unwrap().follows && !done().request.unwrap().follows);
        assert_eq!(first.request.as_ref().unwrap().scenario.runs[0].size, Some(20));
        let later = slide(&slide(&first, "25"), "30");
        assert_eq!((later.last_id, later.live.again), (first.last_id, true), "the first goes on");
        let id = later.last_id;
        let shown = later.after(Action::Finished(id, result("io-bound")));
        assert_eq!((shown.last_id, shown.live.again), (id + 1, false), "and the last follows");
        assert_ne!(shown.result, later.result, "each is shown");
        assert_eq!(shown.request.as_ref().unwrap().scenario.runs[0].size, Some(30));
        let released = shown.after(Action::SlideEnd).after(Action::Finished(id + 1, result("io-bound")));
        assert_eq!((released.run.clone(), released.live.dragging), (RunState::Done, false));
        assert!(released.live.keeps_time, "the clock stays where it is");
        assert_eq!(released.after(Action::Submit).live, Live::default());
        assert_eq!(released.after(Action::Preset("pinning".to_owned())).live, Live::default());
    }

    #[test]
    fn a_slider_is_followed_past_what_fails_and_not_past_a_cancel() {
        let slide = |state: &AppState, text: &str| state.after(Action::Slide(Field::Pool, text.to_owned()));
        let waiting = slide(&slide(&done(), "20"), "30");
        let id = waiting.last_id;
        let failed = waiting.after(Action::Failed(id, Broken::other(&"out of memory")));
        assert!(matches!(failed.run, RunState::Running { .. }));
        assert_eq!(failed.request.unwrap().scenario.runs[0].size, Some(30));
        let cancelled = waiting.after(Action::Cancel);
        assert_eq!((cancelled.run, cancelled.last_id, cancelled.live.again), (RunState::Done, id, false));
        let wrong = done().after(Action::Edit(Field::Cores, "0".to_owned()));
        let wrong = slide(&wrong, "20");
        assert_eq!((wrong.run, wrong.messages.len()), (RunState::Done, 1), "what is wrong elsewhere is said");
    }

    #[test]
    fn another_preset_opens_at_its_own_still() {
        let state = done().after(Action::View(Axis::All)).after(Action::Select(3));
        assert!(state.window.is_some());
        let state = state.after(Action::Preset("pinning".to_owned()));
        assert_eq!((state.window, state.at, state.task), (None, None, None));
        let unknown = state.after(Action::Preset("nope".to_owned()));
        assert!(unknown.messages[0].text.contains("nope"));
    }

    #[test]
    fn a_comparison_runs_what_it_simulated_and_stands_beside_it() {
        let text = super::super::compared::tests::file().to_string();
        let opened = Opened::read("a.json", text.as_bytes()).unwrap();
        let state = done().after(Action::OpenRefused("no".to_owned())).after(Action::Opened(opened));
        assert_eq!(state.open_error, None);
        let scenario = state.request.as_ref().unwrap().scenario.clone();
        assert_eq!((scenario.machine.cores, scenario.runs.len()), (2, 2));
        // The runs that are still shown are others.
        assert!(state.beside(0).is_none());
        let set = RunSet { runs: Vec::new(), scenario, wall_us: 0 };
        let state = state.after(Action::Finished(state.last_id, Rc::new(set)));
        assert_eq!(state.beside(1).unwrap().variant, "java-virtual");
        assert!(state.after(Action::ComparedClosed).beside(1).is_none());
    }

    #[test]
    fn one_of_several_comparisons_is_shown_at_a_time() {
        let tasks = |state: &AppState| state.request.as_ref().unwrap().scenario.tasks[0].count;
        let file = || {
            let text = super::super::compared::tests::several(3).to_string();
            Action::Opened(Opened::read("a.json", text.as_bytes()).unwrap())
        };
        let link = |state: &AppState| state.link(0).comparison;
        // The first has nothing that could be measured.
        let first = done().after(file());
        assert_eq!((first.compared.place, tasks(&first), link(&first)), (1, 40, 1));
        let third = first.after(Action::Select(3)).after(Action::ComparedChosen(3));
        assert_eq!((third.compared.place, tasks(&third), link(&third), third.task), (3, 42, 3, None));
        assert_eq!(third.after(Action::ComparedChosen(3)), third);
        for nothing in [0, 4, usize::MAX] {
            assert_eq!(third.after(Action::ComparedChosen(nothing)), third, "{nothing}");
        }
        // The address is followed, and another file begins anew.
        let text = third.link(0).write().replace("comparison=4", "comparison=3");
        let followed = third.after(Action::Follow(Box::new(Link::read(&text))));
        assert_eq!((followed.compared.place, tasks(&followed)), (2, 41));
        assert_eq!(third.after(file()).compared.place, 1);
        assert_eq!(link(&third.after(Action::ComparedClosed)), 0);
        // A link tells which one the file opens with, until another scenario is picked.
        let linked = opened("comparison=4");
        assert_eq!((link(&linked), tasks(&linked.after(file()))), (3, 42));
        assert_eq!(link(&linked.after(Action::Preset("pinning".to_owned()))), 0);
    }

    #[test]
    fn the_description_stays_with_its_numbers() {
        let describes = |fragment: &str| opened(fragment).describes_what_is_shown();
        assert!(describes("") && describes("seed=7"));
        assert!(!describes("tasks=50"));
        let custom = |change: fn(&mut Scenario)| {
            let mut scenario = preset("io-bound").unwrap();
            change(&mut scenario);
            done().after(Action::Custom(Box::new(scenario))).describes_what_is_shown()
        };
        assert!(custom(|scenario| scenario.runs.truncate(1)));
        assert!(!custom(|scenario| scenario.tasks[0].count = 9));
        assert!(custom(|scenario| {
            scenario.tasks[0].count = 9;
            scenario.description = "Mine.".to_owned();
        }));
    }

    #[test]
    fn lighting_a_state_twice_lights_all() {
        let state = done().after(Action::Light(TaskState::Blocked));
        assert_eq!(state.lit, Some(TaskState::Blocked));
        assert_eq!(state.after(Action::Light(TaskState::Blocked)).lit, None);
    }

    #[test]
    fn what_is_shown_is_what_is_shared() {
        let state =
            done().after(Action::View(Axis::Window(Window { from: 1_000, to: 2_000 }))).after(Action::Select(7));
        let text = state.link(1_500).write();
        assert_eq!(text, "v=1&preset=io-bound&from=1us&to=2us&t=1.5us&task=7");
        let followed = done().after(Action::Follow(Box::new(Link::read(&text))));
        assert_eq!(followed.link(followed.at.unwrap()).write(), text);
    }
}
