//! The device, as a thread that copies sees it.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::code::Code;
use super::context::Context;
use super::lane::{Copied, Lane, Mode, Piece};
use super::memory::{Pool, Registered};
use crate::claim::{Claims, ReadClaim, WriteClaim};
use crate::device::{Device, Loaded, Outcome, Stored, Wanted};
use crate::fault::Fault;
use crate::host::Held;
use crate::medium::{Slot, Way};

/// Blocks are handed to a thread in parts of so many bytes: enough for one call to be worth it, little enough for a
/// cancelled batch to end soon.
const GRAIN_BYTES: usize = 16 << 20;

/// Slots of a GPU's memory.
pub struct CudaDevice {
    // Dropped in this order: streams, the arena's registration, the pool, the context.
    lanes: Mutex<Vec<Lane>>,
    registered: Option<Registered>,
    pool: Pool,
    context: Arc<Context>,
    /// Whether the driver copies many blocks by one call.
    batched: bool,
    block_bytes: usize,
    claims: Claims,
    /// By slot, its content.
    held: Vec<Held>,
    /// The driver has lost the device: nothing is asked of it any more.
    lost: AtomicBool,
}

/// What a device is made of.
pub(super) struct Parts {
    pub(super) context: Arc<Context>,
    pub(super) pool: Pool,
    pub(super) registered: Option<Registered>,
    pub(super) lanes: Vec<Lane>,
    pub(super) slots: u32,
    pub(super) block_bytes: usize,
}

impl CudaDevice {
    /// Copies blocks one by one until [`CudaDevice::try_batches`] has seen that it can do better.
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { context, pool, registered, lanes, slots, block_bytes } = parts;
        let held = (0..slots).map(|_| Held::default()).collect();
        let (lanes, claims, lost) = (Mutex::new(lanes), Claims::new(slots), AtomicBool::new(false));
        Self { lanes, registered, pool, context, batched: false, block_bytes, claims, held, lost }
    }

    /// Copies one block into a slot that holds nothing, by the call for many; from then on all are, if that goes.
    pub(super) fn try_batches(&mut self, block: &[u8]) -> Result<(), Code> {
        let piece = self.piece(Slot(0), block.as_ptr());
        let Some(mut lane) = self.lane() else { return Ok(()) };
        #[expect(unsafe_code, reason = "copies by addresses")]
        // SAFETY: the block is borrowed for as long, has the size of a slot, and the slot is nobody's yet.
        let Copied { answers, over } = unsafe { lane.copy(Way::Store, Mode::Batched, &[piece]) };
        self.give_back(lane);
        self.lost.fetch_or(!over, Ordering::AcqRel);
        answers.into_iter().collect::<Result<(), Code>>()?;
        self.batched = true;
        Ok(())
    }

    pub(super) fn is_registered(&self) -> bool {
        self.registered.is_some()
    }

    /// Whether nothing is asked of the driver any more.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    fn piece(&self, there: Slot, host: *const u8) -> Piece {
        Piece { device: self.pool.address(there), host: host as u64, bytes: self.block_bytes }
    }

    fn lane(&self) -> Option<Lane> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    fn give_back(&self, lane: Lane) {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner).push(lane);
    }

    /// Copies between slots and host memory that the caller has to itself; one outcome for each.
    fn copy(&self, way: Way, pieces: &[Piece], wanted: &Wanted) -> Vec<Outcome> {
        let all = |fault| vec![Err(fault); pieces.len()];
        if pieces.is_empty() {
            return Vec::new();
        }
        if !wanted.is_wanted() {
            return all(Fault::Cancelled);
        }
        // There are as many as threads.
        let Some(mut lane) = self.lane() else { return all(Fault::Busy) };
        let copied = self.context.enter().map(|()| {
            #[expect(unsafe_code, reason = "copies by addresses")]
            // SAFETY: slots and host memory are claimed by the caller until this returns, which is after the copies;
            // the pool and the buffers have `block_bytes` at each.
            unsafe {
                lane.copy(way, self.mode(pieces), pieces)
            }
        });
        self.give_back(lane);
        let Copied { answers, over } = match copied {
            Ok(copied) => copied,
            // None was begun.
            Err(code) => Copied { answers: vec![Err(code); pieces.len()], over: true },
        };
        let broken = answers.iter().any(|answer| answer.is_err_and(Code::is_lost));
        if broken || !over {
            self.lost.store(true, Ordering::Release);
        }
        answers.into_iter().map(|answer| answer.map_err(Code::fault)).collect()
    }

    /// The call for many is for memory that the driver knows; other memory it copies by way of its own.
    fn mode(&self, pieces: &[Piece]) -> Mode {
        let span: Range<u64> = self.registered.as_ref().map_or(0..0, Registered::span);
        let known = pieces.iter().all(|piece| span.contains(&piece.host));
        if self.batched && known && pieces.len() > 1 { Mode::Batched } else { Mode::Single }
    }

    fn claim_to_write(&self, block: &Stored<'_>) -> Result<WriteClaim<'_>, Fault> {
        let held = self.held.get(block.there.0 as usize).ok_or(Fault::OutOfRange)?;
        self.fits(block.from)?;
        let claim = self.claims.write(block.there).ok_or(Fault::Busy)?;
        // Half of a copy is nobody's content.
        held.set(None);
        Ok(claim)
    }

    fn claim_to_read(&self, block: &Loaded<'_>) -> Result<ReadClaim<'_>, Fault> {
        let held = self.held.get(block.there.0 as usize).ok_or(Fault::OutOfRange)?;
        self.fits(block.into)?;
        let claim = self.claims.read(block.there).ok_or(Fault::Busy)?;
        if held.is(block.key) { Ok(claim) } else { Err(Fault::Missing) }
    }

    /// The pool sees to it; an address that is wrong is nothing to trust anybody with.
    fn fits(&self, buffer: &[u8]) -> Outcome {
        if buffer.len() == self.block_bytes { Ok(()) } else { Err(Fault::OutOfRange) }
    }
}

/// The outcomes of those that were claimed, among all, in order.
fn among<C>(claims: Vec<Result<C, Fault>>, copied: Vec<Outcome>) -> Vec<Outcome> {
    let mut copied = copied.into_iter();
    let outcome = |claim: Result<C, Fault>| claim.and_then(|_| copied.next().unwrap_or(Err(Fault::Device)));
    claims.into_iter().map(outcome).collect()
}

impl Device for CudaDevice {
    fn grain(&self) -> usize {
        GRAIN_BYTES.div_ceil(self.block_bytes)
    }

    fn store(&self, block: Stored<'_>, wanted: &Wanted) -> Outcome {
        self.store_many(&[block], wanted).pop().unwrap_or(Err(Fault::Device))
    }

    fn load(&self, block: Loaded<'_>, wanted: &Wanted) -> Outcome {
        self.load_many(vec![block], wanted).pop().unwrap_or(Err(Fault::Device))
    }

    fn store_many(&self, blocks: &[Stored<'_>], wanted: &Wanted) -> Vec<Outcome> {
        if self.is_lost() {
            return vec![Err(Fault::Gone); blocks.len()];
        }
        let claims: Vec<_> = blocks.iter().map(|block| self.claim_to_write(block)).collect();
        let claimed = blocks.iter().zip(&claims).filter(|(_, claim)| claim.is_ok());
        let pieces: Vec<Piece> =
            claimed.clone().map(|(block, _)| self.piece(block.there, block.from.as_ptr())).collect();
        let copied = self.copy(Way::Store, &pieces, wanted);
        for ((block, _), outcome) in claimed.zip(&copied) {
            if outcome.is_ok() {
                self.held[block.there.0 as usize].set(Some(block.key));
            }
        }
        among(claims, copied)
    }

    fn load_many(&self, mut blocks: Vec<Loaded<'_>>, wanted: &Wanted) -> Vec<Outcome> {
        if self.is_lost() {
            return vec![Err(Fault::Gone); blocks.len()];
        }
        let claims: Vec<_> = blocks.iter().map(|block| self.claim_to_read(block)).collect();
        let claimed = blocks.iter_mut().zip(&claims).filter(|(_, claim)| claim.is_ok());
        let pieces: Vec<Piece> =
            claimed.map(|(block, _)| self.piece(block.there, block.into.as_mut_ptr())).collect();
        let copied = self.copy(Way::Load, &pieces, wanted);
        among(claims, copied)
    }

    fn forget(&self, slot: Slot) {
        if let Some(held) = self.held.get(slot.0 as usize) {
            held.set(None);
        }
    }
}
