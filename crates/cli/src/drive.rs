//! `tierscope drive`: the same run with real blocks, in lock-step.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use tierscope_driver::{Mirror, MirrorError, Totals};
use tierscope_engine::Lane;
use tierscope_report::table;
use tierscope_scenario::Scenario;
use tierscope_sim::{Run, RunError, RunOptions, RunState, evaluate};
use tierscope_tiers::disk::{DiskMedium, DiskOptions};
use tierscope_tiers::host::HostMedium;
use tierscope_tiers::{Arena, Medium};

use crate::args::DriveArgs;
use crate::exit::Exit;
use crate::input::{self, Changes, Input};
use crate::output::{self, Output};
use crate::progress::Watch;
use crate::{interrupt, run};

/// Instants between two looks at the clock.
const SLICE_INSTANTS: u32 = 256;
/// Host memory that is taken without a word.
const MEMORY_BYTES_MAX: u64 = 8 << 30;

pub(crate) fn drive(args: &DriveArgs) -> Result<Exit> {
    let changes =
        Changes { trace: args.trace.as_deref(), set: &args.set, seed: args.seed, ..Changes::default() };
    let input = input::read(&args.scenario, &changes)?;
    let json = args.json.as_deref().map(Output::create).transpose()?;
    let human = !args.quiet && !args.json.as_deref().is_some_and(output::is_stdout);
    let bytes = block_bytes(args, &input.scenario)?;
    let mut mirror = tiers(args, &input.scenario, bytes)?;
    let (run, followed) = play(&input, &mut mirror, args.quiet)?;
    let report = run.report();
    if let Some(mut json) = json {
        json.write(&report.to_json())?;
        json.commit()?;
    }
    if human {
        output::say(&table::render(&report))?;
        output::say(&moved(&mirror.totals(), bytes))?;
    }
    if let Err(error) = followed {
        output::complain(&format!("error: {}: real tiers could not follow: {error}", input.name));
        return Ok(Exit::Broken);
    }
    let failures = evaluate(&input.scenario.expect, &report, &run.folds().summary());
    for failure in &failures {
        output::complain(&run::failed(&input.name, failure));
    }
    Ok(match run.state() {
        RunState::DeadEnd => Exit::Broken,
        _ if !failures.is_empty() => Exit::ExpectationFailed,
        _ => Exit::Done,
    })
}

/// The bytes of a block, once it is clear that there is memory for all of them.
fn block_bytes(args: &DriveArgs, scenario: &Scenario) -> Result<usize> {
    let bytes = args.block_bytes.unwrap_or(scenario.kv_bytes_per_block).next_multiple_of(8);
    let slots = u64::from(scenario.engine.g1_blocks) + u64::from(Mirror::arena_slots(scenario));
    let total = slots.saturating_mul(bytes);
    if total > MEMORY_BYTES_MAX && !args.memory {
        let gib = |bytes: u64| bytes as f64 / f64::from(1 << 30);
        return Err(anyhow!(
            "error: G1 and G2 have {slots} blocks of {bytes} bytes: {:.1} GiB of memory\n  mend: smaller blocks that stand \
             for them (--block-bytes 65536), or --memory if this machine has so much",
            gib(total)
        ));
    }
    usize::try_from(bytes).context("error: a block is larger than this machine can address")
}

fn tiers(args: &DriveArgs, scenario: &Scenario, block_bytes: usize) -> Result<Mirror> {
    let arena = Arena::new(Mirror::arena_slots(scenario), block_bytes, true)
        .map_err(|error| anyhow!("error: {error}"))?;
    let arena = Arc::new(arena);
    let g1 = HostMedium::new(Arc::clone(&arena), scenario.engine.g1_blocks, args.threads)
        .map_err(|error| anyhow!("error: {error}"))?;
    let wanted = scenario.engine.tiers.as_ref().and_then(|tiers| tiers.g3);
    let g3 = match (wanted, args.g3.as_deref()) {
        (Some(tier), Some(folder)) => Some(disk(folder, &arena, tier.blocks, args.threads)?),
        _ => None,
    };
    for words in arena.shortfalls() {
        output::complain(&format!("note: host memory: {words}"));
    }
    for words in g3.iter().flat_map(|disk| &disk.capability().shortfalls) {
        output::complain(&format!("note: disk: {words}"));
    }
    let media =
        [Some(Box::new(g1) as Box<dyn Medium>), g3.map(|disk| Box::new(disk) as Box<dyn Medium>), None];
    Mirror::new(scenario, arena, media).map_err(|error| anyhow!("error: {error}"))
}

fn disk(folder: &Path, arena: &Arc<Arena>, slots: u32, threads: u32) -> Result<DiskMedium> {
    let options = DiskOptions { slots, block_bytes: arena.block_bytes(), threads, direct: true };
    DiskMedium::open(folder, Arc::clone(arena), options).map_err(|error| anyhow!("error: {error}"))
}

/// Runs to the end, or to where real tiers could not follow.
fn play(input: &Input, mirror: &mut Mirror, quiet: bool) -> Result<(Run, Result<(), MirrorError>)> {
    let mut watch = Watch::new(quiet);
    let mut run = Run::new(&input.scenario, Arc::new(input.expand()?), RunOptions::default());
    let mut state = RunState::Running;
    while state == RunState::Running {
        let mut followed = Ok(());
        let advanced = run.advance(SLICE_INSTANTS, |log| {
            if followed.is_ok() {
                followed = mirror.take(log);
            }
        });
        if followed.is_err() {
            return Ok((run, followed));
        }
        state = advanced.map_err(|error: RunError| anyhow!("error: {}: {error}", input.name))?;
        interrupt::check()?;
        watch.show(run.progress());
    }
    let finished = mirror.finish();
    Ok((run, finished))
}

/// What moved for real, in words.
fn moved(totals: &Totals, block_bytes: usize) -> String {
    let mut text = format!(
        "\nreal blocks of {block_bytes} bytes: {} computed, {} verified on arrival and at the end, none wrong\n",
        totals.computed_blocks, totals.verified_blocks
    );
    for lane in Lane::ALL {
        let lane_totals = totals.lanes[lane.index()];
        if lane_totals.blocks > 0 {
            let rate = rate_gbps(lane_totals.blocks * block_bytes as u64, lane_totals.copied);
            text += &format!(
                "  {:6} {:>8} batches {:>9} blocks {rate:>8.2} GB/s while copying\n",
                lane.name(),
                lane_totals.batches,
                lane_totals.blocks
            );
        }
    }
    text
}

fn rate_gbps(bytes: u64, copied: Duration) -> f64 {
    bytes as f64 / copied.as_secs_f64().max(1e-9) / 1e9
}
