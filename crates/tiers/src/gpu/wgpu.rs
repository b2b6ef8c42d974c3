//! Any GPU by wgpu: Vulkan, and Mesa's software Vulkan where there is no GPU.
//!
//! - `adapter` finds the GPU that is meant; `slots` is its memory, in as many buffers as its limits ask for; `link` gives it
//!   work, waits for it, and turns what goes wrong into faults; `staging` is the memory that both sides reach; `device`
//!   moves blocks by these.
//!
//! Many scattered blocks move by one submission: the host copies them into (or out of) one staging buffer, the GPU between that
//! buffer and its slots. Staging buffers are made once, one pair for each thread.

mod adapter;
mod device;
mod error;
mod link;
mod slots;
mod staging;

pub use adapter::{AdapterChoice, GpuInfo, list};
pub use device::{WgpuDevice, WgpuMedium, WgpuOptions};
pub use error::WgpuError;

#[cfg(test)]
mod tests;
