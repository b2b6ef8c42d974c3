//! Tracks and spans in plain words.

use tierscope_worker::protocol::{LANES, Span, SpanKind, Track, TrackKind};

use super::format::{count, counted};

/// The label of a track: short enough for its column.
pub fn label(track: Track, several: bool) -> String {
    let whose = if several { format!(" w{}", track.worker) } else { String::new() };
    match track.kind {
        TrackKind::Blocks => "G1 blocks".to_owned(),
        TrackKind::Queues => "Queues".to_owned(),
        TrackKind::Below => format!("G{} blocks", track.part + 2),
        TrackKind::Passes => format!("Passes{whose}"),
        TrackKind::Copies => {
            let row = if track.number == 0 { String::new() } else { format!(" ·{}", track.number + 1) };
            format!("{}{whose}{row}", lane(track.part))
        }
        TrackKind::Marks => format!("Events{whose}"),
        TrackKind::Request => format!("Request {}", track.number),
    }
}

/// A track as a sentence names it.
pub fn name(track: Track, several: bool) -> String {
    let whose = if several { format!(" of worker {}", track.worker) } else { String::new() };
    match track.kind {
        TrackKind::Blocks => format!("Blocks of G1{whose}"),
        TrackKind::Queues => format!("Requests{whose}"),
        TrackKind::Below => format!("Blocks of G{}", track.part + 2),
        TrackKind::Passes => format!("Passes{whose}"),
        TrackKind::Copies => format!("Copies {}{whose}", lane(track.part)),
        TrackKind::Marks => format!("Events{whose}"),
        TrackKind::Request => format!("Request {}", track.number),
    }
}

fn lane(part: u8) -> String {
    LANES.get(usize::from(part)).map_or(String::new(), |(from, to)| format!("{from}→{to}"))
}

/// What stands in a bar that is wide enough for a word.
pub fn word(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::DecodePass | SpanKind::Decode => "decode",
        SpanKind::MixedPass => "mixed",
        SpanKind::PrefillPass | SpanKind::Prefill => "prefill",
        SpanKind::Leased => "kept for its follower",
        SpanKind::Waiting => "waiting",
        SpanKind::Moving => "in flight",
        SpanKind::Queued => "queued",
        SpanKind::Handoff => "in handoff",
        SpanKind::Loading => "loading",
        SpanKind::Retrying => "waits for its next attempt",
        SpanKind::Awaiting => "waits for a copy",
        SpanKind::Blocked => "blocked",
        SpanKind::Preempted => "preempted",
        SpanKind::Failed => "failed",
        SpanKind::MarkExhausted => "too few blocks",
        SpanKind::MarkBlocked => "blocked on an offload",
        SpanKind::MarkCancelled => "cancelled",
        SpanKind::MarkRejected => "refused",
        SpanKind::MarkCopyFailed => "an attempt failed",
        SpanKind::MarkPreempted => "preempted",
        SpanKind::MarkWorker => "comes or goes",
        SpanKind::MarkLost => "lost",
    }
}

/// A span in words; `transfer` is the copy that it is or waits for.
pub fn sentence(track: Track, span: Span, transfer: Option<u64>) -> String {
    let what = word(span.kind);
    let copy = transfer.map_or(String::new(), |transfer| format!("transfer {transfer}"));
    let blocks = || counted(span.aux, "block", "blocks");
    let tokens = |tokens: u32| counted(tokens, "token", "tokens");
    match span.kind {
        SpanKind::DecodePass => format!("decode pass: {}", counted(span.aux, "row", "rows")),
        SpanKind::MixedPass => {
            format!(
                "mixed pass: {} of prefill, {} of decode",
                tokens(span.number),
                counted(span.aux, "row", "rows")
            )
        }
        SpanKind::PrefillPass => format!("prefill pass: {}", tokens(span.number)),
        SpanKind::Moving | SpanKind::Queued | SpanKind::Failed | SpanKind::Retrying => {
            format!("{copy}, {}: {what}", blocks())
        }
        SpanKind::Blocked => format!("blocked on an offload: {copy}"),
        SpanKind::Awaiting => format!("waits for a copy of its content: {copy}"),
        SpanKind::Waiting if span.number > 0 => format!("waiting, {} of prompt", tokens(span.number)),
        SpanKind::Prefill if span.number > 0 => format!("prefill, {} cached", tokens(span.number)),
        SpanKind::Preempted => format!("preempted, {} lost", tokens(span.number)),
        SpanKind::Loading if span.number > 0 => {
            format!("loads {} from below", counted(span.number, "block", "blocks"))
        }
        SpanKind::MarkCopyFailed => format!("{copy}: {what}"),
        SpanKind::MarkWorker | SpanKind::MarkLost => format!("worker {}: {what}", span.number),
        kind if kind.is_mark() => format!("request {}: {what}", span.number),
        _ if track.kind == TrackKind::Request => what.to_owned(),
        _ => what.to_owned(),
    }
}

/// The counts of a counter in words.
pub fn counts(kind: TrackKind, [a, b]: [u32; 2]) -> String {
    let [a, b] = [a, b].map(|n| count(n.into()));
    match kind {
        TrackKind::Queues => format!("{a} running, {b} waiting"),
        TrackKind::Below => format!("{b} cached"),
        _ => format!("{a} active, {b} cached"),
    }
}

/// A time with all its digits: `1.203456789 s`.
pub fn exact(ns: f64) -> String {
    let (unit, digits, name) = match ns.abs() {
        size if size >= 1e9 => (1e9, 9, "s"),
        size if size >= 1e6 => (1e6, 6, "ms"),
        size if size >= 1e3 => (1e3, 3, "µs"),
        _ => (1.0, 0, "ns"),
    };
    let text = format!("{:.digits$}", ns / unit);
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_times_keep_all_digits() {
        let said = [0.0, 999.0, 1_203_456.0, 1_203_456_789.0, 2e9].map(exact);
        assert_eq!(said, ["0 ns", "999 ns", "1.203456 ms", "1.203456789 s", "2 s"]);
    }

    #[test]
    fn spans_are_told_with_what_they_wait_for() {
        let track = Track { kind: TrackKind::Request, part: 0, worker: 1, number: 17, first: 0, count: 1 };
        let span = |kind, aux, number| Span { start_ns: 0.0, end_ns: 1.0, kind, open: false, aux, number };
        let said = [
            sentence(track, span(SpanKind::Blocked, 1, 5), Some(5)),
            sentence(track, span(SpanKind::Decode, 1, 0), None),
            sentence(track, span(SpanKind::MixedPass, 31, 512), None),
            sentence(track, span(SpanKind::Moving, 8, 5), Some(5)),
            sentence(track, span(SpanKind::MarkPreempted, 0, 4), None),
        ];
        assert_eq!(
            said,
            [
                "blocked on an offload: transfer 5",
                "decode",
                "mixed pass: 512 tokens of prefill, 31 rows of decode",
                "transfer 5, 8 blocks: in flight",
                "request 4: preempted",
            ]
        );
        assert_eq!([label(track, true), name(track, true)], ["Request 17", "Request 17"]);
        let row = Track { kind: TrackKind::Copies, part: 3, number: 1, ..track };
        assert_eq!([label(row, true), label(row, false)], ["G2→G1 w1 ·2", "G2→G1 ·2"]);
    }
}
