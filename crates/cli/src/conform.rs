//! `tierscope conform`: the one suite of all media, on this machine's own. For who brings Tierscope to a new machine.

use std::path::Path;

use anyhow::{Context, Result};
use tempfile::TempDir;
use tierscope_tiers::conformance::{self, Check, SLOTS_MIN};
use tierscope_tiers::{Arena, Capability};

use crate::args::EXIT_CODES;
use crate::exit::Exit;
use crate::media::{self, Media, MediaArgs, Sizes};
use crate::output;

/// More than the suite needs, so that slots at the ends are not always in use.
const SLOTS: u32 = SLOTS_MIN + 8;

/// The flags.
#[derive(Debug, clap::Args)]
#[command(after_help = EXIT_CODES)]
pub(crate) struct ConformArgs {
    #[command(flatten)]
    media: MediaArgs,
    /// Bytes of a block
    #[arg(long, value_name = "N", default_value_t = 65_536, value_parser = clap::value_parser!(u64).range(8..=1 << 26))]
    block_bytes: u64,
}

pub(crate) fn conform(args: &ConformArgs) -> Result<Exit> {
    let mut named = args.media.clone();
    // What lies in the folder is somebody's; what is put there has a folder of its own, which is removed.
    let folder = named.g3.as_deref().map(own_folder).transpose()?;
    named.g3 = folder.as_ref().map(|folder| folder.path().to_owned());
    let sizes = Sizes {
        g3: folder.as_ref().map(|_| SLOTS),
        g4: None,
        ..Sizes::new(&named, args.block_bytes, [SLOTS, SLOTS])?
    };
    let Media { arena, below } = media::open(&named, sizes)?;
    output::say(&host_memory(&arena))?;
    let mut holds = true;
    for (medium, tier) in below.into_iter().zip(["G1", "G3", "G4"]) {
        let Some(mut medium) = medium else { continue };
        output::say(&medium_line(tier, medium.capability()))?;
        let checks = conformance::run(&arena, medium.as_mut());
        holds &= checks.iter().all(|check| check.failure.is_none());
        output::say(&table(&checks))?;
    }
    Ok(if holds { Exit::Done } else { Exit::ExpectationFailed })
}

fn own_folder(beside: &Path) -> Result<TempDir> {
    let shown = beside.display();
    let mend = "  mend: a folder that can be written to (--g3 DIR)";
    std::fs::create_dir_all(beside)
        .with_context(|| format!("error: cannot make the folder {shown}\n{mend}"))?;
    let made = tempfile::Builder::new().prefix("conform-").tempdir_in(beside);
    made.with_context(|| format!("error: cannot make a folder in {shown}\n{mend}"))
}

fn host_memory(arena: &Arena) -> String {
    let bytes = u64::from(arena.slots()) * arena.block_bytes() as u64;
    let locked = if arena.is_locked() { "locked" } else { "not locked by this process" };
    format!("G2  host memory: {bytes} bytes, {locked}, {}\n", arena.pages())
}

fn medium_line(tier: &str, capability: &Capability) -> String {
    let Capability { kind, name, slots, block_bytes, concurrency, .. } = capability;
    let part = if capability.stand_in { ", which stands in for a device" } else { "" };
    let line = format!("{tier}  {}: {name}{part}\n", kind.name());
    line + &format!("    {slots} slots of {block_bytes} bytes, {concurrency} threads\n")
}

fn table(checks: &[Check]) -> String {
    let line = |check: &Check| match &check.failure {
        None => format!("    holds   {}\n", check.name),
        Some(found) => format!("    BROKEN  {}: {found}\n", check.name),
    };
    let hold = checks.iter().filter(|check| check.failure.is_none()).count();
    let lines: String = checks.iter().map(line).collect();
    format!("{lines}    {hold} of {} hold\n", checks.len())
}
