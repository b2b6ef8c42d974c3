//! Where requests go (rule H6): the router is asked for each leg, and a request that nobody can take waits at it.

use tierscope_units::{Idx, RequestId, SequenceHash, SimTime, WorkerId};

use super::journey::Handoff;
use super::{Fleet, HandoffOrder, Place, Role, Sink};
use crate::fact::{Fact, HandoffPhase, RouteFact, WorkerState};
use crate::input::{Entry, Input, Leg};
use crate::request::{Content, Identity};
use crate::router::{Ask, Choice, RouterKind, Stage, WorkerStage};

/// Buffers that are empty between calls.
#[derive(Clone, Default)]
pub(super) struct Scratch {
    content: Content,
    hashes: Vec<SequenceHash>,
}

impl Fleet {
    /// A request that is at the router goes where its first leg begins.
    pub(super) fn send_out(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let first = Leg::first(&self.config);
        if first == Leg::Prefill {
            return self.send_to_prefill(now, request, sink);
        }
        self.send_whole(now, request, first.stage(), sink);
    }

    /// A request goes to one worker that computes all of it.
    pub(super) fn send_whole(&mut self, now: SimTime, request: RequestId, stage: Stage, sink: Sink<'_>) {
        let Some(worker) = self.choose(now, request, Leg::Whole, stage, sink) else { return };
        if let Some(journey) = self.journeys.get_mut(&request) {
            journey.place = Place::At(worker);
        }
        self.enter(now, request, worker, Leg::Whole, sink);
    }

    /// A request goes to a worker that computes its prompt, and then to one that answers.
    fn send_to_prefill(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(source) = self.choose(now, request, Leg::Prefill, Stage::Prefill, sink) else { return };
        let mut destination = None;
        if self.config.handoff.order == HandoffOrder::DestinationFirst {
            destination = self.choose(now, request, Leg::Decode, Stage::Decode, sink);
            if destination.is_none() {
                // It stands at the router for both again.
                self.set_place(request, Place::AtRouter(Leg::Prefill));
                return;
            }
        }
        let id = self.next_handoff;
        self.next_handoff.0 += 1;
        let Some(journey) = self.journeys.get_mut(&request) else { return };
        journey.place = Place::Between;
        journey.handoff = Some(Handoff::new(id, source, destination));
        // A worker that computes prompts knows nothing of answers: it would say less than was asked for.
        self.announce(now, request, sink);
        self.reach(now, request, HandoffPhase::Preparing, sink);
        match destination {
            Some(worker) => self.enter_destination(now, request, worker, sink),
            None => self.enter_source(now, request, sink),
        }
    }

    pub(super) fn set_place(&mut self, request: RequestId, place: Place) {
        if let Some(journey) = self.journeys.get_mut(&request) {
            journey.place = place;
        }
    }

    /// The request comes to a worker.
    pub(super) fn enter(
        &mut self,
        now: SimTime,
        request: RequestId,
        worker: WorkerId,
        leg: Leg,
        sink: Sink<'_>,
    ) {
        let Some(journey) = self.journeys.get(&request) else { return };
        let arrival = journey.arrival(request, leg);
        let announces = arrival.entry == Entry::New;
        // An arrival looks at no tier: none has to be lent.
        let engine = &mut self.workers[worker.index()].engine;
        engine.facts.exchange_memory(&mut self.spare_log);
        engine.handle(now, Input::Arrive(arrival)).expect("a request is at one worker for one leg at a time");
        if announces && let Some(journey) = self.journeys.get_mut(&request) {
            journey.announced = true;
        }
        self.show(now, worker, sink);
        self.workers[worker.index()].engine.facts.exchange_memory(&mut self.spare_log);
        self.stir(worker);
    }

    /// Asks the router; `None` when no worker can take the request, which then waits.
    pub(super) fn choose(
        &mut self,
        now: SimTime,
        request: RequestId,
        leg: Leg,
        stage: Stage,
        sink: Sink<'_>,
    ) -> Option<WorkerId> {
        let choice = self.ask(now, request, stage);
        let Some(choice) = choice else {
            self.wait_at_router(now, request, leg, sink);
            return None;
        };
        let resident_g1_blocks = self.resident(choice.worker);
        let chosen = RouteFact::Chosen {
            request,
            worker: choice.worker,
            leg,
            replica: choice.replica,
            candidates: choice.candidates,
            cost_milliblocks: choice.cost_milliblocks,
            believed: choice.overlap,
            resident_g1_blocks,
        };
        self.say(now, Fact::Route(chosen), sink);
        Some(choice.worker)
    }

    fn ask(&mut self, now: SimTime, request: RequestId, stage: Stage) -> Option<Choice> {
        let journey = self.journeys.get_mut(&request)?;
        let router = self.router.as_mut()?;
        let block = self.config.engine.block_size_tokens;
        let hashes = &mut self.scratch.hashes;
        hashes.clear();
        if router.config().kind == RouterKind::KvAware && self.config.engine.prefix_caching {
            let identity = Identity {
                block_size_tokens: block,
                covers_next_token: self.config.engine.hash_lookahead_tokens() > 0,
            };
            // The last token is always computed: a whole prompt is never a hit.
            let full = (journey.prompt_tokens.saturating_sub(1) / block) as usize;
            let content = &mut self.scratch.content;
            content.begin(&journey.prompt, journey.root());
            hashes.extend_from_slice(content.hashes(full, identity));
        }
        let output = journey.output_tokens - journey.produced;
        let prompt_blocks = journey.prompt_tokens.div_ceil(block);
        let output_blocks_hint = output.div_ceil(block);
        let draw = journey.next_draw();
        let ask = Ask { request, hashes, prompt_blocks, output_blocks_hint, stage, draw };
        router.route(now, &ask)
    }

    /// Blocks of the prompt that was asked about last that a worker has in G1, as far as they are contiguous.
    fn resident(&self, worker: WorkerId) -> u32 {
        let pool = self.workers[worker.index()].engine.g1();
        let here = |hash: &&SequenceHash| pool.lookup(**hash).is_some();
        self.scratch.hashes.iter().take_while(here).count() as u32
    }

    fn wait_at_router(&mut self, now: SimTime, request: RequestId, leg: Leg, sink: Sink<'_>) {
        let Some(journey) = self.journeys.get_mut(&request) else { return };
        journey.place = Place::AtRouter(leg);
        self.announce(now, request, sink);
        self.say(now, Fact::Route(RouteFact::Held { request, leg }), sink);
        if !self.held.contains(&request) {
            self.held.push_back(request);
        }
    }

    /// Says that a request has arrived, unless a worker has said so or will.
    pub(super) fn announce(&mut self, now: SimTime, request: RequestId, sink: Sink<'_>) {
        let Some(journey) = self.journeys.get_mut(&request).filter(|journey| !journey.announced) else {
            return;
        };
        journey.announced = true;
        let (prompt_tokens, output_tokens) = (journey.prompt_tokens, journey.output_tokens);
        self.say(now, Fact::Arrived { request, prompt_tokens, output_tokens }, sink);
    }

    /// A worker has become ready: those that wait at the router are tried again, in order.
    pub(super) fn try_held(&mut self, now: SimTime, sink: Sink<'_>) {
        for request in std::mem::take(&mut self.held) {
            let Some(Place::AtRouter(leg)) = self.journeys.get(&request).map(|journey| journey.place) else {
                continue;
            };
            match leg {
                Leg::Prefill => self.send_to_prefill(now, request, sink),
                Leg::Decode => self.find_destination(now, request, sink),
                Leg::Whole => self.send_whole(now, request, self.stage_of_whole(), sink),
            }
        }
    }

    /// Who computes a request whole: workers that do both, or those that answer.
    pub(super) fn stage_of_whole(&self) -> Stage {
        if self.config.roles.contains(&Role::Decode) { Stage::Decode } else { Stage::Whole }
    }

    pub(super) fn join_router(&mut self, now: SimTime, worker: WorkerId) {
        let stage = match self.config.roles[worker.index()] {
            Role::Whole => WorkerStage::Whole,
            Role::Prefill => WorkerStage::Prefill,
            Role::Decode => WorkerStage::Decode,
        };
        if let Some(router) = &mut self.router {
            router.join(now, worker, stage);
        }
    }

    /// Whether a worker is there, ready or about to go.
    pub(super) fn is_there(&self, worker: WorkerId) -> bool {
        matches!(self.workers[worker.index()].state, WorkerState::Ready | WorkerState::Draining)
    }
}
