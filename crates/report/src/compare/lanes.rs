//! What moved along each lane of one run, and how long it took.

use std::collections::BTreeMap;

use serde::Serialize;

use super::record::Record;

/// Batches under way that are known; more than any scenario has.
const UNDER_WAY_MAX: usize = 1 << 20;
/// Lanes that are told apart.
const LANES_MAX: usize = 64;

/// The batches of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct LaneTotals {
    /// Batches that ended.
    pub ended: u64,
    /// Of those, the ones whose blocks arrived.
    pub completed: u64,
    /// Blocks that arrived.
    pub blocks: u64,
    /// Attempts that failed and were made again.
    pub retried: u64,
    /// Time that batches spent queued, together, in nanoseconds.
    pub waited_ns: u64,
    /// Time from the starts of batches to their ends, together, in nanoseconds.
    pub took_ns: u64,
}

/// A batch that ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ended {
    pub(super) blocks: i128,
    pub(super) retries: i128,
    pub(super) waited_ns: i128,
    pub(super) took_ns: i128,
}

#[derive(Clone, Copy, Debug)]
struct UnderWay {
    queued_at: i128,
    started_at: Option<i128>,
    blocks: i128,
    retries: i128,
}

/// The lanes of one run.
#[derive(Debug, Default)]
pub(super) struct Lanes {
    under_way: BTreeMap<i128, UnderWay>,
    totals: BTreeMap<String, LaneTotals>,
}

impl Lanes {
    /// Takes a fact about a batch that has not ended.
    pub(super) fn take(&mut self, record: &Record<'_>) {
        let Some(transfer) = record.number("transfer") else { return };
        let (at, blocks) = (record.at_ns, record.blocks().count() as i128);
        let room = self.under_way.len() < UNDER_WAY_MAX;
        match (record.kind, self.under_way.get_mut(&transfer)) {
            ("copy_queued", None) if room => {
                let batch = UnderWay { queued_at: at, started_at: None, blocks, retries: 0 };
                self.under_way.insert(transfer, batch);
            }
            ("copy_started", Some(batch)) => {
                batch.started_at = Some(batch.started_at.unwrap_or(at));
                batch.blocks = blocks;
            }
            ("copy_retried", Some(batch)) => batch.retries += 1,
            _ => {}
        }
    }

    /// Takes the end of a batch.
    pub(super) fn end(&mut self, record: &Record<'_>) -> Ended {
        let batch = record.number("transfer").and_then(|transfer| self.under_way.remove(&transfer));
        let ended = batch.map_or(Ended::default(), |batch| {
            let started = batch.started_at.unwrap_or(record.at_ns);
            Ended {
                blocks: batch.blocks,
                retries: batch.retries,
                waited_ns: started - batch.queued_at,
                took_ns: record.at_ns - started,
            }
        });
        let lane = record.word("lane").unwrap_or("");
        if lane.len() <= 32 && (self.totals.len() < LANES_MAX || self.totals.contains_key(lane)) {
            let totals = self.totals.entry(lane.to_owned()).or_default();
            let completed = record.word("end") == Some("completed");
            let sum = |sum: &mut u64, more: i128| *sum = sum.saturating_add(u64::try_from(more).unwrap_or(0));
            totals.ended += 1;
            totals.completed += u64::from(completed);
            sum(&mut totals.blocks, if completed { ended.blocks } else { 0 });
            sum(&mut totals.retried, ended.retries);
            sum(&mut totals.waited_ns, ended.waited_ns);
            sum(&mut totals.took_ns, ended.took_ns);
        }
        ended
    }

    pub(super) fn totals(&self) -> &BTreeMap<String, LaneTotals> {
        &self.totals
    }
}
