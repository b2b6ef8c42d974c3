//! A real file: preallocated, past the page cache where the file system allows that.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use super::slab::Disk;

/// Offsets, lengths and buffers of direct I/O are multiples of this.
pub(super) const DIRECT_ALIGN: usize = 4_096;

/// What file systems count the room of a file in.
const BLOCKS_BYTES: u64 = 512;

/// A file.
pub(super) struct DiskFile {
    file: File,
}

impl DiskFile {
    /// Opens or makes a file of exactly so many bytes, all of which the file system has set aside. Where it has not so
    /// many, the file is as long as it was.
    pub(super) fn open(path: &Path, bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let before = file.metadata()?;
        let more = bytes.saturating_sub(before.blocks().saturating_mul(BLOCKS_BYTES));
        // Asked first: who reserves until nothing is left takes it from everybody for a while.
        if more > free_bytes(&file) {
            if before.len() == 0 {
                std::fs::remove_file(path)?;
            }
            return Err(io::ErrorKind::StorageFull.into());
        }
        if before.len() != bytes {
            file.set_len(bytes)?;
        }
        if let Err(error) = set_aside(&file, bytes) {
            file.set_len(before.len())?;
            return Err(error);
        }
        Ok(Self { file })
    }

    /// A file to look into, if it is there.
    pub(super) fn existing(path: &Path) -> io::Result<Option<Self>> {
        match File::open(path) {
            Ok(file) => Ok(Some(Self { file })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The same file past the page cache; an error where the file system has no such thing.
    pub(super) fn direct(path: &Path) -> io::Result<Self> {
        let flags = rustix::fs::OFlags::DIRECT.bits() as i32;
        Ok(Self { file: OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)? })
    }
}

/// What this process may still take of a file system, as far as that says.
fn free_bytes(file: &File) -> u64 {
    rustix::fs::fstatvfs(file).map_or(u64::MAX, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// A full disk says so now, not in the middle of a run.
fn set_aside(file: &File, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, bytes) {
        Ok(()) => Ok(()),
        // The file system cannot: then a full disk is told when it is met.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl Disk for DiskFile {
    fn read_at(&self, buffer: &mut [u8], at: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, at)
    }

    fn write_at(&self, buffer: &[u8], at: u64) -> io::Result<()> {
        self.file.write_all_at(buffer, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}
