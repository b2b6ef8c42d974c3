//! Small things of the document: elements, frames, timers, sizes, listeners.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Element, Event, EventTarget, ResizeObserver, Window};
use yew::{NodeRef, UseStateHandle, hook, use_effect_with, use_state_eq};

/// The window; a page always has one.
pub(crate) fn window() -> Window {
    web_sys::window().expect("the page runs in a window")
}

/// Milliseconds since the page was opened.
pub(crate) fn now_ms() -> f64 {
    window().performance().map_or(0.0, |clock| clock.now())
}

/// The element of an id.
pub(crate) fn by_id(id: &str) -> Option<Element> {
    window().document()?.get_element_by_id(id)
}

/// The first element of a selector.
pub(crate) fn by_selector(selector: &str) -> Option<Element> {
    window().document()?.query_selector(selector).ok()?
}

/// Width and height of the window.
pub(crate) fn window_size() -> (f64, f64) {
    let number =
        |value: Result<JsValue, JsValue>| value.ok().and_then(|value| value.as_f64()).unwrap_or_default();
    (number(window().inner_width()), number(window().inner_height()))
}

/// Moves the focus to an element.
pub(crate) fn focus(id: &str) {
    if let Some(element) = by_id(id).and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        // Refused only for what cannot have it.
        let _ = element.focus();
    }
}

/// Brings an element into view, if it is not.
pub(crate) fn show(id: &str) {
    if let Some(element) = by_id(id) {
        element.scroll_into_view_with_bool(true);
    }
}

/// Scrolls a list so that its current entry is in the middle.
pub(crate) fn show_current(list: &str) {
    let current = by_selector(&format!("{list} [aria-current]"));
    let both = (by_selector(list), current.and_then(|entry| entry.dyn_into::<web_sys::HtmlElement>().ok()));
    if let (Some(list), Some(entry)) = both {
        let inner = entry.offset_top() + entry.offset_height() / 2;
        list.set_scroll_top(inner - list.client_height() / 2);
    }
}

/// A listener that ends when it is dropped.
pub(crate) struct Listener {
    target: EventTarget,
    event: &'static str,
    heard: Closure<dyn FnMut(Event)>,
}

/// Listens on a target.
pub(crate) fn listen(
    target: &EventTarget,
    event: &'static str,
    heard: impl FnMut(Event) + 'static,
) -> Listener {
    let heard = Closure::<dyn FnMut(Event)>::new(heard);
    // Refused only for a target that is gone, and then nothing is missed.
    let _ = target.add_event_listener_with_callback(event, heard.as_ref().unchecked_ref());
    Listener { target: target.clone(), event, heard }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ =
            self.target.remove_event_listener_with_callback(self.event, self.heard.as_ref().unchecked_ref());
    }
}

/// Calls once after some time, unless dropped before.
pub(crate) struct Timer {
    id: i32,
    _call: Closure<dyn FnMut()>,
}

/// A call after `ms` milliseconds.
pub(crate) fn after(ms: i32, call: impl FnOnce() + 'static) -> Timer {
    let call = Closure::once(call);
    let id = window()
        .set_timeout_with_callback_and_timeout_and_arguments_0(call.as_ref().unchecked_ref(), ms)
        .unwrap_or_default();
    Timer { id, _call: call }
}

impl Drop for Timer {
    fn drop(&mut self) {
        window().clear_timeout_with_handle(self.id);
    }
}

/// Calls once with the next frame's time, unless dropped before.
pub(crate) struct Frame {
    id: i32,
    _call: Closure<dyn FnMut(f64)>,
}

/// A call with the next frame.
pub(crate) fn next_frame(call: impl FnOnce(f64) + 'static) -> Frame {
    let call = Closure::once(call);
    let id = window().request_animation_frame(call.as_ref().unchecked_ref()).unwrap_or_default();
    Frame { id, _call: call }
}

impl Drop for Frame {
    fn drop(&mut self) {
        let _ = window().cancel_animation_frame(self.id);
    }
}

/// The size of an element in whole pixels, followed as it changes.
#[hook]
pub(crate) fn use_size(node: &NodeRef) -> UseStateHandle<(u32, u32)> {
    let size = use_state_eq(|| (0, 0));
    let watched = size.clone();
    use_effect_with(node.clone(), move |node| {
        let element = node.cast::<Element>();
        let measured = element.clone();
        let changed = Closure::<dyn FnMut()>::new(move || {
            if let Some(element) = &measured {
                watched.set((element.client_width().max(0) as u32, element.client_height().max(0) as u32));
            }
        });
        let observer = ResizeObserver::new(changed.as_ref().unchecked_ref()).ok();
        if let (Some(observer), Some(element)) = (&observer, &element) {
            observer.observe(element);
        }
        move || {
            if let Some(observer) = observer {
                observer.disconnect();
            }
            drop(changed);
        }
    });
    size
}
