//! The rows of the timeline: which tracks there are to see, in which order, how high, and where.

use std::collections::BTreeSet;

use tierscope_worker::protocol::{Track, TrackKind};

use super::model::Model;

/// Tracks that can be folded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Group {
    /// Counters of the worker that is looked at, and of what lies below.
    Counters,
    /// Passes of all workers.
    Passes,
    /// What happened at an instant.
    Marks,
    /// Copies between tiers.
    Copies,
    /// Requests.
    Requests,
}

impl Group {
    /// In order.
    pub const ALL: [Self; 5] = [Self::Counters, Self::Passes, Self::Marks, Self::Copies, Self::Requests];

    /// The group of a track.
    pub fn of(kind: TrackKind) -> Self {
        match kind {
            TrackKind::Blocks | TrackKind::Queues | TrackKind::Below => Self::Counters,
            TrackKind::Passes => Self::Passes,
            TrackKind::Copies => Self::Copies,
            TrackKind::Marks => Self::Marks,
            TrackKind::Request => Self::Requests,
        }
    }

    /// What its header says.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counters => "Counters",
            Self::Passes => "Passes",
            Self::Copies => "Copies",
            Self::Marks => "Events",
            Self::Requests => "Requests",
        }
    }

    /// Tracks from which on a header is worth its room.
    fn header_from(self) -> usize {
        match self {
            Self::Counters => 6,
            Self::Passes | Self::Marks => 2,
            Self::Copies | Self::Requests => 1,
        }
    }
}

/// Which track, whatever run it is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TrackId(TrackKind, u8, u16, u32);

impl TrackId {
    /// Of a track.
    pub fn of(track: Track) -> Self {
        Self(track.kind, track.part, track.worker, track.number)
    }
}

/// What the user has arranged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arrangement {
    /// Tracks that stay on top, in this order.
    pub pinned: Vec<TrackId>,
    /// Groups that are folded.
    pub folded: BTreeSet<Group>,
}

/// Most tracks that can stay on top: below them there must be room for the others.
pub const PINNED_MAX: usize = 8;

impl Arrangement {
    /// Pins a track, or unpins it; the oldest pin makes room.
    pub fn toggle_pin(&mut self, track: TrackId) {
        match self.pinned.iter().position(|pinned| *pinned == track) {
            Some(at) => {
                self.pinned.remove(at);
            }
            None => {
                if self.pinned.len() == PINNED_MAX {
                    self.pinned.remove(0);
                }
                self.pinned.push(track);
            }
        }
    }

    /// Folds a group, or unfolds it.
    pub fn toggle_fold(&mut self, group: Group) {
        if !self.folded.remove(&group) {
            self.folded.insert(group);
        }
    }
}

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shows {
    /// The header of a group, with the number of its tracks.
    Header(Group, u32),
    /// The track at this place of the list.
    Track(u32),
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// What it shows.
    pub shows: Shows,
    /// From the top of its part, in pixels.
    pub top: u32,
    /// In pixels.
    pub height: u32,
}

/// All rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Those that stay on top.
    pub pinned: Vec<Row>,
    /// Those that scroll.
    pub rows: Vec<Row>,
    /// Of the pinned ones together.
    pub pinned_height: u32,
    /// Of the scrolling ones together.
    pub height: u32,
}

/// Height of a header.
const HEADER_PX: u32 = 17;
/// Height of a track of spans.
const TRACK_PX: u32 = 17;
/// Height of a counter.
const COUNTER_PX: u32 = 26;

impl Layout {
    /// Of the tracks of a model; counters are those of one worker.
    pub fn new(model: &Model, worker: u32, arrangement: &Arrangement) -> Self {
        let mut out = Self::default();
        let mut groups: [Vec<u32>; Group::ALL.len()] = Default::default();
        let mut pins: Vec<Option<u32>> = vec![None; arrangement.pinned.len()];
        for (place, track) in model.tracks.list.iter().enumerate() {
            let own = matches!(track.kind, TrackKind::Blocks | TrackKind::Queues);
            if own && u32::from(track.worker) != worker {
                continue;
            }
            let pinned = arrangement.pinned.iter().position(|pin| *pin == TrackId::of(track));
            match pinned {
                Some(at) => pins[at] = Some(place as u32),
                None => groups[Group::of(track.kind) as usize].push(place as u32),
            }
        }
        for place in pins.into_iter().flatten() {
            let height = height(model.tracks.list.get(place as usize));
            out.pinned.push(Row { shows: Shows::Track(place), top: out.pinned_height, height });
            out.pinned_height += height;
        }
        for (group, places) in Group::ALL.into_iter().zip(groups) {
            if places.len() >= group.header_from() {
                out.add(Shows::Header(group, places.len() as u32), HEADER_PX);
                if arrangement.folded.contains(&group) {
                    continue;
                }
            }
            for place in places {
                out.add(Shows::Track(place), height(model.tracks.list.get(place as usize)));
            }
        }
        out
    }

    fn add(&mut self, shows: Shows, height: u32) {
        self.rows.push(Row { shows, top: self.height, height });
        self.height += height;
    }

    /// The scrolling rows that are seen from one height to another.
    pub fn seen(&self, from: u32, to: u32) -> &[Row] {
        let first = self.rows.partition_point(|row| row.top + row.height <= from);
        let end = self.rows.partition_point(|row| row.top < to);
        self.rows.get(first..end).unwrap_or_default()
    }

    /// The row of a track among those that scroll.
    pub fn row_of(&self, place: usize) -> Option<Row> {
        self.rows.iter().find(|row| row.shows == Shows::Track(place as u32)).copied()
    }

    /// The row at a height of the picture, when so much has been scrolled away, and how far below the row's top.
    pub fn row_at(&self, y: f64, scrolled: u32) -> Option<Row> {
        let at = |rows: &[Row], y: f64| {
            let inside = |row: &&Row| (f64::from(row.top)..f64::from(row.top + row.height)).contains(&y);
            let first = rows.partition_point(|row| f64::from(row.top + row.height) <= y);
            rows.get(first).filter(inside).copied()
        };
        let below = y - f64::from(self.pinned_height);
        if below < 0.0 { at(&self.pinned, y) } else { at(&self.rows, below + f64::from(scrolled)) }
    }
}

fn height(track: Track) -> u32 {
    if track.kind.is_counter() { COUNTER_PX } else { TRACK_PX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::tracks::model::tests::model_of;
    use tierscope_worker::protocol::SpanKind;

    fn model() -> Model {
        let span: &[(f64, f64, SpanKind)] = &[(0.0, 1.0, SpanKind::Decode)];
        model_of(&[
            (TrackKind::Blocks, 0, &[]),
            (TrackKind::Passes, 0, span),
            (TrackKind::Request, 0, span),
            (TrackKind::Request, 1, span),
            (TrackKind::Request, 2, span),
        ])
    }

    fn shows(rows: &[Row]) -> Vec<Shows> {
        rows.iter().map(|row| row.shows).collect()
    }

    #[test]
    fn groups_fold_and_pins_stay_on_top() {
        let model = model();
        let mut arrangement = Arrangement::default();
        let all = Layout::new(&model, 0, &arrangement);
        let requests = Shows::Header(Group::Requests, 3);
        let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(Shows::Track);
        assert_eq!(shows(&all.rows), [a, b, requests, c, d, e]);
        assert_eq!(shows(all.seen(COUNTER_PX + 1, COUNTER_PX + TRACK_PX + 1)), [b, requests]);
        arrangement.toggle_pin(TrackId::of(model.tracks.list.get(3)));
        arrangement.toggle_fold(Group::Requests);
        let folded = Layout::new(&model, 0, &arrangement);
        assert_eq!(shows(&folded.pinned), [d]);
        assert_eq!(shows(&folded.rows), [a, b, Shows::Header(Group::Requests, 2)]);
        assert_eq!(folded.row_at(3.0, 0).map(|row| row.shows), Some(d));
        assert_eq!(folded.row_at(f64::from(TRACK_PX), COUNTER_PX).map(|row| row.shows), Some(b));
        assert_eq!(folded.row_at(9_999.0, 0), None);
        arrangement.toggle_pin(TrackId::of(model.tracks.list.get(3)));
        arrangement.toggle_fold(Group::Requests);
        assert_eq!(arrangement, Arrangement::default());
    }

    #[test]
    fn counters_are_those_of_one_worker() {
        assert_eq!(Layout::new(&model(), 1, &Arrangement::default()).rows.len(), 5);
    }

    #[test]
    fn pins_are_few() {
        let mut arrangement = Arrangement::default();
        for number in 0..20 {
            arrangement.toggle_pin(TrackId(TrackKind::Request, 0, 0, number));
        }
        assert_eq!(arrangement.pinned.len(), PINNED_MAX);
    }
}
