//! The optimum for one capacity: of all blocks the one goes whose next use is furthest away (Belady's rule), the
//! new ones included (bypass). A block that is never used again does not enter. O(references × log).
//!
//! Prefixes stay whole by themselves: a block is used whenever one behind it is, and before it.

use std::collections::BinaryHeap;

use super::sequence::Sequence;

const NEVER: u32 = u32::MAX;

/// Hits of a cache of so many blocks; `next` is what [`next_uses`] says of the sequence.
pub(super) fn hits(sequence: &Sequence, next: &[u32], capacity: u64) -> u64 {
    let mut cache =
        Cache { next_of: vec![NEVER; sequence.distinct as usize], heap: BinaryHeap::new(), size: 0 };
    let mut hits = 0;
    for part in &sequence.requests {
        let blocks = &sequence.blocks[part.first..][..part.inserted as usize];
        let counted = &blocks[..part.counted as usize];
        hits += counted.iter().take_while(|&&block| cache.holds(block)).count() as u64;
        for (at, &block) in blocks.iter().enumerate() {
            cache.put(block, next[part.first + at]);
        }
        cache.trim(capacity);
    }
    hits
}

/// For each place the place at which its block is wanted next, and the hit would count.
pub(super) fn next_uses(sequence: &Sequence) -> Vec<u32> {
    let mut next = vec![NEVER; sequence.blocks.len()];
    let mut wanted_at = vec![NEVER; sequence.distinct as usize];
    for part in sequence.requests.iter().rev() {
        let places = part.first..part.first + part.inserted as usize;
        for place in places.clone() {
            next[place] = wanted_at[sequence.blocks[place] as usize];
        }
        for place in places.take(part.counted as usize) {
            wanted_at[sequence.blocks[place] as usize] = place as u32;
        }
    }
    next
}

struct Cache {
    /// Of each block in the cache its next use.
    next_of: Vec<u32>,
    /// (next use, block); an entry that is not the block's present one is void.
    heap: BinaryHeap<(u32, u32)>,
    size: u64,
}

impl Cache {
    fn holds(&self, block: u32) -> bool {
        self.next_of[block as usize] != NEVER
    }

    fn put(&mut self, block: u32, next: u32) {
        let old = std::mem::replace(&mut self.next_of[block as usize], next);
        self.size -= u64::from(old != NEVER);
        if next != NEVER {
            self.size += 1;
            self.heap.push((next, block));
        }
    }

    fn trim(&mut self, capacity: u64) {
        while self.size > capacity
            && let Some((next, block)) = self.heap.pop()
        {
            if self.next_of[block as usize] == next {
                self.put(block, NEVER);
            }
        }
    }
}
