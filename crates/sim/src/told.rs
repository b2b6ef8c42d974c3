//! The ends of copies as somebody else tells them: a driver of real tiers while they end, or its recording later.
//!
//! Nothing is modelled then: a copy ends when it is told, as it is told (rule R5), or never.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use tierscope_scenario::Told;
use tierscope_units::{SimTime, TransferId};

/// What was told, and what of it was heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ears {
    told: Arc<Vec<Told>>,
    heard: usize,
    under_way: BTreeSet<TransferId>,
}

impl Ears {
    /// Those of a recording, in the order in which they were told.
    pub(crate) fn of(told: Arc<Vec<Told>>) -> Self {
        Self { told, ..Self::default() }
    }

    /// One more. What comes late is heard at the next nanosecond, and after what was told before: an instant that was
    /// applied is over, and a replay has to find the same instants. What was made of it is given back.
    pub(crate) fn hear(&mut self, now: SimTime, mut told: Told) -> Told {
        let next = SimTime::from_ns(now.as_ns().saturating_add(1));
        let last = self.told.last().map_or(next, |last| last.at);
        told.at = told.at.max(next).max(last);
        Arc::make_mut(&mut self.told).push(told);
        told
    }

    pub(crate) fn start(&mut self, transfer: TransferId) {
        self.under_way.insert(transfer);
    }

    /// Whether it was under way.
    pub(crate) fn cancel(&mut self, transfer: TransferId) -> bool {
        self.under_way.remove(&transfer)
    }

    /// A worker's copies are lost with it.
    pub(crate) fn forget(&mut self, transfers: &Range<TransferId>) {
        self.under_way.retain(|transfer| !transfers.contains(transfer));
    }

    pub(crate) fn is_under_way(&self, transfer: TransferId) -> bool {
        self.under_way.contains(&transfer)
    }

    pub(crate) fn under_way(&self) -> impl Iterator<Item = TransferId> {
        self.under_way.iter().copied()
    }

    pub(crate) fn next_time(&self) -> Option<SimTime> {
        self.told.get(self.heard).map(|next| next.at)
    }

    /// The next copy that has ended at `now`. The end of one that nobody waits for means nothing: it was cancelled
    /// meanwhile.
    pub(crate) fn pop_at(&mut self, now: SimTime) -> Option<Told> {
        loop {
            let next = *self.told.get(self.heard).filter(|next| next.at <= now)?;
            self.heard += 1;
            if self.under_way.remove(&next.transfer) {
                return Some(next);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_heard_in_the_order_of_telling_and_never_in_the_past() {
        let mut ears = Ears::default();
        let told =
            |at, transfer| Told { at: SimTime::from_ns(at), transfer: TransferId(transfer), end: Ok(()) };
        for transfer in 1..=4 {
            ears.start(TransferId(transfer));
        }
        ears.hear(SimTime::from_ns(5), told(9, 2));
        ears.hear(SimTime::from_ns(5), told(3, 1));
        ears.hear(SimTime::from_ns(5), told(20, 7));
        ears.hear(SimTime::from_ns(5), told(20, 4));
        assert_eq!(ears.next_time(), Some(SimTime::from_ns(9)));
        assert_eq!(ears.pop_at(SimTime::from_ns(8)), None);
        assert_eq!(ears.pop_at(SimTime::from_ns(9)), Some(told(9, 2)));
        assert_eq!(ears.pop_at(SimTime::from_ns(9)), Some(told(9, 1)), "it came late, and after the other");
        assert!(ears.cancel(TransferId(4)) && !ears.cancel(TransferId(4)));
        assert_eq!(ears.pop_at(SimTime::from_ns(99)), None, "nobody waits for 7 and 4");
        assert_eq!(ears.under_way().collect::<Vec<_>>(), [TransferId(3)]);
    }
}
