//! G1: the slots of one worker's GPU memory, what each holds, and all-or-nothing changes of them.

pub(crate) mod evict;
pub(crate) mod index;
mod lower;
pub(crate) mod pool;
mod promise;
#[cfg(test)]
mod reference;
#[cfg(any(feature = "straight-line", feature = "bench-internals"))]
mod straight;
pub(crate) mod transaction;

pub use pool::{BlockPool, SlotState};
