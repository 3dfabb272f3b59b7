//! One value for each run, simulated or measured, with a published or measured figure beside it.

use plotters::prelude::{Circle, DrawingBackend};
use plotters::style::Color as _;

use super::{ChartResult, Pen, Root, Scale, axis_bottom, colour, int};
use crate::format::rate;
use crate::palette::Theme;

/// The throughput of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Which run.
    pub label: String,
    /// [1/s] The run's figure.
    pub simulated: f64,
    /// The figure to compare with, where there is one.
    pub reference: Option<Beside>,
}

/// A figure that stands beside that of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// What it is, in a word.
    pub word: String,
    /// [1/s]
    pub value: f64,
}

/// Draws one row per run: label and value above, a bar below, the figure to compare with as an upright line across it.
///
/// Where values differ by more than a factor of 100 the axis is logarithmic; its bars would have no honest length, so
/// there the figure is a dot. `text_px` is the text size in pixels of the backend.
pub fn throughput_chart<DB: DrawingBackend>(
    root: &Root<DB>,
    bars: &[Bar],
    theme: Theme,
    text_px: u32,
) -> ChartResult<DB> {
    let pen = Pen::start(root, theme, text_px)?;
    let values =
        bars.iter().flat_map(|bar| [Some(bar.simulated), bar.reference.as_ref().map(|beside| beside.value)]).flatten();
    let scale = Scale::of(values, pen.width);
    let bottom = axis_bottom(pen.height, pen.text_px);
    pen.axis(scale, bottom, rate)?;
    for (i, bar) in (0..).zip(bars) {
        let rows = int(bars.len());
        let (top, end) = (bottom * i / rows, bottom * (i + 1) / rows);
        let value = match &bar.reference {
            Some(Beside { word, value }) => format!("{} | {word} {}", rate(bar.simulated), rate(*value)),
            None => rate(bar.simulated),
        };
        let top = top + pen.heading(&bar.label, &value, top)?;
        let thick = pen.text_px;
        let x = scale.px(bar.simulated);
        if end - top < thick / 2 {
            continue;
        }
        let end = end.min(top + thick);
        if scale.is_log() {
            let radius = (end - top) * 2 / 5;
            let dot = Circle::new((x, i32::midpoint(top, end)), radius, colour(theme.muted()).filled());
            pen.root.draw(&dot)?;
        } else {
            pen.rectangle((0, x.max(1)), (top, end), theme.muted())?;
        }
        if let Some(beside) = &bar.reference {
            let (x, half) = (scale.px(beside.value), (pen.text_px / 8).max(1));
            pen.rectangle((x - half, x + half), (top - thick / 6, end + thick / 6), theme.text())?;
        }
    }
    Ok(())
}
