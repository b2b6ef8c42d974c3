//! How far a calibration is, where somebody watches.

use std::time::Instant;

use indicatif::ProgressBar;

use crate::progress;

/// A bar over the seconds that there are, on a terminal.
pub(super) struct Watch {
    began: Instant,
    bar: Option<ProgressBar>,
}

impl Watch {
    pub(super) fn new(quiet: bool, seconds: u64) -> Self {
        let bar = || progress::bar("{bar:40} {pos}/{len} s, {msg}", seconds);
        // The clock is read to be shown, and for nothing else.
        Self { began: Instant::now(), bar: progress::is_watched(quiet).then(bar) }
    }

    /// Shows what is being done; nothing new where that is empty.
    pub(super) fn show(&mut self, doing: &str) {
        let Some(bar) = &self.bar else { return };
        bar.set_position(self.began.elapsed().as_secs());
        if !doing.is_empty() {
            bar.set_message(doing.to_owned());
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
