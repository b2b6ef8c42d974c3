//! Who has a slot: many that read it, or one that writes it. Asked, never waited for.

use std::sync::atomic::{AtomicU32, Ordering};

use crate::medium::Slot;

/// The claim of a slot's one writer.
const WRITER: u32 = u32::MAX;

/// By slot: [`WRITER`], or how many read it.
pub(crate) struct Claims(Vec<AtomicU32>);

impl Claims {
    pub(crate) fn new(slots: u32) -> Self {
        Self((0..slots).map(|_| AtomicU32::new(0)).collect())
    }

    pub(crate) fn slots(&self) -> u32 {
        self.0.len() as u32
    }

    /// `None` when there is no such slot, or somebody writes it.
    pub(crate) fn read(&self, slot: Slot) -> Option<ReadClaim<'_>> {
        let claim = self.0.get(slot.0 as usize)?;
        let more = |claimed: u32| (claimed < WRITER - 1).then(|| claimed + 1);
        claim.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).ok()?;
        Some(ReadClaim(claim))
    }

    /// `None` when there is no such slot, or somebody has it.
    pub(crate) fn write(&self, slot: Slot) -> Option<WriteClaim<'_>> {
        let claim = self.0.get(slot.0 as usize)?;
        claim.compare_exchange(0, WRITER, Ordering::Acquire, Ordering::Relaxed).ok()?;
        Some(WriteClaim(claim))
    }
}

/// One of a slot's readers; given back when it is dropped.
pub(crate) struct ReadClaim<'a>(&'a AtomicU32);

impl Drop for ReadClaim<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// A slot's one writer; given back when it is dropped.
pub(crate) struct WriteClaim<'a>(&'a AtomicU32);

impl Drop for WriteClaim<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
    }
}
