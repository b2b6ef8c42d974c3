//! A run's tracks with what makes drawing them quick.

use std::ops::Range;
use std::rc::Rc;

use tierscope_worker::protocol::{SpanKind, Track, TrackKind, Tracks};

use super::lod::first_at;
use super::pyramid::Pyramid;
use crate::state::selection::Selection;

/// Tracks, ready to be drawn.
#[derive(Debug, Default)]
pub struct Model {
    /// As the worker sent them.
    pub tracks: Tracks,
    /// The severest of any stretch of spans.
    pub pyramid: Pyramid,
    /// The places of the requests' tracks: they are the last, in order of their numbers.
    pub requests: Range<usize>,
}

/// A model that is only ever the same as itself: comparing millions of bytes would take longer than a frame.
#[derive(Clone, Debug)]
pub struct Shared(pub Rc<Model>);

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// Room for the copies of one worker in their numbers.
const COPIES_PER_WORKER: u64 = 1 << 40;

impl Model {
    /// Of what the worker sent.
    pub fn new(tracks: Tracks) -> Self {
        let pyramid = Pyramid::new(&tracks.spans);
        let all = 0..tracks.list.len();
        let first = first_at(all.clone(), |place| tracks.list.get(place).kind == TrackKind::Request);
        Self { pyramid, requests: first..all.end, tracks }
    }

    /// The place of a request's track.
    pub fn request(&self, number: u32) -> Option<usize> {
        let place = first_at(self.requests.clone(), |place| self.tracks.list.get(place).number >= number);
        (place < self.requests.end && self.tracks.list.get(place).number == number).then_some(place)
    }

    /// The copy that a span of a worker's track is, or that a request waits for in it.
    pub fn transfer(&self, track: Track, place: usize) -> Option<u64> {
        let span = self.tracks.spans.get(place);
        let worker = match span.kind {
            kind if kind.is_copy() || kind == SpanKind::MarkCopyFailed => u64::from(track.worker),
            SpanKind::Blocked | SpanKind::Awaiting => u64::from(span.aux),
            _ => return None,
        };
        Some(worker * COPIES_PER_WORKER + u64::from(span.number))
    }

    /// What a span is about.
    pub fn about(&self, track: Track, place: usize) -> Option<Selection> {
        let span = self.tracks.spans.get(place);
        match track.kind {
            TrackKind::Request => Some(Selection::Request(track.number)),
            TrackKind::Copies => self.transfer(track, place).map(Selection::Transfer),
            TrackKind::Passes => Some(Selection::Worker(track.worker.into())),
            TrackKind::Marks => match span.kind {
                SpanKind::MarkCopyFailed => self.transfer(track, place).map(Selection::Transfer),
                SpanKind::MarkWorker | SpanKind::MarkLost => Some(Selection::Worker(span.number)),
                _ => Some(Selection::Request(span.number)),
            },
            TrackKind::Blocks | TrackKind::Queues | TrackKind::Below => None,
        }
    }

    /// The track that shows something best, and its spans there.
    pub fn shown(&self, selection: &Selection) -> Option<(usize, Range<usize>)> {
        let list = &self.tracks.list;
        match *selection {
            Selection::Request(number) => {
                let place = self.request(number)?;
                Some((place, list.get(place).range()))
            }
            Selection::Worker(worker) => {
                let is_so =
                    |track: Track| track.kind == TrackKind::Passes && u32::from(track.worker) == worker;
                let place = list.iter().position(is_so)?;
                Some((place, list.get(place).range()))
            }
            Selection::Transfer(transfer) => {
                let whose = transfer / COPIES_PER_WORKER;
                let of_worker =
                    |track: Track| track.kind == TrackKind::Copies && u64::from(track.worker) == whose;
                list.iter().enumerate().filter(|(_, track)| of_worker(*track)).find_map(|(place, track)| {
                    let is_it = |span: &usize| self.tracks.spans.get(*span).number == transfer as u32;
                    let first = track.range().find(is_it)?;
                    let count = (first..track.range().end).take_while(is_it).count();
                    Some((place, first..first + count))
                })
            }
            Selection::Block(_) => None,
        }
    }

    /// From when to when something is to be seen.
    pub fn extent(&self, selection: &Selection) -> Option<(f64, f64)> {
        let (_, spans) = self.shown(selection)?;
        let last = spans.end.checked_sub(1).filter(|last| *last >= spans.start)?;
        Some((self.tracks.spans.start_ns(spans.start), self.tracks.spans.end_ns(last)))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tierscope_worker::protocol::{Span, Spans};

    /// Numbers below a bound, the same ones for a seed.
    pub(crate) fn random(seed: u64) -> impl FnMut(u64) -> u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        move |below| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d) % below.max(1)
        }
    }

    pub(crate) fn spans_of(all: impl Iterator<Item = (f64, f64, SpanKind)>) -> Spans {
        let mut spans = Spans::default();
        for (number, (start_ns, end_ns, kind)) in all.enumerate() {
            spans.push(Span { start_ns, end_ns, kind, open: false, aux: 1, number: number as u32 });
        }
        spans
    }

    /// A track's kind and number, and its spans: from, to, what.
    type Drawn<'a> = (TrackKind, u32, &'a [(f64, f64, SpanKind)]);

    /// Tracks with their spans.
    pub(crate) fn model_of(tracks: &[Drawn<'_>]) -> Model {
        let mut out = Tracks { end_ns: 1_000.0, ..Tracks::default() };
        for (kind, number, spans) in tracks {
            let first = out.spans.len() as u32;
            for (nth, (start_ns, end_ns, kind)) in spans.iter().enumerate() {
                let (start_ns, end_ns, kind) = (*start_ns, *end_ns, *kind);
                let number = if kind.is_mark() { *number } else { nth as u32 };
                out.spans.push(Span { start_ns, end_ns, kind, open: end_ns >= 1_000.0, aux: 2, number });
            }
            let count = spans.len() as u32;
            out.list.push(Track { kind: *kind, part: 0, worker: 0, number: *number, first, count });
        }
        Model::new(out)
    }

    #[test]
    fn what_is_picked_out_is_found() {
        let model = model_of(&[
            (TrackKind::Passes, 0, &[(0.0, 10.0, SpanKind::DecodePass)]),
            (TrackKind::Copies, 0, &[(0.0, 5.0, SpanKind::Moving), (7.0, 9.0, SpanKind::Moving)]),
            (TrackKind::Request, 3, &[(1.0, 2.0, SpanKind::Waiting), (2.0, 8.0, SpanKind::Decode)]),
            (TrackKind::Request, 9, &[(5.0, 6.0, SpanKind::Blocked)]),
        ]);
        assert_eq!((model.request(3), model.request(9), model.request(4)), (Some(2), Some(3), None));
        assert_eq!(model.extent(&Selection::Request(3)), Some((1.0, 8.0)));
        assert_eq!(model.extent(&Selection::Transfer(1)), Some((7.0, 9.0)));
        assert_eq!(model.extent(&Selection::Worker(0)), Some((0.0, 10.0)));
        assert_eq!(model.extent(&Selection::Transfer(COPIES_PER_WORKER)), None);
        let copies = model.tracks.list.get(1);
        assert_eq!(model.about(copies, copies.range().start + 1), Some(Selection::Transfer(1)));
    }
}
