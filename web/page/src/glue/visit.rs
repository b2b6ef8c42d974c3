//! Whether somebody is here for the first time.

use super::dom::window;

const KEY: &str = "tierscope.tour";

/// Whether the tour opens by itself: on a first visit to the bare address, and where the address asks for it.
pub(crate) fn wants_tour(hash: &str) -> bool {
    let search = window().location().search().unwrap_or_default();
    if search.trim_start_matches('?').split('&').any(|part| part == "tour=1") {
        return true;
    }
    let bare = search.is_empty() && hash.trim_start_matches('#').is_empty();
    // Without storage nothing could be remembered: it would open at each visit.
    let storage = window().local_storage().ok().flatten();
    bare && storage.is_some_and(|storage| storage.get_item(KEY).is_ok_and(|seen| seen.is_none()))
}

/// Remembers that the tour was seen or skipped.
pub(crate) fn remember_tour() {
    if let Ok(Some(storage)) = window().local_storage() {
        // Storage may be full or forbidden: the tour then opens once more.
        let _ = storage.set_item(KEY, "seen");
    }
}
