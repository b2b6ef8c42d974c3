//! Moves blocks for real as the facts of a run say.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tierscope_engine::{
    CopyEnd, CopyFailure, Fact, FactLog, Flavour, Lane, Role, TRANSFERS_PER_WORKER, Tier, WorkerState,
};
use tierscope_scenario::Scenario;
use tierscope_tiers::{Arena, Batch, BatchId, Bell, Ended, Fault, Key, Medium, Move, Slot, Way, content};
use tierscope_units::{Idx, TransferId, WorkerId};

use crate::error::{MirrorError, PATIENCE};
use crate::layout::Layout;
use crate::media::{TIERS, medium_of, place_of};
use crate::shelf::Shelf;
use crate::totals::Totals;

/// Slots of the arena behind those of G2: where blocks are computed into, and looked at.
const SCRATCH: u32 = 64;

type Done = Result<(), MirrorError>;

/// Who says when a copy ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// The modelled world, which the real one must not fail: lock-step.
    Modelled,
    /// The real tiers. That a copy fails is one of the things that happen.
    Real,
}

/// Real tiers that follow a run.
pub struct Mirror {
    ends: Ends,
    layout: Layout,
    /// G2 of all workers, and [`SCRATCH`] slots more, which begin at `scratch`.
    arena: Arc<Arena>,
    scratch: u32,
    /// G1, G3, G4.
    media: [Option<Box<dyn Medium>>; 3],
    /// By place: what lies in its slots.
    shelves: Vec<Shelf>,
    /// By copy that is queued or under way: the slots that its blocks lie in, as the engine says. The same content may
    /// lie elsewhere too, in a slot that is somebody else's by now.
    sources: BTreeMap<TransferId, Vec<(Key, Slot)>>,
    flights: BTreeMap<TransferId, Flight>,
    of_batch: BTreeMap<BatchId, TransferId>,
    /// Batches that ended before they were waited for.
    ended: BTreeMap<BatchId, Ended>,
    /// Whether whoever drives wants no more.
    stop: Option<Stop>,
    next: u64,
    totals: Totals,
}

/// Asked while something is waited for: whether to wait no longer.
pub type Stop = Box<dyn Fn() -> bool>;

/// Between two times of asking.
const ASKED_EVERY: Duration = Duration::from_millis(50);

/// A copy under way, or one that has ended and whose end was not applied yet.
struct Flight {
    lane: Lane,
    batch: BatchId,
    /// The place that it goes to, and the slots there.
    to: usize,
    moves: Vec<(Key, Slot)>,
    landed: Option<Result<(), Fault>>,
}

/// What a fault of a medium is to the engine.
fn failure_of(fault: Fault) -> CopyFailure {
    match fault {
        Fault::Corrupt => CopyFailure::Corrupt,
        Fault::Cancelled => CopyFailure::Aborted,
        Fault::Panicked => CopyFailure::Panicked,
        Fault::TimedOut => CopyFailure::TimedOut,
        Fault::NoSpace => CopyFailure::DestinationFull,
        Fault::Gone => CopyFailure::Shutdown,
        Fault::Missing | Fault::OutOfRange | Fault::Busy | Fault::ReadOnly | Fault::Device => {
            CopyFailure::Executor
        }
    }
}

impl Mirror {
    /// Slots that the arena of a scenario needs.
    pub fn arena_slots(scenario: &Scenario) -> u32 {
        Layout::of(scenario).slots(Tier::G2).saturating_add(SCRATCH)
    }

    /// Slots that the medium of a tier needs: those of all workers, or of all hosts.
    pub fn medium_slots(scenario: &Scenario, tier: Tier) -> u32 {
        Layout::of(scenario).slots(tier)
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
        ends: Ends,
    ) -> Result<Self, MirrorError> {
        let unsupported = |found, expected| MirrorError::Unsupported { found, expected };
        if scenario.fleet.iter().flat_map(|fleet| &fleet.roles).any(|&role| role != Role::Whole) {
            let expected = "workers that do both";
            return Err(unsupported("workers that prefill and others that decode", expected));
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
        let layout = Layout::of(scenario);
        Ok(Self {
            ends,
            arena,
            scratch: layout.slots(Tier::G2),
            media: [g1, g3, g4],
            shelves: layout.places().iter().map(|place| Shelf::new(place.slots)).collect(),
            layout,
            sources: BTreeMap::new(),
            flights: BTreeMap::new(),
            stop: None,
            of_batch: BTreeMap::new(),
            ended: BTreeMap::new(),
            next: 0,
            totals: Totals::default(),
        })
    }

    /// What was done so far.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// The media that there are, each with its tier.
    pub fn media(&self) -> impl Iterator<Item = (Tier, &dyn Medium)> {
        TIERS.into_iter().zip(&self.media).filter_map(|(tier, medium)| Some((tier, medium.as_deref()?)))
    }

    /// From now on this is asked while a batch is waited for; once it says yes, batches are cancelled.
    pub fn stop_if(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// From now on this bell is rung when a copy ends.
    pub fn ring(&mut self, bell: &Bell) {
        self.media.iter_mut().flatten().for_each(|medium| medium.ring(Arc::clone(bell)));
    }

    /// Does what the facts say, in their order. Where the modelled world says when copies end, one that ends has arrived,
    /// and is right, once this returns.
    ///
    /// # Errors
    ///
    /// What went wrong; the run cannot go on.
    pub fn take(&mut self, log: &FactLog) -> Done {
        let worker = log.worker().unwrap_or(WorkerId(0));
        let read = |blocks| -> Vec<(Key, Slot)> {
            log.blocks(blocks).iter().map(|it| (Key(it.hash.0), Slot(it.slot.0))).collect()
        };
        for (_, fact) in log.iter() {
            match *fact {
                Fact::Stored { blocks, .. } => self.compute(worker, &read(blocks))?,
                Fact::CopyQueued { transfer, blocks, .. } => {
                    self.sources.insert(transfer, read(blocks));
                }
                Fact::CopyStarted { transfer, lane, blocks } => {
                    self.start(worker, transfer, lane, read(blocks))?;
                }
                Fact::CopyRetried { transfer, .. } if self.ends == Ends::Real => self.give_up(transfer)?,
                Fact::CopyEnded { transfer, end, .. } => {
                    self.sources.remove(&transfer);
                    // In lock-step an attempt that failed in the modelled world has its bytes all the same.
                    match end == CopyEnd::Completed || self.ends == Ends::Modelled {
                        true => self.land(transfer)?,
                        false => self.give_up(transfer)?,
                    }
                }
                Fact::Worker { worker, state: WorkerState::Lost } => self.lose(worker)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// Blocks whose tokens were computed get their content, unless it came by a copy.
    fn compute(&mut self, worker: WorkerId, blocks: &[(Key, Slot)]) -> Done {
        let at = self.layout.index(Tier::G1, worker);
        let new: Vec<(Key, Slot)> =
            blocks.iter().copied().filter(|&(key, slot)| !self.shelves[at].holds(key, slot)).collect();
        for some in new.chunks(SCRATCH as usize) {
            let mut moves = Vec::new();
            for (&(key, slot), nth) in some.iter().zip(0..) {
                let here = Slot(self.scratch + nth);
                self.fill(key, here)?;
                self.shelves[at].clear(slot);
                moves.push(Move { key, there: self.real(at, slot), here });
            }
            self.copy("computing", 0, Way::Store, moves)?;
            for &(key, slot) in some {
                self.shelves[at].put(key, slot);
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
    fn start(&mut self, worker: WorkerId, transfer: TransferId, lane: Lane, moves: Vec<(Key, Slot)>) -> Done {
        match self.ends {
            Ends::Modelled => self.land(transfer)?,
            Ends::Real => self.give_up(transfer)?,
        }
        let (medium, way) = medium_of(lane);
        let (from, to) = (self.layout.index(lane.from(), worker), self.layout.index(lane.to(), worker));
        // What begins is what was queued, in its order, perhaps without some of it. Kept for another attempt.
        let sources = self.sources.remove(&transfer).unwrap_or_default();
        let mut queued = sources.iter();
        let mut batch = Vec::with_capacity(moves.len());
        for &(key, destination) in &moves {
            let missing = MirrorError::NoSource { doing: lane.name(), key: key.0 };
            let shelf = &self.shelves[from];
            let source = queued.find(|&&(source, slot)| source == key && shelf.holds(key, slot));
            let &(_, source) = source.ok_or(missing)?;
            self.shelves[to].clear(destination);
            let (source, destination) = (self.real(from, source), self.real(to, destination));
            let (there, here) = match lane.to() {
                Tier::G2 => (source, destination),
                _ => (destination, source),
            };
            batch.push(Move { key, there, here });
        }
        self.sources.insert(transfer, sources);
        let batch = self.submit(medium, way, batch);
        self.of_batch.insert(batch, transfer);
        self.flights.insert(transfer, Flight { lane, batch, to, moves, landed: None });
        Ok(())
    }

    /// A copy has ended: its blocks are there, and right.
    fn land(&mut self, transfer: TransferId) -> Done {
        let Some(mut flight) = self.flights.remove(&transfer) else { return Ok(()) };
        let lane = flight.lane;
        if flight.landed.is_none() {
            let ended = self.wait(lane.name(), medium_of(lane).0, flight.batch)?;
            self.account(&mut flight, &ended);
            let blocks = flight.moves.iter().zip(&ended.results);
            for (&(key, _), result) in blocks {
                result.map_err(|fault| failed(lane.name(), key, fault))?;
            }
        }
        for &(key, slot) in &flight.moves {
            self.shelves[flight.to].put(key, slot);
        }
        Ok(())
    }

    /// The slot of the medium, or of the arena, that is a slot of a place.
    fn real(&self, place: usize, slot: Slot) -> Slot {
        Slot(self.layout.places()[place].first + slot.0)
    }

    /// A worker is gone, and nobody tells the ends of its copies.
    fn lose(&mut self, worker: WorkerId) -> Done {
        let first = TransferId(worker.index() as u64 * TRANSFERS_PER_WORKER);
        let range = first..TransferId(first.0 + TRANSFERS_PER_WORKER);
        self.sources.retain(|transfer, _| !range.contains(transfer));
        let lost: Vec<TransferId> = self.flights.range(range).map(|(&transfer, _)| transfer).collect();
        lost.into_iter().try_for_each(|transfer| self.give_up(transfer))
    }

    /// Nobody wants a copy any more. Its slots are free again once this returns: nothing writes into them.
    fn give_up(&mut self, transfer: TransferId) -> Done {
        let Some(mut flight) = self.flights.remove(&transfer) else { return Ok(()) };
        if flight.landed.is_some() {
            return Ok(());
        }
        let (medium, _) = medium_of(flight.lane);
        if let Some(medium) = &mut self.media[medium] {
            medium.cancel(flight.batch);
        }
        let ended = self.wait(flight.lane.name(), medium, flight.batch)?;
        self.account(&mut flight, &ended);
        Ok(())
    }

    fn account(&mut self, flight: &mut Flight, ended: &Ended) {
        self.of_batch.remove(&ended.id);
        self.totals.verified_blocks += ended.results.iter().filter(|result| result.is_ok()).count() as u64;
        self.totals.lanes[flight.lane.index()].take(ended);
        flight.landed = Some(ended.results.iter().copied().find(Result::is_err).unwrap_or(Ok(())));
    }

    /// The copies that have ended for real since this was asked last, each with the time when its last block was copied.
    /// That somebody looked at them afterwards is not what the lane took.
    pub fn ended(&mut self) -> Vec<(TransferId, Result<(), CopyFailure>, Instant)> {
        for medium in self.media.iter_mut().flatten() {
            while let Some(ended) = medium.next_ended(Duration::ZERO) {
                self.ended.insert(ended.id, ended);
            }
        }
        let mut news = Vec::new();
        while let Some((batch, ended)) = self.ended.pop_first() {
            let Some(transfer) = self.of_batch.get(&batch).copied() else { continue };
            let Some(mut flight) = self.flights.remove(&transfer) else { continue };
            self.account(&mut flight, &ended);
            if let Some(result) = flight.landed {
                news.push((transfer, result.map_err(failure_of), ended.copied_at));
            }
            self.flights.insert(transfer, flight);
        }
        news.sort_by_key(|&(transfer, _, at)| (at, transfer));
        news
    }

    /// Waits for what is under way, and looks at every block of every tier once more. Where real tiers say how copies
    /// end, blocks of a disk or a store that are not there any more are counted ([`Totals::lost`]): a tier that fails is
    /// one of the things that happen.
    ///
    /// # Errors
    ///
    /// The first block that is not what it should be.
    pub fn finish(&mut self) -> Done {
        let under_way: Vec<TransferId> = self.flights.keys().copied().collect();
        for transfer in under_way {
            match self.ends {
                Ends::Modelled => self.land(transfer)?,
                Ends::Real => self.await_end(transfer)?,
            }
        }
        for at in 0..self.shelves.len() {
            let all: Vec<(Key, Slot)> =
                self.shelves[at].all().map(|(key, slot)| (key, self.real(at, slot))).collect();
            let tier = self.layout.places()[at].tier;
            for some in all.chunks(SCRATCH as usize) {
                self.look_at(tier, some)?;
            }
        }
        for (at, tier) in TIERS.into_iter().enumerate() {
            let persisted = self.media[at].as_mut().map_or(Ok(()), |medium| medium.persist());
            match persisted {
                Err(fault) if self.may_fail(tier) => self.lose_block(tier, fault),
                _ => persisted.map_err(|fault| MirrorError::NotPersisted { tier: tier.name(), fault })?,
            }
        }
        Ok(())
    }

    fn lose_block(&mut self, tier: Tier, fault: Fault) {
        *self.totals.lost.entry((tier.name(), fault)).or_default() += 1;
    }

    /// Whether a run goes on without a tier.
    fn may_fail(&self, tier: Tier) -> bool {
        self.ends == Ends::Real && matches!(tier, Tier::G3 | Tier::G4)
    }

    /// A copy whose end nobody will be told any more ends.
    fn await_end(&mut self, transfer: TransferId) -> Done {
        let Some(mut flight) = self.flights.remove(&transfer).filter(|flight| flight.landed.is_none()) else {
            return Ok(());
        };
        let ended = self.wait(flight.lane.name(), medium_of(flight.lane).0, flight.batch)?;
        self.account(&mut flight, &ended);
        Ok(())
    }

    /// Ends everything that is under way. Nothing is held any more afterwards, and nothing is written down: what was not
    /// persisted before is missing in the next life, never wrong.
    ///
    /// # Errors
    ///
    /// A copy that does not end.
    pub fn stop(&mut self) -> Done {
        let under_way: Vec<TransferId> = self.flights.keys().copied().collect();
        for &transfer in &under_way {
            if let Some(Flight { lane, batch, landed: None, .. }) = self.flights.get(&transfer)
                && let Some(medium) = &mut self.media[medium_of(*lane).0]
            {
                medium.cancel(*batch);
            }
        }
        under_way.into_iter().try_for_each(|transfer| self.give_up(transfer))
    }

    /// Looks at blocks in these slots of a medium, or of the arena; no more of them than there are slots to look at them in.
    fn look_at(&mut self, tier: Tier, blocks: &[(Key, Slot)]) -> Done {
        let Some(medium) = place_of(tier) else {
            for &(key, slot) in blocks {
                let slot = self.arena.read(slot).ok_or(failed("at the end", key, Fault::Busy))?;
                if !content::is_of(key, &slot) {
                    return Err(failed("at the end", key, Fault::Corrupt));
                }
            }
            self.totals.verified_blocks += blocks.len() as u64;
            return Ok(());
        };
        let scratch = (self.scratch..).map(Slot);
        let moves = blocks.iter().zip(scratch).map(|(&(key, there), here)| Move { key, there, here });
        let id = self.submit(medium, Way::Load, moves.collect());
        let ended = self.wait("at the end", medium, id)?;
        for (&(key, _), result) in blocks.iter().zip(&ended.results) {
            match *result {
                Ok(()) => self.totals.verified_blocks += 1,
                Err(fault) if self.may_fail(tier) => self.lose_block(tier, fault),
                Err(fault) => return Err(failed("at the end", key, fault)),
            }
        }
        Ok(())
    }

    /// Every batch is looked at where it arrives.
    fn submit(&mut self, medium: usize, way: Way, moves: Vec<Move>) -> BatchId {
        let id = BatchId(self.next);
        self.next += 1;
        if let Some(medium) = &mut self.media[medium] {
            medium.submit(Batch { id, way, moves, look: true });
        }
        id
    }

    fn copy(&mut self, doing: &'static str, medium: usize, way: Way, moves: Vec<Move>) -> Done {
        let keys: Vec<Key> = moves.iter().map(|block| block.key).collect();
        let id = self.submit(medium, way, moves);
        let ended = self.wait(doing, medium, id)?;
        match keys.iter().zip(&ended.results).find_map(|(key, result)| Some((key, result.err()?))) {
            None => Ok(()),
            Some((key, fault)) => Err(failed(doing, *key, fault)),
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
            if self.stop.as_ref().is_some_and(|asked| asked()) {
                medium.cancel(id);
            }
            if let Some(ended) = medium.next_ended(ASKED_EVERY) {
                self.ended.insert(ended.id, ended);
            }
        }
        Err(hangs)
    }
}

fn failed(doing: &'static str, key: Key, fault: Fault) -> MirrorError {
    match fault {
        Fault::Corrupt => MirrorError::Wrong { doing, key: key.0 },
        _ => MirrorError::Failed { doing, key: key.0, fault },
    }
}
