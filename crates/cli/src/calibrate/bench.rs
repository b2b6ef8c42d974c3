//! Media for a calibration: those that the command line names, in places of their own that are gone afterwards.

use std::path::Path;

use tempfile::TempDir;
use tierscope_driver::calibrate::{Opened, Sizes};

use crate::media::{self, MediaArgs};

/// Opens media of one size after the other.
pub(super) struct Bench<'a> {
    args: &'a MediaArgs,
    /// Where the blocks of G3 lie now. Going, it takes them along.
    folder: Option<TempDir>,
}

impl<'a> Bench<'a> {
    pub(super) fn new(args: &'a MediaArgs) -> Self {
        Self { args, folder: None }
    }

    /// The folder in which that of the blocks is made.
    pub(super) fn disk(&self) -> String {
        let folder = self.args.g3.as_deref().unwrap_or(Path::new("."));
        folder.canonicalize().unwrap_or_else(|_| folder.to_owned()).display().to_string()
    }

    /// Empty media of a size; the former ones are closed.
    pub(super) fn open(&mut self, Sizes { block_bytes, slots }: Sizes) -> Result<Opened, String> {
        // First away with the old: both at once might be more than the disk has room for.
        self.folder = None;
        self.folder = match self.args.g3.as_deref() {
            Some(folder) => Some(inside(folder)?),
            // Nobody asked for this one: where it cannot be had, G3 is not measured.
            None => inside(Path::new(".")).ok(),
        };
        let g3 = self.folder.as_ref().map(|folder| folder.path().to_owned());
        let args = MediaArgs { g3, ..self.args.clone() };
        let words = |error: anyhow::Error| {
            let text = format!("{error:#}");
            text.strip_prefix("error: ").unwrap_or(&text).to_owned()
        };
        let sizes = media::Sizes::new(&args, block_bytes, [slots, slots]).map_err(words)?;
        let sizes = media::Sizes { g3: Some(slots), g4: Some(slots), ..sizes };
        let media = media::open_silently(&args, sizes).map_err(words)?;
        Ok(Opened { arena: media.arena, media: media.below })
    }
}

fn inside(folder: &Path) -> Result<TempDir, String> {
    let made = tempfile::Builder::new().prefix(".tierscope-calibrate-").tempdir_in(folder);
    made.map_err(|error| {
        format!("cannot make a folder in {}: {error}\n  mend: --g3 names a folder that is there and may be written to", folder.display())
    })
}
