//! What one replica believes about load: the requests it knows of, booked on workers.
//!
//! A booking ends with its request, with its worker, or after long silence (rule R4). Loads are whole blocks; the
//! floats beside them are their images for the pass over all workers, made anew at each change.

use std::collections::BTreeMap;

use tierscope_units::{Idx as _, RequestId, SimTime, WorkerId};

use super::ask::Stage;
use super::config::Expiry;
use super::index::NONE;

/// A request may be booked twice: on the worker that prefills and on the one that decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(RequestId, bool);

impl Key {
    pub(super) fn new(request: RequestId, stage: Stage) -> Self {
        Self(request, stage == Stage::Decode)
    }
}

/// What a request adds to a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) request: RequestId,
    pub(super) stage: Stage,
    pub(super) worker: WorkerId,
    /// Blocks still to prefill.
    pub(super) prefill: u32,
    /// Blocks that it will hold.
    pub(super) blocks: u64,
}

#[derive(Clone, Copy, Debug)]
struct Booking {
    order: Order,
    /// The last news of it.
    heard: SimTime,
    /// Neighbours in the order of `heard`.
    older: u32,
    newer: u32,
}

/// A worker's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(super) struct Load {
    pub(super) prefill: u64,
    pub(super) blocks: u64,
    pub(super) active: u32,
}

/// One replica's books.
#[derive(Clone, Debug)]
pub(super) struct View {
    expiry: Expiry,
    loads: Vec<Load>,
    /// The loads as floats. Whole numbers below 2⁵³, so exact.
    pub(super) prefill: Vec<f64>,
    pub(super) blocks: Vec<f64>,
    pub(super) active: Vec<f64>,
    by_key: BTreeMap<Key, u32>,
    bookings: Vec<Booking>,
    vacant: Vec<u32>,
    oldest: u32,
    newest: u32,
    /// How many bookings expired.
    pub(super) expired: u64,
}

impl View {
    pub(super) fn new(workers: usize, expiry: Expiry) -> Self {
        Self {
            expiry,
            loads: vec![Load::default(); workers],
            prefill: vec![0.0; workers],
            blocks: vec![0.0; workers],
            active: vec![0.0; workers],
            by_key: BTreeMap::new(),
            bookings: Vec::new(),
            vacant: Vec::new(),
            oldest: NONE,
            newest: NONE,
            expired: 0,
        }
    }

    pub(super) fn load(&self, worker: u16) -> Load {
        self.loads[usize::from(worker)]
    }

    /// Books a request; one that was booked for the same stage moves.
    pub(super) fn book(&mut self, now: SimTime, order: Order) {
        let key = Key::new(order.request, order.stage);
        self.unbook(key);
        let booking = Booking { order, heard: now, older: NONE, newer: NONE };
        let at = match self.vacant.pop() {
            Some(at) => {
                self.bookings[at as usize] = booking;
                at
            }
            None => {
                self.bookings.push(booking);
                (self.bookings.len() - 1) as u32
            }
        };
        self.append(at);
        self.by_key.insert(key, at);
        self.change(order.worker, |load| {
            load.prefill += u64::from(order.prefill);
            load.blocks += order.blocks;
            load.active += 1;
        });
    }

    /// Takes a booking back; false when there was none.
    pub(super) fn unbook(&mut self, key: Key) -> bool {
        let Some(at) = self.by_key.remove(&key) else { return false };
        self.unlink(at);
        self.vacant.push(at);
        let order = self.bookings[at as usize].order;
        self.change(order.worker, |load| {
            load.prefill -= u64::from(order.prefill);
            load.blocks -= order.blocks;
            load.active -= 1;
        });
        true
    }

    /// The first token was seen. A prefill worker is done with the request; another has it no longer to prefill.
    pub(super) fn prefilled(&mut self, now: SimTime, request: RequestId) -> bool {
        let key = Key::new(request, Stage::Whole);
        let Some(&at) = self.by_key.get(&key) else { return false };
        if self.bookings[at as usize].order.stage == Stage::Prefill {
            return self.unbook(key);
        }
        let order = &mut self.bookings[at as usize].order;
        let (worker, prefill) = (order.worker, u64::from(order.prefill));
        order.prefill = 0;
        self.bookings[at as usize].heard = now;
        self.unlink(at);
        self.append(at);
        self.change(worker, |load| load.prefill -= prefill);
        true
    }

    /// The request is over, everywhere.
    pub(super) fn ended(&mut self, request: RequestId) -> bool {
        let whole = self.unbook(Key::new(request, Stage::Whole));
        self.unbook(Key::new(request, Stage::Decode)) | whole
    }

    /// A worker was lost: nothing is booked on it.
    pub(super) fn forget(&mut self, worker: WorkerId) {
        let mut at = self.oldest;
        while at != NONE {
            let Booking { order, newer, .. } = self.bookings[at as usize];
            if order.worker == worker {
                self.unbook(Key::new(order.request, order.stage));
            }
            at = newer;
        }
    }

    /// Drops what has been silent for too long by `now`. Comes before news of the same instant, so that what is
    /// believed does not depend on whether somebody looked.
    pub(super) fn expire(&mut self, now: SimTime) {
        let Some(after) = self.expiry.after else { return };
        while self.oldest != NONE {
            let Booking { order, heard, .. } = self.bookings[self.oldest as usize];
            let due = heard.checked_add(after);
            if due.is_none_or(|due| due > now) {
                return;
            }
            self.expired += 1;
            self.unbook(Key::new(order.request, order.stage));
        }
    }

    fn change(&mut self, worker: WorkerId, change: impl FnOnce(&mut Load)) {
        let at = worker.index();
        let load = &mut self.loads[at];
        change(load);
        self.prefill[at] = load.prefill as f64;
        self.blocks[at] = load.blocks as f64;
        self.active[at] = f64::from(load.active);
    }

    fn append(&mut self, at: u32) {
        let newest = self.newest;
        let booking = &mut self.bookings[at as usize];
        booking.older = newest;
        booking.newer = NONE;
        match self.bookings.get_mut(newest as usize) {
            Some(before) => before.newer = at,
            None => self.oldest = at,
        }
        self.newest = at;
    }

    fn unlink(&mut self, at: u32) {
        let Booking { older, newer, .. } = self.bookings[at as usize];
        match self.bookings.get_mut(older as usize) {
            Some(before) => before.newer = newer,
            None => self.oldest = newer,
        }
        match self.bookings.get_mut(newer as usize) {
            Some(after) => after.older = older,
            None => self.newest = older,
        }
    }

    /// Bookings, and room for bookings.
    #[cfg(test)]
    pub(super) fn room(&self) -> (usize, usize) {
        (self.by_key.len(), self.bookings.len())
    }
}
