//! Objects that are of no use any more are removed, one after another, behind the back of what is copied. What is left when
//! we end, or could not be removed, is found at the next opening.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

use super::name::Name;
use super::place::Place;

/// Names that are remembered: more of them are left to the next opening.
const NAMES_MAX: usize = 1 << 16;

/// Removes objects.
pub(super) struct Sweep {
    place: Arc<Place>,
    /// How long one removal may take.
    attempt: Duration,
    names: Mutex<VecDeque<Name>>,
    /// Whether somebody is about to remove them.
    called: AtomicBool,
    /// Held by whoever does: one at a time.
    sweeping: tokio::sync::Mutex<()>,
}

impl Sweep {
    pub(super) fn new(place: Arc<Place>, attempt: Duration) -> Arc<Self> {
        let (names, called) = (Mutex::default(), AtomicBool::new(false));
        Arc::new(Self { place, attempt, names, called, sweeping: tokio::sync::Mutex::new(()) })
    }

    fn names(&self) -> MutexGuard<'_, VecDeque<Name>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These are of no use any more.
    pub(super) fn throw(self: &Arc<Self>, runtime: &Handle, thrown: impl IntoIterator<Item = Name>) {
        {
            let mut names = self.names();
            let room = NAMES_MAX - names.len().min(NAMES_MAX);
            names.extend(thrown.into_iter().take(room));
            if names.is_empty() {
                return;
            }
        }
        if !self.called.swap(true, Ordering::AcqRel) {
            let own = Arc::clone(self);
            runtime.spawn(async move { own.run().await });
        }
    }

    /// Removes all that is known, until one cannot be removed.
    pub(super) async fn run(&self) {
        let _alone = self.sweeping.lock().await;
        self.called.store(false, Ordering::Release);
        loop {
            let next = self.names().pop_front();
            let Some(name) = next else { return };
            let removed = tokio::time::timeout(self.attempt, self.place.delete(name)).await;
            if !matches!(removed, Ok(Ok(()))) {
                // Tried again when the next one is thrown away.
                return self.names().push_back(name);
            }
        }
    }
}
