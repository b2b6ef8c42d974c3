//! Below G1: tiers, lanes between them, and the blocks that move along the lanes (rules L1–L9).
//!
//! A lane takes blocks through filter → collector → queue → permits. What a copy takes is the world's to say: a
//! batch is handed out as a command and ends with an input.

mod batch;
mod batches;
mod check;
mod close;
pub(crate) mod config;
mod end;
mod evict;
mod lane;
mod load;
mod name;
mod pipeline;
mod settle;
mod store;
mod tier;

use std::collections::BTreeSet;

use tierscope_units::{SimTime, TransferId};

pub use batch::CopyView;
pub(crate) use batch::{Batch, Move};
pub(crate) use batches::Batches;
pub(crate) use evict::Below;
pub use evict::Dependency;
pub(crate) use lane::LaneState;
pub use lane::{LaneSnapshot, Phase};
pub(crate) use load::{FoundBelow, LoadState, Plan};
pub use name::{Cause, Lane, Tier};
pub use settle::{
    Awaits, LaneFault, MachineId, Rest, Settled, Settlement, SettlementError, SettlementTarget,
    SettlementToken,
};
pub(crate) use tier::{Found, LowerTier};

use crate::block::evict::tinylfu::TinyLfu;
use crate::connector::Connector;
use config::{Filter, Flavour, TiersConfig};

/// All tiers below G1 and the lanes between them.
#[derive(Clone)]
pub(crate) struct Lower {
    pub(crate) config: TiersConfig,
    /// vLLM's connector, in place of the tiers and batches, under that flavour.
    pub(crate) connector: Option<Box<Connector>>,
    /// G2, G3, G4.
    tiers: [Option<LowerTier>; Tier::COUNT - 1],
    pub(crate) lanes: [LaneState; Lane::COUNT],
    pub(crate) batches: Batches,
    pub(crate) started: u64,
    /// Ended batches, to be used again.
    #[expect(clippy::vec_box, reason = "they go back where they came from, in their boxes")]
    pub(crate) spare: Vec<Box<Batch>>,
    /// Batches of all lanes that ended well, so far.
    pub(crate) completions: u64,
    /// When batches are due for another attempt, or have taken too long.
    pub(crate) timers: BTreeSet<(SimTime, TransferId)>,
    /// Copies of retried or timed-out batches that the world shall stop.
    pub(crate) to_cancel: Vec<TransferId>,
    /// How often contents were used lately, where a filter asks for it.
    pub(crate) frequency: Option<Box<TinyLfu>>,
    /// G1's capacity generation when its next victims were looked at last.
    boundary_seen: u64,
    /// Whether the pipeline may be able to start something.
    pub(crate) stirred: bool,
    /// G3 and G4 belong to several workers: they are here while this one is told or asked something.
    are_shared: bool,
    /// Capacity generations of G3 and G4 when they came.
    seen_generations: [u64; 2],
    /// Whether slots of them have come free since.
    has_freed: bool,
}

impl Lower {
    pub(crate) fn new(config: &TiersConfig, g1_blocks: u32, first_transfer: u64) -> Self {
        let by_frequency =
            config.lanes.iter().any(|lane| matches!(lane.filter, Filter::PresenceFrequency(_)));
        let tiers = match config.flavour {
            Flavour::Kvbm => [Some(config.g2), config.g3, config.g4],
            Flavour::Vllm(_) => [None; Tier::COUNT - 1],
        };
        Self {
            connector: Connector::new(config, first_transfer),
            tiers: [(tiers[0], true), (tiers[1], false), (tiers[2], false)]
                .map(|(tier, carries)| tier.map(|tier| LowerTier::new(tier, carries))),
            lanes: config.lanes.map(LaneState::new),
            batches: Batches::default(),
            started: first_transfer,
            spare: Vec::new(),
            completions: 0,
            timers: BTreeSet::new(),
            to_cancel: Vec::new(),
            frequency: by_frequency.then(|| Box::new(TinyLfu::new(g1_blocks.max(config.g2.blocks)))),
            boundary_seen: u64::MAX,
            stirred: false,
            are_shared: false,
            seen_generations: [0; 2],
            has_freed: false,
            config: config.clone(),
        }
    }

    /// A tier below G1, where there is one.
    pub(crate) fn tier(&self, tier: Tier) -> Option<&LowerTier> {
        self.tiers[tier.index() - 1].as_ref()
    }

    pub(crate) fn tier_mut(&mut self, tier: Tier) -> Option<&mut LowerTier> {
        self.tiers[tier.index() - 1].as_mut()
    }

    /// Whether a lane's tiers are there.
    pub(crate) fn has_lane(&self, lane: Lane) -> bool {
        if self.connector.is_some() {
            return matches!(lane, Lane::G1ToG2 | Lane::G2ToG1);
        }
        [lane.from(), lane.to()].into_iter().all(|tier| tier == Tier::G1 || self.tier(tier).is_some())
    }

    /// G3 and G4 are several workers' from now on: gives them away.
    pub(crate) fn share(&mut self) -> [Option<LowerTier>; 2] {
        self.are_shared = true;
        [self.tiers[1].take(), self.tiers[2].take()]
    }

    /// The shared tiers come, or go.
    pub(crate) fn exchange(&mut self, g3: &mut Option<LowerTier>, g4: &mut Option<LowerTier>) {
        if !self.are_shared {
            return;
        }
        std::mem::swap(&mut self.tiers[1], g3);
        std::mem::swap(&mut self.tiers[2], g4);
        for (at, (here, gone)) in [(&self.tiers[1], &*g3), (&self.tiers[2], &*g4)].into_iter().enumerate() {
            let seen = &mut self.seen_generations[at];
            match (here, gone) {
                (Some(tier), _) => *seen = tier.pool.generation,
                (None, Some(tier)) => self.has_freed |= *seen != tier.pool.generation,
                (None, None) => {}
            }
        }
    }

    /// Whether slots of shared tiers came free while they were here.
    pub(crate) fn take_freed(&mut self) -> bool {
        std::mem::take(&mut self.has_freed)
    }

    /// Whether a copy waits for room in a shared tier.
    pub(crate) fn waits_for_shared_room(&self) -> bool {
        let waits = |lane: Lane| self.lanes[lane.index()].waits_for_room;
        self.are_shared && (waits(Lane::G2ToG3) || waits(Lane::G2ToG4))
    }

    pub(crate) fn lane(&mut self, lane: Lane) -> &mut LaneState {
        &mut self.lanes[lane.index()]
    }

    /// The next timer: a batch that is due, or a collector that is full enough.
    pub(crate) fn next_wake(&self) -> Option<SimTime> {
        let flush = self.lanes.iter().filter_map(|lane| Some(lane.open.as_ref()?.flush_at)).min();
        let timer = self.timers.first().map(|&(at, _)| at);
        match (flush, timer) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether the connector has commands to hand out.
    pub(crate) fn has_errands(&self) -> bool {
        self.connector.as_deref().is_some_and(Connector::has_errands)
    }

    /// Roughly the memory of a copy, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        let moves: usize = self.batches.values().map(|batch| batch.moves.len() * size_of::<Move>()).sum();
        self.tiers.iter().flatten().map(|tier| tier.pool.state_bytes()).sum::<usize>()
            + moves
            + self.connector.as_deref().map_or(0, Connector::state_bytes)
    }
}
