//! LMCache's settings: from its YAML, from `LMCACHE_…` variables, and from a connector's extra configuration.
//!
//! Names and defaults are those of its documentation, "Configuring LMCache".

use super::draft::Draft;
use super::{NoteKind, kv, yaml};
use crate::node::{Node, Value};

/// Most GB of a size.
const MOST_GB: f64 = 1e6;
/// Blocks of a store without a size: some hundred GB, and as many as a simulated tier holds with ease.
const UNBOUNDED_BLOCKS: i64 = 1 << 20;

/// One setting.
pub(super) struct Setting {
    at: usize,
    /// As a note shows it.
    what: String,
    pub(super) key: String,
    value: Value,
}

impl Setting {
    pub(super) fn of_node(at: usize, name: &str, key: String, node: &Node) -> Self {
        Self { at, what: format!("{name}: {}", node.describe()), key, value: node.value.clone() }
    }

    /// A variable's value, which is always text.
    pub(super) fn of_text(at: usize, name: &str, key: String, text: &str) -> Self {
        let value = match (text, text.parse::<i64>(), text.parse::<f64>()) {
            ("true" | "True" | "TRUE", ..) => Value::Bool(true),
            ("false" | "False" | "FALSE", ..) => Value::Bool(false),
            ("", ..) => Value::Null,
            (_, Ok(number), _) => Value::Int(i128::from(number)),
            (_, _, Ok(number)) if number.is_finite() => Value::Float(number),
            _ => Value::Text(text.to_owned()),
        };
        Self { at, what: format!("{name}={text}"), key, value }
    }

    fn number(&self) -> Option<f64> {
        match self.value {
            Value::Int(number) => Some(number as f64),
            Value::Float(number) => Some(number),
            _ => None,
        }
    }
}

pub(super) fn read(text: &str, draft: &mut Draft<'_>) {
    let Some(root) = yaml::read(text, draft.problems) else { return };
    let Some(entries) = root.entries() else {
        return draft.refuse(
            root.at,
            "",
            &root.describe(),
            "a mapping of settings",
            "write chunk_size: 256 and the like",
        );
    };
    draft.set("title", "LMCache");
    let why = "hardware.kv_bytes_per_token = 131072, as Llama-3.1-8B (the configuration names no model)";
    draft.note(NoteKind::Assumed, None, "", why);
    draft.set("hardware.kv_bytes_per_token", 131_072);
    let settings: Vec<Setting> = entries
        .iter()
        .map(|entry| Setting::of_node(entry.at, &entry.key, entry.key.clone(), &entry.node))
        .collect();
    apply(draft, &settings, false);
}

/// Writes the settings into the draft. `sized` says that G2 has its size already.
pub(super) fn apply(draft: &mut Draft<'_>, settings: &[Setting], sized: bool) {
    let last = |key: &str| settings.iter().rev().find(|setting| setting.key == key);
    draft.set("offload.store", "on_compute");
    chunk(draft, last("chunk_size"));
    if !sized {
        host(draft, last("local_cpu"), last("max_local_cpu_size"));
    }
    disk(draft, last("local_disk"), last("max_local_disk_size"));
    remote(draft, last("remote_url"));
    policy(draft, last("cache_policy"));
    pair(draft, last("enable_pd"), last("pd_role"));
    const READ: [&str; 9] = [
        "chunk_size",
        "local_cpu",
        "max_local_cpu_size",
        "local_disk",
        "max_local_disk_size",
        "remote_url",
        "cache_policy",
        "enable_pd",
        "pd_role",
    ];
    for setting in settings.iter().filter(|setting| !READ.contains(&setting.key.as_str())) {
        left(draft, setting);
    }
    let words = "offload.store = \"on_compute\" (LMCache stores what is computed; answers too here, by its default prompts only)";
    draft.note(NoteKind::Assumed, None, "", words);
}

fn chunk(draft: &mut Draft<'_>, setting: Option<&Setting>) {
    let tokens = match setting.map(|setting| (setting, setting.number())) {
        Some((_, Some(tokens))) if (1.0..=65_536.0).contains(&tokens) => tokens as u64,
        Some((setting, _)) => {
            return draft.refuse(
                setting.at,
                "chunk_size",
                &setting.what,
                "tokens from 1 to 65536",
                "write chunk_size: 256",
            );
        }
        None => 256,
    };
    let blocks = (tokens / draft.block_tokens()).max(1) as i64;
    for lane in ["lanes.g1_g2.batch_blocks", "lanes.g2_g1.batch_blocks"] {
        draft.set(lane, blocks);
    }
    match setting {
        Some(setting) => {
            let words = format!(
                "lanes.g1_g2.batch_blocks = {blocks}: a chunk moves as one batch; hits are counted in blocks, not in chunks"
            );
            draft.note(NoteKind::Taken, Some(setting.at), &setting.what, &words);
        }
        None => {
            let words =
                format!("lanes.g1_g2.batch_blocks = {blocks} (LMCache's default chunk of 256 tokens)");
            draft.note(NoteKind::Assumed, None, "", &words);
        }
    }
}

/// A size in GB, which LMCache counts as GiB, for each rank.
fn size(draft: &mut Draft<'_>, setting: &Setting) -> Option<f64> {
    match setting.number().filter(|gb| (0.0..=MOST_GB).contains(gb)) {
        Some(gb) => Some(kv::one_copy(draft, gb * f64::from(draft.ranks()))),
        None => {
            draft.refuse(
                setting.at,
                &setting.key,
                &setting.what,
                "GB from 0 to a million",
                "write for example 20",
            );
            None
        }
    }
}

fn host(draft: &mut Draft<'_>, enabled: Option<&Setting>, size_setting: Option<&Setting>) {
    let off = enabled.filter(|setting| setting.value == Value::Bool(false));
    match size_setting {
        Some(setting) => {
            if let Some(gib) = size(draft, setting).filter(|gib| *gib > 0.0) {
                draft.take(setting.at, &setting.what, "g2.gib", gib);
            } else {
                draft.assume(
                    "g2.gib",
                    1.0,
                    "a size of 0 is no tier; what lies lower passes through host memory",
                );
            }
        }
        None => {
            let gib = kv::one_copy(draft, 5.0 * f64::from(draft.ranks()));
            draft.assume("g2.gib", gib, "LMCache's default of 5 GB for each rank");
        }
    }
    match (off, enabled) {
        (Some(setting), _) => {
            let words =
                "G2 stays: LMCache's buffer in host memory, through which all goes, is there all the same";
            draft.note(NoteKind::Assumed, Some(setting.at), &setting.what, words);
        }
        (None, Some(setting)) => draft.note(NoteKind::Taken, Some(setting.at), &setting.what, "[g2]"),
        (None, None) => {}
    }
}

fn disk(draft: &mut Draft<'_>, path: Option<&Setting>, size_setting: Option<&Setting>) {
    let Some(path) = path.filter(|setting| !matches!(setting.value, Value::Null | Value::Bool(false))) else {
        if let Some(setting) = size_setting {
            draft.leave(setting.at, &setting.what, "it does nothing without local_disk");
        }
        return;
    };
    draft.note(NoteKind::Taken, Some(path.at), &path.what, "[g3]");
    match size_setting.map(|setting| (setting, size(draft, setting))) {
        Some((setting, Some(gib))) if gib > 0.0 => draft.take(setting.at, &setting.what, "g3.gib", gib),
        Some((_, None)) => {}
        _ => {
            draft.unset("g3.gib");
            let why = "local_disk has no size; LMCache's default of 0 GB would store nothing";
            draft.assume("g3.gib", 100.0, why);
        }
    }
}

fn remote(draft: &mut Draft<'_>, url: Option<&Setting>) {
    let Some(setting) = url.filter(|setting| setting.value != Value::Null) else { return };
    let scheme = match &setting.value {
        Value::Text(text) => text.split(':').next().unwrap_or_default(),
        _ => "",
    };
    // The address may hold a password: only the kind of store is shown.
    let what = format!(
        "remote_url {}",
        scheme.chars().take(20).filter(char::is_ascii_alphanumeric).collect::<String>()
    );
    draft.take(setting.at, &what, "g4.blocks", UNBOUNDED_BLOCKS);
    draft.note(NoteKind::Assumed, Some(setting.at), &what, "a store without a size: 1,048,576 blocks");
    if scheme != "s3" {
        let words = "[links.object] is that of an object store with 30 ms: a store in the same rack is faster, write its figures";
        draft.note(NoteKind::Assumed, Some(setting.at), &what, words);
    }
}

fn policy(draft: &mut Draft<'_>, setting: Option<&Setting>) {
    let Some(setting) = setting else { return };
    let Value::Text(word) = &setting.value else {
        return draft.leave(setting.at, &setting.what, "no name of a policy");
    };
    match word.to_ascii_lowercase().as_str() {
        "lru" => draft.take(setting.at, &setting.what, "g2.eviction", "lru"),
        "lfu" => {
            draft.take(setting.at, &setting.what, "g2.eviction", "tinylfu");
            draft.note(
                NoteKind::Assumed,
                Some(setting.at),
                &setting.what,
                "least used by TinyLFU's sketch, not by exact counts",
            );
        }
        _ => draft.leave(setting.at, &setting.what, "this order has no counterpart: \"lru\" is used"),
    }
}

fn pair(draft: &mut Draft<'_>, enabled: Option<&Setting>, role: Option<&Setting>) {
    let Some(setting) = enabled else { return };
    if setting.value != Value::Bool(true) {
        return draft.leave(setting.at, &setting.what, "no separate prefill, as it is here");
    }
    draft.note(NoteKind::Taken, Some(setting.at), &setting.what, "[workers] prefill and decode, [handoff]");
    let side = role.map_or("one side", |role| {
        if role.what.contains("receiver") { "the decode side" } else { "the prefill side" }
    });
    if !draft.has("workers.prefill") {
        draft.assume("workers.prefill", 1, &format!("the configuration is of {side}; one worker each"));
        draft.set("workers.decode", 1);
        draft.set("handoff.order", "source_first");
    }
}

fn left(draft: &mut Draft<'_>, setting: &Setting) {
    let why = match setting.key.as_str() {
        "enable_blending" | "blend_recompute_ratios" | "blend_check_layers" | "blend_special_str" => {
            "reuse that is no prefix is not modelled"
        }
        "save_decode_cache" | "save_unfull_chunk" => "full blocks are stored, of prompts and answers alike",
        "remote_serde" => "bytes are not compressed on their way",
        "use_layerwise" => "a load is whole before the pass that uses it",
        "enable_p2p" => "workers do not read each other's G2",
        "min_retrieve_tokens" => "every hit is loaded; see offload.load",
        _ => "it says nothing about which blocks lie where, or it has no counterpart",
    };
    // Values may hold secrets: only the name is shown.
    let name: String = setting.what.split([':', '=']).next().unwrap_or_default().chars().take(60).collect();
    draft.leave(setting.at, &name, why);
}
