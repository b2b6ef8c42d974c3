//! How sure a median of differences is.
//!
//! From ten seeds on, a bootstrap: the differences are drawn with replacement [`RESAMPLES`] times, and the interval holds the
//! middle of the medians (percentile method). Its tails are a little shorter than 2.5 % each, because resamples of few values
//! vary less than fresh ones would: the expanded percentile interval of Hesterberg (2015, "What teachers should know about
//! the bootstrap"). The draws come from a named stream, so the interval is a function of the differences.
//!
//! Fewer seeds cannot carry a bootstrap: of two differences every resample lies between them, and so does the truth
//! only half the time. There the interval is Student's, around the mean: it is right where differences are about normal, and says by
//! its width how little two runs prove.

use serde::Serialize;
use tierscope_units::RandomStream;

/// Resamples of a bootstrap.
pub const RESAMPLES: usize = 2_000;
/// Seeds from which on the interval is a bootstrap.
const BOOTSTRAP_FROM: usize = 10;

/// Student's t of 95 % (both sides) for 1 to 8 degrees of freedom, from its tables.
const STUDENT: [f64; BOOTSTRAP_FROM - 2] = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306];

/// Where a median of differences lies, at 95 %.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How it was found.
    pub method: Method,
}

/// How an interval was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t: few seeds.
    Student,
    /// Percentiles of bootstrapped medians.
    Bootstrap,
}

/// The interval of the median of `differences`; `None` of fewer than two. `name` names the stream of draws.
pub fn interval(differences: &[f64], name: &str) -> Option<Interval> {
    match differences.len() {
        0 | 1 => None,
        2..BOOTSTRAP_FROM => Some(student(differences)),
        _ => bootstrap(differences, name),
    }
}

/// The median, the mean of the middle two of an even number; `None` of nothing.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        len if len % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

fn student(differences: &[f64]) -> Interval {
    let count = differences.len() as f64;
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|value| (value - mean) * (value - mean)).sum();
    let error = libm::sqrt(squares / (count - 1.0) / count);
    let reach = STUDENT[differences.len() - 2] * error;
    Interval { low: mean - reach, high: mean + reach, method: Method::Student }
}

fn bootstrap(differences: &[f64], name: &str) -> Option<Interval> {
    let mut draws = RandomStream::named(differences.len() as u64, name);
    let last = differences.len() as u64 - 1;
    let mut medians: Vec<f64> = (0..RESAMPLES)
        .filter_map(|_| {
            let resample = differences.iter().map(|_| differences[draws.between(0, last) as usize]);
            median(resample.collect())
        })
        .collect();
    medians.sort_unstable_by(f64::total_cmp);
    let tail = libm::floor(tail(differences.len()) * RESAMPLES as f64) as usize;
    let (low, high) = (*medians.get(tail)?, *medians.get(RESAMPLES - 1 - tail)?);
    Some(Interval { low, high, method: Method::Bootstrap })
}

/// The share of medians outside the interval at each end, of a bootstrap of `count` differences: what the normal law has
/// beyond √(n / (n − 1)) · t.
fn tail(count: usize) -> f64 {
    const Z: f64 = 1.959_964;
    let freedom = count as f64 - 1.0;
    let cube = Z * Z * Z;
    // Student's quantile by its expansion in the normal one (Fisher and Cornish), exact to a thousandth from nine degrees on.
    let t = Z
        + (cube + Z) / (4.0 * freedom)
        + (5.0 * cube * Z * Z + 16.0 * cube + 3.0 * Z) / (96.0 * freedom * freedom);
    let widened = t * libm::sqrt(count as f64 / freedom);
    libm::erfc(widened / core::f64::consts::SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_out_by_hand() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(vec![]), None);
        assert_eq!(interval(&[5.0], "one"), None);
        // Mean 2, deviation √2, error 1: 2 ± 12.706.
        let two = interval(&[1.0, 3.0], "two").expect("an interval");
        assert_eq!(two.method, Method::Student);
        assert!((two.low + 10.706).abs() < 1e-9 && (two.high - 14.706).abs() < 1e-9, "{two:?}");
        let same = interval(&[7.0; 12], "same").expect("an interval");
        assert_eq!((same.low, same.high, same.method), (7.0, 7.0, Method::Bootstrap));
    }

    /// Of 10, Student's t is 2.262, widened 2.385: 0.86 % beyond. Of many, 2.5 %.
    #[test]
    fn tails_shrink_with_few_differences() {
        assert!((tail(10) - 0.0086).abs() < 1e-4, "{}", tail(10));
        assert!((tail(20) - 0.0159).abs() < 1e-4, "{}", tail(20));
        assert!((tail(100_000) - 0.025).abs() < 1e-5, "{}", tail(100_000));
    }

    #[test]
    fn an_interval_is_a_function_of_the_differences() {
        let differences: Vec<f64> = (0..25).map(|n| f64::from(n * n % 17)).collect();
        assert_eq!(interval(&differences, "a"), interval(&differences, "a"));
    }

    /// The share of intervals that cover the true median, zero, of `count` draws each; 300 times.
    fn coverage(count: usize, draw: fn(&mut RandomStream) -> f64) -> f64 {
        let mut stream = RandomStream::named(1, "coverage");
        let rounds = 300;
        let covered = (0..rounds).filter(|_| {
            let differences: Vec<f64> = (0..count).map(|_| draw(&mut stream)).collect();
            interval(&differences, "coverage").is_some_and(|found| found.low <= 0.0 && 0.0 <= found.high)
        });
        covered.count() as f64 / f64::from(rounds)
    }

    /// What the documents say of the intervals: drawn from a normal law, and from one that is lopsided.
    #[test]
    fn intervals_cover_what_they_claim() {
        let lopsided: fn(&mut RandomStream) -> f64 =
            |stream| stream.exponential(1.0) - core::f64::consts::LN_2;
        for count in [2, 3, 5, 9, 10, 20] {
            let normal = coverage(count, RandomStream::normal);
            let lopsided = coverage(count, lopsided);
            assert!(normal >= 0.93, "{count} seeds cover {normal} of a normal law");
            assert!(lopsided >= 0.92, "{count} seeds cover {lopsided} of a lopsided law");
        }
    }
}
