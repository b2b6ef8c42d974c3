//! What was measured, and all that came of it.

use tierscope_engine::{Lane, Tier};

use super::fit::LinkFit;
use super::held_out::Prediction;

/// How batches went along a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// The lane.
    pub lane: Lane,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Blocks of a batch.
    pub blocks: u32,
    /// Batches that are submitted at once.
    pub in_flight: u32,
    /// Whether batches went the other way all the time.
    pub with_opposite: bool,
}

impl Point {
    /// Bytes of all batches in flight.
    pub fn bytes(&self) -> f64 {
        self.block_bytes as f64 * self.moved_blocks()
    }

    /// Blocks of all batches in flight.
    pub fn moved_blocks(&self) -> f64 {
        f64::from(self.blocks) * f64::from(self.in_flight)
    }
}

/// The times of a point: from the submission of its first batch to the end of its last, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// What was measured.
    pub point: Point,
    /// The median of the repeats.
    pub median_ns: f64,
    /// The first and the third quartile.
    pub quartiles_ns: [f64; 2],
    /// How often.
    pub repeats: u32,
}

impl Sample {
    /// Of these times; `None` when there are none.
    pub fn of(point: Point, mut times_ns: Vec<f64>) -> Option<Self> {
        times_ns.sort_by(f64::total_cmp);
        let at = |share: f64| quantile(&times_ns, share);
        let (low, median, high) = (at(0.25)?, at(0.5)?, at(0.75)?);
        Some(Self { point, median_ns: median, quartiles_ns: [low, high], repeats: times_ns.len() as u32 })
    }

    /// The interquartile range as a share of the median.
    pub fn spread(&self) -> f64 {
        (self.quartiles_ns[1] - self.quartiles_ns[0]) / self.median_ns.max(1.0)
    }

    /// Bytes per nanosecond, which are GB/s (10⁹).
    pub fn gb_per_s(&self) -> f64 {
        self.point.bytes() / self.median_ns.max(1.0)
    }
}

/// The value below which a share of sorted values lies, between two of them in proportion; `None` of nothing.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let place = share.clamp(0.0, 1.0) * sorted.len().checked_sub(1)? as f64;
    let below = place.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    Some(sorted[below] + (sorted[above] - sorted[below]) * (place - below as f64))
}

/// What was to be measured and was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// A lane, or a tier.
    pub what: String,
    /// Bytes of a block, where it is about one size.
    pub block_bytes: Option<u64>,
    /// Why, in words.
    pub why: String,
}

/// A point that was measured again at the end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repeated {
    /// The first time.
    pub before: Sample,
    /// The second time.
    pub after: Sample,
}

impl Repeated {
    /// A profile whose repeats differ by more is unsteady.
    pub const BOUND: f64 = 0.2;

    /// How much the slower one is slower.
    pub fn difference(&self) -> f64 {
        let (a, b) = (self.before.median_ns, self.after.median_ns);
        (a - b).abs() / a.min(b).max(1.0)
    }
}

/// A medium that was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its tier.
    pub tier: Tier,
    /// The word for its kind, and its name.
    pub name: String,
    /// What has to be known about it: what it stands in for, what it did not get.
    pub remarks: Vec<String>,
}

/// All that came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The media.
    pub subjects: Vec<Subject>,
    /// Bytes of the blocks that were read and written in turn, of each direction.
    pub working_set_bytes: u64,
    /// How long it took, in seconds.
    pub took_s: f64,
    /// What was measured.
    pub samples: Vec<Sample>,
    /// What was not.
    pub missed: Vec<Missed>,
    /// What was fitted: the links of G1, G3 and G4 with host memory.
    pub links: [Option<LinkFit>; 3],
    /// What was measured again.
    pub repeated: Vec<Repeated>,
    /// What was not fitted, and is predicted.
    pub predictions: Vec<Prediction>,
    /// From the end of a round of batches to the moment when the driver had heard of all, in nanoseconds: the median.
    pub noticed_ns: f64,
}

impl Calibration {
    /// The repeats of a lane that differ by more than the bound: the largest difference.
    pub fn unsteady(&self, lane: Lane) -> Option<f64> {
        self.repeat_difference(lane).filter(|&difference| difference > Repeated::BOUND)
    }

    /// The largest difference of a lane's repeats.
    pub fn repeat_difference(&self, lane: Lane) -> Option<f64> {
        let of_lane = self.repeated.iter().filter(|repeated| repeated.before.point.lane == lane);
        of_lane.map(Repeated::difference).reduce(f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_quartiles_are_those_of_the_sorted_times() {
        let point =
            Point { lane: Lane::G2ToG3, block_bytes: 100, blocks: 2, in_flight: 2, with_opposite: false };
        let sample = Sample::of(point, vec![5.0, 1.0, 3.0, 2.0, 4.0]).expect("five times");
        assert_eq!((sample.median_ns, sample.quartiles_ns, sample.repeats), (3.0, [2.0, 4.0], 5));
        assert_eq!((sample.spread(), sample.gb_per_s()), (2.0 / 3.0, 400.0 / 3.0));
        assert_eq!(Sample::of(point, vec![7.0]).expect("one").quartiles_ns, [7.0, 7.0]);
        assert_eq!(Sample::of(point, vec![]), None);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), Some(1.5));
    }
}
