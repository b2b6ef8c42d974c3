//! The index of a run's transactions: flat and bounded, built from the facts as the run goes on.
//!
//! It knows of each when, who and what came of it. Slots and hashes would be far more: they are found by
//! repeating the instant (see [`replay`](crate::replay)).
//!
//! Claims (destinations of handoffs and of onboarding copies) belong to no request and are not listed yet.

use std::collections::VecDeque;

use tierscope_engine::{Caller, Fact, FactLog};
use tierscope_units::{RequestId, SimTime, TxnId};

use crate::protocol::{OutcomeFilter, Transaction, TxnCaller, TxnFilter, TxnOutcome, Way};

/// The newest transactions of one worker, oldest first: both times and numbers only rise.
#[derive(Debug)]
pub struct Ledger {
    entries: VecDeque<Entry>,
    dropped: u64,
    /// Most entries.
    most: usize,
}

/// One transaction: 48 bytes.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: SimTime,
    txn: TxnId,
    request: RequestId,
    outcome: TxnOutcome,
    caller: TxnCaller,
    retried: bool,
}

/// Most transactions kept of all workers together: less than 10 MB.
const KEPT_MAX: usize = 200_000;

impl Ledger {
    /// The ledger of one of so many workers: they share the memory evenly.
    pub fn of_one_in(workers: usize) -> Self {
        Self { entries: VecDeque::new(), dropped: 0, most: KEPT_MAX / workers.max(1) }
    }

    /// Enters what the facts say of transactions.
    pub fn take(&mut self, log: &FactLog) {
        for (at, fact) in log.iter() {
            if let Some(entry) = entry(at, fact) {
                self.enter(entry);
            }
        }
    }

    fn enter(&mut self, entry: Entry) {
        if let Some(last) = self.entries.back_mut()
            && last.txn == entry.txn
        {
            // The second try of one that was told to retry.
            *last = Entry { retried: last.retried || entry.retried, ..entry };
            return;
        }
        if self.entries.len() >= self.most {
            self.entries.pop_front();
            self.dropped += 1;
        }
        self.entries.push_back(entry);
    }

    /// How many were dropped to keep the newest.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The place of the transaction that lies this way from the cursor, or from the one that is shown.
    pub fn find(&self, way: Way, at: SimTime, shown: Option<TxnId>, filter: TxnFilter) -> Option<usize> {
        let until_cursor = self.entries.partition_point(|entry| entry.at <= at);
        let before_cursor = self.entries.partition_point(|entry| entry.at < at);
        // What is shown counts only while the cursor stands on it.
        let shown = shown.map(|txn| self.entries.partition_point(|entry| entry.txn < txn));
        let shown = shown.filter(|&place| self.entries.get(place).is_some_and(|entry| entry.at == at));
        let matches = |place: &usize| self.entries[*place].matches(filter);
        match way {
            Way::AtCursor => (0..until_cursor).rev().find(matches),
            Way::Previous => (0..shown.unwrap_or(before_cursor)).rev().find(matches),
            Way::Next => (shown.map_or(until_cursor, |place| place + 1)..self.entries.len()).find(matches),
            Way::FirstExhausted => (0..self.entries.len()).find(|&place| {
                self.entries[place].is(OutcomeFilter::Exhausted) && self.entries[place].matches(filter)
            }),
        }
    }

    /// The transaction at a place, without details.
    pub fn get(&self, place: usize) -> Option<Transaction> {
        let entry = self.entries.get(place)?;
        Some(Transaction {
            txn: entry.txn.0 as f64,
            at_ns: entry.at.as_ns() as f64,
            request: entry.request.0,
            caller: entry.caller,
            outcome: entry.outcome,
            retried: entry.retried,
            detail: None,
        })
    }

    /// All that match a filter, without details, oldest first.
    pub fn matching(&self, filter: TxnFilter) -> impl Iterator<Item = Transaction> {
        let places = (0..self.entries.len()).filter(move |&place| self.entries[place].matches(filter));
        places.filter_map(|place| self.get(place))
    }

    /// Admissions, and starts of loads, whose prompt began with more blocks in G1 than so many, in order.
    pub fn admissions_beyond(&self, blocks: u32) -> impl Iterator<Item = (SimTime, RequestId)> {
        let found = move |entry: &&Entry| match entry.outcome {
            TxnOutcome::Ready { active_hits, cached_hits, .. } => {
                matches!(entry.caller, TxnCaller::Admission | TxnCaller::Onboard)
                    && active_hits + cached_hits > blocks
            }
            _ => false,
        };
        self.entries.iter().filter(found).map(|entry| (entry.at, entry.request))
    }

    /// The newest transactions of a request until a time, the newest first, and how many there are.
    pub fn newest_of(&self, request: RequestId, at: SimTime, most: usize) -> (Vec<Transaction>, u32) {
        let until = self.entries.partition_point(|entry| entry.at <= at);
        let mut total = 0;
        let mut newest = Vec::new();
        for place in (0..until).rev().filter(|&place| self.entries[place].request == request) {
            total += 1;
            if newest.len() < most {
                newest.extend(self.get(place));
            }
        }
        (newest, total)
    }

    /// Its place among those of the filter, from 1.
    pub fn rank(&self, place: usize, filter: TxnFilter) -> u32 {
        self.entries.iter().take(place + 1).filter(|entry| entry.matches(filter)).count() as u32
    }

    /// How many there are of each outcome, in the order of [`OutcomeFilter::ALL`].
    pub fn counts(&self, request: Option<u32>) -> [u32; 5] {
        let mut counts = [0; OutcomeFilter::ALL.len()];
        for entry in self.entries.iter().filter(|entry| entry.is_of(request)) {
            for (count, outcome) in counts.iter_mut().zip(OutcomeFilter::ALL) {
                *count += u32::from(entry.is(outcome));
            }
        }
        counts
    }
}

impl Entry {
    fn matches(&self, filter: TxnFilter) -> bool {
        self.is_of(filter.request) && self.is(filter.outcome)
    }

    fn is_of(&self, request: Option<u32>) -> bool {
        request.is_none_or(|request| self.request.0 == request)
    }

    fn is(&self, outcome: OutcomeFilter) -> bool {
        match outcome {
            OutcomeFilter::All => true,
            OutcomeFilter::Ready => matches!(self.outcome, TxnOutcome::Ready { .. }),
            OutcomeFilter::Exhausted => matches!(self.outcome, TxnOutcome::Exhausted { .. }),
            OutcomeFilter::Blocked => matches!(self.outcome, TxnOutcome::Blocked { .. }),
            OutcomeFilter::Retried => self.retried,
        }
    }
}

fn entry(at: SimTime, fact: &Fact) -> Option<Entry> {
    let (txn, request, caller, outcome) = match *fact {
        Fact::Acquired { txn, request, caller, active_hits, cached_hits, missing, victims } => {
            let missing = missing.len();
            (txn, request, caller, TxnOutcome::Ready { active_hits, cached_hits, missing, victims })
        }
        Fact::CapacityExhausted { txn, request, caller, needed, obtainable, .. } => {
            (txn, request, caller, TxnOutcome::Exhausted { needed, obtainable })
        }
        Fact::BlockedOnOffload { txn, request, caller, needed, .. } => {
            (txn, request, caller, TxnOutcome::Blocked { needed })
        }
        // Its second try follows at once and says what came of it.
        Fact::RetryNow { txn, request, caller, .. } => {
            (txn, request, caller, TxnOutcome::Blocked { needed: 0 })
        }
        _ => return None,
    };
    let retried = matches!(fact, Fact::RetryNow { .. });
    Some(Entry { at, txn, request, outcome, caller: shown(caller), retried })
}

fn shown(caller: Caller) -> TxnCaller {
    match caller {
        Caller::Admission => TxnCaller::Admission,
        Caller::PrefillChunk => TxnCaller::PrefillChunk,
        Caller::DecodeGrowth => TxnCaller::DecodeGrowth,
        Caller::Speculation => TxnCaller::Speculation,
        Caller::Destination => TxnCaller::Destination,
        Caller::Onboard => TxnCaller::Onboard,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(outcome: OutcomeFilter, request: Option<u32>) -> TxnFilter {
        TxnFilter { worker: 0, outcome, request }
    }

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn made(txn: u64, request: u32, outcome: TxnOutcome, retried: bool) -> Entry {
        // Two transactions at each instant.
        let (txn, at, request) = (TxnId(txn), at(txn / 2 * 10), RequestId(request));
        Entry { at, txn, request, outcome, caller: TxnCaller::Admission, retried }
    }

    const READY: TxnOutcome = TxnOutcome::Ready { active_hits: 0, cached_hits: 0, missing: 1, victims: 0 };
    const EXHAUSTED: TxnOutcome = TxnOutcome::Exhausted { needed: 3, obtainable: 1 };
    const ALL: TxnFilter = TxnFilter { worker: 0, outcome: OutcomeFilter::All, request: None };

    /// Times 0 0 10 10 20 20; requests 0 1 0 1 0 1; the fourth is exhausted.
    fn six() -> Ledger {
        let mut ledger = Ledger::of_one_in(1);
        for txn in 0..6 {
            let outcome = if txn == 3 { EXHAUSTED } else { READY };
            ledger.enter(made(txn, txn as u32 % 2, outcome, false));
        }
        ledger
    }

    #[test]
    fn the_newest_at_the_cursor() {
        let ledger = six();
        let newest = |ns, filter| ledger.find(Way::AtCursor, at(ns), None, filter);
        assert_eq!(
            [newest(0, ALL), newest(9, ALL), newest(10, ALL), newest(99, ALL)].map(Option::unwrap),
            [1, 1, 3, 5]
        );
        assert_eq!(newest(9, of(OutcomeFilter::Exhausted, None)), None);
        assert_eq!(newest(99, of(OutcomeFilter::All, Some(0))), Some(4));
    }

    #[test]
    fn steps_visit_each_once_also_within_an_instant() {
        let ledger = six();
        let mut seen = vec![0];
        while let Some(next) = ledger.find(
            Way::Next,
            ledger.entries[*seen.last().expect("one")].at,
            Some(TxnId(*seen.last().expect("one") as u64)),
            ALL,
        ) {
            seen.push(next);
        }
        assert_eq!(seen, [0, 1, 2, 3, 4, 5]);
        assert_eq!(ledger.find(Way::Previous, at(10), Some(TxnId(3)), ALL), Some(2));
        // The cursor has left what is shown: it counts from the cursor.
        assert_eq!(ledger.find(Way::Previous, at(15), Some(TxnId(0)), ALL), Some(3));
        assert_eq!(ledger.find(Way::Next, at(15), Some(TxnId(0)), ALL), Some(4));
    }

    #[test]
    fn outcomes_are_filtered_and_counted() {
        let ledger = six();
        assert_eq!(ledger.find(Way::FirstExhausted, at(99), None, ALL), Some(3));
        assert_eq!(ledger.find(Way::FirstExhausted, at(0), None, of(OutcomeFilter::All, Some(0))), None);
        assert_eq!(ledger.counts(None), [6, 5, 1, 0, 0]);
        assert_eq!(ledger.counts(Some(1)), [3, 2, 1, 0, 0]);
        assert_eq!(ledger.rank(5, of(OutcomeFilter::Ready, Some(1))), 2);
    }

    #[test]
    fn a_retry_and_its_second_try_are_one_transaction() {
        let mut ledger = Ledger::of_one_in(1);
        ledger.enter(made(0, 0, TxnOutcome::Blocked { needed: 0 }, true));
        ledger.enter(made(0, 0, READY, false));
        assert_eq!(ledger.counts(None), [1, 1, 0, 0, 1]);
        assert!(ledger.get(0).is_some_and(|txn| txn.retried && txn.outcome == READY));
    }

    #[test]
    fn the_oldest_make_room() {
        let mut ledger = Ledger::of_one_in(1);
        for txn in 0..KEPT_MAX as u64 + 3 {
            ledger.enter(made(txn, 0, READY, false));
        }
        assert_eq!((ledger.entries.len(), ledger.dropped()), (KEPT_MAX, 3));
        assert_eq!(ledger.get(0).map(|txn| txn.txn), Some(3.0));
        assert!(size_of::<Entry>() <= 48);
    }
}
