//! G3: a folder of a disk.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_tiers::disk::{DiskMedium, DiskOptions};
use tierscope_tiers::{Arena, Medium};

use super::MediaArgs;

pub(super) fn open(
    args: &MediaArgs,
    arena: &Arc<Arena>,
    slots: Option<u32>,
) -> Result<Option<Box<dyn Medium>>> {
    let (Some(slots), Some(folder)) = (slots, args.g3.as_deref()) else { return Ok(None) };
    let options =
        DiskOptions { slots, block_bytes: arena.block_bytes(), threads: args.threads, direct: true };
    let medium =
        DiskMedium::open(folder, Arc::clone(arena), options).map_err(|error| anyhow!("error: {error}"))?;
    Ok(Some(Box::new(medium)))
}
