//! The times of copies, as the timeline draws them.

use tierscope_engine::{CopyEnd, Lane};
use tierscope_units::{TransferId, WorkerId};

use super::{Copies, Entry, NEVER};

/// When what happened to a copy, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// Which.
    pub transfer: TransferId,
    /// Whose.
    pub worker: WorkerId,
    /// Along which lane.
    pub lane: Lane,
    /// When it was queued.
    pub queued: u64,
    /// When it began first.
    pub started: Option<u64>,
    /// When it ended for good.
    pub ended: Option<u64>,
    /// From its newest failed attempt to the next.
    pub paused: Option<(u64, u64)>,
    /// Blocks that it copies.
    pub blocks: u32,
    /// How it ended.
    pub end: Option<CopyEnd>,
}

impl Copies {
    /// When what happened to each copy that is kept, in the order of queueing.
    pub fn times(&self) -> impl Iterator<Item = Times> {
        self.entries.iter().map(Entry::times)
    }
}

impl Entry {
    /// When what happened to it.
    pub fn times(&self) -> Times {
        let time = |ns: u64| (ns != NEVER).then_some(ns);
        Times {
            transfer: self.transfer,
            worker: self.worker,
            lane: self.lane,
            queued: self.queued_at,
            started: time(self.started_at),
            ended: time(self.ended_at),
            paused: time(self.paused.0).map(|since| (since, self.paused.1)),
            blocks: self.blocks,
            end: self.end,
        }
    }
}
