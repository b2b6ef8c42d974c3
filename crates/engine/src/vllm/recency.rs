//! Keys by last use: found, moved to the back and dropped from the front in constant time.

use tierscope_units::SequenceHash;

use super::NONE;
use super::index::KeyIndex;

/// Distinct keys in order, the next to be dropped in front. A key keeps its node number while it is held.
#[derive(Clone, Debug)]
pub(super) struct KeyQueue {
    index: KeyIndex,
    /// By node: the neighbours in front and behind.
    links: Vec<(u32, u32)>,
    unused: Vec<u32>,
    front: u32,
    back: u32,
}

impl Default for KeyQueue {
    fn default() -> Self {
        Self { index: KeyIndex::default(), links: Vec::new(), unused: Vec::new(), front: NONE, back: NONE }
    }
}

impl KeyQueue {
    pub(super) fn len(&self) -> u32 {
        self.index.len()
    }

    pub(super) fn get(&self, key: SequenceHash) -> Option<u32> {
        self.index.get(key)
    }

    /// Adds a key that is not held; its node.
    pub(super) fn push_back(&mut self, key: SequenceHash) -> u32 {
        let node = self.unused.pop().unwrap_or(self.links.len() as u32);
        if node as usize == self.links.len() {
            self.links.push((NONE, NONE));
        }
        self.index.insert(key, node);
        self.link_back(node);
        node
    }

    fn link_back(&mut self, node: u32) {
        self.links[node as usize] = (self.back, NONE);
        match self.back {
            NONE => self.front = node,
            back => self.links[back as usize].1 = node,
        }
        self.back = node;
    }

    fn unlink(&mut self, node: u32) {
        let (before, behind) = self.links[node as usize];
        match before {
            NONE => self.front = behind,
            before => self.links[before as usize].1 = behind,
        }
        match behind {
            NONE => self.back = before,
            behind => self.links[behind as usize].0 = before,
        }
    }

    pub(super) fn move_to_back(&mut self, node: u32) {
        self.unlink(node);
        self.link_back(node);
    }

    pub(super) fn remove(&mut self, node: u32) {
        self.unlink(node);
        self.index.remove(node);
        self.unused.push(node);
    }

    /// Drops the key in front, if there is one.
    pub(super) fn pop_front(&mut self) {
        if self.front != NONE {
            self.remove(self.front);
        }
    }

    /// The keys in order. Bounded, so that a broken link shows as a wrong length and not as a hang.
    pub(super) fn keys(&self) -> impl Iterator<Item = SequenceHash> {
        let first = Some(self.front).filter(|&front| front != NONE);
        let nodes = std::iter::successors(first, |&at| {
            Some(self.links[at as usize].1).filter(|&behind| behind != NONE)
        });
        nodes.take(self.links.len() + 1).map(|node| self.index.key(node))
    }
}
