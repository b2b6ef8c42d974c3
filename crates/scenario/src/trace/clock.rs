//! Times that count from the first of a file and do not decrease.

use super::line::Fault;
use crate::limit;

#[derive(Default)]
pub(super) struct Clock {
    first_ns: Option<u64>,
    latest_ns: u64,
}

impl Clock {
    /// Nanoseconds since the first time, of seconds since some other.
    pub(super) fn seconds(&mut self, seconds: f64, at: usize, key: &'static str) -> Result<u64, Fault> {
        self.nanoseconds(since_epoch(seconds, at, key)?, at, key)
    }

    /// Nanoseconds since the first time.
    pub(super) fn nanoseconds(&mut self, ns: u64, at: usize, key: &'static str) -> Result<u64, Fault> {
        let first_ns = self.first_ns.unwrap_or(ns);
        if ns < self.latest_ns {
            let found = "a time before that of the line before";
            let mend = format!("sort the trace by {key}");
            return Err(Fault::new(at, key, found, "times that do not decrease", mend));
        }
        if ns - first_ns > limit::TIME_NS {
            let (found, expected) = ("a time ten years after the first", "a trace of at most ten years");
            return Err(Fault::new(at, key, found, expected, "correct or remove the row"));
        }
        (self.first_ns, self.latest_ns) = (Some(first_ns), ns);
        Ok(ns - first_ns)
    }
}

/// Nanoseconds since 1970, or since whatever a trace counts from.
pub(super) fn since_epoch(seconds: f64, at: usize, key: &'static str) -> Result<u64, Fault> {
    /// The year 2514.
    const LATEST_S: f64 = (1_u64 << 34) as f64;
    if !(0.0..=LATEST_S).contains(&seconds) {
        let expected = format!("seconds from 0 to {LATEST_S}");
        return Err(Fault::new(at, key, seconds.to_string(), expected, "correct or remove the row"));
    }
    // The whole seconds apart, so that the product is small enough to be exact.
    let whole = libm::floor(seconds);
    Ok(whole as u64 * 1_000_000_000 + libm::round((seconds - whole) * 1e9) as u64)
}
