//! What lies in which slot of a tier.

use tierscope_tiers::{Key, Slot};

/// The contents of a tier's slots, as they physically are: what was evicted stays until something else is written there,
/// since a copy may still read it. One content may lie in several slots.
#[derive(Clone, Debug)]
pub(crate) struct Shelf(Vec<Option<Key>>);

impl Shelf {
    pub(crate) fn new(slots: u32) -> Self {
        Self(vec![None; slots as usize])
    }

    /// Something is being written into a slot: what was there is gone.
    pub(crate) fn clear(&mut self, slot: Slot) {
        if let Some(here) = self.0.get_mut(slot.0 as usize) {
            *here = None;
        }
    }

    /// A slot holds this content from now on.
    pub(crate) fn put(&mut self, key: Key, slot: Slot) {
        if let Some(here) = self.0.get_mut(slot.0 as usize) {
            *here = Some(key);
        }
    }

    /// Whether a slot holds this content.
    pub(crate) fn holds(&self, key: Key, slot: Slot) -> bool {
        self.0.get(slot.0 as usize).copied().flatten() == Some(key)
    }

    /// Every content with its slot, in the order of slots.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, Slot)> {
        (0..).map(Slot).zip(&self.0).filter_map(|(slot, key)| Some(((*key)?, slot)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_over_is_gone_and_a_twin_of_it_is_not() {
        let mut shelf = Shelf::new(3);
        shelf.put(Key(7), Slot(0));
        shelf.put(Key(7), Slot(1));
        shelf.put(Key(8), Slot(1));
        assert!(shelf.holds(Key(7), Slot(0)) && !shelf.holds(Key(7), Slot(1)));
        shelf.clear(Slot(1));
        shelf.put(Key(9), Slot(99));
        assert_eq!(shelf.all().collect::<Vec<_>>(), [(Key(7), Slot(0))], "there is no slot 99");
    }
}
