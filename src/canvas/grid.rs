//! The task grid on its canvas: paints all dots, dims what is not lit, keeps the ring on the selected task.

use parkbench_view::{GridLayout, Theme, grid};
use web_sys::{HtmlCanvasElement, HtmlElement};

use super::Surface;

/// How much of a dot's colour is left where another state is lit, of 255.
const DIMMED: u8 = 40;

/// One grid.
pub(crate) struct Grid {
    surface: Surface,
    ring: HtmlElement,
    layout: GridLayout,
    ratio: f64,
    tasks: usize,
    lit: Option<u8>,
    task: u32,
}

impl Grid {
    /// A grid of this many tasks on a canvas, with an element that marks the selected task.
    pub(crate) fn new(canvas: HtmlCanvasElement, ring: HtmlElement, tasks: usize, task: u32, lit: Option<u8>) -> Self {
        Self { surface: Surface::new(canvas), ring, layout: GridLayout::fit(tasks, 0, 0), ratio: 1.0, tasks, lit, task }
    }

    /// Sets the size in CSS pixels and the ratio of device to CSS pixels. The canvas takes only what the dots need.
    pub(crate) fn resize(&mut self, width: f64, height: f64, ratio: f64) {
        let device = |css: f64| (css * ratio).floor().max(0.0) as usize;
        let roomy = GridLayout::fit(self.tasks, device(width), device(height));
        // A square wherever that costs no dot its size, for 100 x 100 can be counted.
        let side = (roomy.columns * roomy.rows).isqrt() * roomy.cell;
        let square = GridLayout::fit(self.tasks, side, side);
        let (width, height) = if square.cell == roomy.cell && square.tasks_per_dot == roomy.tasks_per_dot {
            (side, side)
        } else {
            (roomy.columns * roomy.cell, roomy.rows * roomy.cell)
        };
        self.layout = GridLayout::fit(self.tasks, width, height);
        self.ratio = ratio;
        self.surface.resize(self.layout.width as u32, self.layout.height as u32, ratio);
        self.place_ring();
    }

    /// Only this state is lit.
    pub(crate) fn set_lit(&mut self, lit: Option<u8>) {
        self.lit = lit;
    }

    /// The task with the ring.
    pub(crate) fn set_task(&mut self, task: u32) {
        self.task = task;
        self.place_ring();
    }

    /// Paints these states.
    pub(crate) fn paint(&mut self, states: &[u8], theme: Theme) {
        if self.layout.width == 0 || self.layout.height == 0 {
            return;
        }
        grid::paint(self.surface.pixels(), &self.layout, states, theme);
        if let Some(lit) = self.lit {
            self.dim(states, lit);
        }
        self.surface.put();
    }

    /// The task at a place in CSS pixels.
    pub(crate) fn hit(&self, x: f64, y: f64) -> Option<u32> {
        self.layout.hit(x * self.ratio, y * self.ratio)
    }

    /// Tasks from one row to the next.
    pub(crate) fn columns(&self) -> u32 {
        (self.layout.columns * self.layout.tasks_per_dot).max(1) as u32
    }

    /// Lets the page shine through every dot in another state.
    fn dim(&mut self, states: &[u8], lit: u8) {
        let layout = self.layout;
        let width = layout.width;
        let pixels = self.surface.pixels();
        for (dot, tasks) in states.chunks(layout.tasks_per_dot).enumerate() {
            if tasks.contains(&lit) {
                continue;
            }
            let left = layout.left + dot % layout.columns * layout.cell;
            let top = layout.top + dot / layout.columns * layout.cell;
            for y in top..top + layout.cell {
                let row = (y * width + left) * 4;
                if let Some(row) = pixels.get_mut(row..row + layout.cell * 4) {
                    row.as_chunks_mut::<4>().0.iter_mut().for_each(|pixel| pixel[3] = DIMMED);
                }
            }
        }
    }

    fn place_ring(&self) {
        if self.layout.cell == 0 || self.layout.width == 0 {
            return;
        }
        let (x, y) = self.layout.dot_at(self.task);
        let css = |device: usize| device as f64 / self.ratio;
        let size = css(self.layout.dot);
        // The ring is 11 CSS px wide and sits around the middle of the dot.
        let place = format!("translate({}px, {}px)", css(x) + size / 2.0 - 5.5, css(y) + size / 2.0 - 5.5);
        let _ = self.ring.style().set_property("transform", &place);
    }
}
