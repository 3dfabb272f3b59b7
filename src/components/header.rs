//! The top line: name, scenario picker, what to see, language, theme, link, export.

use parkbench_engine::{PRESET_NAMES, preset};
use parkbench_trace::{Metrics, ResultFile};
use wasm_bindgen_futures::spawn_local;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use crate::hooks::use_app;
use crate::i18n::{Locale, preset_description, preset_title, scenario_title};
use crate::json::pretty;
use crate::platform;
use crate::state::{Action, Base, Theme};

/// What became of the link.
#[derive(Clone, PartialEq)]
enum Copied {
    No,
    Yes,
    /// The clipboard refused; the link is shown to be copied by hand.
    ByHand(String),
}

/// See the module.
#[component]
pub(crate) fn Header() -> Html {
    let app = use_app();
    let (words, locale) = (app.words(), app.locale());
    // The English titles are in the files, which take longer to read than to draw the page.
    let titles = use_memo(locale, |&locale| {
        PRESET_NAMES.map(|name| {
            let own = || preset(name).ok().map(|scenario| scenario.title);
            (name, preset_title(locale, name).map(str::to_owned).or_else(own).unwrap_or_default())
        })
    });
    let copied = use_state_eq(|| Copied::No);
    let field = use_node_ref();
    use_effect_with((*copied).clone(), {
        let field = field.clone();
        move |copied| {
            if let (Copied::ByHand(_), Some(field)) = (copied, field.cast::<HtmlInputElement>()) {
                let _ = field.focus();
                field.select();
            }
        }
    });
    let copy = {
        let (app, copied) = (app.clone(), copied.clone());
        Callback::from(move |_| {
            let fragment = app.state.link(app.player.now()).write();
            platform::replace_fragment(&fragment);
            let (address, copied) = (platform::address_with(&fragment), copied.clone());
            spawn_local(async move {
                copied.set(match platform::copy(&address).await {
                    Ok(()) => Copied::Yes,
                    Err(_) => Copied::ByHand(address),
                });
            });
        })
    };
    let export = {
        let app = app.clone();
        Callback::from(move |_| {
            if let Some(result) = &app.state.result {
                let metrics: Vec<Metrics> = result.runs.iter().map(|run| run.metrics.clone()).collect();
                let mut file = ResultFile::simulated(&result.scenario, &metrics);
                file.runs
                    .extend(result.runs.iter().filter_map(|run| Some(run.label.measured.as_ref()?.result.clone())));
                if let Ok(text) = serde_json::to_string(&file) {
                    let name = format!("{}.json", result.scenario.name);
                    let _ = platform::download(&name, "application/json", &pretty(&text));
                }
            }
        })
    };
    let pick = {
        let dispatch = app.dispatch.clone();
        Callback::from(move |event: Event| {
            if let Some(select) = event.target_dyn_into::<HtmlSelectElement>() {
                dispatch.emit(Action::Preset(select.value()));
            }
        })
    };
    let other = match locale {
        Locale::En => Locale::Ko,
        Locale::Ko => Locale::En,
    };
    let theme = app.state.theme;
    let theme_words = match theme {
        Theme::Auto => words.theme_auto,
        Theme::Light => words.theme_light,
        Theme::Dark => words.theme_dark,
    };
    let current = match app.state.form.base() {
        Base::Preset(name) => name.clone(),
        Base::Custom => String::new(),
    };
    let scenario = app.state.form.base_scenario();
    let translated = preset_description(locale, &current);
    let (description, description_lang) = match translated {
        _ if !app.state.describes_what_is_shown() => (words.describe_changed.to_owned(), None),
        Some(text) => (text.to_owned(), None),
        None => (scenario.description.clone(), (locale == Locale::Ko).then_some("en")),
    };
    html! {
        <header class="top">
            <div class="brand">
                <svg class="mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
                    <rect x="1" y="3" width="4" height="4" rx="1" class="mark-on" />
                    <rect x="7" y="3" width="4" height="4" rx="1" class="mark-off" />
                    <rect x="13" y="3" width="4" height="4" rx="1" class="mark-off" />
                    <rect x="19" y="3" width="4" height="4" rx="1" class="mark-off" />
                    <rect x="1" y="10" width="4" height="4" rx="1" class="mark-on" />
                    <rect x="7" y="10" width="4" height="4" rx="1" class="mark-on" />
                    <rect x="13" y="10" width="4" height="4" rx="1" class="mark-on" />
                    <rect x="19" y="10" width="4" height="4" rx="1" class="mark-on" />
                    <path d="M1 19h22" class="mark-line" />
                </svg>
                <h1>{"Parkbench"}</h1>
            </div>
            <div class="picker">
                <label for="scenario">{words.scenario}</label>
                <select id="scenario" onchange={pick}>
                    { for titles.iter().map(|(name, title)| html! {
                        <option value={*name} selected={*name == current}>{title}</option>
                    }) }
                    if current.is_empty() {
                        <option value="" selected=true>{
                            if scenario.title.is_empty() { words.scenario_custom } else { scenario_title(locale, &scenario.name, &scenario.title) }
                        }</option>
                    }
                </select>
            </div>
            <p class="describe" lang={description_lang}>{description}</p>
            <div class="tools">
                <super::OpenButton />
                <button type="button" class="quiet" lang={other.as_str()} onclick={{
                    let dispatch = app.dispatch.clone();
                    Callback::from(move |_| dispatch.emit(Action::Locale(other)))
                }}>{words.language_other}</button>
                <button type="button" class="quiet" aria-label={theme_words} title={theme_words} onclick={{
                    let dispatch = app.dispatch.clone();
                    Callback::from(move |_| dispatch.emit(Action::Theme(theme.next())))
                }}>
                    { theme_icon(theme) }
                </button>
                <button type="button" class="quiet" onclick={copy}>
                    { if *copied == Copied::Yes { words.link_copied } else { words.link } }
                </button>
                <button type="button" class="quiet" onclick={export} disabled={app.state.result.is_none()}
                    title={app.state.result.is_none().then_some(words.not_yet)}>{words.export}</button>
                <span class="sr" role="status">{ if *copied == Copied::Yes { words.link_copied } else { "" } }</span>
            </div>
            <super::OpenedFiles />
            if let Copied::ByHand(address) = &*copied {
                <div class="by-hand">
                    <label for="link-field">{words.link_manual}</label>
                    <input id="link-field" ref={field} type="text" readonly=true value={address.clone()} />
                    <button type="button" class="quiet" onclick={{
                        let copied = copied.clone();
                        Callback::from(move |_| copied.set(Copied::No))
                    }}>{words.close}</button>
                </div>
            }
        </header>
    }
}

fn theme_icon(theme: Theme) -> Html {
    let shape = match theme {
        Theme::Auto => {
            html! { <><circle cx="8" cy="8" r="6" class="line" /><path d="M8 2a6 6 0 0 1 0 12z" class="fill" /></> }
        }
        Theme::Light => html! { <><circle cx="8" cy="8" r="3" class="fill" />
        <path d="M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13" class="line" /></> },
        Theme::Dark => html! { <path d="M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5z" class="fill" /> },
    };
    html! { <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">{shape}</svg> }
}
