//! Files that the user chose or dropped: read in pieces, never whole at once unless they are small.

use js_sys::futures::JsFuture;
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::JsCast;
use web_sys::{DataTransfer, DragEvent, Event, File};

use super::dom::{Listener, listen, window};

/// Bytes `from` to `until` of a file; nothing when it cannot be read any more (it was moved, or a disk was unplugged).
pub(crate) async fn read(file: &File, from: f64, until: f64) -> Option<Uint8Array> {
    let slice = file.slice_with_f64_and_f64(from, until.min(file.size())).ok()?;
    let buffer = JsFuture::from(slice.array_buffer()).await.ok()?;
    Some(Uint8Array::new(buffer.dyn_ref::<ArrayBuffer>()?))
}

/// Calls `over` as files come over the page and leave it, and `dropped` with the first file that is let go there.
pub(crate) fn on_drop(
    over: impl Fn(bool) + Clone + 'static,
    dropped: impl Fn(File) + 'static,
) -> [Listener; 4] {
    let (enters, leaves, lets_go) = (over.clone(), over.clone(), over);
    [
        listen(&window(), "dragenter", move |event| {
            if with_files(&event).is_some() {
                event.prevent_default();
                enters(true);
            }
        }),
        listen(&window(), "dragover", move |event| {
            if let Some(transfer) = with_files(&event) {
                event.prevent_default();
                transfer.set_drop_effect("copy");
            }
        }),
        listen(&window(), "dragleave", move |event| {
            let inside = event.dyn_ref::<DragEvent>().is_some_and(|event| event.related_target().is_some());
            if !inside {
                leaves(false);
            }
        }),
        listen(&window(), "drop", move |event| {
            let Some(transfer) = with_files(&event) else { return };
            event.prevent_default();
            lets_go(false);
            if let Some(file) = transfer.files().and_then(|files| files.get(0)) {
                dropped(file);
            }
        }),
    ]
}

/// What is dragged, if there are files in it: text that is dragged into a field is none of ours.
fn with_files(event: &Event) -> Option<DataTransfer> {
    let transfer = event.dyn_ref::<DragEvent>()?.data_transfer()?;
    let files = transfer.types().iter().any(|kind| kind.as_string().as_deref() == Some("Files"));
    files.then_some(transfer)
}
