//! The two ways to drive: in lock-step, and on the clock.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use tierscope_driver::{Board, Live, LiveError, Mirror, Pace};
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
    pub(crate) run: Box<dyn Has>,
    /// Why it broke off.
    pub(crate) broken: Option<String>,
    /// Whether the user stopped it.
    pub(crate) interrupted: bool,
}

/// What is left of a driven run, however it was driven.
pub(crate) trait Has {
    /// The run.
    fn run(&self) -> &Run;
    /// Real tiers.
    fn mirror(&self) -> &Mirror;
    /// The ends of copies, where real tiers told them.
    fn told(&self) -> &[Told];
}

struct Lockstep {
    run: Run,
    mirror: Mirror,
}

impl Has for Lockstep {
    fn run(&self) -> &Run {
        &self.run
    }

    fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    fn told(&self) -> &[Told] {
        &[]
    }
}

impl Has for Live {
    fn run(&self) -> &Run {
        self.run()
    }

    fn mirror(&self) -> &Mirror {
        self.mirror()
    }

    fn told(&self) -> &[Told] {
        self.told()
    }
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
    let (mut followed, mut interrupted) = (Ok(()), false);
    while followed.is_ok() && !interrupted {
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
        interrupted = interrupt::asked();
    }
    drop(table);
    let ended = match (&followed, interrupted) {
        (Ok(()), false) => mirror.finish(),
        _ => mirror.stop(),
    };
    // What was cancelled because the user asked is no failure.
    let interrupted = interrupt::asked();
    let broken = followed.and(ended).err().filter(|_| !interrupted);
    let broken = broken.map(|error| format!("real tiers could not follow: {error}"));
    Ok(Played { run: Box::new(Lockstep { run, mirror }), broken, interrupted })
}

/// Runs until the end, or until real tiers fail.
pub(crate) fn on_the_clock(plan: &Plan<'_>, mirror: Mirror, pace: Pace, sinks: &mut Sinks) -> Result<Played> {
    let input = plan.input;
    let workload = Arc::new(input.expand()?);
    let total = workload.requests.len() as u32;
    let mut live = Live::new(&input.scenario, workload, mirror, pace);
    live.stop_if(Box::new(interrupt::asked));
    let table = LiveTable::start(live.readout(), total, plan.block_bytes, plan.quiet);
    let mut interrupted = false;
    let broken = loop {
        let advanced = live.advance(SLICE, |log| sinks.take(log));
        sinks.flush()?;
        match advanced {
            Ok(RunState::Running) if interrupt::asked() => {
                interrupted = true;
                break None;
            }
            Ok(RunState::Running) => {}
            Ok(_) => break None,
            Err(error) => break Some(error),
        }
    };
    drop(table);
    let ended = match (&broken, interrupted) {
        (None, false) => live.finish(),
        _ => live.stop(),
    };
    let interrupted = interrupted || interrupt::asked();
    let broken = broken.or_else(|| ended.err()).filter(|_| !interrupted);
    let broken = broken.map(|error: LiveError| error.to_string());
    Ok(Played { run: Box::new(live), broken, interrupted })
}
