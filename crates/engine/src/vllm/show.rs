//! The state of the tier as an observer sees it.

use tierscope_units::{SequenceHash, SlotId};

use super::manager::OffloadManager;
use super::order::ChunkOrder;

impl OffloadManager {
    /// Number of slots.
    pub fn capacity(&self) -> u32 {
        self.chunks.capacity()
    }

    /// Slots that hold nothing.
    pub fn free(&self) -> u32 {
        self.chunks.free()
    }

    /// Chunks that nobody reads or writes.
    pub fn evictable(&self) -> u32 {
        self.chunks.evictable
    }

    /// Chunks that are being written.
    pub fn writing(&self) -> u32 {
        self.chunks.writing
    }

    /// Chunks that a load reads.
    pub fn pinned(&self) -> u32 {
        self.chunks.resident() - self.chunks.evictable - self.chunks.writing
    }

    /// Slots that were used since the last reset: the first so many.
    pub fn used(&self) -> u32 {
        self.chunks.used()
    }

    /// Of the used slots, those that came free, the next to be taken last.
    pub fn freed(&self) -> impl Iterator<Item = SlotId> {
        self.chunks.freed.iter().copied().map(SlotId)
    }

    /// Evictable slots, the next victim first.
    pub fn victims(&self) -> Vec<SlotId> {
        let mut out = Vec::new();
        self.order.policy().pick(&self.chunks, self.chunks.evictable, &mut out);
        out.into_iter().map(SlotId).collect()
    }

    /// The content of a used slot, if it holds one.
    pub fn content(&self, slot: SlotId) -> Option<SequenceHash> {
        self.chunks.holds(slot.0).then(|| self.chunks.key(slot.0))
    }

    /// All resident chunks in the policy's order.
    pub fn order(&self) -> ChunkOrder {
        self.order.policy().show(&self.chunks)
    }
}
