//! Admission of waiting requests: head of the line first, and nobody behind it while it does not fit.

use tierscope_units::SimTime;

use super::Budget;
use crate::command::PassPlan;
use crate::config::Admission;
use crate::fact::{Caller, Fact};
use crate::machine::Engine;
use crate::request::{Live, Phase};

impl Engine {
    /// Admits from the head of the line while budget, batch and pool allow.
    pub(crate) fn schedule_waiting(&mut self, now: SimTime, budget: &mut Budget, plan: &mut PassPlan) {
        while budget.tokens > 0 && (self.running.len() as u32) < self.config.max_num_seqs {
            let Some(&live) = self.waiting.front() else { return };
            if self.blocked.still_blocks(live, &self.pool) {
                return;
            }
            self.find_hits(live);
            let cached_tokens = self.scratch.hits.slots.len() as u32 * self.config.block_size_tokens;
            let wanted = (self.requests.get(live).tokens - cached_tokens).min(budget.row_tokens);
            if !self.config.chunked_prefill && wanted > budget.tokens {
                return;
            }
            let tokens = wanted.min(budget.tokens);
            if !self.admit(now, live, cached_tokens, tokens) {
                return;
            }
            self.add_row(now, live, tokens, plan);
            budget.tokens -= tokens;
        }
    }

    /// The resident prefix of the request's known tokens into the scratch hits. At least one token is left to
    /// compute, so that there is something to sample from.
    fn find_hits(&mut self, live: Live) {
        let block = self.config.block_size_tokens;
        let r = self.requests.get_mut(live);
        let most = ((r.tokens - 1) / block) as usize;
        let hashes: &[_] = if self.pool.caching { r.content.hashes(most, block) } else { &[] };
        self.pool.prepare(hashes, &mut self.scratch.hits);
    }

    /// Acquires the first chunk behind the hits and moves the request into the batch.
    fn admit(&mut self, now: SimTime, live: Live, cached_tokens: u32, tokens: u32) -> bool {
        let block = self.config.block_size_tokens;
        let hits = self.scratch.hits.slots.len() as u32;
        let known = self.requests.get(live).tokens;
        let chunk = (cached_tokens + tokens).div_ceil(block) - hits;
        // The gate asks for more than the chunk takes: the rest has to be available besides.
        let gate = match self.config.admission {
            Admission::FullPrompt => known.div_ceil(block).saturating_sub(hits).saturating_sub(chunk),
            Admission::NextChunk => 0,
        };
        let watermark = if self.running.is_empty() { 0 } else { self.watermark_blocks };
        if self.transact(now, live, chunk, gate + watermark, Caller::Admission).is_err() {
            let r = self.requests.get_mut(live);
            let next_hash = (hits < (r.tokens - 1) / block && self.pool.caching)
                .then(|| r.content.hashes(hits as usize + 1, block)[hits as usize]);
            self.blocked.set(live, &self.pool, &self.scratch.hits.slots, next_hash);
            return false;
        }
        self.waiting.pop_front();
        self.running.push(live);
        let r = self.requests.get_mut(live);
        let readmission = r.phase == Phase::Preempted;
        r.phase = Phase::Running;
        r.computed = cached_tokens;
        r.next_full = cached_tokens + block;
        self.facts.push(now, Fact::Admitted { request: r.id, cached_tokens, readmission });
        true
    }
}
