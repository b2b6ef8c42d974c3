//! How a copy ends, well or not, and who is told (rules L5, L6, T8).

use tierscope_units::{SimTime, SlotId, TransferId};

use super::job::{Job, Kind};
use super::{Connector, of};
use crate::fact::{CopyEnd, CopyFailure, Fact};
use crate::lower::{Lane, Phase};
use crate::machine::Engine;
use crate::request::Live;

impl Engine {
    /// A copy ended. `false` if it is not under way.
    pub(crate) fn end_job(
        &mut self,
        now: SimTime,
        transfer: TransferId,
        end: Result<(), CopyFailure>,
    ) -> bool {
        let is_under_way = self
            .connector()
            .and_then(|connector| connector.jobs.get(&transfer))
            .is_some_and(|job| job.is_started);
        if is_under_way {
            self.close_job(now, transfer, end);
        }
        is_under_way
    }

    /// A lane was shut down: what waits there for its start has failed.
    pub(crate) fn close_jobs(&mut self, now: SimTime, lane: Lane) {
        let jobs = self.connector().into_iter().flat_map(|connector| &connector.jobs);
        let waiting = jobs.filter(|(_, job)| job.lane() == lane && !job.is_started);
        let waiting: Vec<TransferId> = waiting.map(|(&transfer, _)| transfer).collect();
        for transfer in waiting {
            self.close_job(now, transfer, Err(CopyFailure::Shutdown));
        }
    }

    /// Ends a copy for good.
    fn close_job(&mut self, now: SimTime, transfer: TransferId, end: Result<(), CopyFailure>) {
        let Some(lower) = self.lower.as_deref_mut() else { return };
        let Some(connector) = lower.connector.as_deref_mut() else { return };
        let Some(job) = connector.jobs.remove(&transfer) else { return };
        if let Some(at) = job.timer {
            lower.timers.remove(&(at, transfer));
        }
        let lane = job.lane();
        let state = &mut lower.lanes[lane.index()];
        let released = job.blocks.len() as u32;
        state.backlog_blocks -= u64::from(released);
        state.released_sources = state.released_sources.saturating_add(u64::from(released));
        let last = if job.is_started { Phase::Settling } else { Phase::Queued };
        if job.is_started {
            state.pass_on(Phase::InFlight, Phase::Settling);
        }
        state.pass_on(last, if end.is_ok() { Phase::Completed } else { Phase::Failed });
        state.last_failure = end.err().or(state.last_failure);
        lower.completions = lower.completions.saturating_add(u64::from(end.is_ok()));
        connector.unlist(transfer, &job);
        match job.kind {
            Kind::Store => connector.manager.complete_store(&job.keys, end.is_ok() && !job.is_void),
            Kind::Load { .. } => connector.manager.complete_load(&job.keys),
        }
        let told = end.map_or_else(CopyEnd::Failed, |()| CopyEnd::Completed);
        self.facts.push(now, Fact::CopyEnded { transfer, lane, end: told, released });
        self.log_chunks(now);
        if let Kind::Load { live, hits, is_sync } = job.kind {
            match is_sync {
                true => self.end_sync_load(now, &job, (live, hits), end.is_ok()),
                false => self.end_load_beside(now, live, end.is_ok()),
            }
        }
        self.tell_waiters(now, transfer, &job.waiters);
        self.close_books(&job);
        self.blocked.clear();
    }

    /// A request that ended is forgotten with the end of its last copy.
    fn close_books(&mut self, job: &Job) {
        let Some(connector) = of(&mut self.lower) else { return };
        let left = connector.open.get_mut(&job.request).map_or(0, |open| {
            *open -= 1;
            *open
        });
        if left == 0 {
            connector.open.remove(&job.request);
            if connector.told.remove(&job.request) {
                connector.manager.forget(job.request);
            }
        }
    }

    /// The load of a request that waits for it ended. What did not come it computes, into the same slots.
    fn end_load_beside(&mut self, now: SimTime, live: Live, well: bool) {
        let block = self.config.block_size_tokens;
        let r = self.requests.get_mut(live);
        r.load.outstanding = 0;
        if r.load.doomed {
            self.release_blocks(live);
            self.requests.remove(live);
            self.doomed -= 1;
            return;
        }
        let wanted = r.load.until - r.load.from;
        if !well {
            r.load.until = r.load.from;
            r.load.tokens = [0; 3];
        }
        r.load.has_arrived = true;
        let loaded_blocks = r.load.until - r.load.from;
        r.computed = r.load.until * block;
        let request = r.id;
        self.facts
            .push(now, Fact::OnboardEnded { request, loaded_blocks, failed_blocks: wanted - loaded_blocks });
    }

    /// The load that a pass waited for ended. If it failed, rows of the pass compute on what never came: whoever
    /// holds these blocks starts again, and the output of its row is void.
    fn end_sync_load(&mut self, now: SimTime, job: &Job, (live, hits): (Live, u32), well: bool) {
        let request = job.request;
        if self.requests.get(live).id != request {
            return;
        }
        let blocks = job.blocks.len() as u32;
        let loaded_blocks = if well { blocks } else { 0 };
        self.facts
            .push(now, Fact::OnboardEnded { request, loaded_blocks, failed_blocks: blocks - loaded_blocks });
        if self.requests.get(live).load.doomed {
            self.release_blocks(live);
            self.requests.remove(live);
            self.doomed -= 1;
        } else if !well
            && self.requests.get(live).blocks.get(hits as usize) == job.blocks.first().map(|b| &b.slot)
        {
            self.requests.get_mut(live).computes_all = true;
            let slots: Vec<SlotId> = job.blocks.iter().map(|block| block.slot).collect();
            self.start_again(now, &slots);
        }
    }

    /// Preempts every running request that holds one of the slots, whose content never came, and forgets what was
    /// registered from there on.
    fn start_again(&mut self, now: SimTime, slots: &[SlotId]) {
        let first_of = |live: &Live| {
            let blocks = &self.requests.get(*live).blocks;
            blocks.iter().position(|slot| slots.contains(slot)).map(|first| (*live, first))
        };
        let affected: Vec<(Live, usize)> = self.running.iter().filter_map(first_of).collect();
        for &(live, first) in &affected {
            for at in (first..self.requests.get(live).blocks.len()).rev() {
                let slot = self.requests.get(live).blocks[at];
                if self.pool.slot_hash(slot).is_some() {
                    self.scratch.removed.push(self.pool.unregister(slot));
                }
            }
        }
        self.log_removed(now);
        for &(live, _) in affected.iter().rev() {
            let request = self.requests.get(live).id;
            if let Some(connector) = of(&mut self.lower) {
                let stores =
                    connector.jobs.values_mut().filter(|job| job.request == request && job.is_store());
                stores.filter(|job| !job.is_started).for_each(|job| job.is_void = true);
            }
            self.running.retain(|&other| other != live);
            self.preempt(now, live, true);
        }
    }
}

impl Connector {
    /// Takes an ended copy out of all lists.
    fn unlist(&mut self, transfer: TransferId, job: &Job) {
        for key in &job.keys {
            if self.carriers.get(key) == Some(&transfer) {
                self.carriers.remove(key);
            }
            if !job.is_store() {
                self.loading.remove(key);
            }
        }
        for block in &job.blocks {
            if let Some(readers) = self.fenced.get_mut(&block.slot) {
                readers.retain(|&other| other != transfer);
                if readers.is_empty() {
                    self.fenced.remove(&block.slot);
                }
            }
        }
    }
}
