//! What will happen, in one order: time, then rank, then the order of scheduling.
//!
//! Ranks follow vLLM's step: the output of a pass is applied, then the ends of copies are reported (which the links
//! know), then requests arrive, then cancellations are heard, and only then the next pass is scheduled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tierscope_units::{PassId, RequestId, SimTime};

/// Something that will happen. The order of the variants is their rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    PassEnds(PassId),
    Arrives(RequestId),
    Cancels(RequestId),
}

impl Event {
    fn rank(self) -> u8 {
        match self {
            Self::PassEnds(_) => 0,
            Self::Arrives(_) => 2,
            Self::Cancels(_) => 3,
        }
    }
}

/// The event queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Reverse<(SimTime, u8, u64, Event)>>,
    scheduled: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, at: SimTime, event: Event) {
        self.heap.push(Reverse((at, event.rank(), self.scheduled, event)));
        self.scheduled += 1;
    }

    /// When the next event is.
    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    /// The next event at `now`, if there is one.
    pub(crate) fn pop_at(&mut self, now: SimTime) -> Option<Event> {
        match self.heap.peek() {
            Some(Reverse((at, ..))) if *at <= now => self.heap.pop().map(|Reverse((.., event))| event),
            _ => None,
        }
    }

    /// Whether a pass ends at `now`: it comes before everything else.
    pub(crate) fn pass_ends_at(&self, now: SimTime) -> bool {
        let first = self.heap.peek().map(|Reverse((at, _, _, event))| (*at, *event));
        matches!(first, Some((at, Event::PassEnds(_))) if at <= now)
    }

    /// Whether something is to come from outside: an arrival or a cancellation.
    pub(crate) fn has_news(&self) -> bool {
        self.heap.iter().any(|Reverse((.., event))| !matches!(event, Event::PassEnds(_)))
    }

    /// Every event to come, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SimTime, Event)> {
        let mut all: Vec<_> =
            self.heap.iter().map(|Reverse((at, rank, seq, event))| (*at, *rank, *seq, *event)).collect();
        all.sort_unstable();
        all.into_iter().map(|(at, .., event)| (at, event))
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
        queue.push(early, Event::PassEnds(PassId(9)));
        let order: Vec<Event> = std::iter::from_fn(|| queue.pop_at(early)).collect();
        assert_eq!(
            order,
            [
                Event::PassEnds(PassId(9)),
                Event::Arrives(RequestId(7)),
                Event::Arrives(RequestId(3)),
                Event::Cancels(RequestId(1)),
            ]
        );
        assert_eq!(queue.next_time(), Some(late));
    }
}
