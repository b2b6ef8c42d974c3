//! What is said about G1 transactions: which one is meant, and what it came to (rules T1 to T7).

use serde::{Deserialize, Serialize};

use super::CopyView;

/// Which transactions are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TxnFilter {
    /// Of this worker.
    pub worker: u32,
    /// Of this outcome.
    pub outcome: OutcomeFilter,
    /// Of this request, or of all.
    pub request: Option<u32>,
}

/// Which outcomes are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OutcomeFilter {
    /// Any.
    #[default]
    All,
    /// Committed.
    Ready,
    /// Too little, even with everything evictable.
    Exhausted,
    /// An offload still reads the slots.
    Blocked,
    /// Tried twice, since its victims were present below.
    Retried,
}

impl OutcomeFilter {
    /// In the order of the picker and of [`Found::counts`].
    pub const ALL: [Self; 5] = [Self::All, Self::Ready, Self::Exhausted, Self::Blocked, Self::Retried];
}

/// A question for one transaction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Find {
    /// Seen from where.
    pub way: Way,
    /// The cursor.
    pub at_ns: f64,
    /// The transaction that is shown now: several may share an instant.
    pub txn: Option<f64>,
    /// Among which.
    pub filter: TxnFilter,
    /// Whether slots, hashes and consequences are wanted; they are found by repeating the instant.
    pub details: bool,
}

/// Where the transaction lies, seen from the cursor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// The newest at or before the cursor; the cursor stays.
    AtCursor,
    /// The one before the shown one; the cursor goes there.
    Previous,
    /// The one after it; the cursor goes there.
    Next,
    /// The first of the run that was exhausted; the cursor goes there.
    FirstExhausted,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The transaction, if there is one.
    pub transaction: Option<Transaction>,
    /// Its place among those of the filter, from 1; 0 without one.
    pub place: u32,
    /// How many there are of each outcome, of the filter's request, in the order of [`OutcomeFilter::ALL`].
    pub counts: [u32; 5],
    /// How many of the run's oldest were dropped from the index.
    pub dropped: f64,
}

/// One transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transaction {
    /// Its number.
    pub txn: f64,
    /// When.
    pub at_ns: f64,
    /// Who asked.
    pub request: u32,
    /// For what.
    pub caller: TxnCaller,
    /// What it came to.
    pub outcome: TxnOutcome,
    /// Whether its victims were present below, so that it tried twice.
    pub retried: bool,
    /// What only repeating the instant shows.
    pub detail: Option<TxnDetail>,
}

/// For what blocks were asked (rule T7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TxnCaller {
    /// A waiting request's admission.
    Admission,
    /// A further chunk of a running prefill.
    PrefillChunk,
    /// A decode row that grows over a block boundary.
    DecodeGrowth,
    /// A decode row with drafts.
    Speculation,
    /// The destination of a handoff.
    Destination,
    /// The destination of a copy from a lower tier.
    Onboard,
}

/// What a transaction came to (rule T3), in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TxnOutcome {
    /// Committed: hits on blocks in use, hits on cached ones, new ones, and how many of those were victims.
    Ready { active_hits: u32, cached_hits: u32, missing: u32, victims: u32 },
    /// Too little: missing blocks and cached hits on one side, free and evictable ones on the other.
    Exhausted { needed: u32, obtainable: u32 },
    /// The slots exist, and an offload still reads them.
    Blocked { needed: u32 },
}

/// What repeating the instant shows of a transaction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TxnDetail {
    /// Slots of G1.
    pub capacity: u32,
    /// Free and cached slots just before it, where that can be told.
    pub room: Option<Room>,
    /// Blocks that were hit; at most [`BLOCKS_SHOWN`] in each list.
    pub hits: Vec<TxnBlock>,
    /// New slots of the request.
    pub taken: Vec<TxnBlock>,
    /// Contents that were evicted for it.
    pub victims: Vec<TxnBlock>,
    /// Slots that an offload holds as its source from now on.
    pub held: Vec<TxnBlock>,
    /// Blocks of the request that became matchable with it.
    pub stored: u32,
    /// Whether the request entered the batch.
    pub admitted: bool,
    /// Who was preempted because of it.
    pub preempted: Option<PreemptedRequest>,
    /// What it waits for.
    pub transfer: Option<Transfer>,
    /// Slots that came free at once because their content was below.
    pub released: u32,
}

/// Longest list of blocks in one answer.
pub const BLOCKS_SHOWN: usize = 512;

/// Slots that an acquire could get.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Room {
    /// Holding nothing.
    pub free: u32,
    /// Evictable.
    pub cached: u32,
}

/// A block: its slot and its content's hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TxnBlock {
    /// Its place.
    pub slot: u32,
    /// 16 hex digits; `None` while it has none.
    pub hash: Option<String>,
}

/// Who gave way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PreemptedRequest {
    /// The request.
    pub request: u32,
    /// Blocks that it gave back.
    pub released: u32,
    /// Computed tokens that are void.
    pub lost_tokens: u32,
}

/// A copy that is waited for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// Its number.
    pub transfer: f64,
    /// When it is believed to end.
    pub deadline_ns: f64,
    /// Its whole story, as far as the run went; `None` for one that is not kept.
    pub story: Option<CopyView>,
}
