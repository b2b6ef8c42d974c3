//! Media of one size of block, and the books of their slots: no slot is given to two batches at once, and what is read
//! was written before.
//!
//! The first half of the slots of host memory is what is stored from, the second half what is loaded into; of a medium,
//! loads read the first half and stores write the second. All go through their half in turn, in an order that was drawn
//! once: what was touched last is touched last again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tierscope_tiers::{Arena, Batch, BatchId, Ended, Fault, Key, Medium, Move, Slot, Way, content};
use tierscope_units::RandomStream;

use super::error::CalibrateError;
use crate::error::PATIENCE;

/// Blocks of a batch, and batches in flight, while slots are prepared.
const PREPARED_AT_ONCE: u32 = 16;
/// Between two looks at whether somebody still wants it.
const LOOK: Duration = Duration::from_millis(100);

/// Whether to go on; told what is being done.
pub(super) type Watch<'a> = &'a mut dyn FnMut(&str) -> bool;

/// Why something was not measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// All of it is to end.
    Broken(CalibrateError),
    /// A block failed.
    Fault(Fault),
    /// A batch did not end.
    Hangs,
    /// It does not fit into the time or the slots that there are.
    Room(String),
}

impl Trouble {
    /// In words; what ends everything is passed on.
    pub(super) fn words(self) -> Result<String, CalibrateError> {
        match self {
            Self::Broken(error) => Err(error),
            Self::Fault(fault) => Ok(format!("a block failed: {fault}")),
            Self::Hangs => Ok(format!("a batch did not end within {} s", PATIENCE.as_secs())),
            Self::Room(words) => Ok(words),
        }
    }
}

/// Media of one size of block.
pub(super) struct Rig {
    pub(super) arena: Arc<Arena>,
    pub(super) stands: [Option<Stand>; 3],
    /// Whether a slot of the first half of host memory has its content.
    filled: Vec<bool>,
    next: u64,
}

/// A medium with the books of its slots.
pub(super) struct Stand {
    pub(super) medium: Box<dyn Medium>,
    /// Slots of a half, in the order in which they are gone through.
    order: Vec<u32>,
    /// Slots of host memory that are loaded into, in the order in which they are gone through.
    landing: Vec<u32>,
    /// How many of them are prepared: stored to, in both halves.
    pub(super) ready: u32,
    /// How many were gone through, by way.
    gone: [u64; 2],
}

fn index(way: Way) -> usize {
    match way {
        Way::Store => 0,
        Way::Load => 1,
    }
}

/// What a slot of the arena's first half holds.
fn key_of(slot: u32) -> Key {
    Key(0x7469_6572_0000_0000 | u64::from(slot))
}

impl Stand {
    fn half(&self) -> u32 {
        self.order.len() as u32
    }

    /// The slots of the next block of a way. Who asks has no more of them under way than are ready.
    fn next_move(&mut self, way: Way) -> Move {
        let gone = self.gone[index(way)];
        self.gone[index(way)] += 1;
        let slot = self.order[(gone % u64::from(self.ready.max(1))) as usize];
        let (there, here) = match way {
            Way::Store => (slot + self.half(), slot),
            Way::Load => (slot, self.landing[(gone % u64::from(self.room(Way::Load).max(1))) as usize]),
        };
        Move { key: key_of(slot), there: Slot(there), here: Slot(here) }
    }

    /// How many blocks of a way may be under way.
    pub(super) fn room(&self, way: Way) -> u32 {
        match way {
            Way::Store => self.ready,
            Way::Load => self.ready.min(self.landing.len() as u32),
        }
    }

    /// How many blocks of a way were gone through.
    pub(super) fn gone(&self, way: Way) -> u64 {
        self.gone[index(way)]
    }
}

impl Rig {
    /// Host memory and media with nothing in them yet; of each, half of the slots for each direction.
    pub(super) fn new(arena: Arc<Arena>, media: [Option<Box<dyn Medium>>; 3], seed: u64) -> Self {
        let half = arena.slots() / 2;
        let order = shuffled(half, seed);
        let stand = |medium: Box<dyn Medium>| {
            let own = half.min(medium.capability().slots / 2);
            let order: Vec<u32> = order.iter().copied().filter(|&slot| slot < own).collect();
            let landing = order.iter().map(|&slot| slot + half).collect();
            Stand { medium, order, landing, ready: 0, gone: [0; 2] }
        };
        Self {
            stands: media.map(|medium| medium.map(stand)),
            filled: vec![false; half as usize],
            arena,
            next: 0,
        }
    }

    /// A slot of host memory has its content, and its other half is there: a page that was never touched is not.
    fn fill(&mut self, slot: u32) {
        let half = self.filled.len() as u32;
        if std::mem::replace(&mut self.filled[slot as usize], true) {
            return;
        }
        if let Some(mut block) = self.arena.write(Slot(slot)) {
            content::fill(key_of(slot), &mut block);
        }
        if let Some(mut block) = self.arena.write(Slot(slot + half)) {
            block.fill(0xff);
        }
    }

    /// Fills host memory and stores to both halves of a medium, as much as there is time for.
    pub(super) fn prepare(&mut self, nth: usize, until: Instant, watch: Watch<'_>) -> Result<(), Trouble> {
        loop {
            let Some(stand) = &mut self.stands[nth] else { return Ok(()) };
            let (half, first) = (stand.half(), stand.ready);
            let last = half.min(first + PREPARED_AT_ONCE);
            wanted(watch)?;
            let enough = first >= PREPARED_AT_ONCE && Instant::now() >= until;
            if first == last || enough {
                return Ok(());
            }
            let slots: Vec<u32> = stand.order[first as usize..last as usize].to_vec();
            slots.iter().for_each(|&slot| self.fill(slot));
            let batches = [0, half].map(|offset| {
                let to =
                    |&slot: &u32| Move { key: key_of(slot), there: Slot(slot + offset), here: Slot(slot) };
                slots.iter().map(to).collect::<Vec<Move>>()
            });
            let ids = batches.map(|moves| self.submit(nth, Way::Store, moves, false));
            for id in ids {
                self.end_of(nth, id, watch)?;
            }
            if let Some(stand) = &mut self.stands[nth] {
                stand.ready = last;
            }
        }
    }

    /// From now on all media are loaded from at once: none of them into a slot that another one has.
    pub(super) fn share_out(&mut self) {
        let count = self.stands.iter().flatten().count() as u32;
        for (nth, stand) in (0..).zip(self.stands.iter_mut().flatten()) {
            // Only those that were touched.
            stand.landing.truncate(stand.ready as usize);
            stand.landing.retain(|slot| slot % count == nth);
        }
    }

    /// Submits a batch of the next blocks.
    pub(super) fn send(&mut self, nth: usize, way: Way, blocks: u32) -> BatchId {
        let Some(stand) = &mut self.stands[nth] else { return BatchId(0) };
        let moves = (0..blocks).map(|_| stand.next_move(way)).collect();
        self.submit(nth, way, moves, false)
    }

    fn submit(&mut self, nth: usize, way: Way, moves: Vec<Move>, look: bool) -> BatchId {
        self.next += 1;
        let id = BatchId(self.next);
        if let Some(stand) = &mut self.stands[nth] {
            stand.medium.submit(Batch { id, way, moves, look });
        }
        id
    }

    /// Waits for the next end of a medium, and looks whether it went well.
    pub(super) fn next_end(&mut self, nth: usize, watch: Watch<'_>) -> Result<Ended, Trouble> {
        // Bounds the patience with a medium that never ends a batch.
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let Some(stand) = &mut self.stands[nth] else { break };
            if let Some(ended) = stand.medium.next_ended(LOOK) {
                return well(ended);
            }
            wanted(watch)?;
        }
        Err(Trouble::Hangs)
    }

    fn end_of(&mut self, nth: usize, id: BatchId, watch: Watch<'_>) -> Result<(), Trouble> {
        // Two are under way, and whichever ends first, both are waited for.
        self.next_end(nth, watch).map(|ended| debug_assert!(ended.id.0.abs_diff(id.0) < 2))
    }

    /// Whether what is in a medium is what was stored there: a few blocks are loaded and looked at.
    pub(super) fn look(&mut self, nth: usize, watch: Watch<'_>) -> Result<(), Trouble> {
        let Some(stand) = &mut self.stands[nth] else { return Ok(()) };
        let count = stand.room(Way::Load).min(PREPARED_AT_ONCE);
        let moves = (0..count).map(|_| stand.next_move(Way::Load)).collect();
        self.submit(nth, Way::Load, moves, true);
        self.next_end(nth, watch).map(|_| ())
    }

    /// Leaves nothing behind where each block is an object of its own, which no folder's end takes away.
    pub(super) fn clear(&mut self) {
        for stand in self.stands.iter_mut().flatten() {
            // What cannot be removed stays: a store that fails now has been told of already, or will not be asked again.
            let _ = stand.medium.empty();
        }
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // Closed first: nothing that was under way is carried out behind the clearing.
        self.stands.iter_mut().flatten().for_each(|stand| stand.medium.close());
        self.clear();
    }
}

/// Whether somebody still wants it.
pub(super) fn wanted(watch: Watch<'_>) -> Result<(), Trouble> {
    if watch("") { Ok(()) } else { Err(Trouble::Broken(CalibrateError::Stopped)) }
}

/// A batch all of whose blocks were copied.
pub(super) fn well(ended: Ended) -> Result<Ended, Trouble> {
    match ended.results.iter().find_map(|result| result.err()) {
        None => Ok(ended),
        Some(fault) => Err(Trouble::Fault(fault)),
    }
}

/// Fisher and Yates.
fn shuffled(count: u32, seed: u64) -> Vec<u32> {
    let mut stream = RandomStream::named(seed, "calibrate.slots");
    let mut order: Vec<u32> = (0..count).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, stream.between(0, at as u64) as usize);
    }
    order
}
