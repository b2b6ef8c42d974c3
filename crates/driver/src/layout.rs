//! Which slots of the real media are whose: several workers share one medium of each tier, each with a part of its slots.

use tierscope_engine::Tier;
use tierscope_scenario::Scenario;
use tierscope_units::{Idx, WorkerId};

/// A part of a tier's slots: a worker's, a host's, or everybody's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) tier: Tier,
    /// Its first slot in the medium.
    pub(crate) first: u32,
    pub(crate) slots: u32,
}

/// The places of all tiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    /// G1 of each worker, G2 of each worker, G3 of each host, G4.
    places: Vec<Place>,
    workers: usize,
    hosts: usize,
    workers_per_host: usize,
}

impl Layout {
    /// The layout of a scenario. Its limits keep the sums within their type.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let config = scenario.fleet_config();
        let tiers = scenario.engine.tiers.as_ref();
        let (workers, hosts) = (config.roles.len(), config.hosts());
        let mut places = Vec::with_capacity(2 * workers + hosts + 1);
        let mut add = |tier: Tier, parts: usize, slots_of: &dyn Fn(usize) -> u32| {
            let mut first = 0u32;
            for part in 0..parts {
                let slots = slots_of(part);
                places.push(Place { tier, first, slots });
                first = first.saturating_add(slots);
            }
        };
        add(Tier::G1, workers, &|worker| config.g1_blocks_of(worker));
        add(Tier::G2, workers, &|_| tiers.map_or(0, |it| it.g2.blocks));
        add(Tier::G3, hosts, &|_| tiers.and_then(|it| it.g3).map_or(0, |tier| tier.blocks));
        add(Tier::G4, 1, &|_| tiers.and_then(|it| it.g4).map_or(0, |tier| tier.blocks));
        Self { places, workers, hosts, workers_per_host: config.workers_per_host.max(1) as usize }
    }

    /// The number of the place that a worker sees as a tier.
    pub(crate) fn index(&self, tier: Tier, worker: WorkerId) -> usize {
        match tier {
            Tier::G1 => worker.index(),
            Tier::G2 => self.workers + worker.index(),
            Tier::G3 => 2 * self.workers + worker.index() / self.workers_per_host,
            Tier::G4 => 2 * self.workers + self.hosts,
        }
    }

    /// All places, by number.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// Slots of a tier, of all workers and hosts together.
    pub(crate) fn slots(&self, tier: Tier) -> u32 {
        let of_tier = self.places.iter().filter(|place| place.tier == tier);
        of_tier.fold(0, |sum, place| sum.saturating_add(place.slots))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_tier_lie_behind_one_another_and_hosts_share_a_disk() {
        let text = "tierscope = 1\n[engine]\ng1_blocks = 10\n[g2]\nblocks = 20\n[g3]\nblocks = 30\n[g4]\nblocks = 40\n\
                    [workers]\ncount = 3\nper_host = 2\n[workload]\nkind = \"synthetic\"\nrequests = 1\narrival = \"fixed_rate\"\nrate_per_s = 1.0\n\
                    prompt_tokens = 1\noutput_tokens = 1\n";
        let scenario =
            tierscope_scenario::parse_any(text).unwrap_or_else(|problems| panic!("{}", problems[0]));
        let layout = Layout::of(&scenario);
        let place = |tier, worker| {
            let Place { first, slots, .. } = layout.places()[layout.index(tier, WorkerId(worker))];
            (first, slots)
        };
        assert_eq!([0, 1, 2].map(|worker| place(Tier::G1, worker)), [(0, 10), (10, 10), (20, 10)]);
        assert_eq!([0, 1, 2].map(|worker| place(Tier::G2, worker)), [(0, 20), (20, 20), (40, 20)]);
        assert_eq!([0, 1, 2].map(|worker| place(Tier::G3, worker)), [(0, 30), (0, 30), (30, 30)]);
        assert_eq!([0, 1, 2].map(|worker| place(Tier::G4, worker)), [(0, 40); 3]);
        assert_eq!(Tier::ALL.map(|tier| layout.slots(tier)), [30, 60, 60, 40]);
    }
}
