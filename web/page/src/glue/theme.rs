//! Light and dark: the choice is kept, and the drawings' colours are read from the style sheet.

use wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use super::dom::{Listener, listen, window};
use crate::chart::palette::{Colour, Palette};
use crate::state::Theme;

const KEY: &str = "tierscope.theme";

/// The choice kept from an earlier visit.
pub(crate) fn kept() -> Theme {
    let storage = window().local_storage().ok().flatten();
    let name = storage.and_then(|storage| storage.get_item(KEY).ok().flatten());
    Theme::of_name(&name.unwrap_or_default())
}

/// Applies a choice to the page and keeps it.
pub(crate) fn apply(theme: Theme) {
    let root = window().document().and_then(|document| document.document_element());
    if let Some(root) = root {
        let _ = root.set_attribute("data-theme", theme.name());
    }
    if let Ok(Some(storage)) = window().local_storage() {
        // Storage may be full or forbidden: the choice then lasts as long as the page.
        let _ = storage.set_item(KEY, theme.name());
    }
}

/// The colours of the tokens as they are now.
pub(crate) fn palette() -> Palette {
    read().unwrap_or_default()
}

fn read() -> Option<Palette> {
    let document = window().document()?;
    let probe = document.create_element("i").ok()?.dyn_into::<HtmlElement>().ok()?;
    document.body()?.append_child(&probe).ok()?;
    let colours = Palette::TOKENS.map(|token| {
        let _ = probe.style().set_property("color", &format!("var({token})"));
        let style = window().get_computed_style(&probe).ok().flatten();
        let text = style.and_then(|style| style.get_property_value("color").ok());
        text.and_then(|text| Colour::of_css(&text)).unwrap_or_default()
    });
    probe.remove();
    Some(Palette::of(colours))
}

/// Whether the user asked for reduced motion.
pub(crate) fn reduced_motion() -> bool {
    matches("(prefers-reduced-motion: reduce)")
}

fn matches(query: &str) -> bool {
    window().match_media(query).ok().flatten().is_some_and(|list| list.matches())
}

/// Calls when the system switches between light and dark.
pub(crate) fn on_system_change(changed: impl Fn() + 'static) -> Option<Listener> {
    let list = window().match_media("(prefers-color-scheme: dark)").ok().flatten()?;
    Some(listen(&list, "change", move |_| changed()))
}
