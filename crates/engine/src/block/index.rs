//! Content hash → the slots that hold it.
//!
//! Several slots may hold the same content (vLLM does not de-duplicate a recomputed block); lookups give the
//! one registered first. Only lookups by key: the map's own order is never seen (rule E1).

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use tierscope_units::{SequenceHash, SlotId};

/// Sequence hashes are uniform already: hashing them again would cost time and bring nothing.
#[derive(Clone, Copy, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {
        unreachable!("sequence hashes are hashed as one word");
    }
    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

/// First slot of each resident hash. The further ones hang on it by `Slot::same`, kept by the pool.
#[derive(Clone, Default)]
pub(crate) struct HashIndex {
    first: HashMap<SequenceHash, SlotId, BuildHasherDefault<AsIs>>,
}

impl HashIndex {
    /// Room for `slots` hashes, up to a bound: the map grows by itself beyond.
    pub(crate) fn with_capacity(slots: u32) -> Self {
        let bound = slots.min(1 << 20) as usize;
        Self { first: HashMap::with_capacity_and_hasher(bound, BuildHasherDefault::default()) }
    }

    pub(crate) fn get(&self, hash: SequenceHash) -> Option<SlotId> {
        self.first.get(&hash).copied()
    }

    /// Makes `slot` the first of `hash`, unless there is one: then that one is returned.
    pub(crate) fn insert(&mut self, hash: SequenceHash, slot: SlotId) -> Option<SlotId> {
        let first = *self.first.entry(hash).or_insert(slot);
        (first != slot).then_some(first)
    }

    /// `next` takes the place of the first slot of `hash`; without one the hash is gone.
    pub(crate) fn replace(&mut self, hash: SequenceHash, next: Option<SlotId>) {
        match next {
            Some(slot) => {
                self.first.insert(hash, slot);
            }
            None => {
                self.first.remove(&hash);
            }
        }
    }

    /// Number of different hashes.
    pub(crate) fn len(&self) -> usize {
        self.first.len()
    }
}
