//! Metrics of two settings, paired by seed: the median of the differences B − A, and how sure it is.
//!
//! The two runs of a seed have the same requests, so their difference says more than two averages would: what the
//! seed did to both cancels.
//!
//! Deliberately absent: a verdict "better", which depends on what one wants.

mod interval;
mod metric;
mod table;

pub use interval::{Interval, Method, RESAMPLES, interval, median};
pub use metric::{METRICS, Metric, Unit};
pub use table::render;

use crate::Report;

/// The two reports of one seed.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The seed.
    pub seed: u64,
    /// Whether both had the same requests.
    pub same_work: bool,
    /// Whether one of them is a fact log, which does not say everything.
    pub of_log: bool,
    /// The reports of A and B.
    pub reports: [Report; 2],
}

/// One metric over all pairs.
#[derive(Clone, Debug)]
pub struct Paired {
    /// Which.
    pub metric: &'static Metric,
    /// Pairs in which both runs have it.
    pub pairs: usize,
    /// Medians of A and of B.
    pub medians: [f64; 2],
    /// The median of the differences B − A.
    pub difference: f64,
    /// That, as a share of A's median; `None` where that is zero.
    pub relative: Option<f64>,
    /// Whether A and B have the same value in every pair.
    pub same: bool,
    /// Where the median difference lies; `None` for a single pair.
    pub interval: Option<Interval>,
}

impl Paired {
    /// Whether the interval excludes "no difference".
    pub fn stands_out(&self) -> bool {
        self.interval.is_some_and(|interval| interval.low > 0.0 || interval.high < 0.0)
    }
}

/// Whether the seed makes no difference to either side: then many pairs say no more than one, and an interval of them
/// would promise what it does not keep.
pub fn without_chance(pairs: &[Pair]) -> bool {
    let Some((first, others)) = pairs.split_first() else { return false };
    let digests = |pair: &Pair| pair.reports.each_ref().map(|report| report.digest.clone());
    !others.is_empty() && others.iter().all(|pair| digests(pair) == digests(first))
}

/// All metrics that both settings have in at least one pair, in the order of [`METRICS`].
pub fn paired(pairs: &[Pair]) -> Vec<Paired> {
    METRICS.iter().filter_map(|metric| pair_up(metric, pairs)).collect()
}

fn pair_up(metric: &'static Metric, pairs: &[Pair]) -> Option<Paired> {
    let values: Vec<[f64; 2]> = pairs
        .iter()
        .filter(|pair| metric.in_logs || !pair.of_log)
        .filter_map(|pair| {
            let [a, b] = &pair.reports;
            Some([(metric.read)(a)?, (metric.read)(b)?])
        })
        .collect();
    of_values(metric, &values)
}

/// A metric of which the values in A and B are known, pair by pair; `None` of no pair.
pub fn of_values(metric: &'static Metric, values: &[[f64; 2]]) -> Option<Paired> {
    let side = |side: usize| median(values.iter().map(|pair| pair[side]).collect());
    let medians = [side(0)?, side(1)?];
    let differences: Vec<f64> = values.iter().map(|[a, b]| b - a).collect();
    let difference = median(differences.clone())?;
    let relative = (medians[0] != 0.0).then(|| difference / medians[0]);
    let interval = interval(&differences, metric.key);
    let same = differences.iter().all(|difference| *difference == 0.0);
    Some(Paired { metric, pairs: values.len(), medians, difference, relative, same, interval })
}
