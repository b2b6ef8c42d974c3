//! Rows of bits for content that is in many places.

use tierscope_units::WorkerId;

use super::place::{Hosts, Place};
use crate::lower::Tier;

/// A pool of rows. A row has a bit for each worker that reaches the content in G1, then in G2, then in G3 (all
/// workers of a host together), and one word for G4.
#[derive(Clone, Debug)]
pub(super) struct Wide {
    words: usize,
    bits: Vec<u64>,
    free: Vec<u32>,
}

/// The bits of one content, a word for each 64 workers.
#[derive(Clone, Copy)]
pub(super) struct Reach<'a> {
    pub(super) g1: &'a [u64],
    pub(super) g2: &'a [u64],
    pub(super) g3: &'a [u64],
    /// All ones or none: everybody reaches G4.
    pub(super) g4: u64,
}

impl Wide {
    pub(super) fn new(workers: usize) -> Self {
        Self { words: workers.div_ceil(64).max(1), bits: Vec::new(), free: Vec::new() }
    }

    /// Words for one bit of each worker.
    pub(super) fn words(&self) -> usize {
        self.words
    }

    fn stride(&self) -> usize {
        3 * self.words + 1
    }

    /// An empty row.
    pub(super) fn take(&mut self) -> u32 {
        if let Some(row) = self.free.pop() {
            return row;
        }
        let row = (self.bits.len() / self.stride()) as u32;
        self.bits.resize(self.bits.len() + self.stride(), 0);
        row
    }

    /// Empties a row for reuse.
    pub(super) fn give_back(&mut self, row: u32) {
        self.row_mut(row).fill(0);
        self.free.push(row);
    }

    fn row(&self, row: u32) -> &[u64] {
        let stride = self.stride();
        &self.bits[row as usize * stride..][..stride]
    }

    fn row_mut(&mut self, row: u32) -> &mut [u64] {
        let stride = self.stride();
        &mut self.bits[row as usize * stride..][..stride]
    }

    pub(super) fn reach(&self, row: u32) -> Reach<'_> {
        let (g1, rest) = self.row(row).split_at(self.words);
        let (g2, rest) = rest.split_at(self.words);
        let (g3, g4) = rest.split_at(self.words);
        Reach { g1, g2, g3, g4: 0_u64.wrapping_sub(g4[0]) }
    }

    /// Where the bit for a place is; for G3 that of its host's first worker.
    fn first_bit(&self, hosts: &Hosts, place: Place) -> (usize, u64) {
        let worker = match place.tier() {
            Tier::G1 | Tier::G2 => usize::from(place.owner()),
            Tier::G3 => usize::from(hosts.members(place.owner())[0]),
            Tier::G4 => 0,
        };
        (place.tier().index() * self.words + worker / 64, 1 << (worker % 64))
    }

    pub(super) fn has(&self, hosts: &Hosts, row: u32, place: Place) -> bool {
        let (word, bit) = self.first_bit(hosts, place);
        self.row(row)[word] & bit != 0
    }

    /// Puts a place in that is not in, or takes one out that is.
    pub(super) fn flip(&mut self, hosts: &Hosts, row: u32, place: Place) {
        if place.tier() != Tier::G3 {
            let (word, bit) = self.first_bit(hosts, place);
            self.row_mut(row)[word] ^= bit;
            return;
        }
        let base = Tier::G3.index() * self.words;
        let bits = self.row_mut(row);
        for &worker in hosts.members(place.owner()) {
            bits[base + usize::from(worker) / 64] ^= 1 << (worker % 64);
        }
    }

    /// The places of a row, in order.
    pub(super) fn places(&self, hosts: &Hosts, row: u32) -> Vec<Place> {
        self.reach(row).places(hosts)
    }
}

impl Reach<'_> {
    /// The places that these are the bits of, in order.
    pub(super) fn places(self, hosts: &Hosts) -> Vec<Place> {
        let mut places: Vec<Place> = ones(self.g1).map(Place::g1).collect();
        places.extend(ones(self.g2).map(Place::g2));
        let shared = places.len();
        places.extend(ones(self.g3).map(|worker| hosts.place(WorkerId(worker), Tier::G3)));
        places[shared..].sort_unstable();
        places.dedup();
        if self.g4 != 0 {
            places.push(Place::G4);
        }
        places
    }
}

/// The bits that are set, in order.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = u16> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| bits(word).map(move |bit| (at * 64 + bit) as u16))
}

/// The bits that are set in one word, in order.
pub(super) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        if word == 0 {
            return None;
        }
        let bit = word.trailing_zeros() as usize;
        word &= word - 1;
        Some(bit)
    })
}
