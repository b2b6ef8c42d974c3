//! Mooncake's JSON lines, as published with its traces and spoken by most replay tools, with the fields that Dynamo adds:
//! sessions and delays, requests that wait for others, priorities.
//!
//! Asserted for every row, with its line: the number of ids is that of the blocks (the last may be partial); an id
//! always follows the same id; times do not decrease among the rows that start at them.
//!
//! Mooncake-delta: the rows of a session after its first have only what is new. The prompt is the prompt of the row above in the
//! session, its answer, and that. An id then stands for content alone, so that its parent is not asserted.

use tierscope_units::{RequestId, TokenRun};

use super::id::{Ids, ROOT};
use super::line::{self, Fault, Line, Next};
use super::order::Order;
use super::row::{Reader, Row, item_at};
use super::{DEFAULT_MOONCAKE_BLOCK, TraceFormat, TraceOptions};
use crate::expand::{RequestPlan, Workload, output_start, text_run};
use crate::limit;
use crate::problem::Problem;

/// Reads one file.
pub(super) fn read(
    format: TraceFormat,
    bytes: &[u8],
    options: &TraceOptions,
) -> Result<Workload, Vec<Problem>> {
    read_within(format, bytes, options, limit::TRACE_LINE_BYTES)
}

fn read_within(
    format: TraceFormat,
    bytes: &[u8],
    options: &TraceOptions,
    longest_line: usize,
) -> Result<Workload, Vec<Problem>> {
    let block_tokens = options.block_tokens.unwrap_or(DEFAULT_MOONCAKE_BLOCK).max(1);
    let mut reader = Reader::new(block_tokens);
    let mut building = Building {
        workload: Workload { content_block_tokens: block_tokens, ..Workload::default() },
        ids: Ids::default(),
        order: Order::default(),
        delta: format == TraceFormat::MooncakeDelta,
        joins: Vec::new(),
        block_tokens,
        block_written: options.block_tokens,
    };
    line::each(bytes, longest_line, |line| {
        if building.workload.requests.len() >= options.rows {
            return Ok(Next::Full);
        }
        let row = reader.read(line).map_err(|fault| second_version(line).unwrap_or(fault))?;
        if let Some(block) = row.block_tokens {
            building.take_block(block)?;
        }
        building.take(line, &row, &reader)?;
        Ok(Next::Line)
    })?;
    Ok(building.workload)
}

struct Building<'b> {
    workload: Workload,
    ids: Ids,
    order: Order<'b>,
    delta: bool,
    /// Of the row at hand.
    joins: Vec<RequestId>,
    block_tokens: u32,
    /// As the scenario has it.
    block_written: Option<u32>,
}

impl<'b> Building<'b> {
    /// The block that the file names: in its first row, or the same again.
    fn take_block(&mut self, (at, found): (usize, u32)) -> Result<(), Fault> {
        let first = self.workload.requests.is_empty();
        let known = if first { self.block_written } else { Some(self.block_tokens) };
        if found == 0 || known.is_some_and(|known| known != found) {
            let expected = known.map_or("at least 1".into(), |known| format!("{known}, as given before"));
            let mend = match first {
                true => "leave workload.trace_block_tokens out: the file says its block",
                false => "name the block in the first line, and no other further on",
            };
            return Err(Fault::new(at, "block_size", found.to_string(), expected, mend));
        }
        self.block_tokens = found;
        self.workload.content_block_tokens = found;
        Ok(())
    }

    fn take(&mut self, line: Line<'b>, row: &Row<'b>, reader: &Reader<'b>) -> Result<(), Fault> {
        let index = self.workload.requests.len();
        let before = self.order.before(row).filter(|_| self.delta);
        let inherited = before.map_or(0, |before| self.workload.requests[before.0 as usize].runs.len());
        within_limits(index, self.workload.runs.len() + inherited)?;
        self.order.check_name(row)?;
        let start = self.order.start(row, &reader.wait_for, &mut self.joins)?;
        let first = self.workload.runs.len();
        let prompt_tokens = match self.prompt(line, row, reader, before) {
            Ok(tokens) => tokens,
            Err(fault) => {
                self.workload.runs.truncate(first);
                return Err(fault);
            }
        };
        let id = RequestId(index as u32);
        self.workload.joins.extend(self.joins.iter().map(|&other| (id, other)));
        self.workload.requests.push(RequestPlan {
            start,
            runs: first as u32..self.workload.runs.len() as u32,
            prompt_tokens,
            output_tokens: row.output_tokens,
            output_start: output_start(index),
            salt: 0,
            priority: row.priority,
            cancel_after: None,
        });
        self.order.note(row, &mut self.workload);
        Ok(())
    }

    /// Appends the prompt; its length.
    fn prompt(
        &mut self,
        line: Line<'b>,
        row: &Row<'b>,
        reader: &Reader<'b>,
        before: Option<RequestId>,
    ) -> Result<u32, Fault> {
        let first = self.workload.runs.len();
        let inherited = before.map_or(Ok(0), |before| self.inherit(before, row))?;
        let Some(ids_at) = row.ids_at else {
            let own = text_run(self.workload.requests.len(), row.input_tokens);
            self.workload.push_run(first, own);
            return Ok(inherited + row.input_tokens);
        };
        let ids = &reader.ids;
        let needed = row.input_tokens.div_ceil(self.block_tokens) as usize;
        if ids.len() != needed {
            return Err(wrong_count(row.input_tokens, ids_at, (ids.len(), needed), self.block_tokens));
        }
        let (delta, block_tokens) = (self.delta, self.block_tokens);
        let (mut parent, mut left) = (ROOT, row.input_tokens);
        for (index, &id) in ids.iter().enumerate() {
            if !delta && let Err(earlier) = self.ids.link(id, parent) {
                return Err(two_parents(item_at(line.bytes, ids_at, index), id, parent, earlier));
            }
            let len = left.min(block_tokens);
            let start = self.ids.token(id, block_tokens);
            self.workload.push_run(first, TokenRun { start, len });
            left -= len;
            parent = id;
        }
        Ok(inherited + row.input_tokens)
    }

    /// Repeats the prompt and the answer of `before`; their length.
    fn inherit(&mut self, before: RequestId, row: &Row<'b>) -> Result<u32, Fault> {
        let first = self.workload.runs.len();
        let plan = &self.workload.requests[before.0 as usize];
        let (runs, start) = (plan.runs.clone(), plan.output_start);
        let (prompt, answer) = (plan.prompt_tokens, plan.output_tokens);
        let tokens = u64::from(prompt) + u64::from(answer) + u64::from(row.input_tokens);
        if tokens > limit::TOKENS_PER_REQUEST {
            let found = format!("{tokens} tokens of prompt with those above in the session");
            let expected = format!("at most {} tokens in a prompt", limit::TOKENS_PER_REQUEST);
            return Err(Fault::new(0, "input_length", found, expected, "split the session"));
        }
        for at in runs.start..runs.end {
            let run = self.workload.runs[at as usize];
            self.workload.push_run(first, run);
        }
        self.workload.push_run(first, TokenRun { start, len: answer });
        Ok(prompt + answer)
    }
}

/// The beginning of a file of Dynamo's second version of the agentic format.
fn second_version(line: Line<'_>) -> Option<Fault> {
    const SCHEMA: &[u8] = b"dynamo.agentic_mooncake";
    let at =
        line.bytes.windows(SCHEMA.len()).position(|window| window == SCHEMA).filter(|_| line.number == 1)?;
    let found = "the header of dynamo.agentic_mooncake, whose rows have other fields";
    let mend = "convert the trace that it was made of: weka and dynamo are read as they are";
    Some(Fault::new(at, "schema", found, "rows of Mooncake, with wait_for for what they follow", mend))
}

/// The limits on what one trace may hold.
pub(super) fn within_limits(requests: usize, runs: usize) -> Result<(), Fault> {
    if requests as u64 >= limit::REQUESTS || runs >= limit::RUNS {
        let expected = format!("at most {} requests and {} token runs", limit::REQUESTS, limit::RUNS);
        return Err(Fault::new(0, "", "another request", expected, "set workload.limit, or split the trace"));
    }
    Ok(())
}

fn wrong_count(tokens: u32, ids_at: usize, (found, needed): (usize, usize), block_tokens: u32) -> Fault {
    Fault::new(
        ids_at,
        "hash_ids",
        format!("{found} ids"),
        format!("{needed} ids for input_length {tokens}, one per {block_tokens} tokens begun"),
        "correct the row, or set workload.trace_block_tokens to the trace's block",
    )
}

fn two_parents(at: usize, id: u64, parent: u64, earlier: u64) -> Fault {
    let name = |parent: u64| if parent == ROOT { "no id".to_owned() } else { format!("id {parent}") };
    Fault::new(
        at,
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
        let read_within = |bytes: &[u8], longest| {
            read_within(TraceFormat::Mooncake, bytes, &TraceOptions::default(), longest)
        };
        let row = r#"{"timestamp": 0, "input_length": 1, "output_length": 1, "hash_ids": [0]}"#;
        let long = format!("{row}\n{row}{}", " ".repeat(100));
        let problems = read_within(long.as_bytes(), 100).expect_err("the second line is too long");
        expect_test::expect![[r#"
            error: found a line of more than 100 bytes, expected lines of at most 100 bytes, one request each
              --> scenario:2:1
              mend: put each request on a line of its own (JSON lines, not one array)"#]]
        .assert_eq(&problems[0].to_string());
        assert_eq!(problems.len(), 1);
        assert!(read_within(format!("{row}\r\n{row}").as_bytes(), row.len()).is_ok(), "exactly at the limit");
        assert!(read_within(row.as_bytes(), row.len() - 1).is_err());
        let mut calls = 0;
        let refused = line::each(&[b' '; 1_000], 100, |_| {
            calls += 1;
            Ok(Next::Line)
        });
        assert!(refused.is_err() && calls == 0, "nothing reads the line");
    }
}
