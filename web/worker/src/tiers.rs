//! What lies below G1 and what moves, as the page shows it.

use tierscope_engine::vllm::{Found, OffloadManager};
use tierscope_engine::{BlockPool, Flavour, Fleet, Lane, SlotState, Tier};
use tierscope_scenario::{Links, Scenario};
use tierscope_sim::{DirectionUse, LinkUse, Simulation};
use tierscope_units::{Idx as _, SequenceHash, SimTime, SlotId, Span, WorkerId};

use crate::copies::{Copies, Entry, tier};
use crate::protocol::{
    BlockState, COPIES_SHOWN, Cells, CopyView, LaneView, LinkUse as Rate, SlotView, TierName, TierView,
    Totals,
};

/// Cells of a tier below G1: neighbours are put together beyond.
const CELLS_MAX: u32 = 1_024;
/// Tiers with more slots in use than this are one cell: looking at each slot would take longer than a frame.
const LOOKED_THROUGH_MAX: u32 = 1 << 20;

/// What the scenario says of the world below G1.
#[derive(Clone, Copy, Debug)]
pub struct World {
    links: Links,
    bytes_per_block: u64,
}

impl World {
    /// Of a scenario.
    pub fn of(scenario: &Scenario) -> Self {
        Self { links: scenario.links, bytes_per_block: scenario.kv_bytes_per_block }
    }
}

/// The tiers below a worker's G1: its own, and those that it shares.
pub fn tiers(fleet: &Fleet, worker: WorkerId) -> Vec<TierView> {
    let engine = fleet.worker(worker);
    let Some(config) = &engine.config().tiers else { return Vec::new() };
    let capacities = [(Tier::G2, Some(config.g2)), (Tier::G3, config.g3), (Tier::G4, config.g4)];
    if let (Some(manager), Flavour::Vllm(connector)) = (engine.cpu_tier(), config.flavour) {
        return vec![chunked(manager, connector.blocks_per_chunk, config.g2.blocks)];
    }
    let view = |(tier, config): (Tier, Option<tierscope_engine::TierConfig>)| {
        let (pool, config) = (fleet.tier_of(worker, tier)?, config?);
        Some(view(tier, pool, config.blocks))
    };
    capacities.into_iter().filter_map(view).collect()
}

/// Slots that were never used are not in the pool: they are free.
fn view(name: Tier, pool: &BlockPool, capacity: u32) -> TierView {
    let (used, occupancy) = (pool.capacity(), pool.occupancy());
    let totals = Totals {
        free: occupancy.free + capacity.saturating_sub(used),
        reserved: occupancy.reserved,
        active: occupancy.active,
        shared: 0,
        cached: occupancy.cached,
        source_hold: occupancy.source_hold,
    };
    let state = |slot| state(pool.slot_state(SlotId(slot)));
    let cells = if used > LOOKED_THROUGH_MAX { one_cell(totals) } else { cells(used, capacity, state) };
    TierView { tier: tier(name), totals, cells }
}

/// The tier of vLLM's connector: its slots are chunks of `size` blocks. What does not make up a chunk stays free.
fn chunked(manager: &OffloadManager, size: u32, capacity: u32) -> TierView {
    let blocks = |chunks: u32| chunks.saturating_mul(size);
    let (reserved, active, cached) =
        (blocks(manager.writing()), blocks(manager.pinned()), blocks(manager.evictable()));
    let free = capacity.saturating_sub(reserved + active + cached);
    let totals = Totals { free, reserved, active, cached, ..Totals::default() };
    let used = blocks(manager.used());
    let cells = if used > LOOKED_THROUGH_MAX {
        one_cell(totals)
    } else {
        let states = chunk_states(manager);
        cells(used, capacity, |slot| states[(slot / size) as usize])
    };
    TierView { tier: TierName::G2, totals, cells }
}

/// Of the used chunks: those that nobody reads or writes are victims.
fn chunk_states(manager: &OffloadManager) -> Vec<BlockState> {
    let state = |slot| match manager.content(SlotId(slot)).map(|key| manager.lookup(key)) {
        None | Some(Found::Miss) => BlockState::Free,
        Some(Found::HitPending) => BlockState::Reserved,
        Some(Found::Hit) => BlockState::Active,
    };
    let mut states: Vec<BlockState> = (0..manager.used()).map(state).collect();
    for victim in manager.victims() {
        states[victim.index()] = BlockState::Cached;
    }
    states
}

fn one_cell(totals: Totals) -> Cells {
    let mut cells = Cells { per_cell: totals.capacity(), counts: Vec::new() };
    cells.push(totals);
    cells
}

/// Slots from `used` on are free.
fn cells(used: u32, capacity: u32, state: impl Fn(u32) -> BlockState) -> Cells {
    let per_cell = capacity.div_ceil(CELLS_MAX).max(1);
    let mut cells = Cells { per_cell, counts: Vec::new() };
    let mut first = 0;
    while first < capacity {
        let end = first.saturating_add(per_cell).min(capacity);
        let known = end.min(used).max(first);
        let mut cell = Totals { free: end - known, ..Totals::default() };
        for slot in first..known {
            cell.count(state(slot));
        }
        cells.push(cell);
        first = end;
    }
    cells
}

/// One slot of a tier below G1.
pub fn slot(fleet: &Fleet, worker: WorkerId, name: Tier, slot: u32) -> Option<SlotView> {
    let engine = fleet.worker(worker);
    let shown = tier(name);
    let blank = |state, hash: Option<SequenceHash>| SlotView {
        tier: shown,
        slot,
        state,
        full: true,
        hash: hash.map(|hash| hash.to_string()),
        owners: Vec::new(),
        also_in: hash.map_or(Vec::new(), |hash| resident_in(fleet, worker, hash)),
        last_ns: None,
    };
    let mut view = if let (Some(manager), Flavour::Vllm(connector)) =
        (engine.cpu_tier().filter(|_| name == Tier::G2), engine.config().tiers.as_ref()?.flavour)
    {
        let chunk = SlotId(slot / connector.blocks_per_chunk.max(1));
        let content = manager.content(chunk).filter(|_| chunk.0 < manager.used());
        let state = match content.map(|key| manager.lookup(key)) {
            None | Some(Found::Miss) => BlockState::Free,
            Some(Found::HitPending) => BlockState::Reserved,
            Some(Found::Hit) => BlockState::Cached,
        };
        blank(state, content)
    } else {
        let pool = fleet.tier_of(worker, name)?;
        // What was never used is not in the pool.
        let used = slot < pool.capacity();
        let state = if used { state(pool.slot_state(SlotId(slot))) } else { BlockState::Free };
        blank(state, used.then(|| pool.slot_hash(SlotId(slot))).flatten())
    };
    view.also_in.retain(|other| *other != shown);
    if let Some(hash) = view.hash.as_ref().and_then(|hash| u64::from_str_radix(hash, 16).ok())
        && engine.g1().lookup(SequenceHash(hash)).is_some()
    {
        view.also_in.insert(0, TierName::G1);
    }
    Some(view)
}

/// The tiers below G1 in which a content is resident; where it is only on its way is not among them.
pub fn resident_in(fleet: &Fleet, worker: WorkerId, hash: SequenceHash) -> Vec<TierName> {
    let engine = fleet.worker(worker);
    if let Some(manager) = engine.cpu_tier() {
        // A chunk of several blocks goes by another name.
        let here = manager.lookup(hash) == Found::Hit;
        return if here { vec![TierName::G2] } else { Vec::new() };
    }
    let here = |tier: &Tier| {
        let pool = fleet.tier_of(worker, *tier)?;
        let state = pool.slot_state(pool.lookup(hash)?);
        matches!(state, SlotState::Cached | SlotState::Active { .. }).then_some(())
    };
    Tier::ALL[1..].iter().filter(|tier| here(tier).is_some()).map(|name| tier(*name)).collect()
}

fn state(state: SlotState) -> BlockState {
    match state {
        SlotState::Free => BlockState::Free,
        SlotState::Reserved => BlockState::Reserved,
        SlotState::Active { .. } => BlockState::Active,
        SlotState::Cached => BlockState::Cached,
        SlotState::SourceHold => BlockState::SourceHold,
    }
}

/// The lanes between the tiers that a worker has.
pub fn lanes(simulation: &Simulation, worker: WorkerId, copies: &Copies, world: &World) -> Vec<LaneView> {
    let engine = simulation.fleet().worker(worker);
    let Some(config) = &engine.config().tiers else { return Vec::new() };
    let fleet = simulation.fleet();
    let there =
        |lane: &Lane| [lane.from(), lane.to()].iter().all(|&tier| fleet.tier_of(worker, tier).is_some());
    let now = simulation.now();
    let mut moving = [Moving::default(); Lane::COUNT];
    for entry in copies.open_at(worker, now).filter(|entry| entry.is_moving(now)) {
        moving[entry.lane().index()].add(entry, world.bytes_per_block);
    }
    let links = Crossed::of(simulation, worker);
    let view = |lane: Lane| {
        let snapshot = engine.lane(lane);
        let moving = moving[lane.index()];
        let link = links.by(lane);
        LaneView {
            from: tier(lane.from()),
            to: tier(lane.to()),
            queued: snapshot.queued,
            starting: snapshot.starting,
            in_flight: snapshot.in_flight,
            settling: snapshot.settling,
            permits: config.lanes[lane.index()].max_concurrent,
            completed: snapshot.completed as f64,
            failed: snapshot.failed as f64,
            cancelled: snapshot.cancelled as f64,
            moving_blocks: moving.blocks,
            moved_bytes: link.moved_bytes as f64,
            busy_ns: link.busy.as_ns() as f64,
            limit_bytes_per_s: world.links.of(lane).alone_bytes_per_s as f64,
            rate: moving.rate(world.links.of(lane).alone_bytes_per_s),
        }
    };
    Lane::ALL.into_iter().filter(there).map(view).collect()
}

/// The links that a worker's lanes cross, with all that others send over them.
struct Crossed {
    pcie: Option<LinkUse>,
    disk: Option<LinkUse>,
    object: Option<LinkUse>,
}

impl Crossed {
    fn of(simulation: &Simulation, worker: WorkerId) -> Self {
        let host = u32::from(worker.0) / simulation.fleet().config().workers_per_host.max(1);
        let links = simulation.links();
        let find =
            |name, number| links.iter().find(|link| (link.name, link.number) == (name, number)).copied();
        Self { pcie: find("pcie", worker.0.into()), disk: find("disk", host), object: find("object", 0) }
    }

    /// A lane is one direction of one link.
    fn by(&self, lane: Lane) -> DirectionUse {
        let (link, down) = match lane {
            Lane::G1ToG2 => (self.pcie, true),
            Lane::G2ToG1 => (self.pcie, false),
            Lane::G2ToG3 => (self.disk, true),
            Lane::G3ToG2 => (self.disk, false),
            Lane::G2ToG4 => (self.object, true),
            Lane::G4ToG2 => (self.object, false),
        };
        let Some(link) = link else { return DirectionUse { copies: 0, moved_bytes: 0, busy: Span::ZERO } };
        if down { link.down } else { link.up }
    }
}

/// The copies under way on one lane.
#[derive(Clone, Copy, Debug, Default)]
struct Moving {
    blocks: u32,
    bytes_per_s: f64,
    /// The end of one of them is not known: neither is its speed.
    unknown: bool,
}

impl Moving {
    fn add(&mut self, entry: &Entry, bytes_per_block: u64) {
        self.blocks = self.blocks.saturating_add(entry.blocks());
        match entry.span_ns() {
            Some(ns) => {
                let bytes = f64::from(entry.blocks()) * bytes_per_block as f64;
                self.bytes_per_s += bytes * 1e9 / (ns.max(1) as f64);
            }
            None => self.unknown = true,
        }
    }

    fn rate(self, link_bytes_per_s: u64) -> Option<Rate> {
        let share = self.bytes_per_s / (link_bytes_per_s.max(1) as f64);
        (!self.unknown).then_some(Rate { bytes_per_s: self.bytes_per_s, share: share.min(1.0) })
    }
}

/// A worker's copies that are open at a time, those under way first, and how many there are.
pub fn open_copies(copies: &Copies, worker: WorkerId, now: SimTime) -> (Vec<CopyView>, u32) {
    let (mut moving, mut queued, mut total) = (Vec::new(), Vec::new(), 0);
    for entry in copies.open_at(worker, now) {
        total += 1;
        let list = if entry.is_moving(now) { &mut moving } else { &mut queued };
        if list.len() < COPIES_SHOWN {
            list.push(entry);
        }
    }
    let shown = moving.into_iter().chain(queued).take(COPIES_SHOWN);
    (shown.map(|entry| copies.view(entry)).collect(), total)
}
