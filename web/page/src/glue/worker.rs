//! The page's end of the line to the worker.

use tierscope_worker::protocol::{FromWorker, ToWorker};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker};
use yew::Callback;

use super::dom;

/// The worker's first lines, beside the page.
const LOADER: &str = "./worker.js";

/// A running worker; ends with this value.
pub(crate) struct Line {
    worker: Worker,
    _heard: Closure<dyn FnMut(MessageEvent)>,
    _died: Closure<dyn FnMut(ErrorEvent)>,
}

/// Starts a worker. `died` is called when it cannot be loaded or stops with an error.
///
/// Page and workers are one module, which is loaded and compiled once: a worker gets it with its first message, and finds
/// by its surroundings that it is none.
pub(crate) fn start(heard: Callback<FromWorker>, died: Callback<String>) -> Option<Line> {
    let worker = Worker::new(LOADER).ok()?;
    worker.post_message(&program()).ok()?;
    let on_message = Closure::<dyn FnMut(MessageEvent)>::new({
        let died = died.clone();
        move |event: MessageEvent| match serde_wasm_bindgen::from_value(event.data()) {
            Ok(message) => heard.emit(message),
            Err(error) => died.emit(format!("a message could not be read: {error}")),
        }
    });
    let on_error = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
        let message = event.message();
        died.emit(if message.is_empty() { "it could not be loaded".to_owned() } else { message });
    });
    worker.set_onmessage(Some(on_message.as_ref().unchecked_ref()));
    worker.set_onerror(Some(on_error.as_ref().unchecked_ref()));
    Some(Line { worker, _heard: on_message, _died: on_error })
}

/// The page's own script and module.
fn program() -> js_sys::Object {
    let script = dom::window()
        .document()
        .and_then(|document| document.query_selector("link[rel=modulepreload]").ok().flatten())
        .and_then(|link| link.get_attribute("href"))
        .unwrap_or_default();
    object(&[("script", &script.into()), ("module", &wasm_bindgen::module())])
}

/// A plain object: it takes every key.
fn object(entries: &[(&str, &JsValue)]) -> js_sys::Object {
    let object = js_sys::Object::new();
    for (key, value) in entries {
        let _ = js_sys::Reflect::set(&object, &(*key).into(), value);
    }
    object
}

impl Line {
    /// Sends a message.
    pub(crate) fn send(&self, message: &ToWorker) {
        if let Ok(message) = serde_wasm_bindgen::to_value(message) {
            // Every message of the protocol can be cloned.
            let _ = self.worker.post_message(&message);
        }
    }
}

/// Bytes of a trace, without a copy in the page's own memory.
impl Line {
    /// Sends a slice of a trace, as the protocol's `Trace` with a `Slice` in it.
    pub(crate) fn send_slice(&self, trace: u32, slice: &js_sys::Uint8Array) {
        let step = object(&[("Slice", slice.as_ref())]);
        let trace = object(&[("trace", &trace.into()), ("step", step.as_ref())]);
        let message = object(&[("Trace", trace.as_ref())]);
        let moved = js_sys::Array::of1(&slice.buffer());
        let _ = self.worker.post_message_with_transfer(&message, &moved);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}
