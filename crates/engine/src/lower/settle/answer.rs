//! What a settlement is answered with.

use super::token::MachineId;
use crate::fact::CopyFailure;
use crate::lower::lane::LaneSnapshot;
use crate::lower::name::Lane;

/// Whether what a token and a target ask for is so (rule L3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "asked once an instant and read at once, never kept in numbers"
)]
pub enum Settlement {
    /// It is.
    Settled(Settled),
    /// Not yet.
    Pending {
        /// The lane that it waits for; `None` is the machine as a whole.
        lane: Option<Lane>,
        /// How many are missing: batches; for [`Awaits::Publication`], facts; 0 where there is nothing to count.
        missing: u64,
        /// For what.
        why: Awaits,
    },
}

/// A settled state: the counts are reached, every lane is stable, what could start has started, what came is
/// registered, and the facts that say so are with their reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The lifecycle watermark: all facts that the machine has ever logged, which are all with their reader.
    pub watermark: u64,
    /// By [`Lane::index`]: how many batches are where.
    pub lanes: [LaneSnapshot; Lane::COUNT],
    /// By [`Lane::index`]: on what the lane rests.
    pub rests: [Rest; Lane::COUNT],
    /// By [`Lane::index`]: slots of the tier that the lane leaves, released by its batches since the token (rule L6).
    pub released_sources: [u64; Lane::COUNT],
}

impl Settled {
    /// A lane's snapshot.
    pub fn lane(&self, lane: Lane) -> LaneSnapshot {
        self.lanes[lane.index()]
    }

    /// On what a lane rests.
    pub fn rest(&self, lane: Lane) -> Rest {
        self.rests[lane.index()]
    }

    /// Source slots that a lane has released since the token.
    pub fn released(&self, lane: Lane) -> u64 {
        self.released_sources[lane.index()]
    }
}

/// Why nothing of a stable lane starts now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing waits.
    Idle,
    /// A batch that is not full waits for more blocks.
    Collecting,
    /// Batches wait, and every permit is taken (rule L1).
    Permits,
    /// A permit is free, and the first batch in the queue waits for room in its tier (rule L8).
    Room,
    /// What is queued reads what a pass computes, and starts when that has ended (vLLM's connector, which has no
    /// permits).
    Pass,
    /// A permit is free, and what is queued failed before and waits for its next attempt (rule L9).
    Backoff,
}

/// What a settlement waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awaits {
    /// Completions, which batches that are collected, queued or under way may bring.
    Completions,
    /// Completions, and the lane has no batch now that could bring one: it was cancelled, or never made.
    Batches,
    /// Commands that the machine has for its driver: what could start has not, until
    /// [`crate::Engine::poll_command`] gives `None`.
    Commands,
    /// The end of batches that completions since the token have set off.
    Chains,
    /// The reader of the facts: [`crate::Engine::clear_facts`] says that it has them.
    Publication,
}

/// Why a settlement cannot be judged, or will not come (rule L4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlementError {
    /// The token was captured from another machine.
    ForeignToken {
        /// The token's machine.
        token: MachineId,
        /// The one that was asked.
        machine: MachineId,
    },
    /// The token is of a later or another state than the machine's history has: the machine was made anew under its
    /// old name, or a kept copy of it went on.
    StaleToken,
    /// The target asks for completions of a lane that leads to no tier.
    LaneUnavailable(Lane),
    /// The target asks for more completions of a lane than can be counted.
    TargetOverflow(Lane),
    /// The lane was closed, and what is under way there is too little for the target.
    ProgressClosed(Lane),
    /// A batch of the lane has failed for good since the token and the target still lacks completions of that lane;
    /// or the lane's own counts are broken, whatever the target asks for.
    LaneFailed {
        /// The lane.
        lane: Lane,
        /// Why; of several batches, why the newest failed.
        kind: LaneFault,
    },
}

/// What went wrong on a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaneFault {
    /// The task that made the copy was aborted.
    TaskAborted,
    /// The task that made the copy panicked.
    TaskPanicked,
    /// The copy could not be made: the executor's error, bytes that are not the right ones, a time-out, or no room
    /// where they were to go.
    Executor,
    /// The lane was shut down.
    Shutdown,
    /// A count of the lane reached the end of numbers.
    CounterOverflow,
    /// A batch made a step that no batch makes, or the lane can start a batch and does not.
    Invariant,
}

impl From<CopyFailure> for LaneFault {
    fn from(failure: CopyFailure) -> Self {
        match failure {
            CopyFailure::Aborted => Self::TaskAborted,
            CopyFailure::Panicked => Self::TaskPanicked,
            CopyFailure::Shutdown => Self::Shutdown,
            CopyFailure::Executor
            | CopyFailure::Corrupt
            | CopyFailure::TimedOut
            | CopyFailure::DestinationFull => Self::Executor,
        }
    }
}

impl std::fmt::Display for LaneFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TaskAborted => "its task was aborted",
            Self::TaskPanicked => "its task panicked",
            Self::Executor => "its copy could not be made",
            Self::Shutdown => "its lane was shut down",
            Self::CounterOverflow => "a count reached the end of numbers",
            Self::Invariant => "a batch made a step that no batch makes, or none where it should",
        })
    }
}

impl std::fmt::Display for SettlementError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::ForeignToken { token, machine } => {
                write!(f, "the token is machine {}'s, this is machine {}", token.0, machine.0)
            }
            Self::StaleToken => write!(f, "the token is of a state that this machine has not been in"),
            Self::LaneUnavailable(lane) => write!(f, "{} leads to no tier of this machine", lane.name()),
            Self::TargetOverflow(lane) => {
                write!(f, "so many completions of {} cannot be counted", lane.name())
            }
            Self::ProgressClosed(lane) => {
                write!(f, "{} is closed, and what is under way is too little", lane.name())
            }
            Self::LaneFailed { lane, kind } => write!(f, "{} failed: {kind}", lane.name()),
        }
    }
}

impl std::error::Error for SettlementError {}
