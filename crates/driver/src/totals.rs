//! What moved for real.

use std::collections::BTreeMap;
use std::time::Duration;

use tierscope_engine::Lane;
use tierscope_tiers::{Ended, Fault};

/// What moved on one lane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneTotals {
    /// Batches that ended well.
    pub batches: u64,
    /// Their blocks.
    pub blocks: u64,
    /// Time during which their bytes were copied, each batch's by itself.
    pub copied: Duration,
    /// From submission to the end of copying, in nanoseconds, of each batch that ended well: with how many blocks.
    pub times: Vec<(u32, u64)>,
    /// Blocks that were not copied, by why.
    pub faults: BTreeMap<Fault, u64>,
}

impl LaneTotals {
    /// Takes note of a batch that has ended.
    pub(crate) fn take(&mut self, ended: &Ended) {
        let failed = ended.results.iter().filter_map(|result| result.err());
        let before = self.faults.values().sum::<u64>();
        failed.for_each(|fault| *self.faults.entry(fault).or_default() += 1);
        if self.faults.values().sum::<u64>() > before {
            return;
        }
        self.batches += 1;
        self.blocks += ended.results.len() as u64;
        self.copied += ended.copied;
        let took = u64::try_from((ended.queued + ended.copied).as_nanos()).unwrap_or(u64::MAX);
        self.times.push((ended.results.len() as u32, took));
    }

    /// The middle one of the times of its batches, in nanoseconds.
    pub fn median_ns(&self) -> Option<u64> {
        let mut times: Vec<u64> = self.times.iter().map(|&(_, ns)| ns).collect();
        times.sort_unstable();
        times.get(times.len() / 2).copied()
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// By lane, in the order of [`Lane::ALL`].
    pub lanes: [LaneTotals; Lane::COUNT],
    /// Blocks that were computed: filled with their content in G1.
    pub computed_blocks: u64,
    /// Blocks whose bytes were looked at after they had arrived, and were right.
    pub verified_blocks: u64,
    /// Blocks that were to lie in a disk or a store at the end and could not be had, by tier and why.
    pub lost: BTreeMap<(&'static str, Fault), u64>,
}
