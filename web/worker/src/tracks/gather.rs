//! The index as the page gets it.

use tierscope_report::{BelowSample, Sample};
use tierscope_units::Idx as _;

use super::{Index, Kept, lanes};
use crate::copies::Copies;
use crate::protocol::{Point, Points, SpanKind, Spans, Track, TrackKind, Tracks};

/// What the tracks are gathered from.
pub struct Sources<'a> {
    /// The index.
    pub index: &'a Index,
    /// What moves.
    pub copies: &'a Copies,
    /// By worker: its G1 and its queues.
    pub occupancies: Vec<&'a [Sample]>,
    /// What lies below.
    pub below: &'a [BelowSample],
    /// Which of G2, G3 and G4 there are.
    pub has_below: [bool; 3],
    /// The last instant.
    pub end: u64,
}

/// All tracks of a run that is over.
pub fn gather(sources: &Sources<'_>) -> Tracks {
    let mut out = Gathering { tracks: Tracks::default(), run_end: sources.end };
    counters(sources, &mut out);
    let index = sources.index;
    for (worker, passes) in index.passes.iter().enumerate() {
        let track = blank(TrackKind::Passes, worker as u16);
        out.track(track, passes.all(), true);
        out.tracks.left_out[0] = out.tracks.left_out[0].saturating_add(passes.left_out());
    }
    let (rows, crowded) = lanes::rows(sources.copies, index.passes.len());
    for row in rows {
        let track = blank(TrackKind::Copies, row.worker.0);
        out.track(Track { part: row.lane, number: row.number, ..track }, row.spans.into_iter(), false);
    }
    let dropped = u32::try_from(sources.copies.dropped()).unwrap_or(u32::MAX);
    out.tracks.left_out[1] = dropped.saturating_add(crowded);
    for (worker, marks) in index.marks.iter().enumerate() {
        out.track(blank(TrackKind::Marks, worker as u16), marks.iter(), false);
        out.tracks.left_out[2] = out.tracks.left_out[2].saturating_add(marks.left_out());
    }
    requests(sources, &mut out);
    out.tracks.left_out[3] = index.phases.left_out();
    out.tracks.end_ns = sources.end as f64;
    out.tracks
}

fn blank(kind: TrackKind, worker: u16) -> Track {
    Track { kind, part: 0, worker, number: 0, first: 0, count: 0 }
}

struct Gathering {
    tracks: Tracks,
    run_end: u64,
}

impl Gathering {
    /// Appends a track; one without spans only where it says something that there are none.
    fn track(&mut self, track: Track, spans: impl Iterator<Item = Kept>, empty_too: bool) {
        let first = self.tracks.spans.len() as u32;
        for span in spans {
            self.tracks.spans.push(span.span(self.run_end));
        }
        let count = self.tracks.spans.len() as u32 - first;
        if count > 0 || empty_too {
            self.tracks.list.push(Track { first, count, ..track });
        }
    }

    fn counter(&mut self, track: Track, points: impl Iterator<Item = Point>) {
        let list: &mut Points = &mut self.tracks.points;
        let first = list.len() as u32;
        points.for_each(|point| list.push(point));
        let count = list.len() as u32 - first;
        if count > 0 {
            self.tracks.list.push(Track { first, count, ..track });
        }
    }
}

fn counters(sources: &Sources<'_>, out: &mut Gathering) {
    for (worker, samples) in sources.occupancies.iter().enumerate() {
        let points = |counts: fn(&Sample) -> [u32; 2]| {
            samples.iter().map(move |sample| Point { at_ns: sample.at_ns as f64, counts: counts(sample) })
        };
        let worker = worker as u16;
        out.counter(blank(TrackKind::Blocks, worker), points(|sample| [sample.active, sample.cached]));
        out.counter(blank(TrackKind::Queues, worker), points(|sample| [sample.running, sample.waiting]));
    }
    for part in (0..3).filter(|&part| sources.has_below[part]) {
        let point =
            |sample: &BelowSample| Point { at_ns: sample.at_ns as f64, counts: [0, sample.resident[part]] };
        let track = Track { part: part as u8, ..blank(TrackKind::Below, 0) };
        out.counter(track, sources.below.iter().map(point));
    }
}

/// The phases of all requests, sorted by request: counted first, then put where they belong.
fn requests(sources: &Sources<'_>, out: &mut Gathering) {
    let mut counts: Vec<u32> = Vec::new();
    for (request, _) in sources.index.phases.all() {
        if counts.len() <= request.index() {
            counts.resize(request.index() + 1, 0);
        }
        counts[request.index()] += 1;
    }
    let base = out.tracks.spans.len() as u32;
    let mut next = base;
    let mut places = Vec::with_capacity(counts.len());
    for (request, &count) in counts.iter().enumerate() {
        places.push(next - base);
        if count > 0 {
            let track = blank(TrackKind::Request, 0);
            out.tracks.list.push(Track { number: request as u32, first: next, count, ..track });
        }
        next += count;
    }
    let blank = Kept::new(SpanKind::Waiting, 0, 0, 0);
    let mut sorted = vec![blank; (next - base) as usize];
    for (request, phase) in sources.index.phases.all() {
        let place = &mut places[request.index()];
        sorted[*place as usize] = phase;
        *place += 1;
    }
    let spans: &mut Spans = &mut out.tracks.spans;
    spans.reserve(sorted.len());
    sorted.into_iter().for_each(|phase| spans.push(phase.span(sources.end)));
}
