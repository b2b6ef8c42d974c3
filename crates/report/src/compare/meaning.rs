//! What the names in a fact mean for a comparison. **A new fact, or a new field of one, is told here**: nothing
//! else in the comparison knows facts by name, save the words for them.
//!
//! A kind that stands in none of the tables is compared too: in order, by its content, among "other facts".

use super::aspect::Aspect;
use super::record::{Record, Value};

/// What a field is to a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Said as it is: both runs must say the same.
    Plain,
    /// A number that only counts things, with what it counts: renumbered by first appearance.
    Counter(usize),
    /// An instant of the run's clock: moved to the common origin.
    Instant,
    /// Of the machine that wrote it, not of the run: left out.
    Outside,
}

/// What is counted, and so renumbered.
const COUNTERS: [&str; 6] = ["txn", "transfer", "claim", "pass", "generation", "handoff"];

/// Number of things that are counted.
pub(super) const COUNTERS_LEN: usize = COUNTERS.len();

/// What the field `key` is.
pub(super) fn meaning(key: &str) -> Meaning {
    if let Some(counter) = COUNTERS.iter().position(|counter| *counter == key) {
        return Meaning::Counter(counter);
    }
    match key {
        "deadline_ns" | "until_ns" => Meaning::Instant,
        _ if key.ends_with("_at_ns") => Meaning::Instant,
        _ if key.starts_with("wall_") || key.starts_with("host_") => Meaning::Outside,
        _ => Meaning::Plain,
    }
}

/// Kinds of facts that say what was decided, rather than what followed. (Slots are no decision: any free one does.)
const DECISIONS: [&str; 17] = [
    "rejected",
    "routed",
    "held_at_router",
    "joined",
    "destination_reserved",
    "admitted",
    "preempted",
    "prefilled",
    "removed",
    "copy_queued",
    "blocked_on_offload",
    "retry_now",
    "onboard_started",
    "waits_for_copy",
    "leased",
    "claimed",
    "cancelled",
];

/// Whether a fact is a decision.
pub(super) fn is_decision(kind: &str) -> bool {
    DECISIONS.contains(&kind)
}

/// The fields in which a fact of this kind says what was decided, where the others only say why; `None` where all do.
pub(super) fn decided(kind: &str) -> Option<&'static [&'static str]> {
    match kind {
        // Costs and beliefs may differ and the choice be the same.
        "routed" => Some(&["request", "leg", "to_worker"]),
        // Where a request was served is the router's decision, and told as that; the client sees what came of it.
        "arrived" => Some(&["request", "prompt_tokens", "output_tokens"]),
        "finished" | "cancelled" => Some(&["request", "output_tokens"]),
        "rejected" => Some(&["request", "reason"]),
        _ => None,
    }
}

/// The aspect that a kind of fact belongs to by its content, where it belongs to one as a whole. The others are
/// taken apart in `aspect.rs`.
pub(super) fn aspect(kind: &str) -> Option<Aspect> {
    Some(match kind {
        "arrived" => Aspect::Arrivals,
        "finished" | "cancelled" | "rejected" => Aspect::Outputs,
        "routed" | "held_at_router" => Aspect::Routes,
        "admitted" | "preempted" | "joined" | "withdrawn" => Aspect::Schedule,
        "source_held"
        | "destination_reserved"
        | "context_arrived"
        | "handoff_reached"
        | "handoff_copy_started"
        | "message_ignored" => Aspect::Handoffs,
        "prefilled" => Aspect::Batches,
        "lease_ended" | "claim_abandoned" | "source_released" => Aspect::Releases,
        // Taken apart, or only said in the stream as a whole.
        "first_token" | "second_token" | "pass_started" | "pass_ended" | "acquired" | "claimed"
        | "stored" | "claim_activated" | "removed" | "tier_stored" | "tier_removed" | "copy_queued"
        | "copy_started" | "copy_retried" | "copy_ended" => return None,
        _ => Aspect::Others,
    })
}

/// The fields of a pass that say what it computes; the rest is the state that it found.
pub(super) const PASS_FIELDS: [&str; 4] = ["prefill_rows", "prefill_tokens", "decode_rows", "decode_tokens"];

/// The tier in which a fact's slots lie.
pub(super) fn tier<'a>(record: &Record<'a>) -> &'a str {
    let of_lane = |part: usize| record.word("lane").and_then(|lane| lane.split('_').nth(part));
    let named = match record.kind {
        "copy_queued" => of_lane(0),
        "copy_started" => of_lane(1),
        _ => record.word("tier"),
    };
    named.unwrap_or("g1")
}

/// The worker that a fact is about; 0 where it names none.
pub(super) fn worker(record: &Record<'_>) -> i128 {
    match record.get("worker") {
        Some(Value::Number(worker)) => *worker,
        _ => 0,
    }
}
