//! Copying text, which a browser may refuse.

use wasm_bindgen_futures::JsFuture;

use super::{reason, window};

/// Puts text on the clipboard, or says why not.
pub(crate) async fn copy(text: &str) -> Result<(), String> {
    let window = window().ok_or("no window")?;
    if !window.is_secure_context() {
        return Err("the clipboard needs a secure address".to_owned());
    }
    JsFuture::from(window.navigator().clipboard().write_text(text)).await.map(|_| ()).map_err(|error| reason(&error))
}
