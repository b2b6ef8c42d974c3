//! Least recently used: vLLM's free queue, as links inside the slots.
//!
//! A slot enters at the back and leaves from the front as a victim, or from the middle when it is hit. Since a
//! request releases its last block first, the tail of a prefix goes before its head.

use tierscope_units::{Idx, SlotId};

use super::{Evict, NONE};
use crate::block::pool::{Slot, Tag};

/// Front (next victim) and back of the queue.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    front: u32,
    back: u32,
}

impl Default for Lru {
    fn default() -> Self {
        Self { front: NONE, back: NONE }
    }
}

impl Evict for Lru {
    fn enter(&mut self, slots: &mut [Slot], slot: SlotId) {
        let at = slot.index();
        slots[at].prev = self.back;
        slots[at].next = NONE;
        match self.back {
            NONE => self.front = slot.0,
            back => slots[back as usize].next = slot.0,
        }
        self.back = slot.0;
    }

    fn leave(&mut self, slots: &mut [Slot], slot: SlotId) {
        let Slot { prev, next, .. } = slots[slot.index()];
        match prev {
            NONE => self.front = next,
            prev => slots[prev as usize].next = next,
        }
        match next {
            NONE => self.back = prev,
            next => slots[next as usize].prev = prev,
        }
    }

    /// The slot still has its links: its neighbours are as it left them.
    fn rejoin(&mut self, slots: &mut [Slot], slot: SlotId) {
        let Slot { prev, next, .. } = slots[slot.index()];
        match prev {
            NONE => self.front = slot.0,
            prev => slots[prev as usize].next = slot.0,
        }
        match next {
            NONE => self.back = slot.0,
            next => slots[next as usize].prev = slot.0,
        }
    }

    fn pick(&self, slots: &[Slot], count: usize, out: &mut Vec<SlotId>) {
        let mut at = self.front;
        for _ in 0..count {
            while slots[at as usize].tag != Tag::Cached {
                at = slots[at as usize].next;
            }
            out.push(SlotId(at));
            at = slots[at as usize].next;
        }
    }

    /// In one sweep: each victim is in hand already.
    fn reserve(&self, slots: &mut [Slot], count: usize, out: &mut Vec<SlotId>) {
        let mut at = self.front;
        for _ in 0..count {
            while slots[at as usize].tag != Tag::Cached {
                at = slots[at as usize].next;
            }
            out.push(SlotId(at));
            let slot = &mut slots[at as usize];
            slot.tag = Tag::Reserved;
            at = slot.next;
        }
    }

    fn order(&self, slots: &[Slot]) -> Vec<SlotId> {
        let first = Some(self.front).filter(|&front| front != NONE);
        let links =
            std::iter::successors(first, |&at| Some(slots[at as usize].next).filter(|&next| next != NONE));
        // Bounded, so that a broken link shows as a wrong length and not as a hang.
        links.take(slots.len() + 1).map(SlotId).collect()
    }
}
