//! Room in G1 at the cost of a copy: what is evicted and not below yet is held as a source until its copy ends
//! (rules T3, T6, T8).
//!
//! A request that needs such slots depends on exactly one transfer, which is queued or under way: a dependency
//! always has a wakeup.

use tierscope_units::{Idx as _, RequestId, SimTime, TransferId};

use super::Lower;
use super::batch::{Hold, Move, NO_SLOT};
use super::config::{Holds, Store};
use super::name::{Cause, Lane};
use crate::block::pool::BlockPool;
use crate::fact::BlockRef;
use crate::machine::Engine;
use crate::request::Live;

/// What a blocked request waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The transfer, which is queued or under way.
    pub transfer: TransferId,
    /// When it is believed to end.
    pub deadline: SimTime,
}

/// What making room below did for an acquire.
pub(crate) enum Below {
    /// The slots are there now: try again, once.
    Released(u32),
    /// They will be, when this ends.
    Pending(Dependency),
}

impl Lower {
    /// Whether evicting a block may set off a copy.
    pub(crate) fn copies_victims(&self) -> bool {
        let may = self.config.store == Store::OnEviction || matches!(self.config.holds, Holds::Boundary(_));
        may && self.connector.is_none()
    }

    /// The transfer with whose end `wanted` more slots of G1 will have come free.
    fn that_frees(&self, pool: &BlockPool, wanted: u32) -> Option<TransferId> {
        let mut freed = 0;
        let batches = self.batches.iter().filter(|(_, batch)| batch.lane == Lane::G1ToG2);
        for (transfer, batch) in batches {
            let frees = |block: &&Move| match block.hold {
                Hold::Source => true,
                Hold::Read => pool.slots[block.from.index()].refs == 0,
                Hold::Pin | Hold::Unheld => false,
            };
            freed += batch.moves.iter().filter(frees).count() as u32;
            if freed >= wanted {
                return Some(transfer);
            }
        }
        None
    }
}

impl Engine {
    /// Evicts what an acquire lacks, or finds the transfer that will free it. `None` when nothing below helps.
    pub(crate) fn make_room_below(&mut self, now: SimTime, missing: u32, short: u32) -> Option<Below> {
        let lower = self.lower.as_mut().filter(|lower| lower.connector.is_none())?;
        if short > 0 {
            // What is held comes free without any further victim.
            lower.flush(Lane::G1ToG2);
            let transfer = lower.that_frees(&self.pool, short)?;
            self.announce_batches(now, Lane::G1ToG2);
            return self.lower.as_ref()?.dependency_on(transfer).map(Below::Pending);
        }
        let lacking = missing as usize - self.pool.free.len();
        let needs_no_copy = |hash| !lower.passes(Lane::G1ToG2, hash);
        let evicted = self.pool.evict_to_below(&self.scratch.hits, lacking, needs_no_copy);
        let released = (evicted.removed.len() - evicted.held.len()) as u32;
        let mut last = None;
        for BlockRef { slot, hash } in evicted.held {
            let block = Move { hash, from: slot, to: NO_SLOT, hold: Hold::Source, at: 0 };
            last = Some(lower.collect(now, Lane::G1ToG2, Cause::Evicted, block));
        }
        // Somebody waits for them: they are not held back for more.
        lower.flush(Lane::G1ToG2);
        self.scratch.removed.extend(evicted.removed);
        self.log_removed(now);
        self.announce_batches(now, Lane::G1ToG2);
        let Some(transfer) = last else { return Some(Below::Released(released)) };
        self.lower.as_ref()?.dependency_on(transfer).map(Below::Pending)
    }

    /// Lets a request wait for a transfer.
    pub(crate) fn depend(&mut self, live: Live, dependency: Dependency) {
        let r = self.requests.get_mut(live);
        r.dependency = Some(dependency);
        let waiter: (Live, RequestId) = (live, r.id);
        let batch = self.lower.as_mut().and_then(|lower| lower.batches.get_mut(dependency.transfer));
        batch.expect("a dependency names a transfer that has not ended (rule T6)").waiters.push(waiter);
    }
}
