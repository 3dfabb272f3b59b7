//! Playback: the clock, the state of every task at its time, and the canvases and lines that follow it on each frame.
//!
//! Nothing here goes through Yew's diff. Numbers go to subscribers at most ten times a second.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use parkbench_trace::{STATES, StateCursor};
use parkbench_view::palette;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::Callback;

use crate::canvas::grid::Grid;
use crate::clock::{Clock, Speed, Tick};
use crate::platform;
use crate::state::{RunSet, Shared, Window};

/// [ms] Numbers change no more often than this while playing.
const NOTIFY_MS: f64 = 100.0;

/// Steps of the time slider.
pub(crate) const SLIDER_STEPS: u32 = 10_000;

/// What the numbers on the page show.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Snapshot {
    /// [ns] The clock.
    pub now: u64,
    /// [ns] The end of the last run.
    pub end: u64,
    /// Whether time passes.
    pub playing: bool,
    /// [ns per second] The speed in force.
    pub rate: u64,
    /// Whether the speed follows the view.
    pub auto: bool,
    /// Tasks by state, for each run.
    pub counts: Vec<[u32; STATES]>,
}

/// A handle to the one player of the page.
#[derive(Clone)]
pub(crate) struct Player(Rc<RefCell<Inner>>);

impl PartialEq for Player {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// Ends a registration when dropped.
pub(crate) struct Attached {
    player: Weak<RefCell<Inner>>,
    id: u32,
}

struct Inner {
    clock: Clock,
    result: Option<Shared<RunSet>>,
    cursors: Vec<StateCursor>,
    window: Window,
    theme: palette::Theme,
    grids: Vec<(u32, usize, Grid)>,
    lines: Vec<(u32, HtmlElement)>,
    sliders: Vec<(u32, HtmlInputElement)>,
    listeners: Vec<(u32, Callback<Snapshot>)>,
    left_window: Callback<u64>,
    next_id: u32,
    frame: Option<i32>,
    last_frame: Option<f64>,
    last_notice: f64,
    /// The states have to be painted even if no time passed.
    stale: bool,
    on_frame: Option<Closure<dyn FnMut(f64)>>,
}

impl Player {
    /// A player without a result.
    pub(crate) fn new() -> Self {
        let inner = Rc::new(RefCell::new(Inner {
            clock: Clock::default(),
            result: None,
            cursors: Vec::new(),
            window: Window::default(),
            theme: palette::Theme::Light,
            grids: Vec::new(),
            lines: Vec::new(),
            sliders: Vec::new(),
            listeners: Vec::new(),
            left_window: Callback::noop(),
            next_id: 0,
            frame: None,
            last_frame: None,
            last_notice: 0.0,
            stale: true,
            on_frame: None,
        }));
        let weak = Rc::downgrade(&inner);
        inner.borrow_mut().on_frame = Some(Closure::new(move |at| {
            if let Some(inner) = weak.upgrade() {
                Player(inner).frame(at);
            }
        }));
        Self(inner)
    }

    /// Takes up a result and shows its still at this time.
    pub(crate) fn load(&self, result: Shared<RunSet>, at: u64) {
        self.take_up(result, |clock, end| clock.load(end, at));
    }

    /// Takes up another result at the time that the clock has; playing goes on.
    pub(crate) fn exchange(&self, result: Shared<RunSet>) {
        self.take_up(result, Clock::exchange);
    }

    /// Takes up a result; the clock is told where it ends.
    fn take_up(&self, result: Shared<RunSet>, set: impl FnOnce(&mut Clock, u64)) {
        {
            let mut inner = self.0.borrow_mut();
            set(&mut inner.clock, result.end_ns());
            inner.cursors = result.runs.iter().map(|run| StateCursor::new(&run.trace)).collect();
            inner.result = Some(result);
        }
        self.changed();
    }

    /// The part of the axis that lines and slider refer to.
    pub(crate) fn set_window(&self, window: Window) {
        {
            let mut inner = self.0.borrow_mut();
            inner.window = window;
            inner.clock.set_window((window.from, window.to));
        }
        self.changed();
    }

    /// Colours of the grids.
    pub(crate) fn set_theme(&self, theme: palette::Theme) {
        self.0.borrow_mut().theme = theme;
        self.changed();
    }

    /// Only this state is lit.
    pub(crate) fn set_lit(&self, lit: Option<u8>) {
        for (_, _, grid) in &mut self.0.borrow_mut().grids {
            grid.set_lit(lit);
        }
        self.changed();
    }

    /// The task with a ring in every grid.
    pub(crate) fn set_task(&self, task: u32) {
        for (_, _, grid) in &mut self.0.borrow_mut().grids {
            grid.set_task(task);
        }
        self.changed();
    }

    /// Called with the time when playing leaves the window.
    pub(crate) fn on_left_window(&self, callback: Callback<u64>) {
        self.0.borrow_mut().left_window = callback;
    }

    /// [ns] The clock.
    pub(crate) fn now(&self) -> u64 {
        self.0.borrow().clock.now()
    }

    /// Starts or stops.
    pub(crate) fn set_playing(&self, playing: bool) {
        self.0.borrow_mut().clock.set_playing(playing);
        self.changed();
    }

    /// Stops if playing, plays otherwise.
    pub(crate) fn toggle(&self) {
        let playing = self.0.borrow().clock.playing();
        self.set_playing(!playing);
    }

    /// Stops at a time; a time out of view is brought into view.
    pub(crate) fn seek(&self, at: u64) {
        let (callback, now, outside) = {
            let mut inner = self.0.borrow_mut();
            inner.clock.set_playing(false);
            inner.clock.seek(at);
            let now = inner.clock.now();
            let window = inner.window;
            (inner.left_window.clone(), now, now > window.to || now < window.from)
        };
        if outside {
            callback.emit(now);
        }
        self.changed();
    }

    /// Stops at the time of the next or previous event of any run.
    pub(crate) fn step(&self, forward: bool) {
        let target = {
            let inner = self.0.borrow();
            let now = inner.clock.now();
            inner
                .result
                .as_ref()
                .and_then(|result| if forward { result.next_time(now) } else { result.previous_time(now) })
        };
        self.seek(target.unwrap_or(if forward { u64::MAX } else { 0 }));
    }

    /// Chooses the speed.
    pub(crate) fn set_speed(&self, speed: Speed) {
        self.0.borrow_mut().clock.set_speed(speed);
        self.changed();
    }

    /// The numbers now.
    pub(crate) fn snapshot(&self) -> Snapshot {
        self.0.borrow().snapshot()
    }

    /// Paints this grid on every frame, until the answer is dropped.
    pub(crate) fn attach_grid(&self, run: usize, grid: Grid) -> Attached {
        let id = self.take_id();
        self.0.borrow_mut().grids.push((id, run, grid));
        self.changed();
        Attached { player: Rc::downgrade(&self.0), id }
    }

    /// Gives a grid another size.
    pub(crate) fn resize_grid(&self, attached: &Attached, width: f64, height: f64, ratio: f64) {
        if let Some((_, _, grid)) = self.0.borrow_mut().grids.iter_mut().find(|(id, ..)| *id == attached.id) {
            grid.resize(width, height, ratio);
        }
        self.changed();
    }

    /// The task at a place in a grid.
    pub(crate) fn task_at(&self, attached: &Attached, x: f64, y: f64) -> Option<u32> {
        let inner = self.0.borrow();
        inner.grids.iter().find(|(id, ..)| *id == attached.id).and_then(|(_, _, grid)| grid.hit(x, y))
    }

    /// Number of dots in a row of a grid.
    pub(crate) fn grid_columns(&self, attached: &Attached) -> u32 {
        let inner = self.0.borrow();
        inner.grids.iter().find(|(id, ..)| *id == attached.id).map_or(1, |(_, _, grid)| grid.columns())
    }

    /// Moves this element by its own width times the clock's position in the window.
    pub(crate) fn attach_line(&self, line: HtmlElement) -> Attached {
        let id = self.take_id();
        self.0.borrow_mut().lines.push((id, line));
        self.changed();
        Attached { player: Rc::downgrade(&self.0), id }
    }

    /// Keeps this slider at the clock's position in the window.
    pub(crate) fn attach_slider(&self, slider: HtmlInputElement) -> Attached {
        let id = self.take_id();
        self.0.borrow_mut().sliders.push((id, slider));
        self.changed();
        Attached { player: Rc::downgrade(&self.0), id }
    }

    /// Calls back with new numbers, until the answer is dropped.
    pub(crate) fn subscribe(&self, callback: Callback<Snapshot>) -> Attached {
        let id = self.take_id();
        self.0.borrow_mut().listeners.push((id, callback));
        Attached { player: Rc::downgrade(&self.0), id }
    }

    fn take_id(&self) -> u32 {
        let mut inner = self.0.borrow_mut();
        inner.next_id += 1;
        inner.next_id
    }

    /// Something other than time changed: paint and tell at the next frame.
    fn changed(&self) {
        let mut inner = self.0.borrow_mut();
        inner.stale = true;
        inner.last_notice = 0.0;
        inner.request_frame();
    }

    fn frame(&self, at: f64) {
        let tick = {
            let mut inner = self.0.borrow_mut();
            inner.frame = None;
            let passed = inner.last_frame.map_or(0.0, |last| (at - last).max(0.0));
            let tick = inner.clock.advance((passed * 1_000.0) as u64);
            inner.last_frame = inner.clock.playing().then_some(at);
            if inner.stale || tick != Tick::Still {
                inner.paint();
            }
            if inner.clock.playing() {
                inner.request_frame();
            }
            tick
        };
        if tick == Tick::LeftWindow {
            let (callback, now) = {
                let inner = self.0.borrow();
                (inner.left_window.clone(), inner.clock.now())
            };
            callback.emit(now);
        }
        if tick != Tick::Still && tick != Tick::Ended && at - self.0.borrow().last_notice < NOTIFY_MS {
            return;
        }
        let (snapshot, listeners) = {
            let mut inner = self.0.borrow_mut();
            inner.last_notice = at;
            (inner.snapshot(), inner.listeners.clone())
        };
        for (_, listener) in listeners {
            listener.emit(snapshot.clone());
        }
    }
}

impl Inner {
    fn request_frame(&mut self) {
        if self.frame.is_none()
            && let (Some(window), Some(closure)) = (platform::window(), &self.on_frame)
        {
            self.frame = window.request_animation_frame(closure.as_ref().unchecked_ref()).ok();
        }
    }

    fn paint(&mut self) {
        self.stale = false;
        let now = self.clock.now();
        if let Some(result) = &self.result {
            for (cursor, run) in self.cursors.iter_mut().zip(&result.runs) {
                cursor.seek(&run.trace, now);
            }
        }
        for (_, run, grid) in &mut self.grids {
            if let Some(cursor) = self.cursors.get(*run) {
                grid.paint(cursor.states(), self.theme);
            }
        }
        let share = self.window.share(now);
        let place = format!("translateX({:.4}%)", share * 100.0);
        let visible = if (0.0..=1.0).contains(&share) { "visible" } else { "hidden" };
        for (_, line) in &self.lines {
            let style = line.style();
            let _ = style.set_property("transform", &place);
            let _ = style.set_property("visibility", visible);
        }
        let position = (share.clamp(0.0, 1.0) * f64::from(SLIDER_STEPS)).round();
        for (_, slider) in &self.sliders {
            slider.set_value_as_number(position);
        }
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            now: self.clock.now(),
            end: self.clock.end(),
            playing: self.clock.playing(),
            rate: self.clock.rate(),
            auto: self.clock.speed() == Speed::Auto,
            counts: self.cursors.iter().map(StateCursor::counts).collect(),
        }
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        if let Some(inner) = self.player.upgrade() {
            let mut inner = inner.borrow_mut();
            inner.grids.retain(|(id, ..)| *id != self.id);
            inner.lines.retain(|(id, _)| *id != self.id);
            inner.sliders.retain(|(id, _)| *id != self.id);
            inner.listeners.retain(|(id, _)| *id != self.id);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let (Some(frame), Some(window)) = (self.frame, platform::window()) {
            let _ = window.cancel_animation_frame(frame);
        }
    }
}
