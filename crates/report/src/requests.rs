//! One row per request: when it came, when its tokens appeared, how it ended.
//!
//! Rows lie in a flat array indexed by [`RequestId`]; a fact costs a few stores. Everything said about a
//! request later (latencies, fates, finish order) is read from its row.
//!
//! Deliberately absent: the blocks of a request, and its passes.

use tierscope_engine::{Fact, Loaded, Rejection, Tier};
use tierscope_units::{Idx, RequestId, SimTime};

/// No such time yet.
pub(crate) const NEVER: u64 = u64::MAX;
/// Not admitted, or not completed.
const NO_PLACE: u32 = u32::MAX;
/// Refused requests that are kept with their numbers; all are counted.
const REJECTED_KEPT: usize = 100;

/// How it ended with a request, or how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RequestFate {
    /// It has not arrived.
    #[default]
    Expected,
    /// It arrived and has not ended.
    Unfinished,
    /// All of its output tokens are visible.
    Completed,
    /// It was refused at arrival.
    Rejected,
    /// Its client gave up on it.
    Cancelled,
}

impl RequestFate {
    /// The word for it in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Unfinished => "unfinished",
            Self::Completed => "completed",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
        }
    }
}

/// What expectations may say about one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestSummary {
    /// How it ended.
    pub fate: RequestFate,
    /// Its place in the order of first admissions, from 0; `None` unless admitted.
    pub start_order: Option<u32>,
    /// Its place in the order of completion, from 0; `None` unless completed.
    pub finish_order: Option<u32>,
    /// How often it was preempted.
    pub preemptions: u32,
}

/// What expectations may say about the requests of a run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct FactSummary {
    requests: Vec<RequestSummary>,
}

impl FactSummary {
    /// What is known of `request`; `None` when the run has no such request.
    pub fn request(&self, request: RequestId) -> Option<RequestSummary> {
        self.requests.get(request.index()).copied()
    }

    /// All requests, in order of their numbers.
    pub fn requests(&self) -> &[RequestSummary] {
        &self.requests
    }

    /// Preemptions of all requests together.
    pub fn preemptions(&self) -> u64 {
        self.requests.iter().map(|request| u64::from(request.preemptions)).sum()
    }
}

/// The row of a request; times in nanoseconds since the run began.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) arrived: u64,
    pub(crate) first_token: u64,
    pub(crate) second_token: u64,
    pub(crate) ended: u64,
    pub(crate) prompt_tokens: u32,
    /// Tokens that its first admission found.
    pub(crate) cached_tokens: u32,
    /// Output tokens made by its end.
    pub(crate) output_tokens: u32,
    /// Tokens to compute at the next admission: the prompt and the output made before a preemption.
    need_tokens: u32,
    /// Whether it left a worker unfinished, and whether its newest admission was not its first.
    withdrawn: bool,
    readmitted: bool,
    pub(crate) preemptions: u32,
    start_place: u32,
    finish_place: u32,
    pub(crate) fate: RequestFate,
}

impl Row {
    const EMPTY: Self = Self {
        arrived: NEVER,
        first_token: NEVER,
        second_token: NEVER,
        ended: NEVER,
        prompt_tokens: 0,
        cached_tokens: 0,
        output_tokens: 0,
        need_tokens: 0,
        withdrawn: false,
        readmitted: false,
        preemptions: 0,
        start_place: NO_PLACE,
        finish_place: NO_PLACE,
        fate: RequestFate::Expected,
    };

    /// From arrival to the first token.
    pub(crate) fn ttft_ns(&self) -> Option<u64> {
        span(self.arrived, self.first_token)
    }

    /// From the first token to the second.
    pub(crate) fn ttst_ns(&self) -> Option<u64> {
        span(self.first_token, self.second_token)
    }

    /// From arrival to the last token.
    pub(crate) fn e2e_ns(&self) -> Option<u64> {
        span(self.arrived, self.ended)
    }

    /// (E2E − TTFT) / (output tokens − 1), to the nearest nanosecond; none for a single output token.
    pub(crate) fn itl_ns(&self) -> Option<u64> {
        let gaps = u64::from(self.output_tokens.checked_sub(1)?);
        let decoding = span(self.first_token, self.ended)?;
        (gaps > 0).then(|| decoding / gaps + u64::from(decoding % gaps * 2 >= gaps))
    }
}

fn span(from: u64, to: u64) -> Option<u64> {
    (from != NEVER && to != NEVER).then(|| to.saturating_sub(from))
}

/// Cached tokens found, of tokens asked for, over admissions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Hits {
    pub(crate) cached_tokens: u64,
    pub(crate) asked_tokens: u64,
    /// Of the cached ones, those that came from G2, G3 and G4.
    pub(crate) loaded_tokens: [u64; Tier::COUNT - 1],
}

impl Hits {
    pub(crate) fn add(&mut self, cached: u32, loaded: Loaded, asked: u32) {
        self.cached_tokens += u64::from(cached);
        self.asked_tokens += u64::from(asked);
        let from_below = [loaded.g2_tokens, loaded.g3_tokens, loaded.g4_tokens];
        for (sum, tokens) in self.loaded_tokens.iter_mut().zip(from_below) {
            *sum += u64::from(tokens);
        }
    }
}

/// All rows, and sums over them.
#[derive(Clone, Debug)]
pub(crate) struct Requests {
    rows: Vec<Row>,
    rejected: Vec<(RequestId, Rejection)>,
    completed: u32,
    started: u32,
    pub(crate) first_admission: Hits,
    pub(crate) readmission: Hits,
    first_arrival: u64,
}

impl Requests {
    /// An empty table with room for `expected` requests.
    pub(crate) fn new(expected: u32) -> Self {
        Self {
            rows: vec![Row::EMPTY; expected as usize],
            rejected: Vec::new(),
            started: 0,
            completed: 0,
            first_admission: Hits::default(),
            readmission: Hits::default(),
            first_arrival: NEVER,
        }
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The first refused requests, in order of arrival.
    pub(crate) fn rejected(&self) -> &[(RequestId, Rejection)] {
        &self.rejected
    }

    /// When the first request arrived.
    pub(crate) fn first_arrival_ns(&self) -> Option<u64> {
        (self.first_arrival != NEVER).then_some(self.first_arrival)
    }

    pub(crate) fn arrived(&mut self, at: SimTime, request: RequestId, prompt_tokens: u32) {
        let at = at.as_ns();
        self.first_arrival = self.first_arrival.min(at);
        let row = self.row(request);
        row.arrived = at;
        row.prompt_tokens = prompt_tokens;
        row.need_tokens = prompt_tokens;
        row.fate = RequestFate::Unfinished;
    }

    pub(crate) fn rejected_at(&mut self, at: SimTime, request: RequestId, reason: Rejection) {
        self.end(at, request, RequestFate::Rejected, 0);
        if self.rejected.len() < REJECTED_KEPT {
            self.rejected.push((request, reason));
        }
    }

    pub(crate) fn admitted(
        &mut self,
        request: RequestId,
        cached_tokens: u32,
        loaded: Loaded,
        readmission: bool,
    ) {
        let started = self.started;
        let row = self.row(request);
        let asked = row.need_tokens;
        row.readmitted = readmission;
        if row.start_place == NO_PLACE {
            row.start_place = started;
            row.cached_tokens = cached_tokens;
            self.started += 1;
        }
        let hits = if readmission { &mut self.readmission } else { &mut self.first_admission };
        hits.add(cached_tokens, loaded, asked);
    }

    pub(crate) fn preempted(&mut self, request: RequestId, lost_tokens: u32) {
        let row = self.row(request);
        row.preemptions += 1;
        // A decoding request has computed all its tokens but the newest.
        row.need_tokens = row.need_tokens.max(lost_tokens.saturating_add(1));
    }

    /// Tokens that a request has to have at its next admission, as far as is known.
    pub(crate) fn need_tokens(&self, request: RequestId) -> u32 {
        self.rows.get(request.index()).map_or(0, |row| row.need_tokens)
    }

    /// A request left a worker unfinished: what it made there is prompt from now on. How much that is shows when it
    /// is computed.
    pub(crate) fn withdrawn(&mut self, request: RequestId) {
        self.row(request).withdrawn = true;
    }

    /// A part of a prompt was computed, up to this many of its tokens.
    pub(crate) fn prefilled(&mut self, request: RequestId, until: u32) {
        let row = self.row(request);
        if row.withdrawn && row.readmitted && until > row.need_tokens {
            let more = until - std::mem::replace(&mut row.need_tokens, until);
            self.readmission.asked_tokens += u64::from(more);
        }
    }

    pub(crate) fn first_token(&mut self, at: SimTime, request: RequestId) {
        let row = self.row(request);
        row.first_token = row.first_token.min(at.as_ns());
    }

    pub(crate) fn second_token(&mut self, at: SimTime, request: RequestId) {
        let row = self.row(request);
        row.second_token = row.second_token.min(at.as_ns());
    }

    pub(crate) fn finished(&mut self, at: SimTime, request: RequestId, output_tokens: u32) {
        self.end(at, request, RequestFate::Completed, output_tokens);
        let place = self.completed;
        self.completed += 1;
        self.row(request).finish_place = place;
    }

    pub(crate) fn cancelled(&mut self, at: SimTime, request: RequestId, output_tokens: u32) {
        self.end(at, request, RequestFate::Cancelled, output_tokens);
    }

    /// What expectations may ask for.
    pub(crate) fn summary(&self) -> FactSummary {
        let requests = self.rows.iter().map(|row| RequestSummary {
            fate: row.fate,
            start_order: (row.start_place != NO_PLACE).then_some(row.start_place),
            finish_order: (row.finish_place != NO_PLACE).then_some(row.finish_place),
            preemptions: row.preemptions,
        });
        FactSummary { requests: requests.collect() }
    }

    fn end(&mut self, at: SimTime, request: RequestId, fate: RequestFate, output_tokens: u32) {
        let row = self.row(request);
        row.ended = at.as_ns();
        row.fate = fate;
        row.output_tokens = output_tokens;
    }

    #[inline]
    fn row(&mut self, request: RequestId) -> &mut Row {
        let index = request.index();
        if index >= self.rows.len() {
            self.rows.resize(index + 1, Row::EMPTY);
        }
        &mut self.rows[index]
    }
}

/// Writes a fact about one request's life into the table; others leave it as it is.
pub(crate) fn take(requests: &mut Requests, at: SimTime, fact: &Fact) {
    match *fact {
        Fact::Arrived { request, prompt_tokens, .. } => requests.arrived(at, request, prompt_tokens),
        Fact::Rejected { request, reason } => requests.rejected_at(at, request, reason),
        Fact::Admitted { request, cached_tokens, loaded, readmission } => {
            requests.admitted(request, cached_tokens, loaded, readmission);
        }
        Fact::Preempted { request, lost_tokens, .. } => requests.preempted(request, lost_tokens),
        Fact::Withdrawn { request, .. } => requests.withdrawn(request),
        Fact::FirstToken { request } => requests.first_token(at, request),
        Fact::SecondToken { request } => requests.second_token(at, request),
        Fact::Finished { request, output_tokens } => requests.finished(at, request, output_tokens),
        Fact::Cancelled { request, output_tokens } => requests.cancelled(at, request, output_tokens),
        _ => {}
    }
}
