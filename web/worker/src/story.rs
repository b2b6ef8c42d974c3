//! What happened to the contents of blocks: a flat, bounded log built from the facts as the run goes on. It is looked
//! through for one content at a time; who found it, and who let go of it, is worked out then (see `tell`).

mod hold;
mod prompt;
mod tell;

use std::collections::VecDeque;

use tierscope_engine::{BlockList, Fact, FactLog, Lane, TRANSFERS_PER_WORKER, Tier};
use tierscope_units::{RequestId, SequenceHash, SimTime, TransferId, WorkerId};

/// The newest events of all contents, in order of time.
#[derive(Debug, Default)]
pub struct Story {
    events: VecDeque<Event>,
    dropped: u64,
}

/// An event: 24 bytes.
#[derive(Clone, Copy, Debug)]
struct Event {
    at: u64,
    hash: SequenceHash,
    /// A request, or a transfer without its worker's share.
    number: u32,
    worker: WorkerId,
    what: What,
    /// The number of a lane or of a tier.
    place: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Stored,
    Claimed,
    Leased,
    Held,
    Removed,
    Queued,
    Started,
    StoredBelow,
    RemovedBelow,
}

/// Most events kept: less than 10 MB.
const KEPT_MAX: usize = 400_000;

impl Story {
    /// Enters what the facts say of blocks.
    pub fn take(&mut self, log: &FactLog) {
        let worker = log.worker().unwrap_or_default();
        for (at, fact) in log.iter() {
            let Some((what, number, place, blocks)) = read(fact) else { continue };
            for block in log.blocks(blocks).iter().filter(|block| block.hash.0 != 0) {
                self.enter(Event { at: at.as_ns(), hash: block.hash, number, worker, what, place });
            }
        }
    }

    fn enter(&mut self, event: Event) {
        if self.events.len() == KEPT_MAX {
            self.events.pop_front();
            self.dropped += 1;
        }
        self.events.push_back(event);
    }

    fn of(&self, hash: SequenceHash) -> impl Iterator<Item = &Event> {
        self.events.iter().filter(move |event| event.hash == hash)
    }

    /// When a content was last stored, copied or given up until a time.
    pub fn last_before(&self, hash: SequenceHash, at: SimTime) -> Option<SimTime> {
        let until = self.events.partition_point(|event| event.at <= at.as_ns());
        let newest = self.events.range(..until).rev().find(|event| event.hash == hash)?;
        Some(SimTime::from_ns(newest.at))
    }

    /// The contents that a copy carries, as far as they are kept: what it began with, else what was queued.
    pub fn carried_by(&self, transfer: TransferId) -> Vec<SequenceHash> {
        let of = |wanted: What| {
            let mine = move |event: &&Event| event.what == wanted && event.transfer() == transfer;
            self.events.iter().filter(mine).map(|event| event.hash).collect::<Vec<_>>()
        };
        let begun = of(What::Started);
        if begun.is_empty() { of(What::Queued) } else { begun }
    }
}

impl Event {
    fn request(&self) -> RequestId {
        RequestId(self.number)
    }

    fn transfer(&self) -> TransferId {
        TransferId(u64::from(self.worker.0) * TRANSFERS_PER_WORKER + u64::from(self.number))
    }
}

/// What a fact says of which blocks: the event, its number, its lane or tier.
fn read(fact: &Fact) -> Option<(What, u32, u8, BlockList)> {
    let low = |transfer: TransferId| (transfer.0 % TRANSFERS_PER_WORKER) as u32;
    let lane = |lane: Lane| lane.index() as u8;
    let tier = |tier: Tier| tier as u8;
    Some(match *fact {
        Fact::Stored { request, blocks, .. } => (What::Stored, request.0, 0, blocks),
        Fact::ClaimActivated { blocks, .. } => (What::Claimed, 0, 0, blocks),
        Fact::Leased { request, blocks, .. } => (What::Leased, request.0, 0, blocks),
        Fact::SourceHeld { request, blocks } => (What::Held, request.0, 0, blocks),
        Fact::Removed { blocks } => (What::Removed, 0, 0, blocks),
        Fact::CopyQueued { transfer, lane: on, blocks, .. } => {
            (What::Queued, low(transfer), lane(on), blocks)
        }
        Fact::CopyStarted { transfer, lane: on, blocks } => (What::Started, low(transfer), lane(on), blocks),
        Fact::TierStored { tier: to, blocks } => (What::StoredBelow, 0, tier(to), blocks),
        Fact::TierRemoved { tier: from, blocks } => (What::RemovedBelow, 0, tier(from), blocks),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(at: u64, hash: u64, what: What, number: u32) -> Event {
        Event { at, hash: SequenceHash(hash), number, worker: WorkerId(0), what, place: 0 }
    }

    #[test]
    fn what_a_copy_carries_is_what_it_began_with() {
        let mut story = Story::default();
        for hash in 1..=4 {
            story.enter(event(1, hash, What::Queued, 7));
        }
        assert_eq!(story.carried_by(TransferId(7)).len(), 4);
        story.enter(event(2, 3, What::Started, 7));
        assert_eq!(story.carried_by(TransferId(7)), [SequenceHash(3)]);
        assert_eq!(story.carried_by(TransferId(8)), []);
        let last = |ns| story.last_before(SequenceHash(3), SimTime::from_ns(ns)).map(SimTime::as_ns);
        assert_eq!([last(0), last(1), last(9)], [None, Some(1), Some(2)]);
    }

    #[test]
    fn the_oldest_make_room() {
        let mut story = Story::default();
        for at in 0..KEPT_MAX as u64 + 3 {
            story.enter(event(at, 1, What::Stored, 0));
        }
        assert_eq!((story.events.len(), story.dropped), (KEPT_MAX, 3));
        assert!(size_of::<Event>() <= 24);
    }
}
