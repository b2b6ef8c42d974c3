//! What if a call of CUDA's driver fails? A stand-in for its library, for tests on machines that have no GPU.
//!
//! It exports the functions that `crates/tiers/src/gpu/cuda/abi.rs` uses, by the names and with the arguments of the
//! driver's own. Memory of the device is host memory; a stream is a thread that copies in order; what the
//! driver would refuse is refused. `TIERSCOPE_STANDIN_CUDA` asks for faults (`orders`). It says what it is: in the
//! device's name, and by a symbol `tierscope_stand_in`, by which whoever measures refuses it.
//!
//! Deliberately absent: kernels, graphs, managed memory, and everything else that is not used.

mod abi;
mod orders;
mod stream;
mod world;

/// The variable that asks for faults.
pub const ORDERS: &str = "TIERSCOPE_STANDIN_CUDA";
