//! Flags, one by one.

use super::command::Flag;
use crate::import::draft::Draft;
use crate::import::{NoteKind, kv};
use crate::limit;
use crate::node::Value;
use crate::problem::Problems;

/// What became of a flag.
pub(super) enum Taken {
    /// It is noted already.
    Yes,
    /// It says nothing about cache or scheduler.
    Idle,
}

/// Whole numbers that mean the same here: flag, key, least and most.
const COUNTS: [(&str, &str, u64, u64); 7] = [
    ("block-size", "engine.block_size_tokens", 1, limit::BLOCK_TOKENS),
    ("max-model-len", "engine.max_model_len", 1, limit::MODEL_LEN),
    ("max-num-seqs", "engine.max_num_seqs", 1, limit::CONCURRENCY),
    ("max-num-batched-tokens", "engine.max_num_batched_tokens", 1, limit::BATCHED_TOKENS),
    ("max-num-scheduled-tokens", "engine.max_num_scheduled_tokens", 1, limit::BATCHED_TOKENS),
    ("long-prefill-token-threshold", "engine.long_prefill_token_threshold", 0, limit::BATCHED_TOKENS),
    ("tensor-parallel-size", "hardware.tensor_parallel", 1, limit::TENSOR_PARALLEL),
];

/// Switches, each with `--no-` before it as well.
const FLAGS: [(&str, &str); 4] = [
    ("enable-prefix-caching", "engine.prefix_caching"),
    ("enable-chunked-prefill", "engine.chunked_prefill"),
    ("async-scheduling", "engine.async_scheduling"),
    ("long-prefill-token-threshold-adaptive", "engine.long_prefill_token_threshold_adaptive"),
];

/// Flags that would matter, and why they have no counterpart.
const LEFT: [(&str, &str); 19] = [
    ("swap-space", "vLLM V1 does not swap: what is preempted is computed again"),
    ("cpu-offload-gb", "weights outside the GPU are not modelled"),
    ("pipeline-parallel-size", "pipeline stages are not modelled: the model is taken to lie on one stage"),
    ("decode-context-parallel-size", "context parallelism is not modelled"),
    ("prefill-context-parallel-size", "context parallelism is not modelled"),
    ("quantization", "weights are counted as the preset has them: G1 comes out smaller than it is"),
    ("dtype", "weights and cache are counted as the preset has them"),
    ("max-num-partial-prefills", "V1's scheduler has no such limit"),
    ("max-long-partial-prefills", "V1's scheduler has no such limit"),
    ("prefix-caching-hash-algo", "hashes are taken to be free of collisions"),
    ("prefix-match-unit", "content is matched block by block"),
    ("disable-hybrid-kv-cache-manager", "only layers with full attention are counted"),
    ("kv-cache-dtype-skip-layers", "all layers are counted alike"),
    ("enable-expert-parallel", "experts are not placed: the preset's active parameters are counted"),
    ("enable-lora", "adapters are not modelled: requests of different adapters would share no blocks"),
    ("enable-eplb", "experts are not placed"),
    ("mamba-block-size", "only layers with full attention are counted"),
    ("config", "flags in a file are not read: paste them here"),
    ("scheduler-cls", "the scheduler is vLLM's own"),
];

/// Flags that are read with others, later.
const LATER: [&str; 5] =
    ["model", "kv-transfer-config", "kv-offloading-size", "kv-offloading-backend", "kv-cache-memory-bytes"];

pub(super) fn take(draft: &mut Draft<'_>, flag: &Flag) -> Taken {
    if let Some((_, key, low, high)) = COUNTS.iter().find(|row| row.0 == flag.name) {
        count(draft, flag, key, *low, *high);
        return Taken::Yes;
    }
    let bare = flag.name.strip_prefix("no-").unwrap_or(&flag.name);
    if let Some((_, key)) = FLAGS.iter().find(|row| row.0 == bare) {
        let on = bare == flag.name && !matches!(flag.value(), "false" | "False" | "0");
        draft.take(flag.at, &flag.shown(), key, on);
        return Taken::Yes;
    }
    if let Some((_, why)) = LEFT.iter().find(|row| row.0 == flag.name) {
        let harmless = matches!(flag.value(), "1" | "auto" | "bfloat16" | "0");
        draft.leave(flag.at, &flag.shown(), if harmless { "as it is here" } else { why });
        return Taken::Yes;
    }
    match flag.name.as_str() {
        "gpu-memory-utilization" => share(draft, flag),
        "num-gpu-blocks-override" => blocks(draft, flag),
        "scheduling-policy" => policy(draft, flag),
        "kv-cache-dtype" => cache_type(draft, flag),
        "data-parallel-size" => replicas(draft, flag),
        "speculative-config" => speculation(draft, flag),
        name if LATER.contains(&name) || name.starts_with("kv-transfer-config.") => {}
        _ => return Taken::Idle,
    }
    Taken::Yes
}

/// A whole number as vLLM reads it: `32k` is 32,000, `32K` is 32,768.
pub(super) fn whole(text: &str) -> Option<u64> {
    let (digits, unit) = match text.char_indices().last()? {
        (at, last) if last.is_ascii_alphabetic() => (&text[..at], last),
        _ => (text, ' '),
    };
    let factor: u64 = match unit {
        ' ' => 1,
        'k' => 1_000,
        'm' => 1_000_000,
        'g' => 1_000_000_000,
        'K' => 1 << 10,
        'M' => 1 << 20,
        'G' => 1 << 30,
        _ => return None,
    };
    if let Ok(number) = digits.parse::<u64>() {
        return number.checked_mul(factor);
    }
    let number = digits.parse::<f64>().ok().filter(|_| factor > 1)? * factor as f64;
    (0.0..1e18).contains(&number).then_some(number as u64)
}

fn count(draft: &mut Draft<'_>, flag: &Flag, key: &str, low: u64, high: u64) {
    if flag.name == "max-model-len" && matches!(flag.value(), "auto" | "-1") {
        return draft.leave(flag.at, &flag.shown(), "as long as fits: no limit is written");
    }
    match whole(flag.value()).filter(|number| (low..=high).contains(number)) {
        Some(number) => draft.take(flag.at, &flag.shown(), key, number as i64),
        None => {
            let expected = format!("a whole number from {low} to {high}");
            let mend = format!("write for example --{} {}", flag.name, low.max(16).min(high));
            draft.refuse(flag.value_at(), &flag.written, flag.value(), &expected, &mend);
        }
    }
}

fn share(draft: &mut Draft<'_>, flag: &Flag) {
    match flag.value().parse::<f64>().ok().filter(|share| (0.01..=1.0).contains(share)) {
        Some(share) => draft.take(flag.at, &flag.shown(), "hardware.gpu_memory_utilization", share),
        None => draft.refuse(
            flag.value_at(),
            &flag.written,
            flag.value(),
            "a share from 0.01 to 1",
            "write for example 0.9",
        ),
    }
}

/// vLLM's count has its null block, which holds nothing.
fn blocks(draft: &mut Draft<'_>, flag: &Flag) {
    match whole(flag.value()).filter(|blocks| (2..=limit::G1_BLOCKS).contains(blocks)) {
        Some(blocks) => draft.take(flag.at, &flag.shown(), "engine.g1_blocks", blocks as i64 - 1),
        None => {
            let expected = format!("a whole number from 2 to {}", limit::G1_BLOCKS);
            draft.refuse(flag.value_at(), &flag.written, flag.value(), &expected, "write for example 4096");
        }
    }
}

fn policy(draft: &mut Draft<'_>, flag: &Flag) {
    match flag.value() {
        word @ ("fcfs" | "priority") => draft.take(flag.at, &flag.shown(), "engine.policy", word),
        other => draft.refuse(flag.value_at(), &flag.written, other, "fcfs or priority", "write fcfs"),
    }
}

fn cache_type(draft: &mut Draft<'_>, flag: &Flag) {
    match flag.value() {
        "auto" | "float16" | "bfloat16" => draft.leave(flag.at, &flag.shown(), "as the preset has it"),
        word if word.starts_with("fp8") || word.starts_with("int8") => {
            if draft.model.is_some() {
                draft.take(flag.at, &flag.shown(), "hardware.kv_cache_dtype", "fp8");
            } else {
                draft.take(flag.at, &flag.shown(), "hardware.kv_bytes_per_token", 65_536);
            }
        }
        _ => {
            draft.leave(flag.at, &flag.shown(), "elements of this size are not modelled: 16 bits are counted")
        }
    }
}

fn replicas(draft: &mut Draft<'_>, flag: &Flag) {
    match whole(flag.value()).filter(|count| (1..=4_096).contains(count)) {
        Some(1) => draft.leave(flag.at, &flag.shown(), "one worker, as it is here"),
        Some(count) => {
            draft.take(flag.at, &flag.shown(), "workers.count", count as i64);
            draft.assume(
                "router.kind",
                "least_loaded",
                "vLLM's front end sends a request to the rank with the fewest",
            );
        }
        None => draft.refuse(
            flag.value_at(),
            &flag.written,
            flag.value(),
            "ranks from 1 to 4096",
            "write for example 2",
        ),
    }
}

/// The JSON of a flag.
pub(super) fn object(draft: &Draft<'_>, flag: &Flag) -> Option<crate::node::Node> {
    let inner = Problems::of(flag.value());
    let node = crate::text::json::read(flag.value(), &inner);
    if let Some(node) = node.filter(|node| node.entries().is_some()) {
        return Some(node);
    }
    let why = inner.finish().into_iter().next().map_or("no JSON object".to_owned(), |problem| problem.found);
    let mend = "write JSON in single quotes, such as '{\"kv_connector\": \"OffloadingConnector\"}'";
    draft.problems.report(flag.value_at(), &flag.written, why, "a JSON object", mend);
    None
}

fn speculation(draft: &mut Draft<'_>, flag: &Flag) {
    let Some(node) = object(draft, flag) else { return };
    let entries = node.entries().unwrap_or_default();
    let entry = |name: &str| entries.iter().find(|entry| entry.key == name).map(|entry| &entry.node.value);
    let tokens = match entry("num_speculative_tokens") {
        Some(Value::Int(tokens)) if (1..=i128::from(limit::DRAFT_TOKENS)).contains(tokens) => *tokens as i64,
        None => return draft.leave(flag.at, &flag.shown(), "it says no num_speculative_tokens"),
        Some(other) => {
            let found = format!("{other:?}");
            let expected = format!("num_speculative_tokens from 1 to {}", limit::DRAFT_TOKENS);
            return draft.refuse(flag.value_at(), &flag.written, &found, &expected, "write for example 3");
        }
    };
    let named = match entry("method") {
        Some(Value::Text(method)) => method.as_str(),
        _ if entry("model").is_some() => "draft_model",
        _ => "ngram",
    };
    let (method, exact) = match named {
        "ngram" | "suffix" => ("ngram", named == "ngram"),
        "draft_model" => ("draft_model", true),
        "eagle" | "eagle3" => ("eagle", true),
        other => ("eagle", other.ends_with("mtp") || other == "mtp"),
    };
    draft.take(flag.at, &flag.shown(), "engine.draft_tokens", tokens);
    draft.set("engine.draft_method", method);
    if !exact {
        let why = format!("the method {} is scheduled as {method}", crate::problem::quote(named));
        draft.note(NoteKind::Assumed, Some(flag.at), &flag.shown(), &why);
    }
    draft.assume(
        "engine.draft_acceptance",
        0.7,
        "published rates lie between 0.6 and 0.8; it depends on the text",
    );
}

/// What vLLM does without a flag, where Tierscope's own default differs or it depends on the GPU.
pub(super) fn defaults(draft: &mut Draft<'_>) {
    if !draft.has("hardware.gpu_memory_utilization") && draft.model.is_some() {
        let why = "vLLM's default; 0.9 in older releases";
        draft.assume("hardware.gpu_memory_utilization", kv::VLLM_UTILIZATION, why);
    }
    if !draft.has("engine.max_num_seqs") {
        draft.assume(
            "engine.max_num_seqs",
            1_024,
            "vLLM's default on a GPU of 70 GiB and more, but an A100; else 256",
        );
    }
    if !draft.has("engine.max_num_batched_tokens") {
        let why = "vLLM's default on a GPU of 70 GiB and more, but an A100; else 2048";
        draft.assume("engine.max_num_batched_tokens", 8_192, why);
    }
}
