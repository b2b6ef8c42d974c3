//! A GPU as a medium.

use std::sync::Arc;

use super::abi::Driver;
use super::code::Code;
use super::context::Context;
use super::device::{CudaDevice, Parts};
use super::error::CudaError;
use super::lane::Lane;
use super::memory::{Pool, Registered};
use crate::arena::Arena;
use crate::capability::{Capability, Kind};
use crate::medium::Slot;
use crate::pool::Pooled;

/// A GPU's memory, by CUDA.
pub type CudaMedium = Pooled<CudaDevice>;

/// How a GPU is used.
#[derive(Clone, Copy, Debug)]
pub struct CudaOptions {
    /// Which one, as the driver counts those that this process sees.
    pub ordinal: u32,
    /// Threads that copy, each with a stream of its own.
    pub threads: u32,
}

impl CudaMedium {
    /// So many slots of a GPU's memory beside an arena, which is registered with the driver as a whole.
    ///
    /// # Errors
    ///
    /// See [`CudaError`]: its text has what was found and a mend. What can be done without is no error but a shortfall
    /// of the capability.
    pub fn open(arena: Arc<Arena>, slots: u32, options: CudaOptions) -> Result<Self, CudaError> {
        let (block_bytes, threads) = (arena.block_bytes(), options.threads.max(1));
        let context = Arc::new(Context::open(options.ordinal)?);
        let driver = context.driver;
        let pool = Pool::new(Arc::clone(&context), slots, block_bytes)?;
        let mut shortfalls = Vec::new();
        if driver.is_stand_in() {
            shortfalls
                .push("the driver is a stand-in, there is no GPU: nothing is measured on it".to_owned());
        }
        let known = Registered::new(Arc::clone(&context), Arc::clone(&arena));
        let not_registered = |code: Code| {
            let word = driver.name_of(code);
            shortfalls.push(format!(
                "host memory is not registered with the GPU ({word}): its pages may be swapped out, and each copy goes by \
                 way of the driver's own"
            ));
        };
        let registered = known.map_err(not_registered).ok();
        let lanes = (0..threads).map(|_| Lane::new(Arc::clone(&context))).collect::<Result<_, _>>()?;
        let name = context.name();
        let parts = Parts { context, pool, registered, lanes, slots, block_bytes };
        let mut device = CudaDevice::new(parts);
        shortfalls.extend(without_batches(&mut device, &arena, driver)?);
        let capability = Capability {
            kind: Kind::Cuda,
            name,
            slots,
            block_bytes,
            concurrency: threads,
            outlives_process: false,
            stand_in: driver.is_stand_in(),
            shortfalls,
        };
        Self::new(device, arena, capability).map_err(CudaError::Threads)
    }
}

/// Tries the call that copies many blocks; why there is none, in words.
fn without_batches(
    device: &mut CudaDevice,
    arena: &Arena,
    driver: &Driver,
) -> Result<Option<String>, CudaError> {
    let why = if !driver.has_batches() {
        "the driver has no call for many; CUDA 12.8 has".to_owned()
    } else if !device.is_registered() {
        "that for many takes registered memory only".to_owned()
    } else if let Some(block) = arena.read(Slot(0)) {
        match device.try_batches(&block) {
            Ok(()) => return Ok(None),
            Err(code) if code.is_lost() || device.is_lost() => {
                return Err(driver.refused("copy a first block", code));
            }
            Err(code) => driver.name_of(code),
        }
    } else {
        "the arena is in use, so that it could not be tried".to_owned()
    };
    Ok(Some(format!("each block is copied by a call of its own ({why})")))
}
