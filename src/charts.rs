//! Drawing the summary charts of `parkbench-view` on a canvas. The only place that knows `plotters-canvas`.
//!
//! The backend has no notion of device pixels, so the canvas is sized in them and text grows with the ratio.

use parkbench_view::Theme;
use parkbench_view::charts::{Bar, LatencyRow, height_for, latency_chart, throughput_chart};
use plotters::prelude::IntoDrawingArea as _;
use plotters_canvas::CanvasBackend;
use web_sys::HtmlCanvasElement;

/// [CSS px] Text in charts.
const TEXT: f64 = 13.0;

/// What to draw.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Chart {
    /// Tasks per second for each run.
    Throughput(Vec<Bar>),
    /// Quantiles for each run.
    Latency(Vec<LatencyRow>),
}

impl Chart {
    fn rows(&self) -> usize {
        match self {
            Self::Throughput(bars) => bars.len(),
            Self::Latency(rows) => rows.len(),
        }
    }

    /// [CSS px] The height that the chart needs.
    pub(crate) fn height(&self) -> u32 {
        height_for(self.rows(), TEXT as u32)
    }

    /// Draws on a canvas of this width, in CSS pixels. A browser without a 2D context shows nothing.
    pub(crate) fn draw(&self, canvas: &HtmlCanvasElement, width: u32, ratio: f64, theme: Theme) {
        let device = |css: u32| (f64::from(css) * ratio).round() as u32;
        canvas.set_width(device(width));
        canvas.set_height(device(self.height()));
        let style = canvas.style();
        let _ = style.set_property("width", &format!("{width}px"));
        let _ = style.set_property("height", &format!("{}px", self.height()));
        let Some(backend) = CanvasBackend::with_canvas_object(canvas.clone()) else { return };
        let root = backend.into_drawing_area();
        let text = (TEXT * ratio).round() as u32;
        let _ = match self {
            Self::Throughput(bars) => throughput_chart(&root, bars, theme, text),
            Self::Latency(rows) => latency_chart(&root, rows, theme, text),
        };
        let _ = root.present();
    }
}
