//! Requests written in the scenario: `[[workload.request]]`.
//!
//! They are numbered from 0 in the order of the file, and those with a time stand in the order of their times.

use tierscope_units::{RequestId, Span, TokenRun};

use super::fields::{Fields, whole_of};
use crate::limit;
use crate::node::{Entry, Node, Value};
use crate::scenario::{InlinePrompt, InlineRequest, InlineStart};

pub(crate) fn decode(fields: &Fields<'_>) -> Option<Vec<InlineRequest>> {
    if !fields.has("request") {
        fields.missing(
            "request",
            "at least one [[workload.request]]",
            "add [[workload.request]] with prompt_tokens and output_tokens",
        );
    }
    let items = fields.items("request")?;
    if items.is_empty() {
        fields.refuse(
            fields.entry("request")?,
            "at least one request",
            "add [[workload.request]] with prompt_tokens and output_tokens",
        );
    }
    let mut list = Vec::with_capacity(items.len());
    let mut latest = Span::ZERO;
    for (index, item) in items.iter().enumerate() {
        let path = format!("{}[{index}]", fields.key("request"));
        let Some(one) = Fields::open(item, &path, fields.problems) else { continue };
        if let Some(request) = request(&one, index as u32, &mut latest) {
            list.push(request);
        }
        one.close();
    }
    (list.len() == items.len()).then_some(list)
}

fn request(fields: &Fields<'_>, index: u32, latest: &mut Span) -> Option<InlineRequest> {
    let start = start(fields, index, latest);
    let prompt = prompt(fields);
    if !fields.has("output_tokens") {
        fields.missing("output_tokens", "the length of the answer in tokens", "add output_tokens = 128");
    }
    let output_tokens = fields.count("output_tokens", 1, limit::TOKENS_PER_REQUEST);
    let cancel_after = fields.milliseconds("cancel_after_ms");
    let salt = fields.whole("salt", 0, limit::WHOLE_NUMBER).unwrap_or(0);
    let priority = fields.whole("priority", 0, i32::MAX as u64).unwrap_or(0) as i32;
    Some(InlineRequest {
        start: start?,
        prompt: prompt?,
        output_tokens: output_tokens?,
        cancel_after,
        salt,
        priority,
    })
}

fn start(fields: &Fields<'_>, index: u32, latest: &mut Span) -> Option<InlineStart> {
    let at = fields.milliseconds("at_ms");
    let delay = fields.milliseconds("delay_ms");
    if let Some(entry) = fields.entry("after") {
        fields.misplaced("at_ms", "either at_ms or after", "remove one of the two");
        let number = fields.whole("after", 0, limit::REQUESTS)?;
        if number >= u64::from(index) {
            fields.refuse(
                entry,
                format!("an earlier request than this one, which is number {index}"),
                "name a request that stands above this one",
            );
            return None;
        }
        return Some(InlineStart::After {
            request: RequestId(number as u32),
            delay: delay.unwrap_or(Span::ZERO),
        });
    }
    fields.misplaced("delay_ms", "it only beside after", "write at_ms, or add after");
    let at = at.unwrap_or(if fields.has("at_ms") { *latest } else { Span::ZERO });
    if at < *latest {
        let found = fields.entry("at_ms");
        let place = found.map_or(fields.at, |entry| entry.node.at);
        let expected = format!("{} or later, when the request before it arrives", latest.as_ms_f64());
        let mend = "put requests in the order of at_ms: their numbers follow it";
        fields.problems.report(
            place,
            &fields.key("at_ms"),
            found.map_or("0".into(), |entry| entry.node.describe()),
            expected,
            mend,
        );
    }
    *latest = at.max(*latest);
    Some(InlineStart::At(at))
}

fn prompt(fields: &Fields<'_>) -> Option<InlinePrompt> {
    let tokens = fields.count("prompt_tokens", 1, limit::TOKENS_PER_REQUEST);
    let (prefix, prefix_tokens) =
        (fields.text("prefix"), fields.count("prefix_tokens", 1, limit::TOKENS_PER_REQUEST));
    if let Some(entry) = fields.entry("prompt") {
        for other in ["prompt_tokens", "prefix", "prefix_tokens"] {
            fields.misplaced(other, "either prompt or prompt_tokens", "remove one of the two");
        }
        return runs(fields, entry).map(InlinePrompt::Runs);
    }
    if !fields.has("prompt_tokens") {
        fields.missing("prompt_tokens", "the length of the prompt, or prompt", "add prompt_tokens = 512");
    }
    let tokens = tokens?;
    if !fields.has("prefix") {
        fields.misplaced("prefix_tokens", "it only beside prefix", "add prefix = \"name\"");
        return Some(InlinePrompt::Tokens { tokens, prefix: None });
    }
    if !fields.has("prefix_tokens") {
        fields.missing("prefix_tokens", "how many tokens the prefix gives", "add prefix_tokens = 256");
    }
    let (prefix, prefix_tokens) = (prefix?, prefix_tokens?);
    if prefix_tokens > tokens {
        fields.refuse(
            fields.entry("prefix_tokens")?,
            format!("at most prompt_tokens ({tokens}), which counts the prefix too"),
            "raise prompt_tokens or lower this",
        );
    }
    Some(InlinePrompt::Tokens { tokens, prefix: Some((prefix.into(), prefix_tokens)) })
}

/// `[[start, len], …]`
fn runs(fields: &Fields<'_>, entry: &Entry) -> Option<Vec<TokenRun>> {
    const EXPECTED: &str = "pairs of first token id and count: [[0, 256], [9000, 64]]";
    let items = fields.items("prompt")?;
    if items.is_empty() {
        fields.refuse(entry, EXPECTED, "write at least one pair");
        return None;
    }
    let mut runs = Vec::with_capacity(items.len());
    let mut total = 0;
    for (index, item) in items.iter().enumerate() {
        match pair(item) {
            Ok(run) => {
                total += u64::from(run.len);
                runs.push(run);
            }
            Err(mend) => {
                let key = format!("{}[{index}]", fields.key("prompt"));
                fields.problems.report(item.at, &key, item.describe(), EXPECTED, mend);
            }
        }
    }
    if total > limit::TOKENS_PER_REQUEST {
        fields.refuse(
            entry,
            format!("at most {} tokens in all", limit::TOKENS_PER_REQUEST),
            format!("shorten it: it has {total}"),
        );
    }
    Some(runs)
}

fn pair(item: &Node) -> Result<TokenRun, String> {
    let Value::Array(pair) = &item.value else { return Err("put each pair in brackets".into()) };
    let [start, len] = pair.as_slice() else { return Err("write two numbers in each pair".into()) };
    let len = whole_of(len, 1, limit::TOKENS_PER_REQUEST).map_err(|mend| format!("count: {mend}"))?;
    let start = whole_of(start, 0, limit::RAW_TOKEN_IDS - len).map_err(|mend| format!("first id: {mend}"))?;
    Ok(TokenRun { start, len: len as u32 })
}
