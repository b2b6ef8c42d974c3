//! A GPU's memory by CUDA's driver library, which is looked for when it is wanted: nothing of CUDA is needed to build.
//!
//! - `abi` finds the library and its functions, `calls` makes them safe; `code` is what they answer, and what that means for a block; `context`
//!   is a device that is in use; `memory` owns a pool of slots there, and the arena's registration; `lane` is a stream
//!   with what a batch of copies needs; `device` copies blocks, `medium` opens all of it.
//!
//! Every copy is waited for before its slots are given back, also when it failed: the driver is never left with an
//! address that is somebody else's.

mod abi;
mod calls;
mod code;
mod context;
mod device;
mod error;
mod lane;
mod medium;
mod memory;

pub use device::CudaDevice;
pub use error::CudaError;
pub use medium::{CudaMedium, CudaOptions, has_gpu};
