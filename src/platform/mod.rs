//! All access to the browser that is not drawing: address, storage, clipboard, files, media queries, time.
//!
//! Nothing here panics where a browser forbids something; it answers with nothing or with the reason.

mod address;
mod clipboard;
mod file;
mod media;
mod storage;

use wasm_bindgen::{JsCast as _, JsValue};
use web_sys::{Document, HtmlElement, Window};

pub(crate) use address::{address_with, fragment, query, replace_fragment};
pub(crate) use clipboard::copy;
pub(crate) use file::{download, read_bytes, read_utf8};
pub(crate) use media::{on_dark_change, prefers_dark, wanted_languages};
pub(crate) use storage::{load, store};

/// The window, in a page.
pub(crate) fn window() -> Option<Window> {
    web_sys::window()
}

/// The document, in a page.
pub(crate) fn document() -> Option<Document> {
    window()?.document()
}

/// The element of the whole document.
pub(crate) fn root() -> Option<HtmlElement> {
    document()?.document_element()?.dyn_into().ok()
}

/// Device pixels per CSS pixel.
pub(crate) fn pixel_ratio() -> f64 {
    window().map_or(1.0, |window| window.device_pixel_ratio()).clamp(0.5, 4.0)
}

/// [ms] Monotonic time, in a page or a worker.
pub fn now_ms() -> f64 {
    let global = js_sys::global();
    let page = global.dyn_ref::<Window>().and_then(Window::performance);
    let performance = page.or_else(|| global.dyn_ref::<web_sys::WorkerGlobalScope>()?.performance());
    performance.map_or_else(js_sys::Date::now, |performance| performance.now())
}

/// Says in a trace of the browser, if one is being made, that this part of a run has just ended: `bench-page` reads it.
pub(crate) fn mark(part: &str, run: usize) {
    web_sys::console::time_stamp_with_data(&format!("{part} {run}").into());
}

/// Processors that the browser tells of; one where it tells of none.
pub(crate) fn cores() -> u64 {
    window().map_or(1, |window| window.navigator().hardware_concurrency() as u64).max(1)
}

/// What a JavaScript error says.
pub(crate) fn reason(error: &JsValue) -> String {
    match error.dyn_ref::<js_sys::Error>() {
        Some(error) => String::from(error.message()),
        None => error.as_string().unwrap_or_else(|| format!("{error:?}")),
    }
}

/// Puts the focus on the element with this id.
pub(crate) fn focus(id: &str) {
    let element = document().and_then(|document| document.get_element_by_id(id));
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

/// Presses the element with this id.
pub(crate) fn click(id: &str) {
    let element = document().and_then(|document| document.get_element_by_id(id));
    if let Some(element) = element.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
        element.click();
    }
}

/// Marks the page as started, so that the static fallback goes away.
pub fn mark_started() {
    if let Some(boot) = document().and_then(|document| document.get_element_by_id("boot")) {
        boot.remove();
    }
}
