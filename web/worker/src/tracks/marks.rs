//! What happened to a worker at an instant.

use tierscope_engine::{CopyEnd, Fact, WorkerState};
use tierscope_units::{RequestId, TransferId};

use super::Kept;
use crate::protocol::SpanKind;

/// The first marks of one worker, in order.
#[derive(Clone, Debug)]
pub struct Marks {
    kept: Vec<Kept>,
    /// The request that found too little last: it is tried again with each pass, and marked once.
    short: Option<RequestId>,
    most: usize,
    left_out: u32,
}

impl Marks {
    pub(super) fn of_most(most: usize) -> Self {
        Self { kept: Vec::new(), short: None, most, left_out: 0 }
    }

    pub(super) fn take(&mut self, at: u64, fact: &Fact) {
        let (kind, number) = match *fact {
            Fact::CapacityExhausted { request, .. } => {
                if self.short == Some(request) {
                    return;
                }
                self.short = Some(request);
                (SpanKind::MarkExhausted, request.0)
            }
            Fact::Acquired { request, .. } => {
                self.short = self.short.filter(|short| *short != request);
                return;
            }
            Fact::BlockedOnOffload { request, .. } => (SpanKind::MarkBlocked, request.0),
            Fact::Preempted { request, .. } => (SpanKind::MarkPreempted, request.0),
            Fact::Cancelled { request, .. } => (SpanKind::MarkCancelled, request.0),
            Fact::Rejected { request, .. } => (SpanKind::MarkRejected, request.0),
            Fact::CopyRetried { transfer, .. }
            | Fact::CopyEnded { transfer, end: CopyEnd::Failed(_), .. } => {
                (SpanKind::MarkCopyFailed, low(transfer))
            }
            Fact::Worker { worker, state: WorkerState::Lost } => (SpanKind::MarkLost, worker.0.into()),
            Fact::Worker { worker, .. } => (SpanKind::MarkWorker, worker.0.into()),
            _ => return,
        };
        if self.kept.len() < self.most {
            self.kept.push(Kept::new(kind, at, 0, number));
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Those that are kept.
    pub fn iter(&self) -> impl Iterator<Item = Kept> {
        self.kept.iter().copied()
    }

    /// How many there were besides.
    pub fn left_out(&self) -> u32 {
        self.left_out
    }
}

/// A copy's number without its worker's part.
pub(super) fn low(transfer: TransferId) -> u32 {
    transfer.0 as u32
}
