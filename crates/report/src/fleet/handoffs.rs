//! How handoffs went (rules H1–H4): how many, how long each step took, what went wrong.

use std::collections::{BTreeMap, BTreeSet};

use tierscope_engine::{HandoffFact, HandoffFailure, HandoffPhase};
use tierscope_units::{HandoffId, RequestId};

use super::ByWord;
use crate::report::{HandoffCounts, HandoffSteps};
use crate::spread::Spread;

/// All handoffs so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handoffs {
    started: u64,
    completed: u64,
    cancelled: u64,
    failed: u64,
    failures: ByWord,
    destinations_replaced: u64,
    duplicate_messages: u64,
    stale_messages: u64,
    blocks: u64,
    prefilled_after_failure_tokens: u64,
    under_way_max: usize,
    to_source_held: Spread,
    to_destination_reserved: Spread,
    to_transferring: Spread,
    to_activated: Spread,
    to_source_released: Spread,
    delay: Spread,
    held: Spread,
    open: BTreeMap<HandoffId, Open>,
    /// The handoff of each request that has one.
    of: BTreeMap<RequestId, HandoffId>,
    /// Requests whose handoff failed, until they end.
    failed_requests: BTreeSet<RequestId>,
}

/// A handoff that is not over.
#[derive(Clone, Copy, Debug)]
struct Open {
    request: RequestId,
    generation: u32,
    /// When it reached its newest phase.
    since: u64,
    /// When its prompt was computed.
    prompt_held: Option<u64>,
    /// Blocks that move.
    blocks: u32,
}

impl Handoffs {
    pub(super) fn take(&mut self, at: u64, fact: HandoffFact) {
        match fact {
            HandoffFact::Reached { handoff, generation, request, phase } => {
                self.reach(at, (handoff, generation), request, phase);
            }
            HandoffFact::CopyStarted { handoff, blocks, .. } => {
                if let Some(open) = self.open.get_mut(&handoff) {
                    open.blocks = blocks;
                }
            }
            HandoffFact::MessageIgnored { stale: true, .. } => self.stale_messages += 1,
            HandoffFact::MessageIgnored { .. } => self.duplicate_messages += 1,
        }
    }

    fn reach(
        &mut self,
        at: u64,
        (handoff, generation): (HandoffId, u32),
        request: RequestId,
        phase: HandoffPhase,
    ) {
        if phase == HandoffPhase::Preparing {
            let open = Open { request, generation, since: at, prompt_held: None, blocks: 0 };
            self.started += 1;
            self.open.insert(handoff, open);
            self.of.insert(request, handoff);
            self.under_way_max = self.under_way_max.max(self.open.len());
            return;
        }
        let Some(open) = self.open.get_mut(&handoff) else { return };
        let step = at.saturating_sub(open.since);
        let since_held = open.prompt_held.map(|held| at.saturating_sub(held));
        open.since = at;
        if open.generation != generation {
            // Back to its source, which holds the prompt all the time: no step of its own.
            open.generation = generation;
            self.destinations_replaced += 1;
            return;
        }
        match phase {
            HandoffPhase::SourceHeld => self.to_source_held.add(step),
            HandoffPhase::DestinationReserved => self.to_destination_reserved.add(step),
            HandoffPhase::Transferring => self.to_transferring.add(step),
            HandoffPhase::Activated => {
                self.blocks += u64::from(open.blocks);
                self.to_activated.add(step);
                if let Some(delay) = since_held {
                    self.delay.add(delay);
                }
            }
            HandoffPhase::SourceReleased => {
                self.completed += 1;
                self.to_source_released.add(step);
                if let Some(held) = since_held {
                    self.held.add(held);
                }
            }
            HandoffPhase::Cancelled => self.cancelled += 1,
            HandoffPhase::Failed(why) => {
                self.failed += 1;
                *self.failures.entry(reason(why)).or_default() += 1;
                self.failed_requests.insert(request);
            }
            HandoffPhase::Preparing => {}
        }
        if phase.is_over() {
            self.close(handoff);
        }
    }

    fn close(&mut self, handoff: HandoffId) {
        let Some(open) = self.open.remove(&handoff) else { return };
        if self.of.get(&open.request) == Some(&handoff) {
            self.of.remove(&open.request);
        }
    }

    /// A request's prompt is computed. Under layers on their way this is not a phase of its own.
    pub(super) fn prompt_held(&mut self, at: u64, request: RequestId) {
        let handoff = self.of.get(&request).and_then(|handoff| self.open.get_mut(handoff));
        if let Some(open) = handoff {
            open.prompt_held = Some(at);
        }
    }

    /// Tokens of a prompt were computed, perhaps because its handoff failed.
    pub(super) fn prefilled(&mut self, request: RequestId, tokens: u32) {
        if self.failed_requests.contains(&request) {
            self.prefilled_after_failure_tokens += u64::from(tokens);
        }
    }

    pub(super) fn request_ended(&mut self, request: RequestId) {
        self.failed_requests.remove(&request);
    }

    pub(crate) fn counts(&self, bytes_per_block: u64) -> HandoffCounts {
        HandoffCounts {
            started: self.started,
            completed: self.completed,
            cancelled: self.cancelled,
            failed: self.failed,
            failures: self.failures.clone(),
            under_way_at_end: self.open.len() as u64,
            under_way_max: self.under_way_max as u64,
            destinations_replaced: self.destinations_replaced,
            blocks: self.blocks,
            bytes: self.blocks.saturating_mul(bytes_per_block),
            duplicate_messages: self.duplicate_messages,
            stale_messages: self.stale_messages,
            prefilled_after_failure_tokens: self.prefilled_after_failure_tokens,
            delay_ns: self.delay.summary(),
            held_ns: self.held.summary(),
            steps: HandoffSteps {
                source_held_ns: self.to_source_held.summary(),
                destination_reserved_ns: self.to_destination_reserved.summary(),
                transferring_ns: self.to_transferring.summary(),
                activated_ns: self.to_activated.summary(),
                source_released_ns: self.to_source_released.summary(),
            },
        }
    }
}

fn reason(why: HandoffFailure) -> &'static str {
    match why {
        HandoffFailure::WorkerLost => "worker_lost",
        HandoffFailure::Copy => "copy",
        HandoffFailure::LeaseExpired => "lease_expired",
        HandoffFailure::Refused => "refused",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierscope_engine::MessageKind;
    use tierscope_units::WorkerId;

    const FIRST: RequestId = RequestId(0);

    fn reach(handoffs: &mut Handoffs, at: u64, (handoff, generation): (u64, u32), phase: HandoffPhase) {
        let (handoff, request) = (HandoffId(handoff), FIRST);
        handoffs.take(at, HandoffFact::Reached { handoff, generation, request, phase });
    }

    #[test]
    fn each_step_is_timed_from_the_one_before() {
        use HandoffPhase::{
            Activated, DestinationReserved, Preparing, SourceHeld, SourceReleased, Transferring,
        };
        let mut handoffs = Handoffs::default();
        reach(&mut handoffs, 0, (0, 0), Preparing);
        handoffs.prompt_held(10, FIRST);
        reach(&mut handoffs, 10, (0, 0), SourceHeld);
        reach(&mut handoffs, 12, (0, 0), DestinationReserved);
        // The destination is lost: another one, under a new generation.
        reach(&mut handoffs, 20, (0, 1), SourceHeld);
        reach(&mut handoffs, 25, (0, 1), DestinationReserved);
        reach(&mut handoffs, 26, (0, 1), Transferring);
        let (handoff, generation, blocks) = (HandoffId(0), 1, 7);
        let (source, destination) = (WorkerId(0), WorkerId(1));
        handoffs.take(26, HandoffFact::CopyStarted { handoff, generation, source, destination, blocks });
        reach(&mut handoffs, 40, (0, 1), Activated);
        reach(&mut handoffs, 43, (0, 1), SourceReleased);
        let message = MessageKind::Received;
        for stale in [true, false, true] {
            handoffs.take(50, HandoffFact::MessageIgnored { handoff, generation, message, stale });
        }
        let counts = handoffs.counts(100);
        assert_eq!((counts.started, counts.completed, counts.destinations_replaced), (1, 1, 1));
        assert_eq!((counts.blocks, counts.bytes, counts.under_way_at_end), (7, 700, 0));
        assert_eq!((counts.stale_messages, counts.duplicate_messages), (2, 1));
        assert_eq!((counts.delay_ns.max, counts.held_ns.max), (30, 33));
        let steps = counts.steps;
        let reserved = steps.destination_reserved_ns;
        assert_eq!((reserved.count, reserved.min, reserved.max), (2, 2, 5));
        assert_eq!((steps.source_held_ns.max, steps.source_held_ns.count), (10, 1));
        assert_eq!((steps.transferring_ns.max, steps.activated_ns.max), (1, 14));
        assert_eq!(steps.source_released_ns.max, 3);
        assert!(handoffs.open.is_empty() && handoffs.of.is_empty(), "only what is not over is kept");
    }

    #[test]
    fn what_is_computed_after_a_failure_is_counted_until_the_request_ends() {
        let mut handoffs = Handoffs::default();
        handoffs.prefilled(FIRST, 100);
        reach(&mut handoffs, 0, (0, 0), HandoffPhase::Preparing);
        reach(&mut handoffs, 5, (0, 0), HandoffPhase::Failed(HandoffFailure::Copy));
        handoffs.prefilled(FIRST, 40);
        handoffs.request_ended(FIRST);
        handoffs.prefilled(FIRST, 9);
        let counts = handoffs.counts(1);
        assert_eq!((counts.failed, counts.failures.get("copy")), (1, Some(&1)));
        assert_eq!((counts.prefilled_after_failure_tokens, counts.blocks), (40, 0));
        assert!(handoffs.failed_requests.is_empty());
    }
}
