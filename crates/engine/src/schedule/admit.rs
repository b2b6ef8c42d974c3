//! Admission of waiting requests: head of the line first, and nobody behind it while it does not fit.

use tierscope_units::SimTime;

use super::Draft;
use super::acquire::Outcome;
use crate::config::{Acquisition, Admission, Fidelity};
use crate::fact::{Caller, Fact};
use crate::machine::Engine;
use crate::request::{Live, Phase};

/// How many tokens an admission takes, and how many of them only pad it.
struct Share {
    tokens: u32,
    padding: u32,
}

impl Engine {
    /// Admits from the head of the line while budget, batch and pool allow.
    pub(crate) fn schedule_waiting(&mut self, now: SimTime, draft: &mut Draft) {
        let most = self.config.max_num_active_seqs.unwrap_or(self.config.max_num_seqs);
        let mut passed_over = std::mem::take(&mut self.scratch.passed_over);
        while draft.budget > 0
            && draft.input > self.config.draft_slots()
            && (self.running.len() as u32) < most
            && let Some(live) = self.waiting.head()
        {
            let r = self.requests.get_mut(live);
            if r.stale > 0 && !r.drop_stale {
                // Its output under way belongs to it: it comes back when that has arrived.
                self.deferred += u32::from(!r.deferred);
                r.deferred = true;
                self.waiting.pop();
                passed_over.push(live);
                continue;
            }
            if !self.try_admit(now, live, draft) {
                break;
            }
        }
        for live in passed_over.drain(..).rev() {
            let rank = self.requests.get(live).rank;
            self.waiting.rejoin(live, rank);
        }
        self.scratch.passed_over = passed_over;
        if !draft.defer {
            self.pace.capacity_bound = self.waiting.len() > self.deferred as usize;
        }
    }

    fn try_admit(&mut self, now: SimTime, live: Live, draft: &mut Draft) -> bool {
        let waits = self.requests.get(live).dependency.is_some();
        if waits || self.blocked.still_blocks(live, &self.pool) {
            return false;
        }
        let cached_tokens = self.found_tokens(live);
        let known = self.requests.get(live).tokens;
        if draft.defer && cached_tokens + 1 < known {
            return false;
        }
        let Some(Share { tokens, padding }) = self.share(known - cached_tokens, cached_tokens, draft) else {
            return false;
        };
        if !self.admit(now, live, cached_tokens, tokens) {
            self.keep_partial(now, live, cached_tokens);
            return false;
        }
        draft.prefill_admitted |= cached_tokens + 1 < known;
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
        let model_len = self.config.max_model_len;
        let hits = self.scratch.hits.slots.len() as u32;
        let owned = hits + self.requests.get(live).blocks.len() as u32;
        let known = self.requests.get(live).tokens.min(model_len);
        let end = (cached_tokens + tokens + self.config.lookahead_tokens()).min(model_len);
        let chunk = end.div_ceil(block).saturating_sub(owned);
        // The gate asks for more than the chunk takes: the rest has to be available besides.
        let gate = match self.config.admission {
            Admission::FullPrompt => known.div_ceil(block).saturating_sub(owned + chunk),
            Admission::NextChunk => 0,
        };
        let watermark = if self.running.is_empty() { 0 } else { self.watermark_blocks };
        match self.transact(now, live, chunk, gate + watermark, Caller::Admission) {
            Outcome::Ready => {}
            Outcome::CapacityExhausted => {
                self.remember_refusal(live, hits);
                return false;
            }
            Outcome::BlockedOnOffload => return false,
        }
        self.waiting.pop();
        self.running.push(live);
        let r = self.requests.get_mut(live);
        let readmission = r.phase == Phase::Preempted;
        self.deferred -= u32::from(r.deferred);
        r.deferred = false;
        r.phase = Phase::Running;
        r.computed = cached_tokens;
        r.next_full = cached_tokens + block;
        self.facts.push(now, Fact::Admitted { request: r.id, cached_tokens, readmission });
        true
    }

    /// Only where what the head needs does not depend on the budget of the pass.
    fn remember_refusal(&mut self, live: Live, hits: u32) {
        if self.config.admission != Admission::FullPrompt || self.config.speculation.is_some() {
            return;
        }
        let identity = self.identity();
        let r = self.requests.get_mut(live);
        let more = self.pool.caching && hits < (r.tokens - 1) / identity.block_size_tokens;
        let next_hash = more.then(|| r.content.hashes(hits as usize + 1, identity)[hits as usize]);
        self.blocked.set(live, &self.scratch.hits.slots, next_hash);
    }
}
