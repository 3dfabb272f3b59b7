//! The file of measured runs: opened by its button, by dropping it on the page, or by its key; what is wrong with it is
//! said beside the button, and what was shown before stays.

use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement};
use yew::prelude::*;

use crate::hooks::{App, use_app};
use crate::i18n::fill;
use crate::platform;
use crate::state::{Action, MeasuredSet};

/// The id of the button, for the key.
pub(crate) const FILE_INPUT: &str = "measured-file";

/// Reads a file and shows its runs, or says what is wrong with it.
pub(crate) fn open(app: &App, file: File) {
    let (dispatch, words) = (app.dispatch.clone(), app.words());
    spawn_local(async move {
        let name = file.name();
        let set = match platform::read_bytes(&file).await {
            Ok(bytes) => MeasuredSet::read(&name, &bytes).map_err(|error| error.to_string()),
            Err(why) => Err(why),
        };
        dispatch.emit(match set {
            Ok(set) => Action::Measured(Rc::new(set)),
            Err(why) => Action::MeasuredRefused(fill(words.measured_wrong, &[("name", &name), ("why", &why)])),
        });
    });
}

/// See the module.
#[component]
pub(crate) fn Measured() -> Html {
    let app = use_app();
    let words = app.words();
    let picked = {
        let app = app.clone();
        Callback::from(move |event: Event| {
            let Some(input) = event.target_dyn_into::<HtmlInputElement>() else { return };
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                open(&app, file);
            }
            // The same file can be picked again.
            input.set_value("");
        })
    };
    let remove = {
        let dispatch = app.dispatch.clone();
        Callback::from(move |_: MouseEvent| {
            dispatch.emit(Action::MeasuredClosed);
            platform::focus(FILE_INPUT);
        })
    };
    let set = app.state.measured.set();
    let fits = set.is_none_or(|set| set.fits(app.state.scenario_in_view()));
    let wrong = app.state.measured_error.as_ref();
    html! {
        <div class="measured-file">
            // The label is drawn as the button; the input itself takes the focus.
            <input id={FILE_INPUT} class="sr" type="file" onchange={picked}
                aria-invalid={wrong.map(|_| "true")} aria-describedby="measured-status" />
            <label for={FILE_INPUT}>{words.measured_open}</label>
            <div id="measured-status" role="status">
                if let Some(wrong) = wrong {
                    <p class="message" lang="en">{wrong}</p>
                }
                if let Some(set) = set {
                    <p class="open">
                        <span>{ fill(words.measured_shown, &[("name", &set.name), ("n", &set.runs.len().to_string())]) }</span>
                        <button type="button" class="quiet" onclick={remove}>{words.measured_close}</button>
                    </p>
                    if !fits {
                        <p class="message">{words.measured_other}</p>
                    }
                } else if wrong.is_none() {
                    <p class="hint">{words.measured_help}</p>
                }
            </div>
        </div>
    }
}
