//! The `[workload]` table: which kind, and the keys of a trace.

use tierscope_units::Span;

use super::fields::Fields;
use super::{Notes, requests, synthetic};
use crate::limit;
use crate::scenario::{TraceSpec, WorkloadSpec};
use crate::trace::{ASSUMED_OUTPUT_TOKENS, TraceFormat};

#[derive(Clone, Copy)]
enum Kind {
    Synthetic,
    Requests,
    Trace,
}

pub(crate) fn decode(fields: Fields<'_>, notes: &mut Notes) -> Option<WorkloadSpec> {
    let kinds = [("synthetic", Kind::Synthetic), ("requests", Kind::Requests), ("trace", Kind::Trace)];
    let kind = match fields.word("kind", &kinds) {
        Some(kind) => kind,
        None if fields.has("kind") => return None,
        None => {
            fields.missing("kind", "\"synthetic\", \"requests\" or \"trace\"", mend_of_missing_kind(&fields));
            return None;
        }
    };
    let spec = match kind {
        Kind::Synthetic => synthetic::decode(&fields, notes).map(WorkloadSpec::Synthetic),
        Kind::Requests => requests::decode(&fields).map(WorkloadSpec::Requests),
        Kind::Trace => trace(&fields, notes).map(WorkloadSpec::Trace),
    };
    fields.close();
    spec
}

fn mend_of_missing_kind(fields: &Fields<'_>) -> &'static str {
    if fields.has("file") {
        "add kind = \"trace\""
    } else if fields.has("request") {
        "add kind = \"requests\""
    } else {
        "add kind = \"synthetic\", or another of these"
    }
}

fn trace(fields: &Fields<'_>, notes: &mut Notes) -> Option<TraceSpec> {
    let file = fields.text("file");
    let format = fields.word("format", &TraceFormat::WORDS);
    let rows = fields.count("limit", 1, limit::REQUESTS);
    let block = fields.count("trace_block_tokens", 1, limit::BLOCK_TOKENS);
    let concurrency = fields.count("concurrency", 1, limit::CONCURRENCY);
    let think_time = fields.milliseconds("think_time_ms");
    if concurrency.is_none() && !fields.has("concurrency") {
        fields.misplaced("think_time_ms", "it only beside concurrency", "add concurrency, or remove it");
    }
    let output_tokens = fields.count("output_tokens", 1, limit::ASSUMED_OUTPUT_TOKENS);
    if format.is_some_and(|format| format != TraceFormat::LmCache) {
        fields.misplaced("output_tokens", "it only for lmcache: other traces tell it", "remove it");
    }
    let session_gap = fields.milliseconds("session_gap_ms");
    if format.is_some_and(|format| format != TraceFormat::Weka) {
        fields.misplaced(
            "session_gap_ms",
            "it only for weka: other traces have times of their own",
            "remove it",
        );
    }
    if let (None, Some((tokens, why))) = (block, default_block(format)) {
        notes.default("workload.trace_block_tokens", tokens, why);
    }
    if output_tokens.is_none() && format == Some(TraceFormat::LmCache) {
        notes.default("workload.output_tokens", ASSUMED_OUTPUT_TOKENS, "the log does not tell it");
    }
    let Some(file) = file else {
        if !fields.has("file") {
            fields.missing("file", "the path of a trace", "add file = \"trace.jsonl\"");
        }
        return None;
    };
    Some(TraceSpec {
        file: file.into(),
        format,
        limit: rows,
        trace_block_tokens: block,
        output_tokens,
        session_gap: session_gap.unwrap_or(Span::ZERO),
        concurrency,
        think_time: think_time.unwrap_or(Span::ZERO),
    })
}

/// What a hash id stands for unless the file says otherwise, and who says so.
pub(crate) fn default_block(format: Option<TraceFormat>) -> Option<(u32, &'static str)> {
    match format {
        None | Some(TraceFormat::Mooncake | TraceFormat::MooncakeDelta) => Some((512, "Mooncake's")),
        // These files say it themselves.
        Some(TraceFormat::Weka | TraceFormat::Dynamo | TraceFormat::LmCache) => None,
        Some(TraceFormat::QwenBailian) => Some((16, "that of the published traces")),
        Some(TraceFormat::AzureCsv | TraceFormat::BurstGpt) => None,
    }
}

/// What an engine block may be for a trace block, and the mend.
pub(crate) fn divisors(trace_block_tokens: u32) -> (String, String) {
    let all: Vec<String> = (1..=trace_block_tokens)
        .filter(|&tokens| trace_block_tokens.is_multiple_of(tokens))
        .map(|tokens| tokens.to_string())
        .collect();
    let expected = format!("a divisor of the trace's block of {trace_block_tokens} tokens");
    (expected, format!("write block_size_tokens as one of {}", all.join(", ")))
}

/// How many requests a workload has, where that is known without its trace.
pub(crate) fn request_count(spec: &WorkloadSpec) -> Option<u64> {
    match spec {
        WorkloadSpec::Synthetic(synthetic) => {
            Some(u64::from(synthetic.requests) * u64::from(synthetic.turns))
        }
        WorkloadSpec::Requests(list) => Some(list.len() as u64),
        WorkloadSpec::Trace(_) => None,
    }
}
