//! One lane: its queue, its permits, and a snapshot that every transition changes in one step (rules L1, L2).

use std::collections::VecDeque;

use tierscope_units::{SimTime, TransferId};

use super::batch::Batch;
use super::config::LaneConfig;

/// How many batches of a lane are where (rule L2). The epoch grows with every transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LaneSnapshot {
    /// Transitions so far.
    pub epoch: u64,
    /// Batches that wait for a permit, or for their next attempt.
    pub queued: u32,
    /// Batches that have a permit and whose copy is not handed out yet.
    pub starting: u32,
    /// Batches whose copy is under way.
    pub in_flight: u32,
    /// Batches whose copy ended and whose blocks are not registered yet.
    pub settling: u32,
    /// Batches that ended well, so far.
    pub completed: u64,
    /// Batches that failed for good, so far.
    pub failed: u64,
    /// Batches that ended without a copy, so far: nothing was left of them, or nobody wanted them any more.
    pub cancelled: u64,
}

/// Where a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// In the collector: it may grow.
    Collecting,
    /// Waits for a permit, or for its next attempt.
    Queued,
    /// Has a permit; its copy is not handed out yet.
    Starting,
    /// Its copy is under way.
    InFlight,
    /// Its copy ended; its blocks are being registered.
    Settling,
    /// Ended well.
    Completed,
    /// Failed for good.
    Failed,
    /// Ended without a copy.
    Cancelled,
}

impl LaneSnapshot {
    /// The number of batches in a phase; the collector's is not counted.
    fn count(&mut self, phase: Phase) -> Count<'_> {
        match phase {
            Phase::Collecting => Count::None,
            Phase::Queued => Count::Now(&mut self.queued),
            Phase::Starting => Count::Now(&mut self.starting),
            Phase::InFlight => Count::Now(&mut self.in_flight),
            Phase::Settling => Count::Now(&mut self.settling),
            Phase::Completed => Count::Ever(&mut self.completed),
            Phase::Failed => Count::Ever(&mut self.failed),
            Phase::Cancelled => Count::Ever(&mut self.cancelled),
        }
    }

    /// One batch moves on: one step, one epoch.
    pub(crate) fn pass_on(&mut self, from: Phase, to: Phase) {
        match self.count(from) {
            Count::Now(count) => *count -= 1,
            Count::None => {}
            Count::Ever(_) => unreachable!("a batch ends once (rule L5)"),
        }
        match self.count(to) {
            Count::Now(count) => *count += 1,
            Count::Ever(count) => *count += 1,
            Count::None => unreachable!("a batch does not return to the collector"),
        }
        self.epoch += 1;
    }

    /// Batches past the queue.
    pub fn past_queue(&self) -> u32 {
        self.starting + self.in_flight + self.settling
    }
}

enum Count<'a> {
    None,
    Now(&'a mut u32),
    Ever(&'a mut u64),
}

/// A batch in the collector.
#[derive(Clone, Debug)]
pub(crate) struct Open {
    pub(crate) transfer: TransferId,
    /// When it is full enough.
    pub(crate) flush_at: SimTime,
    pub(crate) batch: Box<Batch>,
}

/// One lane.
#[derive(Clone, Debug)]
pub(crate) struct LaneState {
    pub(crate) config: LaneConfig,
    pub(crate) snapshot: LaneSnapshot,
    /// The batch that still grows.
    pub(crate) open: Option<Open>,
    /// Batches that left the collector and that the log has not heard of.
    pub(crate) closed: Vec<TransferId>,
    /// Batches that wait, in the order of their starts (rule L1).
    pub(crate) queue: VecDeque<TransferId>,
    /// Blocks that wait or move.
    pub(crate) backlog_blocks: u64,
    /// The head of the queue finds no room in its tier, and room will come.
    pub(crate) waits_for_room: bool,
}

impl LaneState {
    pub(crate) fn new(config: LaneConfig) -> Self {
        Self {
            config,
            snapshot: LaneSnapshot::default(),
            open: None,
            closed: Vec::new(),
            queue: VecDeque::new(),
            backlog_blocks: 0,
            waits_for_room: false,
        }
    }

    /// When a batch that is queued now, with all that is queued before it, is believed to end.
    pub(crate) fn believed_end(&self, now: SimTime) -> SimTime {
        let estimate = self.config.estimate;
        let batches = u64::from(self.snapshot.queued + self.snapshot.past_queue()).max(1);
        let ns = estimate
            .latency
            .as_ns()
            .saturating_mul(batches)
            .saturating_add(estimate.per_block.as_ns().saturating_mul(self.backlog_blocks));
        now.checked_add(tierscope_units::Span::from_ns(ns)).unwrap_or(now)
    }
}
