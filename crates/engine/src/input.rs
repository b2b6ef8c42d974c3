//! What the machine is told as it happens.

use crate::fact::CopyFailure;
use crate::lower::Lane;
use tierscope_units::{ClaimId, PassId, RequestId, SequenceHash, SimTime, TokenRun, TransferId};

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
    /// A copy ended. Whether it succeeded or failed for good, its source slots are free now (rules L5, L6).
    TransferEnded {
        /// The copy.
        transfer: TransferId,
        /// How it ended.
        end: Result<(), CopyFailure>,
    },
    /// Slots are wanted for bytes that are still to come (rule T7): they are reserved when there is room.
    Claim {
        /// A number of the caller's, used once.
        claim: ClaimId,
        /// What for.
        purpose: Purpose,
        /// Slots; at least 1.
        blocks: u32,
    },
    /// The bytes of a reserved claim have come.
    Activate {
        /// The claim.
        claim: ClaimId,
        /// The content before the first block.
        parent: SequenceHash,
        /// The contents of the full blocks, in order.
        hashes: &'a [SequenceHash],
    },
    /// A claim is given up, in whatever state it is.
    Abandon(ClaimId),
    /// A lane's executor was shut down. What waits there has failed at once, and whoever waits for it is told; what
    /// is under way may still end, and is not tried again. Nothing new is taken: content is evicted without a copy,
    /// and computed instead of loaded (rule L5).
    CloseLane {
        /// The lane.
        lane: Lane,
    },
    /// A request's context has come from the worker that computed it, or will not come (rule H1). What did not come is
    /// computed here.
    ContextArrived {
        /// The request; it has its slots.
        request: RequestId,
        /// How the move ended.
        end: Result<(), CopyFailure>,
    },
    /// A handoff is over: the blocks that were held for it are free (rule H1). Told twice, it means nothing.
    ReleaseSource(RequestId),
    /// A request leaves this worker, which gives back everything that it holds; it may go on elsewhere.
    Withdraw(RequestId),
    /// All cached content is dropped (vLLM's `reset_prefix_cache`): only when nothing is in use, or when the
    /// running requests are preempted for it.
    ResetPrefixCache {
        /// Preempt all running requests first.
        preempt_running: bool,
    },
}

/// What a claim is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The destination of a handoff.
    Handoff,
    /// The destination of a copy from a lower tier.
    Onboard,
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
    /// Which part of its life it spends here.
    pub leg: Leg,
    /// Whether it was elsewhere before.
    pub entry: Entry,
}

/// Which part of a request's life a worker sees (rule H1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Leg {
    /// All of it: prefill and decode. A handoff whose two sides are one worker.
    #[default]
    Whole,
    /// The prompt is computed; its blocks are held until [`Input::ReleaseSource`]. The one token that comes of it is
    /// nobody's: the decode worker samples it again, as under vLLM.
    Prefill,
    /// The prompt's context comes from elsewhere: slots are reserved for all of it ([`crate::Command::FetchContext`]),
    /// and what lies in them is [`Input::ContextArrived`].
    Decode,
}

/// Whether a request was elsewhere before it came to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Entry {
    /// It is new.
    #[default]
    New,
    /// It has been announced: [`crate::Fact::Arrived`] is not said again.
    Announced,
    /// Its worker was lost. Output tokens that it had are the end of its prompt; its admission is a readmission.
    Moved {
        /// Those tokens.
        produced_tokens: u32,
    },
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
