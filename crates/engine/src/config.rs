//! What the machine is told once: sizes, limits and policies. Names follow vLLM's engine arguments.

use crate::lower::config::TiersConfig;

/// One worker's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineConfig {
    /// Tokens per block.
    pub block_size_tokens: u32,
    /// Usable blocks of G1 (vLLM's `num_gpu_blocks` less its null block).
    pub g1_blocks: u32,
    /// Most requests running at once.
    pub max_num_seqs: u32,
    /// Fewer than `max_num_seqs`, when admission shall stop earlier.
    pub max_num_active_seqs: Option<u32>,
    /// Most tokens in the batch of one pass, draft slots included.
    pub max_num_batched_tokens: u32,
    /// Fewer than `max_num_batched_tokens`, when the scheduler shall hand out fewer.
    pub max_num_scheduled_tokens: Option<u32>,
    /// Longest sequence, prompt and output together, in tokens.
    pub max_model_len: u32,
    /// Whether full blocks are kept and matched by content.
    pub prefix_caching: bool,
    /// Which cached block is given up first.
    pub eviction: EvictionPolicy,
    /// Whether a prompt may be computed in several passes.
    pub chunked_prefill: bool,
    /// Most tokens of one row in one pass while other requests exist; 0 is no limit.
    pub long_prefill_token_threshold: u32,
    /// Whether that threshold rises to an equal share of the batch.
    pub long_prefill_token_threshold_adaptive: bool,
    /// Passes from one that carries prefill to the next that may; 1 is every pass.
    pub prefill_schedule_interval: u32,
    /// What must fit before a waiting request is admitted.
    pub admission: Admission,
    /// Who goes first.
    pub policy: SchedulingPolicy,
    /// Who is preempted when a running request finds no room.
    pub victim: Victim,
    /// Whether a refused admission keeps what it could get.
    pub acquisition: Acquisition,
    /// When the content of a preempted request's blocks is forgotten.
    pub hash_deletion: HashDeletion,
    /// Whether a pass is scheduled before the output of the one under way is known.
    pub async_scheduling: bool,
    /// Draft tokens that are verified in the next pass.
    pub speculation: Option<Speculation>,
    /// What lies below G1; `None` is nothing: evicted content is lost at once.
    pub tiers: Option<TiersConfig>,
    /// Whether faults of the scheduler that is modelled are mended or reproduced.
    pub fidelity: Fidelity,
    /// Share of G1 that admission leaves free while others run, 0 to 1.
    pub watermark: f64,
}

/// The order in which cached blocks are given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvictionPolicy {
    /// Least recently used, in vLLM's free-queue order.
    Lru,
    /// Leaves before parents, then least recently used.
    Lineage,
    /// Least often used (TinyLFU's sketch), then least recently used.
    TinyLfu,
}

/// The admission gate (rule P1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The blocks of the whole prompt (vLLM's `scheduler_reserve_full_isl`, its default).
    FullPrompt,
    /// Only the blocks of the next chunk.
    NextChunk,
}

/// The order of the line, and the choice of victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchedulingPolicy {
    /// First come, first served; the request admitted last is preempted first.
    Fcfs,
    /// The lowest priority number first, then the earliest arrival; the last in that order is preempted first.
    Priority,
}

/// Who is preempted for want of capacity (rule P1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// As vLLM does: under FCFS the request admitted last, under priority the last in that order.
    ByPolicy,
    /// The one with the fewest computed tokens: the least to compute again.
    LeastComputed,
    /// Nobody: who finds no room waits with all that it holds. Two such requests stop each other for ever;
    /// kept to show that.
    Nobody,
}

/// What a refused admission leaves behind (rule T1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acquisition {
    /// Nothing: all or nothing.
    AllOrNothing,
    /// The blocks that it could get, held while it waits for the others. The fault that the transactions
    /// mend; kept to show it.
    Partial,
}

/// When the content of a preempted request's blocks is forgotten (rule P1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HashDeletion {
    /// When a slot is taken for something else, as vLLM does: the request finds its own blocks again.
    OnReuse,
    /// When the request is preempted: it computes everything again.
    OnEviction,
}

/// Speculative decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speculation {
    /// How drafts are made, as far as it matters to blocks.
    pub method: DraftMethod,
    /// Draft tokens per verification.
    pub tokens: u32,
}

/// How drafts are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DraftMethod {
    /// From the text itself: no slots ahead.
    Ngram,
    /// By a draft model: slots for all drafts ahead, and one more input token per row.
    DraftModel,
    /// By EAGLE heads: slots ahead; a block's identity covers the token behind it.
    Eagle,
    /// As EAGLE was before: slots ahead; the last matched block is computed again.
    EagleDrop,
}

/// What to do where vLLM's own behaviour is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Mend it: a request that can never fit is refused at arrival (rule S4), and blocks that were registered
    /// for a row that lost its place in the same pass are not matchable (rule T5).
    Mended,
    /// Reproduce it: such a request waits for ever, and everybody behind it; such blocks are hit although
    /// nobody computed them.
    Exact,
}

impl EngineConfig {
    /// Draft tokens per verification; 0 without speculation.
    pub(crate) fn draft_tokens(&self) -> u32 {
        self.speculation.map_or(0, |speculation| speculation.tokens)
    }

    /// Most tokens that a pass can compute for one request.
    pub(crate) fn tokens_per_pass(&self) -> u32 {
        let handed_out = self.max_num_scheduled_tokens.unwrap_or(self.max_num_batched_tokens);
        handed_out.min(self.max_num_batched_tokens.saturating_sub(self.draft_slots()))
    }

    fn draft_method(&self) -> Option<DraftMethod> {
        self.speculation.map(|speculation| speculation.method)
    }

    /// Slots that every row reserves ahead of its tokens.
    pub(crate) fn lookahead_tokens(&self) -> u32 {
        match self.draft_method() {
            Some(DraftMethod::DraftModel | DraftMethod::Eagle | DraftMethod::EagleDrop) => {
                self.draft_tokens()
            }
            Some(DraftMethod::Ngram) | None => 0,
        }
    }

    /// Input tokens that every row takes besides its own.
    pub(crate) fn draft_slots(&self) -> u32 {
        u32::from(self.draft_method() == Some(DraftMethod::DraftModel))
    }

    /// Tokens behind a block that its identity covers.
    pub(crate) fn hash_lookahead_tokens(&self) -> u32 {
        u32::from(self.draft_method() == Some(DraftMethod::Eagle))
    }

    /// Whether the last matched block is computed again.
    pub(crate) fn drops_last_hit(&self) -> bool {
        self.draft_method() == Some(DraftMethod::EagleDrop)
    }
}

impl Default for EngineConfig {
    /// vLLM's defaults, with the pool of Dynamo's mocker (16,384 blocks).
    fn default() -> Self {
        Self {
            block_size_tokens: 16,
            g1_blocks: 16_384,
            max_num_seqs: 256,
            max_num_active_seqs: None,
            max_num_batched_tokens: 8_192,
            max_num_scheduled_tokens: None,
            max_model_len: 1 << 20,
            prefix_caching: true,
            eviction: EvictionPolicy::Lru,
            chunked_prefill: true,
            long_prefill_token_threshold: 0,
            long_prefill_token_threshold_adaptive: false,
            prefill_schedule_interval: 1,
            admission: Admission::FullPrompt,
            policy: SchedulingPolicy::Fcfs,
            victim: Victim::ByPolicy,
            acquisition: Acquisition::AllOrNothing,
            hash_deletion: HashDeletion::OnReuse,
            async_scheduling: false,
            speculation: None,
            tiers: None,
            fidelity: Fidelity::Mended,
            watermark: 0.0,
        }
    }
}
