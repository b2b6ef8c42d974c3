//! `tierscope calibrate`: what real tiers take, as figures for scenarios.

mod args;
mod bench;
mod json;
mod machine;
mod table;
mod watch;

use anyhow::{Result, anyhow};
use tierscope_driver::calibrate::{CalibrateError, Options, Plan, calibrate as measure, hardware_toml};
use tierscope_engine::Tier;
use tierscope_tiers::free_memory_bytes;

pub(crate) use args::CalibrateArgs;

use crate::exit::Exit;
use crate::interrupt;
use crate::output::{self, Output};
use bench::Bench;
use watch::Watch;

/// Memory that is taken at most; of what is free, half.
const MEMORY_BYTES_MAX: u64 = 1 << 30;

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit> {
    let given = [("--out", args.out.as_deref()), ("--json", args.json.as_deref())];
    let taken = output::one_each(given.into_iter().filter_map(|(flag, path)| Some((flag, path?))))?;
    // Opened before anything is measured: what cannot be written is said at once.
    let out = args.out.as_deref().map(Output::create).transpose()?;
    let json = args.json.as_deref().map(Output::create).transpose()?;
    let human = !args.quiet && !taken;
    let memory = free_memory_bytes().map_or(MEMORY_BYTES_MAX, |free| MEMORY_BYTES_MAX.min(free / 2));
    let block_bytes = args.block_bytes.map(|bytes| bytes.next_multiple_of(4_096));
    let plan = Plan::new(args.seconds, memory, block_bytes);
    let mut bench = Bench::new(&args.media);
    let mut watch = Watch::new(args.quiet, args.seconds);
    let found = measure(&plan, Options { seed: args.seed }, &mut |sizes| bench.open(sizes), &mut |doing| {
        watch.show(doing);
        !interrupt::asked()
    });
    let disk = bench.disk();
    drop((watch, bench));
    interrupt::check()?;
    let mut found = found.map_err(|error: CalibrateError| anyhow!("error: {error}"))?;
    for subject in found.subjects.iter_mut().filter(|subject| subject.tier == Tier::G3) {
        // Not the folder that is gone by now.
        subject.name = format!("disk {disk}");
    }
    let (name, today) = (machine::name(), machine::today());
    if let Some(mut json) = json {
        json.write(&json::render(&found, &name, &today))?;
        json.commit()?;
    }
    if human {
        output::say(&table::render(&found))?;
    }
    if let Some(mut out) = out {
        out.write(&hardware_toml(&found, &name, &today))?;
        out.commit()?;
    }
    Ok(Exit::Done)
}
