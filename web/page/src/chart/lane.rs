//! Where a lane's batches lie on its strip: queued at its beginning, in flight along it, settling at its end.

use tierscope_worker::protocol::{CopyView, LaneView};

/// A batch on a strip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Its left edge.
    pub x_px: f64,
    /// Its width: a large batch is a little wider.
    pub width_px: f64,
    /// How it is drawn.
    pub kind: Kind,
    /// Its number.
    pub transfer: f64,
}

/// How a batch is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Waits: hollow.
    Queued,
    /// Under way: solid.
    Flying,
    /// Under way, and nobody knows until when: hollow, with a dot.
    Unknown,
    /// Its copy has ended and the board does not show that yet: solid, at the end.
    Landed,
}

/// The strip of a lane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strip {
    /// Its whole width.
    pub width_px: f64,
}

/// A queued batch takes so much of the strip's beginning.
const QUEUED_PX: f64 = 7.0;
/// Batches drawn on one strip; the counts say how many there are.
const MARKS_MAX: usize = 24;

impl Strip {
    /// Where flights begin.
    pub fn from_px(self) -> f64 {
        (self.width_px * 0.2).clamp(8.0, 32.0)
    }

    /// Where they end.
    pub fn to_px(self) -> f64 {
        (self.width_px - 10.0).max(self.from_px())
    }

    /// The batches of a lane as the cursor stands. Where nothing shall move, those in flight stand in a row instead.
    pub fn marks(
        self,
        lane: &LaneView,
        copies: &[CopyView],
        at_ns: f64,
        cursor_ns: f64,
        still: bool,
    ) -> Vec<Mark> {
        let own = || copies.iter().filter(|copy| (copy.from, copy.to) == (lane.from, lane.to));
        let room = (self.from_px() / QUEUED_PX) as usize;
        let queued = own().filter(|copy| !copy.is_moving(at_ns.max(cursor_ns))).take(room).enumerate();
        let mut marks: Vec<Mark> = queued
            .map(|(place, copy)| Mark {
                x_px: self.from_px() - QUEUED_PX * (place + 1) as f64,
                width_px: QUEUED_PX - 2.0,
                kind: Kind::Queued,
                transfer: copy.transfer,
            })
            .collect();
        let flying: Vec<&CopyView> =
            own().filter(|copy| copy.is_moving(at_ns.max(cursor_ns))).take(MARKS_MAX).collect();
        for (place, copy) in flying.iter().enumerate() {
            let known = copy.progress(cursor_ns);
            let width = width(copy.blocks);
            let share = match known {
                _ if still => (place + 1) as f64 / (flying.len() + 1) as f64,
                Some(share) => share,
                None => 0.5,
            };
            let kind = match known {
                None => Kind::Unknown,
                Some(share) if share >= 1.0 && !still => Kind::Landed,
                Some(_) => Kind::Flying,
            };
            let x_px = self.from_px() + share * (self.to_px() - self.from_px()) - width / 2.0;
            marks.push(Mark { x_px, width_px: width, kind, transfer: copy.transfer });
        }
        marks
    }

    /// The batch at a point: the nearest one that is not far.
    pub fn mark_at(marks: &[Mark], x_px: f64) -> Option<f64> {
        const NEAR_PX: f64 = 8.0;
        let far = |mark: &Mark| (mark.x_px + mark.width_px / 2.0 - x_px).abs();
        let nearest = marks.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
        (far(nearest) <= NEAR_PX + nearest.width_px / 2.0).then_some(nearest.transfer)
    }
}

/// 8 to 20 pixels: doubling a batch widens it by two.
fn width(blocks: u32) -> f64 {
    (8.0 + 2.0 * f64::from(blocks.max(1)).log2()).min(20.0)
}

#[cfg(test)]
mod tests {
    use tierscope_worker::protocol::{CopyCause, TierName};

    use super::*;

    const STRIP: Strip = Strip { width_px: 110.0 };

    fn lane() -> LaneView {
        LaneView {
            from: TierName::G1,
            to: TierName::G2,
            queued: 1,
            starting: 0,
            in_flight: 1,
            settling: 0,
            permits: 4,
            completed: 0.0,
            failed: 0.0,
            cancelled: 0.0,
            moving_blocks: 4,
            moved_bytes: 0.0,
            busy_ns: 0.0,
            limit_bytes_per_s: 1e9,
            rate: None,
        }
    }

    fn copy(transfer: f64, started_ns: Option<f64>, ended_ns: Option<f64>) -> CopyView {
        CopyView {
            transfer,
            from: TierName::G1,
            to: TierName::G2,
            cause: CopyCause::Evicted,
            request: None,
            blocks: 4,
            queued_ns: 0.0,
            started_ns,
            ended_ns,
            end: None,
            retries: 0,
            waiting: Vec::new(),
        }
    }

    fn middle(mark: &Mark) -> f64 {
        mark.x_px + mark.width_px / 2.0
    }

    #[test]
    fn a_batch_in_flight_moves_with_the_cursor() {
        let copies = [copy(1.0, Some(10.0), Some(30.0)), copy(2.0, None, None)];
        let at = |cursor| STRIP.marks(&lane(), &copies, 10.0, cursor, false);
        let (begin, half) = (at(10.0), at(20.0));
        let flying = |marks: &[Mark]| *marks.iter().find(|mark| mark.transfer == 1.0).expect("it is drawn");
        assert_eq!(middle(&flying(&begin)), STRIP.from_px());
        assert_eq!(middle(&flying(&half)), (STRIP.from_px() + STRIP.to_px()) / 2.0);
        assert_eq!(flying(&at(40.0)).kind, Kind::Landed);
        let queued = begin[0];
        assert!(queued.kind == Kind::Queued && queued.x_px + queued.width_px <= STRIP.from_px());
        assert_eq!(Strip::mark_at(&half, middle(&flying(&half)) + 3.0), Some(1.0));
        assert_eq!(Strip::mark_at(&half, STRIP.width_px), None);
    }

    #[test]
    fn where_nothing_shall_move_nothing_does() {
        let copies = [copy(1.0, Some(10.0), Some(30.0)), copy(3.0, Some(5.0), None)];
        let at = |cursor| STRIP.marks(&lane(), &copies, 10.0, cursor, true);
        assert_eq!(at(11.0), at(29.0));
        assert_eq!(at(11.0).iter().map(|mark| mark.kind).collect::<Vec<_>>(), [Kind::Flying, Kind::Unknown]);
    }

    #[test]
    fn other_lanes_have_their_own() {
        let up = LaneView { from: TierName::G2, to: TierName::G1, ..lane() };
        assert_eq!(STRIP.marks(&up, &[copy(1.0, Some(1.0), None)], 5.0, 5.0, false), []);
        let many: Vec<CopyView> = (0..99).map(|n| copy(f64::from(n), Some(1.0), Some(9.0))).collect();
        assert_eq!(STRIP.marks(&lane(), &many, 5.0, 5.0, false).len(), MARKS_MAX);
    }
}
