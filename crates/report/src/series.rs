//! What charts need, bounded: occupancy over time and the distribution of latencies.
//!
//! Occupancy is sampled as passes begin. A bucket of time keeps its last sample; when more than
//! [`MAX_SAMPLES`] are held, the bucket doubles and neighbours merge. What is kept is a function of the
//! samples alone, whatever slices the run was made in.
//!
//! Deliberately absent: averages. A sample is a state that was really so.

use serde::Serialize;
use tierscope_engine::PassStart;
use tierscope_units::SimTime;

/// Most samples kept.
pub const MAX_SAMPLES: usize = 2_048;
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

/// Occupancy over time.
#[derive(Clone, Debug, Default)]
pub struct Occupancies {
    samples: Vec<Sample>,
    /// A bucket is 2^shift nanoseconds.
    shift: u32,
}

impl Occupancies {
    /// The samples kept, in order of time.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Width of a bucket in nanoseconds.
    pub fn bucket_ns(&self) -> u64 {
        1 << self.shift
    }

    #[inline]
    pub(crate) fn take(&mut self, at: SimTime, start: &PassStart) {
        let sample = Sample {
            at_ns: at.as_ns(),
            active: start.g1.active,
            cached: start.g1.cached,
            free: start.g1.free,
            waiting: start.waiting,
            running: start.prefill_rows + start.decode_rows,
        };
        match self.samples.last_mut() {
            Some(last) if last.at_ns >> self.shift == sample.at_ns >> self.shift => *last = sample,
            _ => self.samples.push(sample),
        }
        while self.samples.len() > MAX_SAMPLES {
            self.double();
        }
    }

    #[cold]
    fn double(&mut self) {
        self.shift += 1;
        let shift = self.shift;
        self.samples.dedup_by(|later, kept| {
            let same = later.at_ns >> shift == kept.at_ns >> shift;
            if same {
                *kept = *later;
            }
            same
        });
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
    use proptest::prelude::*;
    use tierscope_engine::Occupancy;
    use tierscope_units::{PassId, WorkerId};

    fn start(active: u32) -> PassStart {
        PassStart {
            worker: WorkerId(0),
            pass: PassId(0),
            prefill_rows: 1,
            prefill_tokens: 1,
            decode_rows: 2,
            decode_tokens: 2,
            waiting: 3,
            g1: Occupancy { free: 0, reserved: 0, active, cached: 0, source_hold: 0 },
        }
    }

    proptest! {
        /// However long the run: few samples, in order, the last state kept, each one a real state.
        #[test]
        fn samples_stay_few_ordered_and_real(gaps in proptest::collection::vec(0u64..1_000_000, 1..9_000)) {
            let mut series = Occupancies::default();
            let mut at = 0;
            let mut times = Vec::new();
            for (index, gap) in gaps.iter().enumerate() {
                at += gap;
                times.push(at);
                series.take(SimTime::from_ns(at), &start(index as u32));
            }
            let samples = series.samples();
            prop_assert!(samples.len() <= MAX_SAMPLES);
            prop_assert!(samples.windows(2).all(|pair| pair[0].at_ns < pair[1].at_ns));
            prop_assert_eq!(samples.last().map(|s| (s.at_ns, s.active)), Some((at, gaps.len() as u32 - 1)));
            for sample in samples {
                prop_assert_eq!(times[sample.active as usize], sample.at_ns);
            }
        }
    }

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
