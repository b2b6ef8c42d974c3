//! A disk (G3): one file of slots, preallocated, and a log that says what is in them.
//!
//! - `record` is the form of the log; `slab` joins file and log, and recovers them after a crash; `device` is a
//!   real file; the medium itself copies by a few threads.
//!
//! What a load serves is right or is not served: the log has a checksum of each block, the block's slot is checked
//! against it at every load. After a crash an entry may be missing, or its slot may hold something newer: then the load
//! fails. What was persisted before the crash and not stored over is there.

mod device;
mod folder;
mod medium;
mod record;
mod slab;

pub use folder::{DiskError, DiskOptions};
pub use medium::DiskMedium;
