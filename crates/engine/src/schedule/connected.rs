//! Admission where vLLM's connector may load what is missing.

use tierscope_units::SimTime;

use super::Draft;
use super::acquire::Outcome;
use super::admit::{Prefix, Tried};
use crate::config::{Admission, Fidelity};
use crate::connector::Match;
use crate::fact::Caller;
use crate::machine::Engine;
use crate::request::Live;

impl Engine {
    /// Admits the next in line with what the CPU tier has for it, or starts its load. The hits in G1 are in the
    /// scratch hits.
    pub(super) fn try_admit_connected(
        &mut self,
        now: SimTime,
        live: Live,
        prefix: Prefix,
        draft: &mut Draft,
    ) -> Tried {
        let found = match self.requests.get(live).blocks.is_empty() {
            true => self.match_below(live),
            false => Match::Nothing,
        };
        let sync_blocks = match found {
            Match::Wait(transfer) => {
                self.waits_below(now, live, transfer);
                return Tried::PassedOver;
            }
            Match::Async(blocks) => return self.try_load_connected(now, live, blocks),
            Match::Sync(blocks) => blocks,
            Match::Nothing => 0,
        };
        let cached_tokens = prefix.cached_tokens + sync_blocks * self.config.block_size_tokens;
        match self.try_compute(now, live, Prefix { cached_tokens, sync_blocks, ..prefix }, draft) {
            true => Tried::Admitted,
            false => Tried::Refused,
        }
    }

    /// Reserves slots for the hits and `blocks` blocks behind them, and starts to load those: beside what its whole
    /// prompt needs, where that is the gate, and beside what the prompts under way still need.
    fn try_load_connected(&mut self, now: SimTime, live: Live, blocks: u32) -> Tried {
        let block = self.config.block_size_tokens;
        let model_len = self.config.max_model_len;
        let hits = self.scratch.hits.slots.len() as u32;
        let known = self.requests.get(live).tokens.min(model_len);
        let is_mended = self.config.fidelity == Fidelity::Mended;
        // vLLM's own gate leaves a load by the side of which its rest may never fit.
        let ahead = if is_mended { self.config.draft_tokens() + self.config.lookahead_tokens() } else { 0 };
        let rest = match self.config.admission {
            Admission::NextChunk if !is_mended => 0,
            _ => (known + ahead).min(model_len).div_ceil(block).saturating_sub(hits + blocks),
        };
        let watermark = if self.running.is_empty() { 0 } else { self.watermark_blocks };
        let keep_free = rest.max(self.needed_by_others(is_mended)) + watermark;
        if self.transact(now, live, blocks, keep_free, Caller::Onboard) != Outcome::Ready {
            return Tried::Refused;
        }
        self.open_load(now, live, (hits, blocks), false);
        // It stands among those that hold blocks from now on.
        Tried::PassedOver
    }

    /// Blocks that prompts under way, computing or loading, still need, and a step of verification.
    fn needed_by_others(&self, is_mended: bool) -> u32 {
        let block = self.config.block_size_tokens;
        let spare = self.spare_tokens();
        let of_one = |&live: &Live| {
            let r = self.requests.get(live);
            let whole = r.tokens.min(self.config.max_model_len) + spare;
            whole.div_ceil(block).saturating_sub(r.blocks.len() as u32)
        };
        let filling = self.connector().map_or(&[][..], |connector| connector.filling());
        let needed = filling.iter().map(of_one).sum::<u32>();
        // Alone, it needs no more than what its arrival was measured by (rule S4).
        if filling.is_empty() && is_mended { 0 } else { needed + spare.div_ceil(block) }
    }

    /// Takes the hits and the blocks that are loaded within the pass, leaving the room that the admission behind
    /// them takes.
    pub(super) fn acquire_loaded(&mut self, now: SimTime, live: Live, prefix: &Prefix, tokens: u32) -> bool {
        let hits = self.scratch.hits.slots.len() as u32;
        let (chunk, keep_free) =
            self.room_for(live, hits + prefix.sync_blocks, prefix.cached_tokens + tokens);
        let taken = self.transact(now, live, prefix.sync_blocks, chunk + keep_free, Caller::Onboard);
        if taken == Outcome::Ready {
            // They are the request's now.
            self.scratch.hits.cached = 0;
            self.open_load(now, live, (hits, prefix.sync_blocks), true);
        }
        taken == Outcome::Ready
    }
}
