//! Least recently used, by request: chunks of the request that used them last go last, and of one request the
//! tail goes before the head.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tierscope_units::SequenceHash;

use super::access::Access;
use super::chunk::Chunks;
use super::order::{ChunkOrder, Named, Order};

/// Where a chunk stands: the rank of the request that used it last, and the position in that request. A chunk
/// without a position has a rank of its own.
type Place = (u64, Reverse<u32>);

/// The order. Only evictable chunks are sorted; the others carry their place until they are.
#[derive(Clone, Debug, Default)]
pub(super) struct Lru {
    /// By slot.
    places: Vec<Place>,
    evictable: BTreeMap<(Place, SequenceHash), u32>,
    /// Ranks given out.
    ranks: u64,
}

impl Lru {
    fn next_rank(&mut self) -> u64 {
        self.ranks += 1;
        self.ranks
    }

    /// A request has one rank, given at its first access.
    fn rank_of(&mut self, access: &mut Access) -> u64 {
        *access.rank.get_or_insert_with(|| self.next_rank())
    }

    fn move_to(&mut self, chunks: &Chunks, slot: u32, place: Place) {
        let old = std::mem::replace(&mut self.places[slot as usize], place);
        if chunks.is_evictable(slot) {
            let key = chunks.key(slot);
            self.evictable.remove(&(old, key));
            self.evictable.insert((place, key), slot);
        }
    }
}

impl Order for Lru {
    fn insert(&mut self, _: &Chunks, named: Named, access: &mut Access) {
        let place = match access.position(named.number) {
            Some(position) => (self.rank_of(access), Reverse(position)),
            None => (self.next_rank(), Reverse(0)),
        };
        let slot = named.slot as usize;
        self.places.resize(self.places.len().max(slot + 1), place);
        self.places[slot] = place;
    }

    fn remove(&mut self, _: u32) {}

    fn release(&mut self, chunks: &Chunks, slot: u32) {
        self.evictable.insert((self.places[slot as usize], chunks.key(slot)), slot);
    }

    fn hold(&mut self, chunks: &Chunks, slot: u32) {
        self.evictable.remove(&(self.places[slot as usize], chunks.key(slot)));
    }

    /// The tail first, so that the head ends up as the most recent.
    fn touch(&mut self, chunks: &Chunks, keys: &[Named]) {
        for slot in keys.iter().rev().filter_map(|named| named.slot()) {
            let rank = self.next_rank();
            self.move_to(chunks, slot, (rank, Reverse(0)));
        }
    }

    /// A chunk is raised to the request's rank, never lowered.
    fn access(&mut self, chunks: &Chunks, keys: &[Named], access: &mut Access) {
        let rank = self.rank_of(access);
        for named in keys {
            let (Some(slot), Some(position)) = (named.slot(), access.position(named.number)) else {
                continue;
            };
            let place = (rank, Reverse(position));
            if self.places[slot as usize] < place {
                self.move_to(chunks, slot, place);
            }
        }
    }

    fn finish(&mut self, chunks: &Chunks, keys: &[Named], _: &Access) {
        self.touch(chunks, keys);
    }

    fn pick(&self, chunks: &Chunks, count: u32, out: &mut Vec<u32>) {
        let victims = self.evictable.values().copied().filter(|&slot| !chunks.is_protected(slot));
        out.extend(victims.take(count as usize));
    }

    fn give_up(&mut self, chunks: &Chunks, slot: u32) {
        self.hold(chunks, slot);
    }

    fn clear(&mut self) {
        *self = Self::default();
    }

    fn show(&self, chunks: &Chunks) -> ChunkOrder {
        let mut slots: Vec<u32> = chunks.occupied().collect();
        slots.sort_by_key(|&slot| (self.places[slot as usize], chunks.key(slot)));
        ChunkOrder::Lru(slots.into_iter().map(|slot| chunks.show(slot)).collect())
    }

    fn check(&self, chunks: &Chunks) -> Result<(), String> {
        let mut found = 0;
        for slot in chunks.occupied().filter(|&slot| chunks.is_evictable(slot)) {
            found += 1;
            if self.evictable.get(&(self.places[slot as usize], chunks.key(slot))) != Some(&slot) {
                return Err(format!("slot {slot} is evictable, and not in the order at its place"));
            }
        }
        match found == self.evictable.len() {
            true => Ok(()),
            false => Err(format!("{found} slots are evictable, the order holds {}", self.evictable.len())),
        }
    }
}
