//! When blocks of G1 are copied down before they are evicted (rule P1).

use tierscope_units::{Idx as _, SimTime, SlotId};

use super::batch::{Hold, Move, NO_SLOT};
use super::config::{Flavour, Holds, Store};
use super::name::{Cause, Lane, Tier};
use crate::machine::Engine;
use crate::request::Live;

impl Engine {
    /// Blocks `from..until` of a request have been computed.
    pub(crate) fn store_computed(&mut self, now: SimTime, live: Live, from: u32, until: u32) {
        let Some(lower) = &self.lower else { return };
        let on_compute = lower.config.store == Store::OnCompute && lower.config.flavour == Flavour::Kvbm;
        if !on_compute || matches!(lower.config.holds, Holds::Boundary(_)) {
            return;
        }
        let blocks = &self.requests.get(live).blocks;
        let until = (until as usize).min(blocks.len());
        if from as usize >= until {
            return;
        }
        if let Some(g2) = lower.tier(Tier::G2) {
            let hashes = blocks[from as usize..until].iter().map(|&slot| self.pool.slots[slot.index()].hash);
            g2.pool.warm_for(hashes);
        }
        for at in from as usize..until {
            let slot = self.requests.get(live).blocks[at];
            self.store_slot(now, slot, Cause::Computed);
        }
        self.announce_batches(now, Lane::G1ToG2);
    }

    /// Blocks of G1 were found once more.
    pub(crate) fn store_found(&mut self, now: SimTime, live: Live, hits: usize) {
        let Some(lower) = &self.lower else { return };
        let Store::OnHit(least) = lower.config.store else { return };
        if lower.config.flavour != Flavour::Kvbm {
            return;
        }
        for at in 0..hits {
            let slot = self.requests.get(live).blocks[at];
            if u32::from(self.pool.uses(slot)) == least {
                self.store_slot(now, slot, Cause::Hit);
            }
        }
        self.announce_batches(now, Lane::G1ToG2);
    }

    /// Copies the next victims of G1 before they are evicted.
    pub(crate) fn store_boundary(&mut self, now: SimTime) {
        let Some(lower) = &mut self.lower else { return };
        let Holds::Boundary(blocks) = lower.config.holds else { return };
        if lower.config.flavour != Flavour::Kvbm
            || lower.boundary_seen == self.pool.generation
            || self.pool.cached == 0
        {
            return;
        }
        lower.boundary_seen = self.pool.generation;
        let spare = self.pool.unpromised();
        let count = blocks.saturating_sub(spare).min(self.pool.cached) as usize;
        let next: Vec<SlotId> = self.pool.next_victims(count);
        for slot in next {
            // Once for each stay in G1: a G2 smaller than the boundary would send the same blocks for ever.
            if !self.pool.slots[slot.index()].sent {
                self.store_slot(now, slot, Cause::Boundary);
            }
        }
        self.announce_batches(now, Lane::G1ToG2);
    }

    /// Sends a full block down, unless it is there or on its way. Its slot is not reused before the copy ends.
    fn store_slot(&mut self, now: SimTime, slot: SlotId, cause: Cause) {
        let Some(hash) = self.pool.slot_hash(slot) else { return };
        let Some(lower) = &mut self.lower else { return };
        if self.pool.slots[slot.index()].read > 0 || !lower.passes(Lane::G1ToG2, hash) {
            return;
        }
        self.pool.begin_read(slot);
        let block = Move { hash, from: slot, to: NO_SLOT, hold: Hold::Read, at: 0 };
        lower.collect(now, Lane::G1ToG2, cause, block);
    }
}
