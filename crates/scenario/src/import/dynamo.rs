//! Engine arguments of Dynamo's mocker (`MockEngineArgs` of 1.4.2), as JSON.

mod odd;

use super::NoteKind;
use super::draft::Draft;
use crate::limit;
use crate::node::{Entry, Value};
use crate::text::json;

/// What a field becomes.
enum Row {
    /// A whole number that means the same.
    Count(&'static str),
    /// A truth that means the same.
    Flag(&'static str),
    /// A rate in GB/s; 0 is no limit.
    Rate(&'static str),
    /// Nothing, and why.
    Left(&'static str),
}

const UNTOUCHED: &str = "says nothing about cache or scheduler";
const FIGURES: &str = "figures of that kind are not read: [timing] has the models that there are";

const ROWS: [(&str, Row); 44] = [
    ("num_gpu_blocks", Row::Count("engine.g1_blocks")),
    ("max_model_len", Row::Count("engine.max_model_len")),
    ("max_num_seqs", Row::Count("engine.max_num_seqs")),
    ("max_num_batched_tokens", Row::Count("engine.max_num_batched_tokens")),
    ("enable_prefix_caching", Row::Flag("engine.prefix_caching")),
    ("enable_chunked_prefill", Row::Flag("engine.chunked_prefill")),
    ("num_g2_blocks", Row::Count("g2.blocks")),
    ("num_g3_blocks", Row::Count("g3.blocks")),
    ("aic_tp_size", Row::Count("hardware.tensor_parallel")),
    ("bandwidth_g1_to_g2_gbps", Row::Rate("links.pcie.down_gb_per_s")),
    ("bandwidth_g2_to_g1_gbps", Row::Rate("links.pcie.up_gb_per_s")),
    ("bandwidth_g2_to_g3_gbps", Row::Rate("links.disk.down_gb_per_s")),
    ("bandwidth_g3_to_g2_gbps", Row::Rate("links.disk.up_gb_per_s")),
    ("bandwidth_g2_to_g4_gbps", Row::Rate("links.object.down_gb_per_s")),
    ("bandwidth_g4_to_g2_gbps", Row::Rate("links.object.up_gb_per_s")),
    ("g1_backend", Row::Left("one block manager, whose blocks are evicted as engine.eviction says")),
    ("planner_profile_data", Row::Left(FIGURES)),
    ("perf_model", Row::Left(FIGURES)),
    ("aic_backend", Row::Left(FIGURES)),
    ("aic_backend_version", Row::Left(FIGURES)),
    ("aic_moe_tp_size", Row::Left("experts are not placed")),
    ("aic_moe_ep_size", Row::Left("experts are not placed")),
    ("aic_attention_dp_size", Row::Left("attention is not split over data-parallel ranks")),
    ("aic_gemm_dtype", Row::Left(FIGURES)),
    ("aic_moe_dtype", Row::Left(FIGURES)),
    ("aic_fmha_dtype", Row::Left(FIGURES)),
    ("aic_comm_dtype", Row::Left(FIGURES)),
    ("aic_mtp_seed", Row::Left("all draws follow the scenario's seed")),
    ("mem_fraction_static", Row::Left("of another engine")),
    ("free_gpu_memory_fraction", Row::Left("of another engine")),
    ("enable_local_indexer", Row::Left(UNTOUCHED)),
    ("bootstrap_port", Row::Left(UNTOUCHED)),
    ("reasoning", Row::Left("answers have the length that the workload says")),
    ("response_replay_trace_path", Row::Left("answers have the length that the workload says")),
    ("zmq_kv_events_port", Row::Left(UNTOUCHED)),
    ("zmq_replay_port", Row::Left(UNTOUCHED)),
    ("router_queue_policy", Row::Left("the router has no queue of its own")),
    ("sglang", Row::Left("of another engine")),
    ("trtllm", Row::Left("of another engine")),
    ("has_perf_model", Row::Left(FIGURES)),
    ("is_prefill", Row::Left("written worker_type by now")),
    ("is_decode", Row::Left("written worker_type by now")),
    ("watermark", Row::Left("admission reserves nothing: see engine.watermark")),
    ("block_eviction", Row::Left("see engine.eviction")),
];

/// Whether a key is one of the arguments.
pub(super) fn knows(key: &str) -> bool {
    ROWS.iter().any(|row| row.0 == key) || ODD.contains(&key)
}

/// Fields with a meaning of their own, in the order in which they are read.
const ODD: [&str; 19] = [
    "block_size",
    "aic_model_path",
    "aic_system",
    "kv_bytes_per_token",
    "aic_kv_cache_dtype",
    "gpu_memory_utilization",
    "engine_type",
    "worker_type",
    "kv_transfer_bandwidth",
    "kv_transfer_timing_mode",
    "handoff_session_timeout_ms",
    "dp_size",
    "startup_time",
    "speedup_ratio",
    "decode_speedup_ratio",
    "aic_nextn",
    "aic_nextn_accept_rates",
    "enable_g4_storage",
    "offload_batch_size",
];

pub(super) fn read(text: &str, draft: &mut Draft<'_>) {
    let Some(root) = json::read(text, draft.problems) else { return };
    let Some(entries) = root.entries() else {
        let mend = "paste what --extra-engine-args is given";
        return draft.refuse(root.at, "", &root.describe(), "an object of engine arguments", mend);
    };
    draft.set("title", "Dynamo engine arguments");
    draft.wants_gpu = false;
    let find = |key: &str| entries.iter().find(|entry| entry.key == key && entry.node.value != Value::Null);
    ODD.iter().filter_map(|key| find(key)).for_each(|entry| odd::take(draft, entry));
    for entry in entries.iter().filter(|entry| entry.node.value != Value::Null) {
        match ROWS.iter().find(|row| row.0 == entry.key) {
            Some((_, row)) => plain(draft, entry, row),
            None if ODD.contains(&entry.key.as_str()) => {}
            None if entry.key == "preemption_mode" => preemption(draft, entry),
            None => draft.leave(entry.at, &what(entry), "no argument of Dynamo 1.4.2 that Tierscope knows"),
        }
    }
    if find("block_size").is_none() {
        block_size(draft);
    }
    lower(draft);
}

fn what(entry: &Entry) -> String {
    format!("{}: {}", entry.key, entry.node.describe())
}

fn whole(entry: &Entry) -> Option<i64> {
    match entry.node.value {
        Value::Int(number) => i64::try_from(number).ok(),
        Value::Float(number) if libm::trunc(number) == number && libm::fabs(number) < 1e15 => {
            Some(number as i64)
        }
        _ => None,
    }
}

fn number(entry: &Entry) -> Option<f64> {
    match entry.node.value {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        _ => None,
    }
    .filter(|number| number.is_finite())
}

fn wrong(draft: &Draft<'_>, entry: &Entry, expected: &str, example: &str) {
    let mend = format!("write \"{}\": {example}", entry.key);
    draft.problems.report(entry.node.at, &entry.key, entry.node.describe(), expected, mend);
}

fn plain(draft: &mut Draft<'_>, entry: &Entry, row: &Row) {
    match row {
        Row::Count(key) => match whole(entry).filter(|number| *number > 0) {
            Some(number) => draft.take(entry.at, &what(entry), key, number),
            None => wrong(draft, entry, "a whole number from 1 on", "1024"),
        },
        Row::Flag(key) => match entry.node.value {
            Value::Bool(truth) => draft.take(entry.at, &what(entry), key, truth),
            _ => wrong(draft, entry, "true or false", "true"),
        },
        Row::Rate(key) => match number(entry).filter(|rate| (0.0..=limit::LINK_GB_PER_S.1).contains(rate)) {
            Some(0.0) => {
                draft.set(key, limit::LINK_GB_PER_S.1);
                let words = format!(
                    "{key} = {} (0 is no limit; the fastest that can be written)",
                    limit::LINK_GB_PER_S.1
                );
                draft.note(NoteKind::Taken, Some(entry.at), &what(entry), &words);
            }
            Some(rate) => draft.take(entry.at, &what(entry), key, rate),
            None => wrong(draft, entry, "GB/s from 0 to a million", "25.0"),
        },
        Row::Left(why) => draft.leave(entry.at, &entry.key, why),
    }
}

fn block_size(draft: &mut Draft<'_>) {
    draft.assume(
        "engine.block_size_tokens",
        64,
        "block_size 0 or absent is the engine's own: 64 for the mocker's vLLM",
    );
}

fn preemption(draft: &mut Draft<'_>, entry: &Entry) {
    let usual = matches!(&entry.node.value, Value::Text(word) if matches!(word.to_ascii_lowercase().as_str(), "default" | "lifo"));
    let why = if usual {
        "the newest request first, as it is here"
    } else {
        "preempted is the newest request: see engine.victim"
    };
    draft.leave(entry.at, &what(entry), why);
}

/// Below G1 something needs G2; links and lanes need their tiers.
fn lower(draft: &mut Draft<'_>) {
    let lower = draft.has("g3.blocks") || draft.has("g4.blocks");
    if lower && !draft.has("g2.blocks") {
        draft.assume("g2.blocks", 1_024, "what lies in G3 or G4 is loaded through G2");
    }
    let needs = [
        ("g2.blocks", "links.pcie."),
        ("g2.blocks", "lanes.g1_g2."),
        ("g2.blocks", "lanes.g2_g1."),
        ("g3.blocks", "links.disk."),
        ("g4.blocks", "links.object."),
    ];
    for (tier, table) in needs.iter().filter(|(tier, _)| !draft.has(tier)).collect::<Vec<_>>() {
        if draft.drop_table(table) {
            let words =
                format!("[{}] is left out: there is no [{}]", table.trim_end_matches('.'), &tier[..2]);
            draft.note(NoteKind::Left, None, "", &words);
        }
    }
    if draft.has("hardware.gpu_memory_utilization") && draft.has("engine.g1_blocks") {
        draft.note(NoteKind::Assumed, None, "", "num_gpu_blocks counts, not gpu_memory_utilization");
    }
}
