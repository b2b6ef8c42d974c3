//! What is said about tiers below G1, the lanes between tiers, and the copies that move along them.

use serde::{Deserialize, Serialize};

use super::{Cells, Totals};

/// A tier of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TierName {
    /// GPU memory.
    G1,
    /// Pinned host memory.
    G2,
    /// Local disk.
    G3,
    /// Object store.
    G4,
}

impl TierName {
    /// As it is written: G2.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::G1 => "G1",
            Self::G2 => "G2",
            Self::G3 => "G3",
            Self::G4 => "G4",
        }
    }
}

/// A tier below G1 at one time.
///
/// Its blocks are told in the words of G1's: *reserved* is a slot that a copy is on its way into, *cached* is
/// resident, *active* is resident and read by a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TierView {
    /// Which one.
    pub tier: TierName,
    /// Blocks by state, exact.
    pub totals: Totals,
    /// The blocks, in slot order; a single cell for a tier that is too large to look through.
    pub cells: Cells,
}

/// A lane at one time (rule L2): batches by phase, and its link.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneView {
    /// Where blocks come from.
    pub from: TierName,
    /// Where they go.
    pub to: TierName,
    /// Batches that wait for a permit or for their next attempt.
    pub queued: u32,
    /// Batches that have a permit and whose copy is not handed out yet.
    pub starting: u32,
    /// Batches whose copy is under way.
    pub in_flight: u32,
    /// Batches whose copy ended and whose blocks are not registered yet.
    pub settling: u32,
    /// Most batches past the queue at once.
    pub permits: u32,
    /// Batches that ended well, so far.
    pub completed: f64,
    /// Batches that failed for good, so far.
    pub failed: f64,
    /// Batches that ended without a copy, so far.
    pub cancelled: f64,
    /// Blocks under way.
    pub moving_blocks: u32,
    /// Bytes that crossed its link in its direction, so far.
    pub moved_bytes: f64,
    /// Time during which something crossed it so far.
    pub busy_ns: f64,
    /// What its link carries in this direction when the other is idle, in bytes per second.
    pub limit_bytes_per_s: f64,
    /// What the copies under way carry, each by its own mean; `None` while that is not known.
    pub rate: Option<LinkUse>,
}

/// How much of a link is in use.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkUse {
    /// Bytes per second.
    pub bytes_per_s: f64,
    /// Of what the link carries in this direction when the other is idle.
    pub share: f64,
}

/// A batch of blocks on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CopyView {
    /// Its number.
    pub transfer: f64,
    /// Where its blocks come from.
    pub from: TierName,
    /// Where they go.
    pub to: TierName,
    /// Why they are copied.
    pub cause: CopyCause,
    /// The request that wants them.
    pub request: Option<u32>,
    /// How many.
    pub blocks: u32,
    /// When it was queued.
    pub queued_ns: f64,
    /// When its copy began; `None` when it had not until the end of the run.
    pub started_ns: Option<f64>,
    /// When it ended for good; `None` when it had not until the end of the run.
    pub ended_ns: Option<f64>,
    /// How.
    pub end: Option<CopyOutcome>,
    /// Attempts that failed and were made again.
    pub retries: u32,
    /// The first requests that waited for its end, besides the one that wants its blocks.
    pub waiting: Vec<u32>,
}

impl CopyView {
    /// Whether its copy is under way at a time; else it is queued.
    pub fn is_moving(&self, at_ns: f64) -> bool {
        self.started_ns.is_some_and(|started| started <= at_ns)
    }

    /// How far it is at a time, from 0 to 1; `None` while its end is not known.
    pub fn progress(&self, at_ns: f64) -> Option<f64> {
        let (started, ended) = (self.started_ns?, self.ended_ns?);
        let share = (at_ns - started) / (ended - started).max(1.0);
        Some(share.clamp(0.0, 1.0))
    }
}

/// Why blocks are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopyCause {
    /// They were evicted; their slots are held until the copy ends.
    Evicted,
    /// They were computed.
    Computed,
    /// They were found often.
    Hit,
    /// They are about to be evicted.
    Boundary,
    /// They came to the tier above, which feeds this one.
    Chained,
    /// A request wants them.
    Wanted,
}

/// How a copy ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CopyOutcome {
    /// Its blocks are where they were to go.
    Completed,
    /// They are not; with what went wrong, as the report names it.
    Failed(String),
    /// It never started: nothing was left to copy, or nobody wanted it any more.
    Cancelled,
}

/// Most copies in one board.
pub const COPIES_SHOWN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_moves_from_its_start_to_its_end() {
        let copy = CopyView {
            transfer: 3.0,
            from: TierName::G1,
            to: TierName::G2,
            cause: CopyCause::Evicted,
            request: None,
            blocks: 4,
            queued_ns: 5.0,
            started_ns: Some(10.0),
            ended_ns: Some(30.0),
            end: Some(CopyOutcome::Completed),
            retries: 0,
            waiting: Vec::new(),
        };
        assert_eq!([9.0, 10.0].map(|at| copy.is_moving(at)), [false, true]);
        assert_eq!([10.0, 15.0, 99.0].map(|at| copy.progress(at)), [Some(0.0), Some(0.25), Some(1.0)]);
        assert_eq!(CopyView { ended_ns: None, ..copy }.progress(15.0), None);
    }
}
