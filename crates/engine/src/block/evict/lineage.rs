//! Lineage: leaves before parents. A block is given up only when no registered block continues it; among such
//! leaves, the least recently used first. A prefix is never cut in its middle.

use std::collections::{BTreeMap, BTreeSet};

use tierscope_units::{Idx, SlotId};

use super::{Evict, NONE};
use crate::block::pool::{Slot, Tag};

/// Who continues whom, and when each slot was last cached.
#[derive(Clone, Debug)]
pub(crate) struct Lineage {
    nodes: Vec<Node>,
    /// Cached slots that nobody continues, by time of entry.
    leaves: BTreeSet<(u64, SlotId)>,
    entries: u64,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    children: u32,
    entered: u64,
    cached: bool,
}

impl Node {
    const NEW: Self = Self { parent: NONE, children: 0, entered: 0, cached: false };
}

impl Lineage {
    pub(crate) fn new(slots: u32) -> Self {
        Self { nodes: vec![Node::NEW; slots as usize], leaves: BTreeSet::new(), entries: 0 }
    }

    pub(super) fn grow(&mut self, slots: u32) {
        self.nodes.resize(self.nodes.len().max(slots as usize), Node::NEW);
    }

    /// Files a slot under the leaves, or takes it out, as its state says.
    fn refile(&mut self, slot: SlotId) {
        let node = self.nodes[slot.index()];
        if node.cached && node.children == 0 {
            self.leaves.insert((node.entered, slot));
        } else {
            self.leaves.remove(&(node.entered, slot));
        }
    }
}

impl Evict for Lineage {
    fn enter(&mut self, _: &mut [Slot], slot: SlotId) {
        let node = &mut self.nodes[slot.index()];
        node.entered = self.entries;
        node.cached = true;
        self.entries += 1;
        self.refile(slot);
    }

    fn leave(&mut self, _: &mut [Slot], slot: SlotId) {
        self.nodes[slot.index()].cached = false;
        self.refile(slot);
    }

    fn rejoin(&mut self, _: &mut [Slot], slot: SlotId) {
        self.nodes[slot.index()].cached = true;
        self.refile(slot);
    }

    fn pick(&self, slots: &[Slot], count: usize, out: &mut Vec<SlotId>) {
        // Leaves in order; a parent whose last child is chosen becomes a leaf itself. A protected or reserved
        // leaf keeps its parents.
        let mut open: BTreeSet<(u64, SlotId)> = BTreeSet::new();
        let mut lost: BTreeMap<u32, u32> = BTreeMap::new();
        let mut leaves =
            self.leaves.iter().copied().filter(|(_, slot)| slots[slot.index()].tag == Tag::Cached);
        let mut next_leaf = leaves.next();
        let from = out.len();
        while out.len() < from + count {
            let take_open = open.first().is_some_and(|first| next_leaf.is_none_or(|leaf| *first < leaf));
            let victim =
                if take_open { open.pop_first() } else { std::mem::replace(&mut next_leaf, leaves.next()) };
            let Some((_, slot)) = victim else { break };
            out.push(slot);
            let parent = self.nodes[slot.index()].parent;
            if parent == NONE {
                continue;
            }
            let lost = lost.entry(parent).or_default();
            *lost += 1;
            let node = self.nodes[parent as usize];
            if *lost == node.children && node.cached && slots[parent as usize].tag == Tag::Cached {
                open.insert((node.entered, SlotId(parent)));
            }
        }
        // What is left is cached under children that are in use: an active child of a cached parent, which
        // duplicates of one content make possible. The oldest go first.
        if out.len() < from + count {
            let chosen: BTreeSet<SlotId> = out[from..].iter().copied().collect();
            let mut rest: Vec<(u64, SlotId)> = (0..)
                .map(SlotId)
                .zip(slots)
                .filter(|(slot, state)| state.tag == Tag::Cached && !chosen.contains(slot))
                .map(|(slot, _)| (self.nodes[slot.index()].entered, slot))
                .collect();
            rest.sort_unstable();
            out.extend(rest.iter().take(from + count - out.len()).map(|(_, slot)| *slot));
        }
    }

    fn registered(&mut self, _: &[Slot], slot: SlotId, parent: Option<SlotId>) {
        self.nodes[slot.index()].parent = parent.map_or(NONE, |parent| parent.0);
        if let Some(parent) = parent {
            self.nodes[parent.index()].children += 1;
            self.refile(parent);
        }
    }

    fn unregistered(&mut self, _: &[Slot], slot: SlotId) {
        let parent = std::mem::replace(&mut self.nodes[slot.index()].parent, NONE);
        if parent != NONE {
            self.nodes[parent as usize].children -= 1;
            self.refile(SlotId(parent));
        }
        // Children that outlive it have no parent from now on.
        if self.nodes[slot.index()].children > 0 {
            for node in self.nodes.iter_mut().filter(|node| node.parent == slot.0) {
                node.parent = NONE;
            }
            self.nodes[slot.index()].children = 0;
            self.refile(slot);
        }
    }

    fn order(&self, slots: &[Slot]) -> Vec<SlotId> {
        let mut out = Vec::new();
        let cached = slots.iter().filter(|slot| slot.tag == Tag::Cached).count();
        self.pick(slots, cached, &mut out);
        out
    }
}
