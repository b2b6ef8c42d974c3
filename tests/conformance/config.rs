//! vLLM's configuration as the engine's.

use tierscope_engine::{
    Acquisition, Admission, ChunkEviction, DraftMethod, EngineConfig, EvictionPolicy, Fidelity, Flavour,
    HashDeletion, Row, SchedulingPolicy, Speculation, TiersConfig, Victim, VllmConfig,
};
use tierscope_units::SlotId;

use crate::golden::Case;
use crate::replay::hex;

pub(crate) fn of(case: &Case) -> EngineConfig {
    let number = |key: &str| case.number(key).unwrap_or_else(|| panic!("{}: no {key}", case.name));
    let blocks = number("num_gpu_blocks");
    EngineConfig {
        block_size_tokens: number("block_size"),
        g1_blocks: blocks - 1,
        max_num_seqs: number("max_num_seqs"),
        max_num_active_seqs: case.number("max_num_active_seqs"),
        max_num_batched_tokens: number("max_num_batched_tokens"),
        max_num_scheduled_tokens: case.number("max_num_scheduled_tokens"),
        max_model_len: number("max_model_len"),
        prefix_caching: case.on("enable_prefix_caching"),
        eviction: EvictionPolicy::Lru,
        chunked_prefill: case.on("enable_chunked_prefill"),
        long_prefill_token_threshold: number("long_prefill_token_threshold"),
        long_prefill_token_threshold_adaptive: case.on("long_prefill_token_threshold_adaptive"),
        prefill_schedule_interval: number("prefill_schedule_interval"),
        admission: match case.on("scheduler_reserve_full_isl") {
            true => Admission::FullPrompt,
            false => Admission::NextChunk,
        },
        victim: Victim::ByPolicy,
        acquisition: Acquisition::AllOrNothing,
        hash_deletion: HashDeletion::OnReuse,
        policy: match case.config["policy"].as_str() {
            Some("priority") => SchedulingPolicy::Priority,
            _ => SchedulingPolicy::Fcfs,
        },
        async_scheduling: case.on("async_scheduling"),
        speculation: speculation(case),
        tiers: tiers(case),
        fidelity: Fidelity::Exact,
        // vLLM takes the share of all blocks, its null block included; half a block keeps the quotient above
        // the whole number that it stands for.
        watermark: (f64::from(watermark_blocks(case)) + 0.5) / f64::from(blocks - 1),
    }
}

/// vLLM's CPU tier, counted in chunks there and in blocks here.
fn tiers(case: &Case) -> Option<TiersConfig> {
    let number = |key: &str| case.number(key).unwrap_or_else(|| panic!("{}: no {key}", case.name));
    let blocks_per_chunk = number("blocks_per_chunk");
    let vllm = VllmConfig {
        eviction: match case.config["eviction_policy"].as_str() {
            Some("arc") => ChunkEviction::Arc,
            _ => ChunkEviction::Lru,
        },
        store_threshold: number("store_threshold"),
        blocks_per_chunk,
        prompt_only: case.on("offload_prompt_only"),
        sync_load_budget_tokens: number("sync_load_budget_tokens"),
    };
    let tiers = |chunks| TiersConfig {
        flavour: Flavour::Vllm(vllm),
        ..TiersConfig::with_g2(chunks * blocks_per_chunk)
    };
    case.cpu_chunks().map(tiers)
}

fn watermark_blocks(case: &Case) -> u32 {
    let share = case.config["watermark"].as_f64().expect("a share");
    (share * f64::from(case.number("num_gpu_blocks").expect("a number"))) as u32
}

fn speculation(case: &Case) -> Option<Speculation> {
    let method = match case.config["spec_method"].as_str()? {
        "ngram" => DraftMethod::Ngram,
        "draft_model" => DraftMethod::DraftModel,
        "eagle" => DraftMethod::Eagle,
        "eagle_drop" => DraftMethod::EagleDrop,
        other => panic!("{}: no draft method {other}", case.name),
    };
    let tokens = case.number("num_spec_tokens").filter(|&tokens| tokens > 0)?;
    Some(Speculation { method, tokens })
}

/// The place of each id among all as texts: vLLM's last tie-break under the priority policy.
pub(crate) fn ties(names: &[String]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&index| &names[index]);
    let mut ties = vec![0; names.len()];
    for (tie, index) in (0..).zip(order) {
        ties[index] = tie;
    }
    ties
}

/// The golden files' digest of a compact step's rows: kind, request, tokens, computed, blocks.
pub(crate) fn schedule_digest(lists: &[Vec<(&Row, Vec<SlotId>)>; 3]) -> String {
    let mut flat = Vec::new();
    for (kind, list) in (1..).zip(lists) {
        for (row, slots) in list {
            flat.extend([kind, row.request.0, row.tokens, row.computed_before, slots.len() as u32]);
            flat.extend(slots.iter().map(|slot| slot.0 + 1));
        }
    }
    hex(flat)
}
