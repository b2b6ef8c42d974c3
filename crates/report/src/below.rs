//! What lies below G1, folded: tiers, the lanes between them, and the requests that wait for either.

mod lanes;
mod loads;

use tierscope_engine::{Fact, Tier};
use tierscope_units::SimTime;

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
    lanes: Lanes,
    loads: Loads,
    series: Thinned<BelowSample>,
}

impl Below {
    /// Reads a fact; those about something else change nothing.
    pub(crate) fn take(&mut self, at: SimTime, fact: &Fact) {
        let moved = match *fact {
            Fact::TierStored { tier, blocks } => self.tier(tier, |resident| resident.store(blocks.len())),
            Fact::TierRemoved { tier, blocks } => self.tier(tier, |resident| resident.remove(blocks.len())),
            _ => self.lanes.take(at.as_ns(), fact),
        };
        if moved {
            self.sample(at);
        } else {
            self.loads.take(at.as_ns(), fact);
        }
    }

    fn tier(&mut self, tier: Tier, change: impl FnOnce(&mut Resident)) -> bool {
        let resident = tier.index().checked_sub(1).map(|place| &mut self.tiers[place]);
        resident.map(change).is_some()
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

    /// The counts of G2, G3 and G4, where there are such tiers.
    pub(crate) fn tiers(
        &self,
        capacity: [u32; Tier::COUNT - 1],
    ) -> [Option<LowerTierCounts>; Tier::COUNT - 1] {
        let counts = |place: usize| LowerTierCounts {
            capacity_blocks: capacity[place],
            resident_max: self.tiers[place].max,
            resident_end: self.tiers[place].now,
            stored: self.tiers[place].stored,
            removed: self.tiers[place].removed,
        };
        [0, 1, 2].map(|place| (capacity[place] > 0).then(|| counts(place)))
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

    #[test]
    fn what_is_resident_rises_and_falls() {
        let mut below = Below::default();
        for (tier, stored, removed) in
            [(Tier::G2, 40, 0), (Tier::G2, 20, 25), (Tier::G3, 5, 0), (Tier::G2, 1, 0)]
        {
            assert!(below.tier(tier, |resident| resident.store(stored)));
            assert!(below.tier(tier, |resident| resident.remove(removed)));
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
}
