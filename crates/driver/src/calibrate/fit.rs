//! Latency, overhead, rate and coupling of a link, from the times of its lanes: a pure function of them.
//!
//! So many batches (`c`) of so many blocks (`n`) of `b` bytes, submitted at once, take `L + c·n·(p + b·s)` until the last
//! has ended: each spends the latency `L` first, all of them together, and then they share the lane. That is what the
//! simulator's link does (fair shares, rule L7) with `p` folded into its rate, so the fit asks for what the simulator needs.
//! A link has one latency for both directions; overhead `p` and slowness `s` (1 ÷ rate) are each direction's own.

use tierscope_engine::Lane;

use super::least::{COLUMNS, Row, solve};
use super::point::{Point, Sample, quantile};

/// A spread of so much of the median halves the weight of a point.
const SPREAD_HALVES: f64 = 0.25;
/// Fewest points from which a lane is fitted.
const POINTS_MIN: usize = 4;

/// The figures of one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LaneFit {
    /// The lane.
    pub lane: Lane,
    /// What each block costs on its own, in nanoseconds.
    pub per_block_ns: f64,
    /// Nanoseconds for each byte while the other direction is idle: 1 ÷ GB/s.
    pub ns_per_byte: f64,
    /// While it works; `None` where that was not measured.
    pub with_opposite_ns_per_byte: Option<f64>,
    /// How far the fit is off at each point that it was made from, as a share of what was measured: the median.
    pub residual: f64,
    /// The largest.
    pub residual_max: f64,
    /// The median of the points' own spread.
    pub spread: f64,
    /// Points.
    pub points: u32,
}

/// The figures of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkFit {
    /// Before the first byte of a batch, in nanoseconds.
    pub latency_ns: f64,
    /// Its directions: down, up.
    pub lanes: [Option<LaneFit>; 2],
}

impl LinkFit {
    /// The figures of the link of these lanes (down, up); `None` when what was measured does not say enough of either.
    pub fn of(lanes: [Lane; 2], samples: &[Sample]) -> Option<Self> {
        let alone =
            |lane: Lane| samples.iter().filter(move |it| it.point.lane == lane && !it.point.with_opposite);
        let enough = lanes.map(|lane| alone(lane).count() >= POINTS_MIN);
        let mut rows = Vec::new();
        let (mut used, mut needed) = (1, 0);
        for (nth, &lane) in lanes.iter().enumerate().filter(|(nth, _)| enough[*nth]) {
            rows.extend(alone(lane).map(|sample| row(nth, sample)));
            used |= 0b11 << (1 + 2 * nth);
            needed |= 0b10 << (1 + 2 * nth);
        }
        if needed == 0 {
            return None;
        }
        let found = solve(&rows, used, needed)?;
        let mut link = Self { latency_ns: found[0], lanes: [None; 2] };
        for (nth, &lane) in lanes.iter().enumerate().filter(|(nth, _)| enough[*nth]) {
            let (per_block_ns, ns_per_byte) = (found[1 + 2 * nth], found[2 + 2 * nth]);
            let mut fit = LaneFit {
                lane,
                per_block_ns,
                ns_per_byte,
                with_opposite_ns_per_byte: None,
                residual: 0.0,
                residual_max: 0.0,
                spread: 0.0,
                points: 0,
            };
            fit.with_opposite_ns_per_byte = link.coupling(&fit, samples);
            link.lanes[nth] = Some(fit);
        }
        link.judge(samples);
        Some(link)
    }

    /// How long a point takes, in nanoseconds; `None` where its lane was not fitted.
    pub fn predict_ns(&self, point: &Point) -> Option<f64> {
        let fit = self.lane(point.lane)?;
        let slowness = match point.with_opposite {
            true => fit.with_opposite_ns_per_byte.unwrap_or(fit.ns_per_byte),
            false => fit.ns_per_byte,
        };
        Some(self.latency_ns + point.moved_blocks() * fit.per_block_ns + point.bytes() * slowness)
    }

    /// The figures of a lane of it.
    pub fn lane(&self, lane: Lane) -> Option<&LaneFit> {
        self.lanes.iter().flatten().find(|fit| fit.lane == lane)
    }

    /// What is left of the times with the other direction at work when latency and overhead are taken off, by byte: the
    /// median, each point as much as it has bytes' time in it. The simulator knows no lane that others make faster.
    fn coupling(&self, fit: &LaneFit, samples: &[Sample]) -> Option<f64> {
        let both = samples.iter().filter(|it| it.point.lane == fit.lane && it.point.with_opposite);
        let mut left: Vec<(f64, f64)> = both
            .map(|sample| {
                let fixed = self.latency_ns + sample.point.moved_blocks() * fit.per_block_ns;
                let bytes_ns = (sample.median_ns - fixed).max(0.0);
                (bytes_ns / sample.point.bytes(), bytes_ns / sample.median_ns.max(1.0))
            })
            .collect();
        left.sort_by(|a, b| a.0.total_cmp(&b.0));
        let half = left.iter().map(|(_, weight)| weight).sum::<f64>() / 2.0;
        let mut sum = 0.0;
        let middle = left.iter().find(|(_, weight)| {
            sum += weight;
            sum >= half
        });
        middle.map(|(slowness, _)| slowness.max(fit.ns_per_byte))
    }

    fn judge(&mut self, samples: &[Sample]) {
        let judged = self.clone();
        for fit in self.lanes.iter_mut().flatten() {
            let own: Vec<&Sample> = samples.iter().filter(|it| it.point.lane == fit.lane).collect();
            let off = |sample: &&Sample| {
                judged
                    .predict_ns(&sample.point)
                    .map(|ns| (ns - sample.median_ns).abs() / sample.median_ns.max(1.0))
            };
            let mut residuals: Vec<f64> = own.iter().filter_map(off).collect();
            residuals.sort_by(f64::total_cmp);
            let mut spreads: Vec<f64> = own.iter().map(|sample| sample.spread()).collect();
            spreads.sort_by(f64::total_cmp);
            fit.residual = quantile(&residuals, 0.5).unwrap_or(0.0);
            fit.residual_max = residuals.last().copied().unwrap_or(0.0);
            fit.spread = quantile(&spreads, 0.5).unwrap_or(0.0);
            fit.points = own.len() as u32;
        }
    }
}

/// A point as an equation: both sides are divided by its time, so that short and long batches count alike.
fn row(direction: usize, sample: &Sample) -> Row {
    let time = sample.median_ns.max(1.0);
    let mut terms = [0.0; COLUMNS];
    terms[0] = 1.0 / time;
    terms[1 + 2 * direction] = sample.point.moved_blocks() / time;
    terms[2 + 2 * direction] = sample.point.bytes() / time;
    let spread = sample.spread() / SPREAD_HALVES;
    Row { terms, weight: 1.0 / (1.0 + spread * spread) }
}

#[cfg(test)]
mod tests;
