//! What the world is to do for the connector, in order, and before the pass of the same attempt.

use std::collections::VecDeque;

use tierscope_units::{PassId, SimTime, TransferId};

use super::job::Kind;
use super::{Connector, of};
use crate::command::{Command, CopyPlan};
use crate::fact::{CopyFailure, Fact};
use crate::lower::Phase;
use crate::machine::Engine;

#[derive(Clone, Copy, Debug)]
enum Errand {
    Start(TransferId),
    Await(TransferId),
    Cancel(TransferId),
}

/// Commands that are still to be handed out.
#[derive(Clone, Default)]
pub(super) struct Errands {
    queue: VecDeque<Errand>,
    /// The last of them: it begins what the others are for.
    last: Option<Command>,
}

impl Errands {
    pub(super) fn start(&mut self, transfer: TransferId) {
        self.queue.push_back(Errand::Start(transfer));
    }

    fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.last.is_none()
    }
}

impl Connector {
    /// The next pass waits for this copy.
    pub(super) fn start_and_await(&mut self, transfer: TransferId) {
        self.errands.start(transfer);
        self.errands.queue.push_back(Errand::Await(transfer));
        if let Some(job) = self.jobs.get_mut(&transfer) {
            job.is_awaited = true;
        }
    }

    pub(crate) fn has_errands(&self) -> bool {
        !self.errands.is_empty()
    }
}

impl Engine {
    /// `last`, or what has to be done before it.
    pub(crate) fn after_errands(&mut self, now: SimTime, last: Command) -> Command {
        match of(&mut self.lower).filter(|connector| connector.has_errands()) {
            None => last,
            Some(connector) => {
                connector.errands.last = Some(last);
                self.poll_connector(now).unwrap_or(last)
            }
        }
    }

    /// The next thing to do for the connector.
    pub(crate) fn poll_connector(&mut self, now: SimTime) -> Option<Command> {
        self.give_up_late(now);
        while let Some(errand) = of(&mut self.lower)?.errands.queue.pop_front() {
            let command = match errand {
                Errand::Start(transfer) => self.start_job(now, transfer),
                Errand::Await(transfer) => {
                    let is_open = of(&mut self.lower)?.jobs.contains_key(&transfer);
                    is_open.then_some(Command::AwaitCopy(transfer))
                }
                Errand::Cancel(transfer) => Some(Command::CancelCopy(transfer)),
            };
            if command.is_some() {
                return command;
            }
        }
        of(&mut self.lower)?.errands.last.take()
    }

    /// Hands a copy out, unless it was before.
    fn start_job(&mut self, now: SimTime, transfer: TransferId) -> Option<Command> {
        let lower = self.lower.as_deref_mut()?;
        let connector = lower.connector.as_deref_mut()?;
        let size = connector.chunk_blocks();
        let job = connector.jobs.get_mut(&transfer).filter(|job| !job.is_started)?;
        job.is_started = true;
        let lane = job.lane();
        let state = &mut lower.lanes[lane.index()];
        state.pass_on(Phase::Queued, Phase::Starting);
        state.pass_on(Phase::Starting, Phase::InFlight);
        job.timer = state.config.timeout.and_then(|span| now.checked_add(span));
        if let Some(at) = job.timer {
            lower.timers.insert((at, transfer));
        }
        let list = match job.kind {
            Kind::Store => self.facts.list(job.below(size)),
            Kind::Load { .. } => self.facts.list(job.blocks.iter().copied()),
        };
        let blocks = job.blocks.len() as u32;
        self.facts.push(now, Fact::CopyStarted { transfer, lane, blocks: list });
        Some(Command::StartCopy(CopyPlan { worker: self.worker, transfer, lane, blocks, attempt: 0 }))
    }

    /// Copies that took too long have failed.
    fn give_up_late(&mut self, now: SimTime) {
        while let Some(lower) = self.lower.as_deref_mut()
            && let Some(&(at, transfer)) = lower.timers.first()
            && at <= now
        {
            if let Some(connector) = lower.connector.as_deref_mut() {
                connector.errands.queue.push_front(Errand::Cancel(transfer));
            }
            self.end_job(now, transfer, Err(CopyFailure::TimedOut));
            self.stirred = true;
        }
    }

    /// A pass has ended: what it computed can be stored.
    pub(crate) fn connector_computed(&mut self, pass: PassId) {
        let Some(connector) = of(&mut self.lower) else { return };
        while let Some(&(of_pass, transfer)) = connector.uncomputed.front()
            && of_pass <= pass
        {
            connector.uncomputed.pop_front();
            connector.errands.start(transfer);
        }
    }
}
