//! A workload from requests that were read, whatever the format.

use tierscope_units::{RequestId, TokenRun};

use super::line::Fault;
use super::mooncake::within_limits;
use super::number::Numbers;
use crate::expand::{RequestPlan, Start, Workload, output_start, text_run};
use crate::limit;

/// One request as a trace has it.
pub(super) struct Asked<'a> {
    pub(super) start: Start,
    /// Further requests that it waits for, in order.
    pub(super) joins: &'a [RequestId],
    pub(super) session: Option<u32>,
    pub(super) input_tokens: u32,
    pub(super) output_tokens: u32,
}

#[derive(Default)]
pub(super) struct Builder {
    pub(super) workload: Workload,
    numbers: Numbers,
}

impl Builder {
    /// For a trace of blocks of `block_tokens`; 0 where it has no hashes.
    pub(super) fn new(block_tokens: u32) -> Self {
        let workload = Workload { content_block_tokens: block_tokens, ..Workload::default() };
        Self { workload, numbers: Numbers::default() }
    }

    /// A request whose prompt is text of its own.
    pub(super) fn push_text(&mut self, asked: &Asked<'_>) -> Result<(), Fault> {
        let (index, first) = (self.workload.requests.len(), self.workload.runs.len());
        within_limits(index, first)?;
        self.workload.push_run(first, text_run(index, asked.input_tokens));
        self.push(first, asked);
        Ok(())
    }

    /// A request whose prompt begins with these blocks behind `root`. Ids beyond its length are not looked at; tokens beyond the ids
    /// are text of its own.
    pub(super) fn push_blocks(
        &mut self,
        asked: &Asked<'_>,
        root: u64,
        ids: impl Iterator<Item = u128>,
    ) -> Result<(), Fault> {
        let block = self.workload.content_block_tokens;
        let first = self.workload.runs.len();
        let blocks = asked.input_tokens.div_ceil(block) as usize;
        within_limits(self.workload.requests.len(), first + blocks)?;
        let (mut parent, mut left) = (root, asked.input_tokens);
        let mut ids = ids.take(blocks);
        while left > 0 {
            let number = match ids.next() {
                Some(id) => self.numbers.of(parent, id),
                None => self.numbers.own(),
            };
            let len = left.min(block);
            self.workload.push_run(first, TokenRun { start: number * u64::from(block), len });
            left -= len;
            parent = number;
        }
        self.push(first, asked);
        Ok(())
    }

    fn push(&mut self, first: usize, asked: &Asked<'_>) {
        let workload = &mut self.workload;
        let index = workload.requests.len();
        let id = RequestId(index as u32);
        workload.joins.extend(asked.joins.iter().map(|&other| (id, other)));
        workload.push_session(index, asked.session);
        workload.requests.push(RequestPlan {
            start: asked.start,
            runs: first as u32..workload.runs.len() as u32,
            prompt_tokens: asked.input_tokens,
            output_tokens: asked.output_tokens,
            output_start: output_start(index),
            salt: 0,
            priority: 0,
            cancel_after: None,
        });
    }
}

/// A number of tokens within its limit.
pub(super) fn tokens(number: u64, at: usize, key: &'static str) -> Result<u32, Fault> {
    if number <= limit::TOKENS_PER_REQUEST {
        return Ok(number as u32);
    }
    let expected = format!("a whole number from 0 to {}", limit::TOKENS_PER_REQUEST);
    Err(Fault::new(at, key, number.to_string(), expected, "correct or remove it: it is too large"))
}

/// A block within its limit, as the file has it and, where that is written, as the scenario has it.
pub(super) fn block(found: u64, written: Option<u32>, at: usize, key: &'static str) -> Result<u32, Fault> {
    if let Some(written) = written
        && u64::from(written) != found
    {
        let expected = format!("{written}, as workload.trace_block_tokens has it");
        let mend = "leave workload.trace_block_tokens out: the file says its block";
        return Err(Fault::new(at, key, found.to_string(), expected, mend));
    }
    if found == 0 || found > limit::BLOCK_TOKENS {
        let expected = format!("a block of 1 to {} tokens", limit::BLOCK_TOKENS);
        return Err(Fault::new(at, key, found.to_string(), expected, "correct the file"));
    }
    Ok(found as u32)
}
