//! Named random streams of one seed.
//!
//! Every use draws from a stream of its own name, so that a new draw in one place moves no other. The
//! generator is ChaCha with 8 rounds (crate `rand_chacha`, whose output is stable by promise); floats are made
//! from its bits by exact operations and transcendental functions come from `libm`, so that every platform
//! draws the same (rule E3).

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// A stream of random draws.
#[derive(Clone, Debug)]
pub struct RandomStream(ChaCha8Rng);

impl RandomStream {
    /// The stream called `name` of `seed`.
    pub fn named(seed: u64, name: &str) -> Self {
        let mut key = [0; 32];
        key[..16].copy_from_slice(&xxh3_128_with_seed(name.as_bytes(), seed).to_le_bytes());
        key[16..24].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// A uniform 64-bit word.
    pub fn word(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn unit(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform in `low..=high`; `low` when the range is empty.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        if high <= low {
            return low;
        }
        let width = u128::from(high - low) + 1;
        low + ((u128::from(self.word()) * width) >> 64) as u64
    }

    /// Exponential with the given mean (inter-arrival times of a Poisson process).
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log(1.0 - self.unit()) * mean
    }

    /// Standard normal, by the Box–Muller transform.
    pub fn normal(&mut self) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - self.unit()));
        radius * libm::cos(2.0 * core::f64::consts::PI * self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed draw would change every seeded scenario: these words are part of the format.
    #[test]
    fn a_seed_keeps_its_meaning() {
        let mut arrivals = RandomStream::named(1, "arrivals");
        let mut lengths = RandomStream::named(1, "lengths");
        assert_ne!(arrivals.clone().word(), lengths.word());
        let drawn: Vec<u64> = (0..4).map(|_| arrivals.between(0, 999)).collect();
        assert_eq!(drawn, GOLDEN);
    }

    const GOLDEN: [u64; 4] = [942, 117, 282, 129];

    #[test]
    fn ranges_hold_at_both_ends() {
        let mut stream = RandomStream::named(7, "ends");
        let drawn: Vec<u64> = (0..200).map(|_| stream.between(3, 5)).collect();
        assert!(drawn.iter().all(|&d| (3..=5).contains(&d)));
        assert!([3, 4, 5].iter().all(|d| drawn.contains(d)));
        assert_eq!(stream.between(9, 9), 9);
    }
}
