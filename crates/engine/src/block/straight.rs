//! The allocation that transactions are measured against: the same slots, taken at once.
//!
//! For the benchmark only (`cargo xtask bench transactions`): nothing is promised, so nothing can be taken back,
//! and a caller that fails half way would have to find out itself what it holds. Takes the slots that reserve
//! and commit would take, in their order (under TinyLFU, whose counts a hit may age, only almost).

use tierscope_units::{Idx, SlotId};

use super::evict::Evict as _;
use super::pool::{BlockPool, Tag};
use super::transaction::{Exhausted, Hits};
use crate::fact::BlockRef;

impl BlockPool {
    /// Takes the hits and `missing` further slots, leaving `keep_free` available, and appends them to `owned`;
    /// the evicted contents go to `removed`. Returns the number of victims.
    pub(crate) fn take_straight(
        &mut self,
        hits: &mut Hits,
        (missing, keep_free): (u32, u32),
        owned: &mut Vec<SlotId>,
        removed: &mut Vec<BlockRef>,
    ) -> Result<u32, Exhausted> {
        let needed = missing + hits.cached;
        let obtainable = self.available();
        if needed.saturating_add(keep_free) > obtainable {
            return Err(Exhausted { needed, obtainable });
        }
        for slot in hits.slots.drain(..) {
            if self.slots[slot.index()].tag == Tag::Cached {
                self.evictor.leave(&mut self.slots, slot);
                self.slots[slot.index()].tag = Tag::Active;
            }
            self.evictor.used(self.slots[slot.index()].hash);
            self.slots[slot.index()].refs += 1;
            owned.push(slot);
        }
        let from_free = (missing as usize).min(self.free.len());
        for slot in self.free.drain(self.free.len() - from_free..).rev() {
            let s = &mut self.slots[slot.index()];
            s.tag = Tag::Active;
            s.refs = 1;
            owned.push(slot);
        }
        let victims = missing as usize - from_free;
        let first_victim = owned.len();
        self.evictor.pick(&self.slots, victims, owned);
        for &victim in &owned[first_victim..] {
            self.evictor.leave(&mut self.slots, victim);
            removed.push(self.unregister(victim));
            let s = &mut self.slots[victim.index()];
            s.tag = Tag::Active;
            s.refs = 1;
        }
        self.cached -= hits.cached + victims as u32;
        self.active += hits.cached + missing;
        self.assert_conserved();
        Ok(victims as u32)
    }
}
