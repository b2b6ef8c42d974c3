//! Whole-state invariants (rule T9), for tests, fuzzing, and every input of a debug build.

use tierscope_units::{Idx, SlotId};

use crate::block::evict::{Evict as _, NONE};
use crate::block::pool::{BlockPool, Tag};
use crate::machine::Engine;

impl Engine {
    /// Sweeps the whole state.
    ///
    /// # Errors
    ///
    /// The first broken invariant, in words.
    pub fn check(&self) -> Result<(), String> {
        self.pool.check()?;
        let mut refs = vec![0u32; self.pool.slots.len()];
        for live in self.requests.lives() {
            for slot in &self.requests.get(live).blocks {
                refs[slot.index()] += 1;
            }
        }
        for slot in self.leases.slots().chain(self.held_for_handoffs()) {
            refs[slot.index()] += 1;
        }
        for (index, (slot, &held)) in self.pool.slots.iter().zip(&refs).enumerate() {
            if slot.refs != held {
                return Err(format!(
                    "slot {index} counts {} references, requests, leases and handoffs hold {held}",
                    slot.refs
                ));
            }
        }
        if self.pool.reserved as usize != self.claimed() {
            return Err(format!("{} slots are promised, claims hold {}", self.pool.reserved, self.claimed()));
        }
        self.check_lower()?;
        let queued = self.running.len() + self.waiting.len() + self.holding.len() + self.doomed as usize;
        if queued != self.requests.live_count() {
            return Err(format!("{queued} requests are queued, {} are live", self.requests.live_count()));
        }
        Ok(())
    }

    /// Small states after every input, large ones now and then.
    #[cfg(debug_assertions)]
    pub(crate) fn check_in_debug(&mut self) {
        self.inputs += 1;
        // A sweep costs as much as there are slots: over a run it costs each input a constant.
        let slots = self.pool.slots.len() as u64;
        let due = slots <= 256 || self.inputs.is_multiple_of(16 * slots);
        if due && let Err(broken) = self.check() {
            panic!("invariant violated after input {}: {broken}", self.inputs);
        }
    }
}

impl BlockPool {
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_counts()?;
        self.check_lists()?;
        self.check_index()
    }

    fn check_counts(&self) -> Result<(), String> {
        let count = |tag: Tag| self.slots.iter().filter(|slot| slot.tag == tag).count() as u32;
        let counted = [
            ("free or promised", count(Tag::Free), self.free.len() as u32),
            ("victims", count(Tag::Reserved), self.reserved - self.promised),
            ("active", count(Tag::Active), self.active),
            ("cached", count(Tag::Cached), self.cached),
            ("cached and read", count(Tag::Reading), self.reading),
            ("source hold", count(Tag::SourceHold), self.source_hold),
            ("protected", count(Tag::Protected), 0),
        ];
        for (name, found, told) in counted {
            if found != told {
                return Err(format!("{found} slots are {name}, the pool counts {told}"));
            }
        }
        for (index, slot) in self.slots.iter().enumerate() {
            let fits = match slot.tag {
                Tag::Free => slot.refs == 0 && slot.hash.0 == 0,
                Tag::Reserved => slot.refs == 0,
                Tag::SourceHold => slot.refs == 0 && slot.hash.0 == 0,
                Tag::Active => slot.refs > 0,
                Tag::Cached | Tag::Protected => slot.refs == 0 && slot.hash.0 != 0 && slot.read == 0,
                Tag::Reading => slot.refs == 0 && slot.hash.0 != 0 && slot.read > 0,
            };
            if !fits {
                return Err(format!("slot {index} is {:?} with {} references", slot.tag, slot.refs));
            }
        }
        Ok(())
    }

    fn check_lists(&self) -> Result<(), String> {
        let mut order = self.evictor.order(&self.slots);
        order.retain(|slot| self.slots[slot.index()].tag != Tag::Reading);
        if let Some(slot) = order.iter().find(|slot| self.slots[slot.index()].tag != Tag::Cached) {
            return Err(format!("{slot:?} is in the order of cached slots and is not cached"));
        }
        let mut distinct = order.clone();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != order.len() || order.len() as u32 != self.cached {
            return Err(format!("the order holds {} slots, {} are cached", order.len(), self.cached));
        }
        match self.free.iter().find(|slot| self.slots[slot.index()].tag != Tag::Free) {
            Some(slot) => Err(format!("{slot:?} is on the free stack and is not free")),
            None => Ok(()),
        }
    }

    fn check_index(&self) -> Result<(), String> {
        let registered: Vec<_> =
            (0..).map(SlotId).zip(&self.slots).filter(|(_, slot)| slot.hash.0 != 0).collect();
        for (id, slot) in &registered {
            let first = self.index.get(&self.slots, slot.hash);
            let chain = std::iter::successors(first, |at| {
                Some(self.slots[at.index()].link).filter(|&link| link != NONE).map(SlotId)
            });
            if !chain.take(self.slots.len()).any(|at| at == *id) {
                return Err(format!("{id:?} is full, and the index does not lead to it"));
            }
        }
        match self.index.count(&self.slots) == registered.len() {
            true => Ok(()),
            false => Err(format!("{} slots are full, the index holds another number", registered.len())),
        }
    }
}
