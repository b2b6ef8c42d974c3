//! Ctrl-C and a polite kill: the run stops at the next slice, and no part of an output stays behind.

use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};

/// As shells have it for a process that a signal ended: 128 and the number of SIGINT.
const ASKED_TWICE: i32 = 130;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Listens from now on. Without a handler the signal ends the process as ever.
pub(crate) fn listen() {
    // A handler that cannot be set is no reason not to run.
    let _ = ctrlc::set_handler(|| {
        // Who asks twice does not want to wait for anything that still has to end.
        if INTERRUPTED.swap(true, Ordering::AcqRel) {
            std::process::exit(ASKED_TWICE);
        }
    });
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
