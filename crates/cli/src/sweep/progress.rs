//! How far a sweep is and how long it will take, where somebody watches.

use std::time::Duration;

use indicatif::ProgressBar;

use crate::progress;

/// A bar on a terminal, nothing elsewhere.
pub(crate) struct Watch(Option<ProgressBar>);

impl Watch {
    /// A bar over `total` points, `done` of which were finished by an earlier process.
    pub(crate) fn new(quiet: bool, total: u64, done: u64) -> Self {
        if !progress::is_watched(quiet) {
            return Self(None);
        }
        let template = "{bar:40} {pos}/{len} points, {elapsed} so far, {eta} to go";
        let bar = progress::bar(template, total).with_position(done);
        // The estimate counts from here, not from zero.
        bar.reset_eta();
        bar.enable_steady_tick(Duration::from_millis(500));
        Self(Some(bar))
    }

    /// One more point is finished.
    pub(crate) fn finished(&self) {
        if let Some(bar) = &self.0 {
            bar.inc(1);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}
