//! Acquires of running requests, and the registration of blocks that become full (rules T1–T5, T7).

use tierscope_units::SimTime;

use crate::block::transaction::{Exhausted, new_blocks};
use crate::fact::{BlockRef, Caller, Fact};
use crate::machine::Engine;
use crate::request::{Identity, Live};

impl Engine {
    /// Grows a running request to room for `end` tokens, all or nothing. `false` is `CapacityExhausted`.
    pub(crate) fn acquire(&mut self, now: SimTime, live: Live, end: u32, caller: Caller) -> bool {
        let owned = self.requests.get(live).blocks.len() as u32;
        let missing = end.div_ceil(self.config.block_size_tokens) - owned;
        self.scratch.hits.slots.clear();
        self.scratch.hits.cached = 0;
        self.transact(now, live, missing, 0, caller).is_ok()
    }

    /// Reserves and commits what the scratch hits and `missing` new slots make, leaving `keep_free`.
    pub(crate) fn transact(
        &mut self,
        now: SimTime,
        live: Live,
        missing: u32,
        keep_free: u32,
        caller: Caller,
    ) -> Result<(), Exhausted> {
        let txn = self.next_txn();
        let request = self.requests.get(live).id;
        let hits = std::mem::take(&mut self.scratch.hits);
        let reservation = match self.pool.reserve(hits, missing, keep_free, &mut self.scratch.slots) {
            Ok(reservation) => reservation,
            Err((hits, exhausted)) => {
                self.scratch.hits = hits;
                let Exhausted { needed, obtainable } = exhausted;
                self.facts.push(now, Fact::CapacityExhausted { txn, request, caller, needed, obtainable });
                return Err(exhausted);
            }
        };
        let cached_hits = reservation.hits().cached;
        let active_hits = reservation.hits().slots.len() as u32 - cached_hits;
        let r = self.requests.get_mut(live);
        let first_new = r.blocks.len() + reservation.hits().slots.len();
        (self.scratch.hits, self.scratch.slots) =
            self.pool.commit(reservation, &mut r.blocks, &mut self.scratch.removed);
        r.room = r.blocks.len() as u32 * self.config.block_size_tokens;
        let missing = new_blocks(&mut self.facts, &r.blocks[first_new..]);
        self.facts.push(now, Fact::Acquired { txn, request, caller, active_hits, cached_hits, missing });
        self.log_removed(now);
        Ok(())
    }

    pub(crate) fn log_removed(&mut self, now: SimTime) {
        if !self.scratch.removed.is_empty() {
            self.blocked.content_removed(&self.scratch.removed);
            let blocks = self.facts.list(self.scratch.removed.drain(..));
            self.facts.push(now, Fact::Removed { blocks });
        }
    }

    /// Registers the blocks that are full once `end` tokens are computed, as one batch in order. As in vLLM
    /// this happens when the tokens are scheduled; drafts are never registered before they are verified.
    pub(crate) fn register_full(&mut self, now: SimTime, live: Live, end: u32) {
        let identity = self.identity();
        let block = identity.block_size_tokens;
        let known_behind = self.config.hash_lookahead_tokens();
        let r = self.requests.get_mut(live);
        let first = (r.next_full / block - 1) as usize;
        let hashable = (r.tokens - known_behind) / block;
        let full = (end.min(r.tokens) / block).min(hashable) as usize;
        if full <= first {
            return;
        }
        r.next_full = (full as u32 + 1) * block;
        if !self.pool.caching {
            return;
        }
        let hashes = &r.content.hashes(full, identity)[first..];
        let mut parent = first.checked_sub(1).map(|before| r.blocks[before]);
        for (&slot, &hash) in r.blocks[first..full].iter().zip(hashes) {
            self.pool.register(slot, hash, parent);
            parent = Some(slot);
        }
        let stored = r.blocks[first..full].iter().zip(hashes).map(|(&slot, &hash)| BlockRef { slot, hash });
        let blocks = self.facts.list(stored);
        let parent = r.content.parent_of(first);
        self.facts.push(now, Fact::Stored { request: r.id, parent, blocks });
    }

    /// What a block's identity covers under this configuration.
    pub(crate) fn identity(&self) -> Identity {
        Identity {
            block_size_tokens: self.config.block_size_tokens,
            covers_next_token: self.config.hash_lookahead_tokens() > 0,
        }
    }
}
