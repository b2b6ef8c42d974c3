//! Coding-agent sessions as recorded for kv-cache-tester: one JSON object per session, the requests of subagents within it.
//!
//! `t` (seconds from the session's beginning) and `api_time` (seconds) say when a request began and ended; from them follows who waited
//! for whom (see [`super::recorded`]). The times of a subagent count from its own `t`, or, in the newer recordings, from the session's
//! beginning: whichever its first request shows. Ids name full blocks of `block_size` tokens, and mean the same within one session only;
//! what stands behind the last of them is text of its own.
//!
//! Sessions are independent: each begins `session_gap` after the beginning of the one before it.

use serde::Deserialize;
use tierscope_units::{RequestId, SimTime, Span};

use super::build::{self, Asked, Builder};
use super::line::Fault;
use super::number::ROOT;
use super::recorded::{Recorded, Sessions, Within};
use super::{TraceFile, TraceOptions, object};
use crate::expand::{Start, Workload};
use crate::limit;
use crate::problem::Problem;

const SHAPE: &str =
    "a session: {\"block_size\": 64, \"requests\": [{\"type\": \"n\", \"t\": …, \"in\": …}, …]}";

#[derive(Deserialize)]
struct Recording {
    block_size: u64,
    #[serde(default)]
    hash_id_scope: Option<Scope>,
    requests: Vec<Entry>,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Scope {
    Local,
    Global,
}

#[derive(Clone, Copy, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum Kind {
    /// Answered at once, or as a stream.
    #[serde(alias = "s")]
    N,
    Subagent,
}

/// A request, or a subagent with its requests.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: Kind,
    t: f64,
    api_time: Option<f64>,
    #[serde(rename = "in")]
    input: Option<u64>,
    out: Option<u64>,
    hash_ids: Option<Vec<u64>>,
    requests: Option<Vec<Entry>>,
}

/// Reads the sessions of all files.
pub(super) fn read(files: &[TraceFile<'_>], options: &TraceOptions) -> Result<Workload, Vec<Problem>> {
    let mut reading = Reading {
        builder: Builder::default(),
        sessions: Sessions::new(Within::TheOneBefore),
        joins: Vec::new(),
        rows: options.rows,
        root: ROOT,
        offset_ns: 0,
        previous: None,
        block_written: options.block_tokens,
    };
    for file in files {
        let bytes = file.bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file.bytes);
        let read = object::each(bytes, SHAPE, |recording: Recording, at| {
            reading.take(&recording, &bytes[at..])?;
            reading.offset_ns = reading.offset_ns.saturating_add(options.session_gap.as_ns());
            Ok(reading.builder.workload.requests.len() < options.rows)
        });
        read.map_err(|(at, fault)| {
            let problem = object::problem(bytes, at, fault);
            vec![Problem { file: Some(file.name.to_owned()), ..problem }]
        })?;
    }
    if reading.builder.workload.requests.is_empty() && options.rows > 0 {
        let (found, mend) = ("no request in any session", "choose a trace that is not empty");
        return Err(vec![object::problem(&[], 0, Fault::new(0, "", found, "at least one request", mend))]);
    }
    Ok(reading.builder.workload)
}

struct Reading {
    builder: Builder,
    sessions: Sessions,
    joins: Vec<RequestId>,
    rows: usize,
    /// What the ids at hand stand behind.
    root: u64,
    /// The beginning of the recording at hand.
    offset_ns: u64,
    /// End and number of the last request of the recording at hand.
    previous: Option<(u64, RequestId)>,
    block_written: Option<u32>,
}

/// Where the requests of a list belong.
#[derive(Clone, Copy)]
struct Place {
    session: u32,
    /// What their times count from, in nanoseconds.
    zero_ns: u64,
}

impl Reading {
    fn take(&mut self, recording: &Recording, text: &[u8]) -> Result<(), Fault> {
        let known = self.builder.workload.content_block_tokens;
        let written = if known == 0 { self.block_written } else { Some(known) };
        let at = object::at_key(text, "block_size");
        let block = build::block(recording.block_size, written, at, "block_size")?;
        self.builder.workload.content_block_tokens = block;
        self.root = match recording.hash_id_scope {
            Some(Scope::Global) => ROOT,
            Some(Scope::Local) | None => ROOT - 1 - self.builder.workload.requests.len() as u64,
        };
        if self.offset_ns > limit::TIME_NS {
            let expected = "all sessions within ten years";
            return Err(Fault::new(
                0,
                "",
                "a session after ten years",
                expected,
                "lower the gap of sessions",
            ));
        }
        self.previous = None;
        let session = self.sessions.open(None, last_end(&recording.requests, 0)?);
        self.list(&recording.requests, Place { session, zero_ns: 0 })
    }

    fn list(&mut self, entries: &[Entry], place: Place) -> Result<(), Fault> {
        let mut latest = 0;
        for entry in entries {
            if self.builder.workload.requests.len() >= self.rows {
                return Ok(());
            }
            let t_ns = time(entry, place.zero_ns)?;
            if t_ns < latest {
                let found = format!("t = {} after a later one", entry.t);
                return Err(Fault::new(
                    0,
                    "t",
                    found,
                    "times that do not decrease",
                    "sort the requests by t",
                ));
            }
            latest = t_ns;
            match entry.kind {
                Kind::N => self.request(entry, place.session, t_ns)?,
                Kind::Subagent => {
                    let inner = entry.requests.as_deref().ok_or_else(|| missing(entry, "requests"))?;
                    let zero_ns = zero_of(inner, t_ns, place)?;
                    let session = self.sessions.open(Some(place.session), last_end(inner, zero_ns)?);
                    self.list(inner, Place { session, zero_ns })?;
                }
            }
        }
        Ok(())
    }

    fn request(&mut self, entry: &Entry, session: u32, t_ns: u64) -> Result<(), Fault> {
        let input = entry.input.ok_or_else(|| missing(entry, "in"))?;
        let output = entry.out.ok_or_else(|| missing(entry, "out"))?;
        let ids = entry.hash_ids.as_deref().ok_or_else(|| missing(entry, "hash_ids"))?;
        let block = u64::from(self.builder.workload.content_block_tokens);
        let (full, begun) = (input / block, input.div_ceil(block));
        if !(full..=begun).contains(&(ids.len() as u64)) {
            let found = format!("{} ids for in = {input} at t = {}", ids.len(), entry.t);
            let expected = format!("{full} ids, one per full block of {block} tokens");
            return Err(Fault::new(0, "hash_ids", found, expected, "correct the session"));
        }
        let input_tokens = build::tokens(input, 0, "in")?;
        let output_tokens = build::tokens(output, 0, "out")?;
        let end_ns = t_ns + nanoseconds(entry.api_time.unwrap_or(0.0), "api_time")?;
        let id = RequestId(self.builder.workload.requests.len() as u32);
        let start = self.sessions.start(Recorded { session, begin_ns: t_ns, end_ns }, &mut self.joins);
        let start = match (start, self.previous) {
            (Start::At(_), None) => Start::At(SimTime::from_ns(self.offset_ns)),
            // Nobody that it followed is recorded: then what stands before it in the recording.
            (Start::At(_), Some((end_ns, request))) => {
                Start::After { request, delay: Span::from_ns(t_ns.saturating_sub(end_ns)) }
            }
            (after, _) => after,
        };
        self.previous = Some((end_ns, id));
        let asked = Asked { start, joins: &self.joins, session: Some(session), input_tokens, output_tokens };
        self.builder.push_blocks(&asked, self.root, ids.iter().map(|&id| u128::from(id)))
    }
}

fn missing(entry: &Entry, key: &'static str) -> Fault {
    let found = format!("none at t = {}", entry.t);
    Fault::new(0, key, found, "it in every such entry", "correct the session, or remove the entry")
}

/// The beginning of an entry.
fn time(entry: &Entry, zero_ns: u64) -> Result<u64, Fault> {
    let t_ns = zero_ns.saturating_add(nanoseconds(entry.t, "t")?);
    if t_ns <= limit::TIME_NS { Ok(t_ns) } else { Err(no_time(entry.t, "t")) }
}

/// What the times of a subagent that begins at `t_ns` count from.
fn zero_of(inner: &[Entry], t_ns: u64, around: Place) -> Result<u64, Fault> {
    let Some(first) = inner.first() else { return Ok(t_ns) };
    Ok(if time(first, around.zero_ns)? >= t_ns { around.zero_ns } else { t_ns })
}

/// When the last of these requests ended, subagents' requests aside.
fn last_end(entries: &[Entry], zero_ns: u64) -> Result<u64, Fault> {
    let mut ends = entries.iter().filter(|entry| entry.kind == Kind::N).map(|entry| {
        let api_ns = nanoseconds(entry.api_time.unwrap_or(0.0), "api_time")?;
        Ok(time(entry, zero_ns)?.saturating_add(api_ns))
    });
    ends.try_fold(0, |last, end| Ok(last.max(end?)))
}

fn nanoseconds(seconds: f64, key: &'static str) -> Result<u64, Fault> {
    if !(0.0..=limit::TIME_MS / 1e3).contains(&seconds) {
        return Err(no_time(seconds, key));
    }
    Ok(libm::round(seconds * 1e9) as u64)
}

fn no_time(seconds: f64, key: &'static str) -> Fault {
    let expected = format!("seconds from 0 to {:.0} (ten years)", limit::TIME_MS / 1e3);
    Fault::new(0, key, seconds.to_string(), expected, "correct or remove the entry")
}
