//! What the manager answers, and what it reports.

use tierscope_units::{SequenceHash, SlotId};

use crate::fact::BlockRef;

/// What a lookup finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Not resident.
    Miss,
    /// Resident and readable.
    Hit,
    /// Being written: readable when the store completes.
    HitPending,
}

/// A store that may begin.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Store {
    /// The contents to write, in the order offered; possibly none.
    pub keys: Vec<SequenceHash>,
    /// Where each goes.
    pub chunks: Vec<SlotId>,
    /// The contents that made room, in order.
    pub evicted: Vec<SequenceHash>,
}

/// What became of the tier's contents: chunks, by the slot that each has or had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ManagerEvent {
    /// Readable from now on.
    Stored(Vec<BlockRef>),
    /// Gone, to make room.
    Removed(Vec<BlockRef>),
    /// Never became readable: their store failed.
    StoreFailed(Vec<BlockRef>),
}

/// A load was asked for a chunk that is not readable; nothing was changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReadable(pub SequenceHash);
