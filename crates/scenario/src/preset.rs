//! Models and GPUs by name, each row with its source.
//!
//! KV figures follow the layout of the published configuration; the unit tests below compare them with the
//! figures that were computed from those files independently. Parameter counts are name-plate figures of the
//! model cards. Data-sheet rates are nominal.
//!
//! Deliberately absent: links (see [`crate::interconnect`]) and prices.

use crate::problem::nearest;

/// A model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// Layers.
    pub layers: u32,
    /// Width of the residual stream.
    pub hidden: u32,
    /// How KV is laid out.
    pub kv: KvLayout,
    /// All parameters, in millions.
    pub total_mparams: u32,
    /// Parameters that one token passes through, in millions.
    pub active_mparams: u32,
    /// Bytes per KV element.
    pub kv_element_bytes: u32,
    /// Bits per weight as published (16 bf16, 8 fp8, about 4.25 MXFP4 rounded up to 5).
    pub weight_bits: u32,
    /// Where the numbers come from.
    pub source: &'static str,
}

/// What a token leaves behind in the layers whose cache grows with the sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KvLayout {
    /// Keys and values per head (MHA, GQA, MQA) in `growing_layers` layers; the other layers of a hybrid model
    /// slide over a window or keep a constant state, and are not counted.
    Heads {
        /// Layers with full attention.
        growing_layers: u32,
        /// Heads of K and of V.
        kv_heads: u32,
        /// Elements of a head.
        head_dim: u32,
    },
    /// One latent vector per layer (MLA), replicated on every rank.
    Latent {
        /// Rank of the compressed KV.
        kv_lora_rank: u32,
        /// Elements of the rotary part.
        rope_head_dim: u32,
    },
}

impl ModelPreset {
    /// Bytes that one token adds to the cache, one copy.
    ///
    /// Heads: `2 × growing layers × kv_heads × head_dim × element`; latent: `layers × (rank + rope) × element`.
    pub fn kv_bytes_per_token(&self) -> u64 {
        self.kv_bytes_per_token_per_rank(1)
    }

    /// Bytes that one token adds on each of `tensor_parallel` ranks: heads are split, and replicated where there
    /// are fewer heads than ranks; a latent is replicated on all.
    pub fn kv_bytes_per_token_per_rank(&self, tensor_parallel: u32) -> u64 {
        let element = u64::from(self.kv_element_bytes);
        match self.kv {
            KvLayout::Heads { growing_layers, kv_heads, head_dim } => {
                let heads = kv_heads.div_ceil(tensor_parallel.max(1));
                2 * u64::from(growing_layers) * u64::from(heads) * u64::from(head_dim) * element
            }
            KvLayout::Latent { kv_lora_rank, rope_head_dim } => {
                u64::from(self.layers) * (u64::from(kv_lora_rank) + u64::from(rope_head_dim)) * element
            }
        }
    }

    /// Layers with attention over the whole context.
    pub fn growing_layers(&self) -> u32 {
        match self.kv {
            KvLayout::Heads { growing_layers, .. } => growing_layers,
            KvLayout::Latent { .. } => self.layers,
        }
    }

    /// Bytes of all weights.
    pub fn weight_bytes(&self) -> u64 {
        u64::from(self.total_mparams) * 1_000_000 * u64::from(self.weight_bits) / 8
    }

    /// Bytes of the weights that one token passes through.
    pub fn active_weight_bytes(&self) -> u64 {
        u64::from(self.active_mparams) * 1_000_000 * u64::from(self.weight_bits) / 8
    }
}

/// A GPU.
#[derive(Clone, Debug, PartialEq)]
pub struct GpuPreset {
    /// Name in scenarios.
    pub name: &'static str,
    /// Memory in bytes.
    pub hbm_bytes: u64,
    /// Nominal memory bandwidth in GB/s (10⁹).
    pub memory_gbps: f64,
    /// Dense BF16 rate in TFLOP/s (10¹²).
    pub bf16_tflops: f64,
    /// Share of that rate reached in prefill.
    pub mfu_prefill: f64,
    /// Share of that rate reached in decode.
    pub mfu_decode: f64,
    /// Where the numbers come from.
    pub source: &'static str,
}

const CONFIG: &str = "the model's published config.json; parameters: its model card";
const HYBRID: &str =
    "the model's published config.json (1 layer in 4 has full attention); parameters: its name";
const OSS: &str =
    "the model's published config.json (half the layers slide over 128 tokens); parameters: its model card";

/// Arguments: name, layers, hidden, layers with full attention, kv heads, head size, total and active parameters in
/// millions, weight bits.
macro_rules! heads {
    ($name:literal $l:literal $h:literal $g:literal x $kv:literal x $hd:literal, $total:literal $active:literal, $bits:literal, $source:expr) => {
        ModelPreset {
            name: $name,
            layers: $l,
            hidden: $h,
            kv: KvLayout::Heads { growing_layers: $g, kv_heads: $kv, head_dim: $hd },
            total_mparams: $total,
            active_mparams: $active,
            kv_element_bytes: 2,
            weight_bits: $bits,
            source: $source,
        }
    };
}

macro_rules! latent {
    ($name:literal $l:literal $h:literal, $total:literal $active:literal, $bits:literal, $source:expr) => {
        ModelPreset {
            name: $name,
            layers: $l,
            hidden: $h,
            kv: KvLayout::Latent { kv_lora_rank: 512, rope_head_dim: 64 },
            total_mparams: $total,
            active_mparams: $active,
            kv_element_bytes: 2,
            weight_bits: $bits,
            source: $source,
        }
    };
}

static MODELS: &[ModelPreset] = &[
    heads!("llama-3.1-8b" 32 4096 32 x 8 x 128, 8030 8030, 16, CONFIG),
    heads!("llama-3.1-70b" 80 8192 80 x 8 x 128, 70554 70554, 16, CONFIG),
    heads!("llama-3.1-405b" 126 16384 126 x 8 x 128, 405853 405853, 16, CONFIG),
    heads!("llama-2-7b" 32 4096 32 x 32 x 128, 6738 6738, 16, CONFIG),
    heads!("yi-34b" 60 7168 60 x 8 x 128, 34389 34389, 16, CONFIG),
    heads!("llama-4-scout" 48 5120 48 x 8 x 128, 109000 17000, 16, "config.json; an upper bound: chunked attention is counted as full"),
    heads!("qwen2.5-7b" 28 3584 28 x 4 x 128, 7616 7616, 16, CONFIG),
    heads!("qwen3-0.6b" 28 1024 28 x 8 x 128, 596 596, 16, CONFIG),
    heads!("qwen3-8b" 36 4096 36 x 8 x 128, 8191 8191, 16, CONFIG),
    heads!("qwen3-14b" 40 5120 40 x 8 x 128, 14768 14768, 16, CONFIG),
    heads!("qwen3-32b" 64 5120 64 x 8 x 128, 32762 32762, 16, CONFIG),
    heads!("qwen3-30b-a3b" 48 2048 48 x 4 x 128, 30532 3300, 16, CONFIG),
    heads!("qwen3-235b-a22b" 94 4096 94 x 4 x 128, 235094 22000, 16, CONFIG),
    heads!("qwen3-coder-480b" 62 6144 62 x 8 x 128, 480155 35000, 16, CONFIG),
    heads!("qwen3.5-27b" 64 5120 16 x 4 x 256, 27000 27000, 16, HYBRID),
    heads!("qwen3.5-397b" 60 4096 15 x 2 x 256, 397000 17000, 16, HYBRID),
    latent!("deepseek-v3" 61 7168, 671026 37000, 8, CONFIG),
    latent!("deepseek-r1" 61 7168, 671026 37000, 8, CONFIG),
    latent!("deepseek-v3.2" 61 7168, 671026 37000, 8, "config.json; the indexer's cache is not counted"),
    latent!("kimi-k2" 61 7168, 1026000 32000, 8, CONFIG),
    latent!("glm-5.2" 78 6144, 744000 40000, 8, "config.json; parameters: as announced for its family"),
    heads!("mixtral-8x7b" 32 4096 32 x 8 x 128, 46703 12900, 16, CONFIG),
    heads!("mixtral-8x22b" 56 6144 56 x 8 x 128, 140621 39000, 16, CONFIG),
    heads!("mistral-nemo" 40 5120 40 x 8 x 128, 12248 12248, 16, CONFIG),
    heads!("minimax-m2.5" 62 3072 62 x 8 x 128, 229000 10000, 8, CONFIG),
    heads!("gpt-oss-120b" 36 2880 18 x 8 x 64, 116829 5130, 5, OSS),
    heads!("gpt-oss-20b" 24 2880 12 x 8 x 64, 20914 3610, 5, OSS),
];

const GIB: u64 = 1 << 30;
const MIB: u64 = 1 << 20;
const YAML: &str = "AIConfigurator systems/*.yaml; MFU: inference-sim";
const AS_H100: &str = "AIConfigurator systems/*.yaml; MFU: assumed to be that of an H100";

/// Arguments: name, memory, GB/s, dense BF16 TFLOP/s, MFU of prefill and decode.
macro_rules! gpu {
    ($name:literal $hbm:expr, $gbps:literal, $tflops:literal, $prefill:literal $decode:literal, $source:expr) => {
        GpuPreset {
            name: $name,
            hbm_bytes: $hbm,
            memory_gbps: $gbps,
            bf16_tflops: $tflops,
            mfu_prefill: $prefill,
            mfu_decode: $decode,
            source: $source,
        }
    };
}

static GPUS: &[GpuPreset] = &[
    gpu!("a100-sxm-80" 80 * GIB, 2039.0, 312.0, 0.38 0.18, YAML),
    gpu!("h100-sxm" 80 * GIB, 3350.0, 989.0, 0.45 0.30, YAML),
    gpu!("h200" 141_000_000_000, 4800.0, 989.0, 0.45 0.30, "AIConfigurator systems/*.yaml, its 141 GiB read as the 141 GB that devices report; MFU: as H100"),
    gpu!("b200" 180 * GIB, 7700.0, 2250.0, 0.45 0.30, AS_H100),
    gpu!("gb200" 189_471 * MIB, 8000.0, 2500.0, 0.45 0.30, AS_H100),
    gpu!("gh200" 96_000_000_000, 4000.0, 989.0, 0.45 0.30, AS_H100),
    gpu!("mi300x" 192_000_000_000, 5300.0, 1307.0, 0.45 0.30, "vendor's figures, not verified; MFU: assumed to be that of an H100"),
    gpu!("l40s" 46_068 * MIB, 864.0, 362.0, 0.32 0.08, YAML),
    gpu!("rtx-4090" 24_000_000_000, 1008.0, 165.0, 0.32 0.08, "LLMServingSim configuration; TFLOP/s not verified; MFU: assumed to be that of an L40S"),
];

/// All models.
pub fn models() -> &'static [ModelPreset] {
    MODELS
}

/// All GPUs.
pub fn gpus() -> &'static [GpuPreset] {
    GPUS
}

/// The row called `name`, or the valid names in words with the nearest first.
pub(crate) fn find<T>(
    rows: &'static [T],
    name: &str,
    name_of: fn(&T) -> &'static str,
) -> Result<&'static T, String> {
    if let Some(row) = rows.iter().find(|row| name_of(row).eq_ignore_ascii_case(name)) {
        return Ok(row);
    }
    let names: Vec<&'static str> = rows.iter().map(name_of).collect();
    let all = names.join(", ");
    Err(match nearest(&name.to_ascii_lowercase(), &names) {
        Some(near) => format!("did you mean \"{near}\"? There are {all}"),
        None => format!("there are {all}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computed from the models' configuration files by a script of its own, not by the formula above.
    const REFERENCE: &[(&str, u64)] = &[
        ("llama-3.1-8b", 131_072),
        ("llama-3.1-70b", 327_680),
        ("llama-3.1-405b", 516_096),
        ("llama-2-7b", 524_288),
        ("yi-34b", 245_760),
        ("llama-4-scout", 196_608),
        ("qwen2.5-7b", 57_344),
        ("qwen3-0.6b", 114_688),
        ("qwen3-8b", 147_456),
        ("qwen3-14b", 163_840),
        ("qwen3-32b", 262_144),
        ("qwen3-30b-a3b", 98_304),
        ("qwen3-235b-a22b", 192_512),
        ("qwen3-coder-480b", 253_952),
        ("qwen3.5-27b", 65_536),
        ("qwen3.5-397b", 30_720),
        ("deepseek-v3", 70_272),
        ("deepseek-r1", 70_272),
        ("deepseek-v3.2", 70_272),
        ("kimi-k2", 70_272),
        ("glm-5.2", 89_856),
        ("mixtral-8x7b", 131_072),
        ("mixtral-8x22b", 229_376),
        ("mistral-nemo", 163_840),
        ("minimax-m2.5", 253_952),
        ("gpt-oss-120b", 36_864),
        ("gpt-oss-20b", 24_576),
    ];

    #[test]
    fn kv_bytes_follow_the_formula_for_every_preset() {
        let computed: Vec<_> =
            models().iter().map(|model| (model.name, model.kv_bytes_per_token())).collect();
        assert_eq!(computed, REFERENCE);
    }

    #[test]
    fn the_naive_figure_of_a_hybrid_model_is_a_multiple_of_the_real_one() {
        let oss = find(models(), "gpt-oss-120b", |model| model.name).expect("the preset is in the table");
        let KvLayout::Heads { kv_heads, head_dim, .. } = oss.kv else { panic!("not heads") };
        assert_eq!(2 * u64::from(oss.layers * kv_heads * head_dim) * 2, 73_728);
        assert_eq!(oss.kv_bytes_per_token() * 2, 73_728);
    }

    #[test]
    fn ranks_split_heads_but_not_latents() {
        let llama = find(models(), "llama-3.1-8b", |model| model.name).expect("the preset is in the table");
        let per_rank = [1, 2, 8, 16].map(|ranks| llama.kv_bytes_per_token_per_rank(ranks));
        assert_eq!(per_rank, [131_072, 65_536, 16_384, 16_384]);
        let deepseek = find(models(), "DeepSeek-V3", |model| model.name).expect("names ignore case");
        assert_eq!(deepseek.kv_bytes_per_token_per_rank(8), 70_272);
    }

    #[test]
    fn rows_are_sane_and_named_once() {
        for (index, model) in models().iter().enumerate() {
            assert!(models()[..index].iter().all(|other| other.name != model.name), "{}", model.name);
            assert!(
                model.active_mparams <= model.total_mparams && !model.source.is_empty(),
                "{}",
                model.name
            );
            assert!(model.growing_layers() <= model.layers, "{}", model.name);
        }
        for gpu in gpus() {
            assert!(gpu.mfu_prefill < 1.0 && gpu.mfu_decode < gpu.mfu_prefill, "{}", gpu.name);
            // The balance of compute to bandwidth has stayed within a factor of a few over the generations.
            let flops_per_byte = gpu.bf16_tflops * 1e12 / (gpu.memory_gbps * 1e9);
            assert!((100.0..500.0).contains(&flops_per_byte), "{}: {flops_per_byte}", gpu.name);
        }
    }
}
