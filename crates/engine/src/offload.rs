//! Copies of evicted blocks to the tier below, and who waits for them (rules T3, T6, T8).
//!
//! A slot whose content is not below yet is held as the source until its copy ends, well or not. A request
//! that needs such slots depends on exactly one transfer, which is under way: a dependency always has a wakeup.

use std::collections::{BTreeMap, BTreeSet};

use tierscope_units::{RequestId, SequenceHash, SimTime, TransferId};

use crate::config::Presence;
use crate::fact::{BlockRef, Fact};
use crate::machine::Engine;
use crate::request::Live;

/// What a blocked request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The transfer, which is under way.
    pub transfer: TransferId,
    /// When it is believed to end.
    pub deadline: SimTime,
}

/// Transfers under way, and what is below.
#[derive(Clone, Debug, Default)]
pub(crate) struct Offloads {
    under_way: BTreeMap<TransferId, Offload>,
    started: u64,
    /// Contents that were copied below.
    below: BTreeSet<SequenceHash>,
    /// Commands that are not handed out yet.
    pub(crate) to_start: Vec<TransferId>,
}

#[derive(Clone, Debug)]
struct Offload {
    sources: Vec<BlockRef>,
    deadline: SimTime,
    waiters: Vec<(Live, RequestId)>,
}

impl Offloads {
    fn has(&self, presence: Presence, hash: SequenceHash) -> bool {
        match presence {
            Presence::Always => true,
            Presence::Never => false,
            Presence::Copied => self.below.contains(&hash),
        }
    }

    /// Blocks of a transfer under way.
    pub(crate) fn blocks_of(&self, transfer: TransferId) -> u32 {
        self.under_way.get(&transfer).map_or(0, |offload| offload.sources.len() as u32)
    }

    /// The transfer with whose end `wanted` more slots will have come free.
    fn that_frees(&self, wanted: u32) -> Option<TransferId> {
        let mut freed = 0;
        self.under_way.iter().find_map(|(&transfer, offload)| {
            freed += offload.sources.len() as u32;
            (freed >= wanted).then_some(transfer)
        })
    }
}

/// What making room below did for an acquire.
pub(crate) enum Below {
    /// The slots are there now: try again, once.
    Released(u32),
    /// They will be, when this ends.
    Pending(Dependency),
}

impl Engine {
    /// Evicts what an acquire lacks, or finds the transfer that will free it. `None` without a tier below.
    pub(crate) fn make_room_below(&mut self, now: SimTime, missing: u32, short: u32) -> Option<Below> {
        let below = self.config.below?;
        if short > 0 {
            // What is held comes free without any further victim.
            let transfer = self.offloads.that_frees(short)?;
            let deadline = self.offloads.under_way[&transfer].deadline;
            return Some(Below::Pending(Dependency { transfer, deadline }));
        }
        let lacking = missing as usize - self.pool.free.len();
        let offloads = &self.offloads;
        let evicted =
            self.pool.evict_to_below(&self.scratch.hits, lacking, |hash| offloads.has(below.presence, hash));
        let released = (evicted.removed.len() - evicted.held.len()) as u32;
        self.scratch.removed.extend(evicted.removed);
        self.log_removed(now);
        if evicted.held.is_empty() {
            return Some(Below::Released(released));
        }
        let transfer = TransferId(self.offloads.started);
        self.offloads.started += 1;
        let deadline = now.checked_add(below.copy_estimate).unwrap_or(now);
        let blocks = self.facts.list(evicted.held.iter().copied());
        self.facts.push(now, Fact::OffloadStarted { transfer, blocks });
        self.offloads
            .under_way
            .insert(transfer, Offload { sources: evicted.held, deadline, waiters: Vec::new() });
        self.offloads.to_start.push(transfer);
        Some(Below::Pending(Dependency { transfer, deadline }))
    }

    /// Lets a request wait for a transfer under way.
    pub(crate) fn depend(&mut self, live: Live, dependency: Dependency) {
        let r = self.requests.get_mut(live);
        r.dependency = Some(dependency);
        let waiter = (live, r.id);
        let offload = self.offloads.under_way.get_mut(&dependency.transfer);
        offload.expect("a dependency names a transfer under way (rule T6)").waiters.push(waiter);
    }

    /// A transfer ended: its sources are free, its waiters may be tried again. `false` if it is not under way.
    pub(crate) fn end_transfer(&mut self, now: SimTime, transfer: TransferId, succeeded: bool) -> bool {
        let Some(offload) = self.offloads.under_way.remove(&transfer) else { return false };
        self.pool.release_sources(&offload.sources);
        self.blocked.clear();
        if succeeded {
            self.offloads.below.extend(offload.sources.iter().map(|block| block.hash));
        }
        self.wake_claims(transfer);
        let released = offload.sources.len() as u32;
        self.facts.push(now, Fact::OffloadEnded { transfer, succeeded, released });
        for (live, request) in offload.waiters {
            let r = self.requests.get_mut(live);
            // It may have been cancelled meanwhile, and its entry given to another.
            if r.id == request && r.dependency.is_some_and(|dependency| dependency.transfer == transfer) {
                r.dependency = None;
                self.facts.push(now, Fact::Unblocked { request, transfer });
            }
        }
        true
    }

    /// The part of [`Engine::check`] about transfers: each held slot is the source of one, and each dependency
    /// names one under way.
    pub(crate) fn check_offloads(&self) -> Result<(), String> {
        let sources: usize = self.offloads.under_way.values().map(|offload| offload.sources.len()).sum();
        if sources != self.pool.source_hold as usize {
            return Err(format!(
                "{} slots are held as sources, transfers hold {sources}",
                self.pool.source_hold
            ));
        }
        for claim in self.claims.values() {
            let lost = |dependency: &Dependency| !self.offloads.under_way.contains_key(&dependency.transfer);
            if let Some(dependency) = claim.dependency().filter(lost) {
                return Err(format!("a claim depends on {:?}, which is not under way", dependency.transfer));
            }
        }
        for id in self.requests.ids() {
            let live = self.requests.find(id).unwrap_or_default();
            if let Some(dependency) = self.requests.get(live).dependency
                && !self.offloads.under_way.contains_key(&dependency.transfer)
            {
                return Err(format!("{id:?} depends on {:?}, which is not under way", dependency.transfer));
            }
        }
        Ok(())
    }
}
