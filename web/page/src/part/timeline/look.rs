//! How each kind of span looks: a colour, and a shape besides, so that none is told by its colour alone.

use tierscope_worker::protocol::SpanKind;

use crate::chart::palette::{Colour, Palette};

/// The part of a row that a bar fills, from the top, as shares of its height.
pub(super) fn extent(kind: SpanKind) -> (f64, f64) {
    match kind {
        SpanKind::DecodePass => (0.66, 1.0),
        SpanKind::MixedPass => (0.33, 1.0),
        SpanKind::Waiting | SpanKind::Queued | SpanKind::Retrying => (0.78, 1.0),
        SpanKind::Leased => (0.88, 1.0),
        SpanKind::Loading | SpanKind::Handoff | SpanKind::Awaiting => (0.16, 1.0),
        _ => (0.0, 1.0),
    }
}

/// Whether lines cross a bar, and which way they lean; 0 is upright.
pub(super) fn hatch(kind: SpanKind) -> Option<f64> {
    match kind {
        SpanKind::Blocked | SpanKind::Handoff => Some(1.0),
        SpanKind::Preempted | SpanKind::Failed => Some(-1.0),
        SpanKind::Loading => Some(0.0),
        _ => None,
    }
}

/// Whether a bar is high enough that its word stands on it; otherwise it stands above.
pub(super) fn bears_words(kind: SpanKind) -> bool {
    let (top, _) = extent(kind);
    top < 0.2
}

/// Whether there is room for a word at all: a bar of middling height leaves none.
pub(super) fn has_words(kind: SpanKind) -> bool {
    let (top, _) = extent(kind);
    !kind.is_mark() && !(0.2..0.6).contains(&top)
}

/// Its colour.
pub(super) fn colour(kind: SpanKind, palette: &Palette) -> Colour {
    let [_, reserved, active, shared, cached, source_hold] = palette.states;
    let [running, waiting] = palette.queues;
    let [bad, warn] = palette.trouble;
    match kind {
        SpanKind::DecodePass | SpanKind::Decode => running,
        SpanKind::MixedPass | SpanKind::Moving => source_hold,
        SpanKind::PrefillPass | SpanKind::Prefill => active,
        SpanKind::Leased => cached,
        SpanKind::Waiting | SpanKind::Queued | SpanKind::MarkCancelled => palette.still,
        SpanKind::Handoff => shared,
        SpanKind::Loading => reserved,
        SpanKind::Awaiting | SpanKind::Blocked | SpanKind::MarkBlocked => warn,
        SpanKind::MarkRejected => waiting,
        SpanKind::MarkWorker => palette.accent,
        SpanKind::Retrying
        | SpanKind::Preempted
        | SpanKind::Failed
        | SpanKind::MarkExhausted
        | SpanKind::MarkCopyFailed
        | SpanKind::MarkPreempted
        | SpanKind::MarkLost => bad,
    }
}
