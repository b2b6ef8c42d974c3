//! What somebody has dropped or pasted, by its content.

use super::dynamo;
use crate::recording;
use crate::trace::{self, TraceFormat};

/// What a file or a pasted text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A scenario, in TOML or JSON.
    Scenario,
    /// A shared link.
    Link,
    /// A trace.
    Trace(TraceFormat),
    /// Something that becomes a scenario.
    Source(super::Source),
    /// Figures of a machine, which go into a scenario.
    Hardware,
    /// A driven run.
    Recording,
}

/// So many bytes are looked at.
const LOOKED_AT: usize = 1 << 16;
/// Settings by which LMCache's configuration is known.
const LMCACHE: [&str; 6] =
    ["chunk_size", "local_cpu", "max_local_cpu_size", "local_disk", "max_local_disk_size", "remote_url"];

/// What these bytes are, as far as their beginning and the file's name tell; `name` is empty for a pasted text.
pub fn detect(bytes: &[u8], name: &str) -> Option<Kind> {
    if bytes.starts_with(recording::START.as_bytes()) {
        return Some(Kind::Recording);
    }
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    // A character that was cut in two is at the end, behind everything that is looked at.
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default()
        }
        Err(_) => return trace_in(bytes, name),
    };
    let text = crate::text::without_bom(text);
    of_text(text).or_else(|| trace_in(bytes, name))
}

fn of_text(text: &str) -> Option<Kind> {
    let trimmed = text.trim();
    if is_link(trimmed) {
        return Some(Kind::Link);
    }
    if trimmed.starts_with('{') {
        return of_json(trimmed);
    }
    if has_line(text, "tierscope_hardware", '=') {
        return Some(Kind::Hardware);
    }
    if has_line(text, "tierscope", '=') {
        return Some(Kind::Scenario);
    }
    if is_vllm(text) {
        return Some(Kind::Source(super::Source::Vllm));
    }
    let settings = LMCACHE.iter().filter(|key| has_line(text, key, ':')).count();
    if settings > 0 {
        return Some(Kind::Source(super::Source::LmCache));
    }
    // A scenario without its version is told by its tables.
    let tables = ["[engine]", "[workload]", "[timing]"].iter().filter(|table| text.contains(*table)).count();
    (tables > 1).then_some(Kind::Scenario)
}

fn is_link(text: &str) -> bool {
    if text.split_whitespace().count() != 1 {
        return false;
    }
    let fragment = text.rsplit('#').next().unwrap_or_default();
    let version =
        fragment.strip_prefix('v').and_then(|rest| rest.split_once('.')).map(|(version, _)| version);
    version.is_some_and(|version| !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit()))
}

fn of_json(text: &str) -> Option<Kind> {
    // A trace is known by its first line, before anything that stands in a scenario.
    if let Some(format) = trace::detect(text.as_bytes(), "") {
        return Some(Kind::Trace(format));
    }
    if text.contains("\"tierscope\"") {
        return Some(Kind::Scenario);
    }
    let keys: Vec<&str> = text.split('"').skip(1).step_by(2).take(400).collect();
    if keys.iter().any(|key| dynamo::knows(key)) {
        return Some(Kind::Source(super::Source::Dynamo));
    }
    let settings = LMCACHE.iter().any(|key| keys.contains(key));
    settings.then_some(Kind::Source(super::Source::LmCache))
}

fn is_vllm(text: &str) -> bool {
    ["vllm serve", "vllm.entrypoints.openai.api_server", "vllm-openai"].iter().any(|word| text.contains(word))
        || text
            .split_whitespace()
            .zip(text.split_whitespace().skip(1))
            .any(|(a, b)| a.ends_with("vllm") && b == "serve")
}

/// Whether a line sets this key.
fn has_line(text: &str, key: &str, sign: char) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_start().strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start().starts_with(sign))
    })
}

fn trace_in(bytes: &[u8], name: &str) -> Option<Kind> {
    trace::detect(bytes, name).map(Kind::Trace)
}
