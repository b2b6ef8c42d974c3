//! Ctrl-C and a polite kill: the run stops at the next slice, and no part of an output stays behind.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on. Without a handler the signal ends the process as ever.
pub(crate) fn listen() {
    // A handler that cannot be set is no reason not to run.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Release));
}

/// Whether the user asked to stop.
pub(crate) fn asked() -> bool {
    INTERRUPTED.load(Ordering::Acquire)
}

/// An error once the user asked to stop.
pub(crate) fn check() -> Result<()> {
    match asked() {
        true => Err(anyhow!("interrupted: nothing was written")),
        false => Ok(()),
    }
}
