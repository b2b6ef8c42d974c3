//! Admission of waiting requests: head of the line first, and nobody behind it while it does not fit.

use tierscope_units::SimTime;

use super::Draft;
use super::acquire::Outcome;
use crate::block::evict::Evict as _;
use crate::config::{Acquisition, Admission, Fidelity, SchedulingPolicy};
use crate::fact::{Caller, Fact, Loaded};
use crate::lower::config::OnboardGate;
use crate::lower::{Dependency, Plan};
use crate::machine::Engine;
use crate::request::{Context, Live, Phase, Request};

/// What became of the next in line.
pub(super) enum Tried {
    /// It is in the batch, or its load has started.
    Admitted,
    /// Not now, and nobody behind it.
    Refused,
    /// Not now; those behind it go on.
    PassedOver,
}

/// What an admission need not compute, and what it knows.
#[derive(Clone, Copy)]
pub(super) struct Prefix {
    /// Tokens that need not be computed.
    pub(super) cached_tokens: u32,
    /// Of these, blocks that are loaded within the pass.
    pub(super) sync_blocks: u32,
    /// Tokens known.
    pub(super) known: u32,
}

/// How many tokens an admission takes, and how many of them only pad it.
struct Share {
    tokens: u32,
    padding: u32,
}

impl Engine {
    /// Admits from the head of the line while budget, batch and pool allow.
    pub(crate) fn schedule_waiting(&mut self, now: SimTime, draft: &mut Draft) {
        let most = self.config.max_num_active_seqs.unwrap_or(self.config.max_num_seqs);
        while draft.budget > 0
            && draft.input > self.config.draft_slots()
            && (self.running.len() as u32) < most
            && let Some(live) = self.next_in_line()
        {
            let tried = match self.is_passed_over(live) {
                true => Tried::PassedOver,
                false => self.try_admit(now, live, draft),
            };
            match tried {
                Tried::Admitted => {}
                Tried::Refused => break,
                Tried::PassedOver => {
                    let r = self.requests.get_mut(live);
                    self.deferred += u32::from(!r.deferred);
                    r.deferred = true;
                    self.pop_line(live);
                    self.scratch.passed_over.push(live);
                }
            }
        }
        let mut passed_over = std::mem::take(&mut self.scratch.passed_over);
        for live in passed_over.drain(..).rev() {
            let r = self.requests.get(live);
            let line = if r.phase == Phase::Loading { &mut self.holding } else { &mut self.waiting };
            line.rejoin(live, r.rank);
        }
        self.scratch.passed_over = passed_over;
        if !draft.defer {
            self.pace.capacity_bound = self.waiting.len() + self.holding.len() > self.deferred as usize;
        }
    }

    /// Who is next: those that hold blocks come before those that hold none, so that a holder is never behind
    /// somebody who needs what it holds.
    fn next_in_line(&self) -> Option<Live> {
        self.holding.head().or_else(|| self.waiting.head())
    }

    fn pop_line(&mut self, live: Live) {
        let line = if self.holding.head() == Some(live) { &mut self.holding } else { &mut self.waiting };
        line.pop();
    }

    /// Whether those behind a request go on without it: its output under way belongs to it, its load has not
    /// ended, or it waits for a copy for somebody else.
    fn is_passed_over(&self, live: Live) -> bool {
        let r = self.requests.get(live);
        (r.stale > 0 && !r.drop_stale) || r.load.outstanding > 0 || r.skipped_for_load
    }

    fn try_admit(&mut self, now: SimTime, live: Live, draft: &mut Draft) -> Tried {
        if self.requests.get(live).load.has_arrived {
            self.settle_load(now, live);
        }
        let waits = self.requests.get(live).dependency.is_some();
        if waits || self.blocked.still_blocks(live, &self.pool) {
            return Tried::Refused;
        }
        let cached_tokens = self.found_tokens(live);
        let known = self.requests.get(live).tokens;
        let prefix = Prefix { cached_tokens, sync_blocks: 0, known };
        if self.requests.get(live).context == Context::Elsewhere {
            return self.try_reserve_destination(now, live);
        }
        if self.lower.is_some() && self.connector().is_some() {
            return self.try_admit_connected(now, live, prefix, draft);
        }
        if self.requests.get(live).blocks.is_empty() {
            match self.look_below(live, self.scratch.hits.slots.len() as u32) {
                Plan::Compute => {}
                Plan::Wait(dependency) => return self.wait_for_copy(now, live, dependency),
                Plan::Load(blocks) => return self.try_load(now, live, blocks),
            }
        }
        match self.try_compute(now, live, prefix, draft) {
            true => Tried::Admitted,
            false => Tried::Refused,
        }
    }

    /// Content that a request wants is on its way for somebody else: it waits, and is found in G1 or loaded then.
    fn wait_for_copy(&mut self, now: SimTime, live: Live, dependency: Dependency) -> Tried {
        self.depend(live, dependency);
        let r = self.requests.get_mut(live);
        r.skipped_for_load = true;
        let Dependency { transfer, deadline } = dependency;
        self.facts.push(now, Fact::WaitsForCopy { request: r.id, transfer, deadline });
        Tried::PassedOver
    }

    /// Reserves slots for `blocks` blocks that lie below, behind the hits, and starts to load them (rule T7).
    fn try_load(&mut self, now: SimTime, live: Live, blocks: u32) -> Tried {
        if !self.has_seat() {
            return Tried::Refused;
        }
        let hits = self.scratch.hits.slots.len() as u32;
        let whole = self.requests.get(live).tokens.min(self.config.max_model_len);
        let rest = whole.div_ceil(self.config.block_size_tokens).saturating_sub(hits + blocks);
        let gate = self.lower.as_deref().map(|lower| lower.config.onboard_gate);
        let watermark = if self.running.is_empty() { 0 } else { self.watermark_blocks };
        let (keep_free, by_others) = match gate {
            Some(OnboardGate::LoadedPart) | None => (0, false),
            Some(OnboardGate::FullPrompt) => {
                let others = self.still_needed();
                match self.config.policy {
                    // Those before it in the line end without it, and then it does.
                    SchedulingPolicy::Fcfs => ((rest + watermark).max(others), others > rest + watermark),
                    // It may come to stand before them: all of them have to fit together.
                    SchedulingPolicy::Priority => (rest + watermark + others, others > 0),
                }
            }
        };
        if !self.take_seat(now, live, (blocks, Caller::Onboard), (keep_free, by_others)) {
            return Tried::Refused;
        }
        self.start_load(now, live, hits, blocks);
        Tried::Admitted
    }

    /// Takes `blocks` slots behind the hits for the head of the line, leaving `keep_free`, and lets it wait among those
    /// that hold blocks; `false` when it cannot. A refusal `by_others` does not stand: what they still need changes as
    /// they go on.
    pub(super) fn take_seat(
        &mut self,
        now: SimTime,
        live: Live,
        (blocks, caller): (u32, Caller),
        (keep_free, by_others): (u32, bool),
    ) -> bool {
        let hits = self.scratch.hits.slots.len() as u32;
        let outcome = self.transact(now, live, blocks, keep_free, caller);
        if outcome == Outcome::CapacityExhausted && !by_others {
            self.remember_refusal(live, hits);
        }
        if outcome != Outcome::Ready {
            return false;
        }
        self.waiting.pop();
        let rank = self.requests.get(live).rank;
        self.holding.join(live, rank);
        true
    }

    /// Whether one more request may hold blocks and wait: it will run beside those that do.
    pub(super) fn has_seat(&self) -> bool {
        let seats = (self.running.len() + self.holders().count()) as u32;
        seats < self.config.max_num_active_seqs.unwrap_or(self.config.max_num_seqs)
    }

    /// Requests that hold blocks and wait, those that this scan has passed over among them.
    fn holders(&self) -> impl Iterator<Item = Live> {
        let passed_over = self.scratch.passed_over.iter().copied();
        self.holding.iter().chain(passed_over.filter(|&live| self.requests.get(live).phase == Phase::Loading))
    }

    /// Blocks that prompts under way, running or loading, still need: who reserves beside them leaves these free,
    /// so that each of them can end (as vLLM does).
    pub(super) fn still_needed(&self) -> u32 {
        let block = self.config.block_size_tokens;
        let spare = self.spare_tokens();
        let running = self.running.iter().copied().filter(|&live| self.requests.get(live).prefill_chunk);
        let needed = running
            .chain(self.holders())
            .map(|live| {
                let r = self.requests.get(live);
                let whole = r.tokens.min(self.config.max_model_len) + spare;
                whole.div_ceil(block).saturating_sub(r.blocks.len() as u32)
            })
            .sum::<u32>();
        // Alone, it needs no more than what its arrival was measured by (rule S4).
        if needed > 0 { needed + spare.div_ceil(block) } else { 0 }
    }

    /// Tokens of room that a row takes beyond those that it knows, when it verifies drafts.
    pub(super) fn spare_tokens(&self) -> u32 {
        match self.config.draft_tokens() {
            0 => 0,
            drafts => 1 + drafts + self.config.lookahead_tokens(),
        }
    }

    pub(super) fn try_compute(
        &mut self,
        now: SimTime,
        live: Live,
        prefix: Prefix,
        draft: &mut Draft,
    ) -> bool {
        let Prefix { cached_tokens, known, .. } = prefix;
        if draft.defer && cached_tokens + 1 < known {
            return false;
        }
        let Some(Share { tokens, padding }) = self.share(known - cached_tokens, cached_tokens, draft) else {
            return false;
        };
        let hits = self.scratch.hits.slots.len() as u32;
        if prefix.sync_blocks > 0 && !self.acquire_loaded(now, live, &prefix, tokens) {
            return false;
        }
        if !self.admit(now, live, cached_tokens, tokens) {
            self.keep_partial(now, live, cached_tokens);
            return false;
        }
        draft.prefill_admitted |= cached_tokens + 1 < known;
        if prefix.sync_blocks > 0 {
            // Loaded blocks are registered with those that the row fills: both are there when the pass ends.
            self.requests.get_mut(live).next_full = (hits + 1) * self.config.block_size_tokens;
        }
        if self.lower.is_some() {
            self.connector_admitted(now, live, tokens);
        }
        self.add_row(now, live, tokens, padding, draft);
        if let Some(row) = self.rows.last_mut() {
            row.padded = padding > 0;
        }
        true
    }

    /// The tokens of an admission that wants `wanted`; `None` when it has to wait for a larger budget.
    fn share(&self, wanted: u32, cached_tokens: u32, draft: &Draft) -> Option<Share> {
        let drafts = self.config.draft_tokens();
        let room = draft.budget.min(draft.input - self.config.draft_slots());
        let mut share = Share { tokens: wanted, padding: 0 };
        // vLLM waits for room for the padding even where no pass has it.
        let possible = drafts < self.config.tokens_per_pass() || self.config.fidelity == Fidelity::Exact;
        let alike = drafts > 0 && wanted == 1 && !draft.prefill_scheduled && possible;
        // A row of one token among verifying rows is padded to their length, so that all rows are alike.
        if alike
            && (draft.running_rows || cached_tokens > 0)
            && cached_tokens + 1 + drafts < self.config.max_model_len
        {
            if 1 + drafts > room {
                return None;
            }
            share = Share { tokens: 1 + drafts, padding: drafts };
        }
        share.tokens = share.tokens.min(draft.row_tokens);
        if !self.config.chunked_prefill && share.tokens > room {
            return None;
        }
        share.tokens = share.tokens.min(room);
        // vLLM 0.33.0 fails an assertion where a threshold cuts a padded row; here its padding is cut.
        share.padding = share.padding.min(share.tokens - 1);
        Some(share)
    }

    /// Tokens that need not be computed: those of the resident prefix, which is in the scratch hits then. A
    /// request that kept blocks from a refused admission has found its prefix before.
    fn found_tokens(&mut self, live: Live) -> u32 {
        let r = self.requests.get(live);
        if r.blocks.is_empty() {
            self.find_hits(live);
            return self.scratch.hits.slots.len() as u32 * self.config.block_size_tokens;
        }
        self.scratch.hits.slots.clear();
        self.scratch.hits.cached = 0;
        r.computed
    }

    /// The fault that all-or-nothing transactions mend: a refused request keeps what it could get, and waits.
    fn keep_partial(&mut self, now: SimTime, live: Live, cached_tokens: u32) {
        let waits = self.requests.get(live).dependency.is_some();
        let room = self.pool.available().saturating_sub(self.scratch.hits.cached);
        let nothing = room == 0 && self.scratch.hits.slots.is_empty();
        if self.config.acquisition != Acquisition::Partial || waits || nothing {
            return;
        }
        let owned = self.requests.get(live).blocks.len() as u32 + self.scratch.hits.slots.len() as u32;
        let needed = self.requests.get(live).tokens.div_ceil(self.config.block_size_tokens);
        let part = room.min(needed.saturating_sub(owned));
        self.blocked.clear();
        if self.transact(now, live, part, 0, Caller::Admission) == Outcome::Ready {
            self.requests.get_mut(live).computed = cached_tokens;
        }
    }

    /// The resident prefix of the request's known tokens into the scratch hits. At least one token is left to
    /// compute, so that there is something to sample from.
    fn find_hits(&mut self, live: Live) {
        let identity = self.identity();
        let r = self.requests.get_mut(live);
        let most = ((r.tokens - 1) / identity.block_size_tokens) as usize;
        let hashes: &[_] = if self.pool.caching { r.content.hashes(most, identity) } else { &[] };
        self.pool.prepare(hashes, &mut self.scratch.hits);
        if self.config.drops_last_hit() {
            self.pool.drop_last_hit(&mut self.scratch.hits);
        }
    }

    /// Acquires the first chunk behind the hits and moves the request into the batch.
    fn admit(&mut self, now: SimTime, live: Live, cached_tokens: u32, tokens: u32) -> bool {
        let block = self.config.block_size_tokens;
        let hits = self.scratch.hits.slots.len() as u32;
        let owned = hits + self.requests.get(live).blocks.len() as u32;
        let (chunk, keep_free) = self.room_for(live, owned, cached_tokens + tokens);
        match self.transact(now, live, chunk, keep_free, Caller::Admission) {
            Outcome::Ready => {}
            Outcome::CapacityExhausted => {
                self.remember_refusal(live, hits);
                return false;
            }
            Outcome::BlockedOnOffload => return false,
        }
        self.pop_line(live);
        self.running.push(live);
        if hits > 0 && self.lower.is_some() {
            self.found_again(now, live, hits as usize);
        }
        let r = self.requests.get_mut(live);
        let readmission = r.was_preempted;
        let loaded = loaded(r);
        let joins = std::mem::take(&mut r.context) == Context::Here;
        self.deferred -= u32::from(r.deferred);
        r.deferred = false;
        r.phase = Phase::Running;
        r.computed = cached_tokens;
        // A whole prompt that was loaded is registered already, and its last token is computed again.
        r.next_full = r.next_full.max((cached_tokens / block + 1) * block);
        let request = r.id;
        let admitted = match joins {
            true => Fact::Joined { request, context_tokens: cached_tokens },
            false => Fact::Admitted { request, cached_tokens, loaded, readmission },
        };
        self.facts.push(now, admitted);
        true
    }

    /// Blocks that an admission takes beside the `owned` ones to compute up to `computed` tokens, and blocks that
    /// have to stay available besides.
    pub(super) fn room_for(&self, live: Live, owned: u32, computed: u32) -> (u32, u32) {
        let block = self.config.block_size_tokens;
        let model_len = self.config.max_model_len;
        let known = self.requests.get(live).tokens.min(model_len);
        let end = (computed + self.config.lookahead_tokens()).min(model_len);
        let chunk = end.div_ceil(block).saturating_sub(owned);
        // The gate asks for more than the chunk takes: the rest has to be available besides.
        let gate = match self.config.admission {
            Admission::FullPrompt => known.div_ceil(block).saturating_sub(owned + chunk),
            Admission::NextChunk => 0,
        };
        let watermark = if self.running.is_empty() { 0 } else { self.watermark_blocks };
        (chunk, gate + watermark)
    }

    /// The first `hits` blocks of a request were found in G1.
    fn found_again(&mut self, now: SimTime, live: Live, hits: usize) {
        let identity = self.identity();
        if let Some(sketch) = self.lower.as_deref_mut().and_then(|lower| lower.frequency.as_deref_mut()) {
            let hashes = self.requests.get_mut(live).content.hashes(hits, identity);
            hashes.iter().for_each(|&hash| sketch.used(hash));
        }
        self.store_found(now, live, hits);
        self.use_leases(now, live, hits);
    }

    /// Only where what the head needs does not depend on the budget of the pass.
    fn remember_refusal(&mut self, live: Live, hits: u32) {
        let budget = self.connector().is_some_and(|connector| connector.config.sync_load_budget_tokens > 0);
        if self.config.admission != Admission::FullPrompt || self.config.speculation.is_some() || budget {
            return;
        }
        let identity = self.identity();
        let r = self.requests.get_mut(live);
        let more = self.pool.caching && hits < (r.tokens - 1) / identity.block_size_tokens;
        let next_hash = more.then(|| r.content.hashes(hits as usize + 1, identity)[hits as usize]);
        self.blocked.set(live, &self.scratch.hits.slots, next_hash);
    }
}

/// What of an admission's tokens came from below, and is accounted for with it.
fn loaded(r: &mut Request) -> Loaded {
    let [g2_tokens, g3_tokens, g4_tokens] = std::mem::take(&mut r.load).tokens;
    Loaded { g2_tokens, g3_tokens, g4_tokens }
}
