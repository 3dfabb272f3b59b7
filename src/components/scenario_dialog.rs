//! The scenario as JSON, to edit or to open from a file. It is checked before it runs; the previous run stays until then.

use parkbench_engine::Scenario;
use wasm_bindgen_futures::spawn_local;
use web_sys::{HtmlDialogElement, HtmlInputElement, HtmlTextAreaElement};
use yew::prelude::*;

use crate::hooks::use_app;
use crate::i18n::fill;
use crate::json::pretty;
use crate::platform;
use crate::state::Action;

#[derive(Clone, PartialEq, Properties)]
pub(super) struct Props {
    /// Called when the dialog is closed.
    pub close: Callback<()>,
}

/// See the module.
#[component]
pub(super) fn ScenarioDialog(props: &Props) -> Html {
    let app = use_app();
    let words = app.words();
    let (dialog, area) = (use_node_ref(), use_node_ref());
    let errors = use_state_eq(Vec::<String>::new);
    use_effect_with((dialog.clone(), area.clone()), {
        let state = app.state.clone();
        move |(dialog, area)| {
            let scenario = state.form.scenario().unwrap_or_else(|_| state.form.base_scenario().clone());
            if let Some(area) = area.cast::<HtmlTextAreaElement>() {
                area.set_value(&pretty(&scenario.to_json()));
            }
            if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
                let _ = dialog.show_modal();
            }
        }
    });
    let closed = props.close.reform(|_: Event| ());
    let shut = {
        let dialog = dialog.clone();
        move || {
            if let Some(dialog) = dialog.cast::<HtmlDialogElement>() {
                dialog.close();
            }
        }
    };
    let open = {
        let (area, errors) = (area.clone(), errors.clone());
        Callback::from(move |event: Event| {
            let file = event
                .target_dyn_into::<HtmlInputElement>()
                .and_then(|input| input.files())
                .and_then(|files| files.get(0));
            let Some(file) = file else { return };
            let (area, errors) = (area.clone(), errors.clone());
            spawn_local(async move {
                match platform::read_utf8(&file).await {
                    Ok(Some(text)) => {
                        if let Some(area) = area.cast::<HtmlTextAreaElement>() {
                            area.set_value(&text);
                        }
                        errors.set(Vec::new());
                    }
                    Ok(None) => errors.set(vec![fill(words.not_utf8, &[("name", &file.name())])]),
                    Err(why) => errors.set(vec![format!("{}: {why}", file.name())]),
                }
            });
        })
    };
    let run = {
        let (area, errors, dispatch, shut) = (area.clone(), errors.clone(), app.dispatch.clone(), shut.clone());
        Callback::from(move |_: MouseEvent| {
            let text = area.cast::<HtmlTextAreaElement>().map(|area| area.value()).unwrap_or_default();
            match Scenario::from_json(&text) {
                Ok(scenario) => {
                    dispatch.emit(Action::Custom(Box::new(scenario)));
                    shut();
                }
                Err(error) => {
                    errors.set(error.fields().into_iter().map(|(field, text)| format!("{field}: {text}")).collect());
                }
            }
        })
    };
    let wrong = !errors.is_empty();
    html! {
        <dialog class="scenario" ref={dialog} onclose={closed} aria-labelledby="scenario-title">
            <h2 id="scenario-title">{words.scenario_json}</h2>
            <p id="scenario-help">{words.scenario_json_help}</p>
            <label class="file">{words.open_file}{" "}<input type="file" accept=".json,application/json" onchange={open} /></label>
            <textarea ref={area} id="scenario-json" rows="18" spellcheck="false" aria-label={words.scenario_json}
                aria-invalid={wrong.then_some("true")} aria-describedby="scenario-help scenario-errors" />
            <div class="message" id="scenario-errors" role="status" lang="en">
                { for errors.iter().map(|error| html! { <p>{error}</p> }) }
            </div>
            <div class="actions">
                <button type="button" class="primary" onclick={run}>{words.run_scenario}</button>
                <button type="button" onclick={Callback::from(move |_: MouseEvent| shut())}>{words.close}</button>
            </div>
        </dialog>
    }
}
