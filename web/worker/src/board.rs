//! The state of a simulation as the page shows it.

use std::collections::BTreeMap;

use tierscope_engine::{Engine, Fleet, SlotState, Wakeup};
use tierscope_report::Census;
use tierscope_sim::{Simulation, census};
use tierscope_units::{Idx, RequestId, SlotId, WorkerId};

use crate::between;
use crate::protocol::{BlockState, Board, CENSUS_ROWS, Cells, CensusRow, SlotView, TierName, Totals};
use crate::read::Read;
use crate::tiers::{self, World};

/// More cells than this are not worth drawing: neighbours are put together.
pub const CELLS_MAX: u32 = 4_096;
/// Pools up to this size say in each cell who holds it.
const LABELLED_BLOCKS_MAX: u32 = 256;

/// The board of a simulation, as the answer for a time, with one of its workers. `read` are the indices of its run.
pub fn board(simulation: &Simulation, asked_ns: u64, worker: WorkerId, read: &Read, world: &World) -> Board {
    let (now, copies) = (simulation.now(), &read.copies);
    let engine = simulation.fleet().worker(worker);
    let (running, waiting) = engine.queue_lengths();
    let (totals, cells) = cells(engine);
    let Census { rows, wait_cycle } = census(simulation);
    let census_total = rows.len() as u32;
    let (open, copies_total) = tiers::open_copies(copies, worker, now);
    Board {
        asked_ns: asked_ns as f64,
        at_ns: now.as_ns() as f64,
        worker: worker.0.into(),
        workers: between::workers(simulation.fleet()),
        handoffs: read.between.moving_at(now),
        news: read.between.news_at(now),
        totals,
        cells,
        labels: labels(engine),
        tiers: tiers::tiers(simulation.fleet(), worker),
        lanes: tiers::lanes(simulation, worker, copies, world),
        copies: open,
        copies_total,
        running: running as u32,
        waiting: waiting as u32,
        finished: simulation.progress().ended,
        census: census_rows(simulation, rows),
        census_total,
        wait_cycle,
    }
}

/// The first rows, each with the transfer that it waits for.
pub(crate) fn census_rows(simulation: &Simulation, rows: Vec<tierscope_report::CensusRow>) -> Vec<CensusRow> {
    // A request may be at two workers for a while: the owner tells its rows apart.
    let mut transfers: BTreeMap<(u32, String), f64> = BTreeMap::new();
    for row in simulation.fleet().workers().flat_map(Engine::census) {
        if let Some(Wakeup::Transfer(dependency)) = row.wakeup {
            let key = (row.request.0, format!("worker {}", row.owner));
            transfers.insert(key, dependency.transfer.0 as f64);
        }
    }
    let shown = rows.into_iter().take(CENSUS_ROWS).map(|row| {
        let key = (row.request, row.owner);
        CensusRow {
            transfer: transfers.get(&key).copied().filter(|_| row.wakeup.is_some()),
            request: row.request,
            phase: row.phase,
            owner: key.1,
            wakeup: row.wakeup,
            held_blocks: row.held_blocks,
            needed_blocks: row.needed_blocks,
        }
    });
    shown.collect()
}

/// One slot.
pub fn slot(fleet: &Fleet, worker: WorkerId, slot: SlotId) -> Option<SlotView> {
    let engine = fleet.worker(worker);
    let pool = engine.g1();
    if slot.0 >= pool.capacity() {
        return None;
    }
    let state = pool.slot_state(slot);
    Some(SlotView {
        tier: TierName::G1,
        slot: slot.0,
        state: shown_state(state),
        full: !matches!(state, SlotState::Active { full: false, .. }),
        hash: pool.slot_hash(slot).map(|hash| hash.to_string()),
        owners: engine.owners(slot).into_iter().map(|owner| owner.0).collect(),
        also_in: pool.slot_hash(slot).map_or(Vec::new(), |hash| tiers::resident_in(fleet, worker, hash)),
        last_ns: None,
    })
}

fn shown_state(state: SlotState) -> BlockState {
    match state {
        SlotState::Free => BlockState::Free,
        SlotState::Active { refs, .. } if refs > 1 => BlockState::Shared,
        SlotState::Active { .. } => BlockState::Active,
        SlotState::Cached => BlockState::Cached,
        SlotState::Reserved => BlockState::Reserved,
        SlotState::SourceHold => BlockState::SourceHold,
    }
}

/// The blocks of a worker's G1 by state.
pub fn totals(engine: &Engine) -> Totals {
    cells(engine).0
}

fn cells(engine: &Engine) -> (Totals, Cells) {
    let capacity = engine.g1().capacity();
    let per_cell = capacity.div_ceil(CELLS_MAX).max(1);
    let mut cells = Cells { per_cell, counts: Vec::new() };
    let mut totals = Totals::default();
    let mut first = 0;
    while first < capacity {
        let end = first.saturating_add(per_cell).min(capacity);
        let mut cell = Totals::default();
        for slot in first..end {
            let state = shown_state(engine.g1().slot_state(SlotId(slot)));
            cell.count(state);
            totals.count(state);
        }
        cells.push(cell);
        first = end;
    }
    (totals, cells)
}

fn labels(engine: &Engine) -> Vec<String> {
    let capacity = engine.g1().capacity();
    if capacity > LABELLED_BLOCKS_MAX {
        return Vec::new();
    }
    let mut holders: Vec<Vec<RequestId>> = vec![Vec::new(); capacity as usize];
    for request in engine.running().chain(engine.waiting()).chain(engine.holding()) {
        for slot in engine.blocks_of(request) {
            holders[slot.index()].push(request);
        }
    }
    let label = |holders: Vec<RequestId>| match holders[..] {
        [] => String::new(),
        [one] => one.to_string(),
        _ => format!("×{}", holders.len()),
    };
    holders.into_iter().map(label).collect()
}
