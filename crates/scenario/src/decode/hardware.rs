//! The `[hardware]` table.

use super::fields::Fields;
use super::{Notes, bare_hardware};
use crate::hardware::Hardware;
use crate::limit;
use crate::preset::{self, KvLayout, ModelPreset};

pub(crate) fn decode(table: Option<Fields<'_>>, notes: &mut Notes) -> Hardware {
    let mut hardware = bare_hardware();
    let Some(fields) = table else {
        notes.default(
            "hardware.kv_bytes_per_token",
            hardware.kv_bytes_per_token,
            "as Llama-3.1-8B; no model is named",
        );
        return hardware;
    };
    hardware.model = named(&fields, "model", preset::models(), |model| model.name);
    hardware.gpu = named(&fields, "gpu", preset::gpus(), |gpu| gpu.name);
    let ranks = fields.count("tensor_parallel", 1, limit::TENSOR_PARALLEL);
    hardware.tensor_parallel = ranks.unwrap_or(1);
    let utilization = fields.number("gpu_memory_utilization", 0.01, 1.0);
    hardware.gpu_memory_utilization = utilization.unwrap_or(hardware.gpu_memory_utilization);
    let written = fields.whole("kv_bytes_per_token", 1, 1 << 40);
    if let Some(model) = hardware.model {
        ranks_fit(&fields, model, hardware.tensor_parallel);
        let types = [("auto", false), ("fp8", true)];
        hardware.fp8_cache = fields.word("kv_cache_dtype", &types).unwrap_or(false);
        let less = if hardware.fp8_cache { u64::from(model.kv_element_bytes.max(1)) } else { 1 };
        hardware.kv_bytes_per_token = model.kv_bytes_per_token() / less;
        hardware.kv_bytes_per_token_per_rank =
            model.kv_bytes_per_token_per_rank(hardware.tensor_parallel) / less;
        fields.misplaced(
            "kv_bytes_per_token",
            "no figure beside a model, whose layout gives it",
            "remove one of the two",
        );
        fields.close();
        return hardware;
    }
    let mend = "name a model, or halve kv_bytes_per_token and remove it";
    fields.misplaced("kv_cache_dtype", "it only beside a model", mend);
    if let Some(bytes) = written {
        hardware.kv_bytes_per_token = bytes;
        hardware.kv_bytes_per_token_per_rank = bytes.div_ceil(u64::from(hardware.tensor_parallel));
    } else {
        notes.default(
            "hardware.kv_bytes_per_token",
            hardware.kv_bytes_per_token,
            "as Llama-3.1-8B; no model is named",
        );
    }
    fields.close();
    hardware
}

fn named<T>(
    fields: &Fields<'_>,
    key: &'static str,
    rows: &'static [T],
    name_of: fn(&T) -> &'static str,
) -> Option<&'static T> {
    let name = fields.text(key)?;
    match preset::find(rows, name, name_of) {
        Ok(row) => Some(row),
        Err(mend) => {
            fields.refuse(fields.entry(key)?, format!("the name of a {key} preset"), mend);
            None
        }
    }
}

/// Heads can be split evenly, or be replicated evenly.
fn ranks_fit(fields: &Fields<'_>, model: &ModelPreset, ranks: u32) {
    let KvLayout::Heads { kv_heads, .. } = model.kv else { return };
    if kv_heads.is_multiple_of(ranks) || ranks.is_multiple_of(kv_heads) {
        return;
    }
    if let Some(entry) = fields.entry("tensor_parallel") {
        let expected = format!("a divisor or a multiple of the {kv_heads} KV heads of {}", model.name);
        fields.refuse(entry, expected, format!("write tensor_parallel = {kv_heads} or a divisor of it"));
    }
}
