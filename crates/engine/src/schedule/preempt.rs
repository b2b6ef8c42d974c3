//! Preemption by recompute: a running request gives everything back (rule S2).

use tierscope_units::SimTime;

use super::Draft;
use crate::config::{Fidelity, HashDeletion, SchedulingPolicy, Victim};
use crate::fact::Fact;
use crate::input::Rank;
use crate::machine::Engine;
use crate::request::{Live, Phase};

impl Engine {
    /// The place of the next victim among the running requests: the last, or the one of lowest priority, the
    /// first among equals. Who waits for a transfer is spared (rule T8); the one that asks for room does not.
    pub(crate) fn victim(&self) -> Option<usize> {
        let spared = |place: &usize| self.requests.get(self.running[*place]).dependency.is_some();
        let mut places = (0..self.running.len()).rev().filter(|place| !spared(place));
        let last = places.next().expect("the request that asks for room waits for nothing");
        let request = |place: usize| self.requests.get(self.running[place]);
        match (self.config.victim, self.config.policy) {
            (Victim::Nobody, _) => None,
            (Victim::LeastComputed, _) => {
                let less = |place, least| request(place).computed < request(least).computed;
                Some(places.fold(last, |least, place| if less(place, least) { place } else { least }))
            }
            (Victim::ByPolicy, SchedulingPolicy::Fcfs) => Some(last),
            (Victim::ByPolicy, SchedulingPolicy::Priority) => {
                // vLLM ignores the last tie-break here, so that two equals can preempt each other in turn for
                // ever; the mended order is the line's own.
                let tie = |rank: Rank| match self.config.fidelity {
                    Fidelity::Mended => rank.tie,
                    Fidelity::Exact => 0,
                };
                let key = |place| {
                    let rank = request(place).rank;
                    (rank.priority, rank.sent, tie(rank))
                };
                Some(places.fold(last, |worst, place| if key(place) >= key(worst) { place } else { worst }))
            }
        }
    }

    /// Preempts the running request at `place` and says which it was. If it has a row in the pass that is
    /// being built, the row is void and its tokens go back to the budget.
    pub(crate) fn preempt_at(&mut self, now: SimTime, place: usize, draft: &mut Draft) -> Live {
        let victim = self.running.remove(place);
        let only_the_last = (Victim::ByPolicy, SchedulingPolicy::Fcfs);
        if (self.config.victim, self.config.policy) != only_the_last
            && let Some(at) = self.rows.iter().position(|row| row.live == victim)
        {
            let row = self.rows.remove(at);
            draft.budget += row.tokens;
            draft.input += row.tokens + self.config.draft_slots();
            if self.config.fidelity == Fidelity::Mended {
                self.unregister_uncomputed(now, victim, row.registered_from);
            }
        }
        self.preempt(now, victim, false);
        victim
    }

    /// Blocks of a void row were registered when it was scheduled, and nobody will compute them: they must
    /// not be hit (rule T5).
    fn unregister_uncomputed(&mut self, now: SimTime, live: Live, from: u32) {
        let r = self.requests.get(live);
        let until = (r.next_full / self.config.block_size_tokens - 1).max(from);
        if !self.pool.caching || until == from {
            return;
        }
        // Children before parents.
        for index in (from..until).rev() {
            let slot = self.requests.get(live).blocks[index as usize];
            let removed = self.pool.unregister(slot);
            self.scratch.removed.push(removed);
        }
        self.log_removed(now);
    }

    /// Takes a request out of the batch's memory and puts it back into the line. It has left `running`.
    pub(crate) fn preempt(&mut self, now: SimTime, live: Live, drop_output: bool) {
        let r = self.requests.get_mut(live);
        let lost_tokens = r.computed;
        r.phase = Phase::Preempted;
        r.was_preempted = true;
        r.high_water = r.high_water.max(r.computed);
        r.computed = 0;
        r.drafts = 0;
        r.drop_stale = drop_output || (r.drop_stale && r.stale > 0);
        r.stale = r.in_flight;
        r.placeholders = 0;
        r.dependency = None;
        r.skipped_for_load = false;
        let (request, released, rank) = (r.id, r.blocks.len() as u32, r.rank);
        if self.config.hash_deletion == HashDeletion::OnEviction {
            self.unregister_own(now, live);
        }
        if self.lower.is_some() {
            self.connector_preempted(live);
        }
        self.release_blocks(live);
        self.waiting.rejoin(live, rank);
        self.facts.push(now, Fact::Preempted { request, lost_tokens, released });
    }

    /// Forgets the content of the blocks that only this request holds.
    fn unregister_own(&mut self, now: SimTime, live: Live) {
        for index in (0..self.requests.get(live).blocks.len()).rev() {
            let slot = self.requests.get(live).blocks[index];
            if self.pool.is_last_full(slot) {
                self.scratch.removed.push(self.pool.unregister(slot));
            }
        }
        self.log_removed(now);
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
