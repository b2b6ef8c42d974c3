//! Acquires of running requests, and the registration of blocks that become full (rules T1–T5, T7).

use tierscope_units::{SimTime, SlotId, TxnId};

use crate::block::evict::Evict as _;
use crate::block::transaction::{Exhausted, Hits, new_blocks};
use crate::fact::{BlockRef, Caller, Fact, Prepared};
use crate::lower::{Below, Dependency};
use crate::machine::{Engine, Scratch};
use crate::request::{Identity, Live};

/// What an acquire came to (rule T3). `RetryNow` is taken inside, at most once.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Committed.
    Ready,
    /// Not even everything evictable would do; nothing changed. The only outcome that may preempt (rule S2).
    CapacityExhausted,
    /// The slots exist, and a transfer that is under way still reads them.
    BlockedOnOffload,
}

/// What an allocation took.
struct Took {
    active_hits: u32,
    cached_hits: u32,
    victims: u32,
    /// Where the new blocks begin in the request's list.
    first_new: usize,
}

impl Took {
    fn of(owned: &[SlotId], hits: &Hits, victims: u32) -> Self {
        let found = hits.slots.len();
        let cached_hits = hits.cached;
        Self { active_hits: found as u32 - cached_hits, cached_hits, victims, first_new: owned.len() + found }
    }
}

impl Engine {
    /// Grows a running request to room for `end` tokens, all or nothing.
    pub(crate) fn acquire(&mut self, now: SimTime, live: Live, end: u32, caller: Caller) -> Outcome {
        let owned = self.requests.get(live).blocks.len() as u32;
        let missing = end.div_ceil(self.config.block_size_tokens) - owned;
        self.scratch.hits.slots.clear();
        self.scratch.hits.cached = 0;
        self.transact(now, live, missing, 0, caller)
    }

    /// One transaction: reserves and commits what the scratch hits and `missing` new slots make, leaving
    /// `keep_free` available. All other outcomes leave the request as it was.
    pub(crate) fn transact(
        &mut self,
        now: SimTime,
        live: Live,
        missing: u32,
        keep_free: u32,
        caller: Caller,
    ) -> Outcome {
        let txn = self.next_txn();
        let request = self.requests.get(live).id;
        let mut retried = false;
        loop {
            let free = self.pool.free.len() as u32;
            let taken = self.take(now, live, (txn, caller), (missing, keep_free));
            let Err(Exhausted { needed, obtainable }) = taken else { return Outcome::Ready };
            let cached_hits = self.scratch.hits.cached;
            let active_hits = self.scratch.hits.slots.len() as u32 - cached_hits;
            let prepared = Prepared { active_hits, cached_hits, missing, keep_free, free };
            let short = (needed + keep_free).saturating_sub(obtainable);
            match self.make_room_below(now, missing, short) {
                None => {
                    let refused =
                        Fact::CapacityExhausted { txn, request, caller, needed, obtainable, prepared };
                    self.facts.push(now, refused);
                    return Outcome::CapacityExhausted;
                }
                Some(Below::Pending(dependency)) => {
                    self.depend(live, dependency);
                    let Dependency { transfer, deadline } = dependency;
                    let blocked =
                        Fact::BlockedOnOffload { txn, request, caller, needed, transfer, deadline, prepared };
                    self.facts.push(now, blocked);
                    return Outcome::BlockedOnOffload;
                }
                Some(Below::Released(released)) => {
                    // At most one retry, and only with slots released: a second would be a loop (rule T3).
                    assert!(!retried && released > 0, "{txn:?} retries without a gain");
                    retried = true;
                    let generation = self.pool.generation;
                    self.facts.push(now, Fact::RetryNow { txn, request, caller, generation, released });
                }
            }
        }
    }

    /// Takes the scratch hits and `missing` new slots, or nothing.
    fn take(
        &mut self,
        now: SimTime,
        live: Live,
        txn: (TxnId, Caller),
        wanted: (u32, u32),
    ) -> Result<(), Exhausted> {
        #[cfg(any(feature = "straight-line", feature = "bench-internals"))]
        if cfg!(feature = "straight-line") {
            return self.take_straight(now, live, txn, wanted);
        }
        self.take_reserved(now, live, txn, wanted)
    }

    pub(crate) fn take_reserved(
        &mut self,
        now: SimTime,
        live: Live,
        txn: (TxnId, Caller),
        (missing, keep_free): (u32, u32),
    ) -> Result<(), Exhausted> {
        self.offer_first(missing)?;
        let r = self.requests.get_mut(live);
        let Scratch { hits, slots, removed, .. } = &mut self.scratch;
        let reservation = self.pool.reserve(hits, missing, keep_free, slots)?;
        let took = Took::of(&r.blocks, reservation.hits(), reservation.victims());
        self.pool.commit(reservation, &mut r.blocks, removed);
        self.log_acquired(now, live, txn, took);
        Ok(())
    }

    /// What [`Engine::take_reserved`] does, without reservation.
    #[cfg(any(feature = "straight-line", feature = "bench-internals"))]
    pub(crate) fn take_straight(
        &mut self,
        now: SimTime,
        live: Live,
        txn: (TxnId, Caller),
        (missing, keep_free): (u32, u32),
    ) -> Result<(), Exhausted> {
        self.offer_first(missing)?;
        let r = self.requests.get_mut(live);
        let Scratch { hits, removed, .. } = &mut self.scratch;
        let mut took = Took::of(&r.blocks, hits, 0);
        took.victims = self.pool.take_straight(hits, (missing, keep_free), &mut r.blocks, removed)?;
        self.log_acquired(now, live, txn, took);
        Ok(())
    }

    /// Where a tier lies below, victims have to be offered to it first.
    pub(crate) fn offer_first(&self, missing: u32) -> Result<(), Exhausted> {
        let copies = self.lower.as_deref().is_some_and(|lower| lower.copies_victims());
        if copies && missing > self.pool.free.len() as u32 {
            let needed = missing + self.scratch.hits.cached;
            return Err(Exhausted { needed, obtainable: self.pool.available() });
        }
        Ok(())
    }

    /// What is so once the slots are the request's.
    fn log_acquired(&mut self, now: SimTime, live: Live, (txn, caller): (TxnId, Caller), took: Took) {
        let Took { active_hits, cached_hits, victims, first_new } = took;
        let r = self.requests.get_mut(live);
        r.room = r.blocks.len() as u32 * self.config.block_size_tokens;
        let request = r.id;
        let missing = new_blocks(&mut self.facts, &r.blocks[first_new..]);
        let acquired = Fact::Acquired { txn, request, caller, active_hits, cached_hits, missing, victims };
        self.facts.push(now, acquired);
        self.log_removed(now);
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
        self.pool.warm(hashes);
        if let Some(sketch) = self.lower.as_deref_mut().and_then(|lower| lower.frequency.as_deref_mut()) {
            hashes.iter().for_each(|&hash| sketch.used(hash));
        }
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
