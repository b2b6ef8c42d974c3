//! A folder that is a tier: its files, and the lock that keeps a second process out.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::device::{DIRECT_ALIGN, DiskFile};
use super::slab::{Geometry, OpenError, Slab, made_with};

/// How a disk is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// Slots.
    pub slots: u32,
    /// Bytes of each.
    pub block_bytes: usize,
    /// Threads that read and write.
    pub threads: u32,
    /// Whether to go past the page cache where that is possible.
    pub direct: bool,
}

/// Why a folder cannot be a tier.
#[derive(Debug)]
pub enum DiskError {
    /// Another process has it.
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// It holds blocks of other sizes.
    OtherSizes {
        /// The folder.
        folder: PathBuf,
        /// Bytes of a block there.
        block_bytes: u64,
        /// Slots there.
        slots: u32,
    },
    /// Something lies under a name that a tier needs, and is no tier's.
    Foreign {
        /// What.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// A block of no bytes, or more bytes in all than a file can have.
    BadSizes {
        /// Slots asked for.
        slots: u32,
        /// Bytes of each.
        block_bytes: usize,
    },
    /// The system refuses.
    Io {
        /// What was tried, in words.
        doing: &'static str,
        /// Where.
        path: PathBuf,
        /// What it says.
        error: io::Error,
    },
}

impl fmt::Display for DiskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InUse { folder } => {
                let folder = folder.display();
                write!(
                    f,
                    "{folder}: another process uses this folder as a tier\n  mend: another folder, or end that process"
                )
            }
            Self::OtherSizes { folder, block_bytes, slots } => write!(
                f,
                "{}: holds {slots} slots of {block_bytes} bytes, not those asked for\n  mend: another folder, or remove this one's files",
                folder.display()
            ),
            Self::Foreign { path, found } => write!(
                f,
                "{}: found {found}, expected nothing, or a file that a tier made\n  mend: another folder",
                path.display()
            ),
            Self::BadSizes { slots, block_bytes } => {
                write!(
                    f,
                    "{slots} slots of {block_bytes} bytes make no file\n  mend: a positive multiple of 8 bytes, fewer slots"
                )
            }
            Self::Io { doing, path, error } => {
                let mend = match error.kind() {
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        "fewer slots, or a disk with more room"
                    }
                    io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
                        "a folder that this user may write to"
                    }
                    _ => "look at the disk",
                };
                write!(f, "{}: cannot {doing}: {error}\n  mend: {mend}", path.display())
            }
        }
    }
}

impl std::error::Error for DiskError {}

/// A folder that is open, with what could not be had.
pub(super) struct Opened {
    pub(super) slab: Slab<DiskFile>,
    /// Held as long as the folder is in use; the system gives it back however the process ends.
    pub(super) _lock: File,
    pub(super) shortfalls: Vec<String>,
}

fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> DiskError {
    let path = path.to_owned();
    move |error| DiskError::Io { doing, path, error }
}

/// The file that keeps a second process out, and says whose the others are.
const LOCK: &str = "lock";
/// What it says.
const OURS: &[u8] = b"a folder of tierscope: blocks of a disk tier\n";

/// Opens the lock file, if what lies in the folder is a tier's: it was made before everything else, and says so.
fn claim(folder: &Path) -> Result<File, DiskError> {
    let path = folder.join(LOCK);
    for name in [LOCK, "blocks", "index.0", "index.1"] {
        let path = folder.join(name);
        // A link is not followed: what it leads to lies elsewhere, and is somebody's.
        let found = match fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => "no regular file",
            Ok(_) if name != LOCK && !folder.join(LOCK).exists() => "a file and no lock beside it",
            _ => continue,
        };
        return Err(DiskError::Foreign { path, found });
    }
    let open = File::options().read(true).write(true).create(true).truncate(false).open(&path);
    let mut lock = open.map_err(failed("make the lock file", &path))?;
    let mut said = Vec::new();
    let read = Read::by_ref(&mut lock).take(OURS.len() as u64 + 1).read_to_end(&mut said);
    read.map_err(failed("read the lock file", &path))?;
    if said.is_empty() {
        lock.write_all(OURS).map_err(failed("write the lock file", &path))?;
    } else if said != OURS {
        return Err(DiskError::Foreign { path, found: "a file of somebody else's" });
    }
    Ok(lock)
}

/// Opens a folder, or makes it one.
pub(super) fn open(folder: &Path, options: DiskOptions) -> Result<Opened, DiskError> {
    let DiskOptions { slots, block_bytes, .. } = options;
    let bad = DiskError::BadSizes { slots, block_bytes };
    let total = u64::from(slots).checked_mul(block_bytes as u64).filter(|&bytes| bytes <= i64::MAX as u64);
    if slots == 0 || block_bytes == 0 || !block_bytes.is_multiple_of(8) || total.is_none() {
        return Err(bad);
    }
    let geometry = Geometry { block_bytes, slots };
    fs::create_dir_all(folder).map_err(failed("make the folder", folder))?;
    let lock = claim(folder)?;
    let lock_path = folder.join(LOCK);
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(DiskError::InUse { folder: folder.to_owned() }),
        Err(TryLockError::Error(error)) => return Err(failed("lock", &lock_path)(error)),
    }
    let names = ["index.0", "index.1"].map(|name| folder.join(name));
    // Before any file gets the length that is asked for: what has another one is somebody's.
    for path in &names {
        let header = DiskFile::existing(path).map_err(failed("read the index", path))?;
        if let Some((block_bytes, slots)) = header.as_ref().and_then(made_with)
            && (block_bytes, slots) != (geometry.block_bytes as u64, geometry.slots)
        {
            return Err(DiskError::OtherSizes { folder: folder.to_owned(), block_bytes, slots });
        }
    }
    let mut logs = Vec::new();
    for path in names {
        logs.push(DiskFile::open(&path, geometry.log_bytes()).map_err(failed("open the index", &path))?);
    }
    let path = folder.join("blocks");
    let mut file = DiskFile::open(&path, geometry.slab_bytes()).map_err(failed("set room aside", &path))?;
    let mut shortfalls = Vec::new();
    if options.direct {
        if block_bytes.is_multiple_of(DIRECT_ALIGN) {
            match DiskFile::direct(&path) {
                Ok(direct) => file = direct,
                Err(error) => shortfalls.push(format!("no direct I/O: the file system says {error}")),
            }
        } else {
            shortfalls.push(format!(
                "no direct I/O: a block of {block_bytes} bytes is no multiple of {DIRECT_ALIGN}"
            ));
        }
    }
    let [first, second] = <[DiskFile; 2]>::try_from(logs).ok().ok_or(bad)?;
    let slab = Slab::open(geometry, file, [first, second]).map_err(|error| match error {
        OpenError::OtherGeometry { block_bytes, slots } => {
            DiskError::OtherSizes { folder: folder.to_owned(), block_bytes, slots }
        }
        OpenError::Io(error) => failed("read the index", folder)(error),
    })?;
    Ok(Opened { slab, _lock: lock, shortfalls })
}
