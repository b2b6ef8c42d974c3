//! What happened in a stretch of time, in numbers and as a list.

use std::collections::BTreeMap;

use tierscope_worker::protocol::{LANES, SpanKind, TrackKind};

use super::layout::{Layout, Shows};
use super::model::Model;
use super::pick::within;

/// What happened in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Passes that ended in it.
    pub passes: u64,
    /// Requests that arrived.
    pub begun: u64,
    /// Requests that ended.
    pub ended: u64,
    /// Preemptions.
    pub preempted: u64,
    /// Blocks whose copies arrived, by lane.
    pub moved: Vec<(&'static str, &'static str, u64)>,
}

/// Of the stretch from one time to another, the second not included unless the run ends there.
pub fn summary(model: &Model, from_ns: f64, to_ns: f64) -> Summary {
    let mut out = Summary::default();
    let spans = &model.tracks.spans;
    let to_the_end = to_ns >= model.tracks.end_ns;
    let inside = |ns: f64| from_ns <= ns && (ns < to_ns || to_the_end);
    let mut moved = BTreeMap::new();
    for track in model.tracks.list.iter() {
        let here = within(spans, track.range(), from_ns, to_ns);
        match track.kind {
            TrackKind::Passes => {
                // All of them end in it, but perhaps the first and the last.
                out.passes += here.filter(|&place| inside(spans.end_ns(place))).count() as u64;
            }
            TrackKind::Copies => {
                for place in here.filter(|&place| inside(spans.end_ns(place))) {
                    let span = spans.get(place);
                    if span.kind == SpanKind::Moving {
                        *moved.entry(track.part).or_insert(0) += u64::from(span.aux);
                    }
                }
            }
            TrackKind::Marks => {
                let is_it = |place: &usize| spans.code(*place) == SpanKind::MarkPreempted as u8;
                out.preempted +=
                    here.filter(|place| inside(spans.start_ns(*place)) && is_it(place)).count() as u64;
            }
            TrackKind::Request if track.count > 0 => {
                let (first, last) = (track.range().start, track.range().end - 1);
                out.begun += u64::from(inside(spans.start_ns(first)));
                let end = spans.get(last);
                out.ended += u64::from(inside(end.end_ns) && !end.open);
            }
            _ => {}
        }
    }
    out.moved = moved
        .into_iter()
        .filter_map(|(lane, blocks)| LANES.get(usize::from(lane)).map(|(from, to)| (*from, *to, blocks)))
        .collect();
    out
}

/// The spans of a stretch of time, track by track as they are laid out: those of the first rows whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The track's place in the list, and the span's.
    pub rows: Vec<(u32, u32)>,
    /// How many there are besides.
    pub rest: u64,
}

/// At most `most` of them, beginning with the pinned tracks and then with what is seen from a height on.
pub fn listed(
    model: &Model,
    layout: &Layout,
    scrolled: u32,
    (from_ns, to_ns): (f64, f64),
    most: usize,
) -> Listed {
    let mut out = Listed::default();
    let first = layout.rows.partition_point(|row| row.top + row.height <= scrolled);
    let (above, below) = layout.rows.split_at(first.min(layout.rows.len()));
    for row in layout.pinned.iter().chain(below).chain(above) {
        let Shows::Track(place) = row.shows else { continue };
        let track = model.tracks.list.get(place as usize);
        if track.kind.is_counter() {
            continue;
        }
        let here = within(&model.tracks.spans, track.range(), from_ns, to_ns);
        let room = most - out.rows.len();
        out.rows.extend(here.clone().take(room).map(|span| (place, span as u32)));
        out.rest += here.len().saturating_sub(room) as u64;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tracks::layout::Arrangement;
    use crate::chart::tracks::model::tests::model_of;

    fn model() -> Model {
        model_of(&[
            (
                TrackKind::Passes,
                0,
                &[
                    (0.0, 10.0, SpanKind::PrefillPass),
                    (10.0, 20.0, SpanKind::DecodePass),
                    (20.0, 30.0, SpanKind::DecodePass),
                ],
            ),
            (TrackKind::Copies, 0, &[(5.0, 9.0, SpanKind::Queued), (9.0, 15.0, SpanKind::Moving)]),
            (TrackKind::Marks, 1, &[(12.0, 12.0, SpanKind::MarkPreempted)]),
            (TrackKind::Request, 0, &[(0.0, 4.0, SpanKind::Waiting), (4.0, 18.0, SpanKind::Decode)]),
            (TrackKind::Request, 1, &[(11.0, 1_000.0, SpanKind::Waiting)]),
        ])
    }

    #[test]
    fn a_stretch_is_counted() {
        let seen = summary(&model(), 5.0, 20.0);
        let wanted = Summary { passes: 1, begun: 1, ended: 1, preempted: 1, moved: vec![("G1", "G2", 2)] };
        assert_eq!(seen, wanted);
        let all = summary(&model(), 0.0, 2_000.0);
        assert_eq!(
            (all.passes, all.begun, all.ended),
            (3, 2, 1),
            "what lasts to the end of the run has not ended"
        );
    }

    #[test]
    fn a_list_is_bounded_and_counts_the_rest() {
        let model = model();
        let layout = Layout::new(&model, 0, &Arrangement::default());
        let all = listed(&model, &layout, 0, (0.0, 2_000.0), 100);
        assert_eq!((all.rows.len(), all.rest), (9, 0));
        let few = listed(&model, &layout, 0, (0.0, 2_000.0), 4);
        assert_eq!((few.rows.clone(), few.rest), (all.rows[..4].to_vec(), 5));
        let last = layout.rows.last().expect("a row").top;
        assert_eq!(listed(&model, &layout, last, (0.0, 9.0), 1).rows, [(0, 0)], "rows above follow");
        assert_eq!(listed(&model, &layout, last, (12.0, 19.0), 1).rows, [(4, 8)]);
    }
}
