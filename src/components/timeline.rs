//! The time axis in view with everything drawn on it: ruler, densities, lanes, and the buttons that move the view.

use web_sys::{HtmlElement, WheelEvent};
use yew::prelude::*;

use super::density::DensityStrips;
use super::lanes::WorkerLanes;
use super::overview::Overview;
use super::ruler::Ruler;
use super::window_text;
use crate::hooks::{use_app, use_wheel};
use crate::state::{Action, Axis};

/// See the module.
#[component]
pub(crate) fn Timeline() -> Html {
    let app = use_app();
    let words = app.words();
    let host = use_node_ref();
    let window = app.state.window_in_view();
    let end = app.state.result.as_ref().map_or(0, |result| result.end_ns());
    let turned = {
        let (dispatch, host) = (app.dispatch.clone(), host.clone());
        use_callback((window, end), move |event: WheelEvent, &(window, end)| {
            // The wheel alone scrolls the page.
            if !event.ctrl_key() && !event.meta_key() {
                return;
            }
            event.prevent_default();
            let plot = host.cast::<HtmlElement>().and_then(|host| host.query_selector(".plot").ok().flatten());
            let Some(place) = plot.map(|plot| plot.get_bounding_client_rect()) else { return };
            let share = (f64::from(event.client_x()) - place.left()) / place.width().max(1.0);
            let numerator = if event.delta_y() > 0.0 { 1_250 } else { 800 };
            dispatch.emit(Action::View(Axis::Window(window.zoom(window.at(share), numerator, end))));
        })
    };
    use_wheel(&host, turned);
    let view = |axis: Axis| {
        let dispatch = app.dispatch.clone();
        Callback::from(move |_: MouseEvent| dispatch.emit(Action::View(axis)))
    };
    let around = |numerator: u64| {
        let (dispatch, player) = (app.dispatch.clone(), app.player.clone());
        Callback::from(move |_: MouseEvent| {
            dispatch.emit(Action::View(Axis::Window(window.zoom(player.now(), numerator, end))));
        })
    };
    let opening = app.state.result.as_ref().map(|result| result.opening_window());
    let is_opening = opening == Some(window);
    let is_all = window.from == 0 && window.to == end;
    html! {
        <section class="timeline" aria-labelledby="timeline-title">
            <div class="bar">
                <h2 id="timeline-title">{words.timeline}</h2>
                <div class="segments" role="group" aria-label={words.timeline}>
                    <button type="button" aria-pressed={is_opening.to_string()} onclick={view(Axis::Opening)}>{words.view_opening}</button>
                    <button type="button" aria-pressed={(is_all && !is_opening).to_string()} onclick={view(Axis::All)}>{words.view_all}</button>
                </div>
                <div class="segments" role="group" aria-label={words.key_zoom}>
                    <button type="button" aria-label={words.pan_left} title={words.pan_left}
                        onclick={view(Axis::Window(window.pan(-500, end)))}>{"←"}</button>
                    <button type="button" aria-label={words.zoom_out} title={words.zoom_out} onclick={around(2_000)}>{"−"}</button>
                    <button type="button" aria-label={words.zoom_in} title={words.zoom_in} onclick={around(500)}>{"+"}</button>
                    <button type="button" aria-label={words.pan_right} title={words.pan_right}
                        onclick={view(Axis::Window(window.pan(500, end)))}>{"→"}</button>
                </div>
                <p class="range">{window_text(&app)}</p>
                <p class="hint help">{words.timeline_help}</p>
            </div>
            <div class="tracks" ref={host}>
                <Overview />
                <Ruler />
                <h3>{words.density}</h3>
                <DensityStrips />
                <h3>{words.workers}</h3>
                <WorkerLanes />
            </div>
        </section>
    }
}
