//! Adaptive replacement (Megiddo, Modha: "ARC: A Self-Tuning, Low Overhead Replacement Cache", 2003), as vLLM
//! applies it: chunks used by one request (T1), by several (T2), and the contents given up from each lately
//! (B1, B2). A miss that a longer list would have spared moves the target length of T1 its way.

use std::collections::BTreeSet;

use tierscope_units::SequenceHash;

use super::access::Access;
use super::chunk::{Chunks, Resident};
use super::order::{ChunkOrder, Named, Order};
use super::recency::KeyQueue;

/// T1 and B1.
const ONCE: usize = 0;
/// T2 and B2.
const AGAIN: usize = 1;

/// Where a resident chunk stands: its list, and when it came to the list's end.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    list: usize,
    moved: u64,
}

/// The lists. Only evictable chunks are sorted; the others carry their place until they are.
#[derive(Clone, Debug)]
pub(super) struct Arc {
    capacity: u32,
    /// By slot.
    places: Vec<Place>,
    lengths: [u32; 2],
    evictable: [BTreeSet<(u64, u32)>; 2],
    ghosts: [KeyQueue; 2],
    /// The length of T1 that is aimed at, from 0 to the capacity. Exact operations only (rule E3).
    target: f64,
    moves: u64,
}

impl Arc {
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            places: Vec::new(),
            lengths: [0; 2],
            evictable: [BTreeSet::new(), BTreeSet::new()],
            ghosts: [KeyQueue::default(), KeyQueue::default()],
            target: 0.0,
            moves: 0,
        }
    }

    /// To the end of a list.
    fn move_to(&mut self, chunks: &Chunks, slot: u32, list: usize) {
        let moved = self.moves;
        self.moves += 1;
        let old = std::mem::replace(&mut self.places[slot as usize], Place { list, moved });
        self.lengths[old.list] -= 1;
        self.lengths[list] += 1;
        if chunks.is_evictable(slot) {
            self.evictable[old.list].remove(&(old.moved, slot));
            self.evictable[list].insert((moved, slot));
        }
    }

    /// Content that was given up is wanted again: the list that lost it should have been longer, by one or by how
    /// many times the other's ghosts outnumber its own.
    fn recall(&mut self, key: SequenceHash) {
        for list in [ONCE, AGAIN] {
            let Some(node) = self.ghosts[list].get(key) else { continue };
            let (own, other) = (self.ghosts[list].len(), self.ghosts[1 - list].len());
            let step = (f64::from(other) / f64::from(own)).max(1.0);
            self.target = match list {
                ONCE => (self.target + step).min(f64::from(self.capacity)),
                _ => (self.target - step).max(0.0),
            };
            self.ghosts[list].move_to_back(node);
            return;
        }
    }

    fn list(&self, chunks: &Chunks, list: usize) -> Vec<Resident> {
        let place = |slot: u32| self.places[slot as usize];
        let mut slots: Vec<u32> = chunks.occupied().filter(|&slot| place(slot).list == list).collect();
        slots.sort_by_key(|&slot| place(slot).moved);
        slots.into_iter().map(|slot| chunks.show(slot)).collect()
    }
}

impl Order for Arc {
    fn insert(&mut self, _: &Chunks, named: Named, _: &mut Access) {
        let slot = named.slot as usize;
        self.places.resize(self.places.len().max(slot + 1), Place::default());
        self.places[slot] = Place { list: ONCE, moved: self.moves };
        self.moves += 1;
        self.lengths[ONCE] += 1;
        for ghosts in &mut self.ghosts {
            if let Some(node) = ghosts.get(named.key) {
                ghosts.remove(node);
            }
        }
    }

    fn remove(&mut self, slot: u32) {
        self.lengths[self.places[slot as usize].list] -= 1;
    }

    fn release(&mut self, _: &Chunks, slot: u32) {
        let place = self.places[slot as usize];
        self.evictable[place.list].insert((place.moved, slot));
    }

    fn hold(&mut self, _: &Chunks, slot: u32) {
        let place = self.places[slot as usize];
        self.evictable[place.list].remove(&(place.moved, slot));
    }

    /// A chunk that is still being written stays among those used once.
    fn touch(&mut self, chunks: &Chunks, keys: &[Named]) {
        for named in keys.iter().rev() {
            match named.slot() {
                Some(slot) => {
                    let is_new = self.places[slot as usize].list == ONCE && chunks.is_writing(slot);
                    self.move_to(chunks, slot, if is_new { ONCE } else { AGAIN });
                }
                None => self.recall(named.key),
            }
        }
    }

    fn miss(&mut self, keys: &[Named]) {
        for named in keys.iter().rev() {
            self.recall(named.key);
        }
    }

    /// Reuse counts once a request, at its end.
    fn finish(&mut self, chunks: &Chunks, keys: &[Named], access: &Access) {
        for named in keys.iter().rev() {
            let Some(slot) = named.slot() else { continue };
            if access.is_only_stored(named.number) {
                self.move_to(chunks, slot, self.places[slot as usize].list);
            } else if access.is_reused(named.number) {
                self.move_to(chunks, slot, AGAIN);
            }
        }
    }

    /// From T1 while it is as long as its target, else from T2; from the other where one has no victim.
    fn pick(&self, chunks: &Chunks, count: u32, out: &mut Vec<u32>) {
        let free_to_go = |list: usize| {
            let slots = self.evictable[list].iter().map(|&(_, slot)| slot);
            slots.filter(|&slot| !chunks.is_protected(slot))
        };
        let (mut once, mut again) = (free_to_go(ONCE), free_to_go(AGAIN));
        let target = self.target as u32;
        let mut length = self.lengths[ONCE];
        for _ in 0..count {
            let long = if length >= target { once.next() } else { None };
            let Some(slot) = long.or_else(|| again.next()).or_else(|| once.next()) else { return };
            length -= u32::from(self.places[slot as usize].list == ONCE);
            out.push(slot);
        }
    }

    fn give_up(&mut self, chunks: &Chunks, slot: u32) {
        self.hold(chunks, slot);
        self.remove(slot);
        let ghosts = &mut self.ghosts[self.places[slot as usize].list];
        ghosts.push_back(chunks.key(slot));
        if ghosts.len() > self.capacity {
            ghosts.pop_front();
        }
    }

    fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn show(&self, chunks: &Chunks) -> ChunkOrder {
        ChunkOrder::Arc {
            once: self.list(chunks, ONCE),
            again: self.list(chunks, AGAIN),
            once_ghosts: self.ghosts[ONCE].keys().collect(),
            again_ghosts: self.ghosts[AGAIN].keys().collect(),
            target: self.target,
        }
    }

    fn check(&self, chunks: &Chunks) -> Result<(), String> {
        let (mut lengths, mut evictable) = ([0; 2], 0);
        for slot in chunks.occupied() {
            let place = self.places[slot as usize];
            lengths[place.list] += 1;
            let is_sorted = self.evictable[place.list].contains(&(place.moved, slot));
            evictable += usize::from(is_sorted);
            if is_sorted != chunks.is_evictable(slot) {
                return Err(format!("slot {slot} is evictable or in the order, and not both"));
            }
        }
        let sorted = self.evictable[ONCE].len() + self.evictable[AGAIN].len();
        if lengths != self.lengths || evictable != sorted {
            return Err(format!(
                "the lists hold {lengths:?}, counted {:?}; {evictable} evictable, {sorted} sorted",
                self.lengths
            ));
        }
        for (list, ghosts) in self.ghosts.iter().enumerate() {
            let held = ghosts.keys().count();
            if held != ghosts.len() as usize || held > self.capacity as usize {
                return Err(format!("ghost list {list} holds {held} contents, counted {}", ghosts.len()));
            }
            let other = &self.ghosts[1 - list];
            if let Some(key) =
                ghosts.keys().find(|&key| chunks.get(key).is_some() || other.get(key).is_some())
            {
                return Err(format!("{key} was given up, and is resident or was given up twice"));
            }
        }
        match self.target >= 0.0 && self.target <= f64::from(self.capacity) {
            true => Ok(()),
            false => Err(format!("the target length is {} of {}", self.target, self.capacity)),
        }
    }
}
