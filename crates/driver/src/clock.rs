//! The time of a run that is driven: nanoseconds of the wall clock since it began, without those that were skipped.

use std::time::{Duration, Instant};

use tierscope_units::SimTime;

/// Whether time between two events passes or is skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// It passes: a request that arrives after a second arrives after a second.
    Wall,
    /// It is skipped while no copy is under way: nothing but real tiers takes time.
    Skipping,
}

/// The clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    begun: Instant,
    skipped: Duration,
}

impl Clock {
    pub(crate) fn start() -> Self {
        // The wall clock is what this mode of driving is about: it is read here, and told to the machine as an input.
        Self { begun: Instant::now(), skipped: Duration::ZERO }
    }

    pub(crate) fn now(&self) -> SimTime {
        self.time_of(Instant::now())
    }

    /// What time it was, or is. Time that was skipped since counts as passed: nothing was under way then.
    pub(crate) fn time_of(&self, at: Instant) -> SimTime {
        let passed = at.saturating_duration_since(self.begun) + self.skipped;
        SimTime::from_ns(u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX))
    }

    /// How long until an instant.
    pub(crate) fn until(&self, at: SimTime) -> Duration {
        Duration::from_nanos(at.as_ns().saturating_sub(self.now().as_ns()))
    }

    /// It is that instant now, if it was not yet.
    pub(crate) fn skip_to(&mut self, at: SimTime) {
        self.skipped = self.skipped.saturating_add(self.until(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipping_moves_the_clock_forward_and_never_back() {
        let mut clock = Clock::start();
        let hour = SimTime::from_ns(3_600_000_000_000);
        clock.skip_to(hour);
        assert!(clock.now() >= hour && clock.until(hour) == Duration::ZERO);
        clock.skip_to(SimTime::from_ns(1));
        assert!(clock.now() >= hour);
    }
}
