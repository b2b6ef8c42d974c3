//! Mooncake's JSON lines, as published with its traces and spoken by most replay tools.
//!
//! Asserted for every row, with its line: the number of ids is that of the blocks (the last may be partial); an id
//! always follows the same id; times do not decrease.

use tierscope_units::{SimTime, TokenRun};

use super::id::{Ids, ROOT};
use super::line::{self, Fault, Line, Next};
use super::row::{Reader, Row, item_at};
use crate::expand::{RequestPlan, Start, Workload, output_start};
use crate::limit;
use crate::problem::Problem;

/// Reads at most `rows` requests of blocks of `block_tokens` tokens.
///
/// # Errors
/// The faults of the lines, at most [`limit::PROBLEMS`].
pub fn read(bytes: &[u8], block_tokens: u32, rows: usize) -> Result<Workload, Vec<Problem>> {
    read_within(bytes, block_tokens, rows, limit::TRACE_LINE_BYTES)
}

pub(super) fn read_within(
    bytes: &[u8],
    block_tokens: u32,
    rows: usize,
    longest_line: usize,
) -> Result<Workload, Vec<Problem>> {
    let block_tokens = block_tokens.max(1);
    let most_ids = limit::TOKENS_PER_REQUEST.div_ceil(u64::from(block_tokens)) as usize;
    let mut reader = Reader::new(most_ids);
    let mut building = Building {
        workload: Workload { content_block_tokens: block_tokens, ..Workload::default() },
        ids: Ids::default(),
        block_tokens,
        latest_ns: 0,
    };
    line::each(bytes, longest_line, |line| {
        if building.workload.requests.len() >= rows {
            return Ok(Next::Full);
        }
        let row = reader.read(line)?;
        building.take(line, row, &reader.ids)?;
        Ok(Next::Line)
    })?;
    Ok(building.workload)
}

struct Building {
    workload: Workload,
    ids: Ids,
    block_tokens: u32,
    latest_ns: u64,
}

impl Building {
    fn take(&mut self, line: Line<'_>, row: Row, ids: &[u64]) -> Result<(), Fault> {
        let index = self.workload.requests.len();
        within_limits(index, self.workload.runs.len())?;
        if row.at_ns < self.latest_ns {
            return Err(unsorted(row, self.latest_ns));
        }
        self.latest_ns = row.at_ns;
        let first = self.workload.runs.len();
        if let Err(fault) = self.prompt(line, row, ids) {
            self.workload.runs.truncate(first);
            return Err(fault);
        }
        self.workload.requests.push(RequestPlan {
            start: Start::At(SimTime::from_ns(row.at_ns)),
            runs: first as u32..self.workload.runs.len() as u32,
            prompt_tokens: row.input_tokens,
            output_tokens: row.output_tokens,
            output_start: output_start(index),
            salt: 0,
            priority: 0,
            cancel_after: None,
        });
        Ok(())
    }

    fn prompt(&mut self, line: Line<'_>, row: Row, ids: &[u64]) -> Result<(), Fault> {
        let needed = row.input_tokens.div_ceil(self.block_tokens) as usize;
        if ids.len() != needed {
            return Err(wrong_count(row, ids.len(), needed, self.block_tokens));
        }
        let first = self.workload.runs.len();
        let (mut parent, mut left) = (ROOT, row.input_tokens);
        for (index, &id) in ids.iter().enumerate() {
            if let Err(earlier) = self.ids.link(id, parent) {
                return Err(two_parents(line, row, index, id, parent, earlier));
            }
            let len = left.min(self.block_tokens);
            let start = self.ids.token(id, self.block_tokens);
            self.workload.push_run(first, TokenRun { start, len });
            left -= len;
            parent = id;
        }
        Ok(())
    }
}

/// The limits on what one trace may hold.
pub(super) fn within_limits(requests: usize, runs: usize) -> Result<(), Fault> {
    if requests as u64 >= limit::REQUESTS || runs >= limit::RUNS {
        let expected = format!("at most {} requests and {} token runs", limit::REQUESTS, limit::RUNS);
        return Err(Fault::new(0, "", "another request", expected, "set workload.limit, or split the trace"));
    }
    Ok(())
}

fn unsorted(row: Row, latest_ns: u64) -> Fault {
    let ms = |ns: u64| ns as f64 / 1e6;
    Fault::new(
        row.timestamp_at,
        "timestamp",
        format!("{} ms", ms(row.at_ns)),
        format!("{} ms or later, as in the line before", ms(latest_ns)),
        "sort the trace by timestamp",
    )
}

fn wrong_count(row: Row, found: usize, needed: usize, block_tokens: u32) -> Fault {
    let tokens = row.input_tokens;
    Fault::new(
        row.ids_at,
        "hash_ids",
        format!("{found} ids"),
        format!("{needed} ids for input_length {tokens}, one per {block_tokens} tokens begun"),
        "correct the row, or set workload.trace_block_tokens to the trace's block",
    )
}

fn two_parents(line: Line<'_>, row: Row, index: usize, id: u64, parent: u64, earlier: u64) -> Fault {
    let name = |parent: u64| if parent == ROOT { "no id".to_owned() } else { format!("id {parent}") };
    Fault::new(
        item_at(line.bytes, row.ids_at, index),
        "hash_ids",
        format!("id {id} after {}", name(parent)),
        format!("it after {}, as in an earlier row: equal ids mean equal prefixes", name(earlier)),
        "number blocks by their whole prefix, not by their own content; do not join traces with ids of their own",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The limit itself is 16 MiB; a line that never ends is refused after that many bytes are looked at.
    #[test]
    fn a_line_beyond_the_limit_is_refused_with_its_number_and_takes_no_memory() {
        let row = r#"{"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [0]}"#;
        let long = format!("{row}\n{row}{}", " ".repeat(100));
        let problems =
            read_within(long.as_bytes(), 512, usize::MAX, 100).expect_err("the second line is too long");
        expect_test::expect![[r#"
            error: found a line of more than 100 bytes, expected lines of at most 100 bytes, one request each
              --> scenario:2:1
              mend: put each request on a line of its own (JSON lines, not one array)"#]]
        .assert_eq(&problems[0].to_string());
        assert_eq!(problems.len(), 1);
        assert!(
            read_within(format!("{row}\r\n{row}").as_bytes(), 512, usize::MAX, row.len()).is_ok(),
            "exactly at the limit"
        );
        assert!(read_within(row.as_bytes(), 512, usize::MAX, row.len() - 1).is_err());
        let mut calls = 0;
        let refused = line::each(&[b' '; 1_000], 100, |_| {
            calls += 1;
            Ok(Next::Line)
        });
        assert!(refused.is_err() && calls == 0, "nothing reads the line");
    }
}
