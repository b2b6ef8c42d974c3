//! A parsed and validated scenario: what is asked, with nothing left to look up but a trace's bytes.

use tierscope_engine::EngineConfig;
use tierscope_units::{RequestId, Span, TokenRun};

use crate::expectation::Expectation;
use crate::fault::FaultSpec;
use crate::fleet::FleetSpec;
use crate::hardware::Hardware;
use crate::interconnect::Links;
use crate::timing::Timing;
use crate::trace::TraceFormat;

/// One experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A line for lists.
    pub title: String,
    /// What it shows; may be empty.
    pub lesson: String,
    /// The seed of every random stream.
    pub seed: u64,
    /// The worker.
    pub engine: EngineConfig,
    /// Share of drafts that the model accepts, each behind accepted ones; without meaning unless the engine
    /// speculates.
    pub draft_acceptance: f64,
    /// Several workers; `None` is one, without a router.
    pub fleet: Option<FleetSpec>,
    /// The links between tiers; without meaning unless the engine has tiers.
    pub links: Links,
    /// What goes wrong on them.
    pub faults: Vec<FaultSpec>,
    /// Bytes of one block of KV: what crosses a link.
    pub kv_bytes_per_block: u64,
    /// Pass durations.
    pub timing: Timing,
    /// Model and GPU.
    pub hardware: Hardware,
    /// What was asked for.
    pub workload: WorkloadSpec,
    /// Limits for goodput.
    pub slo: Option<Slo>,
    /// What the run must show.
    pub expect: Vec<Expectation>,
    /// Every default that matters to the result, in words, for the user.
    pub defaults: Vec<String>,
}

impl Scenario {
    /// The trace file that [`crate::expand()`] needs the bytes of.
    pub fn trace_path(&self) -> Option<&str> {
        match &self.workload {
            WorkloadSpec::Trace(trace) => Some(&trace.file),
            _ => None,
        }
    }
}

/// Latency limits; a request is good when it meets every one that is set.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Slo {
    /// Time to the first token.
    pub ttft: Option<Span>,
    /// Mean time between tokens.
    pub itl: Option<Span>,
    /// Time to the last token.
    pub e2e: Option<Span>,
}

/// Where the requests come from.
#[derive(Clone, Debug, PartialEq)]
pub enum WorkloadSpec {
    /// Drawn from named random streams.
    Synthetic(Synthetic),
    /// Written in the scenario.
    Requests(Vec<InlineRequest>),
    /// Read from a trace.
    Trace(TraceSpec),
}

/// A drawn workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Synthetic {
    /// Sessions; each is one request, or `turns` of them.
    pub requests: u32,
    /// When sessions begin.
    pub arrival: ArrivalProcess,
    /// New prompt tokens of a turn, the shared prefix not counted.
    pub prompt_tokens: Lengths,
    /// Output tokens of a turn.
    pub output_tokens: Lengths,
    /// What prompts begin with.
    pub shared_prefix: Option<SharedPrefix>,
    /// Requests of a session, at least 1.
    pub turns: u32,
    /// From the end of a turn to the start of the next.
    pub turn_delay: Span,
}

/// When sessions begin.
#[derive(Clone, Debug, PartialEq)]
pub enum ArrivalProcess {
    /// Exponential gaps.
    Poisson {
        /// Mean sessions per second.
        rate_per_s: f64,
    },
    /// Equal gaps.
    FixedRate {
        /// Sessions per second.
        rate_per_s: f64,
    },
    /// As soon as fewer than `concurrency` requests are unfinished.
    ClosedLoop {
        /// Most requests in flight.
        concurrency: u32,
        /// Pause before each start.
        think_time: Span,
    },
}

/// A distribution of token counts. Draws are rounded to the nearest count and kept within 1 and
/// [`crate::limit::TOKENS_PER_REQUEST`].
#[derive(Clone, Debug, PartialEq)]
pub enum Lengths {
    /// Always the same.
    Fixed(u32),
    /// Every count from `min` to `max` alike.
    Uniform {
        /// Smallest.
        min: u32,
        /// Largest.
        max: u32,
    },
    /// Normal, cut off below 1.
    Normal {
        /// Mean before the cut.
        mean: f64,
        /// Standard deviation before the cut.
        stddev: f64,
    },
    /// Log-normal with this mean and standard deviation (of the counts, not of their logarithms).
    LogNormal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        stddev: f64,
    },
}

/// Prompts of a session begin with one of `groups` texts of `tokens` tokens, drawn evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedPrefix {
    /// Length of each text.
    pub tokens: u32,
    /// How many texts there are.
    pub groups: u32,
}

/// A request written in the scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct InlineRequest {
    /// When it arrives.
    pub start: InlineStart,
    /// What it asks.
    pub prompt: InlinePrompt,
    /// Tokens of the answer.
    pub output_tokens: u32,
    /// The client gives up this long after the arrival.
    pub cancel_after: Option<Span>,
    /// Requests with different salts share no blocks.
    pub salt: u64,
    /// Its place under the priority policy: lower goes first.
    pub priority: i32,
}

/// When an inline request arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InlineStart {
    /// At a time since the beginning.
    At(Span),
    /// After another one has ended.
    After {
        /// The earlier request.
        request: RequestId,
        /// From its end.
        delay: Span,
    },
}

/// What an inline request asks.
#[derive(Clone, Debug, PartialEq)]
pub enum InlinePrompt {
    /// Text of its own, the first part of which may be a named prefix.
    Tokens {
        /// Length of the whole prompt.
        tokens: u32,
        /// A name shared with other requests, and how many of the tokens it gives.
        prefix: Option<(String, u32)>,
    },
    /// Token ids.
    Runs(Vec<TokenRun>),
}

/// A trace to replay.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceSpec {
    /// Path as written.
    pub file: String,
    /// Format; found from the bytes when absent.
    pub format: Option<TraceFormat>,
    /// Only the first so many requests.
    pub limit: Option<u32>,
    /// Tokens per hash id of the trace, where the scenario says so; else the file's or the format's.
    pub trace_block_tokens: Option<u32>,
    /// Tokens of every answer, of a format that does not tell them; absent, [`crate::trace::ASSUMED_OUTPUT_TOKENS`].
    pub output_tokens: Option<u32>,
    /// From the beginning of a recorded session to that of the next.
    pub session_gap: Span,
    /// Ignore the trace's times: keep this many requests in flight, in order.
    pub concurrency: Option<u32>,
    /// Pause before each start when `concurrency` is given.
    pub think_time: Span,
}
