//! The service worker that keeps the page's files: it opens without a network from then on.

use js_sys::Reflect;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{EventTarget, HtmlLinkElement, MessageEvent, ServiceWorkerContainer};

use super::dom::{Listener, listen, window};

/// It lies beside the page, so that its reach is the page's folder.
const SCRIPT: &str = "./sw.js";

/// The browser's service workers; none where the page does not come from a secure place.
fn container() -> Option<ServiceWorkerContainer> {
    let found = Reflect::get(&window().navigator(), &"serviceWorker".into()).ok()?;
    found.dyn_into().ok()
}

/// Registers the service worker. Without one everything works but opening offline, so a refusal is no news.
pub(crate) fn register() {
    if let Some(container) = container() {
        let promise = container.register(SCRIPT);
        js_sys::futures::spawn_local(async move {
            let _ = js_sys::futures::JsFuture::from(promise).await;
        });
    }
}

/// Asks whether the host has another version by now. The page tells which one it is by the name of its own file.
pub(crate) fn check() {
    let Some(worker) = container().and_then(|container| container.controller()) else { return };
    let document = window().document();
    let own = document.and_then(|document| document.query_selector("link[rel=modulepreload]").ok().flatten());
    if let Some(own) = own.and_then(|own| own.dyn_into::<HtmlLinkElement>().ok()) {
        let _ = worker.post_message(&JsValue::from(own.href()));
    }
}

/// Calls when another version is ready.
pub(crate) fn on_update(ready: impl Fn() + 'static) -> Option<Listener> {
    let container = container()?;
    let target: &EventTarget = container.as_ref();
    Some(listen(target, "message", move |event| {
        let data = event.dyn_ref::<MessageEvent>().and_then(|event| event.data().as_string());
        if data.as_deref() == Some("update") {
            ready();
        }
    }))
}

/// Loads the page anew.
pub(crate) fn reload() {
    let _ = window().location().reload();
}
