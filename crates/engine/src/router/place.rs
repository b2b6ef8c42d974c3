//! Where content can be: a worker's own G1 or G2, a host's G3, or G4.

use tierscope_units::{Idx as _, WorkerId};

use crate::lower::Tier;

/// A tier and whose it is. The order is that of tiers, then of owners.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place(u32);

impl Place {
    const fn new(tier: Tier, owner: u16) -> Self {
        Self((tier as u32) << 16 | owner as u32)
    }

    pub(super) const fn g1(worker: u16) -> Self {
        Self::new(Tier::G1, worker)
    }

    pub(super) const fn g2(worker: u16) -> Self {
        Self::new(Tier::G2, worker)
    }

    pub(super) const fn g3(host: u16) -> Self {
        Self::new(Tier::G3, host)
    }

    pub(super) const G4: Self = Self::new(Tier::G4, 0);

    pub(super) const fn tier(self) -> Tier {
        Tier::ALL[(self.0 >> 16) as usize & 3]
    }

    /// As it lies in a node; in the same order.
    pub(super) const fn cell(self) -> u64 {
        self.0 as u64
    }

    pub(super) const fn of_cell(cell: u64) -> Self {
        Self(cell as u32)
    }

    /// The worker, for G1 and G2; the host, for G3.
    pub(super) const fn owner(self) -> u16 {
        self.0 as u16
    }
}

/// Which worker is on which host, and who shares it.
#[derive(Clone, Debug)]
pub(super) struct Hosts {
    /// Worker → host, hosts numbered densely.
    of: Vec<u16>,
    /// Workers in the order of hosts.
    members: Vec<u16>,
    /// Host → its first place in `members`; one more at the end.
    starts: Vec<u32>,
}

impl Hosts {
    /// `host_of` names each worker's host by any number; a worker that it leaves out has a host of its own.
    pub(super) fn new(workers: u32, host_of: &[u32]) -> Self {
        let workers = workers.min(u32::from(u16::MAX) + 1);
        let named = |worker: u32| match host_of.get(worker as usize) {
            Some(&host) => (0, host),
            None => (1, worker),
        };
        let mut names: Vec<(u8, u32)> = (0..workers).map(named).collect();
        let of_name = names.clone();
        names.sort_unstable();
        names.dedup();
        let dense = |name: &(u8, u32)| names.binary_search(name).unwrap_or(0) as u16;
        let of: Vec<u16> = of_name.iter().map(dense).collect();
        let mut members: Vec<u16> = (0..workers).map(|worker| worker as u16).collect();
        members.sort_by_key(|&worker| of[usize::from(worker)]);
        let mut starts = vec![0; names.len() + 1];
        for &host in &of {
            starts[usize::from(host) + 1] += 1;
        }
        for host in 1..starts.len() {
            starts[host] += starts[host - 1];
        }
        Self { of, members, starts }
    }

    /// Number of workers.
    pub(super) fn workers(&self) -> usize {
        self.of.len()
    }

    /// Whether there is such a worker.
    pub(super) fn has(&self, worker: WorkerId) -> bool {
        worker.index() < self.of.len()
    }

    /// The workers of a host, in the order of ids; at least one.
    pub(super) fn members(&self, host: u16) -> &[u16] {
        let host = usize::from(host);
        &self.members[self.starts[host] as usize..self.starts[host + 1] as usize]
    }

    /// Where a worker that is there means when it names a tier.
    pub(super) fn place(&self, worker: WorkerId, tier: Tier) -> Place {
        match tier {
            Tier::G1 => Place::g1(worker.0),
            Tier::G2 => Place::g2(worker.0),
            Tier::G3 => Place::g3(self.of[worker.index()]),
            Tier::G4 => Place::G4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_numbered_densely_and_the_unnamed_are_alone() {
        let hosts = Hosts::new(5, &[700, 3, 700, 3]);
        assert_eq!(hosts.of, [1, 0, 1, 0, 2]);
        assert_eq!([0, 1, 2].map(|host| hosts.members(host).to_vec()), [vec![1, 3], vec![0, 2], vec![4]]);
        assert_eq!(hosts.place(WorkerId(2), Tier::G3), Place::g3(1));
        assert_eq!(hosts.place(WorkerId(4), Tier::G4), Place::G4);
        assert!(!hosts.has(WorkerId(5)));
    }

    #[test]
    fn a_place_knows_its_tier_and_owner() {
        for worker in [0, 77, u16::MAX] {
            assert_eq!((Place::g2(worker).tier(), Place::g2(worker).owner()), (Tier::G2, worker));
            assert!(Place::g1(worker) < Place::g2(0) && Place::g3(worker) < Place::G4);
        }
        assert_eq!(Place::of_cell(Place::G4.cell()), Place::G4);
    }
}
