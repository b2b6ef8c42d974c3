//! A progress bar on long runs, where somebody watches.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use tierscope_sim::Progress;

/// Runs shorter than this show no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// Whether somebody watches: standard error is a terminal, and quiet was not asked for.
pub(crate) fn is_watched(quiet: bool) -> bool {
    !quiet && std::io::stderr().is_terminal()
}

/// A bar of the one look that all have.
pub(crate) fn bar(template: &str, total: u64) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(total).with_style(style.progress_chars("━╸─"))
}

/// A bar that appears when a run takes long and standard error is a terminal.
pub(crate) struct Watch {
    began: Instant,
    wanted: bool,
    bar: Option<ProgressBar>,
}

impl Watch {
    /// No bar yet; never one when `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        Self { began: Instant::now(), wanted: is_watched(quiet), bar: None }
    }

    /// Shows how far the run is.
    pub(crate) fn show(&mut self, progress: Progress) {
        if !self.wanted || self.began.elapsed() < PATIENCE {
            return;
        }
        let template = "{bar:40} {pos}/{len} requests, {msg}";
        let bar = self.bar.get_or_insert_with(|| bar(template, progress.total.into()));
        bar.set_message(format!("simulated {}", progress.now));
        bar.set_position(progress.ended.into());
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
