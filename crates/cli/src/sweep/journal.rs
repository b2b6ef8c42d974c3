//! What is finished, so that a kill costs only the points under way: a journal is appended to, a line a point, and
//! every line proves itself (`tierscope_sweep::part`).

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use tierscope_sweep::{Plan, Row, Shard, part};

use crate::output::cannot;
/// A journal that this process alone writes.
pub(crate) struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

impl Journal {
    /// Opens or begins a journal; gives the rows that it has.
    ///
    /// # Errors
    /// When another process writes it, or it belongs to another plan.
    pub(crate) fn open(path: &Path, header: &str, plan: &Plan, shard: Shard) -> Result<(Self, Vec<Row>)> {
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(cannot(path))?;
        // Released when the process ends, however it does.
        match file.try_lock() {
            // Some network file systems have no locks; there the user keeps order.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                let path = path.display();
                return Err(anyhow!(
                    "error: {path}: another sweep is writing it\n  mend: wait for it, or name another --out"
                ));
            }
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot(path))?;
        // A kill can leave half a line; whole lines stay.
        bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1));
        let text = String::from_utf8_lossy(&bytes);
        let Some(rows) = part::recover(header, plan, shard, &text) else {
            let path = path.display();
            return Err(anyhow!(
                "error: {path}: found the journal of another sweep, expected none or that of this plan\n  mend: finish \
                 that sweep, remove the file, or name another --out"
            ));
        };
        let mut begun = || -> std::io::Result<()> {
            file.set_len(bytes.len() as u64)?;
            file.seek(SeekFrom::End(0))?;
            if bytes.is_empty() { file.write_all(header.as_bytes()) } else { Ok(()) }
        };
        begun().map_err(cannot(path))?;
        Ok((Self { path: path.to_owned(), file: Mutex::new(file) }, rows))
    }

    /// Writes a row down, in one piece.
    pub(crate) fn append(&self, row: &Row) -> Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(part::entry(row).as_bytes()).map_err(cannot(&self.path))
    }
}

/// Removes a journal, if there is one.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(cannot(path)(error)),
        _ => Ok(()),
    }
}
