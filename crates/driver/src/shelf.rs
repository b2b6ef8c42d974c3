//! What lies in which slot of a tier.

use std::collections::BTreeMap;

use tierscope_tiers::{Key, Slot};

/// The contents of a tier's slots, as they physically are: what was evicted stays until something else is written there,
/// since a copy may still read it.
#[derive(Clone, Debug)]
pub(crate) struct Shelf {
    by_slot: Vec<Option<Key>>,
    by_key: BTreeMap<Key, Slot>,
}

impl Shelf {
    pub(crate) fn new(slots: u32) -> Self {
        Self { by_slot: vec![None; slots as usize], by_key: BTreeMap::new() }
    }

    /// Something is being written into a slot: what was there is gone.
    pub(crate) fn clear(&mut self, slot: Slot) {
        if let Some(old) = self.by_slot.get_mut(slot.0 as usize).and_then(Option::take)
            && self.by_key.get(&old) == Some(&slot)
        {
            self.by_key.remove(&old);
        }
    }

    /// A slot holds this content from now on.
    pub(crate) fn put(&mut self, key: Key, slot: Slot) {
        self.clear(slot);
        if let Some(here) = self.by_slot.get_mut(slot.0 as usize) {
            *here = Some(key);
            self.by_key.insert(key, slot);
        }
    }

    /// A slot that holds this content.
    pub(crate) fn find(&self, key: Key) -> Option<Slot> {
        self.by_key.get(&key).copied()
    }

    /// Whether a slot holds this content.
    pub(crate) fn holds(&self, key: Key, slot: Slot) -> bool {
        self.by_slot.get(slot.0 as usize).copied().flatten() == Some(key)
    }

    /// Every content with a slot.
    pub(crate) fn all(&self) -> impl Iterator<Item = (Key, Slot)> {
        self.by_key.iter().map(|(&key, &slot)| (key, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_over_is_gone_and_twins_are_told_apart() {
        let mut shelf = Shelf::new(3);
        shelf.put(Key(7), Slot(0));
        shelf.put(Key(7), Slot(1));
        shelf.put(Key(8), Slot(1));
        assert!(shelf.holds(Key(7), Slot(0)) && !shelf.holds(Key(7), Slot(1)));
        assert_eq!(shelf.find(Key(8)), Some(Slot(1)));
        shelf.clear(Slot(1));
        assert_eq!(shelf.find(Key(8)), None);
        shelf.put(Key(9), Slot(99));
        assert_eq!(shelf.find(Key(9)), None, "there is no such slot");
    }
}
