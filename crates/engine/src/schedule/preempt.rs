//! Preemption by recompute: the last running request gives everything back (rule S2).

use tierscope_units::SimTime;

use crate::fact::Fact;
use crate::machine::Engine;
use crate::request::{Live, Phase};

impl Engine {
    /// Preempts the last of the running requests to the head of the line, and says which it was.
    pub(crate) fn preempt_last(&mut self, now: SimTime) -> Live {
        let victim = self.running.pop().expect("a request that runs asked for blocks");
        let r = self.requests.get_mut(victim);
        let lost_tokens = r.computed;
        r.phase = Phase::Preempted;
        r.computed = 0;
        r.preemptions += 1;
        let (request, released) = (r.id, r.blocks.len() as u32);
        self.release_blocks(victim);
        self.waiting.push_front(victim);
        self.facts.push(now, Fact::Preempted { request, lost_tokens, released });
        victim
    }

    /// Returns all blocks of a request to the pool.
    pub(crate) fn release_blocks(&mut self, live: Live) {
        let r = self.requests.get_mut(live);
        self.pool.release(&r.blocks);
        r.blocks.clear();
        r.room = 0;
        r.next_full = self.config.block_size_tokens;
        self.blocked.clear();
    }
}
