//! `tierscope drive`: the same run with real blocks, in lock-step.

mod args;

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tierscope_driver::{Ends, Mirror, MirrorError, Totals};
use tierscope_engine::Lane;
use tierscope_report::table;
use tierscope_scenario::Scenario;
use tierscope_sim::{Run, RunError, RunOptions, RunState, evaluate};

pub(crate) use args::DriveArgs;

use crate::exit::Exit;
use crate::input::{self, Changes, Input};
use crate::media::{self, Media, Sizes};
use crate::output::{self, Output};
use crate::progress::Watch;
use crate::{interrupt, run};

/// Instants between two looks at the clock.
const SLICE_INSTANTS: u32 = 256;

pub(crate) fn drive(args: &DriveArgs) -> Result<Exit> {
    let changes =
        Changes { trace: args.trace.as_deref(), set: &args.set, seed: args.seed, ..Changes::default() };
    let input = input::read(&args.scenario, &changes)?;
    let json = args.json.as_deref().map(Output::create).transpose()?;
    let human = !args.quiet && !args.json.as_deref().is_some_and(output::is_stdout);
    let bytes = args.block_bytes.unwrap_or(input.scenario.kv_bytes_per_block).next_multiple_of(8);
    let mut mirror = tiers(args, &input.scenario, bytes)?;
    let (run, followed) = play(&input, &mut mirror, args.quiet)?;
    let report = run.report();
    if let Some(mut json) = json {
        json.write(&report.to_json())?;
        json.commit()?;
    }
    if human {
        output::say(&table::render(&report))?;
        output::say(&moved(mirror.totals(), bytes))?;
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

fn tiers(args: &DriveArgs, scenario: &Scenario, block_bytes: u64) -> Result<Mirror> {
    let below = scenario.engine.tiers.as_ref();
    let sizes = Sizes {
        g3: below.and_then(|tiers| tiers.g3).map(|tier| tier.blocks),
        g4: below.and_then(|tiers| tiers.g4).map(|tier| tier.blocks),
        ..Sizes::new(&args.media, block_bytes, [Mirror::arena_slots(scenario), scenario.engine.g1_blocks])?
    };
    let Media { arena, below } = media::open(&args.media, sizes)?;
    Mirror::new(scenario, arena, below, Ends::Modelled).map_err(|error| anyhow!("error: {error}"))
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
fn moved(totals: &Totals, block_bytes: u64) -> String {
    let mut text = format!(
        "\nreal blocks of {block_bytes} bytes: {} computed, {} verified on arrival and at the end, none wrong\n",
        totals.computed_blocks, totals.verified_blocks
    );
    for lane in Lane::ALL {
        let lane_totals = &totals.lanes[lane.index()];
        if lane_totals.blocks > 0 {
            let rate = rate_gbps(lane_totals.blocks * block_bytes, lane_totals.copied);
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
