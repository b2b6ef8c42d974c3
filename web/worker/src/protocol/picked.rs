//! What is said about one thing that the user picked out: a request, a block's content, a transfer, a worker.

use serde::{Deserialize, Serialize};

use super::{
    BlockState, CensusRow, CopyView, HandoffView, LaneView, TierName, Totals, Transaction, WorkerView,
};

/// What is asked about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Subject {
    /// A request.
    Request(u32),
    /// A block's content: its sequence hash, 16 hex digits.
    Block(String),
    /// A copy between tiers.
    Transfer(f64),
    /// A worker.
    Worker(u32),
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Told {
    /// About a request.
    Request(Box<RequestTold>),
    /// About a block's content.
    Block(BlockTold),
    /// About a copy.
    Transfer(TransferTold),
    /// About a worker.
    Worker(Box<WorkerTold>),
    /// The run has no such thing, or it is not kept any more.
    Unknown,
}

/// A request: its life, and what it waits for at the time that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RequestTold {
    /// Its number.
    pub request: u32,
    /// Tokens of its prompt.
    pub prompt_tokens: u32,
    /// Tokens of its answer, once it is whole.
    pub output_tokens: u32,
    /// Tokens of its answer so far; `None` while it is at no worker.
    pub made_tokens: Option<u32>,
    /// When it arrived.
    pub arrived_ns: Option<f64>,
    /// When its first token was visible.
    pub first_token_ns: Option<f64>,
    /// When it ended.
    pub ended_ns: Option<f64>,
    /// Prompt tokens that were found cached when it was first admitted.
    pub cached_tokens: Option<u32>,
    /// How often it gave its blocks back until then.
    pub preemptions: u32,
    /// The worker that it is at.
    pub worker: Option<u32>,
    /// Its slots in that worker's G1; at most [`SLOTS_TOLD`].
    pub slots: Vec<u32>,
    /// Its whole life in order, as far as the run went; at most [`SPANS_SHOWN`].
    pub spans: Vec<LifeSpan>,
    /// How many parts of its life are left out.
    pub spans_more: u32,
    /// Its rows in the census of the time.
    pub rows: Vec<CensusRow>,
    /// What keeps it waiting.
    pub why: Option<Why>,
    /// Its newest transactions until then, the newest first; at most [`TXNS_SHOWN`].
    pub transactions: Vec<Transaction>,
    /// How many there are until then.
    pub transactions_total: u32,
    /// Copies that carry blocks for it or that it waited for, in the order of queueing; at most [`COPIES_TOLD`].
    pub copies: Vec<CopyView>,
}

/// A part of a request's life.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LifeSpan {
    /// What it was in.
    pub phase: LifePhase,
    /// At which worker.
    pub worker: u32,
    /// From when.
    pub from_ns: f64,
    /// Until when; `None` for the last one, when the run stopped in it.
    pub until_ns: Option<f64>,
    /// The copy that it waited for.
    pub transfer: Option<f64>,
}

/// What a request is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LifePhase {
    /// At the router: no worker can take it.
    AtRouter,
    /// In the line for its first admission.
    Waiting,
    /// Waits for the end of a copy.
    Blocked,
    /// Content is loaded for it from below G1.
    Loading,
    /// Its load has ended; it waits for admission.
    Loaded,
    /// Computes its prompt.
    Prefill,
    /// Generates.
    Decode,
    /// Gave its blocks back and waits for readmission.
    Preempted,
    /// Its prompt is on its way to the worker that will answer.
    Handoff,
    /// Done.
    Finished,
    /// Given up by its client.
    Cancelled,
    /// Refused at arrival.
    Rejected,
}

/// What keeps a request waiting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// Its own newest transaction, if that came to nothing.
    pub refused: Option<Transaction>,
    /// The copy whose end it waits for.
    pub copy: Option<CopyView>,
    /// The number of that copy, and when it is believed to end.
    pub until: Option<(f64, f64)>,
    /// Requests in the line before it.
    pub ahead: u32,
    /// The first in the line, if it is another one.
    pub head: Option<u32>,
    /// What the first in the line was refused.
    pub head_refused: Option<Transaction>,
    /// Of those who wait for each other in a circle, what it lacks of the next, in words.
    pub cycle: Option<String>,
    /// Requests in the batch.
    pub running: u32,
    /// Most requests in the batch.
    pub running_max: u32,
}

/// A block's content: where it is, and all that happened to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BlockTold {
    /// Its sequence hash.
    pub hash: String,
    /// Its place in the prompts that have it, from 0; `None` where that is not known.
    pub place: Option<u32>,
    /// Where it is at the time that was asked for.
    pub here: Vec<Resident>,
    /// What happened to it in the whole run, in order: those around the time, at most [`EVENTS_SHOWN`].
    pub events: Vec<BlockEvent>,
    /// Events before those that are left out.
    pub events_before: u32,
    /// Events after those that are left out.
    pub events_more: u32,
    /// Whether the run's oldest events are not kept any more: the story may lack its beginning.
    pub cut: bool,
}

/// A slot that holds a content.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Resident {
    /// In which tier.
    pub tier: TierName,
    /// The worker whose tier it is; `None` for one that workers share.
    pub worker: Option<u32>,
    /// The slot.
    pub slot: u32,
    /// Its state.
    pub state: BlockState,
    /// The requests that reference it, in G1.
    pub owners: Vec<u32>,
}

/// Something that happened to a block's content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BlockEvent {
    /// When.
    pub at_ns: f64,
    /// At which worker.
    pub worker: u32,
    /// What.
    pub what: BlockWhat,
}

/// What happened to a block's content.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum BlockWhat {
    /// A request computed or loaded it: it is matchable in G1.
    Stored { request: u32 },
    /// A request found it in G1, and holds it as well.
    Hit { request: u32 },
    /// A request let go of it. The last one leaves it cached.
    Released { request: u32, last: bool },
    /// It stays in G1 for the request that follows.
    Leased { request: u32 },
    /// It is held for the worker that goes on with the request.
    Held { request: u32 },
    /// It came with a claim: matchable in G1.
    Claimed,
    /// It is not matchable in G1 any more.
    Evicted,
    /// A copy of it is queued.
    Queued { transfer: f64, from: TierName, to: TierName },
    /// A copy of it begins.
    Started { transfer: f64, from: TierName, to: TierName },
    /// A copy of it ended.
    Ended { transfer: f64, from: TierName, to: TierName, failed: bool },
    /// It is matchable in a tier below G1.
    StoredBelow { tier: TierName },
    /// It is not matchable in that tier any more.
    RemovedBelow { tier: TierName },
}

/// A copy between tiers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransferTold {
    /// Its story.
    pub copy: CopyView,
    /// Whose lanes it moves along.
    pub worker: u32,
    /// Hashes of its blocks that are known; at most [`HASHES_SHOWN`].
    pub hashes: Vec<String>,
}

/// A worker at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerTold {
    /// Its number.
    pub worker: u32,
    /// What it does, and whether it is there.
    pub view: WorkerView,
    /// Blocks of its G1 by state.
    pub totals: Totals,
    /// Blocks that a prefix can be matched with in its G1.
    pub indexed: u32,
    /// Most requests in its batch.
    pub running_max: u32,
    /// Requests in its batch; at most [`REQUESTS_SHOWN`].
    pub running: Vec<u32>,
    /// Requests in its line, the next first; at most [`REQUESTS_SHOWN`].
    pub waiting: Vec<u32>,
    /// The lanes between its tiers.
    pub lanes: Vec<LaneView>,
    /// Handoffs that come to it or leave it.
    pub handoffs: Vec<HandoffView>,
}

/// Most slots of a request in one answer.
pub const SLOTS_TOLD: usize = 4_096;
/// Most parts of a life in one answer.
pub const SPANS_SHOWN: usize = 200;
/// Most transactions of a request in one answer.
pub const TXNS_SHOWN: usize = 8;
/// Most copies of a request in one answer.
pub const COPIES_TOLD: usize = 16;
/// Most events of a block in one answer.
pub const EVENTS_SHOWN: usize = 300;
/// Most hashes of a copy in one answer.
pub const HASHES_SHOWN: usize = 64;
/// Most requests of a queue in one answer.
pub const REQUESTS_SHOWN: usize = 64;
