//! Points on the cores of this machine.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::{Result, anyhow};
use rayon::prelude::*;
use tierscope_sweep::{Row, Shard, State, attempt, refused};

use super::args::SweepArgs;
use super::plan::Planned;
use super::progress::Watch;
use crate::interrupt;

/// How to go about it.
pub(crate) struct How {
    /// Points at once; 0 is as many as there are cores.
    jobs: usize,
    quiet: bool,
}

impl How {
    pub(crate) fn of(args: &SweepArgs) -> Self {
        Self { jobs: args.jobs.unwrap_or(0) as usize, quiet: args.quiet }
    }
}

/// All rows of a shard in the order of their points. Those in `done` are not computed again; each other one goes to
/// `keep` as soon as it is there.
///
/// # Errors
/// When the user asked to stop, or `keep` failed.
pub(crate) fn run(
    planned: &Planned,
    shard: Shard,
    done: Vec<Row>,
    how: &How,
    keep: impl Fn(&Row) -> Result<()> + Sync,
) -> Result<Vec<Row>> {
    let finished: Vec<u64> = done.iter().filter_map(Row::point).collect();
    let open: Vec<u64> =
        shard.points(&planned.plan).filter(|point| finished.binary_search(point).is_err()).collect();
    let watch = Watch::new(how.quiet, (open.len() + done.len()) as u64, done.len() as u64);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(how.jobs).build()?;
    let computed = pool.install(|| {
        let rows = open.par_iter().with_max_len(1).map(|&index| {
            let row = point(planned, index)?;
            keep(&row)?;
            watch.finished();
            Ok(row)
        });
        rows.collect::<Result<Vec<Row>>>()
    });
    drop(watch);
    let mut rows = done;
    rows.extend(computed?);
    rows.sort_by_key(Row::point);
    Ok(rows)
}

fn point(planned: &Planned, index: u64) -> Result<Row> {
    let computed = catch_unwind(AssertUnwindSafe(|| attempted(planned, index)));
    let row = computed.unwrap_or_else(|_| {
        // The panic's own message is on standard error already.
        Some(refused(&planned.plan, index, State::Broken, "an invariant is violated"))
    });
    row.ok_or_else(|| {
        anyhow!("interrupted: with --out, the same command goes on with the points that are not finished")
    })
}

/// The row of a point; `None` when the user asked to stop.
fn attempted(planned: &Planned, index: u64) -> Option<Row> {
    let plan = &planned.plan;
    if interrupt::asked() {
        return None;
    }
    let no = |detail: &str| Some(refused(plan, index, State::Refused, detail));
    let attempt = match attempt(plan, index) {
        Ok(attempt) => attempt,
        Err(detail) => return no(&detail),
    };
    let run = planned.supply.with(&attempt.scenario, |ready| {
        attempt.run(plan, &ready.workload, &ready.cache, |_| !interrupt::asked())
    });
    run.unwrap_or_else(|detail| no(&detail))
}
