//! Live requests: a slab of reused entries, so that nothing is allocated per token or per request in the
//! steady state.

use std::collections::BTreeMap;

use tierscope_units::{Idx, PassId, RequestId, SequenceHash, SlotId, TokenRun};

use crate::input::{Arrival, Entry, Leg, Rank};
use crate::lower::{Dependency, LoadState};

/// Where a request is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits for its first admission.
    Waiting,
    /// Holds blocks, into which content is loaded or has been, and waits for admission.
    Loading,
    /// In the running batch.
    Running,
    /// Gave its blocks back and waits for readmission.
    Preempted,
}

/// Where the context of a request is that was computed elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub(crate) enum Context {
    /// Nowhere else: it is computed here, or found below.
    #[default]
    Own,
    /// Elsewhere; slots are still to be reserved for it.
    Elsewhere,
    /// On its way into slots that are reserved.
    OnItsWay,
    /// Here; the request has not run yet.
    Here,
}

/// Index of a live request in the slab.
pub(crate) type Live = u32;
/// The id of an entry that nobody uses. No request has it: the last number is refused at arrival.
pub(crate) const NOBODY: RequestId = RequestId(u32::MAX);

#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) id: RequestId,
    pub(crate) phase: Phase,
    /// Prompt tokens, and prompt and output tokens known so far.
    pub(crate) prompt_tokens: u32,
    pub(crate) tokens: u32,
    /// Tokens whose KV is computed, or will be when the passes under way end; drafts included until they are
    /// verified.
    pub(crate) computed: u32,
    /// Draft tokens waiting to be verified.
    pub(crate) drafts: u32,
    /// Output tokens that passes under way will bring (asynchronous scheduling).
    pub(crate) placeholders: u32,
    /// Tokens scheduled in passes under way.
    pub(crate) in_flight: u32,
    /// Of those, tokens scheduled before a preemption: their output still counts, unless dropped.
    pub(crate) stale: u32,
    pub(crate) drop_stale: bool,
    /// Whether its newest row left known tokens uncomputed.
    pub(crate) prefill_chunk: bool,
    /// Whether an admission scan has passed it over.
    pub(crate) deferred: bool,
    pub(crate) rank: Rank,
    /// The transfer that it waits for (rule T8).
    pub(crate) dependency: Option<Dependency>,
    /// It waits for a copy for somebody else, and those behind it go on.
    pub(crate) skipped_for_load: bool,
    /// Whether it has been preempted: its next admission is a readmission.
    pub(crate) was_preempted: bool,
    /// A load within a pass failed for it: it computes what lies below from now on (rule L5).
    pub(crate) computes_all: bool,
    /// By block of its load, the tier that it comes from.
    pub(crate) load_tiers: Vec<u8>,
    /// What it loads from below.
    pub(crate) load: LoadState,
    /// The first pass that it may be part of: it may have been here before, and rows of that time are void.
    pub(crate) first_pass: PassId,
    pub(crate) leg: Leg,
    pub(crate) context: Context,
    /// Output tokens that it had elsewhere; they are the end of its prompt.
    pub(crate) produced: u32,
    /// The number of known tokens at which the request is done.
    pub(crate) tokens_max: u32,
    /// Prompt tokens and most output tokens: what the scheduler knows of the end beforehand.
    pub(crate) limit_tokens: u32,
    /// Tokens of room in the owned blocks.
    pub(crate) room: u32,
    /// The number of computed tokens at which the next block is full and unregistered.
    pub(crate) next_full: u32,
    /// Most tokens ever computed: what lies below is recomputed after a preemption.
    pub(crate) high_water: u32,
    pub(crate) blocks: Vec<SlotId>,
    pub(crate) content: Content,
}

impl Request {
    /// Output tokens so far, here and elsewhere.
    pub(crate) fn output_tokens(&self) -> u32 {
        self.produced + self.output_here()
    }

    /// Output tokens that this worker made.
    pub(crate) fn output_here(&self) -> u32 {
        self.tokens - self.prompt_tokens
    }
}

/// The token identities of a request, and the hashes of its full blocks as far as they were needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content {
    runs: Vec<TokenRun>,
    output_start: u64,
    /// The output token that is the end-of-sequence token, by its place in the output.
    end_of_sequence: u32,
    root: SequenceHash,
    hashes: Vec<SequenceHash>,
    /// Place of the first token that is not hashed yet: a run, and an offset in it. Behind the last run
    /// lies the output.
    run: usize,
    offset: u32,
}

impl Content {
    fn reset(&mut self, arrival: &Arrival<'_>) {
        self.begin(arrival.prompt, SequenceHash::root(arrival.salt));
        self.output_start = arrival.output_start;
    }

    /// The content of a prompt alone.
    pub(crate) fn begin(&mut self, prompt: &[TokenRun], root: SequenceHash) {
        self.runs.clear();
        self.runs.extend_from_slice(prompt);
        self.output_start = 0;
        self.end_of_sequence = NO_END;
        self.root = root;
        self.hashes.clear();
        self.run = 0;
        self.offset = 0;
    }

    /// The hashes of the first `blocks` blocks. The tokens must be known that far, and one more when the
    /// identity covers the token behind a block.
    pub(crate) fn hashes(&mut self, blocks: usize, identity: Identity) -> &[SequenceHash] {
        while self.hashes.len() < blocks {
            let parent = self.parent_of(self.hashes.len());
            let hash = parent.then(Pieces { content: self, left: identity.block_size_tokens });
            let hash = match identity.covers_next_token {
                true => hash.then([BOUNDARY, self.next_token()]),
                false => hash,
            };
            self.hashes.push(hash);
        }
        &self.hashes[..blocks]
    }

    /// The answer ended by itself: this output token is the end-of-sequence token.
    pub(crate) fn end_at(&mut self, output: u32) {
        self.end_of_sequence = output;
    }

    /// The token behind the last hashed block.
    fn next_token(&self) -> TokenRun {
        match self.runs.get(self.run) {
            Some(run) => TokenRun { start: run.start.wrapping_add(u64::from(self.offset)), len: 1 },
            None => self.output(self.offset, 1),
        }
    }

    /// The output tokens from `first`, up to `most` of them or to the next of another kind.
    fn output(&self, first: u32, most: u32) -> TokenRun {
        match self.end_of_sequence.checked_sub(first) {
            Some(0) => END_OF_SEQUENCE,
            Some(before) => {
                let start = self.output_start.wrapping_add(u64::from(first));
                TokenRun { start, len: most.min(before) }
            }
            None => TokenRun { start: self.output_start.wrapping_add(u64::from(first)), len: most },
        }
    }

    /// The hash that block `index` continues.
    pub(crate) fn parent_of(&self, index: usize) -> SequenceHash {
        match index {
            0 => self.root,
            _ => self.hashes[index - 1],
        }
    }
}

/// What a block's identity covers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Identity {
    pub(crate) block_size_tokens: u32,
    pub(crate) covers_next_token: bool,
}

/// No end-of-sequence token so far.
const NO_END: u32 = u32::MAX;
/// The end-of-sequence token, the same for all requests.
const END_OF_SEQUENCE: TokenRun = TokenRun { start: u64::MAX - 1, len: 1 };
/// Keeps the next token's id apart from the block's own runs.
const BOUNDARY: TokenRun = TokenRun { start: u64::MAX, len: 0 };

/// The runs of the next block; advances the content's cursor.
struct Pieces<'a> {
    content: &'a mut Content,
    left: u32,
}

impl Iterator for Pieces<'_> {
    type Item = TokenRun;

    fn next(&mut self) -> Option<TokenRun> {
        if self.left == 0 {
            return None;
        }
        let Content { runs, run, offset, .. } = &mut *self.content;
        let piece = match runs.get(*run) {
            Some(whole) => {
                let len = (whole.len - *offset).min(self.left);
                let piece = TokenRun { start: whole.start.wrapping_add(u64::from(*offset)), len };
                *offset += len;
                if *offset == whole.len {
                    *run += 1;
                    *offset = 0;
                }
                piece
            }
            None => {
                let piece = self.content.output(self.content.offset, self.left);
                self.content.offset += piece.len;
                piece
            }
        };
        self.left -= piece.len;
        Some(piece)
    }
}

/// All live requests.
#[derive(Clone, Debug, Default)]
pub(crate) struct Requests {
    entries: Vec<Request>,
    vacant: Vec<Live>,
    /// The entries of live requests: one worker of many sees few of all numbers.
    live: BTreeMap<RequestId, Live>,
    /// Who has arrived: a bit for each number.
    arrived: Vec<u64>,
}

impl Requests {
    /// Whether a request of this id has ever arrived.
    pub(crate) fn has_arrived(&self, id: RequestId) -> bool {
        let word = self.arrived.get(id.index() / 64).copied().unwrap_or(0);
        word >> (id.index() % 64) & 1 == 1
    }

    pub(crate) fn mark_arrived(&mut self, id: RequestId) {
        let word = id.index() / 64;
        if self.arrived.len() <= word {
            self.arrived.resize(word + 1, 0);
        }
        self.arrived[word] |= 1 << (id.index() % 64);
    }

    pub(crate) fn find(&self, id: RequestId) -> Option<Live> {
        self.live.get(&id).copied()
    }

    pub(crate) fn get(&self, live: Live) -> &Request {
        &self.entries[live as usize]
    }

    pub(crate) fn get_mut(&mut self, live: Live) -> &mut Request {
        &mut self.entries[live as usize]
    }

    /// The ids of all live requests, in order.
    pub(crate) fn ids(&self) -> impl Iterator<Item = RequestId> {
        self.live.keys().copied()
    }

    /// All entries in use, those of doomed requests among them, which have no number any more.
    pub(crate) fn lives(&self) -> impl Iterator<Item = Live> {
        (0..).zip(&self.entries).filter(|(_, entry)| entry.id != NOBODY).map(|(live, _)| live)
    }

    /// A request is given up, and its entry stays until what is written into its slots has ended: nobody finds it by
    /// its number, and one of the same number may come back.
    pub(crate) fn disown(&mut self, live: Live) {
        let id = self.entries[live as usize].id;
        if self.find(id) == Some(live) {
            self.live.remove(&id);
        }
    }

    pub(crate) fn live_count(&self) -> usize {
        self.entries.len() - self.vacant.len()
    }

    /// Roughly the memory of all entries, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.entries.len() * size_of::<Request>() + self.arrived.len() * 8
    }

    pub(crate) fn insert(
        &mut self,
        arrival: &Arrival<'_>,
        prompt_tokens: u32,
        tokens_max: u32,
        block: u32,
    ) -> Live {
        let at = self.vacant.pop().unwrap_or_else(|| {
            self.entries.push(Request::vacant());
            self.entries.len() as Live - 1
        });
        let r = &mut self.entries[at as usize];
        r.id = arrival.request;
        r.phase = Phase::Waiting;
        r.prompt_tokens = prompt_tokens;
        r.tokens = prompt_tokens;
        r.computed = 0;
        r.drafts = 0;
        r.placeholders = 0;
        r.in_flight = 0;
        r.stale = 0;
        r.drop_stale = false;
        r.prefill_chunk = false;
        r.deferred = false;
        r.rank = arrival.rank;
        r.dependency = None;
        r.skipped_for_load = false;
        r.was_preempted = false;
        r.computes_all = false;
        r.load_tiers.clear();
        r.load = LoadState::default();
        r.leg = arrival.leg;
        r.context = if arrival.leg == Leg::Decode { Context::Elsewhere } else { Context::Own };
        r.produced = 0;
        if let Entry::Moved { produced_tokens } = arrival.entry {
            r.produced = produced_tokens;
            r.was_preempted = true;
        }
        r.tokens_max = tokens_max;
        r.limit_tokens = prompt_tokens.saturating_add(arrival.output_tokens);
        r.room = 0;
        r.next_full = block;
        r.high_water = 0;
        r.content.reset(arrival);
        self.live.insert(arrival.request, at);
        at
    }

    /// Ends a request that owns nothing any more.
    pub(crate) fn remove(&mut self, live: Live) {
        let r = &mut self.entries[live as usize];
        assert!(r.blocks.is_empty(), "{:?} ends and still holds blocks", r.id);
        let id = std::mem::replace(&mut r.id, NOBODY);
        if self.find(id) == Some(live) {
            self.live.remove(&id);
        }
        self.vacant.push(live);
    }
}

impl Request {
    fn vacant() -> Self {
        Self {
            id: NOBODY,
            phase: Phase::Waiting,
            prompt_tokens: 0,
            tokens: 0,
            computed: 0,
            drafts: 0,
            placeholders: 0,
            in_flight: 0,
            stale: 0,
            drop_stale: false,
            prefill_chunk: false,
            deferred: false,
            rank: Rank::default(),
            dependency: None,
            skipped_for_load: false,
            was_preempted: false,
            computes_all: false,
            load_tiers: Vec::new(),
            load: LoadState::default(),
            first_pass: PassId(0),
            leg: Leg::Whole,
            context: Context::Own,
            produced: 0,
            tokens_max: 0,
            limit_tokens: 0,
            room: 0,
            next_full: 0,
            high_water: 0,
            blocks: Vec::new(),
            content: Content::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Identity = Identity { block_size_tokens: 4, covers_next_token: false };

    fn content(runs: &[(u64, u32)], output_start: u64) -> Content {
        let prompt: Vec<TokenRun> = runs.iter().map(|&(start, len)| TokenRun { start, len }).collect();
        let arrival = Arrival {
            request: RequestId(0),
            prompt: &prompt,
            output_start,
            output_tokens: 1,
            salt: 0,
            rank: Rank::default(),
            leg: Leg::Whole,
            entry: Entry::New,
        };
        let mut content = Content::default();
        content.reset(&arrival);
        content
    }

    /// A follow-up prompt that repeats a conversation finds the blocks that the output filled.
    #[test]
    fn output_blocks_hash_as_the_prompt_that_repeats_them() {
        let mut first = content(&[(0, 6)], 100);
        let mut next = content(&[(0, 6), (100, 6), (500, 3)], 900);
        assert_eq!(first.hashes(3, PLAIN), next.hashes(3, PLAIN));
    }

    #[test]
    fn hashes_do_not_depend_on_how_far_was_asked_at_once() {
        let mut stepwise = content(&[(0, 3), (50, 9)], 100);
        let mut at_once = stepwise.clone();
        for blocks in 0..=5 {
            stepwise.hashes(blocks, PLAIN);
        }
        assert_eq!(stepwise.hashes(5, PLAIN), at_once.hashes(5, PLAIN));
    }
}
