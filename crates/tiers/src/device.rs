//! What holds the blocks of a [`crate::Pooled`] medium, as seen by a thread that copies: it blocks until it is done.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::fault::Fault;
use crate::medium::{Key, Slot};

/// What became of a block.
pub type Outcome = Result<(), Fault>;

/// A block on its way into a device.
#[derive(Clone, Copy)]
pub struct Stored<'a> {
    /// The content.
    pub key: Key,
    /// Its slot in the device.
    pub there: Slot,
    /// Its bytes.
    pub from: &'a [u8],
}

/// A block on its way out of a device.
pub struct Loaded<'a> {
    /// The content.
    pub key: Key,
    /// Its slot in the device.
    pub there: Slot,
    /// Where its bytes go; they are its own only if that succeeds.
    pub into: &'a mut [u8],
}

/// Whether anybody still wants a batch.
#[derive(Debug, Default)]
pub struct Wanted(AtomicBool);

impl Wanted {
    /// Nobody does any more.
    pub(crate) fn drop_it(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the next block is to be begun.
    pub fn is_wanted(&self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Where blocks are. Slots are in range and buffers have the size of a block: the pool sees to that.
pub trait Device: Send + Sync + 'static {
    /// How many blocks of a batch one thread takes at once. One where each is a request of its own; all of them where the
    /// device copies many by one command.
    fn grain(&self) -> usize {
        1
    }

    /// Stores a block.
    ///
    /// # Errors
    ///
    /// How it failed; then the slot serves nothing, or what it did before.
    fn store(&self, block: Stored<'_>, wanted: &Wanted) -> Outcome;

    /// Loads a block.
    ///
    /// # Errors
    ///
    /// How it failed.
    fn load(&self, block: Loaded<'_>, wanted: &Wanted) -> Outcome;

    /// Stores several, in order; each has its own outcome.
    fn store_many(&self, blocks: &[Stored<'_>], wanted: &Wanted) -> Vec<Outcome> {
        blocks.iter().map(|&block| guarded(wanted, || self.store(block, wanted))).collect()
    }

    /// Loads several, in order; each has its own outcome.
    fn load_many(&self, blocks: Vec<Loaded<'_>>, wanted: &Wanted) -> Vec<Outcome> {
        blocks.into_iter().map(|block| guarded(wanted, || self.load(block, wanted))).collect()
    }

    /// A slot holds nothing any more.
    fn forget(&self, slot: Slot);

    /// See [`crate::Medium::persist`].
    ///
    /// # Errors
    ///
    /// What the device says.
    fn persist(&self) -> Outcome {
        Ok(())
    }

    /// See [`crate::Medium::empty`].
    ///
    /// # Errors
    ///
    /// What the device says.
    fn empty(&self) -> Outcome {
        Ok(())
    }

    /// See [`crate::Medium::survivors`].
    fn survivors(&self) -> Vec<(Key, Slot)> {
        Vec::new()
    }
}

/// One block's panic is that block's: the thread, the batch and the medium go on.
fn guarded(wanted: &Wanted, copy: impl FnOnce() -> Outcome) -> Outcome {
    if !wanted.is_wanted() {
        return Err(Fault::Cancelled);
    }
    catch_unwind(AssertUnwindSafe(copy)).unwrap_or(Err(Fault::Panicked))
}
