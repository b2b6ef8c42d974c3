//! Lists of tracks, spans and points as bytes, read where they lie.

use serde::{Deserialize, Serialize};

use super::{AUX_MAX, Span, SpanKind, Track, TrackKind};

/// The tracks, 16 bytes each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TrackList(#[serde(with = "crate::bytes")] Vec<u8>);

/// Spans, 24 bytes each; those of a track follow each other in time, and do not overlap.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Spans(#[serde(with = "crate::bytes")] Vec<u8>);

/// Points of counters, 16 bytes each; those of a track follow each other in time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Points(#[serde(with = "crate::bytes")] Vec<u8>);

/// Two counts from a time on: active and cached blocks, running and waiting requests, matchable blocks and none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Since when.
    pub at_ns: f64,
    /// The counts.
    pub counts: [u32; 2],
}

const TRACK_BYTES: usize = 16;
const SPAN_BYTES: usize = 24;
const POINT_BYTES: usize = 16;
/// Set in the code of a span that has not ended.
const OPEN: u8 = 0x80;

/// The bytes of a field; zeros beyond the end, so that a message that was cut off cannot end the page.
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(field(bytes, at))
}

fn f64_at(bytes: &[u8], at: usize) -> f64 {
    f64::from_le_bytes(field(bytes, at))
}

impl TrackList {
    /// Appends a track.
    pub fn push(&mut self, track: Track) {
        self.0.extend_from_slice(&[track.kind as u8, track.part]);
        self.0.extend_from_slice(&track.worker.to_le_bytes());
        for number in [track.number, track.first, track.count] {
            self.0.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / TRACK_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them; there must be so many.
    pub fn get(&self, place: usize) -> Track {
        let at = place * TRACK_BYTES;
        let [kind, part] = field(&self.0, at);
        Track {
            kind: TrackKind::ALL.get(usize::from(kind)).copied().unwrap_or(TrackKind::Marks),
            part,
            worker: u16::from_le_bytes(field(&self.0, at + 2)),
            number: u32_at(&self.0, at + 4),
            first: u32_at(&self.0, at + 8),
            count: u32_at(&self.0, at + 12),
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Track> {
        (0..self.len()).map(|place| self.get(place))
    }
}

impl Spans {
    /// Appends a span.
    pub fn push(&mut self, span: Span) {
        self.0.extend_from_slice(&span.start_ns.to_le_bytes());
        self.0.extend_from_slice(&span.end_ns.to_le_bytes());
        let code = span.kind as u8 | if span.open { OPEN } else { 0 };
        let word = u32::from(code) | span.aux.min(AUX_MAX) << 8;
        self.0.extend_from_slice(&word.to_le_bytes());
        self.0.extend_from_slice(&span.number.to_le_bytes());
    }

    /// Makes room for so many more.
    pub fn reserve(&mut self, spans: usize) {
        self.0.reserve(spans * SPAN_BYTES);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / SPAN_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them; there must be so many.
    pub fn get(&self, place: usize) -> Span {
        let at = place * SPAN_BYTES;
        let word = u32_at(&self.0, at + 16);
        Span {
            start_ns: f64_at(&self.0, at),
            end_ns: f64_at(&self.0, at + 8),
            kind: SpanKind::of_code(word as u8 & !OPEN),
            open: word as u8 & OPEN != 0,
            aux: word >> 8,
            number: u32_at(&self.0, at + 20),
        }
    }

    /// When one begins.
    #[inline]
    pub fn start_ns(&self, place: usize) -> f64 {
        f64_at(&self.0, place * SPAN_BYTES)
    }

    /// When one ends.
    #[inline]
    pub fn end_ns(&self, place: usize) -> f64 {
        f64_at(&self.0, place * SPAN_BYTES + 8)
    }

    /// The code of what one is.
    #[inline]
    pub fn code(&self, place: usize) -> u8 {
        let [code] = field(&self.0, place * SPAN_BYTES + 16);
        code & !OPEN
    }
}

impl Points {
    /// Appends a point.
    pub fn push(&mut self, point: Point) {
        self.0.extend_from_slice(&point.at_ns.to_le_bytes());
        for count in point.counts {
            self.0.extend_from_slice(&count.to_le_bytes());
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len() / POINT_BYTES
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One of them; there must be so many.
    pub fn get(&self, place: usize) -> Point {
        let at = place * POINT_BYTES;
        Point { at_ns: f64_at(&self.0, at), counts: [u32_at(&self.0, at + 8), u32_at(&self.0, at + 12)] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let kinds_in_order = SpanKind::ALL.iter().enumerate().all(|(code, kind)| *kind as usize == code);
        assert!(
            kinds_in_order && TrackKind::ALL.iter().enumerate().all(|(code, kind)| *kind as usize == code)
        );
        let span = Span {
            start_ns: 7.0,
            end_ns: 1e15,
            kind: SpanKind::Blocked,
            open: false,
            aux: AUX_MAX,
            number: u32::MAX,
        };
        let calm = Span { kind: SpanKind::DecodePass, open: true, aux: 1, ..span };
        let mut spans = Spans::default();
        spans.push(calm);
        spans.push(span);
        assert_eq!((spans.len(), spans.get(0), spans.get(1)), (2, calm, span));
        assert_eq!((spans.start_ns(1), spans.end_ns(1), spans.code(1)), (7.0, 1e15, SpanKind::Blocked as u8));
        let track =
            Track { kind: TrackKind::Copies, part: 5, worker: 1_023, number: 3, first: 1 << 30, count: 9 };
        let mut list = TrackList::default();
        list.push(track);
        assert_eq!((list.len(), list.get(0)), (1, track));
        let mut points = Points::default();
        points.push(Point { at_ns: 0.5, counts: [1, 2] });
        assert_eq!(points.get(0), Point { at_ns: 0.5, counts: [1, 2] });
    }

    #[test]
    fn bytes_that_were_cut_off_do_no_harm() {
        let list = TrackList(vec![200; 17]);
        assert_eq!((list.len(), list.get(0).kind, list.get(4).count), (1, TrackKind::Marks, 0));
        assert_eq!(Spans(vec![255; 24]).get(0).kind, SpanKind::DecodePass);
    }
}
