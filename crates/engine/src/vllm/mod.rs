//! The CPU tier as vLLM keeps it: chunks of KV in pinned host memory, stored and loaded in two phases.
//!
//! *Prepare* decides and reserves, the copy runs, *complete* makes it so. Between the two, a chunk that is being
//! written is neither readable nor evictable, and one that is being read is not evictable. Which chunk makes room
//! is the policy's: one file a policy, behind one small trait (`order::Order`).
//!
//! Deliberately absent: when to store and load (the scheduler's), and how long a copy takes (the caller's).

mod access;
mod arc;
mod check;
mod chunk;
mod config;
mod index;
#[cfg(test)]
mod laws;
mod lru;
mod manager;
mod order;
mod outcome;
mod recency;
mod show;
mod tracker;

pub use chunk::Resident;
pub use config::ManagerConfig;
pub use manager::OffloadManager;
pub use order::ChunkOrder;
pub use outcome::{Found, ManagerEvent, NotReadable, Store};

/// "Nothing" among numbers of slots, nodes and positions.
const NONE: u32 = u32::MAX;
