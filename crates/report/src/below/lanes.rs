//! Batches of each lane: how many, how long they waited, how long they took, how they ended.
//!
//! Only batches that have not ended are kept by number; of the others there are sums and a spread.

use std::collections::BTreeMap;

use tierscope_engine::{CopyEnd, CopyFailure, Fact, Lane};
use tierscope_units::{TransferId, WorkerId};

use super::Clock;
use crate::assemble::ratio;
use crate::report::LaneCounts;
use crate::spread::Spread;

/// All lanes, by [`Lane::index`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Lanes {
    lanes: [LaneFold; Lane::COUNT],
    open: BTreeMap<TransferId, OpenBatch>,
}

/// A batch that has not ended.
#[derive(Clone, Copy, Debug)]
struct OpenBatch {
    /// Whose, of several.
    worker: Option<WorkerId>,
    lane: Lane,
    queued_at: u64,
    /// When its newest attempt began.
    started_at: Option<u64>,
    in_flight: bool,
    blocks: u32,
}

/// How many batches are where, and how many blocks move.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LaneNow {
    pub(crate) queued: u32,
    pub(crate) in_flight: u32,
    pub(crate) moving: u32,
}

#[derive(Clone, Debug, Default)]
struct LaneFold {
    now: LaneNow,
    batches: u64,
    completed: u64,
    failed: u64,
    cancelled: u64,
    retried: u64,
    blocks: u64,
    busy_ns: u64,
    /// Since when at least one copy is under way; only while one is.
    busy_since: u64,
    queued_max: u32,
    in_flight_max: u32,
    queue_wait: Spread,
    copy: Spread,
    failures: BTreeMap<&'static str, u64>,
}

impl Lanes {
    /// Reads a fact and says whether it was about a batch.
    pub(crate) fn take(&mut self, at: u64, worker: Option<WorkerId>, fact: &Fact) -> bool {
        match *fact {
            Fact::CopyQueued { transfer, lane, blocks, .. } => {
                self.queue(at, (worker, transfer), lane, blocks.len());
            }
            Fact::CopyStarted { transfer, blocks, .. } => self.start(at, transfer, blocks.len()),
            Fact::CopyRetried { transfer, failure, .. } => self.retry(at, transfer, failure),
            Fact::CopyEnded { transfer, lane, end, .. } => self.end(at, transfer, lane, end),
            _ => return false,
        }
        true
    }

    /// A worker is gone. Of its batches that have not ended no end is told: they count as cancelled.
    pub(crate) fn gone(&mut self, at: u64, worker: WorkerId) {
        let of_it = self.open.iter().filter(|(_, batch)| batch.worker == Some(worker));
        let ended: Vec<(TransferId, Lane)> = of_it.map(|(&transfer, batch)| (transfer, batch.lane)).collect();
        for (transfer, lane) in ended {
            self.end(at, transfer, lane, CopyEnd::Cancelled);
        }
    }

    fn queue(
        &mut self,
        at: u64,
        (worker, transfer): (Option<WorkerId>, TransferId),
        lane: Lane,
        blocks: u32,
    ) {
        let batch = OpenBatch { worker, lane, queued_at: at, started_at: None, in_flight: false, blocks };
        self.open.insert(transfer, batch);
        let lane = &mut self.lanes[lane.index()];
        lane.batches += 1;
        lane.enqueue();
    }

    fn start(&mut self, at: u64, transfer: TransferId, blocks: u32) {
        let Some(batch) = self.open.get_mut(&transfer) else { return };
        let lane = &mut self.lanes[batch.lane.index()];
        if batch.started_at.is_none() {
            lane.queue_wait.add(at.saturating_sub(batch.queued_at));
        }
        (batch.started_at, batch.in_flight, batch.blocks) = (Some(at), true, blocks);
        lane.now.queued = lane.now.queued.saturating_sub(1);
        lane.take_off(at, blocks);
    }

    fn retry(&mut self, at: u64, transfer: TransferId, failure: CopyFailure) {
        let Some(batch) = self.open.get_mut(&transfer) else { return };
        let lane = &mut self.lanes[batch.lane.index()];
        if std::mem::take(&mut batch.in_flight) {
            lane.come_down(at, batch.blocks);
        }
        lane.retried += 1;
        lane.fail(failure);
        lane.enqueue();
    }

    fn end(&mut self, at: u64, transfer: TransferId, lane: Lane, end: CopyEnd) {
        let lane = &mut self.lanes[lane.index()];
        let batch = self.open.remove(&transfer);
        match batch {
            Some(OpenBatch { in_flight: true, blocks, .. }) => lane.come_down(at, blocks),
            Some(_) => lane.now.queued = lane.now.queued.saturating_sub(1),
            None => {}
        }
        match end {
            CopyEnd::Completed => {
                lane.completed += 1;
                lane.blocks += batch.map_or(0, |batch| u64::from(batch.blocks));
                if let Some(since) = batch.and_then(|batch| batch.started_at) {
                    lane.copy.add(at.saturating_sub(since));
                }
            }
            CopyEnd::Failed(failure) => {
                lane.failed += 1;
                lane.fail(failure);
            }
            CopyEnd::Cancelled => lane.cancelled += 1,
        }
    }

    /// How many batches of each lane are where.
    pub(crate) fn now(&self) -> [LaneNow; Lane::COUNT] {
        Lane::ALL.map(|lane| self.lanes[lane.index()].now)
    }

    /// The lanes that ever had a batch, by name.
    pub(crate) fn counts(&self, clock: Clock, bytes_per_block: u64) -> BTreeMap<&'static str, LaneCounts> {
        let had_some = Lane::ALL.into_iter().filter(|lane| self.lanes[lane.index()].batches > 0);
        had_some.map(|lane| (lane.name(), self.lanes[lane.index()].counts(clock, bytes_per_block))).collect()
    }
}

impl LaneFold {
    fn enqueue(&mut self) {
        self.now.queued += 1;
        self.queued_max = self.queued_max.max(self.now.queued);
    }

    /// A copy begins.
    fn take_off(&mut self, at: u64, blocks: u32) {
        if self.now.in_flight == 0 {
            self.busy_since = at;
        }
        self.now.in_flight += 1;
        self.now.moving = self.now.moving.saturating_add(blocks);
        self.in_flight_max = self.in_flight_max.max(self.now.in_flight);
    }

    /// A copy is under way no more.
    fn come_down(&mut self, at: u64, blocks: u32) {
        self.now.in_flight = self.now.in_flight.saturating_sub(1);
        self.now.moving = self.now.moving.saturating_sub(blocks);
        if self.now.in_flight == 0 {
            self.busy_ns += at.saturating_sub(self.busy_since);
        }
    }

    fn fail(&mut self, failure: CopyFailure) {
        *self.failures.entry(failure.name()).or_default() += 1;
    }

    fn counts(&self, clock: Clock, bytes_per_block: u64) -> LaneCounts {
        let under_way = match self.now.in_flight {
            0 => 0,
            _ => clock.last_ns.saturating_sub(self.busy_since),
        };
        let busy_ns = self.busy_ns + under_way;
        LaneCounts {
            batches: self.batches,
            completed: self.completed,
            failed: self.failed,
            cancelled: self.cancelled,
            retried: self.retried,
            blocks: self.blocks,
            bytes: self.blocks.saturating_mul(bytes_per_block),
            busy_ns,
            utilisation: ratio(busy_ns, clock.makespan_ns),
            in_flight_max: self.in_flight_max,
            queued_max: self.queued_max,
            queue_wait_ns: self.queue_wait.summary(),
            copy_ns: self.copy.summary(),
            failures: self.failures.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A batch may have fewer blocks than were queued: what arrives is what was copied.
    #[test]
    fn blocks_are_those_that_were_copied() {
        let (lane, first, second, third) = (Lane::G1ToG2, TransferId(0), TransferId(1), TransferId(2));
        let mut lanes = Lanes::default();
        lanes.queue(0, (None, first), lane, 32);
        lanes.start(1, first, 30);
        lanes.queue(2, (None, second), lane, 8);
        lanes.start(2, second, 8);
        lanes.queue(2, (None, third), lane, 5);
        assert_eq!(lanes.now()[lane.index()].moving, 38);
        lanes.end(3, first, lane, CopyEnd::Completed);
        lanes.end(4, second, lane, CopyEnd::Failed(CopyFailure::Executor));
        lanes.end(4, third, lane, CopyEnd::Cancelled);
        let now = lanes.now()[lane.index()];
        assert_eq!((now.queued, now.in_flight, now.moving), (0, 0, 0));
        assert!(lanes.open.is_empty(), "only batches that have not ended are kept");
        let counts = lanes.counts(Clock { last_ns: 10, makespan_ns: 10 }, 1_000);
        let counts = &counts["g1_g2"];
        assert_eq!((counts.batches, counts.blocks, counts.bytes, counts.busy_ns), (3, 30, 30_000, 3));
    }

    /// While it waits for its next attempt, a batch moves nothing.
    #[test]
    fn a_batch_between_attempts_does_not_move() {
        let (lane, transfer) = (Lane::G2ToG1, TransferId(0));
        let mut lanes = Lanes::default();
        lanes.queue(0, (None, transfer), lane, 4);
        lanes.start(1, transfer, 4);
        lanes.retry(3, transfer, CopyFailure::TimedOut);
        let now = lanes.now()[lane.index()];
        assert_eq!((now.queued, now.in_flight, now.moving), (1, 0, 0));
        lanes.start(5, transfer, 4);
        lanes.end(9, transfer, lane, CopyEnd::Completed);
        let counts = &lanes.counts(Clock { last_ns: 10, makespan_ns: 10 }, 1)["g2_g1"];
        assert_eq!(
            (counts.busy_ns, counts.copy_ns.max, counts.queue_wait_ns.max, counts.blocks),
            (6, 4, 1, 4)
        );
    }
}
