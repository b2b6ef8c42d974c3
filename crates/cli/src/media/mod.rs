//! Real media, opened as the command line names them; what they could not get is said.

mod args;
mod disk;
mod gpu;
mod object;

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use tierscope_tiers::{Arena, Medium};

pub(crate) use args::MediaArgs;
pub(crate) use gpu::settle;

use crate::output;

/// Memory that is taken without a word.
const MEMORY_BYTES_MAX: u64 = 8 << 30;

/// How large everything is to be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// Bytes of a block, a multiple of 8.
    pub(crate) block_bytes: usize,
    /// Slots of the arena: G2, and what else is needed of host memory.
    pub(crate) arena: u32,
    /// Slots of G1.
    pub(crate) g1: u32,
    /// Slots of G3, where it is wanted.
    pub(crate) g3: Option<u32>,
    /// Slots of G4, where it is wanted.
    pub(crate) g4: Option<u32>,
}

impl Sizes {
    /// Checks that there is memory for all of it before it is taken.
    pub(crate) fn new(args: &MediaArgs, block_bytes: u64, blocks: [u32; 2]) -> Result<Self> {
        let [arena, g1] = blocks;
        let block_bytes = block_bytes.next_multiple_of(8);
        let slots = u64::from(g1) + u64::from(arena);
        let total = slots.saturating_mul(block_bytes);
        if total > MEMORY_BYTES_MAX && !args.memory {
            return Err(anyhow!(
                "error: G1 and G2 have {slots} blocks of {block_bytes} bytes: {:.1} GiB of memory\n  mend: smaller blocks \
                 that stand for them (--block-bytes 65536), or --memory if this machine has so much",
                total as f64 / f64::from(1 << 30)
            ));
        }
        let block_bytes =
            usize::try_from(block_bytes).context("error: a block is larger than this machine can address")?;
        Ok(Self { block_bytes, arena, g1, g3: None, g4: None })
    }
}

/// Host memory, and the media beside it.
pub(crate) struct Media {
    /// G2.
    pub(crate) arena: Arc<Arena>,
    /// G1, G3, G4.
    pub(crate) below: [Option<Box<dyn Medium>>; 3],
}

/// Opens what is wanted and named; what is wanted and not named is left out. What was not got is said.
pub(crate) fn open(args: &MediaArgs, sizes: Sizes) -> Result<Media> {
    let media = open_silently(args, sizes)?;
    for words in media.arena.shortfalls() {
        output::complain(&format!("note: host memory: {words}"));
    }
    for medium in media.below.iter().flatten() {
        let capability = medium.capability();
        for words in &capability.shortfalls {
            output::complain(&format!("note: {}: {words}", capability.kind.name()));
        }
    }
    Ok(media)
}

/// The same for who says by himself what was not got.
pub(crate) fn open_silently(args: &MediaArgs, sizes: Sizes) -> Result<Media> {
    // Once: to find out whether there is a GPU means to ask its drivers.
    let g1 = settle(&args.g1);
    let residence = g1.residence();
    let arena =
        Arena::with(sizes.arena, sizes.block_bytes, residence).map_err(|error| anyhow!("error: {error}"))?;
    let arena = Arc::new(arena);
    let below = [
        Some(gpu::open(&g1, args.threads, &arena, sizes.g1)?),
        disk::open(args, &arena, sizes.g3)?,
        object::open(args, &arena, sizes.g4)?,
    ];
    Ok(Media { arena, below })
}
