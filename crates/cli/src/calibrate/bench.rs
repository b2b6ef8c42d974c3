//! Media for a calibration: those that the command line names, in places of their own that are gone afterwards.

use std::path::{Path, PathBuf};

use tempfile::TempDir;
use tierscope_driver::calibrate::{Opened, Sizes};

use crate::media::{self, MediaArgs};

/// Of a size of block, what is set aside on the disk: past the page cache more would tell nothing else.
const DISK_BYTES: u64 = 128 << 20;
/// But so many slots.
const SLOTS_MIN: u64 = 32;
/// Of an object store so many: each is a request, and takes milliseconds to prepare.
const OBJECTS_MAX: u32 = 512;

/// Opens media of one size after the other.
pub(super) struct Bench {
    args: MediaArgs,
    /// Where the blocks of G3 lie, the last one now. Going, they take them along; not before the end, since a disk that
    /// frees blocks is busy.
    folders: Vec<TempDir>,
    /// The folders that are object stores; they go with the others.
    objects: Vec<Gone>,
}

/// A folder that was made for this, and goes with it.
struct Gone(PathBuf);

impl Drop for Gone {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

impl Bench {
    pub(super) fn new(args: &MediaArgs) -> Self {
        // Every size is opened with the same G1, which is found once.
        let args = MediaArgs { g1: media::settle(&args.g1), ..args.clone() };
        Self { args, folders: Vec::new(), objects: Vec::new() }
    }

    /// The folder in which that of the blocks is made.
    pub(super) fn disk(&self) -> String {
        let folder = self.args.g3.as_deref().unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string()
    }

    /// Empty media of a size; the former ones are closed.
    pub(super) fn open(&mut self, Sizes { block_bytes, slots }: Sizes) -> Result<Opened, String> {
        let folder = match self.args.g3.as_deref() {
            Some(folder) => Some(inside(folder)?),
            // Nobody asked for this one: where it cannot be had, G3 is not measured.
            None => inside(Path::new(".")).ok(),
        };
        let g3 = folder.as_ref().map(|folder| folder.path().to_owned());
        self.folders.extend(folder);
        let on_disk = (DISK_BYTES / block_bytes.max(1)).max(SLOTS_MIN).min(slots.into()) as u32;
        let g4 = self.args.g4.clone().map(|url| self.own_objects(&url, block_bytes));
        let args = MediaArgs { g3, g4, ..self.args.clone() };
        let words = |error: anyhow::Error| {
            let text = format!("{error:#}");
            text.strip_prefix("error: ").unwrap_or(&text).to_owned()
        };
        let sizes = media::Sizes::new(&args, block_bytes, [slots, slots]).map_err(words)?;
        let sizes = media::Sizes { g3: Some(on_disk), g4: Some(slots.min(OBJECTS_MAX)), ..sizes };
        let media = media::open_silently(&args, sizes).map_err(words)?;
        Ok(Opened { arena: media.arena, media: media.below })
    }

    /// A place of its own in an object store, for blocks of a size: what lies in the one that was named is somebody's.
    fn own_objects(&mut self, url: &str, block_bytes: u64) -> String {
        if url.starts_with("memory:") {
            return url.to_owned();
        }
        let nth = self.objects.len() + self.folders.len();
        let own = format!(
            "{}/tierscope-calibrate-{}-{nth}-{block_bytes}",
            url.trim_end_matches('/'),
            std::process::id()
        );
        self.objects.extend(own.strip_prefix("file://").map(|path| Gone(path.into())));
        own
    }
}

fn inside(folder: &Path) -> Result<TempDir, String> {
    let made = tempfile::Builder::new().prefix(".tierscope-calibrate-").tempdir_in(folder);
    made.map_err(|error| {
        format!("cannot make a folder in {}: {error}\n  mend: --g3 names a folder that is there and may be written to", folder.display())
    })
}
