//! What moves blocks: `--kv-offloading-size` and `--kv-transfer-config`.

use super::command::{Command, Flag};
use super::{flags, lmcache_settings};
use crate::import::draft::Draft;
use crate::import::{NoteKind, kv, lmcache};
use crate::node::{Node, Value};

const GIB: f64 = 1_073_741_824.0;
/// Connectors inside connectors.
const DEEPEST: u32 = 4;

pub(super) fn apply(draft: &mut Draft<'_>, command: &Command) {
    memory(draft, command);
    size(draft, command);
    let Some(flag) = command.flag("kv-transfer-config") else {
        for flag in command.flags.iter().filter(|flag| flag.name.starts_with("kv-transfer-config.")) {
            draft.leave(flag.at, &flag.shown(), "write it as one JSON: --kv-transfer-config '{…}'");
        }
        return;
    };
    if let Some(node) = flags::object(draft, flag) {
        connector(draft, command, flag, &node, 0);
    }
}

/// G1 by its bytes.
fn memory(draft: &mut Draft<'_>, command: &Command) {
    let Some(flag) = command.flag("kv-cache-memory-bytes") else { return };
    let per_block = kv::bytes_per_token_and_rank(draft).saturating_mul(draft.block_tokens()).max(1);
    match flags::whole(flag.value()).map(|bytes| bytes / per_block) {
        Some(blocks) if (1..=crate::limit::G1_BLOCKS).contains(&blocks) => {
            draft.take(flag.at, &flag.shown(), "engine.g1_blocks", blocks as i64);
        }
        _ => {
            let expected = "bytes of at least one block";
            draft.refuse(flag.value_at(), &flag.written, flag.value(), expected, "write for example 20G");
        }
    }
}

fn size(draft: &mut Draft<'_>, command: &Command) {
    let backend = command.flag("kv-offloading-backend");
    let Some(flag) = command.flag("kv-offloading-size") else {
        if let Some(backend) = backend {
            draft.leave(backend.at, &backend.shown(), "it does nothing without --kv-offloading-size");
        }
        return;
    };
    let Some(gib) = flag.value().parse::<f64>().ok().filter(|gib| *gib > 0.0 && *gib < 1e9) else {
        let expected = "GiB, more than 0";
        return draft.refuse(flag.value_at(), &flag.written, flag.value(), expected, "write for example 64");
    };
    let copy = kv::one_copy(draft, gib);
    draft.take(flag.at, &flag.shown(), "g2.gib", copy);
    match backend.map(|backend| (backend, backend.value())) {
        Some((backend, "lmcache")) => {
            let mut settings = lmcache_settings(command);
            settings.retain(|setting| setting.key != "max_local_cpu_size");
            draft.note(
                NoteKind::Taken,
                Some(backend.at),
                &backend.shown(),
                "offload.store = \"on_compute\", by LMCache",
            );
            lmcache::apply(draft, &settings, true);
        }
        Some((backend, "native")) => native(draft, backend.at, &backend.shown()),
        Some((backend, other)) => {
            draft.refuse(backend.value_at(), &backend.written, other, "native or lmcache", "write native");
        }
        None => native(draft, flag.at, &flag.shown()),
    }
}

fn native(draft: &mut Draft<'_>, at: usize, what: &str) {
    draft.take(at, what, "offload.flavour", "vllm");
}

fn connector(draft: &mut Draft<'_>, command: &Command, flag: &Flag, node: &Node, depth: u32) {
    let name = match field(node, "kv_connector") {
        Some(Value::Text(name)) => name.clone(),
        _ => {
            let expected = "kv_connector, the name of a connector";
            return draft.refuse(
                flag.value_at(),
                &flag.written,
                flag.value(),
                expected,
                "add \"kv_connector\": \"…\"",
            );
        }
    };
    let extra = node_of(node, "kv_connector_extra_config");
    match name.as_str() {
        "OffloadingConnector" | "SimpleCPUOffloadConnector" => offloading(draft, flag, &name, extra),
        "NixlConnector" | "NixlPullConnector" | "NixlPushConnector" | "MooncakeConnector"
        | "P2pNcclConnector" => {
            handoff(draft, flag, &name, node);
        }
        "MultiConnector" if depth < DEEPEST => {
            let inner = extra.and_then(|extra| node_of(extra, "connectors"));
            let Some(Value::Array(items)) = inner.map(|inner| &inner.value) else {
                return draft.leave(flag.at, &name, "it lists no connectors");
            };
            items.iter().take(16).for_each(|item| connector(draft, command, flag, item, depth + 1));
        }
        _ if name.starts_with("LMCache") => {
            draft.note(
                NoteKind::Taken,
                Some(flag.at),
                &name,
                "[offload]: what is computed is stored at once",
            );
            let mut settings = lmcache_settings(command);
            for entry in extra.and_then(Node::entries).unwrap_or_default() {
                if let Some(key) = entry.key.strip_prefix("lmcache.") {
                    settings.push(lmcache::Setting::of_node(flag.at, &entry.key, key.into(), &entry.node));
                }
            }
            lmcache::apply(draft, &settings, false);
        }
        _ => draft.leave(
            flag.at,
            &name,
            "this connector has no counterpart: write [g2], [offload] and [handoff] yourself",
        ),
    }
}

fn field<'n>(node: &'n Node, key: &str) -> Option<&'n Value> {
    node_of(node, key).map(|node| &node.value)
}

fn node_of<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.entries()?.iter().find(|entry| entry.key == key).map(|entry| &entry.node)
}

fn positive(value: &Value) -> Option<f64> {
    let number = match value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Text(text) => text.parse().ok()?,
        _ => return None,
    };
    (number > 0.0 && number < 1e18).then_some(number)
}

/// vLLM's own connector: chunks in host memory.
fn offloading(draft: &mut Draft<'_>, flag: &Flag, name: &str, extra: Option<&Node>) {
    native(draft, flag.at, name);
    let entries = extra.and_then(Node::entries).unwrap_or_default();
    // The chunk first: sizes may be counted in it.
    let order = |key: &str| if key == "block_size" { 0 } else { 1 };
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|entry| order(&entry.key));
    for entry in entries {
        let what = format!("{} {}", entry.key, entry.node.describe());
        let Some(number) = positive(&entry.node.value) else {
            match (entry.key.as_str(), &entry.node.value) {
                ("eviction_policy", Value::Text(word)) if matches!(word.as_str(), "lru" | "arc") => {
                    draft.take(flag.at, &what, "offload.chunk_eviction", word.as_str());
                }
                _ => draft.leave(flag.at, &what, "this setting has no counterpart"),
            }
            continue;
        };
        match entry.key.as_str() {
            "cpu_bytes_to_use" => {
                let copy = kv::one_copy(draft, number / GIB);
                draft.take(flag.at, &what, "g2.gib", copy);
            }
            "num_cpu_blocks" => {
                let chunk = draft.whole("offload.blocks_per_chunk").unwrap_or(1);
                draft.take(flag.at, &what, "g2.blocks", (number as i64).saturating_mul(chunk as i64));
            }
            "block_size" => {
                let chunk = (number as u64 / draft.block_tokens()).max(1);
                draft.take(flag.at, &what, "offload.blocks_per_chunk", chunk as i64);
            }
            "blocks_per_chunk" => draft.take(flag.at, &what, "offload.blocks_per_chunk", number as i64),
            "store_threshold" => draft.take(flag.at, &what, "offload.store_threshold", number as i64),
            _ => draft.leave(flag.at, &what, "this setting has no counterpart"),
        }
    }
    if !draft.has("g2.gib") && !draft.has("g2.blocks") {
        draft.assume("g2.gib", 8.0, "the connector is given no cpu_bytes_to_use; vLLM would refuse to start");
    }
}

/// One side of a pair: the other is assumed to be like it.
fn handoff(draft: &mut Draft<'_>, flag: &Flag, name: &str, node: &Node) {
    draft.note(NoteKind::Taken, Some(flag.at), name, "[workers] prefill and decode, [handoff]");
    let side = match field(node, "kv_role") {
        Some(Value::Text(role)) if role == "kv_producer" => "the command is of a prefill worker",
        Some(Value::Text(role)) if role == "kv_consumer" => "the command is of a decode worker",
        _ => "the command is of one side",
    };
    let ranks = draft.whole("workers.count").unwrap_or(1) as i64;
    draft.unset("workers.count");
    draft.assume("workers.prefill", ranks, &format!("{side}; the other is taken to be like it"));
    draft.set("workers.decode", ranks);
    draft.set("handoff.order", "source_first");
    if draft.text("offload.flavour") == Some("vllm") {
        draft.unset("offload.flavour");
        draft.assume(
            "offload.store",
            "on_compute",
            "handoffs go through a block manager, not vLLM's connector",
        );
    }
}
