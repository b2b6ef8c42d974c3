//! How does a real medium hold blocks?
//!
//! A [`Medium`] has slots of one size. Blocks are copied between its slots and those of an [`Arena`], which is host
//! memory (G2): every copy of the hierarchy has host memory at one side. A copy is a batch; batches are submitted, and
//! their ends are collected; how a batch ends is typed ([`Fault`]), and a medium never serves bytes that are not those
//! that were stored under the key asked for: it says [`Fault::Corrupt`] or [`Fault::Missing`].
//!
//! Invariants, held by one conformance suite that every medium passes (`conformance`):
//! - each submitted batch ends once, however it ends, also when the medium is shut down or its thread panics;
//! - of a batch, each block has a result of its own;
//! - slots and keys out of range are refused before anything is touched.
//!
//! Deliberately absent: who is where and who moves next, which is the engine's; clocks, which are the driver's.

pub mod arena;
pub mod capability;
mod claim;
pub mod conformance;
pub mod content;
pub mod device;
pub mod disk;
pub mod fault;
#[cfg(any(feature = "cuda", feature = "wgpu"))]
pub mod gpu;
pub mod host;
pub mod medium;
#[cfg(feature = "s3")]
pub mod object;
mod pool;

pub use arena::{Arena, ArenaError, Residence, free_memory_bytes};
pub use capability::{Capability, Kind};
pub use fault::Fault;
pub use medium::{Batch, BatchId, Bell, Ended, Key, Medium, Move, Slot, Way};
pub use pool::Pooled;
