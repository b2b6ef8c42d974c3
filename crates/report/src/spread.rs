//! Times of which there may be any number: kept one by one while they are few, by size when they are many.
//!
//! Up to [`EXACT_MAX`] values every statistic is exact. Beyond, values are rounded to their twelve leading bits, so
//! that a percentile is at most 1/4096 too small; mean, minimum, maximum and count stay exact. Which values are
//! kept does not depend on the order in which they came.

use std::collections::BTreeMap;

use crate::statistics::Summary;

/// Values that are kept one by one.
pub const EXACT_MAX: usize = 65_536;
/// Leading bits that are kept of each value beyond.
const BITS: u32 = 12;

/// Times in nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spread {
    exact: Vec<u64>,
    /// Rounded value to number of values; empty while all are kept.
    rounded: BTreeMap<u64, u64>,
    sum: u128,
    min: u64,
    max: u64,
    count: u64,
}

impl Spread {
    pub(crate) fn add(&mut self, ns: u64) {
        self.min = if self.count == 0 { ns } else { self.min.min(ns) };
        self.max = self.max.max(ns);
        self.sum += u128::from(ns);
        self.count += 1;
        if self.rounded.is_empty() && self.exact.len() < EXACT_MAX {
            self.exact.push(ns);
            return;
        }
        for kept in std::mem::take(&mut self.exact) {
            *self.rounded.entry(rounded(kept)).or_default() += 1;
        }
        *self.rounded.entry(rounded(ns)).or_default() += 1;
    }

    /// The statistics of all values.
    pub(crate) fn summary(&self) -> Summary {
        if self.rounded.is_empty() {
            let mut sorted = self.exact.clone();
            sorted.sort_unstable();
            return Summary::of_sorted(&sorted);
        }
        let count = u128::from(self.count);
        let mean = ((self.sum + count / 2) / count) as u64;
        let steps: Vec<(u64, u64)> = self.rounded.iter().map(|(&ns, &count)| (ns, count)).collect();
        Summary { min: self.min, max: self.max, ..Summary::of_steps(&steps, mean) }
    }
}

/// The value without what lies behind its leading bits.
fn rounded(ns: u64) -> u64 {
    let behind = (u64::BITS - ns.leading_zeros()).saturating_sub(BITS);
    ns >> behind << behind
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn few_values_are_exact() {
        let mut spread = Spread::default();
        assert_eq!(spread.summary(), Summary::default());
        for ns in [50_000, 10_000, 40_000, 20_000, 30_000] {
            spread.add(ns);
        }
        assert_eq!(spread.summary(), Summary::of_sorted(&[10_000, 20_000, 30_000, 40_000, 50_000]));
    }

    #[test]
    fn leading_bits_are_kept() {
        assert_eq!([0, 1, 4_095, 4_096, 4_097, 8_191].map(rounded), [0, 1, 4_095, 4_096, 4_096, 8_190]);
        assert_eq!(rounded(u64::MAX), 0xfff << 52);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        /// Beyond what is kept one by one, in whatever order: near the exact statistics, on the low side.
        #[test]
        fn many_values_are_near(seed in any::<u64>(), more in 1usize..30_000) {
            let mut value = seed | 1;
            let mut values: Vec<u64> = (0..EXACT_MAX + more)
                .map(|_| {
                    value = value.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    value >> (24 + value % 16)
                })
                .collect();
            let (mut forth, mut back) = (Spread::default(), Spread::default());
            values.iter().for_each(|&ns| forth.add(ns));
            values.iter().rev().for_each(|&ns| back.add(ns));
            values.sort_unstable();
            let exact = Summary::of_sorted(&values);
            let near = forth.summary();
            prop_assert_eq!(near, back.summary());
            prop_assert_eq!((near.avg, near.min, near.max, near.count), (exact.avg, exact.min, exact.max, exact.count));
            for (near, exact) in [(near.p50, exact.p50), (near.p99, exact.p99), (near.p1, exact.p1)] {
                prop_assert!(near <= exact && exact - near <= exact / 2_048 + 1, "{near} for {exact}");
            }
        }
    }
}
