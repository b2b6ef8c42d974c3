//! Wakes the driver when a copy has ended, whichever medium it was on.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tierscope_tiers::Bell;

/// A bell that remembers that it was rung.
#[derive(Clone, Default)]
pub(crate) struct Doorbell(Arc<(Mutex<bool>, Condvar)>);

impl Doorbell {
    /// What media ring.
    pub(crate) fn bell(&self) -> Bell {
        let own = Arc::clone(&self.0);
        Arc::new(move || {
            let (rung, heard) = &*own;
            *rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
            heard.notify_one();
        })
    }

    /// Waits until it is rung, or was since the last time.
    pub(crate) fn wait(&self, most: Duration) {
        let (rung, heard) = &*self.0;
        let silent = rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = heard.wait_timeout_while(silent, most, |rung| !*rung);
        *waited.unwrap_or_else(PoisonError::into_inner).0 = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bell_that_was_rung_before_is_heard_at_once_and_once() {
        let bell = Doorbell::default();
        (bell.bell())();
        // Would wait for an hour if the ringing were lost.
        bell.wait(Duration::from_secs(3_600));
        bell.wait(Duration::from_millis(1));
        std::thread::scope(|scope| {
            let ring = bell.bell();
            scope.spawn(move || ring());
            bell.wait(Duration::from_secs(3_600));
        });
    }
}
