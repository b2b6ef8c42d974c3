//! From a model's published name to a preset.

use crate::preset::{self, ModelPreset};
use crate::problem::nearest;

/// Names whose KV layout is that of a preset with another name; the longest that fits counts.
const SAME_LAYOUT: [(&str, &str); 17] = [
    ("llama-3-8b", "llama-3.1-8b"),
    ("llama-3-70b", "llama-3.1-70b"),
    ("llama-3.3-70b", "llama-3.1-70b"),
    ("deepseek-v3.1", "deepseek-v3"),
    ("deepseek-v3-0324", "deepseek-v3"),
    ("deepseek-r1-distill-llama-8b", "llama-3.1-8b"),
    ("deepseek-r1-distill-llama-70b", "llama-3.1-70b"),
    ("deepseek-r1-distill-qwen-7b", "qwen2.5-7b"),
    ("deepseek-r1-0528-qwen3-8b", "qwen3-8b"),
    ("qwen2-7b", "qwen2.5-7b"),
    ("qwen2.5-coder-7b", "qwen2.5-7b"),
    ("qwen3-coder-30b-a3b", "qwen3-30b-a3b"),
    ("kimi-k2-thinking", "kimi-k2"),
    ("yi-1.5-34b", "yi-34b"),
    ("hermes-3-llama-3.1-8b", "llama-3.1-8b"),
    ("hermes-3-llama-3.1-70b", "llama-3.1-70b"),
    ("llama-3.1-nemotron-70b", "llama-3.1-70b"),
];

/// What a name was taken for.
pub(super) struct Found {
    pub(super) model: &'static ModelPreset,
    /// Something in the name says that the weights are smaller than the preset's.
    pub(super) quantized: bool,
}

/// The preset of a name such as `meta-llama/Llama-3.1-8B-Instruct`; else the nearest that there is, for the message.
pub(super) fn find(name: &str) -> Result<Found, Option<&'static str>> {
    let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut plain: String =
        last.chars().take(200).map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect();
    if let Some(rest) = plain.strip_prefix("meta-") {
        plain = rest.to_owned();
    }
    let rows = preset::models();
    let own = rows.iter().map(|row| (row.name, row.name));
    let candidates = SAME_LAYOUT.iter().copied().chain(own);
    let best = candidates.filter(|(prefix, _)| begins(&plain, prefix)).max_by_key(|(prefix, _)| prefix.len());
    let distilled = plain.contains("distill") && best.is_none_or(|(prefix, _)| !prefix.contains("distill"));
    match best.filter(|_| !distilled) {
        Some((_, preset)) => {
            let model = rows.iter().find(|row| row.name == preset).ok_or(None)?;
            Ok(Found { model, quantized: quantized(&plain) })
        }
        None => {
            let names: Vec<&'static str> = rows.iter().map(|row| row.name).collect();
            Err(nearest(&plain.chars().take(40).collect::<String>(), &names))
        }
    }
}

/// Whether a name begins with another one, up to a boundary between words.
fn begins(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', ':', '@']))
}

fn quantized(name: &str) -> bool {
    ["awq", "gptq", "fp8", "int8", "int4", "w4a16", "w8a8", "nvfp4", "fp4", "bnb", "gguf"]
        .iter()
        .any(|word| name.split(['-', '.', ':']).any(|part| part == *word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_names_are_known() {
        let known = [
            ("meta-llama/Llama-3.1-8B-Instruct", "llama-3.1-8b"),
            ("meta-llama/Meta-Llama-3-70B-Instruct", "llama-3.1-70b"),
            ("Qwen/Qwen3-30B-A3B-Instruct-2507", "qwen3-30b-a3b"),
            ("Qwen/Qwen3-Coder-480B-A35B-Instruct-FP8", "qwen3-coder-480b"),
            ("deepseek-ai/DeepSeek-R1-0528", "deepseek-r1"),
            ("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama-3.1-8b"),
            ("deepseek-ai/DeepSeek-V3.2", "deepseek-v3.2"),
            ("openai/gpt-oss-120b", "gpt-oss-120b"),
            ("/models/mistralai/Mixtral-8x7B-Instruct-v0.1/", "mixtral-8x7b"),
        ];
        for (name, preset) in known {
            assert_eq!(find(name).map(|found| found.model.name).ok(), Some(preset), "{name}");
        }
        for name in
            ["deepseek-ai/DeepSeek-R1-Distill-Qwen-32B", "Qwen/Qwen3-8B5", "facebook/opt-125m", "", "$MODEL"]
        {
            assert!(find(name).is_err(), "{name}");
        }
        assert!(find("Qwen/Qwen3-32B-FP8").is_ok_and(|found| found.quantized));
        assert!(find("Qwen/Qwen3-32B").is_ok_and(|found| !found.quantized));
    }
}
