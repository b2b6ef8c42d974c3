//! What is seen of a track's spans: each that is a pixel long or longer as it is; shorter ones that begin in the same
//! pixel as one bar, of the severest kind among them, or where none is severe, of the kind at the pixel's middle.

use std::ops::Range;

use tierscope_worker::protocol::{SpanKind, Spans};

use super::pyramid::Pyramid;
use super::view::View;

/// Something to draw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left edge.
    pub from_px: f64,
    /// Right edge.
    pub to_px: f64,
    /// What it shows.
    pub kind: SpanKind,
    /// The span that it is; the first of several.
    pub place: usize,
    /// Whether it is one span, seen in its length.
    pub alone: bool,
}

/// Appends the bars of some spans: at most two for each pixel, and neighbours that look the same are one.
pub fn bars(
    spans: &Spans,
    pyramid: &Pyramid,
    range: Range<usize>,
    (view, width): (View, f64),
    out: &mut Vec<Bar>,
) {
    let first = out.len();
    let ns_per_px = view.length_ns() / width;
    let mut place = first_at(range.clone(), |place| spans.end_ns(place) >= view.from_ns);
    while place < range.end && spans.start_ns(place) < view.to_ns {
        let (start, end) = (spans.start_ns(place), spans.end_ns(place));
        if end - start >= ns_per_px {
            let (from_px, to_px) = (view.px(start, width).max(0.0), view.px(end, width).min(width));
            out.push(Bar { from_px, to_px, kind: kind(spans, place), place, alone: true });
            place += 1;
            continue;
        }
        let column_of = |place: usize| view.px(spans.start_ns(place), width).floor().max(0.0);
        let column = column_of(place);
        // By time, which is quick; the pixel has the last word, whichever way the numbers were rounded.
        let next_column = view.ns(column + 1.0, width);
        let mut next = gallop(place + 1..range.end, |place| spans.start_ns(place) >= next_column);
        while next > place + 1 && column_of(next - 1) > column {
            next -= 1;
        }
        while next < range.end && column_of(next) <= column {
            next += 1;
        }
        // Only the last that begins in a pixel can be longer than one.
        if next > place + 1 && spans.end_ns(next - 1) - spans.start_ns(next - 1) >= ns_per_px {
            next -= 1;
        }
        let kind = seen(spans, pyramid, place..next, view.ns(column + 0.5, width));
        match out[first..].last_mut() {
            Some(last) if !last.alone && last.kind == kind && last.to_px == column => {
                last.to_px = column + 1.0
            }
            _ => out.push(Bar { from_px: column, to_px: column + 1.0, kind, place, alone: false }),
        }
        place = next;
    }
}

/// The kind that stands for some spans of one pixel.
fn seen(spans: &Spans, pyramid: &Pyramid, range: Range<usize>, middle_ns: f64) -> SpanKind {
    match pyramid.severest(range.clone()) {
        0 => {
            let after = first_at(range.clone(), |place| spans.start_ns(place) > middle_ns);
            kind(spans, after.saturating_sub(1).max(range.start))
        }
        code => SpanKind::of_code(code),
    }
}

fn kind(spans: &Spans, place: usize) -> SpanKind {
    SpanKind::of_code(spans.code(place))
}

/// The first place of a range from which on something is so; its end where it never is.
pub fn first_at(range: Range<usize>, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut to) = (range.start, range.end);
    while from < to {
        let middle = from + (to - from) / 2;
        if is_so(middle) {
            to = middle;
        } else {
            from = middle + 1;
        }
    }
    from
}

/// As [`first_at`], quick where the place is near the beginning.
fn gallop(range: Range<usize>, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut from, mut stride) = (range.start, 1);
    while from + stride <= range.end && !is_so(from + stride - 1) {
        from += stride;
        stride *= 2;
    }
    first_at(from..(from + stride).min(range.end), is_so)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tracks::model::tests::{random, spans_of};

    /// The same, span by span and pixel by pixel.
    fn dumb(spans: &Spans, (view, width): (View, f64)) -> Vec<Bar> {
        let ns_per_px = view.length_ns() / width;
        let mut out: Vec<Bar> = Vec::new();
        let mut crowd: Vec<usize> = Vec::new();
        let column = |place: usize| view.px(spans.start_ns(place), width).floor().max(0.0);
        let told = |crowd: &mut Vec<usize>, out: &mut Vec<Bar>| {
            let Some(&first) = crowd.first() else { return };
            let severe = crowd.iter().map(|&place| kind(spans, place)).filter(|kind| kind.is_severe()).max();
            let middle = view.ns(column(first) + 0.5, width);
            let calm = crowd.iter().rev().find(|&&place| spans.start_ns(place) <= middle).unwrap_or(&first);
            let kind = severe.unwrap_or(kind(spans, *calm));
            let (from_px, to_px) = (column(first), column(first) + 1.0);
            match out.last_mut() {
                Some(last) if !last.alone && last.kind == kind && last.to_px == from_px => last.to_px = to_px,
                _ => out.push(Bar { from_px, to_px, kind, place: first, alone: false }),
            }
            crowd.clear();
        };
        for place in 0..spans.len() {
            let (start, end) = (spans.start_ns(place), spans.end_ns(place));
            if end < view.from_ns || start >= view.to_ns {
                continue;
            }
            let long = end - start >= ns_per_px;
            if crowd.first().is_some_and(|&first| column(first) != column(place)) || long {
                told(&mut crowd, &mut out);
            }
            if long {
                let (from_px, to_px) = (view.px(start, width).max(0.0), view.px(end, width).min(width));
                out.push(Bar { from_px, to_px, kind: kind(spans, place), place, alone: true });
            } else {
                crowd.push(place);
            }
        }
        told(&mut crowd, &mut out);
        out
    }

    fn made(seed: u64, count: usize) -> Spans {
        let mut draw = random(seed);
        let mut at = 0.0;
        spans_of((0..count).map(|_| {
            at += [0.0, 0.0, 1.0, 30.0, 5_000.0][draw(5) as usize];
            let length = [0.0, 1.0, 7.0, 100.0, 3_000.0][draw(5) as usize];
            let kind = if draw(50) == 0 {
                SpanKind::ALL[9 + draw(15) as usize]
            } else {
                SpanKind::ALL[draw(9) as usize]
            };
            let span = (at, at + length, kind);
            at += length;
            span
        }))
    }

    fn views(spans: &Spans, draw: &mut impl FnMut(u64) -> u64) -> View {
        let end = spans.end_ns(spans.len() - 1);
        let mut view = View::whole(end);
        for _ in 0..draw(12) {
            view = view.zoomed(0.4, draw(end as u64 + 1) as f64, end);
        }
        view
    }

    #[test]
    fn bars_are_those_of_the_dumb_way() {
        for seed in 0..60 {
            let spans = made(seed, 2_000);
            let pyramid = Pyramid::new(&spans);
            let mut draw = random(seed + 1_000);
            for _ in 0..20 {
                let at = (views(&spans, &mut draw), 1.0 + draw(700) as f64);
                let mut quick = Vec::new();
                bars(&spans, &pyramid, 0..spans.len(), at, &mut quick);
                assert_eq!(quick, dumb(&spans, at), "seed {seed}, {at:?}");
                assert!(quick.len() <= 2 * at.1 as usize + 2, "{} bars on {} pixels", quick.len(), at.1);
            }
        }
    }

    #[test]
    fn a_rare_severe_span_is_never_lost() {
        let at = 777_777;
        let spans = spans_of((0..1_000_000).map(|place| {
            let kind = if place == at { SpanKind::Blocked } else { SpanKind::Decode };
            (place as f64 * 10.0, place as f64 * 10.0 + 10.0, kind)
        }));
        let pyramid = Pyramid::new(&spans);
        let mut out = Vec::new();
        let view = View::whole(1e7);
        bars(&spans, &pyramid, 0..spans.len(), (view, 430.0), &mut out);
        let px = view.px(at as f64 * 10.0, 430.0);
        let seen = out.iter().find(|bar| (bar.from_px..bar.to_px).contains(&px)).map(|bar| bar.kind);
        assert_eq!(seen, Some(SpanKind::Blocked));
        assert!(out.len() <= 4, "neighbours that look the same are one: {}", out.len());
    }
}
