//! The ground floor: how ids, time, sizes and content are written, and where randomness comes from.
//!
//! Invariants:
//! - every id and unit is a type of its own (rule E5);
//! - time is whole nanoseconds, never a float (rule E3);
//! - the same seed and stream name give the same draws on every platform.
//!
//! Deliberately absent: a clock, entropy, I/O.

pub mod digest;
pub mod id;
pub mod random;
pub mod sequence;
pub mod size;
pub mod time;

pub use digest::{Digest, Digester};
pub use id::{ClaimId, HandoffId, Idx, PassId, RequestId, SlotId, TransferId, TxnId, WorkerId};
pub use random::RandomStream;
pub use sequence::{SequenceHash, TokenRun};
pub use size::Bytes;
pub use time::{SimTime, Span};
