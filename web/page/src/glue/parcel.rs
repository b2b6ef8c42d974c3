//! A trace or a recording that was dropped onto the page, on its way to a worker that does not have it yet: slice after slice, each after the answer to
//! the one before.

use tierscope_worker::protocol::{FileKind, TRACE_SLICE_BYTES, ToWorker, TraceSaid, TraceStep};
use web_sys::File;

use super::files;
use super::worker::Line;

/// A file, and its number. Clones are of the same file; no byte of it is held.
#[derive(Clone, PartialEq)]
pub(crate) struct Parcel {
    pub(crate) trace: u32,
    pub(crate) kind: FileKind,
    pub(crate) file: File,
}

impl Parcel {
    /// Announces it to a worker.
    pub(crate) fn begin(&self, line: &Line) {
        line.send(&self.announcement());
    }

    /// What a worker is told before its first slice.
    pub(crate) fn announcement(&self) -> ToWorker {
        let step = TraceStep::Begin { kind: self.kind, name: self.file.name(), bytes: self.file.size() };
        ToWorker::Trace { trace: self.trace, step }
    }

    /// Goes on after what a worker said of it; `with_line` finds that worker, if it still lives. True when it has all.
    pub(crate) fn go_on(&self, said: &TraceSaid, with_line: impl FnOnce(&dyn Fn(&Line)) + 'static) -> bool {
        let TraceSaid::Heard { bytes } = *said else { return true };
        let Self { trace, file, .. } = self.clone();
        js_sys::futures::spawn_local(async move {
            if bytes < file.size() {
                let slice = files::read(&file, bytes, bytes + f64::from(TRACE_SLICE_BYTES)).await;
                if let Some(slice) = slice.filter(|slice| slice.length() > 0) {
                    return with_line(&|line| line.send_slice(trace, &slice));
                }
            }
            // Of a file that is gone the worker has a part: its end is refused, and what needs it with it.
            with_line(&|line| line.send(&ToWorker::Trace { trace, step: TraceStep::End }));
        });
        false
    }
}
