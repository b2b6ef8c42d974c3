//! What a fleet is told, and what it wants done.

use tierscope_units::{HandoffId, PassId, RequestId, WorkerId};

use crate::command::Command;
use crate::fact::{CopyFailure, MessageKind};
use crate::input::{Arrival, Input};

/// Something that happened in the world of several workers.
#[derive(Clone, Copy, Debug)]
pub enum FleetInput<'a> {
    /// A request arrived at the router.
    Arrive {
        /// It.
        arrival: Arrival<'a>,
        /// A random number, for a router that draws: the machine has no randomness of its own (rule E1).
        draw: u64,
    },
    /// The client gave up on a request.
    Cancel(RequestId),
    /// Something happened at a worker.
    Worker {
        /// The worker.
        worker: WorkerId,
        /// What.
        input: Input<'a>,
    },
    /// A message came, perhaps late, perhaps not for the first time.
    Message(Message),
    /// The blocks of a handoff have crossed, or will not.
    HandoffCopyEnded {
        /// The request.
        request: RequestId,
        /// The handoff.
        handoff: HandoffId,
        /// The generation that [`HandoffCopy`] named.
        generation: u32,
        /// How it ended.
        end: Result<(), CopyFailure>,
    },
    /// A worker comes or goes.
    Change {
        /// The worker.
        worker: WorkerId,
        /// What becomes of it.
        change: WorkerChange,
    },
}

/// What becomes of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WorkerChange {
    /// It starts, and is ready when it has started.
    Start,
    /// It takes nothing new, and is gone when it has finished what it has.
    Drain,
    /// It is gone at once, with everything that it held.
    Lose,
}

/// Something that the world of several workers should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FleetCommand {
    /// A worker wants something done.
    Worker {
        /// The worker.
        worker: WorkerId,
        /// What.
        command: Command,
    },
    /// Carry a message: answered by [`FleetInput::Message`].
    Send(Message),
    /// Move the blocks of a handoff: answered by [`FleetInput::HandoffCopyEnded`].
    StartHandoffCopy(HandoffCopy),
    /// Nobody wants a handoff's blocks any more: their end is not reported.
    CancelHandoffCopy {
        /// The handoff.
        handoff: HandoffId,
    },
    /// A worker is lost: its passes do not end, its copies are over.
    Forget(WorkerId),
}

/// What one worker says to another about a handoff (rule H2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    /// The handoff.
    pub handoff: HandoffId,
    /// Its generation when this was sent.
    pub generation: u32,
    /// The request.
    pub request: RequestId,
    /// What it says.
    pub kind: MessageKind,
}

/// Blocks that go from one worker's G1 to another's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HandoffCopy {
    /// The request.
    pub request: RequestId,
    /// The handoff.
    pub handoff: HandoffId,
    /// Its generation.
    pub generation: u32,
    /// The worker that has them.
    pub source: WorkerId,
    /// The worker that gets them.
    pub destination: WorkerId,
    /// How many; at least 1.
    pub blocks: u32,
    /// The source's pass that computes the prompt's last part, when the blocks move as it does so (layer by layer);
    /// they cannot have crossed before it ends.
    pub within: Option<PassId>,
}
