//! Memory of a GPU (G1), reached through its driver.

#[cfg(feature = "cuda")]
pub mod cuda;
