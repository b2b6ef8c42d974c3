//! What a cache of a given size would have hit, by the order of requests alone: no scheduler, no time.
//!
//! Requests come in the order of the workload. A request hits the longest prefix of its blocks that is in the cache;
//! then all its blocks are inserted, even if they are more than the cache holds, and what is too much is taken out
//! again. Two policies decide what that is:
//!
//! - **LRU**, leaf blocks first: of the blocks of a request the last one counts as the least recently used;
//! - **optimal**: the block whose next use is furthest away (Belady's rule); a block that is never used again does
//!   not enter (bypass). No policy hits more.
//!
//! And there are two ways to count (rule P2: a hit ratio names its definition):
//!
//! - **by blocks**: every block of every prompt, the last and partial one included; hits by blocks;
//! - **by tokens**: full blocks only, the last token of a prompt always computed anew; hit tokens by prompt tokens.
//!   This is the definition of the report's hit ratios.
//!
//! Blocks are those of the trace where it has hashes (`content_block_tokens`), else the engine's. A partial block
//! of one run of tokens counts as the block that its run begins: a trace gives both one id. Blocks of output are
//! inserted where a later prompt repeats them (the turns of a conversation), and only there.

mod lru;
mod optimal;
mod sequence;

use tierscope_scenario::Workload;

use lru::Curve;
use sequence::Sequence;

/// No limit on the size of the cache.
pub const INFINITE: u64 = u64::MAX;

/// Hits of references.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Hits {
    /// Blocks or tokens that were hit.
    pub hit: u64,
    /// All of them.
    pub of: u64,
}

impl Hits {
    /// The share, 0 to 1; zero of nothing.
    pub fn ratio(self) -> f64 {
        if self.of == 0 { 0.0 } else { self.hit as f64 / self.of as f64 }
    }
}

/// What the requests add up to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Totals {
    /// Requests.
    pub requests: u64,
    /// Blocks of prompts, partial ones included.
    pub references: u64,
    /// Of those, different ones.
    pub distinct_blocks: u64,
    /// Prompt tokens.
    pub input_tokens: u64,
    /// Output tokens asked for.
    pub output_tokens: u64,
}

/// A workload made ready for the question; asking is cheap for LRU and O(references × log) for the optimum.
#[derive(Clone, Debug)]
pub struct CacheModel {
    totals: Totals,
    block_tokens: u32,
    every: Line,
    full: Line,
}

/// The references under one way of counting.
#[derive(Clone, Debug)]
struct Line {
    sequence: Sequence,
    lru: Curve,
    /// For each reference where its block is wanted next.
    next: Vec<u32>,
}

impl Line {
    fn of(sequence: Sequence) -> Self {
        Self { lru: lru::curve(&sequence), next: optimal::next_uses(&sequence), sequence }
    }

    fn optimal(&self, capacity: u64) -> u64 {
        optimal::hits(&self.sequence, &self.next, capacity)
    }
}

impl CacheModel {
    /// Cuts a workload into blocks and finds how deep in an LRU stack each is when it is wanted: O(references × log).
    pub fn of(workload: &Workload) -> Self {
        let block_tokens = workload.content_block_tokens.max(1);
        let blocks = sequence::Blocks::of(workload, block_tokens);
        let plans = &workload.requests;
        let totals = Totals {
            requests: plans.len() as u64,
            references: blocks.references(),
            distinct_blocks: blocks.distinct_in_prompts(),
            input_tokens: plans.iter().map(|plan| u64::from(plan.prompt_tokens)).sum(),
            output_tokens: plans.iter().map(|plan| u64::from(plan.output_tokens)).sum(),
        };
        Self { totals, block_tokens, every: Line::of(blocks.every()), full: Line::of(blocks.full()) }
    }

    /// What the requests add up to.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Tokens of a block here.
    pub fn block_tokens(&self) -> u32 {
        self.block_tokens
    }

    /// LRU of so many blocks, by blocks.
    pub fn lru_blocks(&self, capacity: u64) -> Hits {
        Hits { hit: self.every.lru.hits(capacity), of: self.totals.references }
    }

    /// LRU of so many blocks, by tokens.
    pub fn lru_tokens(&self, capacity: u64) -> Hits {
        self.tokens(self.full.lru.hits(capacity))
    }

    /// The optimum for so many blocks, by blocks.
    pub fn optimal_blocks(&self, capacity: u64) -> Hits {
        Hits { hit: self.every.optimal(capacity), of: self.totals.references }
    }

    /// The optimum for so many blocks, by tokens.
    pub fn optimal_tokens(&self, capacity: u64) -> Hits {
        self.tokens(self.full.optimal(capacity))
    }

    fn tokens(&self, blocks: u64) -> Hits {
        Hits { hit: blocks * u64::from(self.block_tokens), of: self.totals.input_tokens }
    }
}

#[cfg(test)]
mod tests;
