//! What each request was in, from its arrival to its end.

use tierscope_engine::{Fact, HandoffFact, HandoffPhase};
use tierscope_units::{Idx as _, RequestId, WorkerId};

use super::marks::low;
use super::{Kept, NEVER};
use crate::protocol::SpanKind;

/// The first phases of a run, in the order in which they ended.
#[derive(Debug)]
pub struct Phases {
    kept: Vec<Kept>,
    /// Whose they are.
    whose: Vec<RequestId>,
    /// By request: the phase that it is in.
    now: Vec<Option<Now>>,
    /// By worker: requests that compute again what was lost, and whether the pass to come has a row of theirs. Nothing
    /// tells when they are done, but that a pass comes without such a row.
    again: Vec<Vec<(RequestId, bool)>>,
    left_out: u32,
}

/// A phase that has not ended.
#[derive(Clone, Copy, Debug)]
struct Now {
    open: Kept,
    /// What it goes back to, when a wait is over.
    base: SpanKind,
    /// Whether its first token was seen.
    answers: bool,
}

/// Most phases kept: 28 MB.
const KEPT_MAX: usize = 1_000_000;

impl Phases {
    pub(super) fn new(workers: usize) -> Self {
        Self {
            kept: Vec::new(),
            whose: Vec::new(),
            now: Vec::new(),
            again: vec![Vec::new(); workers],
            left_out: 0,
        }
    }

    pub(super) fn take(&mut self, at: u64, worker: WorkerId, fact: &Fact) {
        use SpanKind::{Awaiting, Blocked, Handoff, Leased, Loading, Preempted, Waiting};
        let aux = u32::from(worker.0);
        match *fact {
            Fact::Arrived { request, prompt_tokens, .. } => {
                // It may arrive at a worker after it arrived at the router, and again after a loss.
                if self.kind(request).is_none() {
                    self.enter(at, request, Kept::new(Waiting, at, aux, prompt_tokens));
                }
            }
            Fact::BlockedOnOffload { request, transfer, .. } => {
                self.enter(at, request, Kept::new(Blocked, at, aux, low(transfer)));
            }
            Fact::WaitsForCopy { request, transfer, .. } => {
                self.enter(at, request, Kept::new(Awaiting, at, aux, low(transfer)));
            }
            Fact::OnboardStarted { request, g2_blocks, g3_blocks, g4_blocks, .. } => {
                let blocks = g2_blocks + g3_blocks + g4_blocks;
                self.enter(at, request, Kept::new(Loading, at, aux, blocks));
            }
            Fact::OnboardEnded { request, .. } => self.resume(at, request, aux, &[Loading]),
            Fact::Unblocked { request, .. } => self.resume(at, request, aux, &[Blocked, Awaiting]),
            Fact::Preempted { request, lost_tokens, .. } => {
                self.enter(at, request, Kept::new(Preempted, at, aux, lost_tokens));
            }
            Fact::SourceHeld { request, .. } => self.enter(at, request, Kept::new(Handoff, at, aux, 0)),
            Fact::Handoff(HandoffFact::Reached { request, phase: HandoffPhase::Failed(_), .. }) => {
                self.enter(at, request, Kept::new(Waiting, at, aux, 0));
            }
            Fact::Withdrawn { request, .. } if self.kind(request).is_some_and(|kind| kind != Handoff) => {
                self.enter(at, request, Kept::new(Waiting, at, aux, 0));
            }
            Fact::Leased { request, .. } => self.enter(at, request, Kept::new(Leased, at, aux, 0)),
            Fact::LeaseEnded { request, .. } if self.kind(request) == Some(Leased) => self.leave(at, request),
            Fact::Rejected { request, .. }
            | Fact::Finished { request, .. }
            | Fact::Cancelled { request, .. } => self.leave(at, request),
            _ => self.computed(at, worker, fact),
        }
    }

    /// What a running request does.
    fn computed(&mut self, at: u64, worker: WorkerId, fact: &Fact) {
        use SpanKind::{Decode, Prefill};
        let aux = u32::from(worker.0);
        match *fact {
            Fact::Admitted { request, cached_tokens, .. } => {
                self.enter(at, request, Kept::new(Prefill, at, aux, cached_tokens));
                if self.now(request).is_some_and(|now| now.answers)
                    && let Some(again) = self.again.get_mut(worker.index())
                {
                    // Its own row comes before its pass does.
                    again.push((request, true));
                }
            }
            Fact::Joined { request, .. } | Fact::FirstToken { request } => {
                self.enter(at, request, Kept::new(Decode, at, aux, 0));
                if let Some(Some(now)) = self.now.get_mut(request.index()) {
                    now.answers = true;
                }
            }
            Fact::Prefilled { request, .. } => {
                for (whose, row) in self.again.get_mut(worker.index()).into_iter().flatten() {
                    *row |= *whose == request;
                }
            }
            Fact::PassStarted(_) => self.pass(at, worker),
            _ => {}
        }
    }

    /// Of those that computed again: who has no row any more has caught up.
    fn pass(&mut self, at: u64, worker: WorkerId) {
        let Some(again) = self.again.get_mut(worker.index()).filter(|again| !again.is_empty()) else {
            return;
        };
        let mut all = std::mem::take(again);
        all.retain_mut(|(request, row)| {
            let computes = self.kind(*request) == Some(SpanKind::Prefill);
            if computes && !*row {
                self.enter(at, *request, Kept::new(SpanKind::Decode, at, worker.0.into(), 0));
            }
            computes && std::mem::take(row)
        });
        self.again[worker.index()] = all;
    }

    fn now(&self, request: RequestId) -> Option<&Now> {
        self.now.get(request.index())?.as_ref()
    }

    fn kind(&self, request: RequestId) -> Option<SpanKind> {
        self.now(request).map(|now| now.open.kind)
    }

    fn enter(&mut self, at: u64, request: RequestId, next: Kept) {
        if self.now.len() <= request.index() {
            self.now.resize(request.index() + 1, None);
        }
        let before = self.now[request.index()];
        let waits = |kind| matches!(kind, SpanKind::Blocked | SpanKind::Awaiting | SpanKind::Loading);
        let same = before.is_some_and(|now| (now.open.kind, now.open.number) == (next.kind, next.number));
        if same && waits(next.kind) {
            return;
        }
        self.close(at, request);
        let base =
            if waits(next.kind) { before.map_or(SpanKind::Waiting, |now| now.base) } else { next.kind };
        let answers = before.is_some_and(|now| now.answers);
        self.now[request.index()] = Some(Now { open: next, base, answers });
    }

    /// A wait of one of these kinds is over: what was before goes on.
    fn resume(&mut self, at: u64, request: RequestId, aux: u32, waits: &[SpanKind]) {
        if let Some(now) = self.now(request).filter(|now| waits.contains(&now.open.kind)) {
            let base = now.base;
            self.enter(at, request, Kept::new(base, at, aux, 0));
        }
    }

    fn leave(&mut self, at: u64, request: RequestId) {
        self.close(at, request);
        if let Some(now) = self.now.get_mut(request.index()) {
            *now = None;
        }
    }

    /// What took no time is not kept.
    fn close(&mut self, at: u64, request: RequestId) {
        let Some(now) = self.now(request).filter(|now| now.open.start < at) else { return };
        let ended = Kept { end: at, ..now.open };
        if self.kept.len() < KEPT_MAX {
            self.kept.push(ended);
            self.whose.push(request);
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// All phases with their requests, in order of time for each, also those that have not ended.
    pub fn all(&self) -> impl Iterator<Item = (RequestId, Kept)> {
        let open = self.now.iter().enumerate().filter_map(|(request, now)| {
            Some((RequestId(request as u32), Kept { end: NEVER, ..now.as_ref()?.open }))
        });
        self.whose.iter().copied().zip(self.kept.iter().copied()).chain(open)
    }

    /// How many there were besides.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }
}
