//! From a scenario to the requests themselves.
//!
//! Token identity. A prompt is a list of runs of token ids, and equal ids are equal content, so every distinct
//! content has a range of its own:
//!
//! | content | ids |
//! |---|---|
//! | token ids written in the scenario | below 2⁶⁰ |
//! | block h of a hashed trace | h × block tokens, below 2⁶⁰ (see [`crate::trace`]) |
//! | shared prefix g | 2⁶⁰ + g × 2³² … |
//! | own text of request r | 2⁶¹ + r × 2³² … |
//! | output of request r | 2⁶² + r × 2³² … |
//!
//! Invariants of a [`Workload`]: requests are numbered in order; times of [`Start::At`] do not decrease;
//! [`Start::After`] names a lower number; runs lie within `runs`, are not empty, and their lengths sum to
//! `prompt_tokens`. Runs may be shared: the turns of a session are prefixes of one list. [`Workload::joins`] is sorted
//! and without repetition, names lower numbers too, and only of requests with [`Start::After`].

mod inline;
mod synthetic;

use std::ops::Range;

use tierscope_units::{RequestId, SimTime, Span, TokenRun};

use crate::problem::Problem;
use crate::scenario::{Scenario, TraceSpec, WorkloadSpec};
use crate::trace::{self, TraceFile, TraceFormat, TraceOptions};

/// Everything the simulator needs to know about the requests.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Workload {
    /// The requests, numbered by position.
    pub requests: Vec<RequestPlan>,
    /// The runs of all prompts.
    pub runs: Vec<TokenRun>,
    /// Most unfinished requests among those that start [`Start::WhenFree`].
    pub concurrency: Option<u32>,
    /// Granularity of the infinite-cache figure: the trace's block where it has hashes, else the engine's.
    pub content_block_tokens: u32,
    /// Further ends that a request with [`Start::After`] waits for: (who waits, for whom). Its delay counts from the last
    /// end of all. Few requests have some: those that wait for several subagents.
    pub joins: Vec<(RequestId, RequestId)>,
    /// The session of each request, numbered as they come. Empty where nothing names a session.
    pub sessions: Vec<Option<u32>>,
}

impl Workload {
    /// Whether both have the same requests. The granularity of the infinite cache is no part of them.
    pub fn has_same_requests(&self, other: &Self) -> bool {
        self.requests == other.requests && self.runs == other.runs && self.concurrency == other.concurrency
    }

    /// The prompt of a request.
    pub fn prompt(&self, plan: &RequestPlan) -> &[TokenRun] {
        &self.runs[plan.runs.start as usize..plan.runs.end as usize]
    }

    /// Further requests that `request` waits for, besides that of its [`Start::After`].
    pub fn joins_of(&self, request: RequestId) -> impl Iterator<Item = RequestId> {
        let first = self.joins.partition_point(|&(waiting, _)| waiting < request);
        self.joins[first..]
            .iter()
            .take_while(move |&&(waiting, _)| waiting == request)
            .map(|&(_, ended)| ended)
    }

    /// The session of request `index`, the newest; nothing is kept while no request has one.
    pub(crate) fn push_session(&mut self, index: usize, session: Option<u32>) {
        if session.is_some() || !self.sessions.is_empty() {
            self.sessions.resize(index, None);
            self.sessions.push(session);
        }
    }

    /// Appends a run, which joins the last one of the prompt that began at `from` when it continues it.
    pub(crate) fn push_run(&mut self, from: usize, run: TokenRun) {
        if run.len == 0 {
            return;
        }
        match self.runs[from..].last_mut() {
            Some(last) if last.start + u64::from(last.len) == run.start => last.len += run.len,
            _ => self.runs.push(run),
        }
    }
}

/// One request to come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPlan {
    /// When it arrives.
    pub start: Start,
    /// Its prompt, within [`Workload::runs`].
    pub runs: Range<u32>,
    /// Tokens of the prompt. Zero only in a trace that says so: the engine refuses it at arrival.
    pub prompt_tokens: u32,
    /// Tokens of the answer. Zero only in a trace that says so: the engine refuses it at arrival.
    pub output_tokens: u32,
    /// Token id of the first output token.
    pub output_start: u64,
    /// Requests with different salts share no blocks.
    pub salt: u64,
    /// Its place under the priority policy: lower goes first.
    pub priority: i32,
    /// The client gives up this long after the arrival.
    pub cancel_after: Option<Span>,
}

/// When a request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// At this time.
    At(SimTime),
    /// This long after the end of an earlier request, however it ended.
    After {
        /// The earlier request.
        request: RequestId,
        /// From its end.
        delay: Span,
    },
    /// In order, `delay` after fewer than `concurrency` requests are unfinished.
    WhenFree {
        /// Think time.
        delay: Span,
    },
}

const PREFIX_IDS: u64 = 1 << 60;
const TEXT_IDS: u64 = 1 << 61;
const OUTPUT_IDS: u64 = 1 << 62;

/// Token ids of shared prefix `group`.
pub(crate) fn prefix_run(group: u64, len: u32) -> TokenRun {
    TokenRun { start: PREFIX_IDS + (group << 32), len }
}

/// Token ids of a request's own text.
pub(crate) fn text_run(request: usize, len: u32) -> TokenRun {
    TokenRun { start: TEXT_IDS + ((request as u64) << 32), len }
}

/// Token id of the first output token of a request.
pub(crate) fn output_start(request: usize) -> u64 {
    OUTPUT_IDS + ((request as u64) << 32)
}

/// Makes the requests of a scenario. `trace` is the content of [`Scenario::trace_path`].
///
/// # Errors
/// Faults of the trace with their lines (at most a hundred), and sizes beyond [`crate::limit`].
pub fn expand(scenario: &Scenario, trace: Option<&[u8]>) -> Result<Workload, Vec<Problem>> {
    match &scenario.workload {
        WorkloadSpec::Synthetic(synthetic) => synthetic::expand(synthetic, scenario),
        WorkloadSpec::Requests(list) => Ok(inline::expand(list, scenario)),
        WorkloadSpec::Trace(spec) => match trace {
            Some(bytes) => replay(spec, scenario.engine.block_size_tokens, bytes),
            None => Err(vec![spec_problem(
                "workload.file",
                "no bytes of the trace",
                "the content of the file",
                "give the file to the command with --trace; the page replays no trace files yet",
            )]),
        },
    }
}

/// A problem of the scenario that shows only now; its line is that of the text's beginning.
pub(crate) fn spec_problem(
    key: &str,
    found: impl Into<String>,
    expected: impl Into<String>,
    mend: impl Into<String>,
) -> Problem {
    let (found, expected, mend) = (found.into(), expected.into(), mend.into());
    Problem { file: None, line: 1, column: 1, key: key.into(), found, expected, mend }
}

fn replay(spec: &TraceSpec, block_size_tokens: u32, bytes: &[u8]) -> Result<Workload, Vec<Problem>> {
    let Some(format) = spec.format.or_else(|| trace::detect(bytes, &spec.file)) else {
        let mut problem = spec_problem(
            "workload.format",
            "a file of no known format",
            "a trace of a format that Tierscope reads",
            format!(
                "name it: format = {}",
                crate::problem::either(&TraceFormat::WORDS.map(|(word, _)| word))
            ),
        );
        problem.file = Some(spec.file.clone());
        return Err(vec![problem]);
    };
    let options = TraceOptions {
        rows: spec.limit.map_or(usize::MAX, |rows| rows as usize),
        block_tokens: spec.trace_block_tokens,
        output_tokens: spec.output_tokens.unwrap_or(trace::ASSUMED_OUTPUT_TOKENS),
        session_gap: spec.session_gap,
    };
    let mut workload = trace::read(format, &[TraceFile { name: &spec.file, bytes }], &options)?;
    match workload.content_block_tokens {
        0 => workload.content_block_tokens = block_size_tokens,
        block if block_size_tokens == 0 || !block.is_multiple_of(block_size_tokens) => {
            let (expected, mend) = crate::decode::workload::divisors(block);
            let found = block_size_tokens.to_string();
            return Err(vec![spec_problem("engine.block_size_tokens", found, expected, mend)]);
        }
        _ => {}
    }
    if let Some(concurrency) = spec.concurrency {
        workload.concurrency = Some(concurrency);
        workload.joins.clear();
        workload.requests.iter_mut().for_each(|plan| plan.start = Start::WhenFree { delay: spec.think_time });
    }
    Ok(workload)
}
