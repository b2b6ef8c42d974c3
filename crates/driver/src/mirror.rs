//! Moves blocks for real as the facts of a run say.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tierscope_engine::{Fact, FactLog, Flavour, Lane, Tier};
use tierscope_scenario::Scenario;
use tierscope_tiers::{Arena, Batch, BatchId, Ended, Fault, Key, Medium, Move, Slot, Way, content};
use tierscope_units::TransferId;

use crate::shelf::Shelf;

/// Slots of the arena behind those of G2: where blocks are computed into, and looked at.
const SCRATCH: u32 = 64;

/// A batch that has not ended by then never will.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why real tiers could not follow a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorError {
    /// The scenario is of a kind that cannot be driven yet.
    Unsupported {
        /// What it has.
        found: &'static str,
        /// What can be driven.
        expected: &'static str,
    },
    /// The scenario has a tier for which there is no medium.
    NoMedium {
        /// Which.
        tier: &'static str,
    },
    /// A medium did not do what it was asked.
    Failed {
        /// The lane, or what else was tried.
        doing: &'static str,
        /// The block, by its hash.
        key: u64,
        /// How it failed.
        fault: Fault,
    },
    /// Other bytes arrived than were sent.
    Wrong {
        /// The lane on which they came.
        doing: &'static str,
        /// The block that they were to be.
        key: u64,
    },
    /// The engine's facts name a source that holds nothing: the driver's books are wrong.
    NoSource {
        /// The lane.
        doing: &'static str,
        /// The block.
        key: u64,
    },
    /// A batch never ended.
    Hangs {
        /// The lane, or what else was tried.
        doing: &'static str,
    },
}

impl fmt::Display for MirrorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { found, expected } => {
                write!(f, "found {found}, expected {expected}\n  mend: run it by `tierscope run`")
            }
            Self::NoMedium { tier } => {
                write!(
                    f,
                    "the scenario has {tier}, and nothing was given for it\n  mend: give it a place, or remove [{tier}]"
                )
            }
            Self::Failed { doing, key, fault } => write!(f, "{doing}: block {key:016x}: {fault}"),
            Self::Wrong { doing, key } => {
                write!(f, "{doing}: what arrived is not block {key:016x}; it was not served")
            }
            Self::NoSource { doing, key } => write!(f, "{doing}: nobody holds block {key:016x}"),
            Self::Hangs { doing } => {
                write!(f, "{doing}: a batch did not end within {} s", PATIENCE.as_secs())
            }
        }
    }
}

impl std::error::Error for MirrorError {}

type Done = Result<(), MirrorError>;

/// What moved on one lane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaneTotals {
    /// Batches that ended well.
    pub batches: u64,
    /// Their blocks.
    pub blocks: u64,
    /// Time during which their bytes were copied, each batch's by itself.
    pub copied: Duration,
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// By lane, in the order of [`Lane::ALL`].
    pub lanes: [LaneTotals; Lane::COUNT],
    /// Blocks that were computed: filled with their content in G1.
    pub computed_blocks: u64,
    /// Blocks whose bytes were looked at after they had arrived, and were right.
    pub verified_blocks: u64,
}

/// Real tiers that follow a run.
pub struct Mirror {
    /// G2, and [`SCRATCH`] slots more.
    arena: Arc<Arena>,
    g2_slots: u32,
    /// G1, G3, G4.
    media: [Option<Box<dyn Medium>>; 3],
    shelves: [Shelf; Tier::COUNT],
    flights: BTreeMap<TransferId, Flight>,
    /// Batches that ended before they were waited for.
    ended: BTreeMap<BatchId, Ended>,
    next: u64,
    totals: Totals,
}

/// A copy under way.
struct Flight {
    lane: Lane,
    batch: BatchId,
    moves: Vec<(Key, Slot)>,
}

fn medium_of(lane: Lane) -> (usize, Way) {
    match lane {
        Lane::G1ToG2 => (0, Way::Load),
        Lane::G2ToG1 => (0, Way::Store),
        Lane::G2ToG3 => (1, Way::Store),
        Lane::G3ToG2 => (1, Way::Load),
        Lane::G2ToG4 => (2, Way::Store),
        Lane::G4ToG2 => (2, Way::Load),
    }
}

impl Mirror {
    /// Slots that the arena of a scenario needs.
    pub fn arena_slots(scenario: &Scenario) -> u32 {
        scenario.engine.tiers.as_ref().map_or(0, |tiers| tiers.g2.blocks) + SCRATCH
    }

    /// Real tiers for a run of `scenario`: G1 beside the arena, and what is given for G3 and G4.
    ///
    /// # Errors
    ///
    /// When the scenario cannot be driven yet, or has a tier for which nothing is given.
    pub fn new(
        scenario: &Scenario,
        arena: Arc<Arena>,
        [g1, g3, g4]: [Option<Box<dyn Medium>>; 3],
    ) -> Result<Self, MirrorError> {
        let unsupported = |found, expected| MirrorError::Unsupported { found, expected };
        if scenario.fleet.is_some() {
            return Err(unsupported("several workers", "one worker"));
        }
        let tiers = scenario.engine.tiers.as_ref();
        if tiers.is_some_and(|tiers| tiers.flavour != Flavour::Kvbm) {
            return Err(unsupported("vLLM's connector", "the flavour kvbm"));
        }
        if g1.is_none() {
            return Err(MirrorError::NoMedium { tier: "g1" });
        }
        let wanted = [
            ("g3", tiers.and_then(|it| it.g3), g3.is_some()),
            ("g4", tiers.and_then(|it| it.g4), g4.is_some()),
        ];
        if let Some((tier, ..)) = wanted.iter().find(|(_, tier, given)| tier.is_some() && !given) {
            return Err(MirrorError::NoMedium { tier });
        }
        let blocks = [
            scenario.engine.g1_blocks,
            tiers.map_or(0, |it| it.g2.blocks),
            tiers.and_then(|it| it.g3).map_or(0, |tier| tier.blocks),
            tiers.and_then(|it| it.g4).map_or(0, |tier| tier.blocks),
        ];
        Ok(Self {
            arena,
            g2_slots: blocks[1],
            media: [g1, g3, g4],
            shelves: blocks.map(Shelf::new),
            flights: BTreeMap::new(),
            ended: BTreeMap::new(),
            next: 0,
            totals: Totals::default(),
        })
    }

    /// What was done so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Does what the facts say, in their order. A copy that ends has arrived, and is right, once this returns.
    ///
    /// # Errors
    ///
    /// What went wrong; the run cannot go on.
    pub fn take(&mut self, log: &FactLog) -> Done {
        for (_, fact) in log.iter() {
            match *fact {
                Fact::Stored { blocks, .. } => {
                    let blocks: Vec<(Key, Slot)> =
                        log.blocks(blocks).iter().map(|it| (Key(it.hash.0), Slot(it.slot.0))).collect();
                    self.compute(&blocks)?;
                }
                Fact::CopyStarted { transfer, lane, blocks } => {
                    let moves =
                        log.blocks(blocks).iter().map(|it| (Key(it.hash.0), Slot(it.slot.0))).collect();
                    self.start(transfer, lane, moves)?;
                }
                Fact::CopyEnded { transfer, .. } => self.land(transfer)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Blocks whose tokens were computed get their content, unless it came by a copy.
    fn compute(&mut self, blocks: &[(Key, Slot)]) -> Done {
        let new: Vec<(Key, Slot)> =
            blocks.iter().copied().filter(|&(key, slot)| !self.shelves[0].holds(key, slot)).collect();
        for some in new.chunks(SCRATCH as usize) {
            let mut moves = Vec::new();
            for (&(key, there), nth) in some.iter().zip(0..) {
                let here = Slot(self.g2_slots + nth);
                self.fill(key, here)?;
                self.shelves[0].clear(there);
                moves.push(Move { key, there, here });
            }
            self.copy("computing", 0, Way::Store, moves)?;
            for &(key, slot) in some {
                self.shelves[0].put(key, slot);
            }
            self.totals.computed_blocks += some.len() as u64;
        }
        Ok(())
    }

    fn fill(&self, key: Key, here: Slot) -> Done {
        let busy = MirrorError::Failed { doing: "computing", key: key.0, fault: Fault::Busy };
        content::fill(key, &mut self.arena.write(here).ok_or(busy)?);
        Ok(())
    }

    /// A copy begins: its blocks are on their way from now on.
    fn start(&mut self, transfer: TransferId, lane: Lane, moves: Vec<(Key, Slot)>) -> Done {
        // An attempt that failed in the modelled world has its bytes all the same.
        self.land(transfer)?;
        let (medium, way) = medium_of(lane);
        let (from, to) = (lane.from().index(), lane.to().index());
        let mut batch = Vec::with_capacity(moves.len());
        for &(key, destination) in &moves {
            let missing = MirrorError::NoSource { doing: lane.name(), key: key.0 };
            let source = self.shelves[from].find(key).ok_or(missing)?;
            self.shelves[to].clear(destination);
            let (there, here) = match lane.to() {
                Tier::G2 => (source, destination),
                _ => (destination, source),
            };
            batch.push(Move { key, there, here });
        }
        let id = self.submit(medium, way, batch);
        self.flights.insert(transfer, Flight { lane, batch: id, moves });
        Ok(())
    }

    /// A copy has ended: its blocks are there, and right.
    fn land(&mut self, transfer: TransferId) -> Done {
        let Some(Flight { lane, batch, moves }) = self.flights.remove(&transfer) else { return Ok(()) };
        let (medium, _) = medium_of(lane);
        let ended = self.wait(lane.name(), medium, batch)?;
        for (&(key, _), result) in moves.iter().zip(&ended.results) {
            result.map_err(|fault| MirrorError::Failed { doing: lane.name(), key: key.0, fault })?;
        }
        for &(key, slot) in &moves {
            self.verify(lane.name(), lane.to(), key, slot)?;
            self.shelves[lane.to().index()].put(key, slot);
        }
        let totals = &mut self.totals.lanes[lane.index()];
        totals.batches += 1;
        totals.blocks += moves.len() as u64;
        totals.copied += ended.copied;
        Ok(())
    }

    /// Looks at a block where it is said to be.
    fn verify(&mut self, doing: &'static str, tier: Tier, key: Key, slot: Slot) -> Done {
        let here = match tier {
            Tier::G2 => slot,
            _ => {
                let (medium, here) = (tier.index().saturating_sub(1), Slot(self.g2_slots));
                self.copy(doing, medium, Way::Load, vec![Move { key, there: slot, here }])?;
                here
            }
        };
        let busy = MirrorError::Failed { doing, key: key.0, fault: Fault::Busy };
        if !content::is_of(key, &self.arena.read(here).ok_or(busy)?) {
            return Err(MirrorError::Wrong { doing, key: key.0 });
        }
        self.totals.verified_blocks += 1;
        Ok(())
    }

    /// Waits for what is under way, and looks at every block of every tier once more.
    ///
    /// # Errors
    ///
    /// The first block that is not what it should be.
    pub fn finish(&mut self) -> Done {
        let under_way: Vec<TransferId> = self.flights.keys().copied().collect();
        for transfer in under_way {
            self.land(transfer)?;
        }
        for tier in Tier::ALL {
            let all: Vec<(Key, Slot)> = self.shelves[tier.index()].all().collect();
            for (key, slot) in all {
                self.verify("at the end", tier, key, slot)?;
            }
        }
        for medium in self.media.iter_mut().flatten() {
            medium.persist().map_err(|fault| MirrorError::Failed { doing: "persisting", key: 0, fault })?;
        }
        Ok(())
    }

    fn submit(&mut self, medium: usize, way: Way, moves: Vec<Move>) -> BatchId {
        let id = BatchId(self.next);
        self.next += 1;
        if let Some(medium) = &mut self.media[medium] {
            medium.submit(Batch { id, way, moves });
        }
        id
    }

    fn copy(&mut self, doing: &'static str, medium: usize, way: Way, moves: Vec<Move>) -> Done {
        let keys: Vec<Key> = moves.iter().map(|block| block.key).collect();
        let id = self.submit(medium, way, moves);
        let ended = self.wait(doing, medium, id)?;
        match keys.iter().zip(&ended.results).find_map(|(key, result)| Some((key, result.err()?))) {
            None => Ok(()),
            Some((key, fault)) => Err(MirrorError::Failed { doing, key: key.0, fault }),
        }
    }

    fn wait(&mut self, doing: &'static str, medium: usize, id: BatchId) -> Result<Ended, MirrorError> {
        let hangs = MirrorError::Hangs { doing };
        // The wall clock bounds the patience with a device that hangs; no decision depends on it.
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(ended) = self.ended.remove(&id) {
                return Ok(ended);
            }
            let Some(medium) = &mut self.media[medium] else { break };
            if let Some(ended) = medium.next_ended(PATIENCE - begun.elapsed().min(PATIENCE)) {
                self.ended.insert(ended.id, ended);
            }
        }
        Err(hangs)
    }
}
