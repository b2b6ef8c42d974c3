//! G1: memory of a GPU, or host memory that stands in for it.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

use super::MediaArgs;

pub(super) fn open(args: &MediaArgs, arena: &Arc<Arena>, slots: u32) -> Result<Box<dyn Medium>> {
    let medium = HostMedium::of_memory(Arc::clone(arena), slots, args.threads)
        .map_err(|error| anyhow!("error: {error}"))?;
    Ok(Box::new(medium))
}
