//! Whole-state invariants of the connector (rules L2, L6, T9).

use std::collections::{BTreeMap, BTreeSet};

use tierscope_units::{RequestId, SequenceHash};

use super::Connector;
use super::job::Job;
use crate::lower::{Lane, LaneState};
use crate::machine::Engine;

impl Engine {
    /// The part of [`Engine::check`] about the connector.
    pub(crate) fn check_connector(&self) -> Result<(), String> {
        let Some(lower) = self.lower.as_deref() else { return Ok(()) };
        let Some(connector) = lower.connector.as_deref() else { return Ok(()) };
        connector.manager.check()?;
        connector.check_counts()?;
        connector.check_lanes(&lower.lanes)?;
        for (transfer, job) in &connector.jobs {
            let table = self.blocks_of(job.request);
            let is_kept = |slot| table.contains(slot) || connector.fenced.contains_key(slot);
            let goes = job.is_awaited || connector.preempted.contains(&job.request);
            if job.is_store() && !goes && !job.blocks.iter().all(|block| is_kept(&block.slot)) {
                return Err(format!("{transfer:?} reads slots that nobody keeps for it (rule L6)"));
            }
        }
        match connector.filling.iter().find(|&&live| self.requests.get(live).blocks.is_empty()) {
            Some(live) => {
                Err(format!("{:?} fills its prompt and holds nothing", self.requests.get(*live).id))
            }
            None => Ok(()),
        }
    }
}

impl Connector {
    fn check_counts(&self) -> Result<(), String> {
        let mut open: BTreeMap<RequestId, u32> = BTreeMap::new();
        for job in self.jobs.values() {
            *open.entry(job.request).or_default() += 1;
        }
        if open != self.open {
            return Err(format!("requests have {open:?} copies, counted {:?}", self.open));
        }
        let keys = |is_store: bool| -> BTreeSet<SequenceHash> {
            let jobs = self.jobs.values().filter(move |job| job.is_store() == is_store);
            jobs.flat_map(|job: &Job| job.keys.iter().copied()).collect()
        };
        let (written, read) = (keys(true).len() as u32, keys(false).len() as u32);
        if (written, read) != (self.manager.writing(), self.manager.pinned()) {
            return Err(format!(
                "copies write {written} chunks and read {read}, the tier counts {} and {}",
                self.manager.writing(),
                self.manager.pinned()
            ));
        }
        Ok(())
    }

    fn check_lanes(&self, lanes: &[LaneState]) -> Result<(), String> {
        for lane in Lane::ALL {
            let jobs = || self.jobs.values().filter(move |job| job.lane() == lane);
            let started = jobs().filter(|job| job.is_started).count() as u32;
            let queued = jobs().count() as u32 - started;
            let snapshot = lanes[lane.index()].snapshot;
            let blocks: usize = jobs().map(|job| job.blocks.len()).sum();
            if (queued, started, 0)
                != (snapshot.queued, snapshot.in_flight, snapshot.starting + snapshot.settling)
            {
                return Err(format!(
                    "{}: {queued} copies wait and {started} run, not {snapshot:?}",
                    lane.name()
                ));
            }
            if blocks as u64 != lanes[lane.index()].backlog_blocks {
                return Err(format!("{}: {blocks} blocks wait or move, it counts otherwise", lane.name()));
            }
        }
        Ok(())
    }
}
