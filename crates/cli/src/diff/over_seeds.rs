//! Both scenarios with each of several seeds: pairs of reports.

use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Result, anyhow};
use indicatif::{ProgressBar, ProgressDrawTarget};
use rayon::prelude::*;
use tierscope_report::Report;
use tierscope_report::compare::Side;
use tierscope_report::paired::Pair;
use tierscope_scenario::Workload;
use tierscope_sim::RunState;

use crate::args::DiffArgs;
use crate::diff::facts::Compared;
use crate::diff::side::Contestant;
use crate::interrupt;

/// Instants between two looks whether the user asked to stop.
const SLICE_INSTANTS: u32 = 8_192;

/// Runs both sides with every seed, of which the first has been run already. Seeds run at once on all cores; each is a
/// run of its own, and the pairs come in the order of their seeds, so that neither shows in the result.
pub(crate) fn play(
    contestants: &[Contestant; 2],
    seeds: RangeInclusive<u64>,
    first: &Compared,
    args: &DiffArgs,
) -> Result<Vec<Pair>> {
    let mut pairs = vec![Pair { seed: *seeds.start(), ..first.pair() }];
    let seeds: Vec<u64> = seeds.skip(1).collect();
    let bar = match args.quiet {
        true => ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()),
        false => ProgressBar::new(seeds.len() as u64),
    };
    let done = AtomicU64::new(0);
    let others: Result<Vec<Pair>> = seeds
        .par_iter()
        .map(|seed| {
            let pair = pair(contestants, *seed, first)?;
            bar.set_position(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(pair)
        })
        .collect();
    bar.finish_and_clear();
    pairs.extend(others?);
    Ok(pairs)
}

fn pair(contestants: &[Contestant; 2], seed: u64, first: &Compared) -> Result<Pair> {
    let run = |side: Side| run(&contestants[side as usize], seed, first.workload(side));
    let [(a, work_a), (b, work_b)] = [run(Side::A)?, run(Side::B)?];
    Ok(Pair { seed, same_work: work_a.has_same_requests(&work_b), of_log: false, reports: [a, b] })
}

fn run(contestant: &Contestant, seed: u64, known: Option<&Arc<Workload>>) -> Result<(Report, Arc<Workload>)> {
    let Some((input, workload)) = contestant.load(Some(seed), known)? else {
        return Err(anyhow!("error: {} is a fact log, of one seed", contestant.name()));
    };
    let mut run = input.run(workload.clone());
    let failed = |error| anyhow!("error: {}, seed {seed}: {error}", contestant.name());
    while run.advance(SLICE_INSTANTS, |_| {}).map_err(failed)? == RunState::Running {
        interrupt::check()?;
    }
    Ok((run.report(), workload))
}
