//! Keys pressed anywhere on the page.

use wasm_bindgen::JsCast;
use web_sys::{Element, KeyboardEvent};

use super::dom::{Listener, listen, window};

/// Calls for each key that no control takes for itself; the callee says whether it used it.
pub(crate) fn on_key(pressed: impl Fn(&str) -> bool + 'static) -> Listener {
    listen(&window(), "keydown", move |event| {
        let Some(event) = event.dyn_ref::<KeyboardEvent>() else { return };
        let with_modifier = event.ctrl_key() || event.meta_key() || event.alt_key();
        if with_modifier || event.default_prevented() || taken(event) {
            return;
        }
        if pressed(&event.key()) {
            event.prevent_default();
        }
    })
}

/// Whether the focused control needs the key: text fields take all, buttons and lists take what works them.
fn taken(event: &KeyboardEvent) -> bool {
    let Some(element) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else {
        return false;
    };
    let works_it = matches!(event.key().as_str(), " " | "Enter" | "Home" | "End");
    match element.tag_name().as_str() {
        "TEXTAREA" | "SELECT" => true,
        "INPUT" => {
            element.get_attribute("type").as_deref() != Some("range")
                || matches!(event.key().as_str(), "Home" | "End")
        }
        "BUTTON" | "SUMMARY" | "A" => works_it,
        _ => false,
    }
}
