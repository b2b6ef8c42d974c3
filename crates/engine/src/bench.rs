//! Single acquires on prepared pools, for `cargo xtask bench transactions` and for nothing else.
//!
//! A [`Case`] is a machine with one request, and a pool in which an acquire of the request meets what its
//! [`Kind`] says. An acquire is what an admission does: look the contents up, reserve, commit, and log the facts.
//! [`Case::restore`] takes it back, so that each acquire meets the same pool. Time is the caller's to measure.

use tierscope_units::{RequestId, SequenceHash, SimTime, SlotId, TokenRun, TxnId};

use crate::config::EngineConfig;
use crate::fact::Caller;
use crate::input::{Arrival, Input, Rank};
use crate::machine::Engine;
use crate::request::Live;

/// What an acquire meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All wanted blocks are cached.
    AllHits,
    /// None is, and there are free slots for all.
    AllMissing,
    /// None is, and all slots hold other content: each new block evicts one.
    AllVictims,
    /// The first half is cached; there are free slots for the other.
    HalfHits,
    /// The first half is cached; for the other, other content is evicted.
    HalfVictims,
    /// None is, and there are slots for half of them: nothing may change.
    Exhausted,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 6] = [
        Self::AllHits,
        Self::AllMissing,
        Self::AllVictims,
        Self::HalfHits,
        Self::HalfVictims,
        Self::Exhausted,
    ];
}

/// A machine whose next acquire is of one kind.
pub struct Case {
    engine: Engine,
    live: Live,
    kind: Kind,
    wanted: Vec<SequenceHash>,
    /// Contents given to slots so far.
    contents: u64,
}

const REQUEST: RequestId = RequestId(0);

impl Case {
    /// The pool that `kind` describes, for an acquire of `blocks` blocks.
    ///
    /// # Panics
    ///
    /// When the machine refuses the request, or an acquire does not do what its kind says.
    pub fn new(kind: Kind, blocks: u32) -> Self {
        let g1_blocks = match kind {
            Kind::AllHits | Kind::AllMissing | Kind::HalfHits => 2 * blocks,
            Kind::AllVictims | Kind::HalfVictims => blocks,
            Kind::Exhausted => blocks / 2,
        };
        let mut engine = Engine::new(EngineConfig { g1_blocks, ..EngineConfig::default() });
        let prompt = [TokenRun { start: 0, len: 1 }];
        let arrival = Arrival {
            request: REQUEST,
            prompt: &prompt,
            output_start: 1,
            output_tokens: 1,
            salt: 0,
            rank: Rank::default(),
            leg: crate::Leg::Whole,
            entry: crate::Entry::New,
        };
        engine.handle(SimTime::ZERO, Input::Arrive(arrival)).expect("the first request arrives once");
        let live = engine.requests.find(REQUEST).expect("one block fits");
        let wanted = (0..blocks).map(|block| content(u64::from(block))).collect();
        let mut case = Self { engine, live, kind, wanted, contents: u64::from(blocks) };
        let resident = match kind {
            Kind::AllHits => blocks as usize,
            Kind::HalfHits | Kind::HalfVictims => blocks as usize / 2,
            Kind::AllMissing | Kind::AllVictims | Kind::Exhausted => 0,
        };
        let tokens = blocks.min(g1_blocks) * case.engine.config.block_size_tokens;
        let _ = case.engine.acquire(SimTime::ZERO, live, tokens, Caller::Admission);
        case.fill(resident);
        case.restore();
        case.try_out(blocks);
        case
    }

    /// Registers the wanted contents in the first `resident` blocks.
    fn fill(&mut self, resident: usize) {
        let slots: Vec<SlotId> = self.engine.requests.get(self.live).blocks[..resident].to_vec();
        for (slot, &hash) in slots.into_iter().zip(&self.wanted) {
            self.engine.pool.register(slot, hash, None);
        }
    }

    /// An acquire takes as many blocks as its kind says; all buffers have their size from here on.
    fn try_out(&mut self, blocks: u32) {
        let missing = self.prepare();
        let _ = self.engine.transact(SimTime::ZERO, self.live, missing, 0, Caller::Admission);
        let all = if self.kind == Kind::Exhausted { 0 } else { blocks };
        assert_eq!(self.held(), all, "{:?}", self.kind);
        self.restore();
    }

    /// One acquire, with all that belongs to it. Returns the number of blocks that the request holds then.
    #[inline(never)]
    pub fn acquire(&mut self) -> u32 {
        let missing = self.prepare();
        let _ = self.engine.transact(SimTime::ZERO, self.live, missing, 0, Caller::Admission);
        self.held()
    }

    /// The same by reservation and commit, whatever the features of this build.
    #[inline(never)]
    pub fn take_reserved(&mut self) -> u32 {
        let missing = self.prepare();
        let txn = (TxnId(0), Caller::Admission);
        let _ = self.engine.take_reserved(SimTime::ZERO, self.live, txn, (missing, 0));
        self.held()
    }

    /// The same in a straight line.
    #[inline(never)]
    pub fn take_straight(&mut self) -> u32 {
        let missing = self.prepare();
        let txn = (TxnId(0), Caller::Admission);
        let _ = self.engine.take_straight(SimTime::ZERO, self.live, txn, (missing, 0));
        self.held()
    }

    /// Gives everything back and puts the pool as it was; this is not part of an acquire.
    pub fn restore(&mut self) {
        if matches!(self.kind, Kind::AllVictims | Kind::HalfVictims) {
            self.rename();
        }
        self.engine.release_blocks(self.live);
        self.engine.clear_facts();
    }

    /// Content for all blocks that have none, to be evicted by the next acquire.
    fn rename(&mut self) {
        let Engine { pool, requests, .. } = &mut self.engine;
        for &slot in &requests.get(self.live).blocks {
            if pool.slot_hash(slot).is_none() {
                self.contents += 1;
                pool.register(slot, content(self.contents), None);
            }
        }
    }

    fn prepare(&mut self) -> u32 {
        let Engine { pool, scratch, .. } = &mut self.engine;
        pool.prepare(&self.wanted, &mut scratch.hits);
        self.wanted.len() as u32 - scratch.hits.slots.len() as u32
    }

    fn held(&self) -> u32 {
        self.engine.requests.get(self.live).blocks.len() as u32
    }
}

/// Sequence hashes are spread over all bits, and never 0.
fn content(number: u64) -> SequenceHash {
    let spread = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    SequenceHash((spread ^ (spread >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9))
}
