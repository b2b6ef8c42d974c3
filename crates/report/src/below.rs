//! What lies below G1, folded: tiers, the lanes between them, and the requests that wait for either.

mod lanes;
mod loads;

use tierscope_engine::{Fact, Tier};
use tierscope_units::{Idx, SimTime, WorkerId};

use crate::report::{LaneCounts, LoadCounts, LowerTierCounts};
use crate::series::BelowSample;
use crate::thinned::Thinned;
use lanes::Lanes;
use loads::Loads;

/// One tier's blocks so far.
#[derive(Clone, Copy, Debug, Default)]
struct Resident {
    now: u32,
    max: u32,
    stored: u64,
    removed: u64,
}

/// Tiers, lanes and loads so far. A fact costs the same however many blocks it names.
#[derive(Clone, Debug, Default)]
pub(crate) struct Below {
    /// G2, G3, G4.
    tiers: [Resident; Tier::COUNT - 1],
    /// G2 of each of several workers.
    g2_by_worker: Vec<Resident>,
    lanes: Lanes,
    loads: Loads,
    series: Thinned<BelowSample>,
}

impl Below {
    /// Nothing yet, of so many workers; 0 for one alone.
    pub(crate) fn new(workers: usize) -> Self {
        Self { g2_by_worker: vec![Resident::default(); workers], ..Self::default() }
    }

    /// Reads a fact; those about something else change nothing.
    pub(crate) fn take(&mut self, at: SimTime, worker: Option<WorkerId>, fact: &Fact) {
        let moved = match *fact {
            Fact::TierStored { tier, blocks } => {
                self.tier(tier, worker, |resident| resident.store(blocks.len()))
            }
            Fact::TierRemoved { tier, blocks } => {
                self.tier(tier, worker, |resident| resident.remove(blocks.len()))
            }
            _ => self.lanes.take(at.as_ns(), worker, fact),
        };
        if moved {
            self.sample(at);
        } else {
            self.loads.take(at.as_ns(), worker, fact);
        }
    }

    fn tier(&mut self, tier: Tier, worker: Option<WorkerId>, change: impl Fn(&mut Resident)) -> bool {
        let Some(place) = tier.index().checked_sub(1) else { return false };
        change(&mut self.tiers[place]);
        let own = worker.and_then(|worker| self.g2_by_worker.get_mut(worker.index()));
        if let Some(own) = own.filter(|_| tier == Tier::G2) {
            change(own);
        }
        true
    }

    /// A worker is gone: what lay in its G2 is no more, and its copies have no end. G3 and G4 outlive it (rule L8).
    pub(crate) fn gone(&mut self, at: SimTime, worker: WorkerId) {
        let Some(own) = self.g2_by_worker.get_mut(worker.index()) else { return };
        let [g2, ..] = &mut self.tiers;
        g2.now = g2.now.saturating_sub(std::mem::take(&mut own.now));
        self.lanes.gone(at.as_ns(), worker);
        self.sample(at);
    }

    fn sample(&mut self, at: SimTime) {
        let lanes = self.lanes.now();
        self.series.push(BelowSample {
            at_ns: at.as_ns(),
            resident: self.tiers.map(|tier| tier.now),
            queued: lanes.map(|lane| lane.queued),
            in_flight: lanes.map(|lane| lane.in_flight),
            moving: lanes.map(|lane| lane.moving),
        });
    }

    /// What lay below and what moved, over time.
    pub(crate) fn series(&self) -> &[BelowSample] {
        self.series.samples()
    }

    /// The counts of G2, G3 and G4 over all workers, where there are such tiers of these capacities.
    pub(crate) fn tiers(
        &self,
        capacity: [u32; Tier::COUNT - 1],
    ) -> [Option<LowerTierCounts>; Tier::COUNT - 1] {
        [0, 1, 2].map(|place| self.tiers[place].counts(capacity[place]))
    }

    /// The counts of one worker's G2, where there is one of this capacity.
    pub(crate) fn g2_of(&self, worker: usize, capacity_blocks: u32) -> Option<LowerTierCounts> {
        self.g2_by_worker.get(worker).copied().unwrap_or_default().counts(capacity_blocks)
    }

    /// The lanes that ever had a batch, by name.
    pub(crate) fn lanes(
        &self,
        clock: Clock,
        bytes_per_block: u64,
    ) -> std::collections::BTreeMap<&'static str, LaneCounts> {
        self.lanes.counts(clock, bytes_per_block)
    }

    /// Loads and waits.
    pub(crate) fn loads(&self) -> LoadCounts {
        self.loads.counts()
    }
}

impl Resident {
    /// Of a tier of this capacity; nothing where there is none.
    fn counts(self, capacity_blocks: u32) -> Option<LowerTierCounts> {
        (capacity_blocks > 0).then_some(LowerTierCounts {
            capacity_blocks,
            resident_max: self.max,
            resident_end: self.now,
            stored: self.stored,
            removed: self.removed,
        })
    }
}

/// Until when, and from when, shares of time are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub(crate) last_ns: u64,
    pub(crate) makespan_ns: u64,
}

impl Resident {
    fn store(&mut self, blocks: u32) {
        self.now = self.now.saturating_add(blocks);
        self.max = self.max.max(self.now);
        self.stored += u64::from(blocks);
    }

    fn remove(&mut self, blocks: u32) {
        self.now = self.now.saturating_sub(blocks);
        self.removed += u64::from(blocks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tierscope_engine::{BlockList, Cause, Lane};
    use tierscope_units::TransferId;

    #[test]
    fn what_is_resident_rises_and_falls() {
        let mut below = Below::default();
        for (tier, stored, removed) in
            [(Tier::G2, 40, 0), (Tier::G2, 20, 25), (Tier::G3, 5, 0), (Tier::G2, 1, 0)]
        {
            assert!(below.tier(tier, None, |resident| resident.store(stored)));
            assert!(below.tier(tier, None, |resident| resident.remove(removed)));
        }
        let [g2, g3, g4] = below.tiers([64, 500, 0]).map(Option::unwrap_or_default);
        assert_eq!((g2.capacity_blocks, g2.resident_max, g2.resident_end), (64, 60, 36));
        assert_eq!((g2.stored, g2.removed), (61, 25));
        assert_eq!((g3.capacity_blocks, g3.resident_max, g3.resident_end), (500, 5, 5));
        assert_eq!(g4, LowerTierCounts::default());
        below.sample(SimTime::from_ns(7));
        assert_eq!(
            below.series().last().map(|sample| (sample.at_ns, sample.resident)),
            Some((7, [36, 5, 0]))
        );
    }
    /// What a lost worker had below is gone; what the others have is not, and its copies do not end.
    #[test]
    fn a_worker_takes_its_tiers_with_it() {
        let mut below = Below::new(2);
        for (worker, blocks) in [(WorkerId(0), 30), (WorkerId(1), 12)] {
            below.tier(Tier::G2, Some(worker), |resident| resident.store(blocks));
            let (transfer, blocks) = (TransferId(u64::from(worker.0)), BlockList::default());
            let (lane, cause, request) = (Lane::G1ToG2, Cause::Evicted, None);
            let queued = Fact::CopyQueued { transfer, lane, cause, request, blocks };
            below.take(SimTime::from_ns(1), Some(worker), &queued);
            below.take(SimTime::from_ns(2), Some(worker), &Fact::CopyStarted { transfer, lane, blocks });
        }
        below.gone(SimTime::from_ns(9), WorkerId(0));
        let [all, ..] = below.tiers([100, 0, 0]).map(Option::unwrap_or_default);
        assert_eq!((all.capacity_blocks, all.resident_max, all.resident_end), (100, 42, 12));
        let lost = below.g2_of(0, 50).unwrap_or_default();
        assert_eq!((lost.capacity_blocks, lost.resident_max, lost.resident_end), (50, 30, 0));
        let lane = &below.lanes(Clock { last_ns: 10, makespan_ns: 10 }, 1)["g1_g2"];
        assert_eq!((lane.batches, lane.cancelled, lane.in_flight_max), (2, 1, 2));
        assert_eq!(below.series().last().map(|sample| sample.in_flight[Lane::G1ToG2.index()]), Some(1));
    }
}
