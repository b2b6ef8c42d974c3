//! What a settlement is asked with: a token of the state before, and a target counted from there.

use super::answer::SettlementError;
use crate::lower::lane::LaneSnapshot;
use crate::lower::name::Lane;

/// The name of a machine, as its caller gave it. Machines whose tokens could be mixed up have different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MachineId(pub u64);

/// A machine's state as far as a settlement counts from it (rule L3). Captured before the completions that it is to
/// cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettlementToken {
    pub(super) machine: MachineId,
    /// By [`Lane::index`].
    pub(super) lanes: [LaneSnapshot; Lane::COUNT],
    /// By [`Lane::index`]: source slots released so far.
    pub(super) released_sources: [u64; Lane::COUNT],
    /// Completions of all lanes so far.
    pub(super) completions: u64,
    /// Facts so far.
    pub(super) watermark: u64,
}

impl SettlementToken {
    /// The machine that it was captured from.
    pub fn machine(&self) -> MachineId {
        self.machine
    }

    /// A lane as it was.
    pub fn lane(&self, lane: Lane) -> LaneSnapshot {
        self.lanes[lane.index()]
    }

    /// The facts that the machine had logged.
    pub fn watermark(&self) -> u64 {
        self.watermark
    }
}

/// How many batches have to have completed on each lane since the token; nothing is asked of a lane that is not
/// named.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct SettlementTarget {
    /// By [`Lane::index`].
    completed: [Demand; Lane::COUNT],
    chains: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Demand {
    Batches(u64),
    Overflow,
}

impl Default for Demand {
    fn default() -> Self {
        Self::Batches(0)
    }
}

impl SettlementTarget {
    /// Asks for stability, and for no completion.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for `batches` more completed batches of a lane. A sum past the end of numbers is told when the target is
    /// used, as [`SettlementError::TargetOverflow`].
    #[must_use]
    pub fn completed(mut self, lane: Lane, batches: u64) -> Self {
        let demand = &mut self.completed[lane.index()];
        *demand = match *demand {
            Demand::Batches(before) => before.checked_add(batches).map_or(Demand::Overflow, Demand::Batches),
            Demand::Overflow => Demand::Overflow,
        };
        self
    }

    /// Asks besides that everything has ended, well or not, that batches completed since the token set off on other
    /// lanes: what came to G2 and goes on to G3 and G4, what was staged and goes on to G1.
    #[must_use]
    pub fn with_chains(mut self) -> Self {
        self.chains = true;
        self
    }

    /// Whether chains are covered.
    pub fn covers_chains(&self) -> bool {
        self.chains
    }

    /// Whether completions of a lane are asked for.
    pub(super) fn demands(&self, lane: Lane) -> bool {
        self.completed[lane.index()] != Demand::Batches(0)
    }

    /// The count of completed batches at which the target is reached, for a lane that had `before`.
    pub(super) fn goal(&self, lane: Lane, before: u64) -> Result<u64, SettlementError> {
        match self.completed[lane.index()] {
            Demand::Batches(batches) => before.checked_add(batches),
            Demand::Overflow => None,
        }
        .ok_or(SettlementError::TargetOverflow(lane))
    }
}
