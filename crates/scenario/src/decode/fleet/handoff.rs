//! `[handoff]`: how prompts go from prefill to decode workers (rules H1, H2, H4).

use tierscope_engine::{HandoffBytes, HandoffConfig, HandoffOrder};
use tierscope_units::Span;

use crate::decode::Notes;
use crate::decode::fields::{Fields, number_of};
use crate::limit;
use crate::node::Value;
use crate::preset::ModelPreset;

/// Layers of a model that is not named: those of Llama-3.1-8B.
const LAYERS: u32 = 32;

/// What `[handoff]` says.
pub(super) struct Decoded {
    pub(super) config: HandoffConfig,
    pub(super) layers: u32,
    pub(super) message_delay: Span,
}

impl Default for Decoded {
    fn default() -> Self {
        Self { config: HandoffConfig::VLLM, layers: LAYERS, message_delay: Span::ZERO }
    }
}

pub(super) fn decode(
    table: Option<Fields<'_>>,
    model: Option<&'static ModelPreset>,
    notes: &mut Notes,
) -> Decoded {
    // What moves is the KV of the layers whose cache grows.
    let of_model = model.map(ModelPreset::growing_layers);
    let mut decoded = Decoded { layers: of_model.unwrap_or(LAYERS), ..Decoded::default() };
    let Some(fields) = table else {
        note_order(notes);
        note_lease(notes);
        return decoded;
    };
    let config = &mut decoded.config;
    let orders =
        [("source_first", HandoffOrder::SourceFirst), ("destination_first", HandoffOrder::DestinationFirst)];
    config.order = fields.word("order", &orders).unwrap_or(config.order);
    if !fields.has("order") {
        note_order(notes);
    }
    let bytes = [
        ("destination_missing", HandoffBytes::DestinationMissing),
        ("full_prompt", HandoffBytes::FullPrompt),
    ];
    config.bytes = fields.word("bytes", &bytes).unwrap_or(config.bytes);
    config.pipelined = transfer(&fields, config.order);
    let layers = fields.count("layers", 1, limit::LAYERS);
    if !config.pipelined {
        fields.misplaced(
            "layers",
            "it only beside transfer = \"layers\"",
            "write transfer = \"layers\", or remove it",
        );
    } else if !fields.has("layers") {
        let why = model.map_or("as Llama-3.1-8B; no model is named", |model| model.name);
        notes.default("handoff.layers", decoded.layers, why);
    }
    decoded.layers = layers.filter(|_| config.pipelined).unwrap_or(decoded.layers);
    config.lease = lease(&fields, notes);
    decoded.message_delay = fields.copy_milliseconds("message_delay_ms").unwrap_or(Span::ZERO);
    fields.close();
    decoded
}

fn note_order(notes: &mut Notes) {
    notes.default("handoff.order", "\"source_first\"", "as vLLM does");
}

fn note_lease(notes: &mut Notes) {
    notes.default("handoff.lease_s", 480, "as vLLM's NIXL connector");
}

/// Whether the prompt moves layer by layer.
fn transfer(fields: &Fields<'_>, order: HandoffOrder) -> bool {
    let is_pipelined = fields.word("transfer", &[("whole", false), ("layers", true)]).unwrap_or(false);
    if let (true, HandoffOrder::SourceFirst, Some(entry)) = (is_pipelined, order, fields.entry("transfer")) {
        let expected = "\"whole\" beside order = \"source_first\": layers move while the prompt is computed, \
                        and where to must be known before (rule H1)";
        fields.refuse(entry, expected, "write order = \"destination_first\", or remove it");
    }
    is_pipelined
}

/// Seconds, or never.
fn lease(fields: &Fields<'_>, notes: &mut Notes) -> Option<Span> {
    let Some(entry) = fields.entry("lease_s") else {
        note_lease(notes);
        return HandoffConfig::VLLM.lease;
    };
    if matches!(&entry.node.value, Value::Text(text) if text == "never") {
        return None;
    }
    match number_of(&entry.node, 0.0, limit::LEASE_S) {
        Ok(seconds) => Some(Span::from_ms_f64(seconds * 1e3)).filter(|&lease| lease > Span::ZERO),
        Err(mend) => {
            fields.refuse(entry, format!("seconds from 0 to {}, or \"never\"", limit::LEASE_S), mend);
            None
        }
    }
}
