//! LRU for every capacity at once (Mattson's stack distances): a block is in a cache of `c` blocks exactly when fewer
//! than `c` other blocks were used since. Which were, a binary indexed tree counts in O(log n).
//!
//! Why the stack is the same for every capacity: requests are inserted whole, and what is too much goes by age.

use super::sequence::Sequence;

/// How many hits a cache of each capacity has.
#[derive(Clone, Debug, Default)]
pub(super) struct Curve {
    /// At place c the hits of a cache of c blocks.
    hits: Vec<u64>,
}

impl Curve {
    /// The hits of a cache of so many blocks.
    pub(super) fn hits(&self, capacity: u64) -> u64 {
        let last = self.hits.len().saturating_sub(1);
        let at = usize::try_from(capacity).unwrap_or(usize::MAX).min(last);
        self.hits.get(at).copied().unwrap_or(0)
    }
}

pub(super) fn curve(sequence: &Sequence) -> Curve {
    let mut stack = Stack::new(sequence);
    let mut hits = vec![0_u64; sequence.distinct as usize + 1];
    for part in &sequence.requests {
        let blocks = &sequence.blocks[part.first..][..part.inserted as usize];
        let mut deepest = 0;
        for &block in &blocks[..part.counted as usize] {
            // The contiguous prefix only: a block counts where all before it are there too.
            let Some(depth) = stack.depth(block) else { break };
            deepest = depth.max(deepest);
            hits[deepest as usize] += 1;
        }
        // The root last, so that leaves are the oldest.
        for &block in blocks.iter().rev() {
            stack.touch(block);
        }
    }
    for capacity in 1..hits.len() {
        hits[capacity] += hits[capacity - 1];
    }
    Curve { hits }
}

const NEVER: u32 = u32::MAX;

/// Blocks by the time of their last use.
struct Stack {
    /// Of each block the slot of its last use.
    slot_of: Vec<u32>,
    /// Of each slot the block whose last use it is.
    block_at: Vec<u32>,
    /// The binary indexed tree over slots that are a last use; place 0 is unused.
    tree: Vec<u32>,
    /// Slots given out.
    used: usize,
    live: u32,
}

impl Stack {
    fn new(sequence: &Sequence) -> Self {
        // Twice the blocks: so repacking happens once per as many uses as there are blocks.
        let slots = 2 * sequence.distinct as usize + 1;
        Self {
            slot_of: vec![NEVER; sequence.distinct as usize],
            block_at: vec![NEVER; slots],
            tree: vec![0; slots + 1],
            used: 0,
            live: 0,
        }
    }

    /// How many blocks were used at or after the block's last use, itself included; `None` if it never was.
    fn depth(&self, block: u32) -> Option<u32> {
        let slot = self.slot_of[block as usize];
        (slot != NEVER).then(|| self.live - self.before(slot as usize))
    }

    fn touch(&mut self, block: u32) {
        let old = self.slot_of[block as usize];
        if old == NEVER {
            self.live += 1;
        } else {
            self.block_at[old as usize] = NEVER;
            self.mark(old as usize, u32::wrapping_sub);
        }
        self.slot_of[block as usize] = NEVER;
        if self.used == self.block_at.len() {
            self.repack();
        }
        self.place(block);
    }

    fn place(&mut self, block: u32) {
        let slot = self.used;
        self.used += 1;
        self.slot_of[block as usize] = slot as u32;
        self.block_at[slot] = block;
        self.mark(slot, u32::wrapping_add);
    }

    /// Moves all last uses to the first slots, in their order.
    fn repack(&mut self) {
        let mut blocks = std::mem::take(&mut self.block_at);
        let slots = blocks.len();
        blocks.retain(|&block| block != NEVER);
        self.block_at = vec![NEVER; slots];
        self.tree.fill(0);
        self.used = 0;
        for block in blocks {
            self.place(block);
        }
    }

    fn mark(&mut self, slot: usize, change: fn(u32, u32) -> u32) {
        let mut at = slot + 1;
        while let Some(count) = self.tree.get_mut(at) {
            *count = change(*count, 1);
            at += at & at.wrapping_neg();
        }
    }

    /// Last uses in slots before this one.
    fn before(&self, slot: usize) -> u32 {
        let (mut at, mut count) = (slot, 0_u32);
        while at > 0 {
            count = count.wrapping_add(self.tree[at]);
            at &= at - 1;
        }
        count
    }
}
