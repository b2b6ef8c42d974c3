//! Workers come and go. One that is lost takes everything with it that it held: its requests go on elsewhere with
//! the tokens that they have, and its handoffs are given up or tried with another worker (rule H3).

use tierscope_units::{Idx, RequestId, SimTime, WorkerId};

use super::journey::Handoff;
use super::{Fleet, FleetCommand, FleetError, HandoffOrder, Place, Sink, Worker, WorkerChange};
use crate::fact::{Fact, HandoffFailure, HandoffPhase, WorkerState};
use crate::input::Input;

impl Fleet {
    pub(super) fn change(
        &mut self,
        now: SimTime,
        worker: WorkerId,
        change: WorkerChange,
        sink: Sink<'_>,
    ) -> Result<(), FleetError> {
        let Some(state) = self.workers.get(worker.index()).map(|worker| worker.state) else {
            return Err(FleetError::UnknownWorker(worker));
        };
        let is_gone = matches!(state, WorkerState::Absent | WorkerState::Lost);
        match change {
            WorkerChange::Start if is_gone => self.start(now, worker, sink),
            WorkerChange::Drain if state == WorkerState::Ready => self.drain(now, worker, sink),
            WorkerChange::Lose if !is_gone => self.lose(now, worker, sink),
            _ => return Err(FleetError::WrongState(worker, state)),
        }
        Ok(())
    }

    fn set_state(&mut self, now: SimTime, worker: WorkerId, state: WorkerState, sink: Sink<'_>) {
        self.workers[worker.index()].state = state;
        self.say(now, Fact::Worker { worker, state }, sink);
    }

    fn start(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        self.set_state(now, worker, WorkerState::Starting, sink);
        // A start past the end of time is none.
        if let Some(at) = now.checked_add(self.config.startup) {
            self.starts.insert((at, worker));
        }
    }

    /// A worker has started.
    pub(super) fn ready(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        self.set_state(now, worker, WorkerState::Ready, sink);
        self.join_router(now, worker);
        self.try_held(now, sink);
    }

    fn drain(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        if let Some(router) = &mut self.router {
            router.leave(now, worker);
        }
        self.set_state(now, worker, WorkerState::Draining, sink);
        self.leave_if_done(now, worker, sink);
    }

    /// A worker that takes nothing new goes when nobody needs it any more.
    pub(super) fn leave_if_done(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        let engine = &self.workers[worker.index()].engine;
        let is_idle = engine.unfinished() == 0 && engine.pass_under_way().is_none();
        let needs_it = |handoff: Handoff| handoff.is_between(worker);
        let is_needed = self.journeys.values().any(|journey| journey.handoff.is_some_and(needs_it));
        if is_idle && !is_needed {
            self.empty(now, worker, sink);
            self.set_state(now, worker, WorkerState::Absent, sink);
        }
    }

    /// What a worker held is gone; a new one of its number would begin with nothing.
    fn empty(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        self.end_copies(now, worker);
        self.show(now, worker, sink);
        self.take_back(worker);
        if let Some(router) = &mut self.router {
            router.forget(now, worker);
        }
        let old = &self.workers[worker.index()];
        if let Some(wake) = old.wake {
            self.wakes.remove(&(wake, worker));
        }
        let stirs = old.stirs;
        let mut new = Worker::new(old.engine.config.clone(), worker.index(), old.engine.next_transfer());
        if let Some(lower) = new.engine.lower.as_deref_mut() {
            // What is shared outlives it.
            lower.share();
        }
        new.engine.number_on_from(&old.engine);
        new.stirs = stirs;
        self.workers[worker.index()] = new;
        self.outbox.push_back(FleetCommand::Forget(worker));
    }

    fn lose(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        self.starts.retain(|&(_, starting)| starting != worker);
        let mut affected: Vec<(RequestId, u32)> = Vec::new();
        for (&request, journey) in &self.journeys {
            let hands_off = |handoff: Handoff| handoff.is_between(worker);
            if journey.place == Place::At(worker) || journey.handoff.is_some_and(hands_off) {
                let engine = &self.workers[worker.index()].engine;
                affected.push((request, engine.output_tokens(request).unwrap_or(0)));
            }
        }
        for &(request, _) in &affected {
            self.tell(now, worker, Input::Withdraw(request), sink).expect("whoever is not there is no error");
        }
        self.empty(now, worker, sink);
        self.set_state(now, worker, WorkerState::Lost, sink);
        for (request, produced) in affected {
            self.lost_at(now, request, (worker, produced), sink);
        }
    }

    /// A request, or its handoff, was at a worker that is lost.
    fn lost_at(
        &mut self,
        now: SimTime,
        request: RequestId,
        (worker, produced): (WorkerId, u32),
        sink: Sink<'_>,
    ) {
        let source_first = self.config.handoff.order == HandoffOrder::SourceFirst;
        let Some(journey) = self.journeys.get_mut(&request) else { return };
        let (place, handoff) = (journey.place, journey.handoff);
        if place == Place::At(worker) {
            journey.lost(produced);
            journey.place = Place::Between;
            self.end_handoff(now, request, HandoffPhase::Failed(HandoffFailure::WorkerLost), sink);
            self.forget_bookings(now, request);
            return self.send_out(now, request, sink);
        }
        let Some(handoff) = handoff else { return };
        if handoff.source == worker && matches!(place, Place::At(_) | Place::Ended) {
            // The source had only to let go.
            return self.end_handoff(now, request, HandoffPhase::SourceReleased, sink);
        }
        if place == Place::Ended {
            // The source holds on until it hears of the end, or its lease is over.
            return;
        }
        journey.moved = true;
        if handoff.source != worker && handoff.is_held && source_first {
            return self.replace_destination(now, request, sink);
        }
        self.held.retain(|&other| other != request);
        self.fail(now, request, HandoffFailure::WorkerLost, sink);
    }
}
