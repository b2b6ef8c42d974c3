//! How a batch ends. Every way out is terminal for its blocks: their sources are released, their destinations are
//! resident or given up, and whoever waits is told (rules L5, L6).

use tierscope_units::{SimTime, TransferId};

use super::batch::{Batch, Hold, Move, NO_SLOT};
use super::config::{Holds, Pressure};
use super::lane::Phase;
use super::name::{Lane, Tier};
use super::{Cause, Found, Lower};
use crate::block::BlockPool;
use crate::fact::{BlockRef, CopyEnd, CopyFailure, Fact};
use crate::machine::Engine;

/// Ended batches that are kept to be used again.
const SPARE_MAX: usize = 64;

impl Engine {
    /// The world says that a copy ended. `false` if it is not under way.
    pub(crate) fn end_copy(
        &mut self,
        now: SimTime,
        transfer: TransferId,
        end: Result<(), CopyFailure>,
    ) -> bool {
        if self.connector().is_some() {
            return self.end_job(now, transfer, end);
        }
        let in_flight =
            |lower: &Lower| lower.batches.get(transfer).is_some_and(|batch| batch.phase == Phase::InFlight);
        if !self.lower.as_deref().is_some_and(in_flight) {
            return false;
        }
        match end {
            Ok(()) => self.end_batch(now, transfer, CopyEnd::Completed),
            Err(failure) => self.fail_copy(now, transfer, failure),
        }
        true
    }

    /// A copy failed: its batch is tried again after a while, or has failed for good (rule L9).
    fn fail_copy(&mut self, now: SimTime, transfer: TransferId, failure: CopyFailure) {
        let Some(lower) = &mut self.lower else { return };
        let Some(batch) = lower.batches.get_mut(transfer) else { return };
        let state = &mut lower.lanes[batch.lane.index()];
        let unwanted = batch.request.is_some_and(|(live, _)| self.requests.get(live).load.doomed);
        if batch.attempts >= state.config.retries || unwanted || state.shut {
            return self.end_batch(now, transfer, CopyEnd::Failed(failure));
        }
        if let Some(at) = batch.timer.take() {
            lower.timers.remove(&(at, transfer));
        }
        batch.attempts += 1;
        batch.phase = Phase::Queued;
        state.pass_on(Phase::InFlight, Phase::Queued);
        let at = now.checked_add(state.config.backoff).unwrap_or(now);
        batch.timer = Some(at);
        batch.deadline = batch.deadline.max(at);
        lower.timers.insert((at, transfer));
        lower.stirred = true;
        let attempt = batch.attempts;
        self.facts.push(now, Fact::CopyRetried { transfer, failure, attempt, at });
    }

    /// Batches whose next attempt is due, and those that took too long.
    pub(crate) fn fire_timers(&mut self, now: SimTime) {
        while let Some(lower) = &mut self.lower
            && let Some(&(at, transfer)) = lower.timers.first()
            && at <= now
        {
            lower.timers.pop_first();
            lower.stirred = true;
            let Some(batch) = lower.batches.get_mut(transfer) else { continue };
            batch.timer = None;
            if batch.phase == Phase::Queued {
                // To the front: it has its slots, which those behind it may be waiting for.
                let lane = batch.lane;
                lower.lanes[lane.index()].queue.push_front(transfer);
            } else {
                lower.to_cancel.push(transfer);
                self.fail_copy(now, transfer, CopyFailure::TimedOut);
            }
            self.stirred = true;
        }
        if let Some(lower) = &mut self.lower {
            lower.stirred |= lower.next_wake().is_some_and(|at| at <= now);
        }
    }

    /// Ends a batch for good. It is in no queue any more.
    pub(crate) fn end_batch(&mut self, now: SimTime, transfer: TransferId, end: CopyEnd) {
        let Some(lower) = &mut self.lower else { return };
        let Some(mut batch) = lower.batches.remove(transfer) else { return };
        if let Some(at) = batch.timer {
            lower.timers.remove(&(at, transfer));
        }
        let lane = batch.lane;
        let state = lower.lane(lane);
        state.backlog_blocks -= batch.moves.len() as u64;
        if batch.phase == Phase::InFlight {
            state.pass_on(Phase::InFlight, Phase::Settling);
            batch.phase = Phase::Settling;
        }
        if let CopyEnd::Failed(failure) = end {
            state.last_failure = Some(failure);
        }
        // What it sets off is known by this number.
        lower.completions = lower.completions.saturating_add(u64::from(end == CopyEnd::Completed));
        lower.stirred = true;
        let released = batch.moves.len() as u32;
        self.facts.push(now, Fact::CopyEnded { transfer, lane, end, released });
        match end {
            CopyEnd::Completed => self.land(now, &batch),
            CopyEnd::Failed(_) | CopyEnd::Cancelled => self.miss(now, &batch),
        }
        self.release_sources_of(now, &batch);
        if end == CopyEnd::Completed {
            self.feed_chains(now, &batch);
        }
        let last = match end {
            CopyEnd::Completed => Phase::Completed,
            CopyEnd::Failed(_) => Phase::Failed,
            CopyEnd::Cancelled => Phase::Cancelled,
        };
        if let Some(lower) = &mut self.lower {
            lower.lane(lane).pass_on(batch.phase, last);
        }
        self.wake(now, transfer, &batch);
        if let Some(lower) = &mut self.lower
            && lower.spare.len() < SPARE_MAX
        {
            lower.spare.push(batch);
        }
    }

    /// The bytes have come: the blocks are where they were to go.
    fn land(&mut self, now: SimTime, batch: &Batch) {
        let tier = batch.lane.to();
        if tier == Tier::G1 {
            return self.load_arrived(now, batch, true);
        }
        let Some(lower) = &mut self.lower else { return };
        let Some(lower_tier) = lower.tier_mut(tier) else { return };
        let here = batch.moves.iter().filter(|block| lower_tier.settle(block.to, block.hash));
        let blocks = self.facts.list(here.map(|block| BlockRef { slot: block.to, hash: block.hash }));
        if !blocks.is_empty() {
            self.facts.push(now, Fact::TierStored { tier, blocks });
        }
        if batch.cause == Cause::Wanted {
            self.staged(now, batch);
        }
    }

    /// The bytes will not come.
    fn miss(&mut self, now: SimTime, batch: &Batch) {
        if batch.lane.to() == Tier::G1 {
            return self.load_arrived(now, batch, false);
        }
        if let Some(lower) = &mut self.lower
            && let Some(lower_tier) = lower.tier_mut(batch.lane.to())
        {
            for block in batch.moves.iter().filter(|block| block.to != NO_SLOT) {
                lower_tier.give_up(block.to);
            }
        }
        if batch.cause == Cause::Wanted {
            self.load_failed(now, batch);
        }
    }

    fn release_sources_of(&mut self, now: SimTime, batch: &Batch) {
        let Some(lower) = &mut self.lower else { return };
        Self::release_sources(&mut self.pool, lower, batch.lane, &batch.moves);
        let leaves = batch.lane == Lane::G2ToG1 && lower.config.holds == Holds::Exclusive;
        if leaves && let Some(g2) = lower.tier_mut(Tier::G2) {
            let gone = batch.moves.iter().filter_map(|block| g2.forget(block.from));
            self.scratch.lower_removed.extend(gone);
            self.log_tier_removed(now, Tier::G2);
        }
        // What was held may be what the head of the line waits for.
        self.blocked.clear();
        self.stirred = true;
    }

    /// Frees sources of a batch, each once (rule L6). All blocks of a batch are held alike: its cause says how.
    pub(crate) fn release_sources(pool: &mut BlockPool, lower: &mut Lower, lane: Lane, blocks: &[Move]) {
        let Some(hold) = blocks.first().map(|block| block.hold) else { return };
        debug_assert!(blocks.iter().all(|block| block.hold == hold), "blocks of one batch are held alike");
        if hold != Hold::Unheld {
            let released = &mut lower.lane(lane).released_sources;
            *released = released.saturating_add(blocks.len() as u64);
        }
        let slots = blocks.iter().map(|block| block.from);
        match (hold, lane.from()) {
            (Hold::Unheld, _) => {}
            (Hold::Source, _) => pool.release_sources(slots),
            (Hold::Read, Tier::G1) => pool.end_reads(slots),
            (Hold::Read, tier) => {
                if let Some(lower_tier) = lower.tier_mut(tier) {
                    lower_tier.pool.end_reads(slots);
                }
            }
            (Hold::Pin, tier) => {
                if let Some(lower_tier) = lower.tier_mut(tier) {
                    slots.for_each(|slot| lower_tier.unpin(slot));
                }
            }
        }
    }

    /// What came to G2 goes on to the slower tiers.
    fn feed_chains(&mut self, now: SimTime, batch: &Batch) {
        if batch.lane != Lane::G1ToG2 {
            return;
        }
        for lane in [Lane::G2ToG3, Lane::G2ToG4] {
            let Some(lower) = &mut self.lower else { return };
            let Some(tier) = lower.tier(lane.to()) else { continue };
            tier.pool.warm_for(batch.moves.iter().map(|block| block.hash));
            for block in &batch.moves {
                if lower.passes(lane, block.hash) {
                    lower.feed(now, lane, block);
                }
            }
            self.announce_batches(now, lane);
        }
    }

    /// Tells those who waited for a transfer (rule T8).
    fn wake(&mut self, now: SimTime, transfer: TransferId, batch: &Batch) {
        self.wake_claims(transfer);
        for &(live, request) in &batch.waiters {
            let r = self.requests.get_mut(live);
            // It may have been cancelled meanwhile, and its entry given to another.
            if r.id == request && r.dependency.is_some_and(|dependency| dependency.transfer == transfer) {
                r.dependency = None;
                r.skipped_for_load = false;
                self.facts.push(now, Fact::Unblocked { request, transfer });
            }
        }
    }
}

impl Lower {
    /// Puts a block of G2 into the collector of a lane to a slower tier.
    fn feed(&mut self, now: SimTime, lane: Lane, block: &Move) {
        // It has just come to its slot, or another slot has the content.
        let Some(g2) = self.tier(Tier::G2) else { return };
        let from = match g2.has(block.to, block.hash) {
            true => block.to,
            false => match g2.find(block.hash) {
                Found::Resident(slot) => slot,
                Found::Incoming(_) | Found::Missing => return,
            },
        };
        let hold = match self.config.pressure {
            Pressure::Drop => Hold::Unheld,
            Pressure::Hold => {
                if let Some(g2) = self.tier_mut(Tier::G2) {
                    g2.pin(from);
                }
                Hold::Pin
            }
        };
        self.collect(now, lane, Cause::Chained, Move { from, to: NO_SLOT, hold, ..*block });
    }
}
