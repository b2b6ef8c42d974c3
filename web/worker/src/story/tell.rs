//! The story of one content, told from three indices: the log of blocks says when it was stored, copied and removed;
//! the transactions say whose prompt began with it and was found; the lives say when those let go of it.

use tierscope_engine::{CopyEnd, Lane, Tier};
use tierscope_scenario::Workload;
use tierscope_units::{Idx, SequenceHash, SimTime, WorkerId};

use super::hold::{Take, holds, last_of};
use super::prompt::{begin_alike, place_of};
use super::{Event, Story, What};
use crate::copies::tier;
use crate::protocol::{BlockEvent, BlockTold, BlockWhat, EVENTS_SHOWN};
use crate::read::Read;

/// An event, and what decides about its order within an instant: what ends comes first, finds come last.
type Placed = (u64, u8, BlockEvent);

impl Story {
    /// The story of a content in the whole run, of a long one the part around the cursor; nothing where it has none that is
    /// kept.
    pub fn tell(
        &self,
        hash: SequenceHash,
        read: &Read,
        workload: &Workload,
        block_tokens: u32,
        cursor: SimTime,
    ) -> Option<BlockTold> {
        let own: Vec<&Event> = self.of(hash).collect();
        if own.is_empty() {
            return None;
        }
        let mut placed: Vec<Placed> = own.iter().map(|event| (event.at, 1, view(event))).collect();
        placed.extend(
            own.iter().filter(|event| event.what == What::Started).filter_map(|event| ended(event, read)),
        );
        let place = own.iter().find(|event| event.what == What::Stored).and_then(|first| {
            let plan = workload.requests.get(first.request().index())?;
            Some((plan, place_of(workload, plan, block_tokens, hash)?))
        });
        let mut takes: Vec<Take> =
            own.iter().filter(|event| event.what == What::Stored).map(stored).collect();
        if let Some((plan, place)) = place {
            let alike = u64::from(place + 1) * u64::from(block_tokens);
            for (worker, at, request) in read.admissions_beyond(place) {
                let same = workload.requests.get(request.index());
                if same.is_some_and(|other| begin_alike(workload, plan, other, alike)) {
                    takes.push(Take { at: at.as_ns(), found: true, worker, request });
                }
            }
        }
        let holds = holds(takes, &read.lives);
        placed.extend(holds.iter().filter(|hold| hold.take.found).map(|hold| {
            let what = BlockWhat::Hit { request: hold.take.request.0 };
            at(hold.take.at, 2, hold.take.worker, what)
        }));
        placed.extend(holds.iter().zip(last_of(&holds)).filter_map(|(hold, last)| {
            let what = BlockWhat::Released { request: hold.take.request.0, last };
            Some(at(hold.until?, 0, hold.take.worker, what))
        }));
        placed.sort_by_key(|&(at, rank, _)| (at, rank));
        // Of a long story the part around the cursor.
        let here = placed.partition_point(|event| event.0 <= cursor.as_ns());
        let first = here.saturating_sub(EVENTS_SHOWN / 2).min(placed.len().saturating_sub(EVENTS_SHOWN));
        let events: Vec<BlockEvent> =
            placed.iter().skip(first).take(EVENTS_SHOWN).map(|&(_, _, event)| event).collect();
        Some(BlockTold {
            hash: hash.to_string(),
            place: place.map(|(_, place)| place),
            here: Vec::new(),
            events_before: first as u32,
            events_more: (placed.len() - first - events.len()) as u32,
            events,
            cut: self.dropped > 0,
        })
    }
}

fn stored(event: &&Event) -> Take {
    Take { at: event.at, found: false, worker: event.worker, request: event.request() }
}

fn at(at: u64, rank: u8, worker: WorkerId, what: BlockWhat) -> Placed {
    (at, rank, BlockEvent { at_ns: at as f64, worker: worker.0.into(), what })
}

fn view(event: &Event) -> BlockEvent {
    let (request, transfer) = (event.number, event.transfer().0 as f64);
    let lane = Lane::ALL[usize::from(event.place).min(Lane::COUNT - 1)];
    let (from, to) = (tier(lane.from()), tier(lane.to()));
    let below = tier(Tier::ALL[usize::from(event.place).min(Tier::ALL.len() - 1)]);
    let what = match event.what {
        What::Stored => BlockWhat::Stored { request },
        What::Claimed => BlockWhat::Claimed,
        What::Leased => BlockWhat::Leased { request },
        What::Held => BlockWhat::Held { request },
        What::Removed => BlockWhat::Evicted,
        What::Queued => BlockWhat::Queued { transfer, from, to },
        What::Started => BlockWhat::Started { transfer, from, to },
        What::StoredBelow => BlockWhat::StoredBelow { tier: below },
        What::RemovedBelow => BlockWhat::RemovedBelow { tier: below },
    };
    BlockEvent { at_ns: event.at as f64, worker: event.worker.0.into(), what }
}

/// The end of the copy that an event begins.
fn ended(event: &Event, read: &Read) -> Option<Placed> {
    let copy = read.copies.find(event.transfer())?;
    let (ended, end) = copy.end()?;
    let (lane, failed) = (copy.lane(), end != CopyEnd::Completed);
    let transfer = event.transfer().0 as f64;
    let what = BlockWhat::Ended { transfer, from: tier(lane.from()), to: tier(lane.to()), failed };
    Some(at(ended.as_ns(), 0, event.worker, what))
}
