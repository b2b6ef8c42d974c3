//! `vllm serve`, as it is pasted: environment, model, flags, in whatever way they are written.
//!
//! Flags are those of vLLM's `EngineArgs`; meanings and defaults are in its `vllm/config/cache.py`, `vllm/config/scheduler.py` and
//! `vllm/engine/arg_utils.py`, those of the connector in `vllm/v1/kv_offload/cpu/spec.py`.

mod command;
mod connector;
mod flags;

use super::draft::Draft;
use super::{NoteKind, lmcache, model, shell};
use command::{Command, Flag};

pub(super) fn read(text: &str, draft: &mut Draft<'_>) {
    let Some(pieces) = shell::split(text, draft.problems) else { return };
    let Some(command) = Command::find(pieces, draft.problems) else { return };
    draft.set("title", "vllm serve");
    if let Some(word) = command.model() {
        named(draft, word.at, &word.text);
    } else {
        let why = "hardware.kv_bytes_per_token = 131072, as Llama-3.1-8B (the command names no model)";
        draft.note(NoteKind::Assumed, None, "", why);
    }
    let mut idle: Vec<&Flag> = Vec::new();
    for flag in &command.flags {
        match flags::take(draft, flag) {
            flags::Taken::Yes => {}
            flags::Taken::Idle => idle.push(flag),
        }
    }
    silent(draft, &idle);
    connector::apply(draft, &command);
    environment(draft, &command);
    flags::defaults(draft);
}

/// The model's preset, or what stands in for it.
fn named(draft: &mut Draft<'_>, at: usize, name: &str) {
    match model::find(name) {
        Ok(found) => {
            draft.model = Some(found.model);
            draft.take(at, name, "hardware.model", found.model.name);
            draft.set("title", format!("vllm serve {}", found.model.name));
            if found.quantized {
                let why = format!(
                    "the weights are quantized: the preset's {} bits are counted, so that G1 comes out smaller than it is",
                    found.model.weight_bits
                );
                draft.note(NoteKind::Assumed, Some(at), name, &why);
            }
        }
        Err(near) => {
            let near = near.map_or(String::new(), |near| format!("; the nearest is {near}"));
            let why = format!(
                "no preset has this name{near}: hardware.kv_bytes_per_token = 131072, as Llama-3.1-8B; write that of your model"
            );
            draft.note(NoteKind::Assumed, Some(at), name, &why);
            draft.set("hardware.kv_bytes_per_token", 131_072);
        }
    }
}

/// Flags that say nothing about the cache or the scheduler: one note for all, without their values (some are keys).
fn silent(draft: &mut Draft<'_>, idle: &[&Flag]) {
    let Some(first) = idle.first() else { return };
    let names: Vec<String> = idle.iter().map(|flag| format!("--{}", flag.name)).collect();
    draft.leave(first.at, &names.join(" "), "says nothing about the cache or the scheduler");
}

fn environment(draft: &mut Draft<'_>, command: &Command) {
    for (word, name, value) in command.environment() {
        if name.starts_with("LMCACHE_") && command.has_lmcache() {
            continue;
        }
        if name == "VLLM_NIXL_ABORT_REQUEST_TIMEOUT" && draft.has("workers.prefill") {
            match value.parse::<f64>() {
                Ok(seconds) if (0.0..=86_400.0).contains(&seconds) => {
                    draft.take(word, name, "handoff.lease_s", seconds);
                }
                _ => draft.refuse(word, name, value, "seconds, at most a day", "write for example 480"),
            }
            continue;
        }
        draft.leave(word, name, "this variable has no counterpart");
    }
}

/// Settings of LMCache that the command carries.
fn lmcache_settings(command: &Command) -> Vec<lmcache::Setting> {
    let settings = command.environment().filter_map(|(at, name, value)| {
        let key = name.strip_prefix("LMCACHE_")?.to_ascii_lowercase();
        Some(lmcache::Setting::of_text(at, name, key, value))
    });
    settings.collect()
}
