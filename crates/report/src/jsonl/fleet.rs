//! Lines about several workers: where requests go, handoffs, workers that come and go.

use tierscope_engine::{Fact, HandoffFact, RouteFact};

use super::Line;

impl Line<'_> {
    /// One side of a handoff, within a worker.
    pub(super) fn side(&mut self, fact: &Fact) {
        match *fact {
            Fact::SourceHeld { request, blocks } => {
                self.number("request", request.0);
                self.blocks("blocks", blocks);
            }
            Fact::SourceReleased { request, released } | Fact::Withdrawn { request, released } => {
                self.number("request", request.0);
                self.number("released_blocks", released);
            }
            Fact::DestinationReserved { request, hit_blocks, reserved_blocks } => {
                self.number("request", request.0);
                self.number("hit_blocks", hit_blocks);
                self.number("reserved_blocks", reserved_blocks);
            }
            Fact::ContextArrived { request, end } => {
                self.number("request", request.0);
                match end {
                    Ok(()) => self.word("end", "completed"),
                    Err(failure) => {
                        self.word("end", "failed");
                        self.word("failure", failure.name());
                    }
                }
            }
            Fact::Joined { request, context_tokens } => {
                self.number("request", request.0);
                self.number("context_tokens", context_tokens);
            }
            _ => {}
        }
    }

    /// What belongs to no worker alone.
    pub(super) fn between(&mut self, fact: &Fact) {
        match *fact {
            Fact::Route(RouteFact::Chosen {
                request,
                worker,
                leg,
                replica,
                candidates,
                cost_milliblocks,
                believed,
                resident_g1_blocks,
            }) => {
                self.number("request", request.0);
                self.word("leg", leg.name());
                self.number("to_worker", worker.0);
                self.number("replica", replica);
                self.number("candidates", candidates);
                self.number("cost_milliblocks", cost_milliblocks);
                self.number("believed_g1_blocks", believed.g1_blocks);
                self.number("believed_g2_blocks", believed.g2_blocks);
                self.number("believed_g3_blocks", believed.g3_blocks);
                self.number("believed_g4_blocks", believed.g4_blocks);
                self.number("resident_g1_blocks", resident_g1_blocks);
            }
            Fact::Route(RouteFact::Held { request, leg }) => {
                self.number("request", request.0);
                self.word("leg", leg.name());
            }
            Fact::Handoff(handoff) => self.handoff(handoff),
            Fact::Worker { worker, state } => {
                self.number("worker", worker.0);
                self.word("state", state.name());
            }
            _ => {}
        }
    }

    fn handoff(&mut self, fact: HandoffFact) {
        match fact {
            HandoffFact::Reached { handoff, generation, request, phase } => {
                self.number("handoff", handoff.0);
                self.number("generation", generation);
                self.number("request", request.0);
                self.word("phase", phase.name());
            }
            HandoffFact::CopyStarted { handoff, generation, source, destination, blocks } => {
                self.number("handoff", handoff.0);
                self.number("generation", generation);
                self.number("source_worker", source.0);
                self.number("destination_worker", destination.0);
                self.number("blocks", blocks);
            }
            HandoffFact::MessageIgnored { handoff, generation, message, stale } => {
                self.number("handoff", handoff.0);
                self.number("generation", generation);
                self.word("message", message.name());
                self.number("stale", stale);
            }
        }
    }
}

/// The kind of a router's decision.
pub(super) fn route(fact: &RouteFact) -> &'static str {
    match fact {
        RouteFact::Chosen { .. } => "routed",
        RouteFact::Held { .. } => "held_at_router",
    }
}

/// The kind of a step of a handoff.
pub(super) fn handoff(fact: &HandoffFact) -> &'static str {
    match fact {
        HandoffFact::Reached { .. } => "handoff_reached",
        HandoffFact::CopyStarted { .. } => "handoff_copy_started",
        HandoffFact::MessageIgnored { .. } => "message_ignored",
    }
}
