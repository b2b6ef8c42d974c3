//! A real file: preallocated, past the page cache where the file system allows that.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use super::slab::Disk;

/// Offsets, lengths and buffers of direct I/O are multiples of this.
pub(super) const DIRECT_ALIGN: usize = 4_096;

/// A file.
pub(super) struct DiskFile {
    file: File,
}

impl DiskFile {
    /// Opens or makes a file of exactly so many bytes, all of which the file system has set aside.
    pub(super) fn open(path: &Path, bytes: u64) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.metadata()?.len() != bytes {
            file.set_len(bytes)?;
        }
        set_aside(&file, bytes)?;
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
