//! Median, 95th and 99th percentile of each run on one axis.

use plotters::prelude::{Circle, DrawingBackend};
use plotters::style::Color as _;

use super::{ChartResult, Pen, Root, Scale, axis_bottom, colour, int};
use crate::format::duration;
use crate::palette::Theme;

/// The quantiles of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatencyRow {
    /// Which run.
    pub label: String,
    /// [ns] Median.
    pub p50: u64,
    /// [ns] 95th percentile.
    pub p95: u64,
    /// [ns] 99th percentile.
    pub p99: u64,
}

/// Draws one row per run: label and the three figures above; below a line from p50 to p99 with a filled dot at p50, an
/// upright line at p95 and a ring at p99. Logarithmic where values differ by more than a factor of 100.
pub fn latency_chart<DB: DrawingBackend>(
    root: &Root<DB>,
    rows: &[LatencyRow],
    theme: Theme,
    text_px: u32,
) -> ChartResult<DB> {
    let pen = Pen::start(root, theme, text_px)?;
    let scale = Scale::of(rows.iter().flat_map(|row| [row.p50, row.p95, row.p99]).map(|ns| ns as f64), pen.width);
    let bottom = axis_bottom(pen.height, pen.text_px);
    pen.axis(scale, bottom, |ns| duration(ns.round() as u64))?;
    for (i, row) in (0..).zip(rows) {
        let count = int(rows.len());
        let (top, end) = (bottom * i / count, bottom * (i + 1) / count);
        let value = format!("p50 {}, p95 {}, p99 {}", duration(row.p50), duration(row.p95), duration(row.p99));
        let top = top + pen.heading(&row.label, &value, top)?;
        let thick = pen.text_px;
        if end - top < thick / 2 {
            continue;
        }
        let end = end.min(top + thick);
        let (middle, unit) = (i32::midpoint(top, end), (pen.text_px / 10).max(1));
        let [x50, x95, x99] = [row.p50, row.p95, row.p99].map(|ns| scale.px(ns as f64));
        pen.rectangle((x50, x99), (middle - unit, middle + unit), theme.muted())?;
        pen.rectangle((x95 - unit, x95 + unit), (top, end), theme.text())?;
        let ring =
            Circle::new((x99, middle), (end - top) * 2 / 5, colour(theme.text()).stroke_width(unit.unsigned_abs()));
        pen.root.draw(&ring)?;
        pen.root.draw(&Circle::new((x50, middle), (end - top) / 4, colour(theme.muted()).filled()))?;
    }
    Ok(())
}
