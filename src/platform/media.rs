//! What the system wants: dark colours, languages.

use wasm_bindgen::JsCast as _;
use wasm_bindgen::closure::Closure;
use web_sys::MediaQueryList;

use super::window;

fn query(text: &str) -> Option<MediaQueryList> {
    window()?.match_media(text).ok().flatten()
}

/// Whether the system is dark.
pub(crate) fn prefers_dark() -> bool {
    query("(prefers-color-scheme: dark)").is_some_and(|query| query.matches())
}

/// Calls back whenever the system turns dark or light, until the answer is dropped.
pub(crate) fn on_dark_change(changed: impl Fn(bool) + 'static) -> impl Drop {
    let query = query("(prefers-color-scheme: dark)");
    let watched = query.clone();
    let closure = Closure::<dyn Fn()>::new(move || changed(watched.as_ref().is_some_and(MediaQueryList::matches)));
    if let Some(query) = &query {
        let _ = query.add_event_listener_with_callback("change", closure.as_ref().unchecked_ref());
    }
    DarkWatch { query, closure }
}

struct DarkWatch {
    query: Option<MediaQueryList>,
    closure: Closure<dyn Fn()>,
}

impl Drop for DarkWatch {
    fn drop(&mut self) {
        if let Some(query) = &self.query {
            let _ = query.remove_event_listener_with_callback("change", self.closure.as_ref().unchecked_ref());
        }
    }
}

/// The languages that the reader wants, best first.
pub(crate) fn wanted_languages() -> Vec<String> {
    window()
        .map(|window| window.navigator().languages().iter().filter_map(|language| language.as_string()).collect())
        .unwrap_or_default()
}
