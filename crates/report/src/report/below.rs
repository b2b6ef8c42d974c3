//! The keys about tiers below G1, the lanes between tiers, and loads.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::statistics::Summary;

/// One tier's blocks, below G1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct LowerTierCounts {
    /// Blocks in all.
    pub capacity_blocks: u32,
    /// Most matchable blocks at once.
    pub resident_max: u32,
    /// Matchable blocks at the end.
    pub resident_end: u32,
    /// Blocks that became matchable.
    pub stored: u64,
    /// Blocks that are matchable no more.
    pub removed: u64,
}

/// The batches of one lane. Times are exact for up to [`crate::spread::EXACT_MAX`] batches; beyond, percentiles are
/// at most 1/4096 too small.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct LaneCounts {
    /// Batches that were queued.
    pub batches: u64,
    /// Of those, the ones whose blocks arrived.
    pub completed: u64,
    /// Given up as failed.
    pub failed: u64,
    /// Ended without a copy: nothing was left to copy, or nobody wanted it any more.
    pub cancelled: u64,
    /// Attempts that failed and were made again.
    pub retried: u64,
    /// Blocks that arrived.
    pub blocks: u64,
    /// Bytes of those blocks.
    pub bytes: u64,
    /// Time with at least one copy under way.
    pub busy_ns: u64,
    /// That time as a share of the makespan.
    pub utilisation: f64,
    /// Most copies under way at once.
    pub in_flight_max: u32,
    /// Most batches waiting at once.
    pub queued_max: u32,
    /// From queueing to the start of the first attempt.
    pub queue_wait_ns: Summary,
    /// From the start of the attempt that succeeded to its end.
    pub copy_ns: Summary,
    /// Failed attempts by what went wrong, those made again among them.
    pub failures: BTreeMap<&'static str, u64>,
}

/// Loads of content from below G1, and waits for copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct LoadCounts {
    /// Loads that began.
    pub started: u64,
    /// Loads of which everything came or failed.
    pub ended: u64,
    /// Loads of requests that were cancelled meanwhile.
    pub cancelled: u64,
    /// Blocks that came, and that the request did not compute.
    pub loaded_blocks: u64,
    /// Blocks that were to come and did not, or lay behind one that did not.
    pub failed_blocks: u64,
    /// From the beginning of a load to its end.
    pub wait_ns: Summary,
    /// How often a request waited for content on its way for another.
    pub waits_for_copy: u64,
    /// How long.
    pub waits_for_copy_ns: Summary,
    /// How often a request found its slots still read by an offload (rule T3).
    pub blocked_on_offload: u64,
    /// From then until the offload had ended.
    pub blocked_ns: Summary,
    /// How often a finished request's blocks were kept in G1 for its follower.
    pub leases: u64,
    /// How many of those ended because their time was up, and not because somebody came.
    pub leases_expired: u64,
}
