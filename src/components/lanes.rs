//! What each thread did: one lane per thread, at most a few per run, and the rule by which they were chosen.

use std::rc::Rc;

use parkbench_engine::Activity;
use parkbench_view::{Surface, Theme, lanes as picture};
use yew::prelude::*;

use super::plot::{Painter, Plot};
use super::worker_table::WorkerTable;
use super::{run_name, window_text};
use crate::hooks::use_app;
use crate::i18n::{Locale, fill};
use crate::state::{RunSet, Window};

/// [CSS px] Height of a lane with the gap below it.
const LANE: u32 = 14;
/// [CSS px] The gap.
const GAP: u32 = 2;

/// The lanes of all runs.
#[component]
pub(super) fn WorkerLanes() -> Html {
    let app = use_app();
    let (words, locale) = (app.words(), app.locale());
    let window = window_text(&app);
    html! {
        <>
            { for (0..app.state.runs_in_view().len()).map(|index| {
                let name = run_name(&app, index);
                let run = app.state.result.as_ref().and_then(|result| result.runs.get(index));
                let choice = run.map(|run| &run.lanes().1);
                let names: Vec<String> = run.zip(choice).map(|(run, choice)| {
                    choice.shown.iter().filter_map(|&thread| run.trace.thread_info().get(thread as usize))
                        .map(|info| info.name.clone()).collect()
                }).unwrap_or_default();
                let counts = choice.map(|choice| (choice.shown.len().to_string(), choice.total.to_string()));
                let note = choice.zip(counts.as_ref()).map(|(choice, (shown, total))| {
                    fill(words.lanes_of, &[("shown", shown), ("total", total), ("rule", rule(locale, choice.rule))])
                });
                let (shown, total) = counts.unwrap_or_default();
                if run.is_some_and(|run| !run.has_picture()) {
                    return Html::default();
                }
                html! {
                    <div class="lanes" key={index}>
                        <h4>{name.clone()}<span class="detail">{note.unwrap_or_default()}</span></h4>
                        <div class="track">
                            <ul class="gutter names" translate="no">{ for names.iter().map(|name| html! { <li title={name.clone()}>{name}</li> }) }</ul>
                            <Plot height={LANE * names.len().max(1) as u32} subject={index as u32} paint={painter(index)}
                                label={fill(words.lanes_label, &[
                                    ("model", &name), ("shown", &shown), ("total", &total), ("window", &window),
                                ])} />
                        </div>
                        <WorkerTable run={index} />
                    </div>
                }
            }) }
            <p class="hint">
                <span class="swatch overhead" aria-hidden="true"></span>{words.activity_overhead}{" "}
                <span class="swatch waking" aria-hidden="true"></span>{words.activity_waking}{". "}
                {words.activity_legend}
            </p>
            if app.state.runs_in_view().iter().any(|run| run.measured.is_some()) {
                <p class="hint">{words.measured_lanes}</p>
            }
        </>
    }
}

/// The rule in the reader's language; the trace crate has it in English.
fn rule(locale: Locale, rule: &'static str) -> &'static str {
    match (locale, rule) {
        (Locale::Ko, "all threads") => "모든 스레드",
        (Locale::Ko, _) => "작업을 실행하지 않는 스레드, 그다음 실행하거나 막힌 시간이 가장 긴 작업자",
        (Locale::En, rule) => rule,
    }
}

fn painter(run: usize) -> Painter {
    Rc::new(move |result: &RunSet, window: Window, theme: Theme, surface: &mut Surface| {
        let (width, height) = (surface.width(), surface.height());
        surface.fill(0..width, 0..height, theme.background());
        let Some(run) = result.runs.get(run) else { return };
        let (lanes, choice) = run.lanes();
        let count = choice.shown.len().max(1);
        let gap = GAP as usize * surface.unit();
        for (row, &thread) in choice.shown.iter().enumerate() {
            let rows = height * row / count..(height * (row + 1) / count).saturating_sub(gap);
            let mut cells = lanes.columns(thread, window.from, window.to, width);
            // Idle is left empty, so that the eye finds what is not.
            for cell in cells.iter_mut().filter(|cell| cell.spans <= 1 && cell.dominant == Activity::Idle) {
                cell.dominant = Activity::Absent;
            }
            picture::paint(surface, 0, rows, &cells, theme);
        }
    })
}
