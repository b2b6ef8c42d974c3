//! What other threads may read of a run while it is driven.
//!
//! One thread writes, any may read, nobody waits. The order is the contract: a batch that a reader sees as completed has
//! its registrations before it, so that who reads first how many batches have completed, and then who lies where, misses
//! none of theirs. Hence release by the writer, acquire by the reader; `tests/publish.rs` goes through the orders that
//! memory may show, and fails where either is missing.

use std::sync::atomic::{AtomicU64, Ordering};

/// A word that threads share. The standard's, or that of a checker of orders.
pub trait Word: Send + Sync {
    /// With a value.
    fn of(value: u64) -> Self;
    /// Reads it.
    fn load(&self, order: Ordering) -> u64;
    /// Writes it.
    fn store(&self, value: u64, order: Ordering);
}

impl Word for AtomicU64 {
    fn of(value: u64) -> Self {
        Self::new(value)
    }

    fn load(&self, order: Ordering) -> u64 {
        self.load(order)
    }

    fn store(&self, value: u64, order: Ordering) {
        self.store(value, order);
    }
}

/// How the two sides order what they do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Of the writer, once everything before it is written.
    pub publish: Ordering,
    /// Of a reader, before everything that it reads behind it.
    pub observe: Ordering,
}

impl Orders {
    /// What the contract needs.
    pub const SOUND: Self = Self { publish: Ordering::Release, observe: Ordering::Acquire };
}

/// Nothing is registered in a slot.
const NOTHING: [u64; 2] = [0, 0];

/// Some numbers, among them how many batches have completed, and what is registered in each of some slots.
pub struct Published<W = AtomicU64> {
    orders: Orders,
    gauges: Vec<W>,
    /// By slot: whether something is registered, and its hash.
    slots: Vec<[W; 2]>,
}

impl<W: Word> Published<W> {
    /// Nothing has completed, nothing is registered.
    pub fn new(gauges: usize, slots: usize, orders: Orders) -> Self {
        Self {
            orders,
            gauges: (0..gauges).map(|_| W::of(0)).collect(),
            slots: (0..slots).map(|_| NOTHING.map(W::of)).collect(),
        }
    }

    /// The writer: something is registered in a slot from now on. Readers are to see it once they see what is published
    /// next.
    pub fn register(&self, slot: usize, hash: u64) {
        if let Some([holds, key]) = self.slots.get(slot) {
            // A reader that comes between sees nothing there, not half of both.
            holds.store(0, self.orders.publish);
            key.store(hash, self.orders.publish);
            holds.store(1, self.orders.publish);
        }
    }

    /// The writer: nothing is registered in a slot any more.
    pub fn remove(&self, slot: usize) {
        if let Some([holds, _]) = self.slots.get(slot) {
            holds.store(0, self.orders.publish);
        }
    }

    /// The writer: a number, such as how many batches of a lane have completed, once all their registrations are written.
    pub fn publish(&self, gauge: usize, value: u64) {
        if let Some(gauge) = self.gauges.get(gauge) {
            gauge.store(value, self.orders.publish);
        }
    }

    /// A reader: a number. What was registered before it was published is seen by [`Published::holds`] from now on, unless
    /// it was removed since.
    pub fn gauge(&self, gauge: usize) -> u64 {
        self.gauges.get(gauge).map_or(0, |gauge| gauge.load(self.orders.observe))
    }

    /// A reader: whether anything is registered in a slot.
    pub fn is_taken(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(|[holds, _]| holds.load(self.orders.observe) == 1)
    }

    /// A reader: whether a hash is registered in a slot. Never true of one that was not.
    pub fn holds(&self, slot: usize, hash: u64) -> bool {
        let Some([holds, key]) = self.slots.get(slot) else { return false };
        holds.load(self.orders.observe) == 1 && key.load(self.orders.observe) == hash
    }
}
