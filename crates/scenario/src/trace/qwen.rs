//! Qwen-Bailian's usage traces: JSON lines with `chat_id`, `parent_chat_id`, `timestamp` in seconds, `input_length`,
//! `output_length`, `turn` and `hash_ids` of 16 tokens each.
//!
//! Requests come at their times; the first at 0. A chat whose parent stands above is of the parent's session. The
//! traces' own notes say that the last block's hash may not match that of the same text further on, and that special tokens are
//! stripped: neither one parent per id nor an exact count of ids is asserted, only one that is near. Tokens beyond the ids are text of its own,
//! ids beyond the tokens are not looked at.

use std::collections::BTreeMap;

use serde::Deserialize;
use tierscope_units::SimTime;

use super::build::{self, Asked, Builder};
use super::clock::Clock;
use super::line::{self, Fault, Line, Next};
use super::number::ROOT;
use super::{TraceFile, TraceOptions, object};
use crate::expand::{Start, Workload};
use crate::limit;
use crate::problem::Problem;

const SHAPE: &str = "a row with chat_id, parent_chat_id, timestamp, input_length, output_length and hash_ids";

#[derive(Deserialize)]
struct Row {
    chat_id: i64,
    #[serde(default)]
    parent_chat_id: Option<i64>,
    timestamp: f64,
    input_length: u64,
    output_length: u64,
    hash_ids: Vec<u64>,
}

/// Reads one file.
pub(super) fn read(
    file: &TraceFile<'_>,
    block_tokens: u32,
    options: &TraceOptions,
) -> Result<Workload, Vec<Problem>> {
    let mut builder = Builder::new(block_tokens);
    let mut sessions: BTreeMap<i64, u32> = BTreeMap::new();
    let (mut clock, mut count) = (Clock::default(), 0);
    line::each(file.bytes, limit::TRACE_LINE_BYTES, |line| {
        if builder.workload.requests.len() >= options.rows {
            return Ok(Next::Full);
        }
        line.text()?;
        let row: Row = object::read(line, SHAPE)?;
        let at = |key: &str| object::at_key(line.bytes, key);
        let at_ns = clock.seconds(row.timestamp, at("timestamp"), "timestamp")?;
        let input_tokens = build::tokens(row.input_length, at("input_length"), "input_length")?;
        let output_tokens = build::tokens(row.output_length, at("output_length"), "output_length")?;
        check_count(line, row.hash_ids.len(), input_tokens, block_tokens)?;
        let above = row.parent_chat_id.and_then(|parent| sessions.get(&parent)).copied();
        let session = above.unwrap_or(count);
        let asked = Asked {
            start: Start::At(SimTime::from_ns(at_ns)),
            joins: &[],
            session: Some(session),
            input_tokens,
            output_tokens,
        };
        builder.push_blocks(&asked, ROOT, row.hash_ids.iter().map(|&id| u128::from(id)))?;
        count += u32::from(above.is_none());
        sessions.insert(row.chat_id, session);
        Ok(Next::Line)
    })?;
    Ok(builder.workload)
}

/// A count that is off by more than a quarter says that the block is another one.
fn check_count(line: Line<'_>, ids: usize, input_tokens: u32, block_tokens: u32) -> Result<(), Fault> {
    const ALWAYS_NEAR: usize = 4;
    let blocks = input_tokens.div_ceil(block_tokens) as usize;
    if ids.abs_diff(blocks) <= (blocks / 4).max(ALWAYS_NEAR) {
        return Ok(());
    }
    let expected = format!("about {blocks}, one per {block_tokens} tokens of input_length {input_tokens}");
    let mend = "correct the row, or set workload.trace_block_tokens to the trace's block";
    Err(Fault::new(object::at_key(line.bytes, "hash_ids"), "hash_ids", format!("{ids} ids"), expected, mend))
}
