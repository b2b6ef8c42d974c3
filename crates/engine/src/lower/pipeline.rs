//! A lane's pipeline: collector, queue and permits (rules L1, L2, L8).

use tierscope_units::{SimTime, TransferId};

use super::batch::{Batch, Cause, Hold, Move, NO_SLOT};
use super::config::{Filter, Pressure};
use super::evict::Dependency;
use super::lane::Phase;
use super::name::{Lane, Tier};
use super::tier::Found;
use super::Lower;
use crate::command::CopyPlan;
use crate::fact::{BlockRef, CopyEnd, CopyFailure, Fact};
use crate::machine::Engine;

impl Lower {
    /// Puts a block into the lane's collector and says which transfer will carry it. A full batch is queued.
    pub(crate) fn collect(&mut self, now: SimTime, lane: Lane, cause: Cause, block: Move) -> TransferId {
        let state = &mut self.lanes[lane.index()];
        let fits = |id: &TransferId| self.batches.get(id).is_some_and(|batch| batch.cause == cause);
        let open = state.collecting.map(|(id, _)| id).filter(fits);
        let transfer = match open {
            Some(transfer) => transfer,
            None => {
                if let Some((other, _)) = state.collecting.take() {
                    state.queue.push_back(other);
                }
                let transfer = TransferId(self.started);
                self.started += 1;
                let flush_at = now.checked_add(state.config.flush_after).unwrap_or(now);
                state.collecting = Some((transfer, flush_at));
                self.batches.insert(transfer, Batch::new(lane, cause));
                transfer
            }
        };
        state.backlog_blocks += 1;
        self.stirred = true;
        let size = state.config.batch_blocks as usize;
        if let Some(batch) = self.batches.get_mut(&transfer) {
            batch.moves.push(block);
            if batch.moves.len() >= size {
                state.collecting = None;
                state.queue.push_back(transfer);
            }
        }
        transfer
    }

    /// Closes a lane's collector: its batch is in the queue now.
    pub(crate) fn flush(&mut self, lane: Lane) {
        let state = &mut self.lanes[lane.index()];
        if let Some((transfer, _)) = state.collecting.take() {
            state.queue.push_back(transfer);
            self.stirred = true;
        }
    }

    /// Batches that left the collector and that the log has not heard of: in the order of the queue.
    fn unannounced(&self, lane: Lane) -> Vec<TransferId> {
        let queue = &self.lanes[lane.index()].queue;
        let collected = |id: &&TransferId| {
            self.batches.get(id).is_some_and(|batch| batch.phase == Phase::Collecting)
        };
        let mut new: Vec<TransferId> = queue.iter().rev().take_while(collected).copied().collect();
        new.reverse();
        new
    }

    /// Whether the lane passes a content of `from` on.
    pub(crate) fn passes(&self, lane: Lane, hash: tierscope_units::SequenceHash) -> bool {
        let Some(tier) = self.tier(lane.to()) else { return false };
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
        let batch = self.batches.get(&transfer)?;
        Some(Dependency { transfer, deadline: batch.deadline })
    }
}

impl Batch {
    pub(crate) fn new(lane: Lane, cause: Cause) -> Self {
        Self {
            lane,
            cause,
            phase: Phase::Collecting,
            moves: Vec::new(),
            request: None,
            waiters: Vec::new(),
            attempts: 0,
            deadline: SimTime::ZERO,
            timer: None,
        }
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
        for transfer in lower.unannounced(lane) {
            let state = &mut lower.lanes[lane.index()];
            state.snapshot.pass_on(Phase::Collecting, Phase::Queued);
            let deadline = state.believed_end(now);
            let Some(batch) = lower.batches.get_mut(&transfer) else { continue };
            batch.phase = Phase::Queued;
            batch.deadline = deadline;
            let sources = batch.moves.iter().map(|block| BlockRef { slot: block.from, hash: block.hash });
            let blocks = self.facts.list(sources);
            let (cause, request) = (batch.cause, batch.request.map(|(_, request)| request));
            self.facts.push(now, Fact::CopyQueued { transfer, lane, cause, request, blocks });
        }
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
            if lower.lanes[lane.index()].collecting.is_some_and(|(_, at)| at <= now) {
                lower.flush(lane);
            }
            self.announce_batches(now, lane);
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
        let Some(batch) = lower.batches.get(&transfer) else { return Start::Ended };
        let lane = batch.lane;
        if batch.moves.is_empty() {
            lower.lane(lane).queue.pop_front();
            self.end_batch(now, transfer, CopyEnd::Cancelled);
            return Start::Ended;
        }
        let unplaced = batch.moves.iter().filter(|block| block.to == NO_SLOT).count() as u32;
        if unplaced > 0 && !self.place(now, transfer, unplaced) {
            let Some(lower) = &mut self.lower else { return Start::Ended };
            let holds = lower.config.pressure == Pressure::Hold;
            let may_come = holds && lower.tier(lane.to()).is_some_and(|tier| tier.has_busy() && unplaced <= tier.capacity());
            if may_come {
                lower.lane(lane).waits_for_room = true;
                return Start::Waits;
            }
            lower.lane(lane).queue.pop_front();
            self.end_batch(now, transfer, CopyEnd::Failed(CopyFailure::DestinationFull));
            return Start::Ended;
        }
        self.hand_out(now, transfer)
    }

    /// Takes the blocks out that need no copy any more: they are below already, or their source was evicted.
    fn drop_needless(&mut self, transfer: TransferId) {
        let Some(lower) = &mut self.lower else { return };
        let Some(mut batch) = lower.batches.remove(&transfer) else { return };
        let lane = batch.lane;
        if lane.is_down() && batch.attempts == 0 {
            let mut kept = Vec::with_capacity(batch.moves.len());
            for block in std::mem::take(&mut batch.moves) {
                let gone = block.hold == Hold::Unheld && lower.source_gone(lane, &block);
                let there = lower.lanes[lane.index()].config.filter != Filter::None
                    && lower.tier(lane.to()).is_some_and(|tier| tier.find(block.hash) != Found::Missing);
                if gone || there {
                    lower.lanes[lane.index()].backlog_blocks -= 1;
                    Self::release_source(&mut self.pool, lower, lane, &block);
                    continue;
                }
                kept.push(block);
            }
            batch.moves = kept;
            self.blocked.clear();
        }
        lower.batches.insert(transfer, batch);
    }

    /// Reserves the slots that the batch goes to, all or none (rule L8).
    fn place(&mut self, now: SimTime, transfer: TransferId, count: u32) -> bool {
        let Some(lower) = &mut self.lower else { return false };
        let Some(lane) = lower.batches.get(&transfer).map(|batch| batch.lane) else { return false };
        let tier = lane.to();
        let removed = &mut self.scratch.lower_removed;
        let Some(slots) = lower.tier_mut(tier).and_then(|lower_tier| lower_tier.reserve(count, removed)) else {
            return false;
        };
        let mut slots = slots.into_iter();
        let Some(mut batch) = lower.batches.remove(&transfer) else { return false };
        for block in batch.moves.iter_mut().filter(|block| block.to == NO_SLOT) {
            let Some(slot) = slots.next() else { break };
            block.to = slot;
            if let Some(lower_tier) = lower.tier_mut(tier) {
                lower_tier.expect(slot, block.hash, transfer);
            }
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
        let Some(mut batch) = lower.batches.remove(&transfer) else { return Start::Ended };
        let lane = batch.lane;
        for block in &mut batch.moves {
            if block.hold == Hold::Unheld {
                block.hold = Hold::Pin;
                if let Some(tier) = lower.tier_mut(lane.from()) {
                    tier.pin(block.from);
                }
            }
        }
        let state = lower.lane(lane);
        state.queue.pop_front();
        state.waits_for_room = false;
        state.snapshot.pass_on(Phase::Queued, Phase::Starting);
        state.snapshot.pass_on(Phase::Starting, Phase::InFlight);
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

impl Lower {
    /// Whether the content that a block was to be copied from is not there any more.
    fn source_gone(&self, lane: Lane, block: &Move) -> bool {
        match self.tier(lane.from()) {
            Some(tier) => tier.find(block.hash) != Found::Resident(block.from),
            None => false,
        }
    }
}

