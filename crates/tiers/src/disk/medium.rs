//! The disk as a medium.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::device::DiskFile;
use super::folder::{self, DiskError, DiskOptions};
use super::slab::Slab;
use crate::arena::Arena;
use crate::capability::{Capability, Kind};
use crate::fault::Fault;
use crate::medium::{Batch, BatchId, Ended, Key, Medium, Move, Slot, Way};
use crate::pool::{Copier, Pool};

/// A folder of a disk.
pub struct DiskMedium {
    capability: Capability,
    copier: Arc<Copies>,
    pool: Pool,
    _lock: File,
}

struct Copies {
    arena: Arc<Arena>,
    slab: Slab<DiskFile>,
}

impl Copier for Copies {
    fn copy(&self, way: Way, block: Move) -> Result<(), Fault> {
        if block.here.0 >= self.arena.slots() || block.there.0 >= self.slab.geometry().slots {
            return Err(Fault::OutOfRange);
        }
        match way {
            Way::Store => {
                let from = self.arena.read(block.here).ok_or(Fault::Busy)?;
                self.slab.store(block.key, block.there, &from)
            }
            Way::Load => {
                let mut to = self.arena.write(block.here).ok_or(Fault::Busy)?;
                self.slab.load(block.key, block.there, &mut to)
            }
        }
    }
}

impl DiskMedium {
    /// Opens a folder as a tier beside an arena, with what a former life left in it.
    ///
    /// # Errors
    ///
    /// See [`DiskError`]; its text has what was found and a mend.
    pub fn open(folder: &Path, arena: Arc<Arena>, options: DiskOptions) -> Result<Self, DiskError> {
        if arena.block_bytes() != options.block_bytes {
            return Err(DiskError::BadSizes { slots: options.slots, block_bytes: options.block_bytes });
        }
        let opened = folder::open(folder, options)?;
        let capability = Capability {
            kind: Kind::Disk,
            name: folder.display().to_string(),
            slots: options.slots,
            block_bytes: options.block_bytes,
            concurrency: options.threads.max(1),
            outlives_process: true,
            shortfalls: opened.shortfalls,
        };
        let copier = Arc::new(Copies { arena, slab: opened.slab });
        let pool = Pool::new(options.threads, "tier-disk", &copier).map_err(|error| DiskError::Io {
            doing: "start threads",
            path: folder.to_owned(),
            error,
        })?;
        Ok(Self { capability, copier, pool, _lock: opened._lock })
    }
}

impl Medium for DiskMedium {
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
        self.copier.slab.forget(slot);
    }

    fn persist(&mut self) -> Result<(), Fault> {
        self.copier.slab.persist()
    }

    fn close(&mut self) {
        self.pool.close();
    }

    fn survivors(&self) -> Vec<(Key, Slot)> {
        self.copier.slab.contents()
    }
}
