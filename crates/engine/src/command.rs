//! What the machine wants done.

use tierscope_units::{PassId, RequestId, TransferId, WorkerId};

use crate::lower::Lane;

/// Something the world should do; it answers with an [`crate::Input`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Run a forward pass and report [`crate::Input::PassEnded`].
    StartPass(PassPlan),
    /// Copy blocks along a lane and report [`crate::Input::TransferEnded`].
    StartCopy(CopyPlan),
    /// Stop a copy that is under way: its end is not reported any more.
    CancelCopy(TransferId),
    /// The pass that is started next begins only when this copy, which was started before, has ended.
    AwaitCopy(TransferId),
    /// A request has slots for its context, which is elsewhere: answered by [`crate::Input::ContextArrived`].
    FetchContext(ContextPlan),
    /// The attempt to schedule gave no pass but changed the state (a request that runs had to give way to
    /// nobody's gain): poll again at this instant. At most once for each running request (rule R2).
    PollAgain,
}

/// A copy of a batch of blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyPlan {
    /// The worker whose blocks they are.
    pub worker: WorkerId,
    /// The copy's number.
    pub transfer: TransferId,
    /// From which tier to which.
    pub lane: Lane,
    /// Blocks to copy; at least 1.
    pub blocks: u32,
    /// Attempts that failed before.
    pub attempt: u32,
}

/// Context that a request wants from another worker (rule H1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextPlan {
    /// The request.
    pub request: RequestId,
    /// Blocks of its prompt that are here already.
    pub hit_blocks: u32,
    /// Blocks that are not; the last one may be partial.
    pub missing_blocks: u32,
}

/// What a pass computes, as far as its duration depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PassPlan {
    /// The worker that runs it.
    pub worker: WorkerId,
    /// Its number.
    pub pass: PassId,
    /// Rows that compute prompt (or recomputed) tokens.
    pub prefill_rows: u32,
    /// Tokens computed by those rows.
    pub prefill_tokens: u32,
    /// Query–key pairs of those rows: for n tokens behind c computed ones, n·c + n·(n+1)/2.
    pub prefill_attention_pairs: u64,
    /// Rows that decode: one token each, and their drafts.
    pub decode_rows: u32,
    /// Tokens computed by those rows.
    pub decode_tokens: u32,
    /// Tokens of context that those rows read.
    pub decode_context_tokens: u64,
    /// Blocks of G1 in use (referenced) during the pass.
    pub active_blocks: u32,
    /// Blocks of G1 in all.
    pub capacity_blocks: u32,
}
