//! Events of workers that are still on their way to the router.

use std::collections::VecDeque;

use tierscope_units::{SequenceHash, SimTime, WorkerId};

use super::ask::{CacheEvent, Futile};
use super::index::Index;
use super::place::Place;
use crate::lower::Tier;

#[derive(Clone, Copy, Debug)]
enum What {
    Stored(Place),
    Removed(Place),
    Cleared(WorkerId),
    /// The worker was lost; nobody will hear it.
    Void,
}

#[derive(Clone, Copy, Debug)]
struct Letter {
    due: SimTime,
    what: What,
    hashes: u32,
}

/// Events in the order in which they arrive, which is that in which they were sent: all take equally long.
#[derive(Clone, Debug, Default)]
pub(super) struct Backlog {
    letters: VecDeque<Letter>,
    hashes: VecDeque<SequenceHash>,
    room: Vec<SequenceHash>,
}

impl Backlog {
    /// Events under way.
    pub(super) fn pending(&self) -> u64 {
        self.letters.iter().filter(|letter| !matches!(letter.what, What::Void)).count() as u64
    }

    /// Sends an event of a worker that is there.
    pub(super) fn send(&mut self, due: SimTime, index: &Index, worker: WorkerId, event: CacheEvent<'_>) {
        let (what, hashes) = match event {
            CacheEvent::Stored { tier, hashes } => (What::Stored(index.hosts.place(worker, tier)), hashes),
            CacheEvent::Removed { tier, hashes } => (What::Removed(index.hosts.place(worker, tier)), hashes),
            CacheEvent::Cleared => (What::Cleared(worker), &[][..]),
        };
        // A length is kept in 32 bits.
        for part in hashes.chunks(1 << 30) {
            self.letters.push_back(Letter { due, what, hashes: part.len() as u32 });
            self.hashes.extend(part);
        }
        if matches!(what, What::Cleared(_)) {
            self.letters.push_back(Letter { due, what, hashes: 0 });
        }
    }

    /// The index learns what has arrived by now.
    pub(super) fn deliver(&mut self, now: SimTime, index: &mut Index, futile: &mut Futile) {
        while let Some(&letter) = self.letters.front().filter(|letter| letter.due <= now) {
            self.letters.pop_front();
            self.room.clear();
            self.room.extend(self.hashes.drain(..letter.hashes as usize));
            match letter.what {
                What::Stored(place) => futile.stored_again += index.store(place, &self.room),
                What::Removed(place) => futile.removed_unknown += index.remove(place, &self.room),
                What::Cleared(worker) => index.clear(worker),
                What::Void => {}
            }
        }
    }

    /// A lost worker's news of its own tiers never arrives. That of shared tiers does: others reach them too.
    pub(super) fn void(&mut self, worker: WorkerId) {
        let own = |place: Place| matches!(place.tier(), Tier::G1 | Tier::G2) && place.owner() == worker.0;
        for letter in &mut self.letters {
            let lost = match letter.what {
                What::Stored(place) | What::Removed(place) => own(place),
                What::Cleared(other) => other == worker,
                What::Void => false,
            };
            if lost {
                letter.what = What::Void;
            }
        }
    }
}
