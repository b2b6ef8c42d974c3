//! A run on the wall clock: real tiers decide when a copy ends, and how.
//!
//! Requests arrive at their times and passes take theirs; the engine's copies go to the media, and their ends come back as
//! inputs with the time at which they came about (rule R5), or the next one that is not over. Everything else is the simulator's loop, with its one order
//! of simultaneous events. What was told is kept: told again to a simulation, it is the same run (`Told`).

use std::sync::Arc;
use std::time::{Duration, Instant};

use tierscope_engine::FactLog;
use tierscope_scenario::{Scenario, Told, Workload};
use tierscope_sim::{Run, RunError, RunState};
use tierscope_units::SimTime;

use crate::bell::Doorbell;
use crate::board::{Board, Readout};
use crate::clock::{Clock, Pace};
use crate::error::MirrorError;
use crate::mirror::{Mirror, Stop};

/// Why a driven run broke off.
#[derive(Debug)]
pub enum LiveError {
    /// The run itself.
    Run(RunError),
    /// Real tiers.
    Tiers(MirrorError),
}

impl std::fmt::Display for LiveError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Run(error) => error.fmt(f),
            Self::Tiers(error) => write!(f, "real tiers could not follow: {error}"),
        }
    }
}

impl std::error::Error for LiveError {}

/// A run that is driven.
pub struct Live {
    run: Run,
    mirror: Mirror,
    pace: Pace,
    clock: Clock,
    bell: Doorbell,
    board: Board,
    told: Vec<Told>,
}

impl Live {
    /// A run before its first instant; its clock starts now.
    pub fn new(scenario: &Scenario, workload: Arc<Workload>, mut mirror: Mirror, pace: Pace) -> Self {
        let run = Run::listening(scenario, workload);
        let bell = Doorbell::default();
        mirror.ring(&bell.bell());
        Self { run, mirror, pace, clock: Clock::start(), bell, board: Board::new(scenario), told: Vec::new() }
    }

    /// From now on this is asked while real tiers are waited for: whether to wait no longer.
    pub fn stop_if(&mut self, stop: Stop) {
        self.mirror.stop_if(stop);
    }

    /// Goes on for so long at most, showing the facts to `sink`.
    ///
    /// # Errors
    ///
    /// When the run, or real tiers, cannot go on; [`Live::stop`] is still to be called.
    pub fn advance(&mut self, most: Duration, mut sink: impl FnMut(&FactLog)) -> Result<RunState, LiveError> {
        let begun = Instant::now();
        loop {
            self.listen();
            let left = most.saturating_sub(begun.elapsed());
            match self.wait_for() {
                Waiting::Nothing => {
                    let state = self.instant(&mut sink)?;
                    if state != RunState::Running {
                        return Ok(state);
                    }
                }
                Waiting::Until(at) => self.bell.wait(self.clock.until(at).min(left)),
                Waiting::ForCopies => self.bell.wait(left),
            }
            // Also a driver that is behind, or skips, comes back to whoever might want to stop it.
            if left.is_zero() {
                return Ok(RunState::Running);
            }
        }
    }

    /// Ends of copies become inputs.
    fn listen(&mut self) {
        for (transfer, end, at) in self.mirror.ended() {
            let told = self.run.copy_ended(Told { at: self.clock.time_of(at), transfer, end });
            self.told.push(told);
        }
    }

    fn wait_for(&mut self) -> Waiting {
        let copies = self.run.simulation().copies_elsewhere().next().is_some();
        match self.run.simulation().next_time() {
            Some(at) if self.clock.until(at).is_zero() => Waiting::Nothing,
            Some(at) if self.pace == Pace::Skipping && !copies => {
                self.clock.skip_to(at);
                Waiting::Nothing
            }
            Some(at) => Waiting::Until(at),
            None if copies => Waiting::ForCopies,
            // It is over, or will never be.
            None => Waiting::Nothing,
        }
    }

    fn instant(&mut self, sink: &mut impl FnMut(&FactLog)) -> Result<RunState, LiveError> {
        let mut followed = Ok(());
        let (mirror, board) = (&mut self.mirror, &mut self.board);
        let advanced = self.run.advance(1, |log| {
            if followed.is_ok() {
                followed = mirror.take(log);
            }
            board.take(log);
            sink(log);
        });
        self.board.publish(&self.run);
        followed.map_err(LiveError::Tiers)?;
        advanced.map_err(LiveError::Run)
    }

    /// Looks at every block of every tier once more, after the run has ended.
    ///
    /// # Errors
    ///
    /// The first block that is not what it should be.
    pub fn finish(&mut self) -> Result<(), LiveError> {
        self.mirror.finish().map_err(LiveError::Tiers)
    }

    /// Ends a run that is not over: copies under way are cancelled and waited for, and nothing is held afterwards.
    ///
    /// # Errors
    ///
    /// A copy that does not end.
    pub fn stop(&mut self) -> Result<(), LiveError> {
        self.mirror.stop().map_err(LiveError::Tiers)
    }

    /// The run, real tiers, and what was told, once nothing goes on any more.
    pub fn into_parts(self) -> (Run, Mirror, Vec<Told>) {
        (self.run, self.mirror, self.told)
    }

    /// The run.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// What other threads may read of it.
    pub fn readout(&self) -> Readout {
        self.board.readout()
    }

    /// Real tiers.
    pub fn mirror(&self) -> &Mirror {
        &self.mirror
    }

    /// The ends of copies as the engine was told them: with the scenario, all that the run depended on.
    pub fn told(&self) -> &[Told] {
        &self.told
    }
}

/// What a run waits for.
enum Waiting {
    /// An instant is due, or the run is over.
    Nothing,
    /// The next instant.
    Until(SimTime),
    /// Nothing happens by itself any more.
    ForCopies,
}
