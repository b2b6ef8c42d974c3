//! Fields with a meaning of their own.

use super::{block_size, number, what, whole, wrong};
use crate::import::draft::Draft;
use crate::import::{NoteKind, model};
use crate::node::{Entry, Value};
use crate::timing::Polynomial;

/// Takes one of them.
pub(super) fn take(draft: &mut Draft<'_>, entry: &Entry) {
    let shown = what(entry);
    match entry.key.as_str() {
        "block_size" => match whole(entry) {
            Some(0) => block_size(draft),
            Some(tokens) if tokens > 0 => draft.take(entry.at, &shown, "engine.block_size_tokens", tokens),
            _ => wrong(draft, entry, "tokens from 1 on", "64"),
        },
        "aic_model_path" => named(draft, entry),
        "aic_system" => system(draft, entry),
        "kv_bytes_per_token" => bytes(draft, entry),
        "aic_kv_cache_dtype" => match &entry.node.value {
            Value::Text(word) if word.starts_with("fp8") && draft.model.is_some() => {
                draft.take(entry.at, &shown, "hardware.kv_cache_dtype", "fp8");
            }
            _ => draft.leave(entry.at, &shown, "16 bits are counted, or what kv_bytes_per_token says"),
        },
        "gpu_memory_utilization" => match number(entry).filter(|share| (0.01..=1.0).contains(share)) {
            Some(share) => draft.take(entry.at, &shown, "hardware.gpu_memory_utilization", share),
            None => wrong(draft, entry, "a share from 0.01 to 1", "0.9"),
        },
        "engine_type" => match &entry.node.value {
            Value::Text(word) if word == "vllm" => {
                draft.leave(entry.at, &shown, "vLLM's scheduler, as it is here")
            }
            _ => draft.note(
                NoteKind::Assumed,
                Some(entry.at),
                &shown,
                "the scheduler is vLLM's: other engines are not modelled",
            ),
        },
        "worker_type" => side(draft, entry),
        "dp_size" | "startup_time" => workers(draft, entry),
        "speedup_ratio" | "decode_speedup_ratio" => speed(draft, entry),
        "aic_nextn" | "aic_nextn_accept_rates" => drafts(draft, entry),
        "enable_g4_storage" => storage(draft, entry),
        "offload_batch_size" => match whole(entry).filter(|blocks| (1..=65_536).contains(blocks)) {
            Some(blocks) => {
                draft.take(entry.at, &shown, "lanes.g1_g2.batch_blocks", blocks);
                draft.set("lanes.g2_g1.batch_blocks", blocks);
            }
            None => wrong(draft, entry, "blocks from 1 to 65536", "32"),
        },
        _ => handoff(draft, entry),
    }
}

fn named(draft: &mut Draft<'_>, entry: &Entry) {
    let Value::Text(name) = &entry.node.value else {
        return wrong(draft, entry, "a name", "\"Qwen/Qwen3-32B\"");
    };
    match model::find(name) {
        Ok(found) => {
            draft.model = Some(found.model);
            draft.take(entry.at, &what(entry), "hardware.model", found.model.name);
        }
        Err(_) => draft.leave(entry.at, &what(entry), "no preset has this name"),
    }
}

fn system(draft: &mut Draft<'_>, entry: &Entry) {
    const SYSTEMS: [(&str, &str); 7] = [
        ("h100_sxm", "h100-sxm"),
        ("h200_sxm", "h200"),
        ("b200_sxm", "b200"),
        ("gb200", "gb200"),
        ("gb200_sxm", "gb200"),
        ("a100_sxm", "a100-sxm-80"),
        ("l40s", "l40s"),
    ];
    let found = match &entry.node.value {
        Value::Text(name) => SYSTEMS.iter().find(|(system, _)| system == name),
        _ => None,
    };
    match found {
        Some((_, gpu)) => {
            draft.gpu_named = true;
            draft.take(entry.at, &what(entry), "hardware.gpu", *gpu);
        }
        None => draft.leave(entry.at, &what(entry), "no preset of a GPU stands for it"),
    }
}

/// A figure beside a model: the figure counts, as the mocker takes it.
fn bytes(draft: &mut Draft<'_>, entry: &Entry) {
    let Some(bytes) = whole(entry).filter(|bytes| *bytes > 0) else {
        return wrong(draft, entry, "bytes from 1 on", "131072");
    };
    if draft.model.take().is_some() {
        draft.unset("hardware.model");
        let words = "hardware.model is left out: a figure and a model cannot both be written";
        draft.note(NoteKind::Assumed, Some(entry.at), &what(entry), words);
    }
    draft.take(entry.at, &what(entry), "hardware.kv_bytes_per_token", bytes);
}

fn side(draft: &mut Draft<'_>, entry: &Entry) {
    let word = match &entry.node.value {
        Value::Text(word) => word.to_ascii_lowercase(),
        _ => return wrong(draft, entry, "\"aggregated\", \"prefill\" or \"decode\"", "\"aggregated\""),
    };
    match word.as_str() {
        "aggregated" => draft.leave(entry.at, &what(entry), "workers that do both, as it is here"),
        "prefill" | "decode" => {
            draft.note(
                NoteKind::Taken,
                Some(entry.at),
                &what(entry),
                "[workers] prefill and decode, [handoff]",
            );
            draft.assume(
                "workers.prefill",
                1,
                "the other side is taken to be like this one, one worker each",
            );
            draft.set("workers.decode", 1);
            draft.set("handoff.order", "source_first");
        }
        _ => wrong(draft, entry, "\"aggregated\", \"prefill\" or \"decode\"", "\"aggregated\""),
    }
}

fn handoff(draft: &mut Draft<'_>, entry: &Entry) {
    if !draft.has("workers.prefill") {
        return draft.leave(entry.at, &what(entry), "it matters only between prefill and decode workers");
    }
    match entry.key.as_str() {
        "kv_transfer_bandwidth" => match number(entry).filter(|rate| (1e-6..=1e6).contains(rate)) {
            Some(rate) => draft.take(entry.at, &what(entry), "links.handoff.gb_per_s", rate),
            None => draft.leave(entry.at, &what(entry), "0 is no limit: the link's preset stays"),
        },
        "kv_transfer_timing_mode" => {
            let all =
                matches!(&entry.node.value, Value::Text(word) if word.to_ascii_lowercase().contains("full"));
            draft.take(
                entry.at,
                &what(entry),
                "handoff.bytes",
                if all { "full_prompt" } else { "destination_missing" },
            );
        }
        _ => match number(entry).filter(|ms| (1.0..=86_400_000.0).contains(ms)) {
            Some(ms) => draft.take(entry.at, &what(entry), "handoff.lease_s", ms / 1e3),
            None => wrong(draft, entry, "milliseconds from 1 to a day", "300000"),
        },
    }
}

fn workers(draft: &mut Draft<'_>, entry: &Entry) {
    if entry.key == "startup_time" {
        return draft.leave(
            entry.at,
            &what(entry),
            "workers are there from the beginning; see workers.startup_ms",
        );
    }
    match whole(entry).filter(|ranks| (1..=4_096).contains(ranks)) {
        Some(1) => draft.leave(entry.at, &what(entry), "one worker, as it is here"),
        Some(ranks) if draft.has("workers.prefill") => {
            draft.take(entry.at, &what(entry), "workers.prefill", ranks);
            draft.set("workers.decode", ranks);
        }
        Some(ranks) => draft.take(entry.at, &what(entry), "workers.count", ranks),
        None => wrong(draft, entry, "ranks from 1 to 4096", "2"),
    }
}

/// Times divided by a ratio: the coefficients of the polynomial are.
fn speed(draft: &mut Draft<'_>, entry: &Entry) {
    let Some(ratio) = number(entry).filter(|ratio| (0.0..=1e6).contains(ratio)) else {
        return wrong(draft, entry, "a ratio from 0 to a million", "1.0");
    };
    if ratio == 0.0 {
        return draft.leave(entry.at, &what(entry), "0 is no time at all, which no pass takes here");
    }
    if (ratio - 1.0).abs() < 1e-12 {
        return draft.leave(entry.at, &what(entry), "times as they are");
    }
    let usual = Polynomial::default();
    draft.set("timing.model", "polynomial");
    let prefill = [
        ("timing.prefill_quadratic_ms", usual.prefill_quadratic_ms),
        ("timing.prefill_linear_ms", usual.prefill_linear_ms),
        ("timing.prefill_constant_ms", usual.prefill_constant_ms),
    ];
    let decode = [
        ("timing.decode_quadratic_ms", usual.decode_quadratic_ms),
        ("timing.decode_linear_ms", usual.decode_linear_ms),
        ("timing.decode_constant_ms", usual.decode_constant_ms),
        ("timing.decode_floor_ms", usual.decode_floor_ms),
    ];
    let both = entry.key == "speedup_ratio";
    for (key, usual) in prefill.iter().filter(|_| both).chain(&decode) {
        let present = draft.number(key).unwrap_or(*usual);
        draft.set(key, present / ratio);
    }
    let words = if both {
        "[timing]: the polynomial's coefficients, divided"
    } else {
        "[timing]: those of decode, divided"
    };
    draft.note(NoteKind::Taken, Some(entry.at), &what(entry), words);
}

fn drafts(draft: &mut Draft<'_>, entry: &Entry) {
    if entry.key == "aic_nextn" {
        return match whole(entry).filter(|tokens| (1..=64).contains(tokens)) {
            Some(tokens) => {
                draft.take(entry.at, &what(entry), "engine.draft_tokens", tokens);
                draft.set("engine.draft_method", "eagle");
            }
            None => wrong(draft, entry, "tokens from 1 to 5", "1"),
        };
    }
    let rates = match &entry.node.value {
        Value::Text(text) => {
            text.split(',').map(|rate| rate.trim().parse::<f64>().ok()).collect::<Option<Vec<_>>>()
        }
        _ => None,
    };
    let rates =
        rates.filter(|rates| !rates.is_empty() && rates.iter().all(|rate| (0.0..=1.0).contains(rate)));
    match rates {
        Some(_) if !draft.has("engine.draft_tokens") => {
            draft.leave(entry.at, &what(entry), "it matters only beside aic_nextn");
        }
        Some(rates) => {
            draft.take(entry.at, &what(entry), "engine.draft_acceptance", rates[0]);
            if rates.len() > 1 {
                draft.note(
                    NoteKind::Assumed,
                    Some(entry.at),
                    &what(entry),
                    "the first rate stands for every position",
                );
            }
        }
        None => wrong(draft, entry, "rates from 0 to 1, with commas", "\"0.85,0.3\""),
    }
}

fn storage(draft: &mut Draft<'_>, entry: &Entry) {
    match entry.node.value {
        Value::Bool(true) => {
            draft.take(entry.at, &what(entry), "g4.blocks", 1 << 20);
            draft.note(
                NoteKind::Assumed,
                Some(entry.at),
                &what(entry),
                "a store without a size: 1,048,576 blocks",
            );
        }
        Value::Bool(false) => draft.leave(entry.at, &what(entry), "no [g4]"),
        _ => wrong(draft, entry, "true or false", "false"),
    }
}
