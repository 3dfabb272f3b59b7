//! The playback bar: restart, step, play, the time slider, the speed slider. One clock for all models.

use parkbench_view::format;
use web_sys::HtmlInputElement;
use yew::prelude::*;

use crate::clock::{SPEEDS, Speed, nearest_speed};
use crate::hooks::{use_app, use_snapshot};
use crate::i18n::fill;
use crate::player::SLIDER_STEPS;

#[derive(Clone, PartialEq, Properties)]
pub(crate) struct Props {
    /// Opens the list of keys.
    pub help: Callback<()>,
}

/// See the module.
#[component]
pub(crate) fn Transport(props: &Props) -> Html {
    let app = use_app();
    let words = app.words();
    let snapshot = use_snapshot();
    let window = app.state.window_in_view();
    let slider = use_node_ref();
    use_effect_with((app.player.clone(), slider.clone()), |(player, slider)| {
        let attached = slider.cast::<HtmlInputElement>().map(|slider| player.attach_slider(slider));
        move || drop(attached)
    });
    let ready = app.state.result.is_some();
    let act = |action: fn(&crate::player::Player)| {
        let player = app.player.clone();
        Callback::from(move |_: MouseEvent| action(&player))
    };
    let drag = {
        let player = app.player.clone();
        Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                player.seek(window.at(input.value_as_number() / f64::from(SLIDER_STEPS)));
            }
        })
    };
    let set_speed = {
        let player = app.player.clone();
        Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                player.set_speed(Speed::Fixed(input.value_as_number() as usize));
            }
        })
    };
    let set_auto = {
        let player = app.player.clone();
        let rate = snapshot.rate;
        Callback::from(move |event: Event| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                player.set_speed(if input.checked() { Speed::Auto } else { Speed::Fixed(nearest_speed(rate)) });
            }
        })
    };
    let now = format::duration(snapshot.now);
    let end = format::duration(snapshot.end);
    let time_text = fill(words.time_of, &[("now", &now), ("end", &end)]);
    let rate = format::duration(snapshot.rate);
    let speed_text = fill(if snapshot.auto { words.speed_auto_label } else { words.speed_label }, &[("rate", &rate)]);
    let play_label = if snapshot.playing { words.pause } else { words.play };
    html! {
        <div class="transport" role="group" aria-label={words.transport}>
            <div class="buttons">
                <button type="button" aria-label={words.restart} title={words.restart} disabled={!ready}
                    onclick={act(|player| player.seek(0))}>{icon("M3 3v10M13 3L6 8l7 5z")}</button>
                <button type="button" aria-label={words.step_back} title={words.step_back} disabled={!ready}
                    onclick={act(|player| player.step(false))}>{icon("M10 3L4 8l6 5zM12 3v10")}</button>
                <button type="button" class="primary" id="play" aria-label={play_label} title={play_label} disabled={!ready}
                    onclick={act(crate::player::Player::toggle)}>
                    { if snapshot.playing { icon("M4 3h3v10H4zM9 3h3v10H9z") } else { icon("M4 2.5v11L13 8z") } }
                </button>
                <button type="button" aria-label={words.step_forward} title={words.step_forward} disabled={!ready}
                    onclick={act(|player| player.step(true))}>{icon("M6 3l6 5-6 5zM4 3v10")}</button>
            </div>
            <div class="scrub">
            <span class="edge" aria-hidden="true">{format::duration(window.from)}</span>
            <input ref={slider} id="time" class="time" type="range" min="0" max={SLIDER_STEPS.to_string()} step="1"
                aria-label={words.time} aria-valuetext={time_text} disabled={!ready} oninput={drag} />
            <span class="edge" aria-hidden="true">{format::duration(window.to)}</span>
            </div>
            <p class="clock"><strong>{now}</strong>{" "}<span>{ fill(words.time_end, &[("end", &end)]) }</span></p>
            <div class="speed">
                <label for="speed">{words.speed}</label>
                <input id="speed" type="range" min="0" max={(SPEEDS.len() - 1).to_string()} step="1"
                    value={nearest_speed(snapshot.rate).to_string()} aria-valuetext={speed_text} disabled={!ready}
                    oninput={set_speed} />
                <output for="speed">{ fill(words.speed_label, &[("rate", &rate)]) }</output>
                <label class="check"><input type="checkbox" checked={snapshot.auto} onchange={set_auto} />{words.speed_auto}</label>
                <button type="button" class="quiet help-button" onclick={props.help.reform(|_: MouseEvent| ())}>{words.shortcuts}</button>
            </div>
        </div>
    }
}

fn icon(path: &'static str) -> Html {
    html! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true"><path d={path} class="both" /></svg>
    }
}
