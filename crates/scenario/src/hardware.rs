//! The model on its GPUs: KV sizes in total and per rank, and what G1 can hold.

use crate::preset::{GpuPreset, ModelPreset};

/// KV bytes per token where no model is named: those of Llama-3.1-8B.
pub const DEFAULT_KV_BYTES_PER_TOKEN: u64 = 131_072;

/// What the scenario runs on.
#[derive(Clone, Debug, PartialEq)]
pub struct Hardware {
    /// The model, when one is named.
    pub model: Option<&'static ModelPreset>,
    /// The GPU of each rank, when one is named.
    pub gpu: Option<&'static GpuPreset>,
    /// Ranks that share the model.
    pub tensor_parallel: u32,
    /// Whether an element of the cache takes one byte, whatever the model's preset says.
    pub fp8_cache: bool,
    /// Share of a GPU's memory that the engine may use.
    pub gpu_memory_utilization: f64,
    /// Bytes of one copy of a token's KV.
    pub kv_bytes_per_token: u64,
    /// Bytes of a token's KV on each rank, replicas included. Times `tensor_parallel`, the total held.
    pub kv_bytes_per_token_per_rank: u64,
}

/// Why G1 cannot be derived: what each rank has and needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NoRoom {
    pub(crate) usable: u64,
    pub(crate) weights: u64,
    pub(crate) block: u64,
}

impl Hardware {
    /// The model's name, or `unnamed model`.
    pub fn model_name(&self) -> &'static str {
        self.model.map_or("unnamed model", |model| model.name)
    }

    /// The GPU's name, or `unnamed GPU`.
    pub fn gpu_name(&self) -> &'static str {
        self.gpu.map_or("unnamed GPU", |gpu| gpu.name)
    }

    /// Bytes of a token's KV over all ranks, replicas included.
    pub fn kv_bytes_per_token_all_ranks(&self) -> u64 {
        self.kv_bytes_per_token_per_rank.saturating_mul(u64::from(self.tensor_parallel))
    }

    /// Blocks that fit beside the weights on each rank:
    /// `(memory × utilization − weights ÷ ranks) ÷ (block tokens × KV bytes per token and rank)`.
    /// Activations and graphs are not subtracted. `None` without a model and a GPU.
    pub(crate) fn g1_blocks(&self, block_size_tokens: u32) -> Option<Result<u64, NoRoom>> {
        let (model, gpu) = (self.model?, self.gpu?);
        let usable = libm::floor(gpu.hbm_bytes as f64 * self.gpu_memory_utilization) as u64;
        let weights = model.weight_bytes().div_ceil(u64::from(self.tensor_parallel));
        let block = u64::from(block_size_tokens).saturating_mul(self.kv_bytes_per_token_per_rank);
        let blocks = usable.saturating_sub(weights) / block.max(1);
        Some(if blocks == 0 { Err(NoRoom { usable, weights, block }) } else { Ok(blocks) })
    }
}
