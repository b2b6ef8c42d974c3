//! What will happen, in one order: time, then rank, then the order of scheduling.
//!
//! Ranks follow vLLM's step: the output of a pass is applied, then the ends of copies are reported (which the links
//! know), then workers come and go and messages between them come, then requests arrive, then cancellations are
//! heard, and only then the next pass is scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tierscope_engine::WorkerChange;
use tierscope_units::{PassId, RequestId, SimTime, WorkerId};

/// Something that will happen. The order of the variants is their rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A pass of a worker, which may have been lost since and started anew: `life` counts its lives.
    PassEnds {
        worker: WorkerId,
        life: u32,
        pass: PassId,
    },
    Changes(WorkerId, WorkerChange),
    /// The machines go on under another configuration, and look again at what they could not do before.
    Retuned,
    /// A message, by its number among those under way.
    Message(u32),
    Arrives(RequestId),
    Cancels(RequestId),
}

impl Event {
    fn rank(self) -> u8 {
        match self {
            Self::PassEnds { .. } => 0,
            Self::Changes(..) | Self::Retuned => 1,
            Self::Message(_) => 2,
            Self::Arrives(_) => ARRIVES,
            Self::Cancels(_) => 4,
        }
    }
}

/// The rank of arrivals.
const ARRIVES: u8 = 3;

/// The event queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<Entry>>,
    scheduled: u64,
}

/// Something to come. Small: with a thousand workers the queue is deep, and each pass goes through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: SimTime,
    /// The rank in the highest byte, and the number of events that were scheduled before.
    order: u64,
    event: Event,
}

const RANK_SHIFT: u32 = 56;

impl Entry {
    fn rank(&self) -> u8 {
        (self.order >> RANK_SHIFT) as u8
    }
}

impl Queue {
    pub(crate) fn push(&mut self, at: SimTime, event: Event) {
        let order = u64::from(event.rank()) << RANK_SHIFT | self.scheduled;
        self.heap.push(Reverse(Entry { at, order, event }));
        self.scheduled += 1;
    }

    /// When the next event is.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.heap.peek().map(|Reverse(entry)| entry.at)
    }

    /// The next event at `now`, if there is one.
    pub(crate) fn pop_at(&mut self, now: SimTime) -> Option<Event> {
        match self.heap.peek() {
            Some(Reverse(entry)) if entry.at <= now => self.heap.pop().map(|Reverse(entry)| entry.event),
            _ => None,
        }
    }

    /// Whether a pass ends at `now`: it comes before everything else.
    pub(crate) fn pass_ends_at(&self, now: SimTime) -> bool {
        self.rank_at(now) == Some(0)
    }

    /// Whether something is due at `now` that comes before arrivals.
    pub(crate) fn precedes_arrivals_at(&self, now: SimTime) -> bool {
        self.rank_at(now).is_some_and(|rank| rank < ARRIVES)
    }

    fn rank_at(&self, now: SimTime) -> Option<u8> {
        let Reverse(entry) = self.heap.peek()?;
        (entry.at <= now).then(|| entry.rank())
    }

    /// Whether something is to come from outside: an arrival, a cancellation, a worker.
    pub(crate) fn has_news(&self) -> bool {
        self.heap.iter().any(|Reverse(entry)| !matches!(entry.event, Event::PassEnds { .. }))
    }

    /// Every event to come, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SimTime, Event)> {
        let mut all: Vec<Entry> = self.heap.iter().map(|Reverse(entry)| *entry).collect();
        all.sort_unstable();
        all.into_iter().map(|entry| (entry.at, entry.event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_ordered_by_rank_and_then_by_scheduling() {
        let mut queue = Queue::default();
        let (early, late) = (SimTime::from_ns(1), SimTime::from_ns(2));
        queue.push(late, Event::Arrives(RequestId(0)));
        queue.push(early, Event::Cancels(RequestId(1)));
        queue.push(early, Event::Arrives(RequestId(7)));
        queue.push(early, Event::Arrives(RequestId(3)));
        let pass_ends = Event::PassEnds { worker: WorkerId(0), life: 0, pass: PassId(9) };
        queue.push(early, pass_ends);
        queue.push(early, Event::Changes(WorkerId(2), WorkerChange::Lose));
        let order: Vec<Event> = std::iter::from_fn(|| queue.pop_at(early)).collect();
        assert_eq!(
            order,
            [
                pass_ends,
                Event::Changes(WorkerId(2), WorkerChange::Lose),
                Event::Arrives(RequestId(7)),
                Event::Arrives(RequestId(3)),
                Event::Cancels(RequestId(1)),
            ]
        );
        assert_eq!(queue.next_time(), Some(late));
    }

    #[test]
    fn an_event_to_come_takes_half_a_cache_line() {
        assert_eq!(size_of::<Entry>(), 32);
    }
}
