//! The `[engine]` table.

use tierscope_engine::{
    Acquisition, Admission, DraftMethod, EngineConfig, EvictionPolicy, Fidelity, HashDeletion,
    SchedulingPolicy, Speculation, Victim,
};
use tierscope_units::Bytes;

use super::Notes;
use super::fields::Fields;
use crate::hardware::{Hardware, NoRoom};
use crate::limit;
use crate::problem::Problems;

/// A round figure: published acceptance rates lie between 0.6 and 0.8.
pub(crate) const DEFAULT_DRAFT_ACCEPTANCE: f64 = 0.7;

/// The words for orders of eviction, of every tier.
pub(crate) const EVICTIONS: [(&str, EvictionPolicy); 3] = [
    ("lru", EvictionPolicy::Lru),
    ("lineage", EvictionPolicy::Lineage),
    ("tinylfu", EvictionPolicy::TinyLfu),
];

const KEY: &str = "engine.g1_blocks";

/// What the table says.
pub(crate) struct Decoded {
    pub(crate) engine: EngineConfig,
    /// Whether `g1_blocks` was written.
    pub(crate) g1_written: bool,
    /// Share of drafts that the model accepts, each behind accepted ones.
    pub(crate) draft_acceptance: f64,
}

pub(crate) fn decode(table: Option<Fields<'_>>, notes: &mut Notes) -> Decoded {
    let mut engine = EngineConfig::default();
    let mut draft_acceptance = DEFAULT_DRAFT_ACCEPTANCE;
    let Some(fields) = table else {
        notes.default("engine.block_size_tokens", engine.block_size_tokens, "vLLM's default");
        return Decoded { engine, g1_written: false, draft_acceptance };
    };
    match fields.count("block_size_tokens", 1, limit::BLOCK_TOKENS) {
        Some(tokens) => engine.block_size_tokens = tokens,
        None => notes.default("engine.block_size_tokens", engine.block_size_tokens, "vLLM's default"),
    }
    set_g1_and_limits(&mut engine, &fields);
    engine.prefix_caching = fields.flag("prefix_caching").unwrap_or(engine.prefix_caching);
    engine.chunked_prefill = fields.flag("chunked_prefill").unwrap_or(engine.chunked_prefill);
    let gates = [("full_prompt", Admission::FullPrompt), ("next_chunk", Admission::NextChunk)];
    engine.admission = fields.word("admission", &gates).unwrap_or(engine.admission);
    engine.watermark = fields.number("watermark", 0.0, 0.99).unwrap_or(engine.watermark);
    set_policies(&mut engine, &fields);
    speculation(&mut engine, &fields);
    model_len(&mut engine, &fields, notes);
    draft_acceptance = fields.number("draft_acceptance", 0.0, 1.0).unwrap_or(draft_acceptance);
    let g1_written = fields.has("g1_blocks");
    fields.close();
    Decoded { engine, g1_written, draft_acceptance }
}

fn set_g1_and_limits(engine: &mut EngineConfig, fields: &Fields<'_>) {
    let set = |slot: &mut u32, value: Option<u32>| *slot = value.unwrap_or(*slot);
    set(&mut engine.max_num_seqs, fields.count("max_num_seqs", 1, limit::CONCURRENCY));
    set(&mut engine.max_num_batched_tokens, fields.count("max_num_batched_tokens", 1, limit::BATCHED_TOKENS));
    let longest = limit::BATCHED_TOKENS;
    set(&mut engine.long_prefill_token_threshold, fields.count("long_prefill_token_threshold", 0, longest));
    set(&mut engine.g1_blocks, fields.count("g1_blocks", 1, limit::G1_BLOCKS));
}

fn set_policies(engine: &mut EngineConfig, fields: &Fields<'_>) {
    engine.eviction = fields.word("eviction", &EVICTIONS).unwrap_or(engine.eviction);
    let policies = [("fcfs", SchedulingPolicy::Fcfs), ("priority", SchedulingPolicy::Priority)];
    engine.policy = fields.word("policy", &policies).unwrap_or(engine.policy);
    let fidelities = [("mended", Fidelity::Mended), ("exact", Fidelity::Exact)];
    engine.fidelity = fields.word("fidelity", &fidelities).unwrap_or(engine.fidelity);
    let victims = [
        ("by_policy", Victim::ByPolicy),
        ("least_computed", Victim::LeastComputed),
        ("nobody", Victim::Nobody),
    ];
    engine.victim = fields.word("victim", &victims).unwrap_or(engine.victim);
    let acquisitions = [("all_or_nothing", Acquisition::AllOrNothing), ("partial", Acquisition::Partial)];
    engine.acquisition = fields.word("acquisition", &acquisitions).unwrap_or(engine.acquisition);
    let deletions = [("on_reuse", HashDeletion::OnReuse), ("on_eviction", HashDeletion::OnEviction)];
    engine.hash_deletion = fields.word("hash_deletion", &deletions).unwrap_or(engine.hash_deletion);
    engine.async_scheduling = fields.flag("async_scheduling").unwrap_or(engine.async_scheduling);
    let adaptive = fields.flag("long_prefill_token_threshold_adaptive");
    engine.long_prefill_token_threshold_adaptive = adaptive.unwrap_or(false);
    engine.max_num_active_seqs = fields.count("max_num_active_seqs", 1, limit::CONCURRENCY);
    engine.max_num_scheduled_tokens = fields.count("max_num_scheduled_tokens", 1, limit::BATCHED_TOKENS);
    let interval = fields.count("prefill_schedule_interval", 1, limit::CONCURRENCY);
    engine.prefill_schedule_interval = interval.unwrap_or(engine.prefill_schedule_interval);
}

/// Draft tokens, and how many of them the model accepts.
fn speculation(engine: &mut EngineConfig, fields: &Fields<'_>) {
    let tokens = fields.count("draft_tokens", 1, limit::DRAFT_TOKENS);
    let methods = [
        ("ngram", DraftMethod::Ngram),
        ("draft_model", DraftMethod::DraftModel),
        ("eagle", DraftMethod::Eagle),
        ("eagle_drop", DraftMethod::EagleDrop),
    ];
    let method = fields.word("draft_method", &methods);
    engine.speculation =
        tokens.map(|tokens| Speculation { method: method.unwrap_or(DraftMethod::Ngram), tokens });
    if tokens.is_none() {
        let mend = "add draft_tokens = 3, or remove it";
        fields.misplaced("draft_method", "it only beside draft_tokens", mend);
        fields.misplaced("draft_acceptance", "it only beside draft_tokens", mend);
    }
}

/// Without chunked prefill a sequence longer than a pass could never be computed: vLLM refuses such a
/// configuration at start.
fn model_len(engine: &mut EngineConfig, fields: &Fields<'_>, notes: &mut Notes) {
    let written = fields.count("max_model_len", 1, limit::MODEL_LEN);
    let pass = engine.max_num_batched_tokens;
    match written {
        Some(tokens) => engine.max_model_len = tokens,
        None if !engine.chunked_prefill && engine.max_model_len > pass => {
            engine.max_model_len = pass;
            notes.default(
                "engine.max_model_len",
                pass,
                "max_num_batched_tokens, since prefill is not chunked",
            );
        }
        None => {}
    }
    let too_long = !engine.chunked_prefill && engine.max_model_len > pass;
    if let (true, Some(entry)) = (too_long, fields.entry("max_model_len")) {
        let expected = format!("at most max_num_batched_tokens ({pass}) when chunked_prefill = false");
        let mend = format!("write max_num_batched_tokens = {}, or chunk the prefill", engine.max_model_len);
        fields.refuse(entry, expected, mend);
    }
}

/// Sets `g1_blocks`, which is not written, from the hardware where that is named. A problem is reported at `at`.
pub(crate) fn derive_g1(
    engine: &mut EngineConfig,
    hardware: &Hardware,
    problems: &Problems<'_>,
    at: usize,
    notes: &mut Notes,
) {
    match hardware.g1_blocks(engine.block_size_tokens) {
        None => notes.default(
            KEY,
            engine.g1_blocks,
            "the pool of Dynamo's mocker; hardware.model and .gpu would derive it",
        ),
        Some(Ok(blocks)) => {
            engine.g1_blocks = blocks.min(limit::G1_BLOCKS) as u32;
            let from = format!(
                "what {} leaves of {} × {}",
                hardware.model_name(),
                hardware.tensor_parallel,
                hardware.gpu_name()
            );
            notes.default(KEY, engine.g1_blocks, &from);
        }
        Some(Err(NoRoom { usable, weights, block })) => {
            let (usable, weights, block) = (Bytes(usable), Bytes(weights), Bytes(block));
            let found = format!("{weights} of weights in {usable} of usable memory per rank");
            let expected = format!("room for at least one block of {block} beside them");
            problems.report(
                at,
                KEY,
                found,
                expected,
                "raise hardware.tensor_parallel, name a larger gpu, or write g1_blocks",
            );
        }
    }
}
