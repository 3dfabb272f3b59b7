//! Summary charts for a few runs, drawn with `plotters` on any backend.
//!
//! Only text, lines, rectangles and circles at whole pixels: nothing asks the backend for the size of a text, because
//! in a browser that lays the page out again for each label. Bars and marks are grey, since colour means a task state.

mod latency;
mod scale;
mod throughput;

use plotters::coord::Shift;
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, DrawingBackend, IntoFont, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, RGBColor};

pub use latency::{LatencyRow, latency_chart};
pub use throughput::{Bar, Beside, throughput_chart};

use crate::palette::{Rgb, Theme};
use scale::Scale;

/// Where a chart can be drawn.
pub type Root<DB> = DrawingArea<DB, Shift>;

/// What a backend may answer.
pub type ChartResult<DB> = Result<(), DrawingAreaErrorKind<<DB as DrawingBackend>::ErrorType>>;

/// [px] The height at which a chart of `rows` runs has room for everything, at this text size.
pub fn height_for(rows: usize, text_px: u32) -> u32 {
    let line = line(int(text_px)).unsigned_abs();
    int(rows).unsigned_abs().max(1).saturating_mul(line * 3).saturating_add(line * 2)
}

/// [px] From one line of text to the next.
const fn line(text_px: i32) -> i32 {
    text_px + text_px / 2
}

/// [px] About as wide as a text gets in the system's font; generous, because nobody measures.
fn width_of(text: &str, text_px: i32) -> i32 {
    (text.chars().map(|c| if c.is_ascii() { 0.58 } else { 1.05 }).sum::<f64>() * f64::from(text_px)).ceil() as i32
}

/// A chart's area, text size and colours; every drawing call goes through it.
struct Pen<DB: DrawingBackend> {
    root: Root<DB>,
    theme: Theme,
    text_px: i32,
    width: i32,
    height: i32,
}

impl<DB: DrawingBackend> Pen<DB> {
    /// Clears the area and leaves a margin, so that marks at the edges are whole.
    fn start(root: &Root<DB>, theme: Theme, text_px: u32) -> Result<Self, DrawingAreaErrorKind<DB::ErrorType>> {
        root.fill(&colour(theme.background()))?;
        let text_px = int(text_px).max(6);
        let (width, height) = root.dim_in_pixel();
        let margin = (text_px / 2).min(int(width.min(height)) / 4);
        let root = root.margin(margin, margin, margin, margin);
        let (width, height) = root.dim_in_pixel();
        Ok(Self { root, theme, text_px, width: int(width), height: int(height) })
    }

    fn line_height(&self) -> i32 {
        line(self.text_px)
    }

    fn text(&self, text: &str, at: (i32, i32), anchor: HPos, ink: Rgb) -> ChartResult<DB> {
        let font = ("sans-serif", self.text_px).into_font();
        let style = font.color(&colour(ink)).pos(Pos::new(anchor, VPos::Top));
        self.root.draw_text(text, &style, at)
    }

    fn rectangle(&self, x: (i32, i32), y: (i32, i32), ink: Rgb) -> ChartResult<DB> {
        if x.1 <= x.0 || y.1 <= y.0 {
            return Ok(());
        }
        self.root.draw(&Rectangle::new([(x.0, y.0), (x.1, y.1)], colour(ink).filled()))
    }

    /// A label at the left and a value at the right of one line, or on two lines where they would touch.
    /// Returns the height used.
    fn heading(&self, label: &str, value: &str, y: i32) -> Result<i32, DrawingAreaErrorKind<DB::ErrorType>> {
        let together = width_of(label, self.text_px) + width_of(value, self.text_px) + self.text_px;
        self.text(label, (0, y), HPos::Left, self.theme.text())?;
        if together <= self.width {
            self.text(value, (self.width, y), HPos::Right, self.theme.text())?;
            return Ok(self.line_height());
        }
        self.text(value, (0, y + self.line_height()), HPos::Left, self.theme.text())?;
        Ok(2 * self.line_height())
    }

    /// Vertical grid lines with their labels under them; a label that would touch the one before is left out.
    fn axis(&self, scale: Scale, bottom: i32, print: impl Fn(f64) -> String) -> ChartResult<DB> {
        let gap = self.text_px;
        let y = bottom + self.text_px / 3;
        let (mut free_from, mut free_to) = (i32::MIN, self.width);
        if scale.is_log() {
            self.text("log scale", (self.width, y), HPos::Right, self.theme.muted())?;
            free_to -= width_of("log scale", self.text_px) + gap;
        }
        for value in scale.ticks() {
            let x = scale.px(value).min(self.width - 1);
            self.rectangle((x, x + 1), (0, bottom), self.theme.hairline())?;
            let text = without_zeros(&print(value));
            let width = width_of(&text, self.text_px);
            let left = (x - width / 2).min(self.width - width).max(0);
            if left >= free_from && left + width <= free_to {
                self.text(&text, (left, y), HPos::Left, self.theme.muted())?;
                free_from = left + width + gap;
            }
        }
        Ok(())
    }
}

/// `10.0 s` as `10 s`: a tick is a round number and needs no digits to say so.
fn without_zeros(text: &str) -> String {
    match text.split_once(' ') {
        Some((number, unit)) if number.contains('.') => {
            format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => text.to_owned(),
    }
}

/// [px] Top of the axis labels: a bit more than a line above the lower edge.
fn axis_bottom(height: i32, text_px: i32) -> i32 {
    (height - line(text_px) - text_px / 3).max(0)
}

/// A size as plotters counts; no picture is so large that it matters where it ends.
fn int(n: impl TryInto<i32>) -> i32 {
    n.try_into().unwrap_or(1 << 20).min(1 << 20)
}

fn colour(rgb: Rgb) -> RGBColor {
    RGBColor(rgb.0, rgb.1, rgb.2)
}
