//! A workload as Mooncake's JSON lines, with sessions, delays and requests that wait for others.
//!
//! What is written is read again as the same workload: times and delays to the nanosecond, ids that stand for the same token ids. The
//! first line says its block where that is not Mooncake's 512. Where every request that follows another follows the one before it in its
//! session, a delay says so; else all requests get a `request_id`, and `wait_for` names those whose ends are waited for. A prompt
//! that is text of its own has `hash_ids: null`.

use std::fmt::{self, Write as _};

use tierscope_units::RequestId;

use super::DEFAULT_MOONCAKE_BLOCK;
use super::id::block_id;
use crate::expand::{RequestPlan, Start, Workload, text_run};

/// Why a workload cannot be said in Mooncake's lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unwritable {
    /// A prompt is not made of whole blocks: it holds an answer, as those of Mooncake-delta do, or ids that were written out.
    NotBlocks {
        /// The request.
        request: RequestId,
    },
    /// A request has what a line has no field for: a salt, a client that gives up, or a place in a closed loop.
    NoField {
        /// The request.
        request: RequestId,
    },
}

impl fmt::Display for Unwritable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotBlocks { request } => write!(
                f,
                "found request {request} with a prompt that is not made of whole blocks (it holds an answer), expected \
                 hash ids alone\n  mend: replay the trace as it is"
            ),
            Self::NoField { request } => write!(
                f,
                "found request {request} with a salt, a time-out or a closed loop, expected what a trace has fields \
                 for\n  mend: replay the workload as it is"
            ),
        }
    }
}

impl std::error::Error for Unwritable {}

/// Writes the lines of a workload one after the other.
pub struct Writer<'w> {
    workload: &'w Workload,
    block: u32,
    /// All requests are named, and what they wait for.
    named: bool,
    /// The last request of each session so far.
    latest: Vec<Option<RequestId>>,
}

impl<'w> Writer<'w> {
    /// `block_tokens` is written where the workload has no block of its own, because it has no hashes.
    pub fn new(workload: &'w Workload, block_tokens: u32) -> Self {
        let block = match workload.content_block_tokens {
            0 => block_tokens.max(1),
            block => block,
        };
        let sessions = workload.sessions.iter().flatten().max().map_or(0, |last| *last as usize + 1);
        let mut writer = Self { workload, block, named: false, latest: vec![None; sessions] };
        writer.named = !workload.joins.is_empty() || !writer.follows_sessions();
        writer
    }

    /// Whether every request that follows another follows the one before it in its session.
    fn follows_sessions(&mut self) -> bool {
        let ids = (0..).map(RequestId);
        let mut follows = ids.zip(&self.workload.requests).map(|(id, plan)| {
            let before = self.turn(id);
            !matches!(plan.start, Start::After { request, .. } if before != Some(request))
        });
        let all = follows.all(|follows| follows);
        self.latest.fill(None);
        all
    }

    /// Notes the request as the last of its session; the one before it.
    fn turn(&mut self, id: RequestId) -> Option<RequestId> {
        let session = self.workload.sessions.get(id.0 as usize).copied().flatten()?;
        self.latest[session as usize].replace(id)
    }

    /// Appends the line of a request, with its end. Requests are given in order.
    ///
    /// # Errors
    /// [`Unwritable`]; what was appended then is worth nothing.
    pub fn line(&mut self, id: RequestId, out: &mut String) -> Result<(), Unwritable> {
        let plan = &self.workload.requests[id.0 as usize];
        if plan.salt != 0 || plan.cancel_after.is_some() || matches!(plan.start, Start::WhenFree { .. }) {
            return Err(Unwritable::NoField { request: id });
        }
        self.turn(id);
        out.push('{');
        if id.0 == 0 && self.block != DEFAULT_MOONCAKE_BLOCK {
            field(out, "block_size", self.block);
        }
        if self.named {
            field(out, "request_id", format_args!("\"r{}\"", id.0));
        }
        if let Some(session) = self.workload.sessions.get(id.0 as usize).copied().flatten() {
            field(out, "session_id", format_args!("\"s{session}\""));
        }
        self.start(id, plan, out);
        field(out, "input_length", plan.prompt_tokens);
        field(out, "output_length", plan.output_tokens);
        if plan.priority != 0 {
            field(out, "priority", plan.priority);
        }
        self.ids(id, plan, out)?;
        out.push_str("}\n");
        Ok(())
    }

    fn start(&self, id: RequestId, plan: &RequestPlan, out: &mut String) {
        match plan.start {
            Start::At(at) => field(out, "timestamp", Milliseconds(at.as_ns())),
            Start::After { request, delay } => {
                if self.named {
                    field(out, "wait_for", format_args!("[\"r{}\"", request.0));
                    for other in self.workload.joins_of(id) {
                        let _ = write!(out, ", \"r{}\"", other.0);
                    }
                    out.push(']');
                }
                field(out, "delay", Milliseconds(delay.as_ns()));
            }
            Start::WhenFree { .. } => {}
        }
    }

    fn ids(&self, id: RequestId, plan: &RequestPlan, out: &mut String) -> Result<(), Unwritable> {
        let runs = self.workload.prompt(plan);
        if !runs.is_empty() && *runs == [text_run(id.0 as usize, plan.prompt_tokens)] {
            field(out, "hash_ids", "null");
            return Ok(());
        }
        field(out, "hash_ids", "[");
        let block = u64::from(self.block);
        for (index, run) in runs.iter().enumerate() {
            let last = index + 1 == runs.len();
            let number = block_id(run.start, block);
            let Some(number) = number.filter(|_| last || u64::from(run.len).is_multiple_of(block)) else {
                return Err(Unwritable::NotBlocks { request: id });
            };
            for offset in 0..u64::from(run.len.div_ceil(self.block)) {
                let comma = if index == 0 && offset == 0 { "" } else { ", " };
                let _ = write!(out, "{comma}{}", number + offset);
            }
        }
        out.push(']');
        Ok(())
    }
}

fn field(out: &mut String, name: &str, value: impl fmt::Display) {
    let comma = if out.ends_with('{') { "" } else { ", " };
    let _ = write!(out, "{comma}\"{name}\": {value}");
}

/// Nanoseconds as milliseconds, exactly.
struct Milliseconds(u64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0 / 1_000_000, self.0 % 1_000_000);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let digits = format!("{rest:06}");
        write!(f, "{whole}.{}", digits.trim_end_matches('0'))
    }
}
