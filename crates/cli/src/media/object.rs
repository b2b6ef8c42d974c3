//! G4: an object store.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use tierscope_tiers::{Arena, Medium};

use super::MediaArgs;

#[cfg(feature = "s3")]
pub(super) fn open(
    args: &MediaArgs,
    arena: &Arc<Arena>,
    slots: Option<u32>,
) -> Result<Option<Box<dyn Medium>>> {
    use tierscope_tiers::object::{ObjectMedium, ObjectOptions};

    let (Some(slots), Some(url)) = (slots, args.g4.as_deref()) else { return Ok(None) };
    let options = ObjectOptions::of_environment(slots, args.threads);
    let medium =
        ObjectMedium::open(url, Arc::clone(arena), &options).map_err(|error| anyhow!("error: {error}"))?;
    Ok(Some(Box::new(medium)))
}

#[cfg(not(feature = "s3"))]
pub(super) fn open(
    args: &MediaArgs,
    _arena: &Arc<Arena>,
    slots: Option<u32>,
) -> Result<Option<Box<dyn Medium>>> {
    let (Some(_), Some(url)) = (slots, args.g4.as_deref()) else { return Ok(None) };
    Err(anyhow!(
        "error: --g4 {url}: this tierscope was built without object stores\n  mend: build it with --features s3"
    ))
}
