//! A dumber pool, and the real one beside it: a list of blocks in the order of their last use, no links, no
//! index, no counters. After every step of random histories both must agree on outcomes, on what is resident,
//! and on references.
//!
//! `TIERSCOPE_CASES` sets the number of histories (10,000 by default; nights may take millions).

use proptest::prelude::*;
use tierscope_units::{SequenceHash, SlotId};

use super::pool::{BlockPool, SlotState};
use super::transaction::Hits;
use crate::config::EvictionPolicy;

/// A resident block: its content (0 while unregistered) and its references.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    content: u64,
    refs: u32,
}

/// All blocks; unreferenced full ones in the order in which they will be evicted.
#[derive(Clone, Debug, Default)]
struct Dumb {
    capacity: usize,
    held: Vec<Block>,
    cached: Vec<u64>,
}

impl Dumb {
    fn lookup(&self, content: u64) -> Option<bool> {
        if self.held.iter().any(|block| block.content == content) {
            return Some(true);
        }
        self.cached.contains(&content).then_some(false)
    }

    fn is_held_first(&self, content: u64) -> bool {
        self.held.iter().any(|block| block.content == content)
    }

    fn free(&self) -> usize {
        self.capacity - self.held.len() - self.cached.len()
    }
}

/// A live request of the history.
#[derive(Clone, Debug)]
struct Request {
    blocks: Vec<SlotId>,
    contents: Vec<u64>,
}

/// A step: choices are taken modulo what there is.
#[derive(Clone, Debug)]
enum Step {
    /// A request of `family` with `shared` blocks of the family's text and `own` of its own.
    Admit { family: u64, shared: usize, own: usize, abort: bool, keep_free: u32 },
    /// A request grows by one block, which is full or partial.
    Grow { request: usize, full: bool },
    /// A request ends.
    End { request: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let admit = (0..4_u64, 0..5_usize, 0..4_usize, any::<bool>(), 0..3_u32).prop_map(
        |(family, shared, own, abort, keep_free)| Step::Admit {
            family,
            shared,
            own,
            abort: abort && own % 2 == 0,
            keep_free,
        },
    );
    let grow = (0..8_usize, any::<bool>()).prop_map(|(request, full)| Step::Grow { request, full });
    let end = (0..8_usize).prop_map(|request| Step::End { request });
    prop::collection::vec(prop_oneof![3 => admit, 2 => grow, 3 => end], 1..40)
}

struct Pair {
    real: BlockPool,
    dumb: Dumb,
    live: Vec<Request>,
    next_content: u64,
}

impl Pair {
    fn new(capacity: u32) -> Self {
        Self {
            real: BlockPool::new(capacity, true, EvictionPolicy::Lru),
            dumb: Dumb { capacity: capacity as usize, ..Dumb::default() },
            live: Vec::new(),
            next_content: 1_000,
        }
    }

    fn play(&mut self, step: &Step) -> Result<(), TestCaseError> {
        match *step {
            Step::Admit { family, shared, own, abort, keep_free } => {
                self.admit(family, shared, own, abort, keep_free)?
            }
            Step::Grow { request, full } if !self.live.is_empty() => {
                self.grow(request % self.live.len(), full)?
            }
            Step::End { request } if !self.live.is_empty() => self.end(request % self.live.len()),
            Step::Grow { .. } | Step::End { .. } => {}
        }
        self.agree()
    }

    fn admit(
        &mut self,
        family: u64,
        shared: usize,
        own: usize,
        abort: bool,
        keep_free: u32,
    ) -> Result<(), TestCaseError> {
        let mut contents: Vec<u64> = (0..shared as u64).map(|block| 1 + family * 10 + block).collect();
        contents.extend((0..own as u64).map(|block| self.next_content + block));
        self.next_content += own as u64;
        let hashes: Vec<SequenceHash> = contents.iter().map(|&content| SequenceHash(content)).collect();
        let mut hits = Hits::default();
        self.real.prepare(&hashes, &mut hits);
        let found: Vec<bool> = contents.iter().map_while(|&content| self.dumb.lookup(content)).collect();
        prop_assert_eq!(hits.slots.len(), found.len(), "hits of {:?}", contents);
        let dumb_cached = found.iter().filter(|&&held| !held).count();
        prop_assert_eq!(hits.cached as usize, dumb_cached);
        let missing = contents.len() - found.len();
        let fits = missing + dumb_cached + keep_free as usize <= self.dumb.free() + self.dumb.cached.len();
        let before = fingerprint(&self.real);
        match self.real.reserve(&mut hits, missing as u32, keep_free, &mut Vec::new()) {
            Err(exhausted) => {
                prop_assert!(!fits, "{exhausted:?} though it fits");
                prop_assert_eq!(fingerprint(&self.real), before, "T3: the state is unchanged");
            }
            Ok(reservation) if abort => {
                prop_assert!(fits);
                self.real.abort(reservation);
                prop_assert_eq!(fingerprint(&self.real), before, "T5: an abort restores everything");
            }
            Ok(reservation) => {
                prop_assert!(fits, "reserved though it does not fit");
                let mut blocks = Vec::new();
                let mut removed = Vec::new();
                self.real.commit(reservation, &mut blocks, &mut removed);
                let evicted = self.take_dumb(&contents, found.len());
                let removed: Vec<u64> = removed.iter().map(|block| block.hash.0).collect();
                prop_assert_eq!(removed, evicted, "victims in order");
                for index in found.len()..contents.len() {
                    let parent = index.checked_sub(1).map(|before| blocks[before]);
                    self.real.register(blocks[index], hashes[index], parent);
                }
                self.live.push(Request { blocks, contents });
            }
        }
        Ok(())
    }

    /// The dumb side of a commit; what was evicted, in order.
    fn take_dumb(&mut self, contents: &[u64], hits: usize) -> Vec<u64> {
        for content in &contents[..hits] {
            if let Some(block) = self.dumb.held.iter_mut().find(|block| block.content == *content) {
                block.refs += 1;
                continue;
            }
            let at = self.dumb.cached.iter().position(|cached| cached == content).expect("a hit is resident");
            self.dumb.cached.remove(at);
            self.dumb.held.push(Block { content: *content, refs: 1 });
        }
        let mut evicted = Vec::new();
        for content in &contents[hits..] {
            if self.dumb.free() == 0 {
                evicted.push(self.dumb.cached.remove(0));
            }
            self.dumb.held.push(Block { content: *content, refs: 1 });
        }
        evicted
    }

    fn grow(&mut self, request: usize, full: bool) -> Result<(), TestCaseError> {
        // Only a request whose last block is full can grow.
        if self.live[request].contents.last() == Some(&0) {
            return Ok(());
        }
        let fits = self.dumb.free() + self.dumb.cached.len() > 0;
        let before = fingerprint(&self.real);
        let (mut hits, mut victims) = (Hits::default(), Vec::new());
        let Ok(reservation) = self.real.reserve(&mut hits, 1, 0, &mut victims) else {
            prop_assert!(!fits);
            prop_assert_eq!(fingerprint(&self.real), before);
            return Ok(());
        };
        prop_assert!(fits);
        let live = &mut self.live[request];
        let parent = live.blocks.last().copied();
        self.real.commit(reservation, &mut live.blocks, &mut Vec::new());
        let content = if full { self.next_content } else { 0 };
        self.next_content += u64::from(full);
        live.contents.push(content);
        if full {
            let slot = *live.blocks.last().expect("it has just grown");
            self.real.register(slot, SequenceHash(content), parent);
        }
        if self.dumb.free() == 0 {
            self.dumb.cached.remove(0);
        }
        self.dumb.held.push(Block { content, refs: 1 });
        Ok(())
    }

    fn end(&mut self, request: usize) {
        let Request { blocks, contents } = self.live.swap_remove(request);
        self.real.release(&blocks);
        for content in contents.iter().rev() {
            let at = self.dumb.held.iter().position(|block| block.content == *content).expect("it was held");
            self.dumb.held[at].refs -= 1;
            if self.dumb.held[at].refs > 0 {
                continue;
            }
            self.dumb.held.remove(at);
            if *content != 0 {
                self.dumb.cached.push(*content);
            }
        }
    }

    fn agree(&self) -> Result<(), TestCaseError> {
        let mut real: Vec<Block> = Vec::new();
        let mut free = 0;
        for slot in (0..self.real.capacity()).map(SlotId) {
            let content = self.real.slot_hash(slot).map_or(0, |hash| hash.0);
            match self.real.slot_state(slot) {
                SlotState::Active { refs, .. } => real.push(Block { content, refs }),
                SlotState::Free => free += 1,
                SlotState::Cached => prop_assert!(!self.dumb.is_held_first(content)),
                SlotState::Reserved | SlotState::SourceHold => {
                    prop_assert!(false, "nothing is promised between steps")
                }
            }
        }
        let mut dumb = self.dumb.held.clone();
        let key = |block: &Block| (block.content, block.refs);
        real.sort_by_key(key);
        dumb.sort_by_key(key);
        prop_assert_eq!(real, dumb, "what is held");
        prop_assert_eq!(free, self.dumb.free(), "what is free");
        let order: Vec<u64> = self.real.take_order()[free..]
            .iter()
            .map(|&slot| self.real.slot_hash(slot).expect("a cached slot is full").0)
            .collect();
        prop_assert_eq!(&order, &self.dumb.cached, "what is cached, in order");
        Ok(())
    }
}

/// Everything that a later decision can depend on, recency included.
fn fingerprint(pool: &BlockPool) -> (Vec<SlotId>, Vec<(SlotState, u64)>, crate::fact::Occupancy) {
    let slot = |slot| (pool.slot_state(slot), pool.slot_hash(slot).map_or(0, |hash| hash.0));
    (pool.take_order(), (0..pool.capacity()).map(SlotId).map(slot).collect(), pool.occupancy())
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test is no part of the machine; the long mode is asked for by name"
)]
fn cases() -> u32 {
    std::env::var("TIERSCOPE_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(10_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_dumber_pool_agrees_after_every_step(capacity in 1..14_u32, history in steps()) {
        let mut pair = Pair::new(capacity);
        for step in &history {
            pair.play(step)?;
        }
    }
}

/// Every history of five steps out of seven kinds, on pools of one to four slots: 67,228 histories. Aborts are
/// among the steps, so a transaction is taken back in every state that such a pool can be in.
#[test]
fn every_short_history_agrees() {
    let admit = |shared, own, abort| Step::Admit { family: 0, shared, own, abort, keep_free: 0 };
    let kinds = [
        admit(2, 0, false),
        admit(2, 1, true),
        admit(0, 2, false),
        admit(1, 1, false),
        Step::Grow { request: 0, full: true },
        Step::Grow { request: 1, full: false },
        Step::End { request: 0 },
    ];
    let mut histories = 0;
    for capacity in 1..=4 {
        for history in 0..kinds.len().pow(5) {
            let mut pair = Pair::new(capacity);
            for step in 0..5 {
                let kind = history / kinds.len().pow(step) % kinds.len();
                pair.play(&kinds[kind])
                    .unwrap_or_else(|error| panic!("history {history} of {capacity}: {error}"));
            }
            histories += 1;
        }
    }
    assert_eq!(histories, 67_228);
}
