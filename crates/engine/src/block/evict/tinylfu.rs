//! Frequency: the content that was used least goes first, the least recently used among equals.
//!
//! Uses are counted as in TinyLFU (Einziger, Friedman, Manes: "TinyLFU: A Highly Efficient Cache Admission
//! Policy", 2017): a count-min sketch of four rows with small saturating counters, all of them halved whenever
//! ten times as many uses as slots were counted, so that old fame fades. The sketch also remembers content that
//! is not resident.

use std::collections::BTreeSet;

use tierscope_units::{Idx, SequenceHash, SlotId};

use super::Evict;
use crate::block::pool::{Slot, Tag};

/// Rows of the sketch.
const ROWS: u32 = 4;
/// Largest count (four bits in the paper).
const COUNT_MAX: u8 = 15;
/// Uses per slot between two halvings.
const SAMPLE_PER_SLOT: u64 = 10;

/// The sketch, and the cached slots by frequency and time of entry.
#[derive(Clone, Debug)]
pub(crate) struct TinyLfu {
    counters: Vec<u8>,
    /// Counters of one row less one: a power of two less one.
    mask: usize,
    uses: u64,
    sample: u64,
    order: BTreeSet<(u8, u64, SlotId)>,
    /// By slot, its key in `order` while it is cached.
    keys: Vec<(u8, u64)>,
    entries: u64,
}

impl TinyLfu {
    pub(crate) fn new(slots: u32) -> Self {
        let width = (slots as usize).next_power_of_two().max(16);
        Self {
            counters: vec![0; width * ROWS as usize],
            mask: width - 1,
            uses: 0,
            sample: u64::from(slots.max(1)) * SAMPLE_PER_SLOT,
            order: BTreeSet::new(),
            keys: vec![(0, 0); slots as usize],
            entries: 0,
        }
    }

    /// The sketch keeps its width: counts are taken over as they are.
    pub(super) fn grow(&mut self, slots: u32) {
        self.keys.resize(self.keys.len().max(slots as usize), (0, 0));
        self.sample = self.sample.max(u64::from(slots) * SAMPLE_PER_SLOT);
    }

    fn counter(&self, hash: SequenceHash, row: u32) -> usize {
        // The rows read different bits of the hash, stirred so that short masks see all of them.
        let stirred = hash.0.rotate_left(row * 16).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        (stirred as usize & self.mask) + row as usize * (self.mask + 1)
    }

    /// How often the content was used lately, up to [`COUNT_MAX`]; never too low, sometimes too high.
    pub(crate) fn frequency(&self, hash: SequenceHash) -> u8 {
        (0..ROWS).map(|row| self.counters[self.counter(hash, row)]).min().unwrap_or(0)
    }

    fn halve(&mut self) {
        self.uses /= 2;
        for counter in &mut self.counters {
            *counter /= 2;
        }
        let order = std::mem::take(&mut self.order);
        for (frequency, entered, slot) in order {
            self.keys[slot.index()] = (frequency / 2, entered);
            self.order.insert((frequency / 2, entered, slot));
        }
    }
}

impl Evict for TinyLfu {
    fn enter(&mut self, slots: &mut [Slot], slot: SlotId) {
        let key = (self.frequency(slots[slot.index()].hash), self.entries);
        self.entries += 1;
        self.keys[slot.index()] = key;
        self.order.insert((key.0, key.1, slot));
    }

    fn leave(&mut self, _: &mut [Slot], slot: SlotId) {
        let (frequency, entered) = self.keys[slot.index()];
        self.order.remove(&(frequency, entered, slot));
    }

    fn rejoin(&mut self, _: &mut [Slot], slot: SlotId) {
        let (frequency, entered) = self.keys[slot.index()];
        self.order.insert((frequency, entered, slot));
    }

    fn pick(&self, slots: &[Slot], count: usize, out: &mut Vec<SlotId>) {
        let victims = self.order.iter().map(|&(.., slot)| slot);
        out.extend(victims.filter(|slot| slots[slot.index()].tag == Tag::Cached).take(count));
    }

    fn used(&mut self, hash: SequenceHash) {
        // Conservative: only the smallest counters grow.
        let least = self.frequency(hash);
        if least < COUNT_MAX {
            for row in 0..ROWS {
                let at = self.counter(hash, row);
                if self.counters[at] == least {
                    self.counters[at] += 1;
                }
            }
        }
        self.uses += 1;
        if self.uses >= self.sample {
            self.halve();
        }
    }

    fn hit(&mut self, slots: &[Slot], hits: &[SlotId]) {
        for slot in hits {
            self.used(slots[slot.index()].hash);
        }
    }

    fn order(&self, _: &[Slot]) -> Vec<SlotId> {
        self.order.iter().map(|&(.., slot)| slot).collect()
    }
}
