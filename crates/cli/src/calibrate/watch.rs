//! How far a calibration is, where somebody watches.

use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over the seconds that there are, on a terminal.
pub(super) struct Watch {
    began: Instant,
    bar: Option<ProgressBar>,
}

impl Watch {
    pub(super) fn new(quiet: bool, seconds: u64) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        Self { began: Instant::now(), bar: wanted.then(|| bar(seconds)) }
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

fn bar(seconds: u64) -> ProgressBar {
    let template = "{bar:40} {pos}/{len} s, {msg}";
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(seconds).with_style(style.progress_chars("━╸─"))
}
