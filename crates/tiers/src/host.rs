//! Host memory as a medium: what stands in for a GPU where there is none.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::arena::{Arena, ArenaError};
use crate::capability::{Capability, Kind};
use crate::fault::Fault;
use crate::medium::{Batch, BatchId, Ended, Key, Medium, Move, Slot, Way};
use crate::pool::{Copier, Pool};

/// Slots of plain memory.
pub struct HostMedium {
    capability: Capability,
    copier: Arc<Copies>,
    pool: Pool,
}

struct Copies {
    arena: Arc<Arena>,
    own: Arena,
    /// By slot, its content.
    keys: Vec<Held>,
}

/// What a slot holds. A key takes all 64 bits, so that "nothing" is a word of its own.
#[derive(Default)]
struct Held {
    holds: std::sync::atomic::AtomicBool,
    key: AtomicU64,
}

impl Held {
    fn set(&self, key: Option<Key>) {
        self.holds.store(false, Ordering::Release);
        if let Some(key) = key {
            self.key.store(key.0, Ordering::Release);
            self.holds.store(true, Ordering::Release);
        }
    }

    fn is(&self, key: Key) -> bool {
        self.holds.load(Ordering::Acquire) && self.key.load(Ordering::Acquire) == key.0
    }
}

impl Copier for Copies {
    fn copy(&self, way: Way, block: Move) -> Result<(), Fault> {
        let held = self.keys.get(block.there.0 as usize).ok_or(Fault::OutOfRange)?;
        if block.here.0 >= self.arena.slots() {
            return Err(Fault::OutOfRange);
        }
        match way {
            Way::Store => {
                let from = self.arena.read(block.here).ok_or(Fault::Busy)?;
                let mut to = self.own.write(block.there).ok_or(Fault::Busy)?;
                // Half of a copy is nobody's content.
                held.set(None);
                to.copy_from_slice(&from);
                held.set(Some(block.key));
            }
            Way::Load => {
                let from = self.own.read(block.there).ok_or(Fault::Busy)?;
                if !held.is(block.key) {
                    return Err(Fault::Missing);
                }
                let mut to = self.arena.write(block.here).ok_or(Fault::Busy)?;
                to.copy_from_slice(&from);
            }
        }
        Ok(())
    }
}

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
    pub fn new(arena: Arc<Arena>, slots: u32, threads: u32) -> Result<Self, HostError> {
        let block_bytes = arena.block_bytes();
        let own = Arena::new(slots, block_bytes, false).map_err(HostError::Memory)?;
        let capability = Capability {
            kind: Kind::Host,
            name: "host memory".to_owned(),
            slots,
            block_bytes,
            concurrency: threads.max(1),
            outlives_process: false,
            shortfalls: own.shortfalls().to_vec(),
        };
        let keys = (0..slots).map(|_| Held::default()).collect();
        let copier = Arc::new(Copies { arena, own, keys });
        let pool = Pool::new(threads, "tier-host", &copier).map_err(HostError::Threads)?;
        Ok(Self { capability, copier, pool })
    }
}

impl Medium for HostMedium {
    fn capability(&self) -> &Capability {
        &self.capability
    }

    fn submit(&mut self, batch: Batch) {
        self.pool.submit(batch);
    }

    fn next_ended(&mut self, wait: Duration) -> Option<Ended> {
        self.pool.next_ended(wait)
    }

    fn cancel(&mut self, id: BatchId) {
        self.pool.cancel(id);
    }

    fn forget(&mut self, slot: Slot) {
        if let Some(held) = self.copier.keys.get(slot.0 as usize) {
            held.set(None);
        }
    }

    fn persist(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn close(&mut self) {
        self.pool.close();
    }
}
