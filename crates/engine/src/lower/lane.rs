//! One lane: its queue, its permits, and a snapshot that every transition changes in one step (rules L1, L2).

use std::collections::VecDeque;

use tierscope_units::{SimTime, TransferId};

use super::batch::Batch;
use super::config::LaneConfig;
use super::settle::{LaneFault, Rest};
use crate::fact::CopyFailure;

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
    /// Has a permit; its copy is not handed out yet. A batch gets its permit at the moment at which its command is
    /// polled, so no two calls have this phase between them: a driver sees it in the epoch only.
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

    /// One batch moves on: one step, one epoch. Counts that cannot follow stay where they are, and the fault is
    /// told.
    fn pass_on(&mut self, from: Phase, to: Phase) -> Result<(), LaneFault> {
        let left = match self.count(from) {
            Count::Now(count) => count.checked_sub(1).map(|less| *count = less).ok_or(LaneFault::Invariant),
            Count::None => Ok(()),
            // A batch ends once (rule L5).
            Count::Ever(_) => Err(LaneFault::Invariant),
        };
        let entered = match self.count(to) {
            Count::Now(count) => {
                count.checked_add(1).map(|more| *count = more).ok_or(LaneFault::CounterOverflow)
            }
            Count::Ever(count) => {
                count.checked_add(1).map(|more| *count = more).ok_or(LaneFault::CounterOverflow)
            }
            // A batch does not return to the collector.
            Count::None => Err(LaneFault::Invariant),
        };
        let grown =
            self.epoch.checked_add(1).map(|epoch| self.epoch = epoch).ok_or(LaneFault::CounterOverflow);
        left.and(entered).and(grown)
    }

    /// Batches past the queue.
    pub fn past_queue(&self) -> u32 {
        self.starting + self.in_flight + self.settling
    }

    /// Batches that have not ended, less those in the collector.
    pub(crate) fn live(&self) -> u64 {
        u64::from(self.queued) + u64::from(self.past_queue())
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
    /// Its executor was shut down: nothing new starts.
    pub(crate) shut: bool,
    /// Source slots that its batches have released so far (rule L6).
    pub(crate) released_sources: u64,
    /// Why its newest failed batch failed for good.
    pub(crate) last_failure: Option<CopyFailure>,
    /// Its counts are not to be believed any more, since the first time that they could not follow.
    pub(crate) fault: Option<LaneFault>,
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
            shut: false,
            released_sources: 0,
            last_failure: None,
            fault: None,
        }
    }

    /// One batch moves on (rule L2).
    pub(crate) fn pass_on(&mut self, from: Phase, to: Phase) {
        if let Err(fault) = self.snapshot.pass_on(from, to) {
            self.fault.get_or_insert(fault);
        }
    }

    /// On what the lane rests; `None` when it is not stable (rule L2).
    pub(crate) fn rest(&self) -> Option<Rest> {
        let LaneSnapshot { queued, starting, in_flight, settling, .. } = self.snapshot;
        if starting > 0 || settling > 0 {
            return None;
        }
        if queued == 0 {
            return Some(if self.open.is_some() { Rest::Collecting } else { Rest::Idle });
        }
        if in_flight == self.config.max_concurrent {
            return Some(Rest::Permits);
        }
        match self.queue.is_empty() {
            true => Some(Rest::Backoff),
            false => self.waits_for_room.then_some(Rest::Room),
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
