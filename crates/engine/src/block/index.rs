//! Content hash → the slots that hold it: a chained hash table whose links lie in the slots.
//!
//! A bucket's chain holds its slots in the order of registration, so the first match is the one registered
//! first, which is what a lookup gives when several slots hold the same content (vLLM does not de-duplicate a
//! recomputed block). One bucket head is read per operation besides the slots themselves, which the caller
//! reads anyway; a general hash map took twice the time of a whole run at block size 16.

use tierscope_units::{Idx, SequenceHash, SlotId};

use super::evict::NONE;
use super::pool::Slot;

/// The bucket heads; the chains go on in [`Slot::link`].
#[derive(Clone)]
pub(crate) struct HashIndex {
    heads: Vec<u32>,
}

impl HashIndex {
    /// Two buckets a slot: a chain is rarely longer than one.
    pub(crate) fn for_slots(slots: u32) -> Self {
        Self { heads: vec![NONE; (2 * slots as usize).next_power_of_two().max(2)] }
    }

    /// Sequence hashes are uniform already.
    fn bucket(&self, hash: SequenceHash) -> usize {
        hash.0 as usize & (self.heads.len() - 1)
    }

    /// Reads what an insertion or removal of each hash will read, and changes nothing. The reads of a batch do
    /// not wait for each other, as those of one insertion after the other do: on a pool larger than the cache
    /// this takes a third off a whole run (2.5 s to 1.6 s at block size 16).
    pub(crate) fn warm(&self, slots: &[Slot], hashes: impl Iterator<Item = SequenceHash>) {
        let mut read = 0;
        for hash in hashes {
            let head = self.heads[self.bucket(hash)];
            read ^= slots.get(head as usize).map_or(head, |slot| slot.link);
        }
        std::hint::black_box(read);
    }

    /// The slot that was registered first with this content.
    pub(crate) fn get(&self, slots: &[Slot], hash: SequenceHash) -> Option<SlotId> {
        let mut at = self.heads[self.bucket(hash)];
        while at != NONE {
            let slot = &slots[at as usize];
            if slot.hash == hash {
                return Some(SlotId(at));
            }
            at = slot.link;
        }
        None
    }

    /// Adds a slot behind those of its bucket.
    pub(crate) fn insert(&mut self, slots: &mut [Slot], slot: SlotId) {
        let bucket = self.bucket(slots[slot.index()].hash);
        slots[slot.index()].link = NONE;
        let mut last = self.heads[bucket];
        if last == NONE {
            self.heads[bucket] = slot.0;
            return;
        }
        while slots[last as usize].link != NONE {
            last = slots[last as usize].link;
        }
        slots[last as usize].link = slot.0;
    }

    /// Takes a slot out.
    pub(crate) fn remove(&mut self, slots: &mut [Slot], slot: SlotId) {
        let Slot { hash, link, .. } = slots[slot.index()];
        let bucket = self.bucket(hash);
        let mut at = self.heads[bucket];
        if at == slot.0 {
            self.heads[bucket] = link;
            return;
        }
        while slots[at as usize].link != slot.0 {
            at = slots[at as usize].link;
        }
        slots[at as usize].link = link;
    }

    /// Number of slots in all chains.
    pub(crate) fn count(&self, slots: &[Slot]) -> usize {
        let chain = |head: &u32| {
            let link = |at: &u32| Some(slots[*at as usize].link).filter(|&link| link != NONE);
            std::iter::successors(Some(*head).filter(|&head| head != NONE), link)
                .take(slots.len() + 1)
                .count()
        };
        self.heads.iter().map(chain).sum()
    }

    /// Memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.heads.len() * size_of::<u32>()
    }
}
