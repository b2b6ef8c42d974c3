//! Facts that belong to several workers together: routing, handoffs, workers that come and go.

use tierscope_units::{HandoffId, RequestId, WorkerId};

use crate::input::Leg;
use crate::router::Overlap;

/// What the router decided (rule H6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RouteFact {
    /// A request goes to a worker.
    Chosen {
        /// The request.
        request: RequestId,
        /// The worker.
        worker: WorkerId,
        /// For which part of its life.
        leg: Leg,
        /// The replica of the router that decided.
        replica: u32,
        /// Workers that it could have gone to.
        candidates: u32,
        /// The cost of the choice in thousandths of a block; 0 under policies without costs.
        cost_milliblocks: i64,
        /// What the router believed that the worker holds of the prompt.
        believed: Overlap,
        /// Blocks of the prompt's beginning that the worker had in G1.
        resident_g1_blocks: u32,
    },
    /// No worker can take a request: it waits at the router until one can.
    Held {
        /// The request.
        request: RequestId,
        /// The part of its life that it waits for.
        leg: Leg,
    },
}

/// A step of a handoff (rule H1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandoffFact {
    /// A handoff reached a phase.
    Reached {
        /// The handoff.
        handoff: HandoffId,
        /// It grows with each new attempt: messages of older ones mean nothing (rule H2).
        generation: u32,
        /// The request.
        request: RequestId,
        /// The phase.
        phase: HandoffPhase,
    },
    /// Blocks begin to move.
    CopyStarted {
        /// The handoff.
        handoff: HandoffId,
        /// Its generation.
        generation: u32,
        /// The worker that has them.
        source: WorkerId,
        /// The worker that gets them.
        destination: WorkerId,
        /// How many.
        blocks: u32,
    },
    /// A message came that means nothing any more: the second of its kind, or one of an older generation (rule H2).
    MessageIgnored {
        /// The handoff.
        handoff: HandoffId,
        /// The message's generation.
        generation: u32,
        /// What it says.
        message: MessageKind,
        /// Whether it is of an older generation, or of a handoff that is over.
        stale: bool,
    },
}

/// How far a handoff is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HandoffPhase {
    /// The prompt is being computed, or waits for it; under destination-first, for the destination too.
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
    /// It was cancelled, and neither side holds anything for it.
    Cancelled,
    /// It failed, and neither side holds anything for it; the request is computed again.
    Failed(HandoffFailure),
}

/// Why a handoff failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// What workers say to each other about a handoff. Each is sent once for a generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageKind {
    /// To the destination: the prompt is computed and held, go and get it.
    Prefilled,
    /// To the source: slots are reserved.
    Reserved,
    /// To the source: everything has come.
    Received,
}

/// Whether a worker is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

impl HandoffPhase {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Preparing => "preparing",
            Self::SourceHeld => "source_held",
            Self::DestinationReserved => "destination_reserved",
            Self::Transferring => "transferring",
            Self::Activated => "activated",
            Self::SourceReleased => "source_released",
            Self::Cancelled => "cancelled",
            Self::Failed(HandoffFailure::WorkerLost) => "failed_worker_lost",
            Self::Failed(HandoffFailure::Copy) => "failed_copy",
            Self::Failed(HandoffFailure::LeaseExpired) => "failed_lease_expired",
            Self::Failed(HandoffFailure::Refused) => "failed_refused",
        }
    }

    /// Whether nothing comes after it.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::SourceReleased | Self::Cancelled | Self::Failed(_))
    }
}

impl MessageKind {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Prefilled => "prefilled",
            Self::Reserved => "reserved",
            Self::Received => "received",
        }
    }
}

impl WorkerState {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Starting => "starting",
            Self::Ready => "ready",
            Self::Draining => "draining",
            Self::Lost => "lost",
        }
    }
}

impl Leg {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Prefill => "prefill",
            Self::Decode => "decode",
        }
    }
}
