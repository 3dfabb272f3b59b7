//! Copying text, which a browser may refuse.

use js_sys::Reflect;
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::Clipboard;

use super::{reason, window};

/// Puts text on the clipboard, or says why not.
pub(crate) async fn copy(text: &str) -> Result<(), String> {
    let window = window().ok_or("no window")?;
    if !window.is_secure_context() {
        return Err("the clipboard needs a secure address".to_owned());
    }
    let clipboard = Reflect::get(&window.navigator(), &"clipboard".into()).map_err(|error| reason(&error))?;
    // Some frames have no clipboard at all.
    let clipboard: Clipboard = clipboard.dyn_into().map_err(|_| "there is no clipboard here")?;
    JsFuture::from(clipboard.write_text(text)).await.map(|_| ()).map_err(|error| reason(&error))
}
