//! What the page and the worker say to each other: one enum each way.
//!
//! - Times are whole nanoseconds in an `f64`: exact up to 2⁵³ ns (104 days of simulated time), which is far more
//!   than any cursor needs. Words that use all 64 bits (digests, hashes) travel as text.
//! - Every message about a run carries the run's number: what belongs to an older run is dropped by its reader.
//! - A run may have several workers (machines; the web worker that answers is another thing). A question names the one
//!   that it means by its number, and so does the answer: what is of one that is not looked at any more is dropped.
//! - The worker speaks first ([`FromWorker::Ready`]); a message posted before that would be lost.

mod below;
mod chore;
mod export;
mod fleet;
mod picked;
mod results;
mod search;
mod trace;
mod tracks;
mod transaction;

use serde::{Deserialize, Serialize};

pub use below::{COPIES_SHOWN, CopyCause, CopyOutcome, CopyView, LaneView, LinkUse, TierName, TierView};

pub use chore::{
    Answer, AspectView, CapacityView, Chore, Difference, Duel, KnobView, MetricUnit, MetricView, PairView,
    Parting, PathView, PlanText, PlanView, RowView, RowsForm, Said, SizingView, SpreadView, TierMark,
};
pub use export::{EXPORT_BYTES_MAX, ExportEnd, ExportKind, ExportPart};

pub use fleet::{
    HANDOFFS_SHOWN, HandoffFailure, HandoffPhase, HandoffView, Happening, NEWS_SHOWN, News, RequestLeg,
    WorkerRole, WorkerState, WorkerView,
};

pub use picked::{
    BlockEvent, BlockTold, BlockWhat, COPIES_TOLD, EVENTS_SHOWN, HASHES_SHOWN, LifePhase, LifeSpan,
    REQUESTS_SHOWN, RequestTold, Resident, SLOTS_TOLD, SPANS_SHOWN, Subject, TXNS_SHOWN, Told, TransferTold,
    Why, WorkerTold,
};
pub use search::{About, FACTS_SHOWN, HITS_SHOWN, Hit, Hits, Instant, QUERY_MAX};
pub use trace::{
    FileKind, MEDIA_SHOWN, MediumView, RecordingView, TRACE_FILE_BYTES, TRACE_REQUESTS, TRACE_SLICE_BYTES,
    TraceSaid, TraceStep,
};
pub use tracks::{AUX_MAX, LANES, Point, Points, Span, SpanKind, Spans, Track, TrackKind, TrackList, Tracks};

pub use results::{HitSample, Verdict};

pub use transaction::{
    BLOCKS_SHOWN, Find, Found, OutcomeFilter, PreemptedRequest, Room, Transaction, Transfer, TxnBlock,
    TxnCaller, TxnDetail, TxnFilter, TxnOutcome, Way,
};

/// What the page asks for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToWorker {
    /// Run this scenario and show this worker of it; a run under way is dropped.
    Run { run: u32, text: String, worker: u32 },
    /// Replay the driven run of this recording, which was handed over, and show this worker of it; a run under way is dropped.
    Replay { run: u32, recording: u32, worker: u32 },
    /// Run the other side of a comparison and show this worker of it; a run under way is dropped.
    Fork { run: u32, duel: Duel, worker: u32 },
    /// Stop the run and report what came of it so far.
    Cancel { run: u32 },
    /// Show another worker from now on: what is not asked for (boards of a run under way) is of that one.
    Select { run: u32, worker: u32 },
    /// Show the state of a worker at a time.
    Seek { run: u32, worker: u32, at_ns: f64 },
    /// Show the state at the next or the previous instant at which something happened.
    Step { run: u32, worker: u32, from_ns: f64, direction: Direction },
    /// Tell about one block of a worker at a time: the first of `among` slots that holds content, else the first.
    Inspect { run: u32, worker: u32, at_ns: f64, tier: TierName, slot: u32, among: u32 },
    /// Tell all about one thing as it is at a time.
    Tell { run: u32, at_ns: f64, about: Subject },
    /// Find a transaction.
    Find { run: u32, find: Find },
    /// Send the tracks of a run that is over.
    Tracks { run: u32 },
    /// Answer a question in words.
    Search { run: u32, query: String },
    /// Tell the facts of the instant at or before a time.
    Facts { run: u32, at_ns: f64 },
    /// Do a chore, one of a job; of no run.
    Chore { job: u32, task: u32, chore: Chore },
    /// Write something of a run that is over; what is being written is given up.
    Export { run: u32, number: u32, kind: ExportKind },
    /// Give up what is being written.
    StopExport { run: u32 },
    /// A step of handing over a file; `trace` is its number.
    Trace { trace: u32, step: TraceStep },
}

/// Which way a step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Direction {
    /// To the previous instant.
    Back,
    /// To the next instant.
    Forward,
}

/// What the worker answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromWorker {
    /// The worker hears messages from now on.
    Ready,
    /// How far a run is.
    Progress { run: u32, finished: u32, total: u32, now_ns: f64 },
    /// A run ended.
    Done { run: u32, result: RunResult },
    /// The scenario cannot be run.
    Refused { run: u32, problems: Vec<ProblemView> },
    /// The state at the time that was asked for.
    Board { run: u32, board: Box<Board> },
    /// The state one step further; the cursor follows it.
    Stepped { run: u32, board: Box<Board> },
    /// One block of a worker.
    Slot { run: u32, worker: u32, slot: SlotView },
    /// A worker's occupancy over the whole run, once another worker is selected.
    Occupancy { run: u32, worker: u32, occupancy: Vec<Sample> },
    /// All about one thing, and the question that it answers.
    Told { run: u32, at_ns: f64, about: Subject, told: Told },
    /// A transaction, and the question that it answers.
    Found { run: u32, asked: Find, found: Box<Found> },
    /// The tracks of a run.
    Tracks { run: u32, tracks: Box<Tracks> },
    /// The answer to a question in words.
    Hits { run: u32, query: String, hits: Box<Hits> },
    /// The facts of the instant at or before the time that was asked for.
    Facts { run: u32, asked_ns: f64, instant: Box<Instant> },
    /// What came of a chore, or how far it is.
    Chore { job: u32, task: u32, answer: Answer },
    /// The next part of what is written.
    Exported { run: u32, part: ExportPart },
    /// About a file that is handed over.
    Trace { trace: u32, said: TraceSaid },
}

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunResult {
    /// The report, as JSON with the stable keys.
    pub report: String,
    /// The last instant of the run.
    pub end_ns: f64,
    /// Occupancy of the worker that is shown, over time.
    pub occupancy: Vec<Sample>,
    /// What lay below G1 over time; empty where nothing ever moved.
    pub below: Vec<BelowSample>,
    /// Latency distributions.
    pub latency: Vec<Distribution>,
    /// Hits of first admissions over time.
    pub hits: Vec<HitSample>,
    /// What the scenario expects, judged; empty where it expects nothing.
    pub verdicts: Vec<Verdict>,
    /// Whether it is a driven run that was stopped before its end: it goes no further.
    pub stopped: bool,
    /// Time the run took in the worker.
    pub wall_ms: f64,
}

/// G1 and the queues at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// When.
    pub at_ns: f64,
    /// Blocks referenced by a request.
    pub active: u32,
    /// Blocks kept for a later hit.
    pub cached: u32,
    /// Blocks that hold nothing.
    pub free: u32,
    /// Requests waiting.
    pub waiting: u32,
    /// Requests running.
    pub running: u32,
}

/// What lay below G1 at one time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BelowSample {
    /// When.
    pub at_ns: f64,
    /// Matchable blocks of G2, G3 and G4.
    pub resident: [u32; 3],
}

/// The cumulative distribution of one latency: points rise from 0 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distribution {
    /// Its name as the field writes it: TTFT, ITL, E2E.
    pub name: String,
    /// `(nanoseconds, share of requests at or below)`.
    pub points: Vec<(f64, f64)>,
}

/// All tiers, the lanes between them, and the requests, at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Board {
    /// The time that was asked for.
    pub asked_ns: f64,
    /// The last instant at or before it: the state has been so since then.
    pub at_ns: f64,
    /// The worker that is shown: tiers, lanes, copies and the two queues are its own.
    pub worker: u32,
    /// All workers, by number; none where the machine is the only one and needs no router.
    pub workers: Vec<WorkerView>,
    /// Handoffs between workers whose blocks are under way, the oldest first; at most [`HANDOFFS_SHOWN`].
    pub handoffs: Vec<HandoffView>,
    /// What happened between workers, the newest first; at most [`NEWS_SHOWN`].
    pub news: Vec<News>,
    /// Blocks of G1 by state, exact.
    pub totals: Totals,
    /// The blocks of G1, in slot order.
    pub cells: Cells,
    /// For each block of a small pool, who holds it: `3`, or `×2` for two holders; empty for a large pool.
    pub labels: Vec<String>,
    /// The tiers below G1, the nearest first; none where the scenario has none.
    pub tiers: Vec<TierView>,
    /// The lanes between the tiers that there are: downward first.
    pub lanes: Vec<LaneView>,
    /// Copies under way, then those that are queued; the oldest first, at most [`COPIES_SHOWN`].
    pub copies: Vec<CopyView>,
    /// How many there are in all.
    pub copies_total: u32,
    /// Requests in the running batch.
    pub running: u32,
    /// Requests that have arrived and wait.
    pub waiting: u32,
    /// Requests that are done, of all workers.
    pub finished: u32,
    /// Who waits for what at all workers and between them; at most [`CENSUS_ROWS`] rows.
    pub census: Vec<CensusRow>,
    /// How many unfinished requests there are in all.
    pub census_total: u32,
    /// Requests that wait for each other in a circle, when nothing will wake them: a line for each.
    pub wait_cycle: Vec<String>,
}

/// Most census rows in one board.
pub const CENSUS_ROWS: usize = 200;

/// Blocks by state. The sum is the capacity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Hold nothing.
    pub free: u32,
    /// Promised to an open transaction.
    pub reserved: u32,
    /// Referenced by one request.
    pub active: u32,
    /// Referenced by two or more requests.
    pub shared: u32,
    /// Referenced by nobody, kept for a later hit.
    pub cached: u32,
    /// Evicted, and still read by an offload: neither matchable nor free.
    pub source_hold: u32,
}

impl Totals {
    /// All blocks.
    pub fn capacity(self) -> u32 {
        self.in_order().iter().sum()
    }

    /// The counts in the order of [`BlockState::ALL`].
    pub fn in_order(self) -> [u32; BlockState::ALL.len()] {
        [self.free, self.reserved, self.active, self.shared, self.cached, self.source_hold]
    }

    /// The count of one state.
    pub fn of(self, state: BlockState) -> u32 {
        self.in_order()[state as usize]
    }

    /// One block more in a state.
    pub fn count(&mut self, state: BlockState) {
        let place = match state {
            BlockState::Free => &mut self.free,
            BlockState::Reserved => &mut self.reserved,
            BlockState::Active => &mut self.active,
            BlockState::Shared => &mut self.shared,
            BlockState::Cached => &mut self.cached,
            BlockState::SourceHold => &mut self.source_hold,
        };
        *place += 1;
    }
}

/// The states a block is shown in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockState {
    /// Holds nothing.
    Free,
    /// Promised to an open transaction.
    Reserved,
    /// Referenced by one request.
    Active,
    /// Referenced by two or more requests.
    Shared,
    /// Referenced by nobody, kept for a later hit.
    Cached,
    /// Evicted, and still read by an offload: neither matchable nor free.
    SourceHold,
}

impl BlockState {
    /// In drawing order; the discriminant is the position.
    pub const ALL: [Self; 6] =
        [Self::Free, Self::Reserved, Self::Active, Self::Shared, Self::Cached, Self::SourceHold];
}

/// The blocks as cells: one block a cell, or `per_cell` neighbours together when there are too many to draw.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cells {
    /// Blocks in each cell; the last cell may hold fewer.
    pub per_cell: u32,
    /// For each cell six little-endian `u32` counts, in the order of [`BlockState::ALL`].
    #[serde(with = "crate::bytes")]
    pub counts: Vec<u8>,
}

/// Bytes of one cell.
const CELL_BYTES: usize = 4 * BlockState::ALL.len();

impl Cells {
    /// Appends a cell.
    pub fn push(&mut self, totals: Totals) {
        for count in totals.in_order() {
            self.counts.extend_from_slice(&count.to_le_bytes());
        }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.counts.len() / CELL_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// The counts of each cell.
    pub fn iter(&self) -> impl Iterator<Item = Totals> {
        self.counts.chunks_exact(CELL_BYTES).map(|cell| {
            let at = |i: usize| {
                u32::from_le_bytes([cell[4 * i], cell[4 * i + 1], cell[4 * i + 2], cell[4 * i + 3]])
            };
            Totals {
                free: at(0),
                reserved: at(1),
                active: at(2),
                shared: at(3),
                cached: at(4),
                source_hold: at(5),
            }
        })
    }

    /// The counts of one cell.
    pub fn get(&self, cell: usize) -> Option<Totals> {
        self.iter().nth(cell)
    }
}

/// One unfinished request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CensusRow {
    /// Its number.
    pub request: u32,
    /// What it is in.
    pub phase: String,
    /// Who must act next.
    pub owner: String,
    /// What will wake it; `None` when nothing will.
    pub wakeup: Option<String>,
    /// Blocks that it holds.
    pub held_blocks: u32,
    /// Blocks that all its known tokens need.
    pub needed_blocks: u32,
    /// The transfer whose end will wake it.
    pub transfer: Option<f64>,
}

/// One block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotView {
    /// Its tier.
    pub tier: TierName,
    /// Its place.
    pub slot: u32,
    /// Its state.
    pub state: BlockState,
    /// Whether all its tokens are computed.
    pub full: bool,
    /// Its content's hash, 16 hex digits; `None` while it has none.
    pub hash: Option<String>,
    /// The requests that reference it.
    pub owners: Vec<u32>,
    /// The other tiers in which its content is resident too.
    pub also_in: Vec<TierName>,
    /// When its content was last stored, copied or given up; `None` where that is not kept.
    pub last_ns: Option<f64>,
}

/// A fault in the scenario, with its place and mend.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProblemView {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
    /// The key it is about; may be empty.
    pub key: String,
    /// What stands there.
    pub found: String,
    /// What should stand there.
    pub expected: String,
    /// What to do.
    pub mend: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_keep_every_count() {
        let mut cells = Cells { per_cell: 70_000, counts: Vec::new() };
        let totals =
            Totals { free: 1, reserved: 2, active: 65_536, shared: 0, cached: 4_461, source_hold: 7 };
        cells.push(totals);
        cells.push(Totals::default());
        assert_eq!(cells.len(), 2);
        assert_eq!(cells.get(0), Some(totals));
        assert_eq!(cells.get(2), None);
    }

    #[test]
    fn a_state_counts_in_its_own_place() {
        for state in BlockState::ALL {
            let mut totals = Totals::default();
            totals.count(state);
            assert_eq!(totals.of(state), 1);
            assert_eq!(totals.capacity(), 1);
        }
    }
}
