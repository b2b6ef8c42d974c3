//! What lies under the pointer.

use std::ops::Range;

use tierscope_worker::protocol::Spans;

use super::lod::first_at;
use super::pyramid::severity;
use super::view::View;

/// Pixels beside a span that still count as the span.
const NEAR_PX: f64 = 4.0;

/// The span of a track at a pixel: the one there, or the nearest one close by; of several in the pixel the severest.
pub fn span_at(spans: &Spans, range: Range<usize>, px: f64, (view, width): (View, f64)) -> Option<usize> {
    let (from, to) = (view.ns(px - 0.5, width), view.ns(px + 0.5, width));
    let here = within(spans, range.clone(), from, to);
    if !here.is_empty() {
        // The last of the severest: at an edge, what begins there.
        return here.max_by_key(|&place| (severity(spans.code(place)), place));
    }
    let (from, to) = (view.ns(px - NEAR_PX, width), view.ns(px + NEAR_PX, width));
    let middle = view.ns(px, width);
    let distance = |place: usize| {
        let (start, end) = (spans.start_ns(place), spans.end_ns(place));
        if end < middle { middle - end } else { start - middle }
    };
    within(spans, range, from, to).min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
}

/// The spans of a track that a stretch of time touches.
pub fn within(spans: &Spans, range: Range<usize>, from_ns: f64, to_ns: f64) -> Range<usize> {
    let first = first_at(range.clone(), |place| spans.end_ns(place) >= from_ns);
    let end = first_at(first..range.end, |place| spans.start_ns(place) > to_ns);
    first..end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tracks::model::tests::spans_of;
    use tierscope_worker::protocol::SpanKind;

    #[test]
    fn the_pointer_finds_what_it_is_on_or_near() {
        let all = [
            (0.0, 100.0, SpanKind::Decode),
            (100.0, 100.2, SpanKind::Blocked),
            (100.2, 300.0, SpanKind::Decode),
            (800.0, 800.0, SpanKind::MarkPreempted),
        ];
        let spans = spans_of(all.into_iter());
        let at = |px| span_at(&spans, 0..4, px, (View { from_ns: 0.0, to_ns: 1_000.0 }, 1_000.0));
        assert_eq!([at(50.0), at(100.0), at(200.0)], [Some(0), Some(1), Some(2)], "the severest of a pixel");
        assert_eq!([at(797.0), at(803.0), at(302.0), at(500.0)], [Some(3), Some(3), Some(2), None]);
    }
}
