//! Files for the user to keep.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::JsCast;
use web_sys::{Blob, BlobPropertyBag, HtmlAnchorElement, Url};

use super::dom::{after, window};

/// Parts of a file that is being written; the browser keeps them outside of wasm.
pub(crate) struct Parts(Array);

impl Default for Parts {
    fn default() -> Self {
        Self(Array::new())
    }
}

impl Parts {
    /// Appends bytes.
    pub(crate) fn push(&self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        // As a blob of its own: the browser may put it on disk.
        let part = Array::of1(&Uint8Array::from(bytes));
        if let Ok(part) = Blob::new_with_u8_array_sequence(&part) {
            self.0.push(&part);
        }
    }

    /// All of them as one.
    pub(crate) fn whole(&self, mime: &str) -> Option<Blob> {
        let options = BlobPropertyBag::new();
        options.set_type(mime);
        Blob::new_with_blob_sequence_and_options(&self.0, &options).ok()
    }
}

/// Saves a text as a file of this name.
pub(crate) fn text(name: &str, mime: &str, text: &str) {
    let parts = Parts::default();
    parts.push(text.as_bytes());
    if let Some(whole) = parts.whole(mime) {
        blob(name, &whole);
    }
}

/// Saves what was put together as a file of this name.
pub(crate) fn blob(name: &str, blob: &Blob) {
    /// The browser has begun to read by then.
    const KEPT_MS: i32 = 60_000;
    let Ok(address) = Url::create_object_url_with_blob(blob) else { return };
    let link = window().document().and_then(|document| document.create_element("a").ok());
    if let Some(link) = link.and_then(|link| link.dyn_into::<HtmlAnchorElement>().ok()) {
        link.set_href(&address);
        link.set_download(name);
        link.click();
    }
    let forget = after(KEPT_MS, move || {
        let _ = Url::revoke_object_url(&address);
    });
    // It is nobody's to take back.
    std::mem::forget(forget);
}
