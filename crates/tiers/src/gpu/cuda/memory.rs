//! Memory that the driver knows: the pool on the device, and the arena's pages, locked for it.

use std::ops::Range;
use std::sync::Arc;

use super::code::Answer;
use super::context::Context;
use super::error::CudaError;
use crate::arena::Arena;
use crate::medium::Slot;

/// Slots on the device.
pub(super) struct Pool {
    context: Arc<Context>,
    base: u64,
    block_bytes: usize,
}

impl Pool {
    pub(super) fn new(context: Arc<Context>, slots: u32, block_bytes: usize) -> Result<Self, CudaError> {
        let driver = context.driver;
        let asked = (slots as usize).checked_mul(block_bytes).filter(|&bytes| bytes > 0);
        let asked = asked.ok_or(CudaError::BadSizes { slots, block_bytes })?;
        let (free, total) = driver.memory().map_err(|code| driver.refused("tell its memory", code))?;
        if asked > free {
            return Err(CudaError::NoMemory { asked, free, total });
        }
        let base = driver.alloc(asked).map_err(|code| driver.refused("give memory", code))?;
        Ok(Self { context, base, block_bytes })
    }

    /// Where a slot begins.
    pub(super) fn address(&self, slot: Slot) -> u64 {
        self.base + u64::from(slot.0) * self.block_bytes as u64
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // What is refused here, of a device that is lost, has no other consequence.
        let _ = self.context.enter().and_then(|()| self.context.driver.free(self.base));
    }
}

/// The arena's pages, locked and known to the device, as a whole and once. Keeps the arena, so that they are there as
/// long as the driver has their addresses.
pub(super) struct Registered {
    context: Arc<Context>,
    arena: Arc<Arena>,
}

impl Registered {
    pub(super) fn new(context: Arc<Context>, arena: Arc<Arena>) -> Answer<Self> {
        let (base, bytes) = arena.whole();
        context.driver.register(base, bytes)?;
        Ok(Self { context, arena })
    }

    /// The addresses that are registered.
    pub(super) fn span(&self) -> Range<u64> {
        let (base, bytes) = self.arena.whole();
        base as u64..base as u64 + bytes as u64
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        let (base, _) = self.arena.whole();
        let _ = self.context.enter().and_then(|()| self.context.driver.unregister(base));
    }
}
