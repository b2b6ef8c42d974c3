//! Content → the places that hold it, built from events only.
//!
//! A node a content, in a flat array. It is found by a chained hash table whose links lie in the nodes, and which is
//! never walked in the table's order. Up to 64 workers have their bits in the node. With more of them most content is in few
//! places: these are listed in the node, and from the fifth on it has a row of bits ([`Wide`]). Nodes and rows
//! that come free are used again, so memory follows what is resident.
//!
//! A node also remembers which content came behind it last: along a chain the next node is found without the table.

use std::slice::from_ref;

use tierscope_units::{SequenceHash, WorkerId};

use super::place::{Hosts, Place};
use super::wide::{Reach, Wide};
use crate::lower::Tier;

/// No node, no row.
pub(super) const NONE: u32 = u32::MAX;
/// Places that are listed in a node.
const FEW: usize = 4;
/// A row shrinks back into its node from here on: lower than [`FEW`], so that one place that comes and goes does not
/// move it each time.
const SHRINK: u32 = 2;

#[derive(Clone, Copy, Debug)]
struct Node {
    hash: SequenceHash,
    /// Next in the bucket.
    link: u32,
    /// What came behind it last. May name a node that is vacant or has other content by now.
    next: u32,
    /// Its row of bits; `NONE` while all is here.
    row: u32,
    /// Number of places; 0 in a vacant node only.
    count: u32,
    /// Up to 64 workers: their bits for each tier, those of G3 by host together, those of G4 all or none. More: the
    /// places in order, of which the first `count` are in use, if it has no row.
    cells: [u64; FEW],
}

/// What the events said. Never iterated by content, except to check it.
#[derive(Clone, Debug)]
pub(super) struct Index {
    pub(super) hosts: Hosts,
    nodes: Vec<Node>,
    heads: Vec<u32>,
    vacant: Vec<u32>,
    wide: Wide,
    /// At most 64 workers.
    narrow: bool,
}

impl Index {
    pub(super) fn new(hosts: Hosts) -> Self {
        let wide = Wide::new(hosts.workers());
        let narrow = wide.words() == 1;
        Self { hosts, nodes: Vec::new(), heads: vec![NONE; 64], vacant: Vec::new(), wide, narrow }
    }

    /// Roughly the memory of a copy, in bytes.
    pub(super) fn state_bytes(&self) -> usize {
        self.nodes.len() * size_of::<Node>() + self.heads.len() * size_of::<u32>()
    }

    /// Words for one bit of each worker.
    pub(super) fn words(&self) -> usize {
        self.wide.words()
    }

    /// Sequence hashes are uniform; a multiplication keeps others from falling into one bucket.
    fn bucket(&self, hash: SequenceHash) -> usize {
        let mixed = hash.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed >> 32) as usize & (self.heads.len() - 1)
    }

    /// The node of a content. `behind` is the node of the content before it in the chain, or `NONE`.
    pub(super) fn find(&self, hash: SequenceHash, behind: u32) -> Option<u32> {
        if let Some(before) = self.nodes.get(behind as usize) {
            let guess = before.next;
            if self.nodes.get(guess as usize).is_some_and(|node| node.hash == hash && node.count > 0) {
                return Some(guess);
            }
        }
        let mut at = self.heads[self.bucket(hash)];
        while at != NONE {
            let node = &self.nodes[at as usize];
            if node.hash == hash {
                return Some(at);
            }
            at = node.link;
        }
        None
    }

    /// Reads what each hash will need, and changes nothing. Reads of a batch do not wait for each other, as those of
    /// one change after the other do: with a thousand workers the nodes lie far apart.
    fn warm(&self, hashes: &[SequenceHash]) {
        let mut read = 0;
        for &hash in hashes {
            let head = self.heads[self.bucket(hash)];
            read ^= self.nodes.get(head as usize).map_or(head, |node| node.link);
        }
        std::hint::black_box(read);
    }

    /// Says that a place has these; returns how many it had already.
    pub(super) fn store(&mut self, place: Place, hashes: &[SequenceHash]) -> u64 {
        self.warm(hashes);
        let mut again = 0;
        let mut before = NONE;
        for &hash in hashes {
            let at = match self.find(hash, before) {
                Some(at) => at,
                None => self.occupy(hash),
            };
            if let Some(node) = self.nodes.get_mut(before as usize) {
                node.next = at;
            }
            again += u64::from(!self.put(at, place));
            before = at;
        }
        again
    }

    /// Says that a place no longer has these; returns how many it had not.
    pub(super) fn remove(&mut self, place: Place, hashes: &[SequenceHash]) -> u64 {
        self.warm(hashes);
        let mut unknown = 0;
        let mut before = NONE;
        for &hash in hashes {
            let found = self.find(hash, before);
            unknown += u64::from(!found.is_some_and(|at| self.take(at, place)));
            before = found.unwrap_or(NONE);
        }
        unknown
    }

    /// A worker's own tiers are empty. Reads every node.
    pub(super) fn clear(&mut self, worker: WorkerId) {
        for at in 0..self.nodes.len() as u32 {
            for place in [Place::g1(worker.0), Place::g2(worker.0)] {
                if self.nodes[at as usize].count > 0 {
                    self.take(at, place);
                }
            }
        }
    }

    fn occupy(&mut self, hash: SequenceHash) -> u32 {
        let node = Node { hash, link: NONE, next: NONE, row: NONE, count: 0, cells: [0; FEW] };
        let at = match self.vacant.pop() {
            Some(at) => {
                self.nodes[at as usize] = node;
                at
            }
            None => {
                self.nodes.push(node);
                (self.nodes.len() - 1) as u32
            }
        };
        if self.nodes.len() > self.heads.len() {
            self.widen(at);
        }
        self.hang_in(at);
        at
    }

    /// Doubles the table. `but` is not in it yet.
    fn widen(&mut self, but: u32) {
        self.heads = vec![NONE; 2 * self.heads.len()];
        for at in 0..self.nodes.len() as u32 {
            if at != but && self.nodes[at as usize].count > 0 {
                self.hang_in(at);
            }
        }
    }

    fn hang_in(&mut self, at: u32) {
        let bucket = self.bucket(self.nodes[at as usize].hash);
        self.nodes[at as usize].link = self.heads[bucket];
        self.heads[bucket] = at;
    }

    fn vacate(&mut self, at: u32) {
        let Node { hash, link, .. } = self.nodes[at as usize];
        let bucket = self.bucket(hash);
        if self.heads[bucket] == at {
            self.heads[bucket] = link;
        } else {
            let mut before = self.heads[bucket];
            while self.nodes[before as usize].link != at {
                before = self.nodes[before as usize].link;
            }
            self.nodes[before as usize].link = link;
        }
        self.vacant.push(at);
    }

    /// Whether the place is new there.
    fn put(&mut self, at: u32, place: Place) -> bool {
        if self.narrow {
            return self.turn(at, place, true);
        }
        let node = &mut self.nodes[at as usize];
        let len = node.count as usize;
        if node.row == NONE {
            let Err(slot) = node.cells[..len].binary_search(&place.cell()) else { return false };
            if len < FEW {
                node.cells.copy_within(slot..len, slot + 1);
                node.cells[slot] = place.cell();
                node.count += 1;
                return true;
            }
            node.row = self.wide.take();
            for cell in node.cells {
                self.wide.flip(&self.hosts, node.row, Place::of_cell(cell));
            }
        } else if self.wide.has(&self.hosts, node.row, place) {
            return false;
        }
        self.wide.flip(&self.hosts, node.row, place);
        node.count += 1;
        true
    }

    /// Whether the place was there. A node without places is vacant.
    fn take(&mut self, at: u32, place: Place) -> bool {
        if self.narrow {
            let was = self.turn(at, place, false);
            if self.nodes[at as usize].count == 0 {
                self.vacate(at);
            }
            return was;
        }
        let node = &mut self.nodes[at as usize];
        let len = node.count as usize;
        if node.row == NONE {
            let Ok(slot) = node.cells[..len].binary_search(&place.cell()) else { return false };
            node.cells.copy_within(slot + 1..len, slot);
            node.count -= 1;
            if node.count == 0 {
                self.vacate(at);
            }
            return true;
        }
        if !self.wide.has(&self.hosts, node.row, place) {
            return false;
        }
        self.wide.flip(&self.hosts, node.row, place);
        node.count -= 1;
        if node.count <= SHRINK {
            let places = self.wide.places(&self.hosts, node.row);
            for (cell, place) in node.cells.iter_mut().zip(places) {
                *cell = place.cell();
            }
            self.wide.give_back(node.row);
            node.row = NONE;
        }
        true
    }

    /// Sets or clears a place's bits in the node; whether that changed anything.
    fn turn(&mut self, at: u32, place: Place, on: bool) -> bool {
        let bits = match place.tier() {
            Tier::G1 | Tier::G2 => 1 << place.owner(),
            Tier::G3 => self.hosts.members(place.owner()).iter().fold(0, |bits, worker| bits | 1 << worker),
            Tier::G4 => u64::MAX,
        };
        let node = &mut self.nodes[at as usize];
        let cell = &mut node.cells[place.tier().index()];
        if (*cell & bits != 0) == on {
            return false;
        }
        *cell ^= bits;
        node.count = if on { node.count + 1 } else { node.count - 1 };
        true
    }

    /// The places of a node, in order.
    fn places(&self, node: &Node) -> Vec<Place> {
        if self.narrow {
            let [g1, g2, g3, g4] = &node.cells;
            let reach = Reach { g1: from_ref(g1), g2: from_ref(g2), g3: from_ref(g3), g4: *g4 };
            return reach.places(&self.hosts);
        }
        if node.row != NONE {
            return self.wide.places(&self.hosts, node.row);
        }
        node.cells[..node.count as usize].iter().map(|&cell| Place::of_cell(cell)).collect()
    }

    /// Who reaches a node's content, a word for each 64 workers; words outside `range` may be wrong. `room` has three
    /// times [`Index::words`].
    pub(super) fn reach<'a>(&'a self, at: u32, range: (usize, usize), room: &'a mut [u64]) -> Reach<'a> {
        let node = &self.nodes[at as usize];
        if self.narrow {
            let [g1, g2, g3, g4] = &node.cells;
            return Reach { g1: from_ref(g1), g2: from_ref(g2), g3: from_ref(g3), g4: *g4 };
        }
        if node.row != NONE {
            return self.wide.reach(node.row);
        }
        let words = self.words();
        let (first, last) = range;
        let (g1, rest) = room.split_at_mut(words);
        let (g2, g3) = rest.split_at_mut(words);
        for tier in [&mut *g1, &mut *g2, &mut *g3] {
            tier[first..=last].fill(0);
        }
        let mut g4 = 0;
        for &cell in &node.cells[..node.count as usize] {
            let place = Place::of_cell(cell);
            let owner = place.owner();
            match place.tier() {
                Tier::G1 => g1[usize::from(owner) / 64] |= 1 << (owner % 64),
                Tier::G2 => g2[usize::from(owner) / 64] |= 1 << (owner % 64),
                Tier::G3 => {
                    for &worker in self.hosts.members(owner) {
                        g3[usize::from(worker) / 64] |= 1 << (worker % 64);
                    }
                }
                Tier::G4 => g4 = u64::MAX,
            }
        }
        Reach { g1, g2, g3, g4 }
    }

    /// Everything that it has, in no order that means anything.
    pub(super) fn entries(&self) -> Vec<(SequenceHash, Place)> {
        let mut entries = Vec::new();
        for node in self.nodes.iter().filter(|node| node.count > 0) {
            entries.extend(self.places(node).into_iter().map(|place| (node.hash, place)));
        }
        entries
    }

    /// Contents, and room for contents.
    #[cfg(test)]
    pub(super) fn room(&self) -> (usize, usize) {
        (self.nodes.len() - self.vacant.len(), self.nodes.len())
    }
}

/// Sets a worker's bit, or clears it.
pub(super) fn set_bit(words: &mut [u64], worker: usize, on: bool) {
    let bit = 1 << (worker % 64);
    if on {
        words[worker / 64] |= bit;
    } else {
        words[worker / 64] &= !bit;
    }
}

/// Number of bits in all words.
pub(super) fn count(words: &[u64]) -> u32 {
    words.iter().map(|word| word.count_ones()).sum()
}
