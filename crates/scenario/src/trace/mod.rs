//! Traces: from bytes to requests.
//!
//! One file a format, each with what it reads and asserts: [`TraceFormat`] lists them, `docs/SCENARIOS.md` has them as a table.
//!
//! Token identity. Hash id h of a Mooncake trace below 2⁴⁰ becomes the token ids from h × block tokens on, so that any engine block that
//! divides the trace's sees the same sharing; larger ids (64-bit hashes) are numbered as they come, from 2⁵⁹ on. The
//! blocks of other formats are numbered as they come, from 0, each with what stands before it; [`write`] writes these numbers as ids, so
//! that a converted trace has the token ids of its original, and with them the same digest of every run.
//!
//! The answers of requests are not in the prompts that follow, as far as a trace's hashes tell: only Mooncake-delta says where
//! they are.
//!
//! Blank lines, CRLF and a byte-order mark are accepted, and gzip everywhere. A row with no prompt or no output is kept: the engine
//! refuses it at arrival and the report names it.
//!
//! Invariants: memory grows only with requests and runs that were read (for each hash id, a bounded number of
//! bytes more); a line that is too long is refused before anything is taken for it; what a packed file holds is bounded.

mod azure;
mod build;
mod burstgpt;
mod clock;
mod cursor;
mod detect;
mod dynamo;
mod gzip;
mod id;
mod line;
mod lmcache;
mod mooncake;
mod number;
mod object;
mod order;
mod qwen;
mod recorded;
mod row;
mod weka;
mod write;

use std::borrow::Cow;

use tierscope_units::Span;

pub use detect::{block_tokens, detect};
pub use gzip::unpacked;
pub use write::{Unwritable, Writer};

use crate::expand::Workload;
use crate::limit;
use crate::problem::Problem;
use line::Fault;

/// Tokens per hash id of a Mooncake trace that says nothing else.
pub(crate) const DEFAULT_MOONCAKE_BLOCK: u32 = 512;

/// The format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// JSON lines with hash ids, and Dynamo's additions: sessions, delays, requests that wait for others.
    Mooncake,
    /// The same, where later rows of a session have only what is new.
    MooncakeDelta,
    /// Coding-agent sessions of kv-cache-tester, one JSON object each.
    Weka,
    /// Events of Dynamo's request tracing, as JSON lines.
    Dynamo,
    /// Alibaba's usage traces, as JSON lines.
    QwenBailian,
    /// LMCache's log of lookups, as JSON lines.
    LmCache,
    /// Times and lengths only.
    AzureCsv,
    /// Times, lengths and sessions only.
    BurstGpt,
}

impl TraceFormat {
    /// All formats, each with its word in scenarios.
    pub const WORDS: [(&'static str, Self); 9] = [
        ("mooncake", Self::Mooncake),
        // Reading is the same: a row with wait_for waits, whatever the file is called.
        ("agentic_mooncake", Self::Mooncake),
        ("mooncake_delta", Self::MooncakeDelta),
        ("weka", Self::Weka),
        ("dynamo", Self::Dynamo),
        ("qwen_bailian", Self::QwenBailian),
        ("lmcache", Self::LmCache),
        ("azure_csv", Self::AzureCsv),
        ("burstgpt", Self::BurstGpt),
    ];

    /// The word in scenarios.
    pub fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, format)| *format == self).map_or("mooncake", |(word, _)| word)
    }

    /// Tokens per hash id where neither the scenario nor the file says; `None` for formats without hashes.
    pub fn block_tokens(self) -> Option<u32> {
        match self {
            Self::Mooncake | Self::MooncakeDelta => Some(DEFAULT_MOONCAKE_BLOCK),
            Self::Weka => Some(64),
            Self::Dynamo | Self::QwenBailian => Some(16),
            Self::LmCache => Some(256),
            Self::AzureCsv | Self::BurstGpt => None,
        }
    }

    /// Whether several files can be read as one trace.
    pub fn takes_several(self) -> bool {
        matches!(self, Self::Weka | Self::Dynamo | Self::LmCache)
    }
}

/// A file, packed or not.
#[derive(Clone, Copy, Debug)]
pub struct TraceFile<'b> {
    /// What problems call it.
    pub name: &'b str,
    /// Its content.
    pub bytes: &'b [u8],
}

/// How to read a trace.
#[derive(Clone, Copy, Debug)]
pub struct TraceOptions {
    /// Only the first so many requests.
    pub rows: usize,
    /// Tokens per hash id; absent, the file's or the format's.
    pub block_tokens: Option<u32>,
    /// Tokens of every answer, of a format that does not tell them.
    pub output_tokens: u32,
    /// From the beginning of a recorded session to that of the next.
    pub session_gap: Span,
}

/// Tokens of an answer whose length a trace does not tell.
pub const ASSUMED_OUTPUT_TOKENS: u32 = 128;

impl Default for TraceOptions {
    fn default() -> Self {
        Self {
            rows: usize::MAX,
            block_tokens: None,
            output_tokens: ASSUMED_OUTPUT_TOKENS,
            session_gap: Span::ZERO,
        }
    }
}

/// The requests of a trace. [`Workload::content_block_tokens`] is the trace's block, 0 for a format without hashes.
///
/// # Errors
/// The faults with their files and lines, at most [`limit::PROBLEMS`].
pub fn read(
    format: TraceFormat,
    files: &[TraceFile<'_>],
    options: &TraceOptions,
) -> Result<Workload, Vec<Problem>> {
    let unpacked = files
        .iter()
        .map(|file| gzip::unpack(file.bytes, limit::TRACE_BYTES).map_err(|problems| within(file, problems)));
    let unpacked: Vec<Cow<'_, [u8]>> = unpacked.collect::<Result<_, _>>()?;
    let files: Vec<TraceFile<'_>> =
        files.iter().zip(&unpacked).map(|(file, bytes)| TraceFile { name: file.name, bytes }).collect();
    let [first, others @ ..] = files.as_slice() else { return Ok(Workload::default()) };
    if let (Some(second), false) = (others.first(), format.takes_several()) {
        return Err(within(second, vec![alone(format)]));
    }
    let read = match format {
        TraceFormat::Mooncake | TraceFormat::MooncakeDelta => mooncake::read(format, first.bytes, options),
        TraceFormat::AzureCsv => azure::read(first.bytes, options.rows),
        TraceFormat::BurstGpt => burstgpt::read(first, options),
        TraceFormat::QwenBailian => {
            let block = options.block_tokens.or(format.block_tokens()).unwrap_or(1);
            qwen::read(first, block.max(1), options)
        }
        TraceFormat::Weka => weka::read(&files, options),
        TraceFormat::Dynamo => dynamo::read(&files, options),
        TraceFormat::LmCache => lmcache::read(&files, options),
    };
    read.map_err(|problems| within(first, problems))
}

/// Problems with the file that they are in.
fn within(file: &TraceFile<'_>, mut problems: Vec<Problem>) -> Vec<Problem> {
    problems.iter_mut().for_each(|problem| {
        problem.file.get_or_insert_with(|| file.name.to_owned());
    });
    problems
}

fn alone(format: TraceFormat) -> Problem {
    let found = format!("a second file of format {}", format.word());
    let mend = "read one file at a time; files of weka, dynamo and lmcache can be joined";
    let expected = "one file, for its ids and times mean nothing in another";
    line::of_file(Fault::new(0, "", found, expected, mend))
}
