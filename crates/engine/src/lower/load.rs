//! Onboarding: content that lies below G1 is loaded instead of computed.
//!
//! A load reserves its slots of G1 first (rule T7): they belong to the request, and hold nothing that a lookup
//! could find, until the bytes have come. What lies in G3 or G4 is staged through G2. A request that loads stands
//! in the line of those that hold blocks and wait; it stands there too when the load has ended, until it is
//! admitted, and nobody without blocks is admitted before it.

use tierscope_units::{SequenceHash, SimTime, SlotId, TransferId};

use super::Lower;
use super::batch::{Batch, Hold, Move, NO_SLOT};
use super::config::{Flavour, Load, Waiters};
use super::evict::Dependency;
use super::lane::Phase;
use super::name::{Cause, Lane, Tier};
use super::tier::Found;
use crate::fact::{CopyEnd, Fact};
use crate::machine::Engine;
use crate::request::Live;

/// A block that lies below.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundBelow {
    tier: Tier,
    slot: SlotId,
    hash: SequenceHash,
}

/// What a request should do about the content that lies below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// Compute: nothing is there, or loading it is not worth it.
    Compute,
    /// Load the first so many of the blocks found.
    Load(u32),
    /// Wait for a copy for somebody else.
    Wait(Dependency),
}

/// How far a request's load is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LoadState {
    /// Blocks that are on their way.
    pub(crate) outstanding: u32,
    /// The blocks that are loaded: from here …
    pub(crate) from: u32,
    /// … up to here, less those behind one that failed.
    pub(crate) until: u32,
    /// Tokens that came from G2, G3 and G4.
    pub(crate) tokens: [u32; Tier::COUNT - 1],
    /// The request was cancelled: its slots are freed when the last copy into them has ended.
    pub(crate) doomed: bool,
    /// vLLM's connector: the load has ended, and what it brought is not registered yet.
    pub(crate) has_arrived: bool,
}

impl Lower {
    /// Looks for the contents behind a request's hits in G1, as far as they are contiguous.
    fn look_for(&self, hashes: &[SequenceHash], found: &mut Vec<FoundBelow>) -> Option<Dependency> {
        found.clear();
        for &hash in hashes {
            let g2 = self.tier(Tier::G2).map_or(Found::Missing, |tier| tier.find(hash));
            let (busy, here) = match g2 {
                Found::Incoming(slot) => (self.tier(Tier::G2).and_then(|tier| tier.carrier(slot)), None),
                Found::Resident(slot) => (
                    self.tier(Tier::G2).and_then(|tier| tier.carrier(slot)),
                    Some(FoundBelow { tier: Tier::G2, slot, hash }),
                ),
                Found::Missing => (None, self.look_deeper(hash)),
            };
            let transfer = busy.and_then(|transfer| self.dependency_on(transfer));
            match (transfer, self.config.waiters, here) {
                (Some(dependency), Waiters::Wait, _) => return Some(dependency),
                (Some(_), Waiters::Recompute, _) | (_, _, None) => return None,
                (_, _, Some(block)) => found.push(block),
            }
        }
        None
    }

    fn look_deeper(&self, hash: SequenceHash) -> Option<FoundBelow> {
        let ways = [(Tier::G3, Lane::G3ToG2), (Tier::G4, Lane::G4ToG2)];
        let mut open = ways.into_iter().filter(|(_, lane)| !self.lanes[lane.index()].shut);
        open.find_map(|(tier, _)| match self.tier(tier)?.find(hash) {
            Found::Resident(slot) => Some(FoundBelow { tier, slot, hash }),
            Found::Incoming(_) | Found::Missing => None,
        })
    }

    /// How many of the blocks found are worth loading: all that the policy loads, or those after which the rest
    /// is sooner computed.
    fn worth_loading(&self, found: &[FoundBelow]) -> u32 {
        match self.config.load {
            Load::Never => 0,
            Load::Always => found.len() as u32,
            Load::Sooner => {
                let recompute = self.config.recompute_estimate.as_ns();
                let all = found.len() as u64;
                let cost = |cut: usize| {
                    self.load_estimate_ns(&found[..cut])
                        .saturating_add(recompute.saturating_mul(all - cut as u64))
                };
                // Only where the tier changes can stopping be better than both going on and stopping earlier.
                let cuts = (0..=found.len())
                    .filter(|&cut| cut == 0 || cut == found.len() || found[cut - 1].tier != found[cut].tier);
                cuts.min_by_key(|&cut| (cost(cut), cut)).unwrap_or(0) as u32
            }
        }
    }

    /// What the engine believes that loading these takes, behind what its lanes have to do already.
    fn load_estimate_ns(&self, found: &[FoundBelow]) -> u64 {
        if found.is_empty() {
            return 0;
        }
        let staged = |tier| found.iter().filter(|block| block.tier == tier).count() as u64;
        let lane_ns = |lane: Lane, blocks: u64| {
            let state = &self.lanes[lane.index()];
            let estimate = state.config.estimate;
            let per_block = estimate.per_block.as_ns().saturating_mul(state.backlog_blocks + blocks);
            per_block.saturating_add(estimate.latency.as_ns())
        };
        let below = [(Lane::G3ToG2, Tier::G3), (Lane::G4ToG2, Tier::G4)]
            .into_iter()
            .map(|(lane, tier)| (lane, staged(tier)))
            .filter(|&(_, blocks)| blocks > 0)
            .map(|(lane, blocks)| lane_ns(lane, blocks))
            .max()
            .unwrap_or(0);
        below.saturating_add(lane_ns(Lane::G2ToG1, found.len() as u64))
    }

    /// Queues batches of blocks that a request wants. `set_off_by` is the completion that made them wanted here.
    fn queue_wanted(
        &mut self,
        lane: Lane,
        wanted: (Live, tierscope_units::RequestId),
        moves: &[Move],
        set_off_by: u64,
    ) {
        let size = self.lanes[lane.index()].config.batch_blocks.max(1) as usize;
        for part in moves.chunks(size) {
            let transfer = TransferId(self.started);
            self.started += 1;
            for block in part {
                self.mark_carrier(lane, block, transfer);
            }
            let empty = Batch::new(lane, Cause::Wanted);
            let batch = Batch { moves: part.to_vec(), request: Some(wanted), set_off_by, ..empty };
            self.lane(lane).backlog_blocks += part.len() as u64;
            self.enqueue(transfer, Box::new(batch));
        }
    }

    /// In G2 it is known which transfer carries a block up, or brings it.
    fn mark_carrier(&mut self, lane: Lane, block: &Move, transfer: TransferId) {
        let Some(g2) = self.tier_mut(Tier::G2) else { return };
        match lane.to() {
            Tier::G1 => g2.set_carrier(block.from, transfer),
            _ => {
                g2.expect(block.to, block.hash, transfer);
            }
        }
    }
}

impl Engine {
    /// What a waiting request should do about content below G1, behind its `hits` in G1.
    pub(crate) fn look_below(&mut self, live: Live, hits: u32) -> Plan {
        let identity = self.identity();
        let Some(lower) = &self.lower else { return Plan::Compute };
        if lower.config.load == Load::Never || lower.config.flavour != Flavour::Kvbm || !self.pool.caching {
            return Plan::Compute;
        }
        if lower.lanes[Lane::G2ToG1.index()].shut {
            return Plan::Compute;
        }
        let r = self.requests.get_mut(live);
        let most = ((r.tokens - 1) / identity.block_size_tokens) as usize;
        if hits as usize >= most {
            return Plan::Compute;
        }
        let hashes = &r.content.hashes(most, identity)[hits as usize..];
        if let Some(dependency) = lower.look_for(hashes, &mut self.scratch.found) {
            return Plan::Wait(dependency);
        }
        match lower.worth_loading(&self.scratch.found) {
            0 => Plan::Compute,
            blocks => Plan::Load(blocks),
        }
    }

    /// Starts to load the first `blocks` found blocks into the slots behind the request's `hits`, which it has.
    pub(crate) fn start_load(&mut self, now: SimTime, live: Live, hits: u32, blocks: u32) {
        let found: Vec<FoundBelow> = self.scratch.found.drain(..).take(blocks as usize).collect();
        let r = self.requests.get(live);
        let wanted = (live, r.id);
        let Some(lower) = &mut self.lower else { return };
        for block in &found {
            if let Some(tier) = lower.tier_mut(block.tier) {
                tier.pin(block.slot);
            }
        }
        let (cut, staging) = stage(lower, &found, &mut self.scratch.lower_removed);
        for block in &found[cut..] {
            if let Some(tier) = lower.tier_mut(block.tier) {
                tier.unpin(block.slot);
            }
        }
        let mut moves: [Vec<Move>; Tier::COUNT - 1] = Default::default();
        let mut staging = staging.into_iter();
        self.requests.get_mut(live).load_tiers.clear();
        for (at, block) in (hits..).zip(&found[..cut]) {
            let to = match block.tier {
                Tier::G2 => self.requests.get(live).blocks[at as usize],
                _ => staging.next().unwrap_or(NO_SLOT),
            };
            let place = block.tier.index() - 1;
            self.requests.get_mut(live).load_tiers.push(place as u8);
            moves[place].push(Move { hash: block.hash, from: block.slot, to, hold: Hold::Pin, at });
        }
        self.log_tier_removed(now, Tier::G2);
        let counts = [0, 1, 2].map(|place: usize| moves[place].len() as u32);
        let load = LoadState {
            outstanding: cut as u32,
            from: hits,
            until: hits + cut as u32,
            ..LoadState::default()
        };
        let r = self.requests.get_mut(live);
        r.load = load;
        r.phase = crate::request::Phase::Loading;
        r.computed = hits * self.config.block_size_tokens;
        r.next_full = r.computed + self.config.block_size_tokens;
        let request = r.id;
        let [g2_blocks, g3_blocks, g4_blocks] = counts;
        self.facts
            .push(now, Fact::OnboardStarted { request, hit_blocks: hits, g2_blocks, g3_blocks, g4_blocks });
        for (place, lane) in [Lane::G2ToG1, Lane::G3ToG2, Lane::G4ToG2].into_iter().enumerate() {
            if let Some(lower) = &mut self.lower
                && !moves[place].is_empty()
            {
                lower.queue_wanted(lane, wanted, &moves[place], 0);
            }
            self.announce_batches(now, lane);
        }
        if cut == 0 {
            self.end_load(now, live);
        }
    }

    /// Blocks came to G2 on their way to G1: they go on, if the request still wants them.
    pub(crate) fn staged(&mut self, now: SimTime, batch: &Batch) {
        let Some((live, request)) = batch.request else { return };
        if self.requests.get(live).load.doomed {
            return self.load_done(now, live, batch.moves.len() as u32);
        }
        let Some(lower) = &mut self.lower else { return };
        if lower.lane(Lane::G2ToG1).shut {
            return self.load_failed(now, batch);
        }
        let mut moves = Vec::with_capacity(batch.moves.len());
        for block in &batch.moves {
            let Some(g2) = lower.tier_mut(Tier::G2) else { continue };
            if let Found::Resident(from) = g2.find(block.hash) {
                g2.pin(from);
                let to = self.requests.get(live).blocks[block.at as usize];
                moves.push(Move { from, to, hold: Hold::Pin, ..*block });
            }
        }
        lower.queue_wanted(Lane::G2ToG1, (live, request), &moves, lower.completions);
        self.announce_batches(now, Lane::G2ToG1);
    }

    /// Blocks did not come to G2.
    pub(crate) fn load_failed(&mut self, now: SimTime, batch: &Batch) {
        let Some((live, _)) = batch.request else { return };
        let first = batch.moves.iter().map(|block| block.at).min().unwrap_or(u32::MAX);
        let load = &mut self.requests.get_mut(live).load;
        load.until = load.until.min(first);
        self.load_done(now, live, batch.moves.len() as u32);
    }

    /// A copy into G1 ended, well or not.
    pub(crate) fn load_arrived(&mut self, now: SimTime, batch: &Batch, well: bool) {
        if !well {
            return self.load_failed(now, batch);
        }
        if let Some((live, _)) = batch.request {
            self.load_done(now, live, batch.moves.len() as u32);
        }
    }

    fn load_done(&mut self, now: SimTime, live: Live, blocks: u32) {
        let load = &mut self.requests.get_mut(live).load;
        load.outstanding -= blocks;
        if load.outstanding == 0 {
            self.end_load(now, live);
        }
    }

    /// Everything that was to come has come or failed: what came is matchable, what did not is computed.
    fn end_load(&mut self, now: SimTime, live: Live) {
        let block = self.config.block_size_tokens;
        let r = self.requests.get_mut(live);
        let LoadState { from, until, doomed, .. } = r.load;
        if doomed {
            self.release_blocks(live);
            self.requests.remove(live);
            self.doomed -= 1;
            self.stirred = true;
            return;
        }
        let wanted = r.load_tiers.len() as u32;
        let loaded = until - from;
        for &place in &r.load_tiers[..loaded as usize] {
            r.load.tokens[usize::from(place)] += block;
        }
        r.computed = until * block;
        let request = r.id;
        self.facts
            .push(now, Fact::OnboardEnded { request, loaded_blocks: loaded, failed_blocks: wanted - loaded });
        self.register_full(now, live, until * block);
        self.blocked.clear();
        self.stirred = true;
    }

    /// A loading request is given up: copies that have not started never do; its slots stay until the others have
    /// ended, since they still write into them.
    pub(crate) fn doom(&mut self, now: SimTime, live: Live) {
        let r = self.requests.get_mut(live);
        r.load.doomed = true;
        // Its row of a pass under way is void.
        (r.stale, r.drop_stale) = (r.in_flight, true);
        self.doomed += 1;
        self.requests.disown(live);
        let Some(lower) = &mut self.lower else { return };
        let mine = |batch: &Batch| {
            batch.request.is_some_and(|(other, _)| other == live)
                && matches!(batch.phase, Phase::Queued | Phase::Collecting)
        };
        let queued: Vec<TransferId> =
            lower.batches.iter().filter(|(_, batch)| mine(batch)).map(|(id, _)| id).collect();
        for transfer in queued {
            let Some(lower) = &mut self.lower else { return };
            let Some(lane) = lower.batches.get(transfer).map(|batch| batch.lane) else { continue };
            lower.lane(lane).queue.retain(|&other| other != transfer);
            self.end_batch(now, transfer, CopyEnd::Cancelled);
        }
    }
}

/// Reserves the slots of G2 that blocks from below go through: how many of the found blocks can be loaded, and
/// the slots. What does not fit is computed: nobody waits for room in G2 while it holds room in G1.
fn stage(
    lower: &mut Lower,
    found: &[FoundBelow],
    removed: &mut Vec<crate::fact::BlockRef>,
) -> (usize, Vec<SlotId>) {
    let Some(g2) = lower.tier_mut(Tier::G2) else { return (0, Vec::new()) };
    let room = g2.obtainable();
    let mut count = 0;
    let mut cut = found.len();
    for (at, block) in found.iter().enumerate() {
        if block.tier == Tier::G2 {
            continue;
        }
        if count == room {
            cut = at;
            break;
        }
        count += 1;
    }
    match g2.reserve(count, removed) {
        Some(slots) => (cut, slots),
        None => (0, Vec::new()),
    }
}
