//! A run as tracks over time: spans and counters as bytes, sent once when the run is over and read where they lie.

mod lists;

use serde::{Deserialize, Serialize};

pub use lists::{Point, Points, Spans, TrackList};

/// Everything that the timeline draws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tracks {
    /// The last instant of the run.
    pub end_ns: f64,
    /// What there is, in drawing order: counters, passes, copies, marks, requests.
    pub list: TrackList,
    /// The spans of all tracks.
    pub spans: Spans,
    /// The points of all counters.
    pub points: Points,
    /// How many spans were left out, so that memory is bounded: passes, copies, marks, phases of requests.
    pub left_out: [u32; 4],
}

/// What a track is of. Its number says which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TrackKind {
    /// Counter: blocks of a worker's G1, active and cached.
    Blocks,
    /// Counter: a worker's requests, running and waiting.
    Queues,
    /// Counter: matchable blocks of G2, G3 or G4 of all workers; the part is 0, 1 or 2.
    Below,
    /// A worker's passes.
    Passes,
    /// Copies of one lane of a worker (the part, in the order of [`LANES`]); the number is the row among those that overlap.
    Copies,
    /// What happened at an instant.
    Marks,
    /// One request's phases.
    Request,
}

/// The lanes by their part.
pub const LANES: [(&str, &str); 6] =
    [("G1", "G2"), ("G2", "G3"), ("G2", "G4"), ("G2", "G1"), ("G3", "G2"), ("G4", "G2")];

impl TrackKind {
    /// In the order of their codes.
    pub const ALL: [Self; 7] =
        [Self::Blocks, Self::Queues, Self::Below, Self::Passes, Self::Copies, Self::Marks, Self::Request];

    /// Whether it is made of points.
    pub fn is_counter(self) -> bool {
        matches!(self, Self::Blocks | Self::Queues | Self::Below)
    }
}

/// One track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Track {
    /// What it is of.
    pub kind: TrackKind,
    /// The lane or the tier.
    pub part: u8,
    /// The worker.
    pub worker: u16,
    /// The request, or the row.
    pub number: u32,
    /// Its first span, or point.
    pub first: u32,
    /// How many it has.
    pub count: u32,
}

impl Track {
    /// Its spans or points.
    pub fn range(self) -> std::ops::Range<usize> {
        self.first as usize..self.first as usize + self.count as usize
    }
}

/// What a span is. The codes rise with severity: of spans that share a pixel, the severest is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SpanKind {
    /// A pass of decode rows only.
    DecodePass,
    /// A pass with both kinds of rows.
    MixedPass,
    /// A pass of prefill rows only.
    PrefillPass,
    /// A request gets its answer.
    Decode,
    /// A request's prompt is computed.
    Prefill,
    /// A finished request's blocks are kept for its follower.
    Leased,
    /// A request waits to be admitted.
    Waiting,
    /// Blocks are on their way.
    Moving,
    /// A copy waits for a permit.
    Queued,
    /// A request goes from one worker to another.
    Handoff,
    /// A request's content is loaded from below.
    Loading,
    /// A copy waits for its next attempt.
    Retrying,
    /// A request waits for a copy that somebody else caused.
    Awaiting,
    /// A request waits for an offload that holds the slots it needs.
    Blocked,
    /// A request gave its blocks back, and waits again.
    Preempted,
    /// A copy that did not arrive.
    Failed,
    /// An instant: a transaction found too little.
    MarkExhausted,
    /// An instant: a transaction found slots that an offload still reads.
    MarkBlocked,
    /// An instant: a request was cancelled.
    MarkCancelled,
    /// An instant: a request was refused.
    MarkRejected,
    /// An instant: an attempt of a copy failed.
    MarkCopyFailed,
    /// An instant: a request was preempted.
    MarkPreempted,
    /// An instant: a worker starts, is ready or drains.
    MarkWorker,
    /// An instant: a worker is lost.
    MarkLost,
}

impl SpanKind {
    /// In the order of their codes.
    pub const ALL: [Self; 24] = [
        Self::DecodePass,
        Self::MixedPass,
        Self::PrefillPass,
        Self::Decode,
        Self::Prefill,
        Self::Leased,
        Self::Waiting,
        Self::Moving,
        Self::Queued,
        Self::Handoff,
        Self::Loading,
        Self::Retrying,
        Self::Awaiting,
        Self::Blocked,
        Self::Preempted,
        Self::Failed,
        Self::MarkExhausted,
        Self::MarkBlocked,
        Self::MarkCancelled,
        Self::MarkRejected,
        Self::MarkCopyFailed,
        Self::MarkPreempted,
        Self::MarkWorker,
        Self::MarkLost,
    ];

    /// The kind of a code; the calmest for a code that means nothing.
    pub fn of_code(code: u8) -> Self {
        Self::ALL.get(usize::from(code)).copied().unwrap_or(Self::DecodePass)
    }

    /// Whether it must be seen wherever it is, however short.
    pub fn is_severe(self) -> bool {
        self >= Self::Handoff
    }

    /// Whether it has no length.
    pub fn is_mark(self) -> bool {
        self >= Self::MarkExhausted
    }

    /// Whether it is a pass.
    pub fn is_pass(self) -> bool {
        self <= Self::PrefillPass
    }

    /// Whether it is a copy, in whichever state.
    pub fn is_copy(self) -> bool {
        matches!(self, Self::Moving | Self::Queued | Self::Retrying | Self::Failed)
    }
}

/// One stretch of time of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// From this instant.
    pub start_ns: f64,
    /// To this one.
    pub end_ns: f64,
    /// What it is.
    pub kind: SpanKind,
    /// It has not ended: the run has.
    pub open: bool,
    /// Decode rows of a pass, blocks of a copy, the worker of a request's phase; at most 2²⁴−1.
    pub aux: u32,
    /// Prefill tokens of a pass; the copy's number, without its worker's part, of a copy or of what a request waits
    /// for; the request of a mark; lost, cached or prompt tokens of a phase.
    pub number: u32,
}

/// Most that [`Span::aux`] holds.
pub const AUX_MAX: u32 = (1 << 24) - 1;
