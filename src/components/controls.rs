//! The parameters: one control per field with its message beside it, run, cancel, reset, progress.

use parkbench_engine::{Blocking, Dispatcher, Flavor, PoolKind, Rejection};
use parkbench_view::format;
use web_sys::{HtmlInputElement, HtmlSelectElement};
use yew::prelude::*;

use super::scenario_dialog::ScenarioDialog;
use crate::hooks::{App, use_app};
use crate::i18n::{Locale, Strings, blocking, dispatcher, fill, flavor, pool_kind, rejection};
use crate::state::{Absence, Action, Field, NO_LIMIT, RunState, Slide};
use crate::worker::Broken;

const MODELS: [Field; 15] = [
    Field::PoolKind,
    Field::Pool,
    Field::Queue,
    Field::Rejection,
    Field::Green,
    Field::Jdk,
    Field::Carriers,
    Field::MaxPool,
    Field::MinRunnable,
    Field::Workers,
    Field::Coroutine,
    Field::Dispatcher,
    Field::Parallelism,
    Field::Flavor,
    Field::Blocking,
];

/// See the module.
#[component]
pub(crate) fn Controls() -> Html {
    let app = use_app();
    let words = app.words();
    let editing = use_state_eq(|| false);
    // Only narrow pages fold the form away; wide ones always show it.
    let open = use_state_eq(|| false);
    let submit = {
        let dispatch = app.dispatch.clone();
        Callback::from(move |event: SubmitEvent| {
            event.prevent_default();
            dispatch.emit(Action::Submit);
        })
    };
    let emit = |action: fn() -> Action| {
        let dispatch = app.dispatch.clone();
        Callback::from(move |_: MouseEvent| dispatch.emit(action()))
    };
    // While a slider is dragged, simulations come and go too fast for a button that changes with them.
    let running = matches!(app.state.run, RunState::Running { .. }) && !app.state.live.dragging;
    html! {
        <>
        <button type="button" class="drawer-button" aria-expanded={open.to_string()} aria-controls="parameters" onclick={{
            let open = open.clone();
            Callback::from(move |_| open.set(!*open))
        }}>{ if *open { words.parameters_hide } else { words.parameters_show } }</button>
        <form id="parameters" class={classes!("controls", (*open || !app.state.messages.is_empty()).then_some("open"))} aria-label={words.controls} onsubmit={submit} novalidate=true>
            { group(words.workload, [Field::Tasks, Field::Wait, Field::Cpu].map(|field| control(&app, field))) }
            { group(words.machine, [control(&app, Field::Cores)]) }
            { group(words.models, MODELS.map(|field| control(&app, field))) }
            { group(words.simulation, [Field::Seed, Field::Profile].map(|field| control(&app, field))) }
            <div class="actions">
                // Two buttons and not one: a button that turns into the other in the middle of a click submits the form.
                if running {
                    <button key="cancel" type="button" class="primary" id="cancel" onclick={emit(|| Action::Cancel)}>{words.cancel}</button>
                } else {
                    <button key="run" type="submit" class="primary" id="run">{words.run}</button>
                }
                <button type="button" onclick={emit(|| Action::Reset)} disabled={!app.state.form.is_changed()}
                    title={(!app.state.form.is_changed()).then_some(words.reset_nothing)}>{words.reset}</button>
            </div>
            <Status />
            <button type="button" class="quiet wide" onclick={{
                let editing = editing.clone();
                Callback::from(move |_| editing.set(true))
            }}>{words.edit_scenario}</button>
            if *editing {
                <ScenarioDialog close={{
                    let editing = editing.clone();
                    Callback::from(move |()| editing.set(false))
                }} />
            }
        </form>
        </>
    }
}

fn group<const N: usize>(legend: &'static str, controls: [Html; N]) -> Html {
    html! { <fieldset><legend>{legend}</legend>{ for controls }</fieldset> }
}

fn label(words: &Strings, field: Field) -> &'static str {
    match field {
        Field::Tasks => words.field_tasks,
        Field::Wait => words.field_wait,
        Field::Cpu => words.field_cpu,
        Field::Cores => words.field_cores,
        Field::PoolKind => words.field_pool_kind,
        Field::Pool => words.field_pool,
        Field::Queue => words.field_queue,
        Field::Rejection => words.field_rejection,
        Field::Green => words.field_green,
        Field::Jdk => words.field_jdk,
        Field::Carriers => words.field_carriers,
        Field::MaxPool => words.field_max_pool,
        Field::MinRunnable => words.field_min_runnable,
        Field::Workers => words.field_workers,
        Field::Coroutine => words.field_coroutine,
        Field::Flavor => words.field_flavor,
        Field::Dispatcher => words.field_dispatcher,
        Field::Parallelism => words.field_parallelism,
        Field::Blocking => words.field_blocking,
        Field::Seed => words.field_seed,
        Field::Profile => words.field_profile,
    }
}

fn control(app: &App, field: Field) -> Html {
    let (words, form, id) = (app.words(), &app.state.form, field.key());
    let message = app.state.messages.iter().find(|message| message.field == Some(field));
    let changed = form.changes().any(|(known, _)| known == field);
    let note_id = format!("{id}-note");
    let text = form.text(field);
    let class = form.class().filter(|_| matches!(field, Field::Tasks | Field::Wait | Field::Cpu));
    let label = match class {
        Some(class) => format!("{}: {class}", label(words, field)),
        None => label(words, field).to_owned(),
    };
    let hint = match (field, form.absence(field)) {
        (_, Some(absence)) => Some(why_absent(words, absence).to_owned()),
        (Field::Tasks, None) => class.map(|class| {
            let all = form.scenario().map_or_else(|_| form.base_scenario().task_count(), |all| all.task_count());
            fill(words.hint_class, &[("class", class), ("n", &format::count(all))])
        }),
        (Field::Wait, None) => Some(words.hint_wait.to_owned()),
        (Field::Cpu, None) => Some(words.hint_cpu.to_owned()),
        (Field::Queue | Field::Parallelism, None) => Some(words.hint_queue.to_owned()),
        _ => None,
    };
    let disabled = text.is_none();
    let text = text.unwrap_or_default();
    let invalid = message.is_some().then_some("true");
    let described = (message.is_some() || hint.is_some()).then(|| note_id.clone());
    let slider = Slide::of(field, &text).map(|slide| slider(app, field, &slide));
    let dispatch = app.dispatch.clone();
    let input = if let Some(choices) = field.choices() {
        let change = Callback::from(move |event: Event| {
            if let Some(select) = event.target_dyn_into::<HtmlSelectElement>() {
                dispatch.emit(Action::Edit(field, select.value()));
            }
        });
        let unknown = !disabled && !choices.contains(&text.as_str());
        html! {
            <select key="input" {id} onchange={change} {disabled} aria-invalid={invalid} aria-describedby={described}>
                if disabled { <option value="" selected=true>{"–"}</option> }
                if unknown { <option value={text.clone()} selected=true>{text.clone()}</option> }
                { for choices.into_iter().map(|choice| html! {
                    <option value={choice} selected={choice == text}>{choice_text(app.locale(), field, choice)}</option>
                }) }
            </select>
        }
    } else {
        let typed = Callback::from(move |event: InputEvent| {
            if let Some(input) = event.target_dyn_into::<HtmlInputElement>() {
                let text = input.value();
                let none = text == words.no_limit;
                dispatch.emit(Action::Edit(field, if none { NO_LIMIT.to_owned() } else { text }));
            }
        });
        let text = if text == NO_LIMIT { words.no_limit.to_owned() } else { text };
        let mode = if matches!(field, Field::Wait | Field::Cpu | Field::Queue | Field::Parallelism) {
            "text"
        } else {
            "numeric"
        };
        html! {
            <input key="input" {id} type="text" inputmode={mode} autocomplete="off" spellcheck="false" value={text} {disabled}
                oninput={typed} aria-invalid={invalid} aria-describedby={described} />
        }
    };
    html! {
        <div class={classes!("field", changed.then_some("changed"), message.is_some().then_some("wrong"))}>
            <label for={id}>{label}</label>
            // The same element with and without a slider, so that the field keeps the focus.
            <div class={classes!(slider.is_some().then_some("slide"))}>{input}{ for slider }</div>
            if let Some(message) = message {
                <p class="message" id={note_id} lang="en">{&message.text}</p>
            } else if let Some(hint) = hint {
                <p class="hint" id={note_id}>{hint}</p>
            }
        </div>
    }
}

/// Changes the field as it is dragged, and simulates meanwhile.
fn slider(app: &App, field: Field, slide: &Slide) -> Html {
    let dispatch = app.dispatch.clone();
    let dragged = {
        let slide = slide.clone();
        Callback::from(move |event: InputEvent| {
            let place = event.target_dyn_into::<HtmlInputElement>().and_then(|input| input.value().parse().ok());
            if let Some(place) = place {
                dispatch.emit(Action::Slide(field, slide.text(place)));
            }
        })
    };
    let dispatch = app.dispatch.clone();
    let released = Callback::from(move |_: Event| dispatch.emit(Action::SlideEnd));
    html! {
        <input key="slide" id={format!("{}-slide", field.key())} type="range" min="0" max={slide.last().to_string()} step="1"
            value={slide.place().to_string()} oninput={dragged} onchange={released}
            aria-label={fill(app.words().field_slide, &[("field", label(app.words(), field))])}
            aria-valuetext={slide.text(slide.place())} />
    }
}

const fn why_absent(words: &Strings, absence: Absence) -> &'static str {
    match absence {
        Absence::Varies => words.absent_varies,
        Absence::Model => words.absent_model,
        Absence::FixedPool => words.absent_fixed,
        Absence::Java => words.absent_java,
        Absence::Kotlin => words.absent_kotlin,
        Absence::NoView => words.absent_view,
        Absence::Tokio => words.absent_tokio,
        Absence::Workers => words.absent_workers,
    }
}

/// Names of runtimes, versions and profiles are the same in every language.
fn choice_text(locale: Locale, field: Field, choice: &'static str) -> String {
    fn of<T: Copy>(
        all: &[T],
        word: fn(T) -> &'static str,
        choice: &'static str,
        text: impl Fn(T) -> &'static str,
    ) -> String {
        all.iter().copied().find(|&item| word(item) == choice).map_or(choice, text).to_owned()
    }
    match (field, choice) {
        (Field::Green, "java") => "Java".to_owned(),
        (Field::Green, "go") => "Go".to_owned(),
        (Field::Coroutine, "kotlin") => "Kotlin".to_owned(),
        (Field::Jdk, choice) => format!("Java {choice}"),
        (Field::Dispatcher, "default") => dispatcher(Dispatcher::Default).to_owned(),
        (Field::Dispatcher, "io") => dispatcher(Dispatcher::Io).to_owned(),
        (Field::Dispatcher, "event-loop") => dispatcher(Dispatcher::EventLoop).to_owned(),
        (Field::PoolKind, _) => of(&PoolKind::ALL, PoolKind::as_str, choice, |item| pool_kind(locale, item)),
        (Field::Rejection, _) => of(&Rejection::ALL, Rejection::as_str, choice, |item| rejection(locale, item)),
        (Field::Flavor, _) => of(&Flavor::ALL, Flavor::as_str, choice, |item| flavor(locale, item)),
        (Field::Blocking, _) => of(&Blocking::ALL, Blocking::as_str, choice, |item| blocking(locale, item)),
        (_, choice) => choice.to_owned(),
    }
}

/// Progress and outcome; takes the same space in every state.
#[component]
fn Status() -> Html {
    let app = use_app();
    let words = app.words();
    let changed = app.state.form.canonical() != app.state.shown;
    let (value, text) = match &app.state.run {
        RunState::Running { done, total } if !app.state.live.dragging => {
            let share = if *total == 0 { 0.0 } else { *done as f64 / *total as f64 };
            (Some(share), fill(words.running, &[("percent", &format!("{:.0} %", share * 100.0))]))
        }
        RunState::Failed(why) => (None, fill(words.failed, &[("why", &why.to_string())])),
        _ if !app.state.messages.is_empty() => {
            (None, fill(words.errors, &[("n", &app.state.messages.len().to_string())]))
        }
        RunState::Idle => (None, words.cancelled.to_owned()),
        RunState::Done if changed && !app.state.live.dragging => (None, words.changed.to_owned()),
        RunState::Done | RunState::Running { .. } => {
            let ran = app.state.result.as_ref().map(|result| {
                let ms = format::duration(result.wall_us.saturating_mul(1_000));
                fill(words.ran, &[("ms", &ms), ("seed", &result.scenario.seed.to_string())])
            });
            (None, ran.unwrap_or_default())
        }
    };
    html! {
        <div class="status">
            <progress max="1" value={value.unwrap_or(0.0).to_string()} class={classes!(value.is_none().then_some("unused"))}
                aria-label={words.simulation} />
            <p role="status">{text}</p>
            if matches!(app.state.run, RunState::Failed(Broken::TooManyRecords { .. })) {
                <button type="button" id="figures-only" onclick={{
                    let dispatch = app.dispatch.clone();
                    Callback::from(move |_: MouseEvent| dispatch.emit(Action::SubmitForFigures))
                }}>{words.figures_only}</button>
            }
        </div>
    }
}
