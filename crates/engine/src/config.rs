//! What the machine is told once: sizes, limits and policies. Names follow vLLM's engine arguments.

/// One worker's configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineConfig {
    /// Tokens per block.
    pub block_size_tokens: u32,
    /// Usable blocks of G1 (vLLM's `num_gpu_blocks` less its null block).
    pub g1_blocks: u32,
    /// Most requests running at once.
    pub max_num_seqs: u32,
    /// Most tokens scheduled in one pass.
    pub max_num_batched_tokens: u32,
    /// Longest sequence, prompt and output together, in tokens.
    pub max_model_len: u32,
    /// Whether full blocks are kept and matched by content.
    pub prefix_caching: bool,
    /// Whether a prompt may be computed in several passes.
    pub chunked_prefill: bool,
    /// Most prefill tokens of one request in one pass while others wait; 0 is no limit.
    pub long_prefill_token_threshold: u32,
    /// What must fit before a waiting request is admitted.
    pub admission: Admission,
    /// Whether faults of the scheduler that is modelled are mended or reproduced.
    pub fidelity: Fidelity,
    /// Share of G1 that admission leaves free while others run, 0 to 1.
    pub watermark: f64,
}

/// The admission gate (rule P1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The blocks of the whole prompt (vLLM's `scheduler_reserve_full_isl`, its default).
    FullPrompt,
    /// Only the blocks of the next chunk.
    NextChunk,
}

/// What to do where vLLM's own behaviour is a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fidelity {
    /// Mend it: a request that can never fit is refused at arrival (rule S4).
    Mended,
    /// Reproduce it: such a request waits for ever, and everybody behind it.
    Exact,
}

impl Default for EngineConfig {
    /// vLLM's defaults, with the pool of Dynamo's mocker (16,384 blocks).
    fn default() -> Self {
        Self {
            block_size_tokens: 16,
            g1_blocks: 16_384,
            max_num_seqs: 256,
            max_num_batched_tokens: 8_192,
            max_model_len: 1 << 20,
            prefix_caching: true,
            chunked_prefill: true,
            long_prefill_token_threshold: 0,
            admission: Admission::FullPrompt,
            fidelity: Fidelity::Mended,
            watermark: 0.0,
        }
    }
}
