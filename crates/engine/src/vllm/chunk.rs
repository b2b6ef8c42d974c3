//! The chunk slots: what each holds, and who reads or writes it.

use tierscope_units::{SequenceHash, SlotId};

use super::index::KeyIndex;

/// The references of a chunk that is being written.
pub(super) const WRITING: i32 = -1;

/// A resident chunk as an observer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// Content: the hash at the chunk's end.
    pub key: SequenceHash,
    /// Loads that read it; −1 while it is being written.
    pub refs: i32,
    /// Its place.
    pub slot: SlotId,
}

#[derive(Clone, Copy, Debug, Default)]
struct Chunk {
    refs: i32,
    is_protected: bool,
}

/// All slots of the tier. Slots that were never used go first, in order; then the one that came free last.
#[derive(Clone, Debug)]
pub(super) struct Chunks {
    capacity: u32,
    index: KeyIndex,
    /// The slots that were ever used, since the last reset.
    slots: Vec<Chunk>,
    /// Those of them that came free, the next to be taken last.
    pub(super) freed: Vec<u32>,
    pub(super) evictable: u32,
    pub(super) writing: u32,
}

impl Chunks {
    pub(super) fn new(capacity: u32) -> Self {
        let (slots, freed) = (Vec::new(), Vec::new());
        Self { capacity, index: KeyIndex::default(), slots, freed, evictable: 0, writing: 0 }
    }

    pub(super) fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Slots that were ever used.
    pub(super) fn used(&self) -> u32 {
        self.slots.len() as u32
    }

    pub(super) fn free(&self) -> u32 {
        self.freed.len() as u32 + self.capacity - self.used()
    }

    pub(super) fn resident(&self) -> u32 {
        self.index.len()
    }

    pub(super) fn get(&self, key: SequenceHash) -> Option<u32> {
        self.index.get(key)
    }

    /// Whether the slot holds something.
    pub(super) fn holds(&self, slot: u32) -> bool {
        self.index.holds(slot)
    }

    pub(super) fn key(&self, slot: u32) -> SequenceHash {
        self.index.key(slot)
    }

    pub(super) fn refs(&self, slot: u32) -> i32 {
        self.slots[slot as usize].refs
    }

    pub(super) fn is_evictable(&self, slot: u32) -> bool {
        self.refs(slot) == 0
    }

    pub(super) fn is_writing(&self, slot: u32) -> bool {
        self.refs(slot) < 0
    }

    /// Not to be given up for the offer at hand.
    pub(super) fn is_protected(&self, slot: u32) -> bool {
        self.slots[slot as usize].is_protected
    }

    pub(super) fn protect(&mut self, slot: u32, is_protected: bool) {
        self.slots[slot as usize].is_protected = is_protected;
    }

    /// Takes a free slot for content that is about to be written. There is a free slot.
    pub(super) fn write(&mut self, key: SequenceHash, slot: u32) {
        self.index.insert(key, slot);
        self.slots[slot as usize] = Chunk { refs: WRITING, is_protected: false };
        self.writing += 1;
    }

    /// Takes `count` free slots, which there are, and appends them to `out`.
    pub(super) fn take(&mut self, count: u32, out: &mut Vec<u32>) {
        let first = self.used();
        let unused = count.min(self.capacity - first);
        out.extend(first..first + unused);
        self.slots.resize((first + unused) as usize, Chunk::default());
        let rest = self.freed.len() - (count - unused) as usize;
        out.extend(self.freed.drain(rest..).rev());
    }

    /// The write ended: the chunk is readable, and evictable.
    pub(super) fn written(&mut self, slot: u32) {
        self.slots[slot as usize].refs = 0;
        self.writing -= 1;
        self.evictable += 1;
    }

    /// A load begins; whether the chunk was evictable until now.
    pub(super) fn pin(&mut self, slot: u32) -> bool {
        self.slots[slot as usize].refs += 1;
        let is_first = self.refs(slot) == 1;
        self.evictable -= u32::from(is_first);
        is_first
    }

    /// A load ended; whether the chunk is evictable from now on.
    pub(super) fn unpin(&mut self, slot: u32) -> bool {
        self.slots[slot as usize].refs -= 1;
        let is_last = self.is_evictable(slot);
        self.evictable += u32::from(is_last);
        is_last
    }

    /// Content that nobody reads goes, and its slot is free.
    pub(super) fn vacate(&mut self, slot: u32) {
        match self.is_writing(slot) {
            true => self.writing -= 1,
            false => self.evictable -= 1,
        }
        self.index.remove(slot);
        self.freed.push(slot);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    /// Slots that hold something, ascending.
    pub(super) fn occupied(&self) -> impl Iterator<Item = u32> {
        self.index.numbers()
    }

    pub(super) fn show(&self, slot: u32) -> Resident {
        Resident { key: self.key(slot), refs: self.refs(slot), slot: SlotId(slot) }
    }
}
