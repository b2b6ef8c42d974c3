//! Dropping the prefix cache.

use tierscope_units::SimTime;

use crate::fact::Fact;
use crate::machine::Engine;

impl Engine {
    /// Drops all cached content, if nothing is in use then. Returns whether it did.
    pub(crate) fn reset_prefix_cache(&mut self, now: SimTime, preempt_running: bool) -> bool {
        if preempt_running {
            while let Some(live) = self.running.pop() {
                self.preempt(now, live, true);
            }
        }
        if self.pool.active > 0 || self.pool.reading > 0 {
            return false;
        }
        let removed = self.pool.forget_all();
        if !removed.is_empty() {
            let blocks = self.facts.list(removed);
            self.facts.push(now, Fact::Removed { blocks });
        }
        self.blocked.clear();
        true
    }
}
