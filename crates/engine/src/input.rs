//! What the machine is told as it happens.

use tierscope_units::{PassId, RequestId, SimTime, TokenRun, TransferId};

/// Something that happened in the world.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A request arrived.
    Arrive(Arrival<'a>),
    /// The client gave up on a request.
    Cancel(RequestId),
    /// A pass ended: every sampling row has one more token, save those that `sampled` tells of, which are in
    /// the order of the rows.
    PassEnded {
        /// The pass.
        pass: PassId,
        /// Rows that do not simply have one more token.
        sampled: &'a [Sampled],
    },
    /// A copy ended. Whether it succeeded or failed, its source slots are free now (rules L5, L6).
    TransferEnded {
        /// The copy.
        transfer: TransferId,
        /// Whether the tier below has the content now.
        succeeded: bool,
    },
    /// All cached content is dropped (vLLM's `reset_prefix_cache`): only when nothing is in use, or when the
    /// running requests are preempted for it.
    ResetPrefixCache {
        /// Preempt all running requests first.
        preempt_running: bool,
    },
}

/// A request as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// Its number; each number arrives once.
    pub request: RequestId,
    /// The prompt's tokens, in order.
    pub prompt: &'a [TokenRun],
    /// Token id of the first output token; the k-th output token is `output_start + k`.
    pub output_start: u64,
    /// Most output tokens; at least 1.
    pub output_tokens: u32,
    /// Content salt: requests with different salts share no blocks.
    pub salt: u64,
    /// Its place under the priority policy.
    pub rank: Rank,
}

/// The order of the priority policy: lower comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rank {
    /// The client's number.
    pub priority: i32,
    /// When the client sent it.
    pub sent: SimTime,
    /// The order among equals.
    pub tie: u32,
}

/// What a row of a pass brought, where it is not just one token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampled {
    /// The row's request.
    pub request: RequestId,
    /// Tokens: one, and one for each accepted draft.
    pub tokens: u32,
    /// The request is done after so many of them (an end-of-sequence token); 0 when it is not.
    pub stop_after: u32,
    /// Drafts proposed for the next verification.
    pub drafts: u32,
}
