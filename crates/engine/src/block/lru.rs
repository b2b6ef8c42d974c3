//! The order in which cached slots are given up: vLLM's free queue, as links inside the slots.
//!
//! A slot enters at the back when its last reference ends and leaves from the front as a victim, or from the
//! middle when it is hit. A reserved victim keeps its place until its transaction commits.

use super::pool::Slot;

/// "No slot" in a link.
pub(crate) const NONE: u32 = u32::MAX;

/// Front (next victim) and back of the list.
#[derive(Clone, Debug)]
pub(crate) struct Lru {
    pub(crate) front: u32,
    pub(crate) back: u32,
}

impl Lru {
    pub(crate) fn new() -> Self {
        Self { front: NONE, back: NONE }
    }

    pub(crate) fn push_back(&mut self, slots: &mut [Slot], at: u32) {
        slots[at as usize].prev = self.back;
        slots[at as usize].next = NONE;
        match self.back {
            NONE => self.front = at,
            back => slots[back as usize].next = at,
        }
        self.back = at;
    }

    pub(crate) fn remove(&mut self, slots: &mut [Slot], at: u32) {
        let (prev, next) = (slots[at as usize].prev, slots[at as usize].next);
        match prev {
            NONE => self.front = next,
            prev => slots[prev as usize].next = next,
        }
        match next {
            NONE => self.back = prev,
            next => slots[next as usize].prev = prev,
        }
    }
}
