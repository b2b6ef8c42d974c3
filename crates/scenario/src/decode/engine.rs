//! The `[engine]` table.

use tierscope_engine::{Admission, EngineConfig};
use tierscope_units::Bytes;

use super::Notes;
use super::fields::Fields;
use crate::hardware::{Hardware, NoRoom};
use crate::limit;
use crate::problem::Problems;

const KEY: &str = "engine.g1_blocks";

/// The configuration, and whether `g1_blocks` was written.
pub(crate) fn decode(table: Option<Fields<'_>>, notes: &mut Notes) -> (EngineConfig, bool) {
    let mut engine = EngineConfig::default();
    let Some(fields) = table else {
        notes.default("engine.block_size_tokens", engine.block_size_tokens, "vLLM's default");
        return (engine, false);
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
    model_len(&mut engine, &fields, notes);
    let written = fields.has("g1_blocks");
    fields.close();
    (engine, written)
}

fn set_g1_and_limits(engine: &mut EngineConfig, fields: &Fields<'_>) {
    let set = |slot: &mut u32, value: Option<u32>| *slot = value.unwrap_or(*slot);
    set(&mut engine.max_num_seqs, fields.count("max_num_seqs", 1, limit::CONCURRENCY));
    set(&mut engine.max_num_batched_tokens, fields.count("max_num_batched_tokens", 1, limit::BATCHED_TOKENS));
    let longest = limit::BATCHED_TOKENS;
    set(&mut engine.long_prefill_token_threshold, fields.count("long_prefill_token_threshold", 0, longest));
    set(&mut engine.g1_blocks, fields.count("g1_blocks", 1, limit::G1_BLOCKS));
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
