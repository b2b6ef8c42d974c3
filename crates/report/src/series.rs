//! What charts need, bounded: occupancy over time and the distribution of latencies.
//!
//! G1 is sampled as passes begin, what lies below as it changes; of each series at most [`MAX_SAMPLES`] are kept
//! (see `thinned.rs`).
//!
//! Deliberately absent: averages. A sample is a state that was really so.

use serde::Serialize;
use tierscope_engine::{Lane, PassStart, Tier};
use tierscope_units::SimTime;

pub use crate::thinned::MAX_SAMPLES;
use crate::thinned::Timed;

/// Most points of a distribution.
pub const MAX_CDF_POINTS: usize = 256;

/// The state of the worker as a pass began; blocks of G1, and requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// Blocks that a request holds.
    pub active: u32,
    /// Blocks that are matchable and evictable.
    pub cached: u32,
    /// Blocks that are neither.
    pub free: u32,
    /// Requests waiting.
    pub waiting: u32,
    /// Requests with a row in the pass.
    pub running: u32,
}

impl Timed for Sample {
    fn at_ns(&self) -> u64 {
        self.at_ns
    }
}

impl Sample {
    /// The state as this pass began.
    pub fn of(at: SimTime, start: &PassStart) -> Self {
        Self {
            at_ns: at.as_ns(),
            active: start.g1.active,
            cached: start.g1.cached,
            free: start.g1.free,
            waiting: start.waiting,
            running: start.prefill_rows + start.decode_rows,
        }
    }
}

/// What lay below G1 at a time, and what moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct BelowSample {
    /// When, in nanoseconds since the run began.
    pub at_ns: u64,
    /// Matchable blocks of G2, G3 and G4.
    pub resident: [u32; Tier::COUNT - 1],
    /// Batches that wait, by [`Lane::index`].
    pub queued: [u32; Lane::COUNT],
    /// Batches whose copy is under way, by [`Lane::index`].
    pub in_flight: [u32; Lane::COUNT],
    /// Blocks of those batches, by [`Lane::index`].
    pub moving: [u32; Lane::COUNT],
}

impl Timed for BelowSample {
    fn at_ns(&self) -> u64 {
        self.at_ns
    }
}

/// A point of a distribution: this share of the requests took at most this long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CdfPoint {
    /// Nanoseconds.
    pub ns: u64,
    /// Share of the requests, 0 to 1.
    pub share: f64,
}

/// Distributions of the latencies of completed requests.
#[derive(Clone, Debug, PartialEq, Default, Serialize)]
pub struct Cdf {
    /// Time to first token.
    pub ttft_ns: Vec<CdfPoint>,
    /// Inter-token latency.
    pub itl_ns: Vec<CdfPoint>,
    /// End to end.
    pub e2e_ns: Vec<CdfPoint>,
}

/// At most [`MAX_CDF_POINTS`] points of the distribution of ascending values, the smallest and largest
/// among them.
pub fn cdf(sorted: &[u64]) -> Vec<CdfPoint> {
    let count = sorted.len();
    let points = count.min(MAX_CDF_POINTS);
    let rank = |point: usize| match points {
        1 => 0,
        _ => point * (count - 1) / (points - 1),
    };
    let share = |rank: usize| (rank + 1) as f64 / count as f64;
    (0..points).map(rank).map(|rank| CdfPoint { ns: sorted[rank], share: share(rank) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_distribution_ends_at_one() {
        assert!(cdf(&[]).is_empty());
        assert_eq!(cdf(&[5]), [CdfPoint { ns: 5, share: 1.0 }]);
        let many: Vec<u64> = (0..10_000).collect();
        let points = cdf(&many);
        assert_eq!(points.len(), MAX_CDF_POINTS);
        assert_eq!((points[0].ns, points[255].ns, points[255].share), (0, 9_999, 1.0));
    }
}
