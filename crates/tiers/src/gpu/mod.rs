//! Memory of a GPU (G1), by one file for each way to reach it.

#[cfg(feature = "cuda")]
pub mod cuda;
#[cfg(feature = "wgpu")]
pub mod wgpu;
