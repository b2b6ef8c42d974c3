//! A close look at one transaction: its instant is repeated, and the facts around it are kept.

use tierscope_engine::{BlockRef, Caller, Cause, Engine, Fact, FactLog};
use tierscope_sim::Simulation;
use tierscope_units::{RequestId, SequenceHash, SimTime, SlotId, TransferId, TxnId, WorkerId};

use crate::copies::{Copies, Entry};
use crate::protocol::{BLOCKS_SHOWN, PreemptedRequest, Room, Transfer, TxnBlock, TxnDetail};

/// Which transaction: those of each worker are numbered apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Whose.
    pub worker: WorkerId,
    /// Its number.
    pub txn: TxnId,
    /// When.
    pub at: SimTime,
}

/// The details of a transaction; `before` is a state of the same run earlier than it, `copies` the index of that run.
pub fn detail(mut before: Simulation, wanted: Wanted, copies: &Copies) -> Option<TxnDetail> {
    let at = wanted.at;
    while before.next_time().is_some_and(|next| next < at) {
        before.step(|_| {}).ok()?;
    }
    let mut witness = Witness::new(&before, wanted, copies);
    before.step(|log| witness.take(log)).ok()?;
    witness.told(&before)
}

/// Reads the facts of an instant around one transaction.
struct Witness<'a> {
    txn: TxnId,
    worker: WorkerId,
    /// How the worker's logs are marked: a machine that is the only one has no number.
    mark: Option<WorkerId>,
    copies: &'a Copies,
    /// Free and cached slots as far as the facts tell; lost at the first that does not.
    room: Option<Room>,
    /// What was evicted by the facts just read, and what of it is held for an offload.
    evicted: Vec<BlockRef>,
    held: Vec<BlockRef>,
    stage: Stage,
    detail: TxnDetail,
    /// Of the transaction: who asked, how many hits, which new blocks, how many victims.
    request: Option<RequestId>,
    hits: usize,
    taken: Vec<BlockRef>,
    evicts: u32,
    obtainable: Option<u32>,
    /// Nothing has changed the pool since it failed: what is so at the end was so for it.
    untouched: bool,
}

/// Where the reading is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Before,
    /// Its own facts, and what came of it.
    After,
    /// Another transaction has begun, or the pass.
    Past,
}

impl<'a> Witness<'a> {
    fn new(before: &Simulation, wanted: Wanted, copies: &'a Copies) -> Self {
        let Wanted { worker, txn, .. } = wanted;
        let engine = before.fleet().worker(worker);
        let pool = engine.g1().occupancy();
        Self {
            txn,
            worker,
            mark: before.fleet().config().router.as_ref().map(|_| worker),
            copies,
            room: Some(Room { free: pool.free, cached: pool.cached }),
            evicted: Vec::new(),
            held: Vec::new(),
            stage: Stage::Before,
            detail: TxnDetail { capacity: engine.g1().capacity(), ..TxnDetail::default() },
            request: None,
            hits: 0,
            taken: Vec::new(),
            evicts: 0,
            obtainable: None,
            untouched: false,
        }
    }

    fn take(&mut self, log: &FactLog) {
        // What happens at other workers, and between them, leaves its pool alone.
        if log.worker() != self.mark {
            return;
        }
        for (at, fact) in log.iter() {
            if own_txn(fact).is_some_and(|txn| txn != self.txn) && self.stage == Stage::After {
                self.stage = Stage::Past;
            }
            if own_txn(fact) == Some(self.txn) {
                self.own(fact, log);
            } else if self.stage == Stage::After {
                self.after(fact, log);
            }
            if self.stage == Stage::Before {
                self.before(at, fact, log);
            } else if changes_room(fact) {
                self.untouched = false;
            }
        }
    }

    /// Keeps the account of free and cached slots, and the evictions that may turn out to be the transaction's.
    fn before(&mut self, at: SimTime, fact: &Fact, log: &FactLog) {
        match *fact {
            Fact::Removed { blocks } => {
                self.evicted = log.blocks(blocks).to_vec();
                self.held.clear();
            }
            // One queued batch may hold what was evicted before: only what was evicted just now is this one's.
            Fact::CopyQueued { cause: Cause::Evicted, blocks, .. } => {
                let own = |block: &&BlockRef| self.evicted.contains(block);
                self.held.extend(log.blocks(blocks).iter().filter(own));
            }
            // It evicted nothing: another's copy will free what it needs.
            Fact::BlockedOnOffload { .. } if self.held.is_empty() => self.forget_evicted(),
            Fact::BlockedOnOffload { .. } | Fact::RetryNow { .. } => {
                let (evicted, held) = (self.evicted.len() as u32, self.held.len() as u32);
                self.move_room(i64::from(evicted) - i64::from(held), -i64::from(evicted));
                self.forget_evicted();
            }
            Fact::Acquired { cached_hits, missing, victims, .. } => {
                self.move_room(
                    i64::from(victims) - i64::from(missing.len()),
                    -i64::from(victims) - i64::from(cached_hits),
                );
                self.forget_evicted();
            }
            Fact::CopyStarted { transfer, .. } => {
                let freed = self.sources_of(transfer).map_or(0, |copy| copy.freed_by_start(at));
                self.move_room(i64::from(freed), 0);
            }
            Fact::CopyEnded { transfer, .. } => {
                let freed = self.sources_of(transfer).map_or(0, Entry::freed_by_end);
                self.move_room(i64::from(freed), 0);
            }
            // Whether what they release is free or cached is not said.
            Fact::Preempted { released: 1.., .. }
            | Fact::Finished { .. }
            | Fact::Cancelled { .. }
            | Fact::LeaseEnded { .. }
            | Fact::SourceReleased { .. }
            | Fact::ContextArrived { .. }
            | Fact::Withdrawn { .. }
            | Fact::Claimed { .. }
            | Fact::ClaimBlocked { .. }
            | Fact::ClaimActivated { .. }
            | Fact::ClaimAbandoned { .. } => {
                self.room = None;
            }
            _ => {}
        }
    }

    /// A copy whose end frees the slots of evicted blocks.
    fn sources_of(&self, transfer: TransferId) -> Option<&'a Entry> {
        self.copies.find(transfer).filter(|copy| copy.holds_sources())
    }

    fn forget_evicted(&mut self) {
        self.evicted.clear();
        self.held.clear();
    }

    fn move_room(&mut self, free: i64, cached: i64) {
        let moved = |count: u32, by: i64| u32::try_from(i64::from(count) + by).ok();
        self.room = self.room.and_then(|room| {
            Some(Room { free: moved(room.free, free)?, cached: moved(room.cached, cached)? })
        });
    }

    /// The transaction's own facts.
    fn own(&mut self, fact: &Fact, log: &FactLog) {
        if self.stage == Stage::Before {
            self.detail.room = self.room;
            self.detail.victims = shown(&self.evicted);
            self.detail.held = shown(&self.held);
            self.stage = Stage::After;
        }
        match *fact {
            Fact::Acquired { request, caller, active_hits, cached_hits, missing, victims, .. } => {
                self.evicts = victims;
                self.request = Some(request);
                self.hits =
                    if caller == Caller::Admission { (active_hits + cached_hits) as usize } else { 0 };
                self.taken = log.blocks(missing).to_vec();
                if !self.detail.victims.is_empty() && self.detail.released == 0 {
                    // Evicted by something else before it.
                    self.detail.victims.clear();
                }
            }
            Fact::CapacityExhausted { obtainable, .. } => {
                self.detail.victims.clear();
                self.detail.held.clear();
                self.obtainable = Some(obtainable);
                self.untouched = true;
            }
            Fact::BlockedOnOffload { transfer, deadline, .. } => {
                if self.detail.held.is_empty() {
                    self.detail.victims.clear();
                }
                self.detail.transfer = Some(Transfer {
                    transfer: transfer.0 as f64,
                    deadline_ns: deadline.as_ns() as f64,
                    story: self.copies.find(transfer).map(|copy| self.copies.view(copy)),
                });
            }
            Fact::RetryNow { released, .. } => self.detail.released = released,
            _ => {}
        }
    }

    /// What followed from it, until the next transaction.
    fn after(&mut self, fact: &Fact, log: &FactLog) {
        match *fact {
            // What the next transaction evicts is told before its own fact.
            Fact::Removed { blocks } if std::mem::take(&mut self.evicts) > 0 => {
                self.detail.victims = shown(log.blocks(blocks));
            }
            Fact::Admitted { request, .. } if self.request == Some(request) => self.detail.admitted = true,
            Fact::Stored { request, blocks, .. } if self.request == Some(request) => {
                self.detail.stored += blocks.len();
                for stored in log.blocks(blocks) {
                    let own = self.taken.iter_mut().find(|block| block.slot == stored.slot);
                    own.into_iter().for_each(|block| block.hash = stored.hash);
                }
            }
            Fact::Preempted { request, lost_tokens, released } if self.obtainable.is_some() => {
                self.detail.preempted.get_or_insert(PreemptedRequest {
                    request: request.0,
                    released,
                    lost_tokens,
                });
            }
            Fact::PassStarted(_) => self.stage = Stage::Past,
            _ => {}
        }
    }

    fn told(mut self, end: &Simulation) -> Option<TxnDetail> {
        if self.stage == Stage::Before {
            return None;
        }
        if let Some(obtainable) = self.obtainable {
            let pool = end.fleet().worker(self.worker).g1().occupancy();
            let adds_up = |room: &Room| room.free + room.cached == obtainable;
            let last = Some(Room { free: pool.free, cached: pool.cached }).filter(|_| self.untouched);
            self.detail.room = self.detail.room.filter(adds_up).or(last.filter(adds_up));
        }
        if let Some(request) = self.request {
            self.detail.hits = hits(end.fleet().worker(self.worker), self.hits, request, &self.taken);
        }
        self.detail.taken = shown(&self.taken);
        Some(self.detail)
    }
}

/// The blocks that an admission hit: those before its new ones, if the request still holds them.
fn hits(engine: &Engine, count: usize, request: RequestId, taken: &[BlockRef]) -> Vec<TxnBlock> {
    if !engine.is_live(request) {
        return Vec::new();
    }
    let owned: &[SlotId] = engine.blocks_of(request);
    let follows = owned.get(count).copied() == taken.first().map(|block| block.slot);
    if !follows || owned.len() < count {
        return Vec::new();
    }
    let hash = |slot| engine.g1().slot_hash(slot).unwrap_or(SequenceHash(0));
    let hits: Vec<BlockRef> =
        owned[..count].iter().map(|&slot| BlockRef { slot, hash: hash(slot) }).collect();
    shown(&hits)
}

fn own_txn(fact: &Fact) -> Option<TxnId> {
    match *fact {
        Fact::Acquired { txn, .. }
        | Fact::CapacityExhausted { txn, .. }
        | Fact::BlockedOnOffload { txn, .. }
        | Fact::RetryNow { txn, .. }
        | Fact::Claimed { txn, .. }
        | Fact::ClaimRefused { txn, .. }
        | Fact::ClaimBlocked { txn, .. } => Some(txn),
        _ => None,
    }
}

fn changes_room(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::Acquired { .. }
            | Fact::BlockedOnOffload { .. }
            | Fact::RetryNow { .. }
            | Fact::CopyStarted { .. }
            | Fact::CopyEnded { .. }
            | Fact::OnboardEnded { .. }
            | Fact::LeaseEnded { .. }
            | Fact::SourceReleased { .. }
            | Fact::ContextArrived { .. }
            | Fact::Withdrawn { .. }
            | Fact::Claimed { .. }
            | Fact::ClaimBlocked { .. }
            | Fact::ClaimActivated { .. }
            | Fact::ClaimAbandoned { .. }
            | Fact::Preempted { .. }
            | Fact::Finished { .. }
            | Fact::Cancelled { .. }
    )
}

fn shown(blocks: &[BlockRef]) -> Vec<TxnBlock> {
    let block = |block: &BlockRef| TxnBlock {
        slot: block.slot.0,
        hash: Some(block.hash).filter(|hash| hash.0 != 0).map(|hash| hash.to_string()),
    };
    blocks.iter().take(BLOCKS_SHOWN).map(block).collect()
}
