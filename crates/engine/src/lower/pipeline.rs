//! A lane's pipeline: collector, queue and permits (rules L1, L2, L8).

use tierscope_units::{SequenceHash, SimTime, TransferId};

use super::Lower;
use super::batch::{Batch, Hold, Move, NO_SLOT};
use super::config::{Filter, Pressure};
use super::evict::Dependency;
use super::lane::{Open, Phase};
use super::name::{Cause, Lane, Tier};
use super::tier::Found;
use crate::command::CopyPlan;
use crate::fact::{BlockRef, CopyEnd, CopyFailure, Fact};
use crate::machine::Engine;

impl Lower {
    /// Puts a block into the lane's collector and says which transfer will carry it. A full batch is queued.
    pub(crate) fn collect(&mut self, now: SimTime, lane: Lane, cause: Cause, block: Move) -> TransferId {
        let state = &mut self.lanes[lane.index()];
        if state.open.as_ref().is_some_and(|open| open.batch.cause != cause) {
            self.flush(lane);
        }
        let state = &mut self.lanes[lane.index()];
        let size = state.config.batch_blocks as usize;
        let (started, spare) = (&mut self.started, &mut self.spare);
        let open = state.open.get_or_insert_with(|| {
            let transfer = TransferId(*started);
            *started += 1;
            let flush_at = now.checked_add(state.config.flush_after).unwrap_or(now);
            let mut batch = spare.pop().unwrap_or_else(|| Box::new(Batch::new(lane, cause)));
            batch.renew(lane, cause);
            Open { transfer, flush_at, batch }
        });
        let transfer = open.transfer;
        open.batch.moves.push(block);
        if cause == Cause::Chained {
            open.batch.set_off_by = self.completions;
        }
        let full = open.batch.moves.len() >= size;
        state.backlog_blocks += 1;
        self.stirred = true;
        if full {
            self.flush(lane);
        }
        transfer
    }

    /// Closes a lane's collector: its batch is in the queue now.
    pub(crate) fn flush(&mut self, lane: Lane) {
        let state = &mut self.lanes[lane.index()];
        if let Some(Open { transfer, batch, .. }) = state.open.take() {
            self.enqueue(transfer, batch);
        }
    }

    /// Puts a batch into its lane's queue.
    pub(crate) fn enqueue(&mut self, transfer: TransferId, batch: Box<Batch>) {
        let state = &mut self.lanes[batch.lane.index()];
        state.queue.push_back(transfer);
        state.closed.push(transfer);
        self.batches.insert(transfer, batch);
        self.stirred = true;
    }

    /// Whether the lane passes a content on.
    pub(crate) fn passes(&self, lane: Lane, hash: SequenceHash) -> bool {
        let Some(tier) = self.tier(lane.to()) else { return false };
        if self.lanes[lane.index()].shut {
            return false;
        }
        match self.lanes[lane.index()].config.filter {
            Filter::None => true,
            Filter::Presence => tier.find(hash) == Found::Missing,
            Filter::PresenceFrequency(least) => {
                let used = self.frequency.as_ref().map_or(0, |sketch| sketch.frequency(hash));
                u32::from(used) >= least && tier.find(hash) == Found::Missing
            }
        }
    }

    /// A dependency on a transfer under way (rule T6).
    pub(crate) fn dependency_on(&self, transfer: TransferId) -> Option<Dependency> {
        let batch = self.batches.get(transfer)?;
        Some(Dependency { transfer, deadline: batch.deadline })
    }
}

/// What became of an attempt to start the head of a queue.
enum Start {
    /// Its copy is handed out.
    Copy(CopyPlan),
    /// It ended, or was empty: try the next.
    Ended,
    /// It waits for room in its tier.
    Waits,
}

impl Engine {
    /// Says that batches are queued, with when they are believed to end.
    pub(crate) fn announce_batches(&mut self, now: SimTime, lane: Lane) {
        let Some(lower) = &mut self.lower else { return };
        if lower.lanes[lane.index()].closed.is_empty() {
            return;
        }
        let mut closed = std::mem::take(&mut lower.lanes[lane.index()].closed);
        for transfer in closed.drain(..) {
            let state = &mut lower.lanes[lane.index()];
            state.pass_on(Phase::Collecting, Phase::Queued);
            let deadline = state.believed_end(now);
            let Some(batch) = lower.batches.get_mut(transfer) else { continue };
            batch.phase = Phase::Queued;
            batch.deadline = deadline;
            let sources = batch.moves.iter().map(|block| BlockRef { slot: block.from, hash: block.hash });
            let blocks = self.facts.list(sources);
            let (cause, request) = (batch.cause, batch.request.map(|(_, request)| request));
            self.facts.push(now, Fact::CopyQueued { transfer, lane, cause, request, blocks });
        }
        lower.lanes[lane.index()].closed = closed;
    }

    /// Closes collectors that are full enough, and starts what has a permit: the next copy to
    /// hand out, or `None` when no lane can start one.
    pub(crate) fn pump(&mut self, now: SimTime) -> Option<CopyPlan> {
        // What ends without a copy may make room for what was tried before it: until nothing changes.
        while std::mem::take(&mut self.lower.as_mut()?.stirred) {
            if let Some(plan) = self.pump_lanes(now) {
                self.lower.as_mut()?.stirred = true;
                return Some(plan);
            }
        }
        None
    }

    fn pump_lanes(&mut self, now: SimTime) -> Option<CopyPlan> {
        for lane in Lane::ALL {
            let lower = self.lower.as_mut()?;
            if lower.lanes[lane.index()].open.as_ref().is_some_and(|open| open.flush_at <= now) {
                lower.flush(lane);
            }
            self.announce_batches(now, lane);
            self.lower.as_mut()?.lane(lane).waits_for_room = false;
            while let Some(transfer) = self.next_with_permit(lane) {
                match self.start_batch(now, transfer) {
                    Start::Copy(plan) => return Some(plan),
                    Start::Ended => {}
                    Start::Waits => break,
                }
            }
        }
        None
    }

    /// The head of the lane's queue, where a permit is free (rule L1).
    fn next_with_permit(&self, lane: Lane) -> Option<TransferId> {
        let state = &self.lower.as_ref()?.lanes[lane.index()];
        let free = state.snapshot.past_queue() < state.config.max_concurrent;
        state.queue.front().copied().filter(|_| free)
    }

    fn start_batch(&mut self, now: SimTime, transfer: TransferId) -> Start {
        self.drop_needless(transfer);
        let Some(lower) = &mut self.lower else { return Start::Ended };
        let Some(batch) = lower.batches.get(transfer) else { return Start::Ended };
        let lane = batch.lane;
        if lower.lanes[lane.index()].shut {
            return self.give_up_head(now, lane, transfer, CopyEnd::Failed(CopyFailure::Shutdown));
        }
        if batch.moves.is_empty() {
            return self.give_up_head(now, lane, transfer, CopyEnd::Cancelled);
        }
        let unplaced = batch.moves.iter().filter(|block| block.to == NO_SLOT).count() as u32;
        if unplaced > 0 && !self.place(now, transfer, unplaced) {
            let Some(lower) = &mut self.lower else { return Start::Ended };
            let holds = lower.config.pressure == Pressure::Hold;
            let may_come = holds
                && lower.tier(lane.to()).is_some_and(|tier| tier.has_busy() && unplaced <= tier.capacity());
            if may_come {
                lower.lane(lane).waits_for_room = true;
                return Start::Waits;
            }
            return self.give_up_head(now, lane, transfer, CopyEnd::Failed(CopyFailure::DestinationFull));
        }
        let emptied = |lower: &Lower| lower.batches.get(transfer).is_some_and(|batch| batch.moves.is_empty());
        if self.lower.as_deref().is_some_and(emptied) {
            return self.give_up_head(now, lane, transfer, CopyEnd::Cancelled);
        }
        self.hand_out(now, transfer)
    }

    /// The head of a queue ends without a copy.
    fn give_up_head(&mut self, now: SimTime, lane: Lane, transfer: TransferId, end: CopyEnd) -> Start {
        if let Some(lower) = &mut self.lower {
            lower.lane(lane).queue.pop_front();
        }
        self.end_batch(now, transfer, end);
        Start::Ended
    }

    /// Takes the blocks out whose source was evicted while they waited.
    fn drop_needless(&mut self, transfer: TransferId) {
        let Some(lower) = &mut self.lower else { return };
        let Some(batch) = lower.batches.get_mut(transfer) else { return };
        let lane = batch.lane;
        let unheld = batch.moves.first().is_some_and(|block| block.hold == Hold::Unheld);
        let Some(source) = lower.tiers.get(lane.from().index().wrapping_sub(1)).and_then(Option::as_ref)
        else {
            return;
        };
        if unheld {
            let before = batch.moves.len();
            batch.moves.retain(|block| source.has(block.from, block.hash));
            lower.lanes[lane.index()].backlog_blocks -= (before - batch.moves.len()) as u64;
        }
    }

    /// Reserves the slots that the batch goes to, all or none (rule L8). A block that the tier has got meanwhile is
    /// not copied again.
    fn place(&mut self, now: SimTime, transfer: TransferId, count: u32) -> bool {
        let Some(lower) = &mut self.lower else { return false };
        let Some(lane) = lower.batches.get(transfer).map(|batch| batch.lane) else { return false };
        let tier = lane.to();
        let removed = &mut self.scratch.lower_removed;
        let Some(mut slots) = lower.tier_mut(tier).and_then(|lower_tier| lower_tier.reserve(count, removed))
        else {
            return false;
        };
        let Some(mut batch) = lower.batches.remove(transfer) else { return false };
        let again = lower.lanes[lane.index()].config.filter == Filter::None;
        let mut needless = Vec::new();
        if let Some(lower_tier) = lower.tier_mut(tier) {
            lower_tier.pool.warm_for(batch.moves.iter().map(|block| block.hash));
            let mut next = slots.drain(..);
            batch.moves.retain_mut(|block| {
                if block.to != NO_SLOT {
                    return true;
                }
                let Some(slot) = next.next() else { return true };
                let wanted = lower_tier.expect(slot, block.hash, transfer) || again;
                if wanted {
                    block.to = slot;
                } else {
                    lower_tier.give_up(slot);
                    needless.push(*block);
                }
                wanted
            });
        }
        lower.lanes[lane.index()].backlog_blocks -= needless.len() as u64;
        Self::release_sources(&mut self.pool, lower, lane, &needless);
        if !needless.is_empty() {
            self.blocked.clear();
            self.stirred = true;
        }
        lower.batches.insert(transfer, batch);
        self.log_tier_removed(now, tier);
        true
    }

    /// Contents that left a tier below G1.
    pub(crate) fn log_tier_removed(&mut self, now: SimTime, tier: Tier) {
        if !self.scratch.lower_removed.is_empty() {
            let blocks = self.facts.list(self.scratch.lower_removed.drain(..));
            self.facts.push(now, Fact::TierRemoved { tier, blocks });
        }
    }

    fn hand_out(&mut self, now: SimTime, transfer: TransferId) -> Start {
        let Some(lower) = &mut self.lower else { return Start::Ended };
        let Some(mut batch) = lower.batches.remove(transfer) else { return Start::Ended };
        let lane = batch.lane;
        if batch.moves.first().is_some_and(|block| block.hold == Hold::Unheld)
            && let Some(tier) = lower.tier_mut(lane.from())
        {
            for block in &mut batch.moves {
                block.hold = Hold::Read;
                tier.pool.begin_read(block.from);
            }
        }
        let state = lower.lane(lane);
        state.queue.pop_front();
        // The permit is taken as the command is handed out: nothing can happen between.
        state.pass_on(Phase::Queued, Phase::Starting);
        state.pass_on(Phase::Starting, Phase::InFlight);
        batch.phase = Phase::InFlight;
        let timeout = state.config.timeout.and_then(|span| now.checked_add(span));
        batch.timer = timeout;
        let destinations = batch.moves.iter().map(|block| BlockRef { slot: block.to, hash: block.hash });
        let list = self.facts.list(destinations);
        let (blocks, attempt) = (batch.moves.len() as u32, batch.attempts);
        lower.batches.insert(transfer, batch);
        if let Some(at) = timeout {
            lower.timers.insert((at, transfer));
        }
        self.facts.push(now, Fact::CopyStarted { transfer, lane, blocks: list });
        Start::Copy(CopyPlan { worker: self.worker, transfer, lane, blocks, attempt })
    }
}
