//! Perfetto's page in a window of its own, which is handed the trace within the browser: its page is asked until it
//! answers (PING, PONG), then it gets the bytes. The one thing that leaves this page's origin, and only by a click.

use std::cell::Cell;
use std::rc::Rc;

use js_sys::{Object, Reflect};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, MessageEvent, Window};

use super::dom::{Listener, listen, window};

const ORIGIN: &str = "https://ui.perfetto.dev";
const ASK_EVERY_MS: i32 = 100;
/// A page that has not answered by then will not.
const ASKED_AT_MOST: u32 = 600;

/// A window that waits for a trace. It must be opened while the click is being handled, or the browser refuses.
pub(crate) fn open() -> Option<Window> {
    window().open_with_url_and_target(ORIGIN, "_blank").ok().flatten()
}

/// The talk with the window; ends with this value.
pub(crate) struct Talk {
    _heard: Listener,
    _ask: Closure<dyn FnMut()>,
    interval: i32,
}

impl Drop for Talk {
    fn drop(&mut self) {
        window().clear_interval_with_handle(self.interval);
    }
}

/// Hands a trace over as soon as the window's page answers.
pub(crate) fn hand_over(to: Window, trace: &Blob, title: &str, file: &str) -> Option<Talk> {
    let message = message(trace, title, file);
    let answered = Rc::new(Cell::new(false));
    let heard = listen(&window(), "message", {
        let (to, answered) = (to.clone(), Rc::clone(&answered));
        move |event| {
            let Some(event) = event.dyn_ref::<MessageEvent>() else { return };
            let is_answer = event.origin() == ORIGIN && event.data().as_string().as_deref() == Some("PONG");
            if is_answer && !answered.replace(true) {
                let (to, message) = (to.clone(), message.clone());
                js_sys::futures::spawn_local(async move {
                    if let Ok(message) = js_sys::futures::JsFuture::from(message).await {
                        let _ = to.post_message(&message, ORIGIN);
                    }
                });
            }
        }
    });
    let mut asked = 0;
    let ask = Closure::<dyn FnMut()>::new(move || {
        asked += 1;
        if !answered.get() && asked <= ASKED_AT_MOST {
            // Refused only when the window is gone.
            let _ = to.post_message(&"PING".into(), ORIGIN);
        }
    });
    let interval = window()
        .set_interval_with_callback_and_timeout_and_arguments_0(ask.as_ref().unchecked_ref(), ASK_EVERY_MS)
        .ok()?;
    Some(Talk { _heard: heard, _ask: ask, interval })
}

/// `{ perfetto: { buffer, title, fileName } }`, as Perfetto's page takes it.
fn message(trace: &Blob, title: &str, file: &str) -> js_sys::Promise {
    let (title, file) = (JsValue::from(title), JsValue::from(file));
    let made = Closure::once_into_js(move |buffer: JsValue| -> JsValue {
        let (inner, outer) = (Object::new(), Object::new());
        let entries: [(&str, &JsValue); 3] = [("buffer", &buffer), ("title", &title), ("fileName", &file)];
        for (key, value) in entries {
            let _ = Reflect::set(&inner, &key.into(), value);
        }
        let _ = Reflect::set(&outer, &"perfetto".into(), &inner);
        outer.into()
    });
    let then: js_sys::Function = made.unchecked_into();
    let promise: JsValue = trace.array_buffer().into();
    Reflect::get(&promise, &"then".into())
        .and_then(|method| method.unchecked_into::<js_sys::Function>().call1(&promise, &then))
        .map_or_else(|error| js_sys::Promise::reject(&error), JsCast::unchecked_into)
}
