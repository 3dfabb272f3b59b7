//! The address of the page: fragment and query, read and replaced without a new entry in the history.

use wasm_bindgen::JsValue;

use super::window;

/// The fragment, with its `#`, empty where there is none.
pub(crate) fn fragment() -> String {
    window().and_then(|window| window.location().hash().ok()).unwrap_or_default()
}

/// The value of a query parameter.
pub(crate) fn query(name: &str) -> Option<String> {
    let search = window()?.location().search().ok()?;
    search
        .trim_start_matches('?')
        .split('&')
        .find_map(|part| part.split_once('=').filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()))
}

/// The whole address with this fragment.
pub(crate) fn address_with(fragment: &str) -> String {
    let base = window().and_then(|window| window.location().href().ok()).unwrap_or_default();
    let base = base.split('#').next().unwrap_or_default();
    format!("{base}#{fragment}")
}

/// Puts the fragment into the address; a frame that may not keep a history keeps its old one.
pub(crate) fn replace_fragment(fragment: &str) {
    if let Some(history) = window().and_then(|window| window.history().ok()) {
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&format!("#{fragment}")));
    }
}
