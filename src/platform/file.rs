//! Files: saving a text, and reading one that must be UTF-8.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, File, HtmlAnchorElement, Url};

use super::{document, reason};

/// Offers a text as a file.
pub(crate) fn download(name: &str, media_type: &str, text: &str) -> Result<(), String> {
    let save = || {
        let options = BlobPropertyBag::new();
        options.set_type(media_type);
        let blob = Blob::new_with_str_sequence_and_options(&Array::of1(&text.into()), &options)?;
        let url = Url::create_object_url_with_blob(&blob)?;
        if let Some(document) = document() {
            let anchor: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
            anchor.set_href(&url);
            anchor.set_download(name);
            anchor.click();
        }
        Url::revoke_object_url(&url)
    };
    save().map_err(|error| reason(&error))
}

/// The bytes of a file.
pub(crate) async fn read_bytes(file: &File) -> Result<Vec<u8>, String> {
    let buffer = JsFuture::from(file.array_buffer()).await.map_err(|error| reason(&error))?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

/// The bytes of a file as text; `None` where they are not UTF-8.
pub(crate) async fn read_utf8(file: &File) -> Result<Option<String>, String> {
    Ok(String::from_utf8(read_bytes(file).await?).ok())
}
