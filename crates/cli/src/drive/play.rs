//! The two ways to drive: in lock-step, and on the clock.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tierscope_driver::{Board, Live, Mirror, Pace};
use tierscope_scenario::Told;
use tierscope_sim::{Run, RunState};

use super::watch::LiveTable;
use crate::input::Input;
use crate::interrupt;
use crate::sink::Sinks;

/// Between two looks whether the user asked to stop.
const SLICE: Duration = Duration::from_millis(100);
/// The same in lock-step, in instants.
const SLICE_INSTANTS: u32 = 64;

/// A driven run that is over, or broke off.
pub(crate) struct Played {
    pub(crate) run: Run,
    /// Real tiers.
    pub(crate) mirror: Mirror,
    /// The ends of copies, where real tiers told them.
    pub(crate) told: Vec<Told>,
    /// Why it broke off.
    pub(crate) broken: Option<String>,
    /// Whether the user stopped it.
    pub(crate) interrupted: bool,
}

/// What both ways need.
pub(crate) struct Plan<'a> {
    pub(crate) input: &'a Input,
    pub(crate) block_bytes: u64,
    pub(crate) quiet: bool,
}

/// Runs to the end, or to where real tiers could not follow.
pub(crate) fn lockstep(plan: &Plan<'_>, mut mirror: Mirror, sinks: &mut Sinks) -> Result<Played> {
    let input = plan.input;
    let workload = Arc::new(input.expand()?);
    let mut board = Board::new(&input.scenario);
    let total = workload.requests.len() as u32;
    let table = LiveTable::start(board.readout(), total, plan.block_bytes, plan.quiet);
    let mut run = input.run(workload);
    mirror.stop_if(Box::new(interrupt::asked));
    let mut followed = Ok(());
    while followed.is_ok() && !interrupt::asked() {
        let advanced = run.advance(SLICE_INSTANTS, |log| {
            if followed.is_ok() {
                followed = mirror.take(log);
            }
            board.take(log);
            sinks.take(log);
        });
        sinks.flush()?;
        board.publish(&run);
        let state = advanced.map_err(|error| anyhow!("error: {}: {error}", input.name))?;
        if state != RunState::Running {
            break;
        }
    }
    drop(table);
    let ended = match followed.is_ok() && run.state() != RunState::Running {
        true => mirror.finish(),
        false => mirror.stop(),
    };
    // What was cancelled because the user asked is no failure.
    let interrupted = interrupt::asked();
    let broken = followed.and(ended).err().filter(|_| !interrupted);
    let broken = broken.map(|error| format!("real tiers could not follow: {error}"));
    Ok(Played { run, mirror, told: Vec::new(), broken, interrupted })
}

/// Runs until the end, or until real tiers fail.
pub(crate) fn on_the_clock(plan: &Plan<'_>, mirror: Mirror, pace: Pace, sinks: &mut Sinks) -> Result<Played> {
    let input = plan.input;
    let workload = Arc::new(input.expand()?);
    let total = workload.requests.len() as u32;
    let mut live = Live::new(&input.scenario, workload, mirror, pace);
    live.stop_if(Box::new(interrupt::asked));
    let table = LiveTable::start(live.readout(), total, plan.block_bytes, plan.quiet);
    let advanced = loop {
        let advanced = live.advance(SLICE, |log| sinks.take(log));
        sinks.flush()?;
        if !matches!(advanced, Ok(RunState::Running)) || interrupt::asked() {
            break advanced;
        }
    };
    drop(table);
    let ended = match advanced {
        Ok(RunState::Running) => live.stop(),
        Ok(_) => live.finish(),
        Err(error) => {
            // What failed first is what is told.
            let _ = live.stop();
            Err(error)
        }
    };
    let interrupted = interrupt::asked();
    let broken = ended.err().filter(|_| !interrupted).map(|error| error.to_string());
    let (run, mirror, told) = live.into_parts();
    Ok(Played { run, mirror, told, broken, interrupted })
}
