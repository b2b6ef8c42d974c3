//! A request's way through the fleet: where it is, and what is needed to send it somewhere else.

use std::collections::BTreeMap;

use tierscope_units::{Digester, HandoffId, PassId, RequestId, SequenceHash, SimTime, TokenRun, WorkerId};

use crate::fact::HandoffPhase;
use crate::input::{Arrival, Entry, Leg, Rank};

/// All requests that have arrived and whose end, or whose handoff's end, has not come.
pub(crate) type Journeys = BTreeMap<RequestId, Journey>;

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Journey {
    pub(crate) prompt: Vec<TokenRun>,
    pub(crate) prompt_tokens: u32,
    output_start: u64,
    pub(crate) output_tokens: u32,
    salt: u64,
    rank: Rank,
    draw: u64,
    decisions: u64,
    /// Output tokens that it had at workers that were lost.
    pub(crate) produced: u32,
    /// Whether it has been said that it arrived.
    pub(crate) announced: bool,
    /// Whether a worker that it was at was lost.
    pub(crate) moved: bool,
    pub(crate) place: Place,
    pub(crate) handoff: Option<Handoff>,
}

/// Where a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// At the router, until somebody can take this leg of it.
    AtRouter(Leg),
    /// At a worker that will finish it.
    At(WorkerId),
    /// Between two workers: its handoff says more.
    Between,
    /// It has ended; only its handoff is not over.
    Ended,
}

/// The handoff of a request (rule H1).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Handoff {
    pub(crate) id: HandoffId,
    pub(crate) generation: u32,
    pub(crate) phase: HandoffPhase,
    pub(crate) source: WorkerId,
    pub(crate) destination: Option<WorkerId>,
    /// Whether the source has the request, or holds its blocks.
    pub(crate) at_source: bool,
    /// Whether the source's prompt is computed.
    pub(crate) is_held: bool,
    /// Whether the destination has the request.
    pub(crate) at_destination: bool,
    /// Blocks that the destination lacks, and has already.
    pub(crate) missing_blocks: u32,
    pub(crate) hit_blocks: u32,
    /// The pass that the blocks move with.
    pub(crate) within: Option<PassId>,
    pub(crate) copies: bool,
    /// When it is given up.
    pub(crate) lease_until: Option<SimTime>,
}

impl Journey {
    pub(crate) fn new(arrival: &Arrival<'_>, draw: u64) -> Self {
        let tokens: u64 = arrival.prompt.iter().map(|run| u64::from(run.len)).sum();
        Self {
            prompt: arrival.prompt.to_vec(),
            prompt_tokens: u32::try_from(tokens).unwrap_or(u32::MAX),
            output_start: arrival.output_start,
            output_tokens: arrival.output_tokens,
            salt: arrival.salt,
            rank: arrival.rank,
            draw,
            decisions: 0,
            produced: 0,
            announced: false,
            moved: false,
            place: Place::AtRouter(Leg::Whole),
            handoff: None,
        }
    }

    /// Output tokens that were made at a worker that was lost: they are the end of the prompt from now on.
    pub(crate) fn lost(&mut self, produced: u32) {
        self.moved = true;
        let new = produced.saturating_sub(self.produced);
        if new == 0 {
            return;
        }
        let start = self.output_start.wrapping_add(u64::from(self.produced));
        self.prompt.push(TokenRun { start, len: new });
        self.prompt_tokens = self.prompt_tokens.saturating_add(new);
        self.produced = produced;
    }

    /// The request as a worker gets it.
    pub(crate) fn arrival(&self, request: RequestId, leg: Leg) -> Arrival<'_> {
        let entry = match (self.moved, self.announced) {
            (true, _) => Entry::Moved { produced_tokens: self.produced },
            (false, true) => Entry::Announced,
            (false, false) => Entry::New,
        };
        Arrival {
            request,
            prompt: &self.prompt,
            output_start: self.output_start.wrapping_add(u64::from(self.produced)),
            output_tokens: if leg == Leg::Prefill { 1 } else { self.output_tokens - self.produced },
            salt: self.salt,
            rank: self.rank,
            leg,
            entry,
        }
    }

    /// What its content begins with.
    pub(crate) fn root(&self) -> SequenceHash {
        SequenceHash::root(self.salt)
    }

    /// The random number of its next decision: the first is the world's, the others follow from it.
    pub(crate) fn next_draw(&mut self) -> u64 {
        self.decisions += 1;
        if self.decisions == 1 {
            return self.draw;
        }
        let mut digester = Digester::default();
        digester.words(&[self.draw, self.decisions]);
        digester.finish().0 as u64
    }
}

impl Handoff {
    /// Whether a worker is one of its sides.
    pub(crate) fn is_between(&self, worker: WorkerId) -> bool {
        self.source == worker || self.destination == Some(worker)
    }

    pub(crate) fn new(id: HandoffId, source: WorkerId, destination: Option<WorkerId>) -> Self {
        Self {
            id,
            generation: 0,
            phase: HandoffPhase::Preparing,
            source,
            destination,
            at_source: false,
            is_held: false,
            at_destination: false,
            missing_blocks: 0,
            hit_blocks: 0,
            within: None,
            copies: false,
            lease_until: None,
        }
    }
}
