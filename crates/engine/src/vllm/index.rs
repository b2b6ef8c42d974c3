//! Key → its number in the owner's arrays: a chained hash table that grows with what it holds, so that keeping a
//! copy of a state costs what the state holds.

use tierscope_units::SequenceHash;

use super::NONE;

/// The link of a number that is not in the index.
const ABSENT: u32 = u32::MAX - 1;

/// Distinct keys, each with a number that the owner chose.
#[derive(Clone, Debug, Default)]
pub(super) struct KeyIndex {
    heads: Vec<u32>,
    /// By number: the key, and the next number of its bucket.
    entries: Vec<(SequenceHash, u32)>,
    len: u32,
}

impl KeyIndex {
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Sequence hashes are uniform already.
    fn bucket(&self, key: SequenceHash) -> usize {
        key.0 as usize & (self.heads.len() - 1)
    }

    pub(super) fn get(&self, key: SequenceHash) -> Option<u32> {
        if self.heads.is_empty() {
            return None;
        }
        let mut at = self.heads[self.bucket(key)];
        while at != NONE {
            let (held, next) = self.entries[at as usize];
            if held == key {
                return Some(at);
            }
            at = next;
        }
        None
    }

    /// The key that has this number, or had it last.
    pub(super) fn key(&self, number: u32) -> SequenceHash {
        self.entries[number as usize].0
    }

    pub(super) fn holds(&self, number: u32) -> bool {
        self.entries.get(number as usize).is_some_and(|entry| entry.1 != ABSENT)
    }

    /// Adds a key that is not in the index under a number that is not.
    pub(super) fn insert(&mut self, key: SequenceHash, number: u32) {
        if self.entries.len() <= number as usize {
            self.entries.resize(number as usize + 1, (SequenceHash(0), ABSENT));
        }
        if self.len as usize >= self.heads.len() {
            self.grow();
        }
        let bucket = self.bucket(key);
        self.entries[number as usize] = (key, self.heads[bucket]);
        self.heads[bucket] = number;
        self.len += 1;
    }

    /// Twice the buckets.
    fn grow(&mut self) {
        self.heads = vec![NONE; (2 * self.heads.len()).max(8)];
        for number in 0..self.entries.len() as u32 {
            let (key, link) = self.entries[number as usize];
            if link != ABSENT {
                let bucket = self.bucket(key);
                self.entries[number as usize].1 = self.heads[bucket];
                self.heads[bucket] = number;
            }
        }
    }

    /// Takes a number out that is in the index.
    pub(super) fn remove(&mut self, number: u32) {
        let (key, link) = self.entries[number as usize];
        let bucket = self.bucket(key);
        let mut at = self.heads[bucket];
        if at == number {
            self.heads[bucket] = link;
        } else {
            while self.entries[at as usize].1 != number {
                at = self.entries[at as usize].1;
            }
            self.entries[at as usize].1 = link;
        }
        self.entries[number as usize].1 = ABSENT;
        self.len -= 1;
    }

    /// The numbers in the index, ascending.
    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> {
        (0..self.entries.len() as u32).filter(|&number| self.holds(number))
    }
}
