//! What a trace is, by its content and then by its name.

use super::gzip::head;
use super::{TraceFormat, dynamo};

/// So many bytes are looked at, unpacked.
const LOOKED_AT: usize = 1 << 16;

/// The format of a file by its first line, else by the ending of its name. `None` also for a scenario: a JSON
/// object with none of the keys of a trace.
pub fn detect(bytes: &[u8], name: &str) -> Option<TraceFormat> {
    let head = head(bytes, LOOKED_AT);
    by_content(&head).or_else(|| by_name(name))
}

fn by_content(head: &[u8]) -> Option<TraceFormat> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if !first.starts_with(b"{") {
        return csv(first);
    }
    let has = |key: &str| contains(first, &format!("\"{key}\""));
    if contains(first, dynamo::SCHEMA) {
        return Some(TraceFormat::Dynamo);
    }
    if has("chunk_hashes") || (has("chunk_size") && has("seq_len")) {
        return Some(TraceFormat::LmCache);
    }
    if has("chat_id") && has("parent_chat_id") {
        return Some(TraceFormat::QwenBailian);
    }
    if has("input_length") || has("hash_ids") && has("timestamp") {
        return Some(TraceFormat::Mooncake);
    }
    // The one object of such a file may be written over many lines.
    let session = contains(head, "\"hash_id_scope\"") || contains(head, "\"api_time\"");
    if session && contains(head, "\"requests\"") {
        return Some(TraceFormat::Weka);
    }
    has("hash_ids").then_some(TraceFormat::Mooncake)
}

fn csv(first: &[u8]) -> Option<TraceFormat> {
    if contains(first, "request tokens") && contains(first, "response tokens") {
        return Some(TraceFormat::BurstGpt);
    }
    (contains(first, "timestamp,") || contains(first, "contexttokens")).then_some(TraceFormat::AzureCsv)
}

fn by_name(name: &str) -> Option<TraceFormat> {
    let name = strip(name, ".gz").unwrap_or(name);
    if strip(name, ".jsonl").is_some() {
        return Some(TraceFormat::Mooncake);
    }
    strip(name, ".csv").map(|_| TraceFormat::AzureCsv)
}

/// Without an ending, in whatever case it is written.
fn strip<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let at = name.len().checked_sub(ending.len())?;
    let (stem, found) = (name.get(..at)?, name.get(at..)?);
    found.eq_ignore_ascii_case(ending).then_some(stem)
}

fn contains(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
}

/// Tokens per hash id, where the beginning of the file says so: a look ahead, which reading does not rely on.
pub fn block_tokens(bytes: &[u8], format: TraceFormat) -> Option<u32> {
    let key = match format {
        TraceFormat::Mooncake | TraceFormat::MooncakeDelta | TraceFormat::Weka => "\"block_size\"",
        TraceFormat::Dynamo => "\"trace_block_size\"",
        TraceFormat::LmCache => "\"chunk_size\"",
        TraceFormat::QwenBailian | TraceFormat::AzureCsv | TraceFormat::BurstGpt => return None,
    };
    let head = head(bytes, LOOKED_AT);
    let at = head.windows(key.len()).position(|window| window == key.as_bytes())? + key.len();
    let rest = head[at..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    (1..=crate::limit::BLOCK_TOKENS).contains(&u64::from(number)).then_some(number)
}
