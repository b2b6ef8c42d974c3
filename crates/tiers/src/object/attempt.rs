//! Trying again: each attempt has its time, all of them together have a budget, and between two of them there is a pause
//! that grows. Who waits looks now and then whether anybody still wants it.

use std::future::Future;
use std::pin::pin;
use std::time::{Duration, Instant};

use super::failure::Failure;
use crate::device::Wanted;
use crate::fault::Fault;

/// How long a block may take. The wall clock decides here how a real copy fails, and nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// One attempt, from its begin until its last byte.
    pub attempt: Duration,
    /// All attempts and pauses of a block: it ends by then, however.
    pub budget: Duration,
    /// The first pause; each later one may be twice as long as the one before.
    pub pause: Duration,
    /// The longest pause.
    pub pause_max: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            attempt: Duration::from_secs(10),
            budget: Duration::from_secs(40),
            pause: Duration::from_millis(50),
            pause_max: Duration::from_secs(2),
        }
    }
}

/// Between two looks whether a block is still wanted.
const LOOK: Duration = Duration::from_millis(20);

/// Waits for something as long as it is wanted.
pub(super) async fn while_wanted<T>(
    wanted: &Wanted,
    what: impl Future<Output = Result<T, Fault>>,
) -> Result<T, Fault> {
    let mut what = pin!(what);
    loop {
        if let Ok(done) = tokio::time::timeout(LOOK, what.as_mut()).await {
            return done;
        }
        if !wanted.is_wanted() {
            return Err(Fault::Cancelled);
        }
    }
}

impl Patience {
    /// Attempts until one succeeds, fails for good, or the budget is used up; then the fault of the last one. `seed` keeps
    /// those apart that failed together, so that they do not come back together.
    pub(super) async fn attempts<T>(
        &self,
        seed: u64,
        mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
    ) -> Result<T, Fault> {
        let begun = Instant::now();
        let mut pause = self.pause;
        for turn in 0u64.. {
            let left = self.budget.saturating_sub(begun.elapsed());
            let tried = tokio::time::timeout(self.attempt.min(left), attempt()).await;
            let failure = match tried.unwrap_or(Err(Failure::TIMED_OUT)) {
                Ok(done) => return Ok(done),
                Err(failure) => failure,
            };
            let wait = jittered(pause, seed.wrapping_add(turn));
            if !failure.again || begun.elapsed() + wait >= self.budget {
                return Err(failure.fault);
            }
            tokio::time::sleep(wait).await;
            pause = pause.saturating_mul(2).min(self.pause_max);
        }
        Err(Fault::TimedOut)
    }
}

/// From half of a pause to all of it.
fn jittered(pause: Duration, seed: u64) -> Duration {
    let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 54;
    let half = pause / 2;
    half + half.saturating_mul(mixed as u32) / 1_024
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn block_on<T>(what: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
        runtime.expect("one thread").block_on(what)
    }

    const QUICK: Patience = Patience {
        attempt: Duration::from_millis(40),
        budget: Duration::from_millis(400),
        pause: Duration::from_millis(1),
        pause_max: Duration::from_millis(8),
    };

    #[test]
    fn what_may_do_better_is_tried_again_and_what_may_not_is_not() {
        let down = Failure { fault: Fault::Device, again: true, over: true };
        for (failures, failure, expected, tries) in
            [(3, down, Ok(3), 4), (1, Failure::settled(Fault::NoSpace), Err(Fault::NoSpace), 1)]
        {
            let count = AtomicU32::new(0);
            let found = block_on(QUICK.attempts(7, async || {
                let before = count.fetch_add(1, Ordering::Relaxed);
                if before < failures { Err(failure) } else { Ok(before) }
            }));
            assert_eq!((found, count.into_inner()), (expected, tries));
        }
    }

    #[test]
    fn attempts_and_budgets_end() {
        let count = AtomicU32::new(0);
        let begun = Instant::now();
        let stalls = QUICK.attempts(7, async || {
            count.fetch_add(1, Ordering::Relaxed);
            std::future::pending::<Result<(), Failure>>().await
        });
        assert_eq!(block_on(stalls), Err(Fault::TimedOut));
        assert!(begun.elapsed() < Duration::from_secs(10) && count.into_inner() > 1);
    }

    #[test]
    fn what_nobody_wants_ends() {
        let unwanted = Wanted::default();
        unwanted.drop_it();
        let found = block_on(while_wanted(&unwanted, std::future::pending::<Result<(), Fault>>()));
        assert_eq!(found, Err(Fault::Cancelled));
    }

    #[test]
    fn pauses_differ_and_stay_within_their_half() {
        let pause = Duration::from_millis(100);
        let drawn: Vec<Duration> = (0..64).map(|seed| jittered(pause, seed)).collect();
        assert!(drawn.iter().all(|drawn| (pause / 2..=pause).contains(drawn)));
        assert!(drawn.iter().collect::<std::collections::BTreeSet<_>>().len() > 32);
    }
}
