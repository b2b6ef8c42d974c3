//! Statistics of latencies, exact: integers in, integers out.
//!
//! Percentiles interpolate linearly between order statistics, as numpy's default and AIPerf do; every result
//! is rounded to the nearest nanosecond once, at the end. The standard deviation is the population's.

use serde::Serialize;

/// A metric's statistics in whole nanoseconds; all zero when `count` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Summary {
    /// Arithmetic mean.
    pub avg: u64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Median.
    pub p50: u64,
    /// 90th percentile.
    pub p90: u64,
    /// 99th percentile.
    pub p99: u64,
    /// Number of requests that have the metric.
    pub count: u64,
    /// 1st percentile.
    pub p1: u64,
    /// 5th percentile.
    pub p5: u64,
    /// 10th percentile.
    pub p10: u64,
    /// 25th percentile.
    pub p25: u64,
    /// 75th percentile.
    pub p75: u64,
    /// 95th percentile.
    pub p95: u64,
    /// Standard deviation of the population.
    pub std: u64,
}

impl Summary {
    /// The statistics of values in ascending order.
    pub fn of_sorted(sorted: &[u64]) -> Self {
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else { return Self::default() };
        let avg = mean(sorted);
        let at = |percent| percentile(sorted, percent);
        let std = deviation(sorted.iter().map(|&value| (value, 1)), sorted.len() as u64, avg);
        Self { avg, min, max, count: sorted.len() as u64, std, ..Self::of_percentiles(at) }
    }

    /// The statistics of ascending values that each occur a number of times, and whose mean is known.
    pub(crate) fn of_steps(steps: &[(u64, u64)], avg: u64) -> Self {
        let (Some(&(min, _)), Some(&(max, _))) = (steps.first(), steps.last()) else {
            return Self::default();
        };
        let mut until = Vec::with_capacity(steps.len());
        let mut count = 0;
        for &(_, times) in steps {
            count += times;
            until.push(count);
        }
        let value = |rank: u64| steps[until.partition_point(|&until| until <= rank)].0;
        let at = |percent| percentile_of(count, percent, value);
        let std = deviation(steps.iter().copied(), count, avg);
        Self { avg, min, max, count, std, ..Self::of_percentiles(at) }
    }

    fn of_percentiles(at: impl Fn(u32) -> u64) -> Self {
        Self {
            p1: at(1),
            p5: at(5),
            p10: at(10),
            p25: at(25),
            p50: at(50),
            p75: at(75),
            p90: at(90),
            p95: at(95),
            p99: at(99),
            ..Self::default()
        }
    }
}

/// The percentile of ascending values by linear interpolation, to the nearest integer (halves up); zero for
/// no values.
pub fn percentile(sorted: &[u64], percent: u32) -> u64 {
    percentile_of(sorted.len() as u64, percent, |rank| sorted[rank as usize])
}

/// The same of `count` values of which `value` gives the one at a rank, from 0.
fn percentile_of(count: u64, percent: u32, value: impl Fn(u64) -> u64) -> u64 {
    let Some(last) = count.checked_sub(1) else { return 0 };
    let rank = u128::from(last) * u128::from(percent.min(100));
    let (below, hundredths) = ((rank / 100) as u64, rank % 100);
    let low = value(below);
    let high = value((below + 1).min(last));
    low + ((u128::from(high - low) * hundredths + 50) / 100) as u64
}

fn mean(values: &[u64]) -> u64 {
    let count = values.len() as u128;
    let sum: u128 = values.iter().map(|&value| u128::from(value)).sum();
    ((sum + count / 2) / count) as u64
}

/// Root of the mean square distance from `mean`, of values with how often each occurs. Quotients and remainders are
/// summed apart, so that no sum of squares can overflow.
fn deviation(values: impl Iterator<Item = (u64, u64)>, count: u64, mean: u64) -> u64 {
    let count = u128::from(count);
    let (mut whole, mut rest) = (0u128, 0u128);
    for (value, times) in values {
        let distance = u128::from(value.abs_diff(mean));
        let square = distance * distance;
        whole += square / count * u128::from(times);
        rest += square % count * u128::from(times);
    }
    let variance = whole + rest / count;
    let root = variance.isqrt();
    (root + u128::from(variance - root * root > root)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Figures from numpy's `percentile(range(10, 60, 10), p)` and `std`.
    #[test]
    fn percentiles_are_numpys() {
        let values = [10_000, 20_000, 30_000, 40_000, 50_000];
        let found: Vec<u64> = [0, 1, 25, 50, 90, 99, 100].map(|p| percentile(&values, p)).into();
        assert_eq!(found, [10_000, 10_400, 20_000, 30_000, 46_000, 49_600, 50_000]);
        let summary = Summary::of_sorted(&values);
        assert_eq!((summary.avg, summary.std, summary.count), (30_000, 14_142, 5));
    }

    #[test]
    fn few_values_have_statistics_too() {
        assert_eq!(Summary::of_sorted(&[]), Summary::default());
        let one = Summary::of_sorted(&[7]);
        assert_eq!((one.avg, one.min, one.max, one.p50, one.p99, one.std, one.count), (7, 7, 7, 7, 7, 0, 1));
    }

    #[test]
    fn the_largest_times_do_not_overflow() {
        let summary = Summary::of_sorted(&[0, u64::MAX]);
        assert_eq!((summary.p50, summary.max), (1 << 63, u64::MAX));
        assert_eq!(summary.std, (1 << 63) - 1);
    }

    proptest! {
        #[test]
        fn statistics_are_within_one_of_the_float_formula(
            mut values in proptest::collection::vec(0u64..1_000_000_000, 1..200),
            percent in 0u32..=100,
        ) {
            values.sort_unstable();
            let rank = (values.len() - 1) as f64 * f64::from(percent) / 100.0;
            let (low, part) = (rank as usize, rank.fract());
            let high = (low + 1).min(values.len() - 1);
            let naive = values[low] as f64 + (values[high] - values[low]) as f64 * part;
            prop_assert!((percentile(&values, percent) as f64 - naive).abs() <= 1.0);

            let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
            let square = |&value: &u64| (value as f64 - mean) * (value as f64 - mean);
            let variance = values.iter().map(square).sum::<f64>() / values.len() as f64;
            let summary = Summary::of_sorted(&values);
            prop_assert!((summary.avg as f64 - mean).abs() <= 1.0);
            prop_assert!((summary.std as f64 - variance.sqrt()).abs() <= 1.0);
        }
    }
}
