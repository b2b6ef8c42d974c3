//! What slots do where there are several tiers: those of G1 are read by copies; those below are announced before
//! their bytes come, pinned one by one, and taken from memory as they are needed.

use tierscope_units::{Idx, SequenceHash, SlotId};

use super::evict::{Evict as _, NONE};
use super::index::HashIndex;
use super::pool::{BlockPool, Slot, Tag};
use crate::fact::BlockRef;

impl BlockPool {
    /// Adds `more` free slots, which are taken after those that were free before.
    pub(crate) fn grow(&mut self, more: u32) {
        let (old, new) = (self.capacity(), self.capacity() + more);
        self.slots.resize(new as usize, Slot::EMPTY);
        self.free.splice(0..0, (old..new).rev().map(SlotId));
        self.index = HashIndex::for_slots(new);
        for slot in (0..old).map(SlotId) {
            if self.slots[slot.index()].hash.0 != 0 {
                self.index.insert(&mut self.slots, slot);
            }
        }
        self.assert_conserved();
    }

    /// Reads what lookups, insertions or removals of these contents will read: the reads do not wait for each other.
    pub(crate) fn warm_for(&self, hashes: impl Iterator<Item = SequenceHash>) {
        self.index.warm(&self.slots, hashes);
    }

    /// A copy begins to read a full block: it may be hit and released, and is not reused.
    pub(crate) fn begin_read(&mut self, slot: SlotId) {
        let s = &mut self.slots[slot.index()];
        s.read += 1;
        s.sent = true;
        if s.tag == Tag::Cached {
            s.tag = Tag::Reading;
            self.cached -= 1;
            self.reading += 1;
        }
    }

    /// A copy has ended that read these (rule L6).
    pub(crate) fn end_reads(&mut self, slots: impl Iterator<Item = SlotId>) {
        for slot in slots {
            self.end_one_read(slot);
        }
        self.generation += 1;
        self.assert_conserved();
    }

    fn end_one_read(&mut self, slot: SlotId) {
        let s = &mut self.slots[slot.index()];
        debug_assert!(s.read > 0, "{slot:?} is read by nobody");
        s.read -= 1;
        if s.read > 0 {
            return;
        }
        match s.tag {
            Tag::Reading => {
                s.tag = Tag::Cached;
                self.reading -= 1;
                self.cached += 1;
            }
            Tag::SourceHold => {
                s.tag = Tag::Free;
                self.free.push(slot);
                self.source_hold -= 1;
            }
            _ => {}
        }
    }

    /// The next `count` victims, in order.
    pub(crate) fn next_victims(&self, count: usize) -> Vec<SlotId> {
        let mut victims = Vec::new();
        self.evictor.pick(&self.slots, count, &mut victims);
        victims
    }

    /// The content that a reserved slot will hold: known, and not matchable yet.
    pub(crate) fn announce(&mut self, slot: SlotId, hash: SequenceHash) {
        debug_assert_eq!(
            self.slots[slot.index()].tag,
            Tag::Reserved,
            "{slot:?} is announced and not reserved"
        );
        self.slots[slot.index()].hash = hash;
        self.index.insert(&mut self.slots, slot);
    }

    /// Takes [`BlockPool::announce`] back.
    pub(crate) fn retract(&mut self, slot: SlotId) {
        self.index.remove(&mut self.slots, slot);
        self.slots[slot.index()].hash = SequenceHash(0);
        self.slots[slot.index()].link = NONE;
    }

    /// The bytes of an announced slot have come: it is cached.
    pub(crate) fn settle_announced(&mut self, slot: SlotId) {
        let hash = self.slots[slot.index()].hash;
        self.evictor.registered(&self.slots, slot, None);
        self.evictor.used(hash);
        self.slots[slot.index()].tag = Tag::Cached;
        self.evictor.enter(&mut self.slots, slot);
        self.reserved -= 1;
        self.cached += 1;
        self.generation += 1;
        self.assert_conserved();
    }

    /// A further reference to a full block.
    pub(crate) fn pin(&mut self, slot: SlotId) {
        if self.slots[slot.index()].refs == 0 {
            self.evictor.leave(&mut self.slots, slot);
            match self.slots[slot.index()].read {
                0 => self.cached -= 1,
                _ => self.reading -= 1,
            }
            self.active += 1;
        }
        self.evictor.hit(&self.slots, &[slot]);
        let s = &mut self.slots[slot.index()];
        s.tag = Tag::Active;
        s.refs += 1;
    }

    /// Gives up a cached block by name, not by the policy's choice.
    pub(crate) fn forget(&mut self, slot: SlotId) -> BlockRef {
        self.evictor.leave(&mut self.slots, slot);
        let block = self.unregister(slot);
        self.slots[slot.index()].tag = Tag::Free;
        self.free.push(slot);
        self.cached -= 1;
        self.generation += 1;
        self.assert_conserved();
        block
    }
}
