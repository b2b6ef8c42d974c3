//! Promises that outlive the instant: slots reserved for bytes that are still to come (rule T7).

use tierscope_units::{Idx, SequenceHash, SlotId};

use super::evict::Evict as _;
use super::pool::{BlockPool, Tag};
use super::transaction::Reservation;
use crate::fact::BlockRef;

impl BlockPool {
    /// Keeps a reservation of new slots: its victims lose their content now, into `removed`, and the slots stay
    /// reserved until [`BlockPool::activate`] or [`BlockPool::give_back`].
    pub(crate) fn keep(&mut self, reservation: Reservation<'_>, removed: &mut Vec<BlockRef>) -> Vec<SlotId> {
        let (from_free, victims) = reservation.into_promise();
        let mut slots: Vec<SlotId> = self.free.drain(self.free.len() - from_free as usize..).rev().collect();
        self.promised -= from_free;
        for slot in &slots {
            self.slots[slot.index()].tag = Tag::Reserved;
        }
        self.warm_for(victims.iter().map(|victim| self.slots[victim.index()].hash));
        for &victim in &victims {
            self.evictor.leave(&mut self.slots, victim);
            removed.push(self.unregister(victim));
        }
        slots.extend(victims);
        self.assert_conserved();
        slots
    }

    /// The bytes have come: each slot becomes cached with its content, the first block to be evicted last.
    /// Content that is resident already, and slots beyond the contents, are freed. Says what became matchable.
    pub(crate) fn activate(&mut self, slots: &[SlotId], hashes: &[SequenceHash]) -> Vec<BlockRef> {
        let mut filled = Vec::new();
        let mut parent = None;
        for (index, &slot) in slots.iter().enumerate() {
            let hash = hashes.get(index).copied().filter(|_| self.caching);
            match hash {
                Some(hash) if self.index.get(&self.slots, hash).is_none() => {
                    self.register(slot, hash, parent);
                    filled.push(BlockRef { slot, hash });
                    parent = Some(slot);
                }
                Some(hash) => {
                    parent = self.index.get(&self.slots, hash);
                    self.free_promised(slot);
                }
                None => self.free_promised(slot),
            }
        }
        for block in filled.iter().rev() {
            self.slots[block.slot.index()].tag = Tag::Cached;
            self.evictor.enter(&mut self.slots, block.slot);
        }
        self.cached += filled.len() as u32;
        self.reserved -= filled.len() as u32;
        self.generation += 1;
        self.assert_conserved();
        filled
    }

    /// Returns promised slots, the first to be taken again first.
    pub(crate) fn give_back(&mut self, slots: &[SlotId]) {
        for &slot in slots.iter().rev() {
            self.free_promised(slot);
        }
        self.assert_conserved();
    }

    fn free_promised(&mut self, slot: SlotId) {
        let promised = &mut self.slots[slot.index()];
        assert_eq!(promised.tag, Tag::Reserved, "{slot:?} ends a promise that nobody made");
        promised.tag = Tag::Free;
        self.free.push(slot);
        self.reserved -= 1;
        self.generation += 1;
    }
}
