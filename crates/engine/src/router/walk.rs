//! How far each candidate follows a prompt, and through which tiers.
//!
//! One walk for all: the set of workers that hold every block so far shrinks from block to block, and the walk ends when it
//! is empty. A block that all survivors hold in the same tier costs a few word operations, however many they are: it is
//! added to a common count, and a worker's own count notes only where it differs. A worker that drops out takes the
//! common count as it then stands.

use tierscope_units::SequenceHash;

use super::ask::Overlap;
use super::index::{Index, NONE};
use super::wide::{Reach, bits};
use crate::lower::Tier;

/// The state of a walk, kept between walks so that none takes memory.
#[derive(Clone, Debug)]
pub(super) struct Walk {
    /// Who holds every block so far.
    alive: Vec<u64>,
    /// Who holds the first block.
    touched: Vec<u64>,
    /// The words of `alive` that are not zero lie in this range.
    range: (usize, usize),
    /// Blocks by tier that are added to whoever is alive.
    common: [u32; Tier::COUNT],
    /// Blocks by tier of each worker, less the common ones, modulo 2³². All zero between walks.
    own: Vec<[u32; Tier::COUNT]>,
    room: Vec<u64>,
}

impl Walk {
    pub(super) fn new(words: usize) -> Self {
        Self {
            alive: vec![0; words],
            touched: vec![0; words],
            range: (0, 0),
            common: [0; Tier::COUNT],
            own: vec![[0; Tier::COUNT]; words * 64],
            room: vec![0; 3 * words],
        }
    }

    /// Walks a prompt. Afterwards [`Walk::visit`] and [`Walk::overlap`] tell the result, until [`Walk::clear`].
    pub(super) fn run(&mut self, index: &Index, candidates: &[u64], hashes: &[SequenceHash]) {
        self.alive.copy_from_slice(candidates);
        self.touched.fill(0);
        self.common = [0; Tier::COUNT];
        self.range = (0, self.alive.len() - 1);
        let mut before = NONE;
        let mut room = std::mem::take(&mut self.room);
        for &hash in hashes {
            if !self.shrink() {
                break;
            }
            let Some(at) = index.find(hash, before) else { break };
            let reach = index.reach(at, self.range, &mut room);
            if before == NONE {
                self.first(reach);
            }
            self.step(reach);
            before = at;
        }
        self.room = room;
        if before != NONE {
            self.survive();
        }
    }

    /// Who is alive at the end takes the common count.
    fn survive(&mut self) {
        let (first, last) = self.range;
        for (&alive, own) in self.alive[first..=last].iter().zip(self.own[first * 64..].chunks_mut(64)) {
            for bit in bits(alive) {
                own[bit] = add(own[bit], self.common);
            }
        }
    }

    /// Narrows the range to the words with somebody alive; false when there is nobody.
    fn shrink(&mut self) -> bool {
        let (mut first, mut last) = self.range;
        while self.alive[first] == 0 {
            if first == last {
                return false;
            }
            first += 1;
        }
        while self.alive[last] == 0 {
            last -= 1;
        }
        self.range = (first, last);
        true
    }

    /// Who lacks the first block has no overlap, and leaves without a trace.
    fn first(&mut self, reach: Reach<'_>) {
        for word in self.range.0..=self.range.1 {
            let held = reach.g1[word] | reach.g2[word] | reach.g3[word] | reach.g4;
            self.alive[word] &= held;
            self.touched[word] = self.alive[word];
        }
    }

    /// One block: who lacks it drops out, who has it counts it in the highest tier.
    fn step(&mut self, reach: Reach<'_>) {
        let (first, last) = self.range;
        let lacking = self.alive[first..=last].iter().zip(&reach.g1[first..=last]);
        if lacking.fold(0, |any, (alive, g1)| any | alive & !g1) == 0 {
            self.common[Tier::G1.index()] += 1;
            return;
        }
        let usual = self.usual(reach);
        for word in first..=last {
            let mut rest = self.alive[word];
            let mut held = [0; Tier::COUNT];
            let tiers = [reach.g1[word], reach.g2[word], reach.g3[word], reach.g4];
            for (held, tier) in held.iter_mut().zip(tiers) {
                *held = rest & tier;
                rest ^= *held;
            }
            self.alive[word] ^= rest;
            held[usual] = 0;
            if held.iter().fold(rest, |any, tier| any | tier) != 0 {
                self.note(word, held, (usual, rest));
            }
        }
        self.common[usual] += 1;
    }

    /// The tier of the first that is alive; the others most likely have the block there too.
    fn usual(&self, reach: Reach<'_>) -> usize {
        let word = self.range.0;
        let lowest = self.alive[word] & self.alive[word].wrapping_neg();
        let tiers = [reach.g1[word], reach.g2[word], reach.g3[word], reach.g4];
        tiers.iter().position(|tier| tier & lowest != 0).unwrap_or(0)
    }

    /// Notes in one word of workers who has the block elsewhere than in the usual tier, and who drops out.
    fn note(&mut self, word: usize, held: [u64; Tier::COUNT], (usual, gone): (usize, u64)) {
        for (tier, held) in held.into_iter().enumerate() {
            for bit in bits(held) {
                let own = &mut self.own[word * 64 + bit];
                own[tier] = own[tier].wrapping_add(1);
                own[usual] = own[usual].wrapping_sub(1);
            }
        }
        for bit in bits(gone) {
            let own = &mut self.own[word * 64 + bit];
            *own = add(*own, self.common);
        }
    }

    /// Gives each who holds the first block to `visit`, with what it has of the prompt.
    pub(super) fn visit(&self, mut visit: impl FnMut(u16, Overlap)) {
        for (at, &touched) in self.touched.iter().enumerate() {
            for bit in bits(touched) {
                let worker = (at * 64 + bit) as u16;
                visit(worker, self.overlap(worker));
            }
        }
    }

    /// What a worker has of the prompt.
    pub(super) fn overlap(&self, worker: u16) -> Overlap {
        let [g1_blocks, g2_blocks, g3_blocks, g4_blocks] = self.own[usize::from(worker)];
        Overlap { g1_blocks, g2_blocks, g3_blocks, g4_blocks }
    }

    /// Makes ready for the next walk; zeroes also what the caller has noted for those who hold the first block, and
    /// perhaps that of their neighbours.
    pub(super) fn clear(&mut self, noted: &mut [f64]) {
        for (at, _) in self.touched.iter().enumerate().filter(|(_, touched)| **touched != 0) {
            self.own[at * 64..][..64].fill([0; Tier::COUNT]);
            let end = noted.len().min(at * 64 + 64);
            if let Some(noted) = noted.get_mut(at * 64..end) {
                noted.fill(0.0);
            }
        }
    }
}

fn add(one: [u32; Tier::COUNT], other: [u32; Tier::COUNT]) -> [u32; Tier::COUNT] {
    std::array::from_fn(|tier| one[tier].wrapping_add(other[tier]))
}
