//! The disk as a medium.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::device::DiskFile;
use super::folder::{self, DiskError, DiskOptions};
use super::slab::Slab;
use crate::arena::Arena;
use crate::capability::{Capability, Kind};
use crate::device::{Device, Loaded, Outcome, Stored, Wanted};
use crate::medium::{Key, Slot};
use crate::pool::Pooled;

/// A folder of a disk.
pub type DiskMedium = Pooled<DiskDevice>;

/// A folder of a disk, as a thread sees it.
pub struct DiskDevice {
    slab: Slab<DiskFile>,
    _lock: File,
}

impl Device for DiskDevice {
    fn store(&self, block: Stored<'_>, _: &Wanted) -> Outcome {
        self.slab.store(block.key, block.there, block.from)
    }

    fn load(&self, block: Loaded<'_>, _: &Wanted) -> Outcome {
        self.slab.load(block.key, block.there, block.into)
    }

    fn forget(&self, slot: Slot) {
        self.slab.forget(slot);
    }

    fn persist(&self) -> Outcome {
        self.slab.persist()
    }

    fn survivors(&self) -> Vec<(Key, Slot)> {
        self.slab.contents()
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
            stand_in: false,
            shortfalls: opened.shortfalls,
        };
        let device = DiskDevice { slab: opened.slab, _lock: opened._lock };
        Self::new(device, arena, capability).map_err(|error| DiskError::Io {
            doing: "start threads",
            path: folder.to_owned(),
            error,
        })
    }
}
