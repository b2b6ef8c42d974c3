//! A batch: blocks that move together along one lane.

use tierscope_units::{RequestId, SequenceHash, SimTime, SlotId, TransferId};

use super::lane::Phase;
use super::name::{Cause, Lane};
use crate::request::Live;

/// How a source is kept until its copy ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    /// Evicted and held: neither matchable nor free.
    Source,
    /// It may be hit and released, and is no victim.
    Read,
    /// A block of a lower tier has one reference more: a load or a queue keeps it, and using it makes it recent.
    Pin,
    /// Not at all before the copy starts: it may be evicted meanwhile.
    Unheld,
}

/// One block of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) hash: SequenceHash,
    pub(crate) from: SlotId,
    /// Its slot in the tier that it goes to; [`NO_SLOT`] before it is reserved.
    pub(crate) to: SlotId,
    pub(crate) hold: Hold,
    /// The place among the blocks of the request that wants it.
    pub(crate) at: u32,
}

/// No slot yet.
pub(crate) const NO_SLOT: SlotId = SlotId(u32::MAX);

/// A batch, to be looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyView {
    /// Its number.
    pub transfer: TransferId,
    /// From which tier to which.
    pub lane: Lane,
    /// Why.
    pub cause: Cause,
    /// Where it is.
    pub phase: Phase,
    /// Attempts that failed.
    pub attempts: u32,
    /// Who wants its blocks.
    pub request: Option<RequestId>,
    /// Who waits for its end.
    pub waiters: Vec<RequestId>,
    /// The contents that it carries, in order.
    pub contents: Vec<SequenceHash>,
}

impl Batch {
    pub(crate) fn view(&self, transfer: TransferId) -> CopyView {
        CopyView {
            transfer,
            lane: self.lane,
            cause: self.cause,
            phase: self.phase,
            attempts: self.attempts,
            request: self.request.map(|(_, request)| request),
            waiters: self.waiters.iter().map(|&(_, request)| request).collect(),
            contents: self.moves.iter().map(|block| block.hash).collect(),
        }
    }
}

/// Blocks that move together.
#[derive(Clone, Debug)]
pub(crate) struct Batch {
    pub(crate) lane: Lane,
    pub(crate) cause: Cause,
    pub(crate) phase: Phase,
    pub(crate) moves: Vec<Move>,
    /// Who wants them.
    pub(crate) request: Option<(Live, RequestId)>,
    /// Who waits for its end.
    pub(crate) waiters: Vec<(Live, RequestId)>,
    /// Attempts that failed.
    pub(crate) attempts: u32,
    /// When it is believed to end.
    pub(crate) deadline: SimTime,
    /// When its next attempt is, or when it has failed for taking too long.
    pub(crate) timer: Option<SimTime>,
    /// The number of the newest completion that set it off, counted over all lanes from 1; 0 when none did.
    pub(crate) set_off_by: u64,
}

impl Batch {
    /// Makes an ended batch a new one; its room for blocks is kept.
    pub(super) fn renew(&mut self, lane: Lane, cause: Cause) {
        let mut moves = std::mem::take(&mut self.moves);
        moves.clear();
        *self = Self { moves, ..Self::new(lane, cause) };
    }

    pub(crate) fn new(lane: Lane, cause: Cause) -> Self {
        Self {
            lane,
            cause,
            phase: Phase::Collecting,
            moves: Vec::new(),
            request: None,
            waiters: Vec::new(),
            attempts: 0,
            deadline: SimTime::ZERO,
            timer: None,
            set_off_by: 0,
        }
    }
}
