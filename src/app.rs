//! The root component: owns the state, the player and the simulator, and connects them to the address and to keys.

use std::rc::Rc;

use parkbench_engine::MAX_RECORDS;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use crate::components::{
    Columns, Controls, FILE_INPUT, Header, Legend, Notices, Resting, Results, Shortcuts, TaskPanel, Timeline,
    Transport, open_file,
};
use crate::hooks::App as Context;
use crate::i18n::{Locale, fill};
use crate::platform;
use crate::player::Player;
use crate::state::{Action, AppState, Axis, Link, RunState, Theme};
use crate::worker::client::{Client, News, Settings};
use crate::worker::protocol::DEFAULT_BUDGET;

impl Reducible for AppState {
    type Action = Action;

    fn reduce(self: Rc<Self>, action: Action) -> Rc<Self> {
        Rc::new(self.after(action))
    }
}

/// See the module.
#[component]
pub fn App() -> Html {
    let state = use_reducer_eq(opening_state);
    let dispatch = {
        let dispatcher = state.dispatcher();
        use_callback((), move |action: Action, ()| dispatcher.dispatch(action))
    };
    let player = (*use_memo((), |()| Player::new())).clone();
    let system_dark = use_state_eq(platform::prefers_dark);
    let on_page = use_state_eq(|| None::<AttrValue>);
    let help = use_state_eq(|| false);
    let client = {
        let (dispatch, on_page) = (dispatch.clone(), on_page.setter());
        (*use_memo((), move |()| {
            let news = Callback::from(move |news| match news {
                News::Progress(id, done, total) => dispatch.emit(Action::Progress(id, done, total)),
                News::Finished(id, result) => dispatch.emit(Action::Finished(id, result)),
                News::Failed(id, why) => dispatch.emit(Action::Failed(id, why)),
                News::OnPage(why) => on_page.set(Some(why.into())),
            });
            let number =
                |key: &str, default: u64| platform::query(key).and_then(|text| text.parse().ok()).unwrap_or(default);
            let cores = if platform::query("worker").as_deref() == Some("off") { 0 } else { platform::cores() };
            let settings = Settings {
                workers: number("workers", cores) as usize,
                budget: number("budget", DEFAULT_BUDGET),
                most_records: number("records", MAX_RECORDS),
            };
            Client::new(settings, news)
        }))
        .clone()
    };
    let dark = match state.theme {
        Theme::Auto => *system_dark,
        Theme::Light => false,
        Theme::Dark => true,
    };
    let app = Context { state: Rc::new((*state).clone()), dispatch: dispatch.clone(), player: player.clone(), dark };

    use_effect_with((), {
        let setter = system_dark.setter();
        move |()| {
            let watch = platform::on_dark_change(move |dark| setter.set(dark));
            move || drop(watch)
        }
    });
    use_effect_with((state.theme, dark), |(theme, dark)| {
        platform::store("theme", theme.as_str());
        if let Some(root) = platform::root() {
            let _ = root.set_attribute("data-theme", if *dark { "dark" } else { "light" });
        }
    });
    use_effect_with(state.locale, |locale| {
        platform::store("locale", locale.as_str());
        if let Some(root) = platform::root() {
            root.set_lang(locale.as_str());
        }
    });

    // The simulator follows the requests.
    use_effect_with(state.request.clone(), {
        let client = client.clone();
        move |request| match request {
            Some(request) => client.run(request),
            None => client.cancel(),
        }
    });
    // The player follows the result.
    use_effect_with(state.result.clone(), {
        let (player, at, dispatch) = (player.clone(), state.at, dispatch.clone());
        let keeps_time = state.live.keeps_time && at.is_none();
        move |result| {
            if let Some(result) = result {
                if keeps_time {
                    player.exchange(result.clone());
                    return;
                }
                let at = at.unwrap_or_else(|| result.opening_window().opening_time());
                player.load(result.clone(), at);
                dispatch.emit(Action::TimeTaken);
            }
        }
    });
    use_effect_with((state.at, state.result.is_some()), {
        let (player, dispatch) = (player.clone(), dispatch.clone());
        move |(at, ready)| {
            if let (Some(at), true) = (at, ready) {
                player.seek(*at);
                dispatch.emit(Action::TimeTaken);
            }
        }
    });
    use_effect_with(state.window_in_view(), {
        let player = player.clone();
        move |window| player.set_window(*window)
    });
    use_effect_with(dark, {
        let (player, theme) = (player.clone(), app.theme());
        move |_| player.set_theme(theme)
    });
    use_effect_with(state.lit, {
        let player = player.clone();
        move |lit| player.set_lit(lit.map(|state| state as u8))
    });
    use_effect_with(state.task_in_view(), {
        let player = player.clone();
        move |task| player.set_task(*task)
    });
    use_effect_with((), {
        let (player, dispatch) = (player.clone(), dispatch.clone());
        move |()| player.on_left_window(Callback::from(move |now| dispatch.emit(Action::View(Axis::Follow(now)))))
    });
    use_address(&app);

    let keys = {
        let (app, help) = (app.clone(), help.clone());
        Callback::from(move |event: KeyboardEvent| on_key(&app, &event, &help))
    };
    // Without this a browser would open the file in place of the page.
    let drag = Callback::from(|event: DragEvent| event.prevent_default());
    let drop = {
        let app = app.clone();
        Callback::from(move |event: DragEvent| {
            event.prevent_default();
            let files = event.data_transfer().and_then(|data| data.files());
            if let Some(file) = files.and_then(|files| files.get(0)) {
                open_file(&app, file);
            }
        })
    };
    let words = app.words();
    let scenario = state.scenario_in_view();
    let planned = || scenario.task_count_with_spawned().unwrap_or_else(|| scenario.task_count());
    let tasks = state.result.as_ref().map_or_else(planned, |result| u64::from(result.tasks()));
    let tasks = parkbench_view::format::count(tasks);
    html! {
        <ContextProvider<Context> context={app.clone()}>
            <div class="page" ondragover={drag} ondrop={drop} data-run-state={state.run.as_str()}
                data-sim-ms={state.result.as_ref().map(|result| (result.wall_us as f64 / 1_000.0).to_string())}>
                <a class="skip" href="#play" onclick={Callback::from(|event: MouseEvent| {
                    event.prevent_default();
                    platform::focus("play");
                })}>{words.skip}</a>
                <Header />
                <Notices on_page={(*on_page).clone()} />
                <div class="body">
                    <aside class="side" aria-label={words.controls}><Controls /></aside>
                    <main class="main" onkeydown={keys}>
                        <div class="stage">
                            <Transport help={{
                                let help = help.clone();
                                Callback::from(move |()| help.set(true))
                            }} />
                            <h2>{ fill(words.tagline, &[("n", &tasks)]) }</h2>
                            <Legend />
                            <Columns />
                        </div>
                        if state.result.as_ref().is_none_or(|result| result.runs.iter().any(|run| run.has_picture())) {
                            <Resting><TaskPanel /></Resting>
                            <Resting><Timeline /></Resting>
                        }
                        <Resting><Results /></Resting>
                    </main>
                </div>
                <footer class="foot"><p>{ if state.measured.set().is_some() || state.compared.file.is_some() { words.footer_mixed } else { words.footer } }</p></footer>
                if *help {
                    <Shortcuts close={{
                        let help = help.clone();
                        Callback::from(move |()| help.set(false))
                    }} />
                }
            </div>
        </ContextProvider<Context>>
    }
}

/// The state that the address and the stored settings describe, with its simulation asked for.
fn opening_state() -> AppState {
    let theme = platform::load("theme").map_or(Theme::Auto, |name| Theme::from_name(&name));
    let wanted: Vec<String> = platform::load("locale").into_iter().chain(platform::wanted_languages()).collect();
    let locale = Locale::best(wanted.iter().map(String::as_str));
    AppState::from_link(Link::read(&platform::fragment()), theme, locale).after(Action::Submit)
}

/// Keeps the address at what is shown once the reader has changed something, and follows it when the reader edits it.
#[hook]
fn use_address(app: &Context) {
    let first = use_mut_ref(|| true);
    let (state, player) = (Rc::clone(&app.state), app.player.clone());
    let place = state.compared.place;
    use_effect_with((state.shown.clone(), state.window, state.task, place, state.live.dragging), move |_| {
        // The address that the page was opened with stays until then, and a slider that is dragged is not followed, for
        // browsers allow few changes a second.
        if std::mem::take(&mut *first.borrow_mut())
            || state.live.dragging
            || !matches!(state.run, RunState::Done | RunState::Running { .. })
        {
            return;
        }
        platform::replace_fragment(&state.link(player.now()).write());
    });
    let dispatch = app.dispatch.clone();
    use_effect_with((), move |()| {
        let closure = Closure::<dyn Fn()>::new(move || {
            dispatch.emit(Action::Follow(Box::new(Link::read(&platform::fragment()))));
        });
        let window = platform::window();
        if let Some(window) = &window {
            let _ = window.add_event_listener_with_callback("hashchange", closure.as_ref().unchecked_ref());
        }
        move || {
            if let Some(window) = window {
                let _ = window.remove_event_listener_with_callback("hashchange", closure.as_ref().unchecked_ref());
            }
        }
    });
}

/// What the key means where the focus is.
fn on_key(app: &Context, event: &KeyboardEvent, help: &UseStateHandle<bool>) {
    if event.ctrl_key() || event.meta_key() || event.alt_key() || event.default_prevented() {
        return;
    }
    let target: Option<HtmlElement> = event.target_dyn_into();
    let tag = target.as_ref().map(|target| target.tag_name().to_ascii_lowercase()).unwrap_or_default();
    let slider = event.target_dyn_into::<HtmlInputElement>().is_some_and(|input| input.type_() == "range");
    if matches!(tag.as_str(), "input" | "select" | "textarea") && !slider {
        return;
    }
    let state = &app.state;
    let Some(result) = &state.result else { return };
    let (window, end, player) = (state.window_in_view(), result.end_ns(), &app.player);
    let view = |window| app.dispatch.emit(Action::View(Axis::Window(window)));
    // Letters by their place on the keyboard, signs by what they are.
    match (event.code().as_str(), event.key().as_str()) {
        ("Space", _) if !matches!(tag.as_str(), "button" | "a" | "summary") => player.toggle(),
        ("Home", _) if !slider => player.seek(0),
        ("End", _) if !slider => player.seek(end),
        (_, ".") => player.step(true),
        (_, ",") => player.step(false),
        (_, "0") => app.dispatch.emit(Action::View(Axis::All)),
        (_, "?") => help.set(true),
        ("KeyW", _) => view(window.zoom(player.now(), 667, end)),
        ("KeyS", _) => view(window.zoom(player.now(), 1_500, end)),
        ("KeyA", _) => view(window.pan(-200, end)),
        ("KeyD", _) => view(window.pan(200, end)),
        ("KeyO", _) => platform::click(FILE_INPUT),
        _ => return,
    }
    event.prevent_default();
    event.stop_propagation();
}
