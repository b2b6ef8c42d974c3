//! Why the head of the line need not be tried again yet.
//!
//! A refused admission reads its whole prefix, which is long; a decode pass is short. The refusal stands
//! until slots are released, the first missing block becomes resident, or one of the hits is evicted: nothing
//! else can lower what is needed or raise what is obtainable. So skipping the attempt changes no decision.

use tierscope_units::{SequenceHash, SlotId};

use crate::block::BlockPool;
use crate::fact::BlockRef;
use crate::request::Live;

/// The refused head of the line.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockedHead {
    head: Option<Live>,
    next_hash: Option<SequenceHash>,
    hits: Vec<SlotId>,
}

impl BlockedHead {
    /// Remembers a refusal.
    pub(crate) fn set(&mut self, head: Live, hits: &[SlotId], next_hash: Option<SequenceHash>) {
        self.head = Some(head);
        self.next_hash = next_hash;
        self.hits.clear();
        self.hits.extend_from_slice(hits);
        self.hits.sort_unstable();
    }

    /// Forgets it: slots were released, or the line changed.
    pub(crate) fn clear(&mut self) {
        self.head = None;
    }

    /// Evicted content may have been a hit.
    pub(crate) fn content_removed(&mut self, removed: &[BlockRef]) {
        if self.head.is_some() && removed.iter().any(|b| self.hits.binary_search(&b.slot).is_ok()) {
            self.head = None;
        }
    }

    /// Whether the refusal of `head` still stands.
    pub(crate) fn still_blocks(&self, head: Live, pool: &BlockPool) -> bool {
        self.head == Some(head) && self.next_hash.is_none_or(|hash| pool.lookup(hash).is_none())
    }
}
