//! The router's words: what it is asked, what it answers, and what workers tell it.

use tierscope_units::{RequestId, SequenceHash, WorkerId};

use crate::lower::Tier;

/// Which part of a request's life a worker is wanted for, and which part a worker serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// All of it.
    Whole,
    /// The prefill; the KV is handed off afterwards.
    Prefill,
    /// What comes after a handoff. Nothing is left to prefill, so the cost has no prefill part.
    Decode,
}

impl Stage {
    /// Number of stages.
    pub const COUNT: usize = 3;

    /// Its place in arrays.
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}

/// What a worker serves: it is a candidate for questions of the same stage.
pub type WorkerStage = Stage;

/// A question: where should this request go?
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// Who. Its number modulo the replicas says which replica decides.
    pub request: RequestId,
    /// The prompt's full blocks, in order.
    pub hashes: &'a [SequenceHash],
    /// The prompt's blocks, with a partial one.
    pub prompt_blocks: u32,
    /// Blocks that its output is expected to take; not counted for [`Stage::Prefill`].
    pub output_blocks_hint: u32,
    /// What the worker is for.
    pub stage: Stage,
    /// A uniform word of the caller's random stream; the router itself draws nothing (rule E1). It is looked at
    /// only if the temperature is above 0.
    pub draw: u64,
}

/// The answer, already booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Where the request goes.
    pub worker: WorkerId,
    /// Which replica decided.
    pub replica: u32,
    /// The KV-aware cost of this worker in thousandths of a block, rounded once. It is told whatever the kind of
    /// router is, so that decisions of two kinds can be compared.
    pub cost_milliblocks: i64,
    /// What the router believes that the worker can reach of the prompt.
    pub overlap: Overlap,
    /// Among how many it chose.
    pub candidates: u32,
}

/// The contiguous prefix of a prompt that a worker can reach, each block counted in its highest tier only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Overlap {
    /// Blocks in the worker's G1.
    pub g1_blocks: u32,
    /// Blocks in its G2, and not above.
    pub g2_blocks: u32,
    /// Blocks in its host's G3, and not above.
    pub g3_blocks: u32,
    /// Blocks in G4, and not above.
    pub g4_blocks: u32,
}

impl Overlap {
    /// Blocks in all tiers.
    pub fn blocks(self) -> u64 {
        [self.g1_blocks, self.g2_blocks, self.g3_blocks, self.g4_blocks].map(u64::from).iter().sum()
    }
}

/// What a worker tells about the content that can be matched at it.
///
/// A tier's content is a set: a worker says `Removed` exactly when the content is no longer matchable in that tier,
/// however many slots held it. So stored twice and removed once is gone, and repeated news changes nothing. G1 and
/// G2 are the worker's own, G3 is its host's, G4 is everybody's (rule L8): who tells of them does not matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CacheEvent<'a> {
    /// Blocks are matchable. Runs in the order of the chain are looked up faster later.
    Stored {
        /// Where.
        tier: Tier,
        /// Which.
        hashes: &'a [SequenceHash],
    },
    /// Blocks are no longer matchable.
    Removed {
        /// Where.
        tier: Tier,
        /// Which.
        hashes: &'a [SequenceHash],
    },
    /// The worker's own tiers, G1 and G2, are empty.
    Cleared,
}

/// The index against the truth (rule T9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct IndexCheck {
    /// Blocks that the index has and the truth has not.
    pub phantom: u64,
    /// Blocks that the truth has and the index has not.
    pub missing: u64,
    /// Events that are still under way.
    pub pending: u64,
}

/// What the router was told in vain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Futile {
    /// Blocks stored where they were already.
    pub stored_again: u64,
    /// Blocks removed where they were not.
    pub removed_unknown: u64,
    /// News of requests that the replica has not booked (or no longer).
    pub unknown_request: u64,
    /// Bookings that expired for want of news, all replicas together (rule R4).
    pub expired: u64,
    /// Calls that name a worker that is not there.
    pub unknown_worker: u64,
}
