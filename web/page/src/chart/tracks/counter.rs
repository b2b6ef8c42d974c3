//! What is seen of a counter: for each pixel the highest of its states.

use std::ops::Range;

use tierscope_worker::protocol::Points;

use super::lod::first_at;
use super::view::View;

/// From a pixel on, these counts hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// From where on.
    pub px: f64,
    /// The counts.
    pub counts: [u32; 2],
}

/// The levels of a counter's points over a width: at most one for each pixel, and one for what was so before.
pub fn levels(points: &Points, range: Range<usize>, (view, width): (View, f64)) -> Vec<Level> {
    let after = first_at(range.clone(), |place| points.get(place).at_ns > view.from_ns);
    let mut place = after.saturating_sub(1).max(range.start);
    let mut out: Vec<Level> = Vec::new();
    while place < range.end {
        let point = points.get(place);
        if point.at_ns >= view.to_ns {
            break;
        }
        let px = view.px(point.at_ns, width).floor().max(0.0);
        let sum = |counts: [u32; 2]| u64::from(counts[0]) + u64::from(counts[1]);
        match out.last_mut() {
            Some(last) if last.px == px => {
                if sum(point.counts) >= sum(last.counts) {
                    last.counts = point.counts;
                }
            }
            _ => out.push(Level { px, counts: point.counts }),
        }
        place += 1;
    }
    out
}

/// The counts at a time.
pub fn at(points: &Points, range: Range<usize>, ns: f64) -> Option<[u32; 2]> {
    let after = first_at(range.clone(), |place| points.get(place).at_ns > ns);
    (after > range.start).then(|| points.get(after - 1).counts)
}

/// The most of either count, and of both together.
pub fn most(points: &Points, range: Range<usize>) -> (u32, u64) {
    range
        .map(|place| points.get(place).counts)
        .fold((0, 0), |(one, both), [a, b]| (one.max(a).max(b), both.max(u64::from(a) + u64::from(b))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierscope_worker::protocol::Point;

    #[test]
    fn a_pixel_shows_its_highest() {
        let mut points = Points::default();
        for (at_ns, counts) in [(10.0, [1, 0]), (20.0, [9, 1]), (21.0, [2, 2]), (80.0, [3, 0])] {
            points.push(Point { at_ns, counts });
        }
        let view = View { from_ns: 0.0, to_ns: 100.0 };
        let seen = |view, width| levels(&points, 0..4, (view, width));
        assert_eq!(
            seen(view, 10.0),
            [(1.0, [1, 0]), (2.0, [9, 1]), (8.0, [3, 0])].map(|(px, counts)| Level { px, counts })
        );
        let late = View { from_ns: 30.0, to_ns: 70.0 };
        assert_eq!(seen(late, 10.0), [Level { px: 0.0, counts: [2, 2] }], "what was so before goes on");
        assert_eq!([at(&points, 0..4, 5.0), at(&points, 0..4, 20.5)], [None, Some([9, 1])]);
        assert_eq!(most(&points, 0..4), (9, 10));
    }
}
