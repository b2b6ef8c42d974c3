//! Host memory as a medium: what stands in for a GPU where there is none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::arena::{Arena, ArenaError};
use crate::capability::{Capability, Kind};
use crate::device::{Device, Loaded, Outcome, Stored, Wanted};
use crate::fault::Fault;
use crate::medium::{Key, Slot};
use crate::pool::Pooled;

/// Slots of plain memory.
pub type HostMedium = Pooled<HostDevice>;

/// Slots of plain memory, as a thread sees them.
pub struct HostDevice {
    own: Arena,
    /// By slot, its content.
    keys: Vec<Held>,
}

/// What a slot holds. A key takes all 64 bits, so that "nothing" is a word of its own.
#[derive(Default)]
pub(crate) struct Held {
    holds: AtomicBool,
    key: AtomicU64,
}

impl Held {
    pub(crate) fn set(&self, key: Option<Key>) {
        self.holds.store(false, Ordering::Release);
        if let Some(key) = key {
            self.key.store(key.0, Ordering::Release);
            self.holds.store(true, Ordering::Release);
        }
    }

    pub(crate) fn is(&self, key: Key) -> bool {
        self.holds.load(Ordering::Acquire) && self.key.load(Ordering::Acquire) == key.0
    }
}

impl Device for HostDevice {
    fn grain(&self) -> usize {
        GRAIN_BYTES.div_ceil(self.own.block_bytes())
    }

    fn store(&self, block: Stored<'_>, _: &Wanted) -> Outcome {
        let held = self.keys.get(block.there.0 as usize).ok_or(Fault::OutOfRange)?;
        let mut to = self.own.write(block.there).ok_or(Fault::Busy)?;
        // Half of a copy is nobody's content.
        held.set(None);
        to.copy_from_slice(block.from);
        held.set(Some(block.key));
        Ok(())
    }

    fn load(&self, block: Loaded<'_>, _: &Wanted) -> Outcome {
        let held = self.keys.get(block.there.0 as usize).ok_or(Fault::OutOfRange)?;
        let from = self.own.read(block.there).ok_or(Fault::Busy)?;
        if !held.is(block.key) {
            return Err(Fault::Missing);
        }
        block.into.copy_from_slice(&from);
        Ok(())
    }

    fn forget(&self, slot: Slot) {
        if let Some(held) = self.keys.get(slot.0 as usize) {
            held.set(None);
        }
    }
}

/// Blocks are handed to a thread in parts of so many bytes: less, and handing them over costs more than copying them.
const GRAIN_BYTES: usize = 1 << 20;

/// Why a host medium could not be made.
#[derive(Debug)]
pub enum HostError {
    /// No memory.
    Memory(ArenaError),
    /// No threads.
    Threads(io::Error),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Memory(error) => error.fmt(f),
            Self::Threads(error) => write!(f, "the system starts no threads: {error}"),
        }
    }
}

impl std::error::Error for HostError {}

impl HostMedium {
    /// So many slots beside an arena, with so many threads that copy.
    ///
    /// # Errors
    ///
    /// When there is not enough memory, or no thread can be started.
    pub fn of_memory(arena: Arc<Arena>, slots: u32, threads: u32) -> Result<Self, HostError> {
        let block_bytes = arena.block_bytes();
        let own = Arena::new(slots, block_bytes, false).map_err(HostError::Memory)?;
        let capability = Capability {
            kind: Kind::Host,
            name: "host memory".to_owned(),
            slots,
            block_bytes,
            concurrency: threads.max(1),
            outlives_process: false,
            stand_in: false,
            shortfalls: own.shortfalls().to_vec(),
        };
        let keys = (0..slots).map(|_| Held::default()).collect();
        Self::new(HostDevice { own, keys }, arena, capability).map_err(HostError::Threads)
    }
}
