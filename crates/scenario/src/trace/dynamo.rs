//! Dynamo's request traces, `dynamo.request.trace.v1`: a line per event, of which the ends of requests count.
//!
//! A request begins at `request_received_ms` (the first at 0) and ended `total_time_ms` later, or when its event was written. Its hashes
//! name a block and everything before it, the last block may be partial. With `agent_context` it belongs to a session, and who
//! waited for whom follows from the times (see [`super::recorded`]): the gaps that were measured are pauses, tools included. Without one
//! it comes at its time. Lines stand in the order of their ends; requests are numbered in that of their beginnings.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::build::{self, Asked, Builder};
use super::line::{self, Fault, Line, Next, quote_bytes};
use super::number::ROOT;
use super::recorded::{Recorded, Sessions, Within};
use super::{TraceFile, TraceOptions, object};
use crate::expand::Workload;
use crate::limit;
use crate::problem::Problem;

/// Value of `schema`.
pub(super) const SCHEMA: &str = "dynamo.request.trace.v1";
const SHAPE: &str = "an event of dynamo.request.trace.v1";

/// An event may be wrapped with the time of its writing.
#[derive(Deserialize)]
struct Wrapper {
    event: Option<Event>,
}

#[derive(Deserialize)]
struct Event {
    schema: String,
    event_type: String,
    event_time_unix_ms: Option<u64>,
    agent_context: Option<Context>,
    request: Option<Request>,
}

#[derive(Deserialize)]
struct Context {
    session_id: String,
    parent_session_id: Option<String>,
}

#[derive(Deserialize)]
struct Request {
    request_received_ms: Option<u64>,
    total_time_ms: Option<f64>,
    output_tokens: Option<u64>,
    replay: Option<Replay>,
}

#[derive(Deserialize)]
struct Replay {
    trace_block_size: u64,
    input_length: u64,
    input_sequence_hashes: Vec<u64>,
}

/// A request before it has its number.
struct Served {
    context: Option<Context>,
    begin_ns: u64,
    end_ns: u64,
    input_tokens: u32,
    output_tokens: u32,
    hashes: Vec<u64>,
}

/// Reads the lines of all files, which are shards of one trace.
pub(super) fn read(files: &[TraceFile<'_>], options: &TraceOptions) -> Result<Workload, Vec<Problem>> {
    let mut reading = Reading { served: Vec::new(), block: options.block_tokens, block_seen: false };
    for file in files {
        let lines =
            line::each(file.bytes, limit::TRACE_LINE_BYTES, |line| reading.take(line).map(|()| Next::Line));
        lines.map_err(|problems| super::within(file, problems))?;
    }
    let Some(block) = reading.block.filter(|_| reading.block_seen) else {
        let found = "no end of a request";
        let fault =
            Fault::new(0, "", found, "at least one request", "record with request tracing switched on");
        return Err(vec![line::of_file(fault)]);
    };
    reading.served.sort_by_key(|served| (served.begin_ns, served.end_ns));
    build(&reading.served, block, options.rows).map_err(|fault| vec![line::of_file(fault)])
}

struct Reading {
    served: Vec<Served>,
    block: Option<u32>,
    block_seen: bool,
}

impl Reading {
    fn take(&mut self, line: Line<'_>) -> Result<(), Fault> {
        line.text()?;
        let event = match object::read::<Wrapper>(line, SHAPE)?.event {
            Some(event) => event,
            None => object::read::<Event>(line, SHAPE)?,
        };
        let at = |key: &str| object::at_key(line.bytes, key);
        if event.schema != SCHEMA {
            let found = quote_bytes(event.schema.as_bytes());
            return Err(Fault::new(
                at("schema"),
                "schema",
                found,
                SCHEMA,
                "convert it with Dynamo's own tools",
            ));
        }
        if event.event_type != "request_end" {
            return Ok(());
        }
        if self.served.len() as u64 >= limit::REQUESTS {
            let expected = format!("at most {} requests", limit::REQUESTS);
            return Err(Fault::new(0, "", "another request", expected, "split the trace"));
        }
        let (request, replay) = parts(event.request)?;
        let written = self.block.filter(|_| !self.block_seen);
        let block =
            build::block(replay.trace_block_size, written, at("trace_block_size"), "trace_block_size")?;
        if self.block_seen && self.block != Some(block) {
            let expected = format!("{}, as in the lines before", self.block.unwrap_or(0));
            let mend = "replay traces of different blocks apart";
            let found = block.to_string();
            return Err(Fault::new(at("trace_block_size"), "trace_block_size", found, expected, mend));
        }
        (self.block, self.block_seen) = (Some(block), true);
        let input_tokens = build::tokens(replay.input_length, at("input_length"), "input_length")?;
        let (found, needed) = (replay.input_sequence_hashes.len(), input_tokens.div_ceil(block) as usize);
        if found != needed {
            let expected = format!("{needed} for input_length {input_tokens}, one per {block} tokens begun");
            let (key, found) = ("input_sequence_hashes", format!("{found} hashes"));
            return Err(Fault::new(at(key), key, found, expected, "correct or remove the row"));
        }
        let (begin_ns, end_ns) = times(&request, event.event_time_unix_ms, line)?;
        let output = request.output_tokens.ok_or_else(|| missing("output_tokens"))?;
        let output_tokens = build::tokens(output, at("output_tokens"), "output_tokens")?;
        let (context, hashes) = (event.agent_context, replay.input_sequence_hashes);
        self.served.push(Served { context, begin_ns, end_ns, input_tokens, output_tokens, hashes });
        Ok(())
    }
}

fn parts(request: Option<Request>) -> Result<(Request, Replay), Fault> {
    let mut request = request.ok_or_else(|| missing("request"))?;
    let replay = request.replay.take().ok_or_else(|| missing("replay"))?;
    Ok((request, replay))
}

fn missing(key: &'static str) -> Fault {
    let mend = "record with request tracing and its replay fields, or remove the row";
    Fault::new(0, key, "no such field", "it in every event request_end", mend)
}

/// Beginning and end since 1970, in nanoseconds.
fn times(request: &Request, written_ms: Option<u64>, line: Line<'_>) -> Result<(u64, u64), Fault> {
    const LATEST_MS: u64 = 1 << 43;
    let received_ms = request.request_received_ms.ok_or_else(|| missing("request_received_ms"))?;
    let total_ms =
        request.total_time_ms.unwrap_or(written_ms.unwrap_or(0).saturating_sub(received_ms) as f64);
    for (key, ms) in [("request_received_ms", received_ms as f64), ("total_time_ms", total_ms)] {
        if !(0.0..=LATEST_MS as f64).contains(&ms) {
            let expected = format!("milliseconds from 0 to {LATEST_MS}");
            let at = object::at_key(line.bytes, key);
            return Err(Fault::new(at, key, ms.to_string(), expected, "correct or remove the row"));
        }
    }
    let begin_ns = received_ms * 1_000_000;
    Ok((begin_ns, begin_ns + libm::round(total_ms * 1e6) as u64))
}

/// Of requests in the order of their beginnings.
fn build(served: &[Served], block: u32, rows: usize) -> Result<Workload, Fault> {
    let mut builder = Builder::new(block);
    let mut sessions = Sessions::new(Within::EndedLast);
    let mut last_ends: BTreeMap<&str, u64> = BTreeMap::new();
    for (context, end_ns) in served.iter().filter_map(|s| Some((s.context.as_ref()?, s.end_ns))) {
        let last = last_ends.entry(&context.session_id).or_default();
        *last = end_ns.max(*last);
    }
    let zero_ns = served.first().map_or(0, |first| first.begin_ns);
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    let mut joins = Vec::new();
    for request in served.iter().take(rows) {
        let begin_ns = request.begin_ns - zero_ns;
        if begin_ns > limit::TIME_NS {
            let found = "a request ten years after the first";
            let mend = "correct or remove the row";
            return Err(Fault::new(0, "request_received_ms", found, "a trace of at most ten years", mend));
        }
        // A request without a session waits for nobody, and nobody for it: a session that is never looked at again.
        let parent = |context: &Context| {
            context.parent_session_id.as_deref().and_then(|parent| numbers.get(parent)).copied()
        };
        let (named, session) = match &request.context {
            None => (None, sessions.open(None, 0)),
            Some(context) => match numbers.get(context.session_id.as_str()) {
                Some(&number) => (Some(number), number),
                None => {
                    let end_ns =
                        last_ends.get(context.session_id.as_str()).map_or(0, |end_ns| end_ns - zero_ns);
                    let number = sessions.open(parent(context), end_ns);
                    numbers.insert(&context.session_id, number);
                    (Some(number), number)
                }
            },
        };
        let recorded = Recorded { session, begin_ns, end_ns: request.end_ns - zero_ns };
        let asked = Asked {
            start: sessions.start(recorded, &mut joins),
            joins: &joins,
            session: named,
            input_tokens: request.input_tokens,
            output_tokens: request.output_tokens,
        };
        builder.push_blocks(&asked, ROOT, request.hashes.iter().map(|&hash| u128::from(hash)))?;
    }
    Ok(builder.workload)
}
