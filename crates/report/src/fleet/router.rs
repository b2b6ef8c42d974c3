//! What the router decided, what it believed, and whom it let wait (rule H6).

use std::collections::BTreeMap;

use tierscope_engine::{Leg, Overlap, RouteFact};
use tierscope_units::{Idx, RequestId, WorkerId};

use super::ByWord;
use crate::assemble::ratio;
use crate::folds::WorkerSetup;
use crate::report::{RouterBelief, RouterCounts, RouterSpread};
use crate::spread::Spread;

/// The router so far.
#[derive(Clone, Debug)]
pub(crate) struct Router {
    decisions: u64,
    by_leg: ByWord,
    by_replica: BTreeMap<u32, u64>,
    /// By worker and leg.
    chosen: Vec<[u64; LEGS.len()]>,
    roles: Vec<&'static str>,
    belief: Belief,
    held: u64,
    /// Requests at the router, with the time when they came to it.
    waiting: BTreeMap<RequestId, u64>,
    /// Who was sent on last, from and until when it waited: if it is back at the same instant, it never left.
    left: Option<(RequestId, u64, u64)>,
    waited: Spread,
}

const LEGS: [Leg; 3] = [Leg::Whole, Leg::Prefill, Leg::Decode];

#[derive(Clone, Copy, Debug, Default)]
struct Belief {
    blocks: [u64; 4],
    resident_g1: u64,
    phantom: u64,
    missing: u64,
    decisions_with_phantom: u64,
    decisions_with_missing: u64,
}

impl Router {
    pub(super) fn new(workers: &[WorkerSetup]) -> Self {
        Self {
            decisions: 0,
            by_leg: ByWord::new(),
            by_replica: BTreeMap::new(),
            chosen: vec![[0; LEGS.len()]; workers.len()],
            roles: workers.iter().map(|worker| worker.role).collect(),
            belief: Belief::default(),
            held: 0,
            waiting: BTreeMap::new(),
            left: None,
            waited: Spread::default(),
        }
    }

    pub(super) fn take(&mut self, at: u64, route: RouteFact) {
        match route {
            RouteFact::Chosen { request, worker, leg, replica, believed, resident_g1_blocks, .. } => {
                self.decisions += 1;
                *self.by_leg.entry(leg.name()).or_default() += 1;
                *self.by_replica.entry(replica).or_default() += 1;
                self.note_place(worker, leg);
                self.belief.add(believed, resident_g1_blocks);
                if let Some(since) = self.waiting.remove(&request) {
                    self.settle();
                    self.left = Some((request, since, at));
                }
            }
            RouteFact::Held { request, .. } => self.hold(at, request),
        }
    }

    fn note_place(&mut self, worker: WorkerId, leg: Leg) {
        let place = LEGS.iter().position(|&other| other == leg);
        if let (Some(chosen), Some(place)) = (self.chosen.get_mut(worker.index()), place) {
            chosen[place] += 1;
        }
    }

    fn hold(&mut self, at: u64, request: RequestId) {
        if let Some((_, since, _)) = self.left.take_if(|(left, _, until)| *left == request && *until == at) {
            self.waiting.insert(request, since);
        } else if !self.waiting.contains_key(&request) {
            self.held += 1;
            self.waiting.insert(request, at);
        }
    }

    /// Who was sent on last is gone.
    fn settle(&mut self) {
        if let Some((_, since, until)) = self.left.take() {
            self.waited.add(until.saturating_sub(since));
        }
    }

    /// Its client gave up on a request; it may be at the router.
    pub(super) fn cancelled(&mut self, at: u64, request: RequestId) {
        if let Some(since) = self.waiting.remove(&request) {
            self.waited.add(at.saturating_sub(since));
        }
    }

    /// How often a worker was chosen, for whatever leg.
    pub(crate) fn chosen(&self, worker: usize) -> u64 {
        self.chosen.get(worker).map_or(0, |legs| legs.iter().sum())
    }

    pub(crate) fn counts(&self, kind: &'static str) -> RouterCounts {
        let mut waited = self.waited.clone();
        // Who was sent on last is gone.
        if let Some((_, since, until)) = self.left {
            waited.add(until.saturating_sub(since));
        }
        RouterCounts {
            kind,
            decisions: self.decisions,
            by_leg: self.by_leg.clone(),
            by_replica: self.by_replica.values().copied().collect(),
            held: self.held,
            held_at_end: self.waiting.len() as u64,
            held_ns: waited.summary(),
            // Only a router that looks at caches believes something of them.
            belief: (kind == "kv_aware").then(|| self.belief.counts(self.decisions)),
            spread: LEGS
                .into_iter()
                .enumerate()
                .filter(|(_, leg)| self.by_leg.contains_key(leg.name()))
                .map(|(place, leg)| (leg.name(), self.spread(place, leg)))
                .collect(),
        }
    }

    /// How decisions for a leg lie over the workers that it could go to.
    fn spread(&self, place: usize, leg: Leg) -> RouterSpread {
        // Where prompts are computed by some and answered by others, who answers also computes whole requests.
        let whole = if self.roles.contains(&"whole") { "whole" } else { "decode" };
        let role = if leg == Leg::Whole { whole } else { leg.name() };
        let fits = self.roles.iter().zip(&self.chosen).filter(|(found, _)| **found == role);
        let counts: Vec<u64> = fits.map(|(_, chosen)| chosen[place]).collect();
        let (total, workers) = (counts.iter().sum::<u64>(), counts.len() as u64);
        let max = counts.iter().max().copied().unwrap_or(0);
        RouterSpread {
            workers,
            min: counts.iter().min().copied().unwrap_or(0),
            max,
            mean: ratio(total, workers),
            coefficient_of_variation: variation(&counts, total),
            largest_share: ratio(max, total),
        }
    }
}

/// Standard deviation by mean: n·Σx² − (Σx)² is an exact integer, and is rooted and divided once.
fn variation(counts: &[u64], total: u64) -> f64 {
    if total == 0 {
        return 0.0;
    }
    let squares: u128 = counts.iter().map(|&count| u128::from(count) * u128::from(count)).sum();
    let scaled = squares * counts.len() as u128 - u128::from(total) * u128::from(total);
    libm::sqrt(scaled as f64) / total as f64
}

impl Belief {
    fn add(&mut self, believed: Overlap, resident_g1_blocks: u32) {
        let tiers = [believed.g1_blocks, believed.g2_blocks, believed.g3_blocks, believed.g4_blocks];
        for (sum, blocks) in self.blocks.iter_mut().zip(tiers) {
            *sum += u64::from(blocks);
        }
        let phantom = u64::from(believed.g1_blocks.saturating_sub(resident_g1_blocks));
        let missing = u64::from(resident_g1_blocks.saturating_sub(believed.g1_blocks));
        self.resident_g1 += u64::from(resident_g1_blocks);
        self.phantom += phantom;
        self.missing += missing;
        self.decisions_with_phantom += u64::from(phantom > 0);
        self.decisions_with_missing += u64::from(missing > 0);
    }

    fn counts(&self, decisions: u64) -> RouterBelief {
        let [g1, g2, g3, g4] = self.blocks;
        RouterBelief {
            believed_g1_blocks: g1,
            believed_g2_blocks: g2,
            believed_g3_blocks: g3,
            believed_g4_blocks: g4,
            believed_blocks_mean: ratio(g1 + g2 + g3 + g4, decisions),
            resident_g1_blocks: self.resident_g1,
            resident_g1_blocks_mean: ratio(self.resident_g1, decisions),
            phantom_blocks: self.phantom,
            missing_blocks: self.missing,
            phantom_share: ratio(self.decisions_with_phantom, decisions),
            missing_share: ratio(self.decisions_with_missing, decisions),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: RequestId = RequestId(0);

    fn router(roles: &[&'static str]) -> Router {
        let setup = |&role: &&'static str| WorkerSetup { role, g1_blocks: 10, present: true };
        Router::new(&roles.iter().map(setup).collect::<Vec<_>>())
    }

    fn chosen(request: RequestId, worker: u16, leg: Leg, (believed, resident): (u32, u32)) -> RouteFact {
        RouteFact::Chosen {
            request,
            worker: WorkerId(worker),
            leg,
            replica: 0,
            candidates: 2,
            cost_milliblocks: 0,
            believed: Overlap { g1_blocks: believed, g2_blocks: 1, ..Overlap::default() },
            resident_g1_blocks: resident,
        }
    }

    #[test]
    fn what_was_believed_and_not_there_is_phantom() {
        let mut router = router(&["whole", "whole"]);
        for (request, worker, blocks) in [(0, 0, (5, 3)), (1, 0, (2, 6)), (2, 0, (4, 4)), (3, 1, (0, 0))] {
            router.take(0, chosen(RequestId(request), worker, Leg::Whole, blocks));
        }
        let counts = router.counts("kv_aware");
        let belief = counts.belief.expect("it looks at caches");
        assert_eq!((belief.phantom_blocks, belief.missing_blocks), (2, 4));
        assert_eq!((belief.phantom_share, belief.missing_share), (0.25, 0.25));
        assert_eq!((belief.believed_blocks_mean, belief.resident_g1_blocks_mean), (3.75, 3.25));
        let spread = counts.spread["whole"];
        assert_eq!((spread.workers, spread.min, spread.max), (2, 1, 3));
        // Deviation 1 by mean 2.
        assert_eq!((spread.coefficient_of_variation, spread.largest_share), (0.5, 0.75));
        assert_eq!(router.counts("round_robin").belief, None);
    }

    /// Under destination-first a request that finds who prefills and nobody who answers stays where it was.
    #[test]
    fn a_wait_goes_on_through_half_a_choice() {
        let held = |leg| RouteFact::Held { request: FIRST, leg };
        let mut router = router(&["prefill", "decode"]);
        router.take(10, held(Leg::Prefill));
        router.take(30, chosen(FIRST, 0, Leg::Prefill, (0, 0)));
        router.take(30, held(Leg::Decode));
        let counts = router.counts("round_robin");
        assert_eq!((counts.held, counts.held_at_end, counts.held_ns.count), (1, 1, 0));
        router.take(50, chosen(FIRST, 0, Leg::Prefill, (0, 0)));
        router.take(50, chosen(FIRST, 1, Leg::Decode, (0, 0)));
        let counts = router.counts("round_robin");
        assert_eq!((counts.held, counts.held_at_end, counts.held_ns.max), (1, 0, 40));
        router.take(60, held(Leg::Decode));
        router.cancelled(65, FIRST);
        let counts = router.counts("round_robin");
        assert_eq!((counts.held, counts.held_at_end, counts.held_ns.min), (2, 0, 5));
    }
}
