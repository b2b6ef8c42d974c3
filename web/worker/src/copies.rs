//! The index of a run's copies: flat and bounded, built from the facts as the run goes on.
//!
//! It knows of each batch when it was queued, why, when it began and ended, and who waited for it. What the engine
//! says at a time are counts; which copies these are is found here.

use std::collections::{BTreeMap, VecDeque};

use tierscope_engine::{Cause, CopyEnd, Fact, FactLog, Lane, Tier};
use tierscope_units::{RequestId, SimTime, TransferId, WorkerId};

use crate::protocol::{CopyCause, CopyOutcome, CopyView, TierName};

mod times;

pub use times::Times;

/// The newest copies of a run, in the order in which they were queued.
#[derive(Debug, Default)]
pub struct Copies {
    entries: VecDeque<Entry>,
    /// By copy: its place, counted from the first of the run.
    places: BTreeMap<TransferId, u64>,
    dropped: u64,
    /// The requests that waited for a copy that somebody waited for.
    waiting: BTreeMap<TransferId, Vec<RequestId>>,
}

/// One copy; times in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    transfer: TransferId,
    worker: WorkerId,
    queued_at: u64,
    started_at: u64,
    ended_at: u64,
    /// Between the newest failed attempt and the next, it waits.
    paused: (u64, u64),
    request: Option<RequestId>,
    queued_blocks: u32,
    blocks: u32,
    lane: Lane,
    cause: Cause,
    end: Option<CopyEnd>,
    retries: u32,
}

/// No such time yet.
const NEVER: u64 = u64::MAX;
/// Most copies kept: about 10 MB.
const KEPT_MAX: usize = 100_000;
/// Most names of those who wait for one copy.
const WAITING_NAMED: usize = 8;

impl Copies {
    /// Enters what the facts say of copies.
    pub fn take(&mut self, log: &FactLog) {
        let worker = log.worker().unwrap_or_default();
        for (at, fact) in log.iter() {
            self.take_fact(at, worker, fact);
        }
    }

    pub(crate) fn take_fact(&mut self, at: SimTime, worker: WorkerId, fact: &Fact) {
        let at = at.as_ns();
        match *fact {
            Fact::CopyQueued { transfer, lane, cause, request, blocks } => {
                let blocks = blocks.len();
                self.enter(Entry {
                    request,
                    queued_blocks: blocks,
                    blocks,
                    worker,
                    ..Entry::new(transfer, lane, cause, at)
                });
            }
            Fact::CopyStarted { transfer, blocks, .. } => self.change(transfer, |entry| {
                entry.blocks = blocks.len();
                if entry.started_at == NEVER {
                    entry.started_at = at;
                } else {
                    entry.paused.1 = at;
                }
            }),
            Fact::CopyRetried { transfer, .. } => self.change(transfer, |entry| {
                entry.retries += 1;
                entry.paused = (at, NEVER);
            }),
            Fact::CopyEnded { transfer, end, .. } => self.change(transfer, |entry| {
                (entry.ended_at, entry.end) = (at, Some(end));
            }),
            Fact::BlockedOnOffload { request, transfer, .. }
            | Fact::WaitsForCopy { request, transfer, .. } => {
                self.wait(transfer, request);
            }
            _ => {}
        }
    }

    fn enter(&mut self, entry: Entry) {
        if self.entries.len() == KEPT_MAX
            && let Some(oldest) = self.entries.pop_front()
        {
            self.dropped += 1;
            self.places.remove(&oldest.transfer);
            self.waiting.remove(&oldest.transfer);
        }
        self.places.insert(entry.transfer, self.dropped + self.entries.len() as u64);
        self.entries.push_back(entry);
    }

    fn change(&mut self, transfer: TransferId, change: impl FnOnce(&mut Entry)) {
        let place = self.places.get(&transfer).and_then(|place| place.checked_sub(self.dropped));
        if let Some(entry) = place.and_then(|place| self.entries.get_mut(place as usize)) {
            change(entry);
        }
    }

    fn wait(&mut self, transfer: TransferId, request: RequestId) {
        // Facts about a batch come after the one that queues it; of what was dropped nothing is kept.
        if self.places.contains_key(&transfer) {
            let waiting = self.waiting.entry(transfer).or_default();
            if waiting.len() < WAITING_NAMED && !waiting.contains(&request) {
                waiting.push(request);
            }
        }
    }

    /// How many were dropped to keep the newest.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// What is known of a copy.
    pub fn find(&self, transfer: TransferId) -> Option<&Entry> {
        let place = self.places.get(&transfer)?.checked_sub(self.dropped)?;
        self.entries.get(place as usize)
    }

    /// A worker's copies that had been queued at a time and had not ended, in the order of queueing.
    pub fn open_at(&self, worker: WorkerId, at: SimTime) -> impl Iterator<Item = &Entry> {
        let at = at.as_ns();
        let until = self.entries.partition_point(|entry| entry.queued_at <= at);
        let open = move |entry: &&Entry| entry.ended_at > at && entry.worker == worker;
        self.entries.range(..until).filter(open)
    }

    /// Copies that carry blocks for a request, or that it waited for, in the order of queueing.
    pub fn of_request(&self, request: RequestId) -> impl Iterator<Item = &Entry> {
        let waits = move |entry: &Entry| {
            self.waiting.get(&entry.transfer).is_some_and(|waiting| waiting.contains(&request))
        };
        self.entries.iter().filter(move |entry| entry.request == Some(request) || waits(entry))
    }

    /// A copy as the page shows it.
    pub fn view(&self, entry: &Entry) -> CopyView {
        let time = |ns: u64| (ns != NEVER).then_some(ns as f64);
        let waiting = self.waiting.get(&entry.transfer).map_or(&[][..], Vec::as_slice);
        CopyView {
            transfer: entry.transfer.0 as f64,
            from: tier(entry.lane.from()),
            to: tier(entry.lane.to()),
            cause: cause(entry.cause),
            request: entry.request.map(|request| request.0),
            blocks: entry.blocks,
            queued_ns: entry.queued_at as f64,
            started_ns: time(entry.started_at),
            ended_ns: time(entry.ended_at),
            end: entry.end.map(outcome),
            retries: entry.retries,
            waiting: waiting.iter().map(|request| request.0).collect(),
        }
    }
}

impl Entry {
    fn new(transfer: TransferId, lane: Lane, cause: Cause, queued_at: u64) -> Self {
        Self {
            transfer,
            worker: WorkerId::default(),
            queued_at,
            started_at: NEVER,
            ended_at: NEVER,
            paused: (NEVER, NEVER),
            request: None,
            queued_blocks: 0,
            blocks: 0,
            lane,
            cause,
            end: None,
            retries: 0,
        }
    }

    /// The lane that it moves along.
    pub fn lane(&self) -> Lane {
        self.lane
    }

    /// Whose lanes it moves along.
    pub fn worker(&self) -> WorkerId {
        self.worker
    }

    /// When and how it ended.
    pub fn end(&self) -> Option<(SimTime, CopyEnd)> {
        Some((SimTime::from_ns(self.ended_at), self.end?))
    }

    /// Blocks that it copies.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Whether its sources were evicted, so that its end frees their slots.
    pub fn holds_sources(&self) -> bool {
        self.lane == Lane::G1ToG2 && self.cause == Cause::Evicted
    }

    /// Slots that came free when it began: what was in the lower tier by then was not copied.
    pub fn freed_by_start(&self, at: SimTime) -> u32 {
        let first = self.started_at == at.as_ns();
        if first { self.queued_blocks.saturating_sub(self.blocks) } else { 0 }
    }

    /// Slots that came free when it ended.
    pub fn freed_by_end(&self) -> u32 {
        if self.started_at == NEVER { self.queued_blocks } else { self.blocks }
    }

    /// Whether its bytes are on their way at a time at which it has not ended.
    pub fn is_moving(&self, at: SimTime) -> bool {
        let at = at.as_ns();
        self.started_at <= at && !(self.paused.0 <= at && at < self.paused.1)
    }

    /// Nanoseconds from its start to its end, where both are known.
    pub fn span_ns(&self) -> Option<u64> {
        (self.ended_at != NEVER && self.started_at != NEVER).then(|| self.ended_at - self.started_at)
    }
}

/// A tier as the page names it.
pub fn tier(tier: Tier) -> TierName {
    match tier {
        Tier::G1 => TierName::G1,
        Tier::G2 => TierName::G2,
        Tier::G3 => TierName::G3,
        Tier::G4 => TierName::G4,
    }
}

fn cause(cause: Cause) -> CopyCause {
    match cause {
        Cause::Evicted => CopyCause::Evicted,
        Cause::Computed => CopyCause::Computed,
        Cause::Hit => CopyCause::Hit,
        Cause::Boundary => CopyCause::Boundary,
        Cause::Chained => CopyCause::Chained,
        Cause::Wanted => CopyCause::Wanted,
    }
}

fn outcome(end: CopyEnd) -> CopyOutcome {
    match end {
        CopyEnd::Completed => CopyOutcome::Completed,
        CopyEnd::Cancelled => CopyOutcome::Cancelled,
        CopyEnd::Failed(failure) => CopyOutcome::Failed(failure.name().to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use tierscope_engine::{BlockList, CopyFailure};

    use super::*;

    fn at(ns: u64) -> SimTime {
        SimTime::from_ns(ns)
    }

    fn queued(transfer: u64, lane: Lane) -> Fact {
        let transfer = TransferId(transfer);
        Fact::CopyQueued {
            transfer,
            lane,
            cause: Cause::Evicted,
            request: None,
            blocks: BlockList::default(),
        }
    }

    fn started(transfer: u64, lane: Lane) -> Fact {
        Fact::CopyStarted { transfer: TransferId(transfer), lane, blocks: BlockList::default() }
    }

    fn ended(transfer: u64, lane: Lane, end: CopyEnd) -> Fact {
        Fact::CopyEnded { transfer: TransferId(transfer), lane, end, released: 0 }
    }

    fn told(facts: &[(u64, Fact)]) -> Copies {
        let mut copies = Copies::default();
        for (ns, fact) in facts {
            copies.take_fact(at(*ns), WorkerId(0), fact);
        }
        copies
    }

    fn open(copies: &Copies, ns: u64) -> Vec<(u64, bool)> {
        copies.open_at(WorkerId(0), at(ns)).map(|entry| (entry.transfer.0, entry.is_moving(at(ns)))).collect()
    }

    /// Numbers are given when a batch is begun to be collected: a later one may be queued before.
    #[test]
    fn what_is_open_at_a_time() {
        let lane = Lane::G1ToG2;
        let copies = told(&[
            (10, queued(1, lane)),
            (10, started(1, lane)),
            (12, queued(0, Lane::G2ToG3)),
            (20, ended(1, lane, CopyEnd::Completed)),
            (20, started(0, Lane::G2ToG3)),
        ]);
        assert_eq!(open(&copies, 9), []);
        assert_eq!(open(&copies, 10), [(1, true)]);
        assert_eq!(open(&copies, 19), [(1, true), (0, false)]);
        assert_eq!(open(&copies, 20), [(0, true)], "what ended at an instant is not under way any more");
        assert_eq!(open(&copies, 99), [(0, true)]);
        let view = copies.view(copies.find(TransferId(1)).expect("it is kept"));
        assert_eq!((view.from, view.to, view.cause), (TierName::G1, TierName::G2, CopyCause::Evicted));
        assert_eq!((view.queued_ns, view.started_ns, view.ended_ns), (10.0, Some(10.0), Some(20.0)));
        assert_eq!(view.end, Some(CopyOutcome::Completed));
    }

    #[test]
    fn each_worker_has_copies_of_its_own() {
        let mut copies = told(&[(1, queued(0, Lane::G1ToG2)), (2, queued(1, Lane::G1ToG2))]);
        copies.take_fact(at(3), WorkerId(2), &queued(2 << 40, Lane::G1ToG2));
        assert_eq!(open(&copies, 9), [(0, false), (1, false)]);
        let other: Vec<_> = copies.open_at(WorkerId(2), at(9)).map(|entry| entry.transfer.0).collect();
        assert_eq!(other, [2 << 40]);
    }

    #[test]
    fn between_two_attempts_nothing_moves() {
        let lane = Lane::G2ToG1;
        let retried = Fact::CopyRetried {
            transfer: TransferId(0),
            failure: CopyFailure::TimedOut,
            attempt: 1,
            at: at(20),
        };
        let copies = told(&[
            (5, queued(0, lane)),
            (5, started(0, lane)),
            (10, retried),
            (20, started(0, lane)),
            (30, ended(0, lane, CopyEnd::Failed(CopyFailure::Corrupt))),
        ]);
        let moving = [5, 9, 10, 19, 20, 29].map(|ns| open(&copies, ns)[0].1);
        assert_eq!(moving, [true, true, false, false, true, true]);
        let view = copies.view(copies.find(TransferId(0)).expect("it is kept"));
        assert_eq!((view.retries, view.end), (1, Some(CopyOutcome::Failed("corrupt".to_owned()))));
    }

    #[test]
    fn who_waits_is_named_once_and_not_for_ever() {
        let transfer = TransferId(0);
        let waits = |request| Fact::WaitsForCopy { request: RequestId(request), transfer, deadline: at(9) };
        let mut copies = told(&[(1, waits(7)), (2, queued(0, Lane::G1ToG2))]);
        for request in (0..20).chain(0..20) {
            copies.take_fact(at(3), WorkerId(0), &waits(request));
        }
        let view = copies.view(copies.find(transfer).expect("it is kept"));
        assert_eq!(view.waiting, [0, 1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn the_oldest_make_room() {
        let mut copies = Copies::default();
        for transfer in 0..KEPT_MAX as u64 + 3 {
            copies.take_fact(at(transfer), WorkerId(0), &queued(transfer, Lane::G1ToG2));
        }
        copies.take_fact(at(1), WorkerId(0), &started(0, Lane::G1ToG2));
        copies.take_fact(at(KEPT_MAX as u64 + 9), WorkerId(0), &started(KEPT_MAX as u64, Lane::G1ToG2));
        assert_eq!((copies.entries.len(), copies.places.len(), copies.dropped), (KEPT_MAX, KEPT_MAX, 3));
        assert!(copies.find(TransferId(2)).is_none());
        let found = copies.find(TransferId(KEPT_MAX as u64)).expect("it is kept");
        assert!(found.started_at == KEPT_MAX as u64 + 9 && size_of::<Entry>() <= 96);
    }
}
