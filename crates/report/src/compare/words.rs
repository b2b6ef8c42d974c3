//! A fact in words: what happened, without the time. A kind that has no words of its own is told by its fields.

use std::fmt::Write;

use crate::numbers::printable;

use super::record::{Record, Value};

/// Blocks of a list that are named; the rest are counted.
const BLOCKS_NAMED: usize = 3;
/// Longest text of a fact, in characters.
const CHARS_MAX: usize = 240;

/// The fact in words, with the verb first: "admits request 7 (64 tokens cached)".
pub fn sentence(record: &Record<'_>) -> String {
    let text = request(record).or_else(|| below(record)).or_else(|| block(record)).or_else(|| fleet(record));
    let mut text = text.unwrap_or_else(|| format!("says {}: {}", record.kind, fields(record)));
    if let Some(worker) = record.number("worker")
        && !text.contains("worker")
    {
        let _ = write!(text, " on worker {worker}");
    }
    // Words of a log come from outside: they stay on their line.
    printable(&text, CHARS_MAX)
}

/// Facts about a request, or the passes that it is computed in.
fn request(record: &Record<'_>) -> Option<String> {
    let n = |key| number(record, key);
    let request = n("request");
    Some(match record.kind {
        "arrived" => {
            format!(
                "sees request {request} arrive ({} prompt, {} output tokens)",
                n("prompt_tokens"),
                n("output_tokens")
            )
        }
        "rejected" => format!("refuses request {request} ({})", record.word("reason").unwrap_or("?")),
        "admitted" => {
            let again =
                if record.get("readmission") == Some(&Value::Flag(true)) { "readmits" } else { "admits" };
            format!("{again} request {request} ({} tokens cached)", n("cached_tokens"))
        }
        "preempted" => format!("preempts request {request} ({} computed tokens lost)", n("lost_tokens")),
        "prefilled" => {
            format!(
                "schedules {} tokens of request {request}, behind {}",
                n("tokens"),
                n("computed_before_tokens")
            )
        }
        "pass_started" => format!(
            "starts a pass of worker {}: {} prefill tokens in {} rows, {} decode tokens in {} rows; {} wait",
            n("worker"),
            n("prefill_tokens"),
            n("prefill_rows"),
            n("decode_tokens"),
            n("decode_rows"),
            n("waiting_requests"),
        ),
        "pass_ended" => format!("ends a pass of worker {}", n("worker")),
        "first_token" => format!("shows the first token of request {request}"),
        "second_token" => format!("shows the second token of request {request}"),
        "finished" => format!("finishes request {request} ({} tokens)", n("output_tokens")),
        "cancelled" => format!("cancels request {request} (after {} tokens)", n("output_tokens")),
        _ => return None,
    })
}

/// Facts about copies, and who waits for them.
fn below(record: &Record<'_>) -> Option<String> {
    let n = |key| number(record, key);
    let request = n("request");
    let lane = record.word("lane").unwrap_or("?");
    Some(match record.kind {
        "copy_queued" => {
            format!("queues a copy on {lane} ({}): {}", record.word("cause").unwrap_or("?"), blocks(record))
        }
        "copy_started" => format!("starts a copy on {lane}: {}", blocks(record)),
        "copy_ended" => {
            let how = record.word("failure").or(record.word("end")).unwrap_or("?");
            format!("ends a copy on {lane} ({how}), {} slots released", n("released_blocks"))
        }
        "copy_retried" => format!("tries a copy again (attempt {})", n("attempt")),
        "blocked_on_offload" => {
            format!("lets request {request} wait for an offload ({} blocks needed)", n("needed_blocks"))
        }
        "waits_for_copy" => format!("lets request {request} wait for a copy of its content"),
        "onboard_started" => format!(
            "starts to load for request {request}: {} blocks of G2, {} of G3, {} of G4",
            n("g2_blocks"),
            n("g3_blocks"),
            n("g4_blocks"),
        ),
        "onboard_ended" => {
            format!(
                "has loaded {} blocks for request {request}, {} failed",
                n("loaded_blocks"),
                n("failed_blocks")
            )
        }
        "leased" => format!("keeps blocks of request {request} for its follower: {}", blocks(record)),
        "unblocked" => format!("wakes request {request}: its transfer has ended"),
        _ => return None,
    })
}

/// Facts about blocks.
fn block(record: &Record<'_>) -> Option<String> {
    let n = |key| number(record, key);
    let request = n("request");
    let tier = record.word("tier").unwrap_or("g1");
    Some(match record.kind {
        "acquired" => format!(
            "gives request {request} {} new blocks for {} ({} hits, {} victims)",
            record.blocks().count(),
            record.word("caller").unwrap_or("?"),
            record.number("active_hit_blocks").unwrap_or(0) + record.number("cached_hit_blocks").unwrap_or(0),
            n("victim_blocks"),
        ),
        "capacity_exhausted" => format!(
            "finds no room for request {request} ({}): {} blocks needed, {} obtainable",
            record.word("caller").unwrap_or("?"),
            n("needed_blocks"),
            n("obtainable_blocks"),
        ),
        "retry_now" => {
            format!("tries request {request} again: {} slots came free at once", n("released_blocks"))
        }
        "stored" => format!("makes blocks of request {request} matchable: {}", blocks(record)),
        "tier_stored" => format!("makes blocks matchable in {tier}: {}", blocks(record)),
        "removed" | "tier_removed" => format!("removes blocks from {tier}: {}", blocks(record)),
        _ => return None,
    })
}

/// Facts about several workers.
fn fleet(record: &Record<'_>) -> Option<String> {
    let n = |key| number(record, key);
    let request = n("request");
    let leg = record.word("leg").unwrap_or("?");
    Some(match record.kind {
        "routed" => format!("sends request {request} to worker {} ({leg})", n("to_worker")),
        "held_at_router" => format!("keeps request {request} at the router ({leg}): no worker takes it"),
        "joined" => format!("takes request {request} with {} tokens of context", n("context_tokens")),
        "withdrawn" => format!("takes request {request} away, {} blocks released", n("released_blocks")),
        "source_held" => format!("holds the prompt of request {request} for a handoff: {}", blocks(record)),
        "source_released" => {
            format!(
                "releases {} blocks that were held for the handoff of request {request}",
                n("released_blocks")
            )
        }
        "destination_reserved" => {
            format!("reserves {} blocks for the handoff of request {request}", n("reserved_blocks"))
        }
        "handoff_reached" => {
            format!("brings the handoff of request {request} to {}", record.word("phase").unwrap_or("?"))
        }
        "worker" => format!("has worker {} {}", n("worker"), record.word("state").unwrap_or("?")),
        _ => return None,
    })
}

fn number(record: &Record<'_>, key: &str) -> String {
    record.number(key).map_or("?".to_owned(), |number| number.to_string())
}

fn blocks(record: &Record<'_>) -> String {
    let count = record.blocks().count();
    let named: Vec<String> =
        record.blocks().take(BLOCKS_NAMED).map(|block| format!("{:08x}", block.hash >> 32)).collect();
    match count {
        0 => "no blocks".to_owned(),
        1 => format!("block {}…", named[0]),
        _ => format!(
            "{count} blocks ({}…{})",
            named.join("…, "),
            if count > BLOCKS_NAMED { ", …" } else { "" }
        ),
    }
}

fn fields(record: &Record<'_>) -> String {
    let mut out = String::new();
    for (key, value) in &record.fields {
        let comma = if out.is_empty() { "" } else { ", " };
        // Writing into a `String` cannot fail.
        let _ = match value {
            Value::Number(number) => write!(out, "{comma}{key} {number}"),
            Value::Real(real) => write!(out, "{comma}{key} {real}"),
            Value::Flag(flag) => write!(out, "{comma}{key} {flag}"),
            Value::Word(word) => write!(out, "{comma}{key} {word}"),
            Value::Nothing => write!(out, "{comma}{key} none"),
            Value::Blocks(blocks) => write!(out, "{comma}{} {key}", blocks.len()),
            Value::List(items) => write!(out, "{comma}{} {key}", items.len()),
        };
        if out.len() > CHARS_MAX {
            break;
        }
    }
    out
}
