//! Tiers that workers share: a host's disk (G3), and the object store (G4), each with one copy of a content, whoever
//! wrote it (rule L8).
//!
//! A worker's machine does not know that a tier is not its own: the fleet lends it the tiers of its host for as long
//! as it is told or asked something, which takes no time. What it holds in them is its own, and is swept over all
//! workers together.

use std::collections::BTreeSet;

use tierscope_units::{Idx, SimTime, TransferId, WorkerId};

use super::{Fleet, FleetConfig, Worker};
use crate::block::BlockPool;
use crate::fact::{CopyEnd, CopyFailure};
use crate::lower::config::TiersConfig;
use crate::lower::{Lane, Lower, LowerTier, Tier};
use crate::machine::Engine;

/// The tiers that no worker has to itself.
#[derive(Clone, Default)]
pub(super) struct Shared {
    /// By host.
    g3: Vec<Option<LowerTier>>,
    g4: Option<LowerTier>,
    /// Workers with a copy that waits for room in one of them.
    wait_for_room: BTreeSet<WorkerId>,
}

impl Shared {
    /// Takes the shared tiers from workers that were made with tiers of their own.
    pub(super) fn of(config: &FleetConfig, workers: &mut [Worker]) -> Self {
        let mut shared = Self { g3: vec![None; config.hosts()], ..Self::default() };
        if config.router.is_none() {
            return shared;
        }
        for (at, worker) in workers.iter_mut().enumerate() {
            let Some(lower) = worker.engine.lower.as_deref_mut() else { continue };
            let [g3, g4] = lower.share();
            let g3_here = &mut shared.g3[config.host_of(at)];
            *g3_here = g3_here.take().or(g3);
            shared.g4 = shared.g4.take().or(g4);
        }
        shared
    }
}

impl Shared {
    /// Shared tiers grow to the sizes of `tiers`.
    pub(super) fn grow(&mut self, tiers: &TiersConfig) {
        for tier in self.g3.iter_mut().flatten() {
            tier.grow_to(tiers.g3.map_or(0, |g3| g3.blocks));
        }
        if let Some(tier) = &mut self.g4 {
            tier.grow_to(tiers.g4.map_or(0, |g4| g4.blocks));
        }
    }

    /// A shared tier of a host.
    pub(super) fn tier(&self, tier: Tier, host: usize) -> Option<&LowerTier> {
        match tier {
            Tier::G3 => self.g3.get(host)?.as_ref(),
            Tier::G4 => self.g4.as_ref(),
            Tier::G1 | Tier::G2 => None,
        }
    }
}

impl Fleet {
    fn host_of(&self, worker: WorkerId) -> usize {
        self.config.host_of(worker.index())
    }

    /// A worker gets the tiers that it shares, and memory for its facts. Given back by [`Fleet::take_back`], before anybody else gets them.
    pub(super) fn lend(&mut self, worker: WorkerId) {
        let host = self.host_of(worker);
        let shared = &mut self.shared;
        let engine = &mut self.workers[worker.index()].engine;
        engine.facts.exchange_memory(&mut self.spare_log);
        if let Some(lower) = engine.lower.as_deref_mut() {
            lower.exchange(&mut shared.g3[host], &mut shared.g4);
        }
    }

    /// The shared tiers come back. Whoever waits for room in them looks again when there is some.
    pub(super) fn take_back(&mut self, worker: WorkerId) {
        let host = self.host_of(worker);
        let shared = &mut self.shared;
        let engine = &mut self.workers[worker.index()].engine;
        engine.facts.exchange_memory(&mut self.spare_log);
        let Some(lower) = engine.lower.as_deref_mut() else { return };
        lower.exchange(&mut shared.g3[host], &mut shared.g4);
        let has_freed = lower.take_freed();
        if lower.waits_for_shared_room() {
            shared.wait_for_room.insert(worker);
        } else {
            shared.wait_for_room.remove(&worker);
        }
        if !has_freed || shared.wait_for_room.is_empty() {
            return;
        }
        let others: Vec<WorkerId> =
            shared.wait_for_room.iter().copied().filter(|&other| other != worker).collect();
        for other in others {
            if let Some(lower) = self.workers[other.index()].engine.lower.as_deref_mut() {
                lower.stirred = true;
            }
            self.stir(other);
        }
    }

    /// A tier as a worker sees it, where there is one.
    pub fn tier_of(&self, worker: WorkerId, tier: Tier) -> Option<&BlockPool> {
        let shared = match tier {
            Tier::G1 | Tier::G2 => None,
            Tier::G3 => self.shared.g3[self.host_of(worker)].as_ref(),
            Tier::G4 => self.shared.g4.as_ref(),
        };
        match shared {
            Some(shared) => Some(&shared.pool),
            None => self.workers[worker.index()].engine.tier(tier),
        }
    }

    /// Copies of a worker that is going are over: what they hold in shared tiers is free.
    pub(super) fn end_copies(&mut self, now: SimTime, worker: WorkerId) {
        self.lend(worker);
        self.workers[worker.index()].engine.abort_copies(now);
    }

    /// Conservation in the shared tiers, over all workers that share them (rules L8, T9).
    pub(super) fn check_shared(&self) -> Result<(), String> {
        let lowers = |host: Option<usize>| {
            let workers = self.workers.iter().enumerate();
            let here = workers
                .filter(move |&(at, _)| host.is_none_or(|host| self.host_of(WorkerId(at as u16)) == host));
            here.filter_map(|(_, worker)| worker.engine.lower.as_deref()).collect::<Vec<&Lower>>()
        };
        for (host, tier) in self.shared.g3.iter().enumerate() {
            if let Some(tier) = tier {
                Lower::check_tier(Tier::G3, tier, &lowers(Some(host)))?;
            }
        }
        match &self.shared.g4 {
            Some(tier) => Lower::check_tier(Tier::G4, tier, &lowers(None)),
            None => Ok(()),
        }
    }

    /// Roughly the memory of a copy of the shared tiers, in bytes.
    pub(super) fn shared_bytes(&self) -> usize {
        let tiers = self.shared.g3.iter().flatten().chain(&self.shared.g4);
        tiers.map(|tier| tier.pool.state_bytes()).sum()
    }
}

impl Engine {
    /// Every copy ends in failure, whatever it was doing; nothing is tried again (rule L5).
    fn abort_copies(&mut self, now: SimTime) {
        let Some(lower) = self.lower.as_deref_mut().filter(|lower| lower.connector.is_none()) else { return };
        for lane in Lane::ALL {
            lower.flush(lane);
            lower.lane(lane).queue.clear();
        }
        for lane in Lane::ALL {
            self.announce_batches(now, lane);
        }
        // Ending one may queue another: until none is left.
        while let Some(transfer) = self.oldest_copy() {
            self.end_batch(now, transfer, CopyEnd::Failed(CopyFailure::Aborted));
        }
    }

    /// The oldest copy that has not ended, taken out of its queue.
    fn oldest_copy(&mut self) -> Option<TransferId> {
        let lower = self.lower.as_deref_mut()?;
        let (transfer, lane) = lower.batches.iter().map(|(id, batch)| (id, batch.lane)).next()?;
        lower.lane(lane).queue.retain(|&other| other != transfer);
        Some(transfer)
    }
}
