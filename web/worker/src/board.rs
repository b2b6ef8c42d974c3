//! The state of a simulation as the page shows it.

use tierscope_engine::{Engine, SlotState, Wakeup};
use tierscope_report::Census;
use tierscope_sim::{Simulation, census};
use tierscope_units::{Idx, RequestId, SlotId};

use crate::copies::Copies;
use crate::protocol::{BlockState, Board, CENSUS_ROWS, Cells, CensusRow, SlotView, Totals};

use crate::tiers::{self, World};

/// More cells than this are not worth drawing: neighbours are put together.
pub const CELLS_MAX: u32 = 4_096;
/// Pools up to this size say in each cell who holds it.
const LABELLED_BLOCKS_MAX: u32 = 256;

/// The board of a simulation, as the answer for a time. `copies` is the index of its run.
pub fn board(simulation: &Simulation, asked_ns: u64, copies: &Copies, world: &World) -> Board {
    let engine = simulation.engine();
    let (running, waiting) = engine.queue_lengths();
    let (totals, cells) = cells(engine);
    let Census { rows, wait_cycle } = census(simulation);
    let census_total = rows.len() as u32;
    let (open, copies_total) = tiers::open_copies(copies, simulation.now());
    // Rows of those who have not arrived stand behind the engine's own.
    let transfers = engine.census().into_iter().map(|row| match row.wakeup {
        Some(Wakeup::Transfer(dependency)) => Some(dependency.transfer.0 as f64),
        _ => None,
    });
    let rows = rows.into_iter().zip(transfers.chain(std::iter::repeat(None)));
    let shown = rows.take(CENSUS_ROWS).map(|(row, transfer)| CensusRow {
        transfer: transfer.filter(|_| row.wakeup.is_some()),
        request: row.request,
        phase: row.phase,
        owner: row.owner,
        wakeup: row.wakeup,
        held_blocks: row.held_blocks,
        needed_blocks: row.needed_blocks,
    });
    Board {
        asked_ns: asked_ns as f64,
        at_ns: simulation.now().as_ns() as f64,
        totals,
        cells,
        labels: labels(engine),
        tiers: tiers::tiers(engine),
        lanes: tiers::lanes(simulation, copies, world),
        copies: open,
        copies_total,
        running: running as u32,
        waiting: waiting as u32,
        finished: simulation.progress().ended,
        census: shown.collect(),
        census_total,
        wait_cycle,
    }
}

/// One slot.
pub fn slot(engine: &Engine, slot: SlotId) -> Option<SlotView> {
    let pool = engine.g1();
    if slot.0 >= pool.capacity() {
        return None;
    }
    let state = pool.slot_state(slot);
    Some(SlotView {
        slot: slot.0,
        state: shown_state(state),
        full: !matches!(state, SlotState::Active { full: false, .. }),
        hash: pool.slot_hash(slot).map(|hash| hash.to_string()),
        owners: engine.owners(slot).into_iter().map(|owner| owner.0).collect(),
        also_in: pool.slot_hash(slot).map_or(Vec::new(), |hash| tiers::resident_in(engine, hash)),
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
