//! What a scenario needs beyond what a source says: a GPU on which the model fits, pass times, and requests.

use toml_edit::Value as Toml;

use super::draft::Draft;
use crate::preset::{self, GpuPreset, ModelPreset};

/// The GPUs that are assumed, the first on which the model fits.
const GPUS: [&str; 4] = ["h100-sxm", "h200", "b200", "mi300x"];
/// Share of the GPU's memory where the source does not say it: vLLM's default.
pub(super) const VLLM_UTILIZATION: f64 = 0.92;
/// Longest conversation of the workload that is made up.
const CONVERSATION_TOKENS: u64 = 8_192;

pub(super) fn complete(draft: &mut Draft<'_>) {
    gpu(draft);
    timing(draft);
    if !draft.has("workload.kind") {
        workload(draft);
    }
}

/// Bytes of a token's KV, one copy, as far as the source tells; else those of an 8B model.
pub(super) fn bytes_per_token(draft: &Draft<'_>) -> u64 {
    let halved = draft.text("hardware.kv_cache_dtype") == Some("fp8");
    match draft.model {
        Some(model) => element(model.kv_bytes_per_token(), model, halved),
        None => {
            let written = draft.whole("hardware.kv_bytes_per_token");
            written.unwrap_or(crate::hardware::DEFAULT_KV_BYTES_PER_TOKEN)
        }
    }
}

/// The same on each rank, replicas included.
pub(super) fn bytes_per_token_and_rank(draft: &Draft<'_>) -> u64 {
    let halved = draft.text("hardware.kv_cache_dtype") == Some("fp8");
    match draft.model {
        Some(model) => element(model.kv_bytes_per_token_per_rank(draft.ranks()), model, halved),
        None => bytes_per_token(draft).div_ceil(u64::from(draft.ranks())),
    }
}

fn element(bytes: u64, model: &ModelPreset, fp8: bool) -> u64 {
    if fp8 { bytes / u64::from(model.kv_element_bytes.max(1)) } else { bytes }
}

/// GiB of one copy, of GiB over all ranks: heads that are replicated lie there several times.
pub(super) fn one_copy(draft: &Draft<'_>, gib: f64) -> f64 {
    let all = bytes_per_token_and_rank(draft).saturating_mul(u64::from(draft.ranks()));
    if all == 0 { gib } else { gib * bytes_per_token(draft) as f64 / all as f64 }
}

fn gpu(draft: &mut Draft<'_>) {
    let Some(model) = draft.model.filter(|_| draft.wants_gpu && !draft.gpu_named) else { return };
    let fitting = GPUS.iter().find(|name| fits(draft, model, name)).copied();
    let (name, why) = match fitting {
        Some(name) => (
            name,
            "the source names no GPU; the first of h100-sxm, h200, b200 and mi300x on which the model fits",
        ),
        None => (
            GPUS[0],
            "the source names no GPU; the model fits none of h100-sxm, h200, b200 and mi300x with so few ranks",
        ),
    };
    draft.assume("hardware.gpu", name, why);
}

fn fits(draft: &Draft<'_>, model: &ModelPreset, gpu: &str) -> bool {
    let rows: &'static [GpuPreset] = preset::gpus();
    let Ok(gpu) = preset::find(rows, gpu, |row| row.name) else { return false };
    let share = draft.number("hardware.gpu_memory_utilization").unwrap_or(VLLM_UTILIZATION);
    let usable = gpu.hbm_bytes as f64 * share;
    let weights = model.weight_bytes() as f64 / f64::from(draft.ranks());
    // Room for some thousand tokens at least: less than that serves nobody.
    usable - weights > 16_384.0 * bytes_per_token_and_rank(draft) as f64
}

fn timing(draft: &mut Draft<'_>) {
    if draft.has("timing.model") {
        return;
    }
    if draft.has("hardware.model") && draft.has("hardware.gpu") {
        draft.assume("timing.model", "roofline", "from the figures of model and GPU, uncalibrated");
    } else {
        draft.assume("timing.model", "polynomial", "the coefficients of Dynamo's mocker, uncalibrated");
    }
}

/// Conversations, as tiers are for: they fit the longest sequence with room to spare.
fn workload(draft: &mut Draft<'_>) {
    let longest = draft.whole("engine.max_model_len").unwrap_or(CONVERSATION_TOKENS);
    let longest = longest.clamp(1, CONVERSATION_TOKENS);
    let range = |low: u64, high: u64| -> Toml {
        let table = [("min", low.max(1) as i64), ("max", high.max(low).max(1) as i64)];
        Toml::InlineTable(table.into_iter().map(|(key, value)| (key, Toml::from(value))).collect())
    };
    // Four turns of the longest come to five eighths of it.
    let turns = if longest < 64 { 1 } else { 4 };
    draft.set("workload.kind", "synthetic");
    draft.set("workload.requests", 100);
    draft.set("workload.arrival", "poisson");
    draft.set("workload.rate_per_s", 2.0);
    draft.set("workload.prompt_tokens", range(longest / 32, longest / 8));
    draft.set("workload.output_tokens", range(longest / 256, longest / 32));
    draft.set("workload.turns", turns);
    if turns > 1 {
        draft.set("workload.turn_delay_ms", 5_000);
    }
    let words = "[workload]: 100 conversations, 2 begun per second (the source tells nothing of requests; write your own, or drop a trace)";
    draft.note(super::NoteKind::Assumed, None, "", words);
}
