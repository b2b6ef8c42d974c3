//! A tier below G1: the same slots, index and eviction as G1's, with two things more. Content is known from the
//! moment that its slot is reserved, so that nothing is copied down twice (rule L8); and the slots are taken from
//! memory as they are needed, up to the tier's capacity.

use tierscope_units::{Idx, SequenceHash, SlotId, TransferId};

use super::config::TierConfig;
use crate::block::BlockPool;
use crate::block::pool::Tag;
use crate::block::transaction::Hits;
use crate::fact::BlockRef;

/// Slots of a tier that exist from the beginning.
const FIRST_SLOTS: u32 = 4_096;

/// What a tier knows of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing.
    Missing,
    /// It is on its way into this slot.
    Incoming(SlotId),
    /// It is here.
    Resident(SlotId),
}

/// One tier below G1.
#[derive(Clone)]
pub(crate) struct LowerTier {
    pub(crate) pool: BlockPool,
    /// By slot: the transfer that fills it, or the newest load that reads it. Empty in tiers from which nobody loads
    /// into G1 directly: nobody asks there.
    carrier: Vec<TransferId>,
    blocks_max: u32,
    none: Hits,
    victims: Vec<SlotId>,
}

/// No transfer.
const NO_TRANSFER: TransferId = TransferId(u64::MAX);

impl LowerTier {
    pub(crate) fn new(config: TierConfig, carries: bool) -> Self {
        let first = config.blocks.min(FIRST_SLOTS);
        Self {
            pool: BlockPool::growing(first, config.blocks, config.eviction),
            carrier: vec![NO_TRANSFER; if carries { first as usize } else { 0 }],
            blocks_max: config.blocks,
            none: Hits::default(),
            victims: Vec::new(),
        }
    }

    pub(crate) fn capacity(&self) -> u32 {
        self.blocks_max
    }

    /// The tier may hold so many blocks from now on; it never shrinks.
    pub(crate) fn grow_to(&mut self, blocks: u32) {
        if blocks > self.blocks_max {
            self.blocks_max = blocks;
            self.pool.evictor.grow(blocks);
        }
    }

    pub(crate) fn find(&self, hash: SequenceHash) -> Found {
        match self.pool.lookup(hash) {
            None => Found::Missing,
            Some(slot) if self.pool.slots[slot.index()].tag == Tag::Reserved => Found::Incoming(slot),
            Some(slot) => Found::Resident(slot),
        }
    }

    /// The transfer that fills a slot, or reads it for a load.
    pub(crate) fn carrier(&self, slot: SlotId) -> Option<TransferId> {
        self.carrier.get(slot.index()).copied().filter(|&transfer| transfer != NO_TRANSFER)
    }

    pub(crate) fn set_carrier(&mut self, slot: SlotId, transfer: TransferId) {
        if let Some(carrier) = self.carrier.get_mut(slot.index()) {
            *carrier = transfer;
        }
    }

    /// Slots that a reservation could get now.
    pub(crate) fn obtainable(&self) -> u32 {
        self.pool.available() + (self.blocks_max - self.pool.capacity())
    }

    /// Whether slots that are in use now will come free by themselves.
    pub(crate) fn has_busy(&self) -> bool {
        self.pool.active > 0 || self.pool.reserved > 0 || self.pool.reading > 0
    }

    /// Reserves `count` slots, or none when there are too few; the contents that had to go are in `removed`.
    pub(crate) fn reserve(&mut self, count: u32, removed: &mut Vec<BlockRef>) -> Option<Vec<SlotId>> {
        if count > self.obtainable() {
            return None;
        }
        let lacking = count.saturating_sub(self.pool.unpromised());
        let room = self.blocks_max - self.pool.capacity();
        if lacking > 0 && room > 0 {
            let more = lacking.max(self.pool.capacity()).min(room);
            self.pool.grow(more);
            if !self.carrier.is_empty() {
                self.carrier.resize(self.pool.capacity() as usize, NO_TRANSFER);
            }
        }
        let reservation = self.pool.reserve(&mut self.none, count, 0, &mut self.victims).ok()?;
        Some(self.pool.keep(reservation, removed))
    }

    /// The content that will fill a reserved slot. `false` when it is here already, or on its way: it keeps the slot
    /// that it has.
    pub(crate) fn expect(&mut self, slot: SlotId, hash: SequenceHash, transfer: TransferId) -> bool {
        self.set_carrier(slot, transfer);
        let new = self.pool.lookup(hash).is_none();
        if new {
            self.pool.announce(slot, hash);
        }
        new
    }

    /// Whether a slot holds this content, and not only expects it.
    pub(crate) fn has(&self, slot: SlotId, hash: SequenceHash) -> bool {
        let state = &self.pool.slots[slot.index()];
        state.hash == hash && state.tag != Tag::Reserved
    }

    /// The bytes have come: the slot is resident with `hash`; `false` when another slot has it, and this one is
    /// free again (rule L8).
    pub(crate) fn settle(&mut self, slot: SlotId, hash: SequenceHash) -> bool {
        self.set_carrier(slot, NO_TRANSFER);
        if self.pool.slot_hash(slot) != Some(hash) {
            if self.pool.lookup(hash).is_some() {
                self.pool.give_back(&[slot]);
                return false;
            }
            self.pool.announce(slot, hash);
        }
        self.pool.settle_announced(slot);
        true
    }

    /// The bytes will not come (rule L5).
    pub(crate) fn give_up(&mut self, slot: SlotId) {
        self.set_carrier(slot, NO_TRANSFER);
        if self.pool.slot_hash(slot).is_some() {
            self.pool.retract(slot);
        }
        self.pool.give_back(&[slot]);
    }

    /// A reader more: the slot is no victim.
    pub(crate) fn pin(&mut self, slot: SlotId) {
        self.pool.pin(slot);
    }

    /// A reader less.
    pub(crate) fn unpin(&mut self, slot: SlotId) {
        self.pool.release(&[slot]);
        if self.pool.slots[slot.index()].refs == 0 {
            self.set_carrier(slot, NO_TRANSFER);
        }
    }

    /// Forgets a resident block that nobody reads, and says what it was; `None` when somebody does.
    pub(crate) fn forget(&mut self, slot: SlotId) -> Option<BlockRef> {
        (self.pool.slots[slot.index()].tag == Tag::Cached).then(|| self.pool.forget(slot))
    }
}
