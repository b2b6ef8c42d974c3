//! What the CPU tier has for a request that is about to be admitted.

use tierscope_units::TransferId;

use super::{Connector, of};
use crate::lower::Lane;
use crate::lower::config::Load;
use crate::machine::Engine;
use crate::request::{Live, Request};
use crate::vllm::Found;

/// What the tier offers behind the hits in G1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Match {
    /// Nothing that is worth a load.
    Nothing,
    /// Not known before this copy has ended.
    Wait(TransferId),
    /// So many blocks, within the pass.
    Sync(u32),
    /// So many blocks, beside passes.
    Async(u32),
}

impl Engine {
    /// Asks the tier for what lies behind the scratch hits. From here on all chunks of the request are to be
    /// offered again.
    pub(crate) fn match_below(&mut self, live: Live) -> Match {
        let identity = self.identity();
        let hits = self.scratch.hits.slots.len() as u32;
        let is_shut = self.is_lane_closed(Lane::G2ToG1);
        let is_never = is_shut || self.lower.as_deref().is_some_and(|lower| lower.config.load == Load::Never);
        let behind = self.config.hash_lookahead_tokens();
        let r = self.requests.get_mut(live);
        let Some(connector) = of(&mut self.lower) else { return Match::Nothing };
        connector.mine(live).stored = 0;
        if let Some(transfer) = connector.oldest_of(r.id) {
            return Match::Wait(transfer);
        }
        let size = connector.chunk_blocks();
        let known = (r.tokens - behind.min(r.tokens)) / identity.block_size_tokens / size * size;
        if is_never || r.computes_all || known < hits + size {
            return Match::Nothing;
        }
        let hashes = r.content.hashes(known as usize, identity);
        let first = hits / size;
        let keys =
            hashes.chunks_exact(size as usize).map(|chunk| chunk[size as usize - 1]).skip(first as usize);
        let (mut found, mut pending, mut busy) = (0, None, None);
        for key in keys {
            match connector.manager.lookup(key) {
                Found::Miss => break,
                Found::Hit => {}
                Found::HitPending => pending = pending.or(connector.carriers.get(&key).copied()),
            }
            if connector.loading.contains(&key) {
                busy = busy.or(connector.carriers.get(&key).copied());
            }
            found += 1;
        }
        let blocks = (size * (first + found)).saturating_sub(hits);
        match (pending, busy) {
            (Some(transfer), _) => Match::Wait(transfer),
            _ if blocks < size => Match::Nothing,
            (_, Some(transfer)) => Match::Wait(transfer),
            _ => connector.sync_or_async(r, hits, blocks, identity.block_size_tokens),
        }
    }
}

impl Connector {
    /// A load runs within the pass if the budget allows and something is left to compute.
    fn sync_or_async(&mut self, r: &Request, hits: u32, blocks: u32, block_size_tokens: u32) -> Match {
        let tokens = blocks * block_size_tokens;
        let within = self.attempt.sync_tokens.saturating_add(tokens) <= self.config.sync_load_budget_tokens;
        if within && hits * block_size_tokens + tokens < r.tokens {
            self.attempt.sync_tokens += tokens;
            return Match::Sync(blocks);
        }
        Match::Async(blocks)
    }
}
