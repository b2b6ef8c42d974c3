//! What is now so: the machine's getters.

use tierscope_units::{Digest, Digester, PassId, RequestId, SequenceHash, SlotId};

use crate::block::BlockPool;
use crate::census::{self, CensusRow, Wait};
use crate::config::EngineConfig;
use crate::connector::Connector;
use crate::fact::{FactLog, Occupancy};
use crate::lower::{CopyView, Found, Lane, LaneSnapshot, Lower, LowerTier, Tier};
use crate::machine::Engine;
use crate::request::Live;
use crate::schedule::Row;

impl Engine {
    /// The facts since they were last cleared.
    pub fn facts(&self) -> &FactLog {
        &self.facts
    }

    /// Forgets the facts; the reader has them.
    pub fn clear_facts(&mut self) {
        self.facts.clear();
    }

    /// The configuration.
    pub fn config(&self) -> &EngineConfig {
        &self.config
    }

    /// G1.
    pub fn g1(&self) -> &BlockPool {
        &self.pool
    }

    /// The rows of the newest pass under way, in the order in which they were scheduled.
    pub fn rows(&self) -> &[Row] {
        self.in_flight.back().map_or(&[], |batch| &batch.rows)
    }

    /// The rows of a pass under way.
    pub fn rows_of(&self, pass: PassId) -> &[Row] {
        self.in_flight.iter().find(|batch| batch.pass == pass).map_or(&[], |batch| &batch.rows)
    }

    /// The oldest pass under way.
    pub fn pass_under_way(&self) -> Option<PassId> {
        self.in_flight.front().map(|batch| batch.pass)
    }

    pub(crate) fn has_stirred(&self) -> bool {
        self.stirred
    }

    /// Requests in the batch, and in the line.
    pub fn queue_lengths(&self) -> (usize, usize) {
        (self.running.len(), self.waiting.len() + self.holding.len())
    }

    /// Requests in the batch, in order.
    pub fn running(&self) -> impl Iterator<Item = RequestId> {
        self.running.iter().map(|&live| self.requests.get(live).id)
    }

    /// Requests in the line, head first.
    pub fn waiting(&self) -> impl Iterator<Item = RequestId> {
        self.waiting.iter().map(|live| self.requests.get(live).id)
    }

    /// Requests that hold blocks and wait for admission, head first.
    pub fn holding(&self) -> impl Iterator<Item = RequestId> {
        self.holding.iter().map(|live| self.requests.get(live).id)
    }

    /// The transfer that a loading request waits for: the oldest that carries its blocks.
    pub(crate) fn load_under_way(&self, live: Live) -> Option<crate::lower::Dependency> {
        let r = self.requests.get(live);
        if r.load.outstanding == 0 {
            return None;
        }
        let lower = self.lower.as_deref()?;
        let mine = |batch: &&crate::lower::Batch| batch.request == Some((live, r.id));
        let (transfer, _) = lower.batches.iter().find(|(_, batch)| mine(batch))?;
        lower.dependency_on(transfer)
    }

    /// A tier below G1, where there is one.
    pub fn tier(&self, tier: Tier) -> Option<&BlockPool> {
        match tier {
            Tier::G1 => Some(&self.pool),
            lower => self.lower.as_deref()?.tier(lower).map(|tier| &tier.pool),
        }
    }

    /// Whether content can be matched in a tier.
    pub(crate) fn has_resident(&self, tier: Tier, hash: SequenceHash) -> bool {
        match tier {
            Tier::G1 => self.pool.lookup(hash).is_some(),
            lower => self
                .lower
                .as_deref()
                .and_then(|machine| machine.tier(lower))
                .is_some_and(|tier| matches!(tier.find(hash), Found::Resident(_))),
        }
    }

    /// Content that can be matched in a tier, slot by slot; `shared` is the tier if it is not this worker's own.
    pub(crate) fn resident_in<'a>(
        &'a self,
        tier: Tier,
        shared: Option<&'a LowerTier>,
    ) -> impl Iterator<Item = SequenceHash> + 'a {
        let own =
            self.lower.as_deref().and_then(|lower| if tier == Tier::G1 { None } else { lower.tier(tier) });
        let below = shared.or(own);
        let pool = if tier == Tier::G1 { Some(&self.pool) } else { below.map(|tier| &tier.pool) };
        let slots = (0..pool.map_or(0, BlockPool::capacity)).map(SlotId);
        let hashes = slots.filter_map(move |slot| pool.and_then(|pool| pool.slot_hash(slot)));
        // What is only expected below cannot be matched yet.
        hashes.filter(move |&hash| below.is_none_or(|tier| matches!(tier.find(hash), Found::Resident(_))))
    }

    /// The number of the next transfer.
    pub(crate) fn next_transfer(&self) -> u64 {
        let connector = self.connector().map_or(0, |connector| connector.created);
        self.copies_queued().max(connector)
    }

    /// Goes on with the numbers of a worker that was here before: none is given twice.
    pub(crate) fn number_on_from(&mut self, before: &Self) {
        self.next_pass = before.next_pass;
        self.txns = before.txns;
    }

    /// Batches that are queued or under way, in the order of their numbers.
    pub fn copies(&self) -> impl Iterator<Item = CopyView> {
        let batches = self.lower.as_deref().into_iter().flat_map(|lower| lower.batches.iter());
        let jobs = self.connector().into_iter().flat_map(Connector::copies);
        batches.map(|(transfer, batch)| batch.view(transfer)).chain(jobs)
    }

    /// How many batches of a lane are where (rule L2).
    pub fn lane(&self, lane: Lane) -> LaneSnapshot {
        self.lower.as_deref().map(|lower| lower.lanes[lane.index()].snapshot).unwrap_or_default()
    }

    /// Whether a request has arrived and not ended.
    pub fn is_live(&self, request: RequestId) -> bool {
        self.requests.find(request).is_some_and(|live| !self.requests.get(live).load.doomed)
    }

    /// Number of requests that have arrived and not ended.
    pub fn unfinished(&self) -> usize {
        self.requests.live_count()
    }

    /// Output tokens of a live request so far.
    pub fn output_tokens(&self, request: RequestId) -> Option<u32> {
        self.requests.find(request).map(|live| self.requests.get(live).output_tokens())
    }

    /// The blocks that a live request holds, in the order of its tokens.
    pub fn blocks_of(&self, request: RequestId) -> &[SlotId] {
        self.requests.find(request).map_or(&[], |live| &self.requests.get(live).blocks)
    }

    /// The requests that hold a slot, in the order of their numbers.
    pub fn owners(&self, slot: SlotId) -> Vec<RequestId> {
        self.requests.ids().filter(|&id| self.blocks_of(id).contains(&slot)).collect()
    }

    /// Whether blocks of finished requests are kept for their followers.
    pub fn has_leases(&self) -> bool {
        self.leases.next_end().is_some()
    }

    /// Copies that were queued so far: the numbers below this one are given.
    pub fn copies_queued(&self) -> u64 {
        self.lower.as_deref().map_or(0, |lower| lower.started)
    }

    /// A digest of who is where with how much, in which order, and of what moves: two states with different
    /// fingerprints differ, and a machine that comes back to one is likely to be where it was (rule R2).
    pub fn fingerprint(&self) -> Digest {
        let mut digester = Digester::default();
        let lines = [self.running.clone(), self.holding.iter().collect(), self.waiting.iter().collect()];
        for line in lines {
            digester.word(line.len() as u64);
            for live in line {
                let r = self.requests.get(live);
                let blocks = r.blocks.len() as u64;
                digester.words(&[
                    u64::from(r.id.0),
                    r.phase as u64,
                    u64::from(r.computed),
                    u64::from(r.tokens),
                    blocks,
                ]);
                digester.words(&[u64::from(r.in_flight), u64::from(r.drafts), u64::from(r.load.outstanding)]);
            }
        }
        let Occupancy { free, reserved, active, cached, source_hold } = self.pool.occupancy();
        digester.words(&[free, reserved, active, cached, source_hold].map(u64::from));
        for batch in self.lower.as_deref().into_iter().flat_map(|lower| lower.batches.values()) {
            let blocks = batch.moves.len() as u64;
            digester.words(&[batch.lane as u64, batch.phase as u64, u64::from(batch.attempts), blocks]);
        }
        for copy in self.connector().into_iter().flat_map(Connector::copies) {
            let blocks = copy.contents.len() as u64;
            digester.words(&[copy.lane as u64, copy.phase as u64, blocks]);
        }
        digester.finish()
    }

    /// Roughly the memory that a copy of this state takes, in bytes.
    pub fn state_bytes(&self) -> usize {
        let below = self.lower.as_deref().map_or(0, Lower::state_bytes);
        self.pool.state_bytes() + self.requests.state_bytes() + below
    }

    /// The requests that wait for each other, if nothing will wake them (rule R3).
    pub fn wait_cycle(&self) -> Vec<Wait> {
        census::wait_cycle(self)
    }

    /// Who waits for what (rule R3).
    pub fn census(&self) -> Vec<CensusRow> {
        census::take(self)
    }
}
