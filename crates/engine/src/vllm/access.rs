//! What one request did with the tier: which chunks it met, wrote and read again.

use tierscope_units::SequenceHash;

use super::NONE;
use super::index::KeyIndex;

/// What a request did with one key.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// The token position of the chunk's end in the request; [`NONE`] when it has none.
    position: u32,
    is_seen: bool,
    /// The request stored it.
    is_own: bool,
    /// The request met it when another had stored it.
    is_reused: bool,
    is_missed: bool,
}

const UNKNOWN: Known =
    Known { position: NONE, is_seen: false, is_own: false, is_reused: false, is_missed: false };

/// The record of one request. A reset of the tier voids it, but for the positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Access {
    index: KeyIndex,
    known: Vec<Known>,
    /// Numbers of the keys it met, in the order of first meeting.
    seen: Vec<u32>,
    /// The rank of the request in the LRU order, once it has one.
    pub(super) rank: Option<u64>,
    /// Resets of the tier before the record was begun.
    generation: u64,
    pub(super) is_finished: bool,
}

impl Access {
    pub(super) fn new(generation: u64) -> Self {
        Self { generation, ..Self::default() }
    }

    /// Whether a reset of the tier has voided the record.
    pub(super) fn is_void(&self, generation: u64) -> bool {
        self.generation != generation
    }

    /// Begins a new record where a reset has voided it.
    pub(super) fn renew(&mut self, generation: u64) {
        if self.is_void(generation) {
            for known in &mut self.known {
                *known = Known { position: known.position, ..UNKNOWN };
            }
            self.seen.clear();
            self.rank = None;
            self.is_finished = false;
            self.generation = generation;
        }
    }

    /// The number of a key in this record, from now on.
    pub(super) fn number(&mut self, key: SequenceHash) -> u32 {
        self.index.get(key).unwrap_or_else(|| {
            let number = self.known.len() as u32;
            self.known.push(UNKNOWN);
            self.index.insert(key, number);
            number
        })
    }

    pub(super) fn key(&self, number: u32) -> SequenceHash {
        self.index.key(number)
    }

    pub(super) fn place(&mut self, key: SequenceHash, position: u32) {
        let number = self.number(key);
        self.known[number as usize].position = position;
    }

    pub(super) fn position(&self, number: u32) -> Option<u32> {
        Some(self.known[number as usize].position).filter(|&position| position != NONE)
    }

    /// Notes that the key was met; whether for the first time.
    pub(super) fn see(&mut self, number: u32) -> bool {
        let is_new = !std::mem::replace(&mut self.known[number as usize].is_seen, true);
        if is_new {
            self.seen.push(number);
        }
        is_new
    }

    /// Notes that the key was missed; whether for the first time.
    pub(super) fn miss(&mut self, number: u32) -> bool {
        !std::mem::replace(&mut self.known[number as usize].is_missed, true)
    }

    pub(super) fn own(&mut self, number: u32) {
        self.known[number as usize].is_own = true;
    }

    /// Notes that the key was met resident. What the request stored itself is not reuse.
    pub(super) fn reuse(&mut self, number: u32) {
        let known = &mut self.known[number as usize];
        known.is_reused |= !known.is_own;
    }

    pub(super) fn is_reused(&self, number: u32) -> bool {
        self.known[number as usize].is_reused
    }

    /// Stored by the request, and not reused by it.
    pub(super) fn is_only_stored(&self, number: u32) -> bool {
        let known = &self.known[number as usize];
        known.is_own && !known.is_reused
    }

    /// The keys it met: by position when all have one, else in the order of first meeting.
    pub(super) fn in_order(&self) -> Vec<u32> {
        let mut numbers = self.seen.clone();
        if numbers.iter().all(|&number| self.position(number).is_some()) {
            numbers.sort_by_key(|&number| self.position(number));
        }
        numbers
    }
}
