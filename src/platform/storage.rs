//! Settings that outlive the page. A browser may forbid storage; then settings last as long as the page.

use web_sys::Storage;

use super::window;

fn storage() -> Option<Storage> {
    window()?.local_storage().ok().flatten()
}

/// The stored value.
pub(crate) fn load(key: &str) -> Option<String> {
    storage()?.get_item(&format!("parkbench.{key}")).ok().flatten()
}

/// Stores a value where that is allowed.
pub(crate) fn store(key: &str, value: &str) {
    if let Some(storage) = storage() {
        let _ = storage.set_item(&format!("parkbench.{key}"), value);
    }
}
