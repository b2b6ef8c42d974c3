//! LMCache's log of lookups (`--lookup-hash-log-dir`): JSON lines with `timestamp` in seconds, `request_id`, `chunk_size`, `seq_len`
//! and `chunk_hashes` in hexadecimal, one per full chunk and of everything before it.
//!
//! A lookup is a request of `seq_len` prompt tokens; what stands behind the last full chunk is text of its own. A request that is looked
//! up again is not a second request. The log does not tell lengths of answers: all are taken to be the same
//! ([`TraceOptions::output_tokens`]). Lines of several files are put in the order of their times; the first comes at 0.

use std::collections::BTreeSet;

use serde::Deserialize;
use tierscope_units::SimTime;

use super::build::{self, Asked, Builder};
use super::clock::{Clock, since_epoch};
use super::line::{self, Fault, Line, Next, quote_bytes};
use super::number::ROOT;
use super::{TraceFile, TraceOptions, object};
use crate::expand::{Start, Workload};
use crate::limit;
use crate::problem::Problem;

const SHAPE: &str = "a lookup with timestamp, request_id, chunk_size, seq_len and chunk_hashes";

#[derive(Deserialize)]
struct Row {
    timestamp: f64,
    request_id: Option<String>,
    chunk_size: u64,
    seq_len: u64,
    chunk_hashes: Vec<String>,
}

struct Lookup {
    at_ns: u64,
    tokens: u32,
    hashes: Vec<u128>,
}

/// Reads the lines of all files.
pub(super) fn read(files: &[TraceFile<'_>], options: &TraceOptions) -> Result<Workload, Vec<Problem>> {
    let mut reading = Reading {
        lookups: Vec::new(),
        known: BTreeSet::new(),
        block: options.block_tokens,
        block_seen: false,
    };
    for file in files {
        let lines =
            line::each(file.bytes, limit::TRACE_LINE_BYTES, |line| reading.take(line).map(|()| Next::Line));
        lines.map_err(|problems| super::within(file, problems))?;
    }
    reading.lookups.sort_by_key(|lookup| lookup.at_ns);
    let block = reading.block.unwrap_or(1);
    build(&reading.lookups, block, options).map_err(|fault| vec![line::of_file(fault)])
}

struct Reading {
    lookups: Vec<Lookup>,
    known: BTreeSet<String>,
    block: Option<u32>,
    block_seen: bool,
}

impl Reading {
    fn take(&mut self, line: Line<'_>) -> Result<(), Fault> {
        line.text()?;
        let row: Row = object::read(line, SHAPE)?;
        let at = |key: &str| object::at_key(line.bytes, key);
        let written = self.block.filter(|_| !self.block_seen);
        let block = build::block(row.chunk_size, written, at("chunk_size"), "chunk_size")?;
        if self.block_seen && self.block != Some(block) {
            let expected = format!("{}, as in the lines before", self.block.unwrap_or(0));
            let mend = "replay logs of different chunk sizes apart";
            return Err(Fault::new(at("chunk_size"), "chunk_size", block.to_string(), expected, mend));
        }
        (self.block, self.block_seen) = (Some(block), true);
        let tokens = build::tokens(row.seq_len, at("seq_len"), "seq_len")?;
        let (found, full) = (row.chunk_hashes.len(), (tokens / block) as usize);
        if found != full {
            let expected = format!("{full} for seq_len {tokens}, one per full chunk of {block} tokens");
            let found = format!("{found} hashes");
            let mend = "correct or remove the line";
            return Err(Fault::new(at("chunk_hashes"), "chunk_hashes", found, expected, mend));
        }
        let hash = |text: &String| {
            hash(text).ok_or_else(|| {
                let expected = "a number in hexadecimal, such as 0x1fa0";
                let found = quote_bytes(text.as_bytes());
                Fault::new(at("chunk_hashes"), "chunk_hashes", found, expected, "correct or remove the line")
            })
        };
        let hashes = row.chunk_hashes.iter().map(hash).collect::<Result<_, _>>()?;
        let at_ns = since_epoch(row.timestamp, at("timestamp"), "timestamp")?;
        let again = row.request_id.is_some_and(|id| !self.known.insert(id));
        if again {
            return Ok(());
        }
        if self.lookups.len() as u64 >= limit::REQUESTS {
            let expected = format!("at most {} requests", limit::REQUESTS);
            return Err(Fault::new(0, "", "another request", expected, "split the log"));
        }
        self.lookups.push(Lookup { at_ns, tokens, hashes });
        Ok(())
    }
}

/// The last 128 bits of a hash: the longer ones are of functions whose every bit is as good as any other.
fn hash(text: &str) -> Option<u128> {
    const DIGITS: usize = 32;
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let hexadecimal = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let last = digits.get(digits.len().saturating_sub(DIGITS)..).filter(|_| hexadecimal)?;
    u128::from_str_radix(last, 16).ok()
}

fn build(lookups: &[Lookup], block: u32, options: &TraceOptions) -> Result<Workload, Fault> {
    let mut builder = Builder::new(block);
    let mut clock = Clock::default();
    for lookup in lookups.iter().take(options.rows) {
        let asked = Asked {
            start: Start::At(SimTime::from_ns(clock.nanoseconds(lookup.at_ns, 0, "timestamp")?)),
            joins: &[],
            session: None,
            input_tokens: lookup.tokens,
            output_tokens: options.output_tokens,
        };
        builder.push_blocks(&asked, ROOT, lookup.hashes.iter().copied())?;
    }
    Ok(builder.workload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_hexadecimal_and_may_be_long() {
        assert_eq!(hash("0xAb"), Some(0xab));
        assert_eq!(hash("ff"), Some(255));
        assert_eq!(hash(&format!("0x1{}7", "0".repeat(40))), Some(7));
        for bad in ["", "0x", "xyz", "-1", "+f", "0x0x1", "é"] {
            assert_eq!(hash(bad), None, "{bad}");
        }
    }
}
