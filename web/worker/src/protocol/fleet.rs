//! What is said about several workers: who they are, and what goes on between them.

use serde::{Deserialize, Serialize};

use super::Totals;

/// One of several workers at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerView {
    /// What it does.
    pub role: WorkerRole,
    /// Whether it is there.
    pub state: WorkerState,
    /// Requests in its batch.
    pub running: u32,
    /// Requests in its line.
    pub waiting: u32,
    /// Blocks of its G1 by state; shared ones are counted among the active.
    pub g1: Totals,
}

/// What a worker does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerRole {
    /// Prefill and decode.
    Whole,
    /// Prompts.
    Prefill,
    /// Answers to prompts that were computed elsewhere.
    Decode,
}

/// Whether a worker is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerState {
    /// It is not there.
    Absent,
    /// It is starting, and takes nothing yet.
    Starting,
    /// It takes requests.
    Ready,
    /// It finishes what it has, and takes nothing new.
    Draining,
    /// It is gone, with everything that it held.
    Lost,
}

/// The part of a request's life that a worker is chosen for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RequestLeg {
    /// All of it.
    Whole,
    /// Its prompt.
    Prefill,
    /// Its answer.
    Decode,
}

/// Blocks that go from one worker's G1 to another's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HandoffView {
    /// The handoff.
    pub handoff: f64,
    /// Whose prompt they hold.
    pub request: Option<u32>,
    /// The worker that has them.
    pub source: u32,
    /// The worker that gets them.
    pub destination: u32,
    /// How many.
    pub blocks: u32,
    /// When they began to move.
    pub started_ns: f64,
    /// When that was over; `None` when it was not until the end of the run.
    pub ended_ns: Option<f64>,
}

/// Something that happened between workers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// When.
    pub at_ns: f64,
    /// What.
    pub what: Happening,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Happening {
    /// The router chose a worker (rule H6).
    Routed {
        /// The request.
        request: u32,
        /// The worker.
        worker: u32,
        /// For what.
        leg: RequestLeg,
        /// Workers that it could have gone to.
        candidates: u32,
        /// Blocks of the prompt that the router believed to be in the worker's reach: in G1, and below it.
        believed_blocks: [u32; 2],
        /// Blocks of the prompt that the worker had in G1.
        resident_blocks: u32,
        /// The cost in thousandths of a block; 0 under policies without costs.
        cost_milliblocks: f64,
    },
    /// No worker could take a request: it waits at the router.
    Held {
        /// The request.
        request: u32,
        /// For what.
        leg: RequestLeg,
    },
    /// A handoff is one step on (rule H1).
    Handoff {
        /// The request.
        request: u32,
        /// How far it is.
        phase: HandoffPhase,
    },
    /// Blocks begin to move.
    HandoffCopy {
        /// The request.
        request: Option<u32>,
        /// The worker that has them.
        source: u32,
        /// The worker that gets them.
        destination: u32,
        /// How many.
        blocks: u32,
    },
    /// A message came that means nothing any more (rule H2).
    MessageIgnored {
        /// The request; `None` when its handoff is over.
        request: Option<u32>,
        /// Whether it is of an older attempt or of a handoff that is over; else it came twice.
        stale: bool,
    },
    /// A worker comes or goes.
    Worker {
        /// The worker.
        worker: u32,
        /// What it is now.
        state: WorkerState,
    },
}

/// How far a handoff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandoffPhase {
    /// The prompt is being computed, or waits for it.
    Preparing,
    /// The prompt is computed and its blocks are held.
    SourceHeld,
    /// The destination has slots.
    DestinationReserved,
    /// Bytes move.
    Transferring,
    /// The blocks are matchable at the destination, and the request goes on there.
    Activated,
    /// The source's blocks are free: the handoff is over.
    SourceReleased,
    /// It was cancelled.
    Cancelled,
    /// It failed, and the request is computed again.
    Failed(HandoffFailure),
}

/// Why a handoff failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum HandoffFailure {
    /// One of the workers was lost.
    WorkerLost,
    /// The bytes did not arrive.
    Copy,
    /// One side has held blocks for the other as long as it may.
    LeaseExpired,
    /// The destination can never hold the request.
    Refused,
}

/// Most happenings in one board.
pub const NEWS_SHOWN: usize = 24;
/// Most handoffs in one board.
pub const HANDOFFS_SHOWN: usize = 32;
