//! What is now so: the machine's only output, and the only truth of reports, charts and exports.
//!
//! Facts are small and `Copy`; lists of blocks lie in the [`FactLog`]'s arena and are read by
//! [`FactLog::blocks`]. The log is drained by its reader after every input: nothing is kept unless somebody
//! keeps it.

mod fleet;

use crate::lower::{Cause, Lane, Tier};
use tierscope_units::{
    ClaimId, PassId, RequestId, SequenceHash, SimTime, SlotId, TransferId, TxnId, WorkerId,
};

pub use fleet::{HandoffFact, HandoffFailure, HandoffPhase, MessageKind, RouteFact, WorkerState};

/// Something that is now so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A request arrived.
    Arrived { request: RequestId, prompt_tokens: u32, output_tokens: u32 },
    /// A request was refused at arrival (rule S4).
    Rejected { request: RequestId, reason: Rejection },
    /// A transaction committed (rule T4): the request owns these blocks besides those it had.
    Acquired {
        txn: TxnId,
        request: RequestId,
        caller: Caller,
        active_hits: u32,
        cached_hits: u32,
        missing: BlockList,
        victims: u32,
    },
    /// A transaction found too little (rule T3); nothing changed.
    CapacityExhausted {
        txn: TxnId,
        request: RequestId,
        caller: Caller,
        needed: u32,
        obtainable: u32,
        prepared: Prepared,
    },
    /// A transaction found slots that an offload still reads (rule T3): the victims are held for it, nothing else
    /// changed. The request is not tried again before the transfer ends, `deadline` being when that is believed.
    BlockedOnOffload {
        txn: TxnId,
        request: RequestId,
        caller: Caller,
        needed: u32,
        transfer: TransferId,
        deadline: SimTime,
        prepared: Prepared,
    },
    /// A transaction's victims were present below: their slots came free at once, and it tries once more.
    RetryNow { txn: TxnId, request: RequestId, caller: Caller, generation: u64, released: u32 },
    /// A batch of blocks is queued on a lane: their slots in the tier that they leave. Those of evicted blocks are
    /// held until it ends (rule L6).
    CopyQueued {
        transfer: TransferId,
        lane: Lane,
        cause: Cause,
        request: Option<RequestId>,
        blocks: BlockList,
    },
    /// A batch has a permit and its copy begins: the slots in the tier that the blocks go to. It may have fewer
    /// blocks than were queued: what is there already, or not here any more, is not copied.
    CopyStarted { transfer: TransferId, lane: Lane, blocks: BlockList },
    /// A copy failed and will be tried again.
    CopyRetried { transfer: TransferId, failure: CopyFailure, attempt: u32, at: SimTime },
    /// A batch ended for good; its sources and whoever waited are released (rule L5).
    CopyEnded { transfer: TransferId, lane: Lane, end: CopyEnd, released: u32 },
    /// A copy still reads slots that were given to somebody else, or may be: the next pass waits for its end.
    CopyFlushed { transfer: TransferId },
    /// Blocks are matchable in a tier below G1.
    TierStored { tier: Tier, blocks: BlockList },
    /// Blocks are no longer matchable in a tier below G1.
    TierRemoved { tier: Tier, blocks: BlockList },
    /// A request has its slots in G1 and loads content from below into them, behind its hits in G1.
    OnboardStarted { request: RequestId, hit_blocks: u32, g2_blocks: u32, g3_blocks: u32, g4_blocks: u32 },
    /// Everything that a request was loading has come or failed. What failed, and what lies behind it, it computes.
    OnboardEnded { request: RequestId, loaded_blocks: u32, failed_blocks: u32 },
    /// A finished request's blocks stay in G1 for its follower, until then at the latest.
    Leased { request: RequestId, blocks: BlockList, until: SimTime },
    /// A lease ended: its follower came, or its time was up.
    LeaseEnded { request: RequestId, released: u32, expired: bool },
    /// Content that a waiting request wants is on its way for somebody else; those behind it go on.
    WaitsForCopy { request: RequestId, transfer: TransferId, deadline: SimTime },
    /// A claim has its slots: promised, not matchable (rule T7).
    Claimed { txn: TxnId, claim: ClaimId, caller: Caller, blocks: BlockList, victims: u32 },
    /// A claim found too little; nothing changed. It is tried again when slots come free.
    ClaimRefused { txn: TxnId, claim: ClaimId, caller: Caller, needed: u32, obtainable: u32 },
    /// A claim found slots that an offload still reads, and waits for it.
    ClaimBlocked { txn: TxnId, claim: ClaimId, caller: Caller, transfer: TransferId, deadline: SimTime },
    /// The bytes of a claim have come: these blocks are matchable now.
    ClaimActivated { claim: ClaimId, parent: SequenceHash, blocks: BlockList },
    /// A claim was given up; its slots are free.
    ClaimAbandoned { claim: ClaimId, released: u32 },
    /// The transfer that a request waited for has ended (rule T8).
    Unblocked { request: RequestId, transfer: TransferId },
    /// A waiting request was admitted to the running batch.
    Admitted { request: RequestId, cached_tokens: u32, loaded: Loaded, readmission: bool },
    /// New full blocks became matchable, in order (rule T4).
    Stored { request: RequestId, parent: SequenceHash, blocks: BlockList },
    /// Blocks are no longer matchable.
    Removed { blocks: BlockList },
    /// A running request gave its blocks back and waits again; `lost_tokens` computed tokens are void.
    Preempted { request: RequestId, lost_tokens: u32, released: u32 },
    /// A pass began.
    PassStarted(PassStart),
    /// Tokens scheduled for one prefill row of the pass that is about to begin.
    Prefilled { request: RequestId, tokens: u32, computed_before: u32, recomputed: u32 },
    /// A pass ended.
    PassEnded { worker: WorkerId, pass: PassId },
    /// A request's first output token is visible.
    FirstToken { request: RequestId },
    /// A request's second output token is visible.
    SecondToken { request: RequestId },
    /// A request is done.
    Finished { request: RequestId, output_tokens: u32 },
    /// A request was cancelled; everything it held is released.
    Cancelled { request: RequestId, output_tokens: u32 },
    /// A prompt is computed, and its blocks are held for the worker that goes on with it (rule H1).
    SourceHeld { request: RequestId, blocks: BlockList },
    /// The blocks that were held for a handoff are free.
    SourceReleased { request: RequestId, released: u32 },
    /// Slots for a prompt that was computed elsewhere are reserved (rules H1, T7): not matchable.
    DestinationReserved { request: RequestId, hit_blocks: u32, reserved_blocks: u32 },
    /// A request's context has come, and is matchable; or it has not, and is computed here.
    ContextArrived { request: RequestId, end: Result<(), CopyFailure> },
    /// A request whose context came from elsewhere entered the running batch.
    Joined { request: RequestId, context_tokens: u32 },
    /// A request left this worker unfinished, with everything that it held.
    Withdrawn { request: RequestId, released: u32 },
    /// The router has decided, or could not.
    Route(RouteFact),
    /// A handoff is one step on.
    Handoff(HandoffFact),
    /// A worker comes or goes.
    Worker { worker: WorkerId, state: WorkerState },
}

/// Tokens of an admission that came from below G1; they are among its cached tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Loaded {
    /// From host memory.
    pub g2_tokens: u32,
    /// From disk.
    pub g3_tokens: u32,
    /// From the object store.
    pub g4_tokens: u32,
}

/// How a batch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyEnd {
    /// Its blocks are where they were to go.
    Completed,
    /// They are not.
    Failed(CopyFailure),
    /// It never started: nothing was left to copy, or nobody wanted it any more.
    Cancelled,
}

/// Why a copy failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyFailure {
    /// The executor reported an error.
    Executor,
    /// The bytes arrived and were not the right ones.
    Corrupt,
    /// The task that made it was aborted.
    Aborted,
    /// The task that made it panicked.
    Panicked,
    /// It took longer than its lane allows.
    TimedOut,
    /// The tier that it goes to had no room.
    DestinationFull,
    /// The lane was shut down.
    Shutdown,
}

impl CopyFailure {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Executor,
        Self::Corrupt,
        Self::Aborted,
        Self::Panicked,
        Self::TimedOut,
        Self::DestinationFull,
        Self::Shutdown,
    ];

    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Executor => "executor",
            Self::Corrupt => "corrupt",
            Self::Aborted => "aborted",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::DestinationFull => "destination_full",
            Self::Shutdown => "shutdown",
        }
    }
}

/// The state of the worker as a pass begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassStart {
    /// The worker.
    pub worker: WorkerId,
    /// The pass.
    pub pass: PassId,
    /// Rows and tokens of prefill.
    pub prefill_rows: u32,
    /// Tokens computed by them.
    pub prefill_tokens: u32,
    /// Rows of decode: one token each, and their drafts.
    pub decode_rows: u32,
    /// Tokens computed by them.
    pub decode_tokens: u32,
    /// Requests waiting.
    pub waiting: u32,
    /// Occupancy of G1: three numbers, never one (rule P3).
    pub g1: Occupancy,
}

/// How many blocks of a tier are in which state. The sum is the capacity (rule T9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Occupancy {
    /// Neither held nor matchable.
    pub free: u32,
    /// Promised to an open transaction.
    pub reserved: u32,
    /// Referenced by at least one request.
    pub active: u32,
    /// Matchable, referenced by nobody, evictable.
    pub cached: u32,
    /// Evicted, and still read by an offload: neither matchable nor free.
    pub source_hold: u32,
}

/// What an acquire had found and wanted when it was refused (rule T2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Prepared {
    /// Wanted blocks that somebody references.
    pub active_hits: u32,
    /// Wanted blocks that are cached: each uses up an obtainable slot.
    pub cached_hits: u32,
    /// Wanted blocks that are not resident.
    pub missing: u32,
    /// Slots that have to stay available besides: the rest of the prompt, and the watermark.
    pub keep_free: u32,
    /// Slots that were free.
    pub free: u32,
}

/// Who asks for blocks (rule T7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A waiting request's admission.
    Admission,
    /// A further chunk of a running prefill.
    PrefillChunk,
    /// A decode row that grows over a block boundary.
    DecodeGrowth,
    /// A decode row with drafts: room for all of them or none.
    Speculation,
    /// The destination of a handoff, before its first byte moves.
    Destination,
    /// The destination of a copy from a lower tier.
    Onboard,
}

impl Caller {
    /// The word for it in exports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Admission => "admission",
            Self::PrefillChunk => "prefill_chunk",
            Self::DecodeGrowth => "decode_growth",
            Self::Speculation => "speculation",
            Self::Destination => "destination",
            Self::Onboard => "onboard",
        }
    }
}

/// Why a request can never be served, with the numbers that show it (rule S4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// The prompt alone needs more blocks than G1 has.
    PromptExceedsG1 { needed_blocks: u32, capacity_blocks: u32 },
    /// Prompt and output together need more blocks than G1 has.
    OutputExceedsG1 { needed_blocks: u32, capacity_blocks: u32 },
    /// Prompt and output together are longer than the model takes.
    ExceedsModelLen { needed_tokens: u64, max_model_len: u32 },
    /// Without chunked prefill, the prompt must fit into one pass, with its answer in case it is preempted.
    ExceedsPass { tokens: u32, tokens_per_pass: u32 },
    /// A prompt of no tokens, or a request for none.
    Empty,
}

/// A list of blocks in the log's arena.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct BlockList {
    start: u32,
    len: u32,
}

impl BlockList {
    /// Number of blocks.
    pub const fn len(self) -> u32 {
        self.len
    }

    /// Whether the list holds none.
    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

/// A block in a fact: where it lies and what it holds (zero for a block with no hash yet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRef {
    /// Its place in G1.
    pub slot: SlotId,
    /// Its content.
    pub hash: SequenceHash,
}

/// The facts since the log was last cleared, in order.
#[derive(Clone, Debug, Default)]
pub struct FactLog {
    facts: Vec<(SimTime, Fact)>,
    arena: Vec<BlockRef>,
    /// Facts that were cleared.
    published: u64,
    /// Whose facts these are; `None` is what belongs to no worker alone.
    worker: Option<WorkerId>,
}

impl FactLog {
    /// The facts with the time of each.
    pub fn iter(&self) -> impl Iterator<Item = (SimTime, &Fact)> {
        self.facts.iter().map(|(at, fact)| (*at, fact))
    }

    /// The blocks of a list.
    pub fn blocks(&self, list: BlockList) -> &[BlockRef] {
        &self.arena[list.start as usize..][..list.len as usize]
    }

    /// An empty log of a worker's facts, or of those that belong to none alone.
    pub(crate) fn of(worker: Option<WorkerId>) -> Self {
        Self { worker, ..Self::default() }
    }

    /// The worker of several whose facts these are: slots, passes and transactions are numbered by it. `None` for facts
    /// that belong to none alone, and for those of a machine that is the only one.
    pub fn worker(&self) -> Option<WorkerId> {
        self.worker
    }

    /// Whether nothing is logged.
    pub fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }

    /// Number of facts that were in the log and have been cleared: its reader has them.
    pub fn published(&self) -> u64 {
        self.published
    }

    /// Number of facts that were ever in the log; of a log as old as the machine, this is the machine's lifecycle
    /// watermark (rule L3). It stops at `u64::MAX`.
    pub fn logged(&self) -> u64 {
        self.published.saturating_add(self.facts.len() as u64)
    }

    /// Forgets all facts, keeps the memory.
    pub fn clear(&mut self) {
        self.published = self.logged();
        self.facts.clear();
        self.arena.clear();
    }

    /// Exchanges the memory of two logs that are empty: that of one worker after the other is the same, and is near.
    pub(crate) fn exchange_memory(&mut self, other: &mut Self) {
        debug_assert!(self.is_empty() && other.is_empty(), "facts would change their worker");
        std::mem::swap(&mut self.facts, &mut other.facts);
        std::mem::swap(&mut self.arena, &mut other.arena);
    }

    pub(crate) fn push(&mut self, at: SimTime, fact: Fact) {
        self.facts.push((at, fact));
    }

    pub(crate) fn list(&mut self, blocks: impl IntoIterator<Item = BlockRef>) -> BlockList {
        let start = self.arena.len() as u32;
        self.arena.extend(blocks);
        BlockList { start, len: self.arena.len() as u32 - start }
    }
}
