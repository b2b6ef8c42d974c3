//! The page's end of the line to the worker.

use tierscope_worker::protocol::{FromWorker, ToWorker};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};
use yew::Callback;

/// Trunk writes the worker's loader under this name, beside the page.
const LOADER: &str = "./worker_loader.js";

/// A running worker; ends with this value.
pub(crate) struct Line {
    worker: Worker,
    _heard: Closure<dyn FnMut(MessageEvent)>,
    _died: Closure<dyn FnMut(ErrorEvent)>,
}

/// Starts a worker. `died` is called when it cannot be loaded or stops with an error.
pub(crate) fn start(heard: Callback<FromWorker>, died: Callback<String>) -> Option<Line> {
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    let worker = Worker::new_with_options(LOADER, &options).ok()?;
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

impl Line {
    /// Sends a message.
    pub(crate) fn send(&self, message: &ToWorker) {
        if let Ok(message) = serde_wasm_bindgen::to_value(message) {
            // Every message of the protocol can be cloned.
            let _ = self.worker.post_message(&message);
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.worker.terminate();
    }
}
