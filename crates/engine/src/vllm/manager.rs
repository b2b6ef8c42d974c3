//! The two-phase manager of the tier (vLLM's CPU offloading manager, the version named in `../conformance/`).

use std::collections::BTreeMap;

use tierscope_units::{RequestId, SequenceHash, SlotId};

use super::NONE;
use super::access::Access;
use super::chunk::Chunks;
use super::config::ManagerConfig;
use super::order::{Named, Orders};
use super::outcome::{Found, ManagerEvent, NotReadable, Store};
use super::tracker::OfferTracker;
use crate::fact::BlockRef;

/// The tier: chunk slots, their order, and what each request did with them.
///
/// The keys of one operation are distinct, head of the request first. A key is resident in one slot at most.
/// Copies that were prepared before a [`OffloadManager::reset`] are not completed after it.
#[derive(Clone, Debug)]
pub struct OffloadManager {
    pub(super) chunks: Chunks,
    pub(super) order: Orders,
    pub(super) tracker: Option<OfferTracker>,
    requests: BTreeMap<RequestId, Access>,
    events: Vec<ManagerEvent>,
    /// Number of resets.
    generation: u64,
}

impl OffloadManager {
    /// An empty tier.
    pub fn new(config: ManagerConfig) -> Self {
        Self {
            chunks: Chunks::new(config.chunks),
            order: Orders::new(config.policy, config.chunks),
            tracker: OfferTracker::new(config.store_threshold, config.tracker_max),
            requests: BTreeMap::new(),
            events: Vec::new(),
            generation: 0,
        }
    }

    /// Begins the record of a request, with the token position at which each known chunk of it ends.
    pub fn new_request(&mut self, request: RequestId, positions: &[(SequenceHash, u32)]) {
        let mut access = Access::new(self.generation);
        for &(key, position) in positions {
            access.place(key, position);
        }
        self.requests.insert(request, access);
    }

    /// One more chunk of a request is known: it ends at token `position`.
    pub fn place(&mut self, request: RequestId, key: SequenceHash, position: u32) {
        self.requests.entry(request).or_insert_with(|| Access::new(self.generation)).place(key, position);
    }

    /// Drops the record of a request. What it stored stays.
    pub fn forget(&mut self, request: RequestId) {
        self.requests.remove(&request);
    }

    /// What a chunk is to a reader now. Changes nothing.
    pub fn lookup(&self, key: SequenceHash) -> Found {
        match self.chunks.get(key) {
            None => Found::Miss,
            Some(slot) if self.chunks.is_writing(slot) => Found::HitPending,
            Some(_) => Found::Hit,
        }
    }

    /// Notes that keys were used, head first.
    pub fn touch(&mut self, keys: &[SequenceHash]) {
        let chunks = &self.chunks;
        let named = |&key| Named { key, slot: chunks.get(key).unwrap_or(NONE), number: NONE };
        let named: Vec<Named> = keys.iter().map(named).collect();
        self.order.policy_mut().touch(&self.chunks, &named);
    }

    /// Pins chunks that a load is about to read; where each is.
    ///
    /// # Errors
    ///
    /// The first key that is not readable.
    pub fn prepare_load(
        &mut self,
        request: RequestId,
        keys: &[SequenceHash],
    ) -> Result<Vec<SlotId>, NotReadable> {
        if let Some(&key) = keys.iter().find(|&&key| self.lookup(key) != Found::Hit) {
            return Err(NotReadable(key));
        }
        let (mut access, named) = self.open(request, keys);
        for slot in named.iter().filter_map(|named| named.slot()) {
            if self.chunks.pin(slot) {
                self.order.policy_mut().hold(&self.chunks, slot);
            }
        }
        self.record(&mut access, &named, |_| true);
        self.requests.insert(request, access);
        Ok(named.iter().map(|named| SlotId(named.slot)).collect())
    }

    /// The load ended, well or not: the chunks are unpinned. Keys that are not pinned are passed over.
    pub fn complete_load(&mut self, keys: &[SequenceHash]) {
        for &key in keys {
            let Some(slot) = self.chunks.get(key).filter(|&slot| self.chunks.refs(slot) > 0) else {
                continue;
            };
            if self.chunks.unpin(slot) {
                self.order.policy_mut().release(&self.chunks, slot);
            }
        }
    }

    /// Offers chunks for storing. Those that are resident or not worth a store are left out; for the rest room is
    /// made, of which nothing that was offered is part.
    ///
    /// None when there is no such room: then nothing changes but what is remembered of the request's accesses.
    pub fn prepare_store(&mut self, request: RequestId, keys: &[SequenceHash]) -> Option<Store> {
        if let Some(tracker) = &mut self.tracker {
            tracker.count(keys);
        }
        let (mut access, named) = self.open(request, keys);
        let wanted = self.wanted(&mut access, &named);
        let store = match wanted.is_empty() {
            true => Some(Store::default()),
            false => self.make_room(&named, wanted.len() as u32).map(|evicted| {
                let chunks = self.write(&mut access, &wanted);
                Store { keys: wanted.iter().map(|named| named.key).collect(), chunks, evicted }
            }),
        };
        self.requests.insert(request, access);
        store
    }

    /// The store of these keys ended. Where it succeeded they are readable, else they are gone. Keys that are not
    /// being written are passed over.
    pub fn complete_store(&mut self, keys: &[SequenceHash], is_ok: bool) {
        let mut done = Vec::new();
        for &key in keys {
            let Some(slot) = self.chunks.get(key).filter(|&slot| self.chunks.is_writing(slot)) else {
                continue;
            };
            done.push(BlockRef { slot: SlotId(slot), hash: key });
            if is_ok {
                self.chunks.written(slot);
                self.order.policy_mut().release(&self.chunks, slot);
            } else {
                self.order.policy_mut().remove(slot);
                self.chunks.vacate(slot);
            }
        }
        if !done.is_empty() {
            self.events.push(if is_ok {
                ManagerEvent::Stored(done)
            } else {
                ManagerEvent::StoreFailed(done)
            });
        }
    }

    /// The request is done: what it met is put in order, once.
    pub fn finish(&mut self, request: RequestId) {
        let Some(access) = self.requests.get_mut(&request) else { return };
        if access.is_void(self.generation) || std::mem::replace(&mut access.is_finished, true) {
            return;
        }
        let named = |number: u32| {
            let key = access.key(number);
            Named { key, slot: self.chunks.get(key).unwrap_or(NONE), number }
        };
        let named: Vec<Named> = access.in_order().into_iter().map(named).collect();
        self.order.policy_mut().finish(&self.chunks, &named, access);
    }

    /// Empties the tier and voids the records of all requests. Counted offers stay.
    pub fn reset(&mut self) {
        self.chunks.clear();
        self.order.policy_mut().clear();
        self.generation += 1;
    }

    /// Takes the record of a request out, renewed where a reset has voided it, and looks the keys up in it.
    fn open(&mut self, request: RequestId, keys: &[SequenceHash]) -> (Access, Vec<Named>) {
        let access = self.requests.remove(&request);
        let mut access = access.unwrap_or_else(|| Access::new(self.generation));
        access.renew(self.generation);
        let named = |&key| {
            let slot = self.chunks.get(key).unwrap_or(NONE);
            Named { key, slot, number: access.number(key) }
        };
        let named = keys.iter().map(named).collect();
        (access, named)
    }

    /// What of an offer is to be written. Notes misses and accesses.
    fn wanted(&mut self, access: &mut Access, named: &[Named]) -> Vec<Named> {
        let tracker = self.tracker.as_ref();
        let is_worth = |key| tracker.is_none_or(|tracker| tracker.is_worth_storing(key));
        let is_wanted = |named: &&Named| named.slot == NONE && is_worth(named.key);
        let wanted: Vec<Named> = named.iter().filter(is_wanted).copied().collect();
        let missed: Vec<Named> = wanted.iter().filter(|named| access.miss(named.number)).copied().collect();
        self.order.policy_mut().miss(&missed);
        let is_readable = |named: &Named| named.slot().is_some_and(|slot| !self.chunks.is_writing(slot));
        let met = |named: &&Named| is_readable(named) || is_wanted(named);
        let met: Vec<Named> = named.iter().filter(met).copied().collect();
        self.record(access, &met, |named| named.slot != NONE);
        wanted
    }

    /// Notes that a request met keys, some of which another had stored.
    fn record(&mut self, access: &mut Access, met: &[Named], is_resident: impl Fn(&Named) -> bool) {
        let new: Vec<Named> = met.iter().filter(|named| access.see(named.number)).copied().collect();
        if !new.is_empty() {
            self.order.policy_mut().access(&self.chunks, &new, access);
        }
        for named in met.iter().filter(|named| is_resident(named)) {
            access.reuse(named.number);
        }
    }

    /// Gives up as many chunks as `count` slots still need, none of them offered; what went. None, and nothing
    /// changed, when there are not so many.
    fn make_room(&mut self, offered: &[Named], count: u32) -> Option<Vec<SequenceHash>> {
        let short = count.saturating_sub(self.chunks.free());
        if short == 0 {
            return Some(Vec::new());
        }
        let resident = || offered.iter().filter_map(|named| named.slot());
        let kept = resident().filter(|&slot| self.chunks.is_evictable(slot)).count() as u32;
        if self.chunks.evictable - kept < short {
            return None;
        }
        let mut victims = Vec::new();
        resident().for_each(|slot| self.chunks.protect(slot, true));
        self.order.policy().pick(&self.chunks, short, &mut victims);
        resident().for_each(|slot| self.chunks.protect(slot, false));
        let mut removed = Vec::new();
        for slot in victims {
            removed.push(BlockRef { slot: SlotId(slot), hash: self.chunks.key(slot) });
            self.order.policy_mut().give_up(&self.chunks, slot);
            self.chunks.vacate(slot);
        }
        let evicted = removed.iter().map(|block| block.hash).collect();
        self.events.push(ManagerEvent::Removed(removed));
        Some(evicted)
    }

    /// Places what is to be written; where each goes.
    fn write(&mut self, access: &mut Access, wanted: &[Named]) -> Vec<SlotId> {
        let mut slots = Vec::new();
        self.chunks.take(wanted.len() as u32, &mut slots);
        for (named, &slot) in wanted.iter().zip(&slots) {
            self.chunks.write(named.key, slot);
            self.order.policy_mut().insert(&self.chunks, Named { slot, ..*named }, access);
            access.own(named.number);
        }
        slots.into_iter().map(SlotId).collect()
    }

    /// Takes what happened to the contents since the last call, in order.
    pub fn take_events(&mut self) -> Vec<ManagerEvent> {
        std::mem::take(&mut self.events)
    }
}
