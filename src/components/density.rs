//! One strip per run: tasks by state over time.

use std::rc::Rc;

use parkbench_trace::density;
use parkbench_view::{Surface, Theme, density as picture, format};
use yew::prelude::*;

use super::plot::{Painter, Plot};
use super::{run_name, window_text};
use crate::hooks::use_app;
use crate::i18n::fill;
use crate::state::{RunSet, Window};

/// [CSS px]
const HEIGHT: u32 = 72;

/// The strips of all runs.
#[component]
pub(super) fn DensityStrips() -> Html {
    let app = use_app();
    let words = app.words();
    let window = window_text(&app);
    html! {
        <>
            { for (0..app.state.runs_in_view().len()).map(|run| {
                let name = run_name(&app, run);
                let peak = app.state.result.as_ref().and_then(|result| result.runs.get(run)).map(|run| {
                    let peak = format::count(u64::from(run.metrics.in_flight_peak));
                    fill(words.density_peak, &[("n", &peak)])
                });
                let finished = app.state.result.as_ref().and_then(|result| result.runs.get(run));
                if finished.is_some_and(|run| !run.has_picture()) {
                    return Html::default();
                }
                html! {
                    <div class="track" key={run}>
                        <div class="gutter"><strong>{name.clone()}</strong><span class="detail">{peak.unwrap_or_default()}</span></div>
                        <Plot height={HEIGHT} subject={run as u32} paint={painter(run)}
                            label={fill(words.density_label, &[("model", &name), ("window", &window)])} />
                    </div>
                }
            }) }
        </>
    }
}

fn painter(run: usize) -> Painter {
    Rc::new(move |result: &RunSet, window: Window, theme: Theme, surface: &mut Surface| {
        let (width, height) = (surface.width(), surface.height());
        surface.fill(0..width, 0..height, theme.background());
        let Some(run) = result.runs.get(run) else { return };
        // After the end of the run there is nothing, and the strip stays empty there.
        let end = run.trace.end_ns();
        let shown = if window.to <= end || window.width() == 0 {
            width
        } else if window.from >= end {
            return;
        } else {
            ((window.share(end) * width as f64).ceil() as usize).clamp(1, width)
        };
        picture::paint(surface, &density(&run.trace, window.from, window.to.min(end), shown), theme);
    })
}
