//! The address bar and the clipboard.

use wasm_bindgen::prelude::*;
use yew::Callback;

use super::dom::{Listener, listen, window};

/// What follows the address, `#` included.
pub(crate) fn hash() -> String {
    window().location().hash().unwrap_or_default()
}

/// Puts a hash into the address bar without a new entry in the history.
pub(crate) fn replace_hash(hash: &str) {
    if let Ok(history) = window().history() {
        // A browser may refuse when asked too often; the next edit asks again.
        let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(hash));
    }
}

/// The whole address with another hash.
pub(crate) fn address_with(hash: &str) -> String {
    let href = window().location().href().unwrap_or_default();
    let page = href.split('#').next().unwrap_or_default();
    format!("{page}{hash}")
}

/// Whether the page is part of another one: `?embed=1`.
pub(crate) fn embedded() -> bool {
    let query = window().location().search().unwrap_or_default();
    query.trim_start_matches('?').split('&').any(|word| word == "embed=1")
}

/// The address of the whole page with a hash, when this one is part of another.
pub(crate) fn whole_page(hash: &str) -> String {
    let path = window().location().pathname().unwrap_or_default();
    format!("{path}{hash}")
}

/// Calls when the user changes the hash.
pub(crate) fn on_hash_change(changed: impl Fn(String) + 'static) -> Listener {
    listen(&window(), "hashchange", move |_| changed(hash()))
}

/// Copies a text; tells whether that worked.
pub(crate) fn copy(text: &str, done: Callback<bool>) {
    // Without a secure context there is no clipboard, though the binding's type says otherwise.
    let clipboard =
        js_sys::Reflect::get(&window().navigator(), &"clipboard".into()).unwrap_or(JsValue::UNDEFINED);
    if clipboard.is_undefined() || clipboard.is_null() {
        done.emit(false);
        return;
    }
    let promise = window().navigator().clipboard().write_text(text);
    js_sys::futures::spawn_local(async move {
        done.emit(js_sys::futures::JsFuture::from(promise).await.is_ok());
    });
}
