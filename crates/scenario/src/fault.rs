//! What goes wrong on a lane between tiers, and when (rule L9). What became of each copy is the simulator's.

use tierscope_units::{SimTime, Span};

/// How many lanes there are: the range of [`FaultSpec::lane`].
pub const LANES: usize = 7;

/// The lane of handoffs from worker to worker, behind those between tiers.
pub const HANDOFF_LANE: u8 = 6;

/// The time that a copy takes, in thousandths of what it takes without a fault.
pub const AS_EVER_MILLI: u32 = 1000;

/// A scheduled fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultSpec {
    /// The lane, below [`LANES`].
    pub lane: u8,
    /// What goes wrong.
    pub kind: FaultKind,
    /// Which copies of the lane it befalls.
    pub when: When,
}

/// What goes wrong with a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// It ends in an error.
    Fail,
    /// It waits so long before its bytes begin to cross.
    Stall(Span),
    /// It takes longer than it would.
    SlowDown {
        /// Thousandths of the undisturbed time: 2000 is half speed. 1000 and below change nothing.
        times_milli: u32,
    },
    /// It is lost on the way: nothing arrives, and nothing says so.
    Lose,
    /// It ends, and its content is found to be wrong.
    Corrupt,
}

impl FaultKind {
    /// Whether a copy that it befalls does not complete.
    pub const fn is_fatal(self) -> bool {
        matches!(self, Self::Fail | Self::Lose | Self::Corrupt)
    }
}

/// Which copies of a lane a fault befalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// The n-th, from 1; 0 is none.
    Nth(u64),
    /// Each n-th: with 3 the third, the sixth and so on; 0 is none.
    Every(u64),
    /// Those that begin in a stretch of time.
    From {
        /// The first instant of it.
        at: SimTime,
        /// The first instant after it; `None` is never.
        until: Option<SimTime>,
    },
    /// Each with this chance, drawn for itself.
    Rate {
        /// Of a million. A million and above is every copy.
        per_million: u32,
    },
}
