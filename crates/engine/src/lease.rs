//! Leases: a finished request's blocks stay in G1 for the request that continues it, while a tool runs or a person
//! reads (rule P1). Each has an owner and a time-out: it ends when somebody uses its last block, or when its time
//! is up, whichever is first, so that nobody waits for it for ever.

use std::collections::BTreeMap;

use tierscope_units::{RequestId, SimTime, SlotId};

use crate::fact::{BlockRef, Fact};
use crate::machine::Engine;
use crate::request::Live;

/// Leases by the time at which they end, and by the last block of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leases {
    by_end: BTreeMap<(SimTime, RequestId), Vec<SlotId>>,
    by_last: BTreeMap<SlotId, (SimTime, RequestId)>,
}

impl Leases {
    /// When the next one ends by itself.
    pub(crate) fn next_end(&self) -> Option<SimTime> {
        self.by_end.first_key_value().map(|(&(end, _), _)| end)
    }

    /// The slots of all leases.
    pub(crate) fn slots(&self) -> impl Iterator<Item = SlotId> {
        self.by_end.values().flatten().copied()
    }
}

impl Engine {
    /// A request is done: its full blocks stay, for as long as the configuration says.
    pub(crate) fn lease_blocks(&mut self, now: SimTime, live: Live) {
        let Some(span) = self.lower.as_deref().and_then(|lower| lower.config.pin_finished) else { return };
        let Some(end) = now.checked_add(span) else { return };
        let r = self.requests.get_mut(live);
        let full = r.blocks.iter().take_while(|slot| self.pool.slot_hash(**slot).is_some()).count();
        if full == 0 {
            return;
        }
        let slots: Vec<SlotId> = r.blocks.drain(..full).collect();
        let request = r.id;
        let held = slots.iter().filter_map(|&slot| Some(BlockRef { slot, hash: self.pool.slot_hash(slot)? }));
        let blocks = self.facts.list(held);
        self.facts.push(now, Fact::Leased { request, blocks, until: end });
        if let Some(&last) = slots.last() {
            // One of an equal conversation, with the same last block, has served: this one lasts longer.
            if let Some(older) = self.leases.by_last.get(&last).copied() {
                self.end_lease(now, older, false);
            }
            self.leases.by_last.insert(last, (end, request));
        }
        self.leases.by_end.insert((end, request), slots);
    }

    /// Ends the leases whose time is up.
    pub(crate) fn expire_leases(&mut self, now: SimTime) {
        while let Some(&(end, request)) = self.leases.by_end.keys().next()
            && end <= now
        {
            self.end_lease(now, (end, request), true);
        }
    }

    /// The first `hits` blocks of a request were found in G1: a lease whose last block is among them has served.
    pub(crate) fn use_leases(&mut self, now: SimTime, live: Live, hits: usize) {
        if self.leases.by_last.is_empty() {
            return;
        }
        for at in 0..hits {
            let slot = self.requests.get(live).blocks[at];
            if let Some(&lease) = self.leases.by_last.get(&slot) {
                self.end_lease(now, lease, false);
            }
        }
    }

    fn end_lease(&mut self, now: SimTime, lease: (SimTime, RequestId), expired: bool) {
        let Some(slots) = self.leases.by_end.remove(&lease) else { return };
        self.leases.by_last.retain(|_, other| *other != lease);
        self.pool.release(&slots);
        self.blocked.clear();
        self.stirred = true;
        let released = slots.len() as u32;
        self.facts.push(now, Fact::LeaseEnded { request: lease.1, released, expired });
    }
}
