//! The slots of G1.
//!
//! A slot is free, reserved by an open transaction, active (referenced), or cached (full, matchable,
//! referenced by nobody). Invariants (rule T9), asserted after every change of the counts:
//! - free + reserved + active + cached = capacity;
//! - a slot is in the index ⇔ it carries a hash; in the evictor ⇔ it is cached or a reserved victim; on the free
//!   stack ⇔ it is free, or was when it was promised: promises are the top of the stack.
//!
//! Deliberately absent: time, requests, and policy beyond the order of victims.

use tierscope_units::{Idx, SequenceHash, SlotId};

use super::evict::{Evict, Evictor, NONE};
use super::index::HashIndex;
use crate::config::EvictionPolicy;
use crate::fact::{BlockRef, Occupancy};

/// What a slot is to an observer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotState {
    /// Holds nothing.
    Free,
    /// Promised to an open transaction.
    Reserved,
    /// In use by `refs` requests; `full` when its content is registered.
    Active {
        /// Number of requests that hold it, at least 1.
        refs: u32,
        /// Whether it is full and matchable.
        full: bool,
    },
    /// Full, matchable, evictable.
    Cached,
    /// Evicted, and still read by an offload.
    SourceHold,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tag {
    Free,
    /// A victim of the open transaction.
    Reserved,
    Active,
    Cached,
    /// Cached, and a copy reads it: matchable, and no victim before the copy ends.
    Reading,
    SourceHold,
    /// Cached, and a hit of a transaction that others make room for: not a victim (rule T2).
    Protected,
}

#[derive(Clone, Debug)]
pub(crate) struct Slot {
    /// Content; zero when unregistered.
    pub(crate) hash: SequenceHash,
    pub(crate) refs: u32,
    pub(crate) prev: u32,
    pub(crate) next: u32,
    /// Next slot of the same bucket of the index.
    pub(crate) link: u32,
    pub(crate) tag: Tag,
    /// Copies to lower tiers that read it: it is not reused before they end (rule L6).
    pub(crate) read: u8,
    /// Its content was copied down since it is here.
    pub(crate) sent: bool,
    /// How often its content was found here.
    pub(crate) uses: u16,
}

impl Slot {
    /// A free slot that is in no list.
    pub(crate) const EMPTY: Self = Self {
        hash: SequenceHash(0),
        refs: 0,
        prev: NONE,
        next: NONE,
        link: NONE,
        tag: Tag::Free,
        read: 0,
        sent: false,
        uses: 0,
    };
}

/// G1 of one worker.
#[derive(Clone)]
pub struct BlockPool {
    pub(crate) slots: Vec<Slot>,
    /// Free slots, the next to be taken last.
    pub(crate) free: Vec<SlotId>,
    pub(crate) evictor: Evictor,
    pub(crate) index: HashIndex,
    /// Slots promised to the open transaction, free ones and victims.
    pub(crate) reserved: u32,
    /// Those of them that lie on top of the free stack.
    pub(crate) promised: u32,
    pub(crate) active: u32,
    /// Those that may be evicted.
    pub(crate) cached: u32,
    /// Cached ones that a copy reads.
    pub(crate) reading: u32,
    pub(crate) source_hold: u32,
    /// Grows whenever slots come free.
    pub(crate) generation: u64,
    pub(crate) caching: bool,
}

impl BlockPool {
    pub(crate) fn new(capacity: u32, caching: bool, eviction: EvictionPolicy) -> Self {
        Self {
            slots: vec![Slot::EMPTY; capacity as usize],
            free: (0..capacity).rev().map(SlotId).collect(),
            evictor: Evictor::new(eviction, capacity),
            index: HashIndex::for_slots(if caching { capacity } else { 0 }),
            reserved: 0,
            promised: 0,
            active: 0,
            cached: 0,
            reading: 0,
            source_hold: 0,
            generation: 0,
            caching,
        }
    }

    /// A pool that has `first` slots and may grow to `most`.
    pub(crate) fn growing(first: u32, most: u32, eviction: EvictionPolicy) -> Self {
        Self { evictor: Evictor::new(eviction, most), ..Self::new(first, true, EvictionPolicy::Lru) }
    }

    /// Number of slots.
    pub fn capacity(&self) -> u32 {
        self.slots.len() as u32
    }

    /// How many slots are in which state.
    pub fn occupancy(&self) -> Occupancy {
        Occupancy {
            free: self.unpromised(),
            reserved: self.reserved,
            active: self.active,
            cached: self.cached + self.reading,
            source_hold: self.source_hold,
        }
    }

    /// Slots that an acquire could get: free ones and cached ones (vLLM's number of free blocks).
    pub fn available(&self) -> u32 {
        self.unpromised() + self.cached
    }

    /// Free slots that no open transaction has been promised.
    pub(crate) fn unpromised(&self) -> u32 {
        self.free.len() as u32 - self.promised
    }

    /// The state of one slot.
    pub fn slot_state(&self, slot: SlotId) -> SlotState {
        let s = &self.slots[slot.index()];
        match s.tag {
            Tag::Free if self.free[self.unpromised() as usize..].contains(&slot) => SlotState::Reserved,
            Tag::Free => SlotState::Free,
            Tag::Reserved => SlotState::Reserved,
            Tag::Active => SlotState::Active { refs: s.refs, full: s.hash.0 != 0 },
            Tag::Cached | Tag::Reading | Tag::Protected => SlotState::Cached,
            Tag::SourceHold => SlotState::SourceHold,
        }
    }

    /// The content of a slot; `None` when it holds no full block.
    pub fn slot_hash(&self, slot: SlotId) -> Option<SequenceHash> {
        Some(self.slots[slot.index()].hash).filter(|hash| hash.0 != 0)
    }

    /// The slot that a lookup of `hash` gives.
    pub fn lookup(&self, hash: SequenceHash) -> Option<SlotId> {
        self.index.get(&self.slots, hash)
    }

    /// Free and cached slots in the order in which they will be taken.
    pub fn take_order(&self) -> Vec<SlotId> {
        let mut order: Vec<SlotId> = self.free.iter().rev().copied().collect();
        let cached = self.evictor.order(&self.slots);
        order.extend(cached.into_iter().filter(|slot| self.slots[slot.index()].tag == Tag::Cached));
        order
    }

    /// Roughly the memory of the pool, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.slots.len() * (size_of::<Slot>() + size_of::<SlotId>()) + self.index.bytes()
    }

    /// Makes a full block matchable (rule T4). A slot is registered once; `parent` is the block before it in
    /// its request.
    pub(crate) fn register(&mut self, slot: SlotId, hash: SequenceHash, parent: Option<SlotId>) {
        debug_assert_eq!(self.slots[slot.index()].hash.0, 0, "{slot:?} is registered already");
        self.slots[slot.index()].hash = hash;
        self.index.insert(&mut self.slots, slot);
        self.evictor.registered(&self.slots, slot, parent);
        self.evictor.used(hash);
    }

    /// Gets ready to register these contents.
    pub(crate) fn warm(&self, hashes: &[SequenceHash]) {
        self.index.warm(&self.slots, hashes.iter().copied());
    }

    /// Makes a block unmatchable and says what it was.
    pub(crate) fn unregister(&mut self, slot: SlotId) -> BlockRef {
        self.index.remove(&mut self.slots, slot);
        let s = &mut self.slots[slot.index()];
        let hash = std::mem::take(&mut s.hash);
        s.link = NONE;
        s.uses = 0;
        s.sent = false;
        self.evictor.unregistered(&self.slots, slot);
        BlockRef { slot, hash }
    }

    /// Ends one reference to each of a request's blocks, last block first. Those that nobody holds any more
    /// become cached when registered, at the back of the queue; the others go back on top of the free ones.
    pub(crate) fn release(&mut self, blocks: &[SlotId]) {
        let stack = self.free.len();
        for &slot in blocks.iter().rev() {
            let s = &mut self.slots[slot.index()];
            debug_assert!(s.tag == Tag::Active && s.refs > 0, "{slot:?} is released but not held");
            s.refs -= 1;
            if s.refs > 0 {
                continue;
            }
            self.active -= 1;
            if s.hash.0 == 0 && s.read > 0 {
                s.tag = Tag::SourceHold;
                self.source_hold += 1;
            } else if s.hash.0 == 0 {
                s.tag = Tag::Free;
                self.free.push(slot);
            } else if s.read > 0 {
                s.tag = Tag::Reading;
                self.reading += 1;
                self.evictor.enter(&mut self.slots, slot);
            } else {
                s.tag = Tag::Cached;
                self.cached += 1;
                self.evictor.enter(&mut self.slots, slot);
            }
        }
        self.generation += 1;
        // The first to be released is the first to be taken again.
        self.free[stack..].reverse();
        self.assert_conserved();
    }

    /// How often the content of a slot was found here.
    pub(crate) fn uses(&self, slot: SlotId) -> u16 {
        self.slots[slot.index()].uses
    }

    /// Whether a slot is full and held once.
    pub(crate) fn is_last_full(&self, slot: SlotId) -> bool {
        let slot = &self.slots[slot.index()];
        slot.refs == 1 && slot.hash.0 != 0
    }

    /// Makes all content unmatchable; the order in which slots will be taken stays. Nothing may be in use.
    pub(crate) fn forget_all(&mut self) -> Vec<BlockRef> {
        let order = self.take_order();
        let cached = &order[self.free.len()..];
        for &slot in cached {
            self.evictor.leave(&mut self.slots, slot);
        }
        let removed = cached.iter().map(|&slot| self.unregister(slot)).collect();
        for slot in &order {
            self.slots[slot.index()].tag = Tag::Free;
        }
        self.cached = 0;
        self.free = order;
        self.free.reverse();
        self.assert_conserved();
        removed
    }

    pub(crate) fn assert_conserved(&self) {
        let sum =
            self.unpromised() + self.reserved + self.active + self.cached + self.reading + self.source_hold;
        assert_eq!(sum, self.capacity(), "T9: free + reserved + active + cached + source hold = capacity");
    }
}
