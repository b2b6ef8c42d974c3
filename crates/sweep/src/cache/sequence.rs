//! Prompts as sequences of numbered blocks. Equal numbers are equal prefixes.

use tierscope_scenario::{RequestPlan, Workload};
use tierscope_units::{SequenceHash, TokenRun};

/// Which blocks requests want and leave behind, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    /// All blocks of all requests, one after the other, numbered from 0.
    pub(super) blocks: Vec<u32>,
    pub(super) requests: Vec<Part>,
    /// How many different blocks there are.
    pub(super) distinct: u32,
}

/// One request's blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub(super) first: usize,
    /// A hit of one of the first so many counts.
    pub(super) counted: u32,
    /// All that it leaves behind: its prompt, and of its output what somebody wants later.
    pub(super) inserted: u32,
}

/// The blocks of a workload by their hashes.
pub(super) struct Blocks {
    hashes: Vec<u64>,
    requests: Vec<Cut>,
    /// The hashes of prompts, sorted, each once.
    known: Vec<u64>,
    block_tokens: u32,
}

/// Where a request's blocks lie.
struct Cut {
    first: usize,
    prompt_tokens: u32,
    /// Blocks of the prompt, a partial one included.
    prompt: u32,
    /// Full blocks of the prompt.
    full: u32,
    /// Full blocks that have output in them; they follow those of the prompt.
    output: u32,
}

impl Blocks {
    pub(super) fn of(workload: &Workload, block_tokens: u32) -> Self {
        let mut blocks = Self { hashes: Vec::new(), requests: Vec::new(), known: Vec::new(), block_tokens };
        for plan in &workload.requests {
            blocks.cut(plan, workload.prompt(plan));
        }
        for cut in &blocks.requests {
            blocks.known.extend_from_slice(&blocks.hashes[cut.first..cut.first + cut.prompt as usize]);
        }
        blocks.known.sort_unstable();
        blocks.known.dedup();
        blocks
    }

    fn cut(&mut self, plan: &RequestPlan, prompt: &[TokenRun]) {
        let first = self.hashes.len();
        let mut cutter = Cutter::new(plan.salt, self.block_tokens);
        for &run in prompt {
            cutter.take(run, &mut self.hashes);
        }
        let full = self.hashes.len() - first;
        self.hashes.extend(cutter.partial());
        let whole = self.hashes.len() - first;
        // Nobody computes the last output token.
        let kept = plan.output_tokens.saturating_sub(1);
        cutter.take(TokenRun { start: plan.output_start, len: kept }, &mut self.hashes);
        let output = self.hashes.len() - first - whole;
        self.requests.push(Cut {
            first,
            prompt_tokens: plan.prompt_tokens,
            prompt: whole as u32,
            full: full as u32,
            output: output as u32,
        });
    }

    pub(super) fn references(&self) -> u64 {
        self.requests.iter().map(|cut| u64::from(cut.prompt)).sum()
    }

    pub(super) fn distinct_in_prompts(&self) -> u64 {
        self.known.len() as u64
    }

    /// Every block of every prompt.
    pub(super) fn every(&self) -> Sequence {
        self.sequence(|cut| (cut.prompt, cut.prompt))
    }

    /// Full blocks; the block with a prompt's last token does not count.
    pub(super) fn full(&self) -> Sequence {
        self.sequence(|cut| (cut.full, cut.prompt_tokens.saturating_sub(1) / self.block_tokens))
    }

    fn sequence(&self, of: impl Fn(&Cut) -> (u32, u32)) -> Sequence {
        let mut sequence = Sequence { distinct: self.known.len() as u32, ..Sequence::default() };
        for cut in &self.requests {
            let (prompt, counted) = of(cut);
            let first = sequence.blocks.len();
            let hashes = &self.hashes[cut.first..cut.first + prompt as usize];
            sequence.blocks.extend(hashes.iter().filter_map(|&hash| self.number(hash)));
            let output = cut.first + cut.prompt as usize;
            let output = &self.hashes[output..output + cut.output as usize];
            // A chain: where one is not repeated, none behind it is.
            sequence.blocks.extend(output.iter().map_while(|&hash| self.number(hash)));
            let inserted = (sequence.blocks.len() - first) as u32;
            sequence.requests.push(Part { first, counted: counted.min(prompt), inserted });
        }
        sequence
    }

    fn number(&self, hash: u64) -> Option<u32> {
        self.known.binary_search(&hash).ok().map(|at| at as u32)
    }
}

/// Cuts runs of tokens into blocks.
struct Cutter {
    parent: SequenceHash,
    open: Vec<TokenRun>,
    /// Tokens of `open`.
    filled: u32,
    block: u32,
}

impl Cutter {
    fn new(salt: u64, block: u32) -> Self {
        Self { parent: SequenceHash::root(salt), open: Vec::new(), filled: 0, block }
    }

    fn take(&mut self, mut run: TokenRun, hashes: &mut Vec<u64>) {
        while run.len > 0 {
            let len = run.len.min(self.block - self.filled);
            self.open.push(TokenRun { start: run.start, len });
            self.filled += len;
            run = TokenRun { start: run.start.wrapping_add(u64::from(len)), len: run.len - len };
            if self.filled == self.block {
                self.parent = self.parent.then(self.open.drain(..));
                self.filled = 0;
                hashes.push(self.parent.0);
            }
        }
    }

    /// The block that is not full, if there is one. One run counts as the whole block that it begins.
    fn partial(&self) -> Option<u64> {
        let whole = |run: &TokenRun| TokenRun { start: run.start, len: self.block };
        match self.open.as_slice() {
            [] => None,
            [run] => Some(self.parent.then([whole(run)]).0),
            runs => Some(self.parent.then(runs.iter().copied()).0),
        }
    }
}
