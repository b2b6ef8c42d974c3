//! Time in whole nanoseconds: an instant of a run, and a length of time.

use std::fmt;

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;

/// An instant: nanoseconds since the run began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct SimTime(u64);

/// A length of time in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl SimTime {
    /// The beginning of a run.
    pub const ZERO: Self = Self(0);

    /// The instant `ns` nanoseconds after the beginning.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the beginning.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Seconds since the beginning, for display only: no result may depend on it.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }

    /// The instant `span` later; `None` past the end of representable time (584 years).
    pub const fn checked_add(self, span: Span) -> Option<Self> {
        match self.0.checked_add(span.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }

    /// The time since `earlier`; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// Length in nanoseconds.
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// Milliseconds to the nearest nanosecond. Negative and NaN give zero, too large gives the longest span.
    pub fn from_ms_f64(ms: f64) -> Self {
        // A float-to-int cast saturates and maps NaN to 0, the same on every platform.
        Self(libm::round(ms * NS_PER_MS as f64) as u64)
    }

    /// Milliseconds, for display only.
    pub fn as_ms_f64(self) -> f64 {
        self.0 as f64 / NS_PER_MS as f64
    }

    /// The sum; `None` on overflow.
    pub const fn checked_add(self, other: Self) -> Option<Self> {
        match self.0.checked_add(other.0) {
            Some(ns) => Some(Self(ns)),
            None => None,
        }
    }
}

impl fmt::Debug for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t={}ns", self.0)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0)
    }
}

impl fmt::Display for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Span(self.0).fmt(f)
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ns = self.0;
        match ns {
            0..1_000 => write!(f, "{ns} ns"),
            1_000..NS_PER_MS => write!(f, "{}.{:03} µs", ns / 1_000, ns % 1_000),
            NS_PER_MS..NS_PER_S => write!(f, "{}.{:03} ms", ns / NS_PER_MS, ns % NS_PER_MS / 1_000),
            _ => write!(f, "{}.{:03} s", ns / NS_PER_S, ns % NS_PER_S / NS_PER_MS),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_print_in_the_unit_that_fits() {
        let printed: Vec<String> =
            [7, 1_500, 2_000_001, 3_600_250_000_000].map(|ns| Span::from_ns(ns).to_string()).into();
        assert_eq!(printed, ["7 ns", "1.500 µs", "2.000 ms", "3600.250 s"]);
    }

    #[test]
    fn hostile_floats_become_bounded_spans() {
        assert_eq!(Span::from_ms_f64(f64::NAN), Span::ZERO);
        assert_eq!(Span::from_ms_f64(-1.0), Span::ZERO);
        assert_eq!(Span::from_ms_f64(1e300).as_ns(), u64::MAX);
        assert_eq!(Span::from_ms_f64(1.5), Span::from_ns(1_500_000));
    }

    #[test]
    fn time_past_the_end_is_an_answer_not_a_panic() {
        assert_eq!(SimTime::from_ns(u64::MAX).checked_add(Span::from_ns(1)), None);
        assert_eq!(SimTime::from_ns(5).since(SimTime::from_ns(9)), Span::ZERO);
    }
}
