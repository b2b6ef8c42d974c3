//! Runs that go on under other conditions from a time on: the other side of a fork at the cursor.

use tierscope_engine::FactLog;
use tierscope_scenario::{Scenario, parse_any};
use tierscope_sim::{Run, RunError, RunState};
use tierscope_units::SimTime;

use super::begin::Source;
use super::recordings::not_turned;
use super::{Agent, ns, problem_view, refused};
use crate::protocol::{Duel, FromWorker, ProblemView};
use crate::tiers::World;

/// What a run turns into, and when.
pub(super) struct Turn {
    pub(super) at: SimTime,
    old: Scenario,
    new: Scenario,
}

impl Turn {
    /// Looks whether a run of `old` that has not begun can go on as `new`.
    pub(super) fn new(
        run: &Run,
        old: &Scenario,
        new: &Scenario,
        at_ns: f64,
    ) -> Result<Self, Vec<ProblemView>> {
        let at = SimTime::from_ns(ns(at_ns));
        let tried = run.simulation().clone().retune(SimTime::ZERO, old, new);
        tried.map_err(|problem| vec![ProblemView { line: 0, column: 0, ..problem_view(&problem) }])?;
        Ok(Self { at, old: old.clone(), new: new.clone() })
    }
}

/// Some instants further, over the turn if it is due.
pub(super) fn advance(
    run: &mut Run,
    turn: &mut Option<Turn>,
    instants: u32,
    mut sink: impl FnMut(&FactLog),
) -> Result<RunState, RunError> {
    if let Some(to) = turn {
        for _ in 0..instants {
            let due = run.simulation().next_time().is_none_or(|next| next > to.at);
            if due || run.state() != RunState::Running {
                // It was tried before the run began: nothing that decides about it changes while it runs.
                // What has come to rest for good before that time goes on from where it stands.
                let rests = run.simulation().next_time().is_none();
                let at = if rests { to.at.min(run.simulation().now()) } else { to.at };
                let _ = run.retune(at, &to.old, &to.new);
                *turn = None;
                break;
            }
            run.advance(1, &mut sink)?;
        }
        return Ok(RunState::Running);
    }
    run.advance(instants, sink)
}

impl Agent {
    /// The other side of a comparison: another scenario, or this one that becomes it.
    pub(super) fn fork(&mut self, id: u32, duel: &Duel, worker: u32) -> Vec<FromWorker> {
        if duel.at_ns.is_some() && duel.driven.is_some() {
            self.job = None;
            return vec![refused(id, not_turned())];
        }
        let text = if duel.at_ns.is_some() { &duel.a } else { &duel.b };
        let mut said = self.start(id, Source::Text(text.clone()), worker);
        let (Some(at_ns), Some(job)) = (duel.at_ns, &mut self.job) else { return said };
        let sides = parse_any(&duel.a).and_then(|a| Ok((a, parse_any(&duel.b)?)));
        let sides = sides.map_err(|problems| problems.iter().map(problem_view).collect::<Vec<_>>());
        match sides.and_then(|(a, b)| Ok((Turn::new(&job.run, &a, &b, at_ns)?, World::of(&b)))) {
            Ok((turn, world)) => {
                (job.turns_at, job.turn, job.world) = (Some(turn.at), Some(turn), world);
            }
            Err(problems) => {
                self.job = None;
                said = vec![refused(id, problems)];
            }
        }
        said
    }
}
