//! What the fleet reads off its workers' facts: what the router has to know, and what moves a request on.

use tierscope_units::{Idx, PassId, RequestId, SequenceHash, SimTime, WorkerId};

use super::{Fleet, Place, Sink};
use crate::fact::{BlockList, Fact, FactLog, PassStart};
use crate::input::Leg;
use crate::lower::Tier;
use crate::machine::Engine;
use crate::router::{CacheEvent, Publish, Router, RouterKind, Stage};

/// Something that a worker's fact sets off at another worker.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reaction {
    /// A prompt is computed.
    Held(RequestId),
    /// A request has ended.
    Ended { request: RequestId, cancelled: bool },
    /// The last part of a prompt is in the pass that begins.
    LastPart { request: RequestId, worker: WorkerId, pass: PassId },
}

impl Reaction {
    /// What one fact alone sets off.
    fn to(fact: &Fact) -> Option<Self> {
        match *fact {
            Fact::Finished { request, .. } | Fact::Rejected { request, .. } => {
                Some(Self::Ended { request, cancelled: false })
            }
            Fact::Cancelled { request, .. } => Some(Self::Ended { request, cancelled: true }),
            Fact::SourceHeld { request, .. } => Some(Self::Held(request)),
            _ => None,
        }
    }
}

/// Events of a worker's cache that have not left it.
#[derive(Clone, Debug, Default)]
pub(super) struct Outgoing {
    own: Events,
    /// Of tiers that others write too: these leave at once, or they would overtake each other.
    shared: Events,
    /// Whether a pass is under way: under [`Publish::PassEnd`] nothing of its own leaves before it ends.
    in_pass: u32,
}

#[derive(Clone, Debug, Default)]
struct Events {
    hashes: Vec<SequenceHash>,
    /// The tier, whether content was stored, and how many of the hashes are meant.
    events: Vec<(Tier, bool, u32)>,
}

impl Fleet {
    /// Shows a worker's facts, after the fleet has read them.
    pub(super) fn show(&mut self, now: SimTime, worker: WorkerId, sink: Sink<'_>) {
        let state = &mut self.workers[worker.index()];
        let log = state.engine.facts();
        if log.is_empty() {
            return;
        }
        sink(log);
        if let Some(router) = &mut self.router {
            let pipelined = self.config.handoff.pipelined;
            let mut prefilled: Vec<RequestId> = Vec::new();
            // Other routers do not look at what workers hold.
            let listens = router.config().kind == RouterKind::KvAware;
            for (_, fact) in log.iter() {
                if listens {
                    note_cache(&state.engine, fact, &mut state.outgoing);
                }
                match *fact {
                    Fact::FirstToken { request } => router.prefilled(now, request),
                    Fact::Prefilled { request, tokens, computed_before, .. } if pipelined => {
                        let prompt = self.journeys.get(&request).map(|journey| journey.prompt_tokens);
                        prefilled.extend((prompt == Some(computed_before + tokens)).then_some(request));
                    }
                    Fact::PassStarted(PassStart { pass, .. }) => {
                        let last = |request| Reaction::LastPart { request, worker, pass };
                        self.reactions.extend(prefilled.drain(..).map(last));
                    }
                    _ => self.reactions.extend(Reaction::to(fact)),
                }
            }
            state.outgoing.leave(now, worker, router);
        }
        state.engine.clear_facts();
    }

    /// Does what the facts that were shown set off, and what that sets off.
    pub(super) fn react(&mut self, now: SimTime, sink: Sink<'_>) {
        while let Some(reaction) = self.reactions.pop_front() {
            match reaction {
                Reaction::Held(request) => self.source_held(now, request, sink),
                Reaction::Ended { request, cancelled } => self.ended(now, request, cancelled, sink),
                Reaction::LastPart { request, worker, pass } => {
                    self.last_part(now, request, (worker, pass), sink);
                }
            }
        }
    }

    /// A worker has finished a request, refused it, or heard that it was cancelled.
    fn ended(&mut self, now: SimTime, request: RequestId, cancelled: bool, sink: Sink<'_>) {
        let Some(journey) = self.journeys.get(&request) else { return };
        let refused = journey.place == Place::Between;
        if cancelled || refused {
            self.abandon_handoff(now, request, cancelled, sink);
        }
        self.end_journey(now, request);
    }

    /// The request is over; its entry stays as long as its handoff does.
    pub(super) fn end_journey(&mut self, now: SimTime, request: RequestId) {
        if let Some(router) = &mut self.router {
            router.ended(now, request);
        }
        let Some(journey) = self.journeys.get_mut(&request) else { return };
        journey.place = Place::Ended;
        if journey.handoff.is_none() {
            self.journeys.remove(&request);
        }
    }
}

/// Takes down what a fact means for what a worker has.
fn note_cache(engine: &Engine, fact: &Fact, outgoing: &mut Outgoing) {
    let log = engine.facts();
    match *fact {
        Fact::Stored { blocks, .. } | Fact::ClaimActivated { blocks, .. } => {
            outgoing.note(log, Tier::G1, blocks);
        }
        Fact::Removed { blocks } => outgoing.note_gone(engine, Tier::G1, blocks),
        Fact::TierStored { tier, blocks } => outgoing.note(log, tier, blocks),
        Fact::TierRemoved { tier, blocks } => outgoing.note_gone(engine, tier, blocks),
        Fact::PassStarted(_) => outgoing.in_pass += 1,
        Fact::PassEnded { .. } => outgoing.in_pass -= 1,
        _ => {}
    }
}

impl Outgoing {
    fn of(&mut self, tier: Tier) -> &mut Events {
        match tier {
            Tier::G1 | Tier::G2 => &mut self.own,
            Tier::G3 | Tier::G4 => &mut self.shared,
        }
    }

    fn note(&mut self, log: &FactLog, tier: Tier, blocks: BlockList) {
        let events = self.of(tier);
        events.events.push((tier, true, blocks.len()));
        events.hashes.extend(log.blocks(blocks).iter().map(|block| block.hash));
    }

    /// Slots were emptied. Content that lies in another slot too is not gone.
    fn note_gone(&mut self, engine: &Engine, tier: Tier, blocks: BlockList) {
        let events = self.of(tier);
        let before = events.hashes.len();
        let hashes = engine.facts().blocks(blocks).iter().map(|block| block.hash);
        events.hashes.extend(hashes.filter(|&hash| !engine.has_resident(tier, hash)));
        events.events.push((tier, false, (events.hashes.len() - before) as u32));
    }

    /// The events leave, if they may.
    fn leave(&mut self, now: SimTime, worker: WorkerId, router: &mut Router) {
        self.shared.leave(now, worker, router);
        if router.config().publish != Publish::PassEnd || self.in_pass == 0 {
            self.own.leave(now, worker, router);
        }
    }
}

impl Events {
    fn leave(&mut self, now: SimTime, worker: WorkerId, router: &mut Router) {
        let mut from = 0;
        for &(tier, stored, count) in &self.events {
            let hashes = &self.hashes[from..][..count as usize];
            from += count as usize;
            let event = match stored {
                true => CacheEvent::Stored { tier, hashes },
                false => CacheEvent::Removed { tier, hashes },
            };
            router.publish(now, worker, event);
        }
        self.events.clear();
        self.hashes.clear();
    }
}

impl Leg {
    /// The part of the router's question that this is.
    pub(super) fn stage(self) -> Stage {
        match self {
            Self::Whole => Stage::Whole,
            Self::Prefill => Stage::Prefill,
            Self::Decode => Stage::Decode,
        }
    }
}
