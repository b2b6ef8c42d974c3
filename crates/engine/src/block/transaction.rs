//! One acquire of G1 slots: prepare → reserve → commit, or abort (rules T1–T5).
//!
//! - *Prepare* only reads: it finds which of the wanted blocks are resident.
//! - *Reserve* holds the hits and promises the missing slots, free ones first, then victims, or changes nothing
//!   at all.
//! - *Commit* applies everything together; *abort* puts everything back as it was, recency order included.
//!
//! A [`Reservation`] is a value that ends in `commit` or `abort`; the pool counts the promised slots, and no
//! count may be left at a stable boundary. Victims lose their content on commit only, so an aborted
//! transaction leaves no event behind (rule T5).

use tierscope_units::{Idx, SequenceHash, SlotId};

use super::evict::Evict as _;
use super::pool::{BlockPool, Tag};
use crate::fact::{BlockRef, FactLog};

/// What prepare found: the contiguous prefix of wanted blocks that is resident.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits {
    pub(crate) slots: Vec<SlotId>,
    /// How many of them nobody references: a hit on one uses up an available slot.
    pub(crate) cached: u32,
}

/// Too few slots: even evicting everything evictable would not do. Nothing changed (rule T3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exhausted {
    /// Slots needed, cached hits included.
    pub(crate) needed: u32,
    /// Free and evictable slots.
    pub(crate) obtainable: u32,
}

/// A promise of slots.
///
/// Nobody else acts while it is open (rule T1), so of the free slots it is enough to count how many of the next
/// ones are promised; marking each would cost more than taking it.
#[must_use = "a reservation ends in commit or abort"]
#[derive(Debug)]
pub(crate) struct Reservation<'a> {
    hits: &'a mut Hits,
    /// How many of the free slots are promised: those on top of the stack.
    from_free: u32,
    /// Cached slots that will lose their content, in the order in which they will be used.
    victims: &'a mut Vec<SlotId>,
}

impl Reservation<'_> {
    /// Blocks that the commit will add to the request before the new ones.
    pub(crate) fn hits(&self) -> &Hits {
        self.hits
    }

    /// How many free slots are promised, and the victims. It has no hits.
    pub(super) fn into_promise(self) -> (u32, Vec<SlotId>) {
        debug_assert!(self.hits.slots.is_empty(), "a promise of new slots has no hits");
        (self.from_free, std::mem::take(self.victims))
    }

    /// How many cached blocks lose their content for it.
    pub(crate) fn victims(&self) -> u32 {
        self.victims.len() as u32
    }
}

impl BlockPool {
    /// Finds the resident prefix of `hashes` into `hits` (rule T2).
    pub(crate) fn prepare(&self, hashes: &[SequenceHash], hits: &mut Hits) {
        hits.slots.clear();
        hits.cached = 0;
        if !self.caching {
            return;
        }
        for &hash in hashes {
            let Some(slot) = self.index.get(&self.slots, hash) else { break };
            hits.cached += u32::from(self.slots[slot.index()].tag == Tag::Cached);
            hits.slots.push(slot);
        }
    }

    /// Takes the last of the hits back: its content will be computed again.
    pub(crate) fn drop_last_hit(&self, hits: &mut Hits) {
        if let Some(slot) = hits.slots.pop() {
            hits.cached -= u32::from(self.slots[slot.index()].tag == Tag::Cached);
        }
    }

    /// Promises `missing` slots besides the hits, leaving `keep_free` available, or changes nothing. The list of
    /// victims is empty before and after the transaction.
    pub(crate) fn reserve<'a>(
        &mut self,
        hits: &'a mut Hits,
        missing: u32,
        keep_free: u32,
        victims: &'a mut Vec<SlotId>,
    ) -> Result<Reservation<'a>, Exhausted> {
        let needed = missing + hits.cached;
        let obtainable = self.available();
        if needed.saturating_add(keep_free) > obtainable {
            return Err(Exhausted { needed, obtainable });
        }
        self.pin_hits(hits);
        let from_free = missing.min(self.unpromised());
        let from_cached = missing - from_free;
        if from_cached > 0 {
            self.evictor.reserve(&mut self.slots, from_cached as usize, victims);
            self.cached -= from_cached;
        }
        self.promised += from_free;
        self.reserved += missing;
        self.assert_conserved();
        Ok(Reservation { hits, from_free, victims })
    }

    /// Applies a reservation: the victims lose their content, and all blocks are appended to `owned` (rule T4).
    /// The evicted contents go to `removed`.
    pub(crate) fn commit(
        &mut self,
        reservation: Reservation<'_>,
        owned: &mut Vec<SlotId>,
        removed: &mut Vec<BlockRef>,
    ) {
        let Reservation { hits, from_free, victims } = reservation;
        self.evictor.hit(&self.slots, &hits.slots);
        owned.append(&mut hits.slots);
        self.activate_free(from_free, owned);
        let taken = from_free + victims.len() as u32;
        if !victims.is_empty() {
            self.replace_victims(victims, removed);
            owned.append(victims);
        }
        self.promised -= from_free;
        self.reserved -= taken;
        self.active += taken;
        self.assert_conserved();
    }

    /// A further reference to each hit: from here on it is no victim (rule T2).
    pub(super) fn pin_hits(&mut self, hits: &Hits) {
        let mut read = 0;
        for &slot in &hits.slots {
            if self.slots[slot.index()].refs == 0 {
                self.evictor.leave(&mut self.slots, slot);
                read += u32::from(self.slots[slot.index()].read > 0);
            }
            let s = &mut self.slots[slot.index()];
            s.tag = Tag::Active;
            s.refs += 1;
            s.uses = s.uses.saturating_add(1);
        }
        self.reading -= read;
        self.cached -= hits.cached;
        self.active += hits.cached + read;
    }

    /// Takes [`BlockPool::pin_hits`] back, last hit first, so that each finds its old neighbours.
    fn unpin_hits(&mut self, hits: &Hits) {
        let mut read = 0;
        for &slot in hits.slots.iter().rev() {
            let s = &mut self.slots[slot.index()];
            s.refs -= 1;
            s.uses -= 1;
            if s.refs == 0 {
                s.tag = if s.read > 0 { Tag::Reading } else { Tag::Cached };
                read += u32::from(s.read > 0);
                self.evictor.rejoin(&mut self.slots, slot);
            }
        }
        self.reading += read;
        self.cached += hits.cached;
        self.active -= hits.cached + read;
    }

    /// The first reference to each of the next `count` free slots.
    pub(super) fn activate_free(&mut self, count: u32, owned: &mut Vec<SlotId>) {
        let left = self.free.len() - count as usize;
        for slot in &self.free[left..] {
            let s = &mut self.slots[slot.index()];
            s.tag = Tag::Active;
            s.refs = 1;
        }
        owned.extend(self.free.drain(left..).rev());
    }

    /// Victims lose their content, which goes to `removed`, and gain their first reference. One function in every
    /// build, so that what the benchmark compares does not depend on how the compiler inlines this.
    #[inline(never)]
    pub(super) fn replace_victims(&mut self, victims: &[SlotId], removed: &mut Vec<BlockRef>) {
        self.index.warm(&self.slots, victims.iter().map(|victim| self.slots[victim.index()].hash));
        for &victim in victims {
            self.evictor.leave(&mut self.slots, victim);
            removed.push(self.unregister(victim));
            let s = &mut self.slots[victim.index()];
            s.tag = Tag::Active;
            s.refs = 1;
        }
    }

    /// Takes a reservation back: the state is what it was before (rule T5).
    #[cfg_attr(not(test), expect(dead_code, reason = "every caller so far commits what it reserved"))]
    pub(crate) fn abort(&mut self, reservation: Reservation<'_>) {
        let Reservation { hits, from_free, victims } = reservation;
        let count = victims.len() as u32;
        for victim in victims.drain(..) {
            self.slots[victim.index()].tag = Tag::Cached;
        }
        self.unpin_hits(hits);
        hits.slots.clear();
        self.cached += count;
        self.promised -= from_free;
        self.reserved -= from_free + count;
        self.assert_conserved();
    }
}

/// The blocks of a commit as a list in the log.
pub(crate) fn new_blocks(log: &mut FactLog, owned: &[SlotId]) -> crate::fact::BlockList {
    log.list(owned.iter().map(|&slot| BlockRef { slot, hash: SequenceHash(0) }))
}

/// What evicting for an offload did.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evicted {
    /// Contents that are not matchable any more, in the order of the victims.
    pub(crate) removed: Vec<BlockRef>,
    /// Those of them whose slots an offload still has to read.
    pub(crate) held: Vec<BlockRef>,
}

impl BlockPool {
    /// Gives up `count` cached slots that are no hits of the open transaction. Those whose content `is_below`
    /// are free at once; the others are held as the source of an offload (rule T3).
    pub(crate) fn evict_to_below(
        &mut self,
        hits: &Hits,
        count: usize,
        mut is_below: impl FnMut(SequenceHash) -> bool,
    ) -> Evicted {
        self.retag(hits, Tag::Cached, Tag::Protected);
        let mut victims = Vec::new();
        self.evictor.pick(&self.slots, count, &mut victims);
        self.retag(hits, Tag::Protected, Tag::Cached);
        let mut evicted = Evicted::default();
        for slot in victims {
            self.evictor.leave(&mut self.slots, slot);
            let block = self.unregister(slot);
            self.cached -= 1;
            evicted.removed.push(block);
            if is_below(block.hash) {
                self.slots[slot.index()].tag = Tag::Free;
                self.free.push(slot);
                self.generation += 1;
            } else {
                self.slots[slot.index()].tag = Tag::SourceHold;
                self.source_hold += 1;
                evicted.held.push(block);
            }
        }
        self.assert_conserved();
        evicted
    }

    /// Frees slots whose last reader, an offload, has ended (rule L6).
    pub(crate) fn release_sources(&mut self, slots: impl Iterator<Item = SlotId>) {
        for id in slots {
            let slot = &mut self.slots[id.index()];
            assert_eq!(slot.tag, Tag::SourceHold, "{id:?} is released once, by the transfer that holds it");
            slot.tag = Tag::Free;
            self.free.push(id);
            self.source_hold -= 1;
        }
        self.generation += 1;
        self.assert_conserved();
    }

    fn retag(&mut self, hits: &Hits, from: Tag, to: Tag) {
        for &slot in &hits.slots {
            let slot = &mut self.slots[slot.index()];
            if slot.tag == from {
                slot.tag = to;
            }
        }
    }
}
