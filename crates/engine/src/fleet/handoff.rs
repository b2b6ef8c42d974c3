//! From prefill to decode (rules H1–H5): who holds what, who is told, and what becomes of it when something goes
//! wrong. Physical ownership stays with the workers; here is only how far each handoff is.
//!
//! ```text
//! source first       prefill ─ source held ─(prefilled)→ destination reserved ─(reserved)→ transferring ─ activated
//! destination first  destination reserved ─(reserved)→ prefill ─ source held ─ transferring ─ activated
//! both               activated ─(received)→ source released
//! ```
//!
//! In parentheses are messages, which may be late, doubled or lost. Each carries the handoff's generation: one that
//! does not fit means nothing, and is counted (rule H2). A side that has held blocks for the other as long as it may
//! lets go of them, and whoever has the request computes it (rule H3).

use tierscope_units::{HandoffId, PassId, RequestId, SimTime, WorkerId};

use super::journey::Handoff;
use super::{Fleet, FleetCommand, HandoffBytes, HandoffCopy, HandoffOrder, Message, Place, Sink};
use crate::command::ContextPlan;
use crate::fact::{CopyFailure, Fact, HandoffFact, HandoffFailure, HandoffPhase, MessageKind};
use crate::input::{Input, Leg};
use crate::router::Stage;

impl Fleet {
    /// The prompt goes to the worker that computes it.
    pub(super) fn enter_source(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.at_source = true;
        let source = handoff.source;
        self.enter(now, request, source, Leg::Prefill, sink);
    }

    /// The request goes to the worker that answers it, and reserves its slots there when there is room.
    pub(super) fn enter_destination(
        &mut self,
        now: SimTime,
        request: RequestId,
        worker: WorkerId,
        sink: Sink<'_>,
    ) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.at_destination = true;
        self.enter(now, request, worker, Leg::Decode, sink);
    }

    /// A prompt is computed and held.
    pub(super) fn source_held(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let order = self.config.handoff.order;
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.is_held = true;
        let (copies, has_crossed) = (handoff.copies, handoff.phase == HandoffPhase::Transferring);
        match order {
            HandoffOrder::SourceFirst => {
                self.reach(now, request, HandoffPhase::SourceHeld, sink);
                self.start_lease(now, request);
                self.prefill_is_over(now, request);
                self.find_destination(now, request, sink);
            }
            HandoffOrder::DestinationFirst => {
                self.prefill_is_over(now, request);
                // Its layers may be on their way, or all there.
                if copies {
                    return;
                }
                if has_crossed {
                    return self.activate(now, request, sink);
                }
                self.reach(now, request, HandoffPhase::SourceHeld, sink);
                self.start_copy(now, request, sink);
            }
        }
    }

    fn prefill_is_over(&mut self, now: SimTime, request: RequestId) {
        if let Some(router) = &mut self.router {
            router.prefilled(now, request);
        }
    }

    /// A computed prompt looks for a worker that answers it.
    pub(super) fn find_destination(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(worker) = self.choose(now, request, Leg::Decode, Stage::Decode, sink) else { return };
        self.set_place(request, Place::Between);
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.destination = Some(worker);
        self.send(request, MessageKind::Prefilled);
    }

    /// The destination has its slots.
    pub(super) fn destination_reserved(
        &mut self,
        now: SimTime,
        worker: WorkerId,
        plan: ContextPlan,
        sink: Sink<'_>,
    ) {
        let request = plan.request;
        let Some(handoff) = self.handoff_mut(request) else { return };
        if handoff.destination != Some(worker) {
            return;
        }
        (handoff.missing_blocks, handoff.hit_blocks) = (plan.missing_blocks, plan.hit_blocks);
        self.reach(now, request, HandoffPhase::DestinationReserved, sink);
        self.start_lease(now, request);
        self.send(request, MessageKind::Reserved);
    }

    /// The last part of a prompt is in the pass that begins: its layers move as they are computed, if they may.
    pub(super) fn last_part(
        &mut self,
        now: SimTime,
        request: RequestId,
        (worker, pass): (WorkerId, PassId),
        sink: Sink<'_>,
    ) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        let fits = handoff.phase == HandoffPhase::DestinationReserved && handoff.source == worker;
        if fits && !handoff.copies {
            handoff.within = Some(pass);
            self.start_copy(now, request, sink);
        }
    }

    fn start_copy(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let bytes = self.config.handoff.bytes;
        self.reach(now, request, HandoffPhase::Transferring, sink);
        let Some(handoff) = self.handoff_mut(request) else { return };
        let Some(destination) = handoff.destination else { return };
        handoff.copies = true;
        let Handoff { id, generation, source, within, missing_blocks, hit_blocks, .. } = *handoff;
        let blocks = match bytes {
            HandoffBytes::DestinationMissing => missing_blocks,
            HandoffBytes::FullPrompt => missing_blocks + hit_blocks,
        };
        let started = HandoffFact::CopyStarted { handoff: id, generation, source, destination, blocks };
        self.say(now, Fact::Handoff(started), sink);
        let copy = HandoffCopy { request, handoff: id, generation, source, destination, blocks, within };
        self.outbox.push_back(FleetCommand::StartHandoffCopy(copy));
    }

    /// The blocks have crossed, or have not.
    pub(super) fn handoff_copy_ended(
        &mut self,
        now: SimTime,
        (request, id, generation): (RequestId, HandoffId, u32),
        end: Result<(), CopyFailure>,
        sink: Sink<'_>,
    ) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        if handoff.id != id || handoff.generation != generation || !handoff.copies {
            return;
        }
        handoff.copies = false;
        match (end, handoff.is_held) {
            (Err(_), _) => self.fail(now, request, HandoffFailure::Copy, sink),
            (Ok(()), true) => self.activate(now, request, sink),
            // The pass that computes the last part has not ended: nothing is complete before that.
            (Ok(()), false) => {}
        }
    }

    /// Everything is at the destination: the request goes on there, and the source may let go.
    fn activate(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        let Some(destination) = handoff.destination else { return };
        self.set_place(request, Place::At(destination));
        self.reach(now, request, HandoffPhase::Activated, sink);
        self.tell(now, destination, Input::ContextArrived { request, end: Ok(()) }, sink)
            .expect("the destination waits for what it reserved slots for");
        self.send(request, MessageKind::Received);
    }

    /// A message came.
    pub(super) fn message(&mut self, now: SimTime, message: Message, sink: Sink<'_>) {
        let Message { handoff: id, generation, request, kind } = message;
        let order = self.config.handoff.order;
        let known = self.handoff_mut(request).map(|handoff| *handoff);
        let Some(handoff) = known.filter(|known| known.id == id && known.generation == generation) else {
            return self.ignore(now, message, true, sink);
        };
        match (kind, handoff.phase) {
            (MessageKind::Prefilled, HandoffPhase::SourceHeld) if !handoff.at_destination => {
                if let Some(worker) = handoff.destination {
                    self.enter_destination(now, request, worker, sink);
                }
            }
            (MessageKind::Reserved, HandoffPhase::DestinationReserved)
                if order == HandoffOrder::SourceFirst =>
            {
                self.start_copy(now, request, sink);
            }
            (MessageKind::Reserved, HandoffPhase::DestinationReserved) if !handoff.at_source => {
                self.enter_source(now, request, sink);
            }
            (MessageKind::Received, HandoffPhase::Activated) => {
                self.end_handoff(now, request, HandoffPhase::SourceReleased, sink);
            }
            _ => self.ignore(now, message, false, sink),
        }
    }

    fn ignore(&mut self, now: SimTime, message: Message, stale: bool, sink: Sink<'_>) {
        let Message { handoff, generation, kind, .. } = message;
        let ignored = HandoffFact::MessageIgnored { handoff, generation, message: kind, stale };
        self.say(now, Fact::Handoff(ignored), sink);
    }

    fn send(&mut self, request: RequestId, kind: MessageKind) {
        let Some(&mut Handoff { id, generation, .. }) = self.handoff_mut(request) else { return };
        self.outbox.push_back(FleetCommand::Send(Message { handoff: id, generation, request, kind }));
    }

    /// From now on blocks are held for the other side, and not for ever.
    fn start_lease(&mut self, now: SimTime, request: RequestId) {
        let until = self.config.handoff.lease.and_then(|lease| now.checked_add(lease));
        let Some(handoff) = self.handoff_mut(request) else { return };
        if let (None, Some(until)) = (handoff.lease_until, until) {
            handoff.lease_until = Some(until);
            self.leases.insert((until, request));
        }
    }

    /// One side has held blocks for the other as long as it may.
    pub(super) fn lease_expired(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.lease_until = None;
        match handoff.phase {
            // Everything has come, and only the source has not heard of it.
            HandoffPhase::Activated => self.end_handoff(now, request, HandoffPhase::SourceReleased, sink),
            _ => self.fail(now, request, HandoffFailure::LeaseExpired, sink),
        }
    }

    /// A handoff failed: whoever has the request computes it, or another worker that answers does.
    pub(super) fn fail(&mut self, now: SimTime, request: RequestId, why: HandoffFailure, sink: Sink<'_>) {
        let Some(Handoff { destination, at_destination, .. }) = self.handoff_mut(request).copied() else {
            return;
        };
        let heir = destination.filter(|&worker| at_destination && self.is_there(worker));
        if let Some(worker) = heir {
            self.set_place(request, Place::At(worker));
        }
        self.end_handoff(now, request, HandoffPhase::Failed(why), sink);
        match heir {
            Some(worker) => {
                let end = Err(CopyFailure::Aborted);
                self.tell(now, worker, Input::ContextArrived { request, end }, sink)
                    .expect("the destination waits for a context");
            }
            None => {
                self.forget_bookings(now, request);
                self.held.retain(|&other| other != request);
                match why {
                    HandoffFailure::WorkerLost => self.send_out(now, request, sink),
                    _ => self.send_whole(now, request, self.stage_of_whole(), sink),
                }
            }
        }
    }

    pub(super) fn forget_bookings(&mut self, now: SimTime, request: RequestId) {
        if let Some(router) = &mut self.router {
            router.ended(now, request);
        }
    }

    /// A handoff is over, in one way or another: what is held for it is freed, except by a worker that goes on with
    /// the request.
    pub(super) fn end_handoff(
        &mut self,
        now: SimTime,
        request: RequestId,
        phase: HandoffPhase,
        sink: Sink<'_>,
    ) {
        self.reach(now, request, phase, sink);
        let Some(journey) = self.journeys.get_mut(&request) else { return };
        let Some(handoff) = journey.handoff.take() else { return };
        let place = journey.place;
        if place == Place::Ended {
            self.journeys.remove(&request);
        }
        if let Some(until) = handoff.lease_until {
            self.leases.remove(&(until, request));
        }
        if handoff.copies {
            self.outbox.push_back(FleetCommand::CancelHandoffCopy { handoff: handoff.id });
        }
        // One that drains may have waited for this.
        for worker in [Some(handoff.source), handoff.destination].into_iter().flatten() {
            self.stir(worker);
        }
        if handoff.at_source && self.is_there(handoff.source) && place != Place::At(handoff.source) {
            self.tell_if_it_can(now, handoff.source, Input::Withdraw(request), sink);
        }
        if let Some(worker) = handoff.destination
            && handoff.at_destination
            && self.is_there(worker)
            && !matches!(place, Place::At(_) | Place::Ended)
        {
            self.tell_if_it_can(now, worker, Input::Withdraw(request), sink);
        }
    }

    /// Tells a worker something that may have no meaning for it any more.
    fn tell_if_it_can(&mut self, now: SimTime, worker: WorkerId, input: Input<'_>, sink: Sink<'_>) {
        // The only error is that there is nothing to do.
        let _nothing_to_do = self.tell(now, worker, input, sink);
    }

    /// The request was cancelled, or refused, before it was at the worker that answers it.
    pub(super) fn abandon_handoff(
        &mut self,
        now: SimTime,
        request: RequestId,
        cancelled: bool,
        sink: Sink<'_>,
    ) {
        if self.handoff_mut(request).is_some() {
            let failed = HandoffPhase::Failed(HandoffFailure::Refused);
            let phase = if cancelled { HandoffPhase::Cancelled } else { failed };
            self.end_handoff(now, request, phase, sink);
        }
    }

    /// The handoff is in a phase, and says so.
    pub(super) fn reach(&mut self, now: SimTime, request: RequestId, phase: HandoffPhase, sink: Sink<'_>) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.phase = phase;
        let Handoff { id, generation, .. } = *handoff;
        let reached = HandoffFact::Reached { handoff: id, generation, request, phase };
        self.say(now, Fact::Handoff(reached), sink);
    }

    /// The destination is lost while the source holds the prompt: another one is found, under a new generation.
    pub(super) fn replace_destination(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(handoff) = self.handoff_mut(request) else { return };
        handoff.generation += 1;
        let copied = std::mem::take(&mut handoff.copies);
        (handoff.destination, handoff.at_destination) = (None, false);
        let id = handoff.id;
        if copied {
            self.outbox.push_back(FleetCommand::CancelHandoffCopy { handoff: id });
        }
        self.forget_bookings(now, request);
        self.reach(now, request, HandoffPhase::SourceHeld, sink);
        self.find_destination(now, request, sink);
    }

    pub(super) fn handoff_mut(&mut self, request: RequestId) -> Option<&mut Handoff> {
        self.journeys.get_mut(&request)?.handoff.as_mut()
    }
}
