//! Traces: from bytes to requests, a line at a time.
//!
//! - **Mooncake JSONL**: `timestamp` in milliseconds, `input_length`, `output_length`, `hash_ids`; one id per block
//!   of 512 tokens, the last of which may be partial. Other fields are ignored. Hash id h below 2⁴⁰ becomes the
//!   token ids from h × block tokens on, so that any engine block that divides the trace's sees the same sharing;
//!   larger ids (64-bit hashes) are numbered as they come, from 2⁵⁹ on.
//! - **Azure CSV**: `TIMESTAMP`, `ContextTokens`, `GeneratedTokens`; no hashes, so that every prompt is unique.
//!   The first request comes at 0.
//!
//! Blank lines, CRLF and a byte-order mark are accepted. A row with no prompt or no output is kept: the engine
//! refuses it at arrival and the report names it.
//!
//! Invariants: memory grows only with requests and runs that were read (for each hash id, a bounded number of
//! bytes more); a line that is too long is refused before anything is taken for it.

pub mod azure;
mod cursor;
mod id;
mod line;
pub mod mooncake;
mod row;

/// The format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TraceFormat {
    /// JSON lines with hash ids.
    Mooncake,
    /// Lengths only.
    AzureCsv,
}

impl TraceFormat {
    /// The word in scenarios.
    pub fn word(self) -> &'static str {
        match self {
            Self::Mooncake => "mooncake",
            Self::AzureCsv => "azure_csv",
        }
    }
}

/// The format of a file by its first line, else by the ending of its name. `None` also for a scenario: a JSON
/// object whose first line has no `input_length`.
pub fn detect(bytes: &[u8], name: &str) -> Option<TraceFormat> {
    const LOOKED_AT: usize = 1 << 16;
    let head = &bytes[..bytes.len().min(LOOKED_AT)];
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let first = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let has = |word: &[u8]| first.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word));
    if first.starts_with(b"{") && (has(b"\"input_length\"") || has(b"\"hash_ids\"")) {
        return Some(TraceFormat::Mooncake);
    }
    if has(b"timestamp,") || has(b"contexttokens") {
        return Some(TraceFormat::AzureCsv);
    }
    let ending = |ending: &str| {
        name.len() >= ending.len()
            && name.as_bytes()[name.len() - ending.len()..].eq_ignore_ascii_case(ending.as_bytes())
    };
    if ending(".jsonl") {
        return Some(TraceFormat::Mooncake);
    }
    ending(".csv").then_some(TraceFormat::AzureCsv)
}
