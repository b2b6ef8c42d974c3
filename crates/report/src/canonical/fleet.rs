//! The facts of several workers: whose facts follow, where requests go, handoffs, workers that come and go.

use tierscope_engine::{
    CopyFailure, Fact, HandoffFact, HandoffFailure, HandoffPhase, Leg, MessageKind, RouteFact, WorkerState,
};
use tierscope_units::{Digester, WorkerId};

use super::below::failure;
use super::{Tag, blocks, head, pair};
use tierscope_engine::FactLog;

/// From here on the facts are those of this worker, or of none alone.
pub(crate) fn turn(worker: Option<WorkerId>, out: &mut Digester) {
    let worker = worker.map_or(u32::MAX, |worker| u32::from(worker.0));
    out.words(&[head(Tag::Turn, worker)]);
}

/// The two sides of a handoff within a worker.
pub(super) fn side(at: u64, fact: &Fact, log: &FactLog, out: &mut Digester) {
    match *fact {
        Fact::SourceHeld { request, blocks: list } => {
            out.words(&[head(Tag::SourceHeld, request.0), at, u64::from(list.len())]);
            blocks(list, log, out);
        }
        Fact::SourceReleased { request, released } => {
            out.words(&[head(Tag::SourceReleased, request.0), at, u64::from(released)]);
        }
        Fact::DestinationReserved { request, hit_blocks, reserved_blocks } => {
            out.words(&[head(Tag::DestinationReserved, request.0), at, pair(hit_blocks, reserved_blocks)]);
        }
        Fact::ContextArrived { request, end } => {
            out.words(&[head(Tag::ContextArrived, request.0), at, ended(end)]);
        }
        Fact::Joined { request, context_tokens } => {
            out.words(&[head(Tag::Joined, request.0), at, u64::from(context_tokens)]);
        }
        Fact::Withdrawn { request, released } => {
            out.words(&[head(Tag::Withdrawn, request.0), at, u64::from(released)]);
        }
        _ => unreachable!("only facts of a handoff's sides are sent here"),
    }
}

/// What belongs to no worker alone.
pub(super) fn between(at: u64, fact: &Fact, out: &mut Digester) {
    match *fact {
        Fact::Route(RouteFact::Chosen {
            request,
            worker,
            leg: on,
            replica,
            candidates,
            cost_milliblocks,
            believed,
            resident_g1_blocks,
        }) => {
            out.words(&[
                head(Tag::Routed, request.0),
                at,
                pair(u32::from(worker.0), leg(on)),
                pair(replica, candidates),
                cost_milliblocks as u64,
                pair(believed.g1_blocks, believed.g2_blocks),
                pair(believed.g3_blocks, believed.g4_blocks),
                u64::from(resident_g1_blocks),
            ]);
        }
        Fact::Route(RouteFact::Held { request, leg: on }) => {
            out.words(&[head(Tag::HeldAtRouter, request.0), at, u64::from(leg(on))]);
        }
        Fact::Handoff(HandoffFact::Reached { handoff, generation, request, phase: reached }) => {
            let head = head(Tag::HandoffReached, request.0);
            out.words(&[head, at, handoff.0, pair(generation, phase(reached))]);
        }
        Fact::Handoff(HandoffFact::CopyStarted { handoff, generation, source, destination, blocks }) => {
            let ends = pair(u32::from(source.0), u32::from(destination.0));
            out.words(&[head(Tag::HandoffCopy, 0), at, handoff.0, pair(generation, blocks), ends]);
        }
        Fact::Handoff(HandoffFact::MessageIgnored { handoff, generation, message: kind, stale }) => {
            let which = pair(message(kind), u32::from(stale));
            out.words(&[head(Tag::MessageIgnored, 0), at, handoff.0, u64::from(generation), which]);
        }
        Fact::Worker { worker, state: now } => {
            out.words(&[head(Tag::Worker, u32::from(worker.0)), at, u64::from(state(now))]);
        }
        _ => unreachable!("only facts between workers are sent here"),
    }
}

fn ended(end: Result<(), CopyFailure>) -> u64 {
    match end {
        Ok(()) => 0,
        Err(why) => 1 + u64::from(failure(why)),
    }
}

fn leg(leg: Leg) -> u32 {
    match leg {
        Leg::Whole => 0,
        Leg::Prefill => 1,
        Leg::Decode => 2,
    }
}

fn phase(phase: HandoffPhase) -> u32 {
    match phase {
        HandoffPhase::Preparing => 0,
        HandoffPhase::SourceHeld => 1,
        HandoffPhase::DestinationReserved => 2,
        HandoffPhase::Transferring => 3,
        HandoffPhase::Activated => 4,
        HandoffPhase::SourceReleased => 5,
        HandoffPhase::Cancelled => 6,
        HandoffPhase::Failed(HandoffFailure::WorkerLost) => 7,
        HandoffPhase::Failed(HandoffFailure::Copy) => 8,
        HandoffPhase::Failed(HandoffFailure::LeaseExpired) => 9,
        HandoffPhase::Failed(HandoffFailure::Refused) => 10,
    }
}

fn message(kind: MessageKind) -> u32 {
    match kind {
        MessageKind::Prefilled => 0,
        MessageKind::Reserved => 1,
        MessageKind::Received => 2,
    }
}

fn state(state: WorkerState) -> u32 {
    match state {
        WorkerState::Absent => 0,
        WorkerState::Starting => 1,
        WorkerState::Ready => 2,
        WorkerState::Draining => 3,
        WorkerState::Lost => 4,
    }
}
