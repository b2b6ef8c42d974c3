//! Which cached slot is given up first. One policy a file, behind one small trait.
//!
//! To add one: a file that implements [`Evict`], a variant of [`EvictionPolicy`], a variant of [`Evictor`], and an
//! oracle in `oracle.rs`.

mod lineage;
mod lru;
pub(crate) mod tinylfu;

#[cfg(test)]
mod oracle;

use tierscope_units::{Idx as _, SequenceHash, SlotId};

use super::pool::{Slot, Tag};
use crate::config::EvictionPolicy;
use lineage::Lineage;
use lru::Lru;
use tinylfu::TinyLfu;

/// "No slot" in a link.
pub(crate) const NONE: u32 = u32::MAX;

/// The order of cached slots. A slot enters when its last reference ends; it leaves when a transaction holds it as
/// a hit, or when the transaction that chose it as a victim commits. Choosing changes nothing, so that an abort
/// has only the hits to restore.
pub(crate) trait Evict {
    /// `slot` is cached from now on.
    fn enter(&mut self, slots: &mut [Slot], slot: SlotId);
    /// `slot` is not cached any more.
    fn leave(&mut self, slots: &mut [Slot], slot: SlotId);
    /// Takes the last `leave` back that was not yet taken back: `slot` is in its old place. Nothing entered since.
    fn rejoin(&mut self, slots: &mut [Slot], slot: SlotId);
    /// Appends the next `count` victims to `out`: slots tagged [`Tag::Cached`], in order. There
    /// are so many.
    fn pick(&self, slots: &[Slot], count: usize, out: &mut Vec<SlotId>);
    /// As [`Evict::pick`], and tags them [`Tag::Reserved`].
    fn reserve(&self, slots: &mut [Slot], count: usize, out: &mut Vec<SlotId>) {
        let first = out.len();
        self.pick(slots, count, out);
        for victim in &out[first..] {
            slots[victim.index()].tag = Tag::Reserved;
        }
    }
    /// Content was registered.
    fn used(&mut self, _hash: SequenceHash) {}
    /// A transaction with these hits commits.
    fn hit(&mut self, _slots: &[Slot], _hits: &[SlotId]) {}
    /// `slot` was registered, behind `parent` in its request.
    fn registered(&mut self, _slots: &[Slot], _slot: SlotId, _parent: Option<SlotId>) {}
    /// `slot` lost its content.
    fn unregistered(&mut self, _slots: &[Slot], _slot: SlotId) {}
    /// Slots in the order, the next victim first; for checks and for people.
    fn order(&self, slots: &[Slot]) -> Vec<SlotId>;
}

/// A policy with its state. An enum and no trait object: the state is cloned with the pool, and the hot path
/// has no indirect call.
#[derive(Clone)]
pub(crate) enum Evictor {
    Lru(Lru),
    Lineage(Box<Lineage>),
    TinyLfu(Box<TinyLfu>),
}

impl Evictor {
    pub(crate) fn new(policy: EvictionPolicy, slots: u32) -> Self {
        match policy {
            EvictionPolicy::Lru => Self::Lru(Lru::default()),
            EvictionPolicy::Lineage => Self::Lineage(Box::new(Lineage::new(slots))),
            EvictionPolicy::TinyLfu => Self::TinyLfu(Box::new(TinyLfu::new(slots))),
        }
    }

    /// There may be so many slots from now on.
    pub(crate) fn grow(&mut self, slots: u32) {
        match self {
            // Its order lies in the slots.
            Self::Lru(_) => {}
            Self::Lineage(inner) => inner.grow(slots),
            Self::TinyLfu(inner) => inner.grow(slots),
        }
    }
}

macro_rules! each {
    ($self:ident, $inner:ident => $call:expr) => {
        match $self {
            Evictor::Lru($inner) => $call,
            Evictor::Lineage($inner) => $call,
            Evictor::TinyLfu($inner) => $call,
        }
    };
}

impl Evict for Evictor {
    fn enter(&mut self, slots: &mut [Slot], slot: SlotId) {
        each!(self, inner => inner.enter(slots, slot));
    }
    fn leave(&mut self, slots: &mut [Slot], slot: SlotId) {
        each!(self, inner => inner.leave(slots, slot));
    }
    fn rejoin(&mut self, slots: &mut [Slot], slot: SlotId) {
        each!(self, inner => inner.rejoin(slots, slot));
    }
    fn pick(&self, slots: &[Slot], count: usize, out: &mut Vec<SlotId>) {
        each!(self, inner => inner.pick(slots, count, out));
    }
    fn reserve(&self, slots: &mut [Slot], count: usize, out: &mut Vec<SlotId>) {
        each!(self, inner => inner.reserve(slots, count, out));
    }
    fn used(&mut self, hash: SequenceHash) {
        each!(self, inner => inner.used(hash));
    }
    fn hit(&mut self, slots: &[Slot], hits: &[SlotId]) {
        each!(self, inner => inner.hit(slots, hits));
    }
    fn registered(&mut self, slots: &[Slot], slot: SlotId, parent: Option<SlotId>) {
        each!(self, inner => inner.registered(slots, slot, parent));
    }
    fn unregistered(&mut self, slots: &[Slot], slot: SlotId) {
        each!(self, inner => inner.unregistered(slots, slot));
    }
    fn order(&self, slots: &[Slot]) -> Vec<SlotId> {
        each!(self, inner => inner.order(slots))
    }
}
