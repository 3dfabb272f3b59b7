//! The files that stand beside simulated runs: opened by the button, by dropping one on the page, or by its key; what is
//! wrong with one is said beside the button, and what was shown before stays.

use wasm_bindgen_futures::spawn_local;
use web_sys::{File, HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::hooks::{App, use_app};
use crate::i18n::{fill, scenario_title};
use crate::platform;
use crate::state::{Action, Listed, Opened, RunState};

/// The id of the button, for the key.
pub(crate) const FILE_INPUT: &str = "measured-file";

/// Reads a file and shows what is in it, or says what is wrong with it.
pub(crate) fn open(app: &App, file: File) {
    let (dispatch, words) = (app.dispatch.clone(), app.words());
    spawn_local(async move {
        let name = file.name();
        // A size is a whole number below 2^53.
        let opened = match Opened::refuse_size(file.size() as u64) {
            Some(why) => Err(why),
            None => platform::read_bytes(&file).await.and_then(|bytes| Opened::read(&name, &bytes)),
        };
        dispatch.emit(match opened {
            Ok(opened) => Action::Opened(opened),
            Err(why) => Action::OpenRefused(fill(words.open_wrong, &[("name", &name), ("why", &why)])),
        });
    });
}

/// The button.
#[component]
pub(crate) fn OpenButton() -> Html {
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
    html! {
        <span class="opener" title={words.open_help}>
            // The label is drawn as the button; the input itself takes the focus.
            <input id={FILE_INPUT} class="sr" type="file" onchange={picked}
                aria-invalid={app.state.open_error.as_ref().map(|_| "true")} aria-describedby="open-help measured-status" />
            <label for={FILE_INPUT}>{words.open_measured}</label>
            <span id="open-help" class="sr">{words.open_help}</span>
        </span>
    }
}

/// What is open, and what is wrong with the last file. The region is there before its text is, so that the text is
/// announced.
#[component]
pub(crate) fn OpenedFiles() -> Html {
    let app = use_app();
    let words = app.words();
    let (state, wrong) = (&app.state, app.state.open_error.as_ref());
    let measured = state.measured.set().map(|set| {
        let text = fill(words.measured_shown, &[("name", &set.name), ("n", &set.runs.len().to_string())]);
        let other = (!set.fits(state.scenario_in_view())).then_some(words.measured_other);
        entry(&app, "measured", text, other, || Action::MeasuredClosed)
    });
    let compared = state.compared.file.as_ref().zip(state.compared.set()).map(|(file, set)| {
        let (n, place) = (set.runs.len().to_string(), set.place.text());
        let text = fill(words.compared_shown, &[("name", &file.name), ("n", &n), ("place", &place)]);
        let none = state.run == RunState::Done && (0..set.runs.len()).all(|run| state.beside(run).is_none());
        entry(&app, "compared", text, none.then_some(words.compared_other), || Action::ComparedClosed)
    });
    html! {
        <div class="opened">
            <div id="measured-status" role="status">
                if let Some(wrong) = wrong {
                    <p class="message" lang="en">{wrong}</p>
                }
                { measured.unwrap_or_default() }
                { compared.unwrap_or_default() }
            </div>
            <Chooser />
        </div>
    }
}

/// Which comparison of a file with several is shown. Outside of the status, so that its options are not announced.
#[component]
fn Chooser() -> Html {
    let app = use_app();
    let (words, locale, shown) = (app.words(), app.locale(), app.state.compared.place);
    let Some(file) = app.state.compared.file.as_ref().filter(|file| file.all.len() > 1) else { return Html::default() };
    let pick = {
        let dispatch = app.dispatch.clone();
        Callback::from(move |event: Event| {
            if let Some(place) = event.target_dyn_into::<HtmlSelectElement>().and_then(|list| list.value().parse().ok())
            {
                dispatch.emit(Action::ComparedChosen(place));
            }
        })
    };
    let number = |place: usize| place.saturating_add(1).to_string();
    let option = |(place, listed): (usize, &Listed)| {
        let title = scenario_title(locale, &listed.scenario, &listed.title);
        let name = format!("{}. {title}", number(place));
        let name = if listed.set.is_some() { name } else { fill(words.comparison_none, &[("name", &name)]) };
        html! { <option value={place.to_string()} selected={place == shown} disabled={listed.set.is_none()}>{name}</option> }
    };
    html! {
        <div class="picker">
            <label for="comparison">{words.comparison}</label>
            <select id="comparison" onchange={pick}>{ for file.all.iter().enumerate().map(option) }</select>
            <span class="note">{fill(words.comparison_of, &[("n", &number(shown)), ("all", &file.all.len().to_string())])}</span>
        </div>
    }
}

/// One open file, with a button that puts it away.
fn entry(app: &App, kind: &'static str, text: String, other: Option<&'static str>, close: fn() -> Action) -> Html {
    let (dispatch, words) = (app.dispatch.clone(), app.words());
    let remove = Callback::from(move |_: MouseEvent| {
        dispatch.emit(close());
        platform::focus(FILE_INPUT);
    });
    html! {
        <div class="open" data-opened={kind}>
            <span>{text}</span>
            <button type="button" class="quiet" onclick={remove}>{words.measured_close}</button>
            if let Some(other) = other { <p class="message">{other}</p> }
        </div>
    }
}
