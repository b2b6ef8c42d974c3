//! How the tier is set up.

use crate::lower::config::ChunkEviction;

/// How the tier is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ManagerConfig {
    /// Number of chunk slots.
    pub chunks: u32,
    /// Which chunk makes room.
    pub policy: ChunkEviction,
    /// A content is stored from so many offers on; 0 and 1 store at the first.
    pub store_threshold: u32,
    /// Contents whose offers are counted, at most.
    pub tracker_max: u32,
}

impl ManagerConfig {
    /// vLLM's bound on counted contents.
    pub const TRACKER_MAX: u32 = 64_000;
}
