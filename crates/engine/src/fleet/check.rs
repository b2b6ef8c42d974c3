//! Whole-state invariants over all workers (rules T9, H1, H3): what is held for a handoff is held for one that is
//! under way, and nothing is waited for that nobody will bring.

use std::collections::BTreeSet;

use tierscope_units::{Idx, RequestId, SimTime, WorkerId};

use super::{Fleet, Place, Worker};
use crate::lower::Tier;
use crate::request::Context;
use crate::router::{IndexCheck, RouterKind};

impl Fleet {
    /// Sweeps the whole state.
    ///
    /// # Errors
    ///
    /// The first broken invariant, in words.
    pub fn check(&self) -> Result<(), String> {
        for (at, worker) in self.workers.iter().enumerate() {
            worker.engine.check().map_err(|broken| format!("worker {at}: {broken}"))?;
            if self.router.is_some() {
                self.check_worker(WorkerId(at as u16), worker)?;
            }
        }
        self.check_shared()?;
        self.check_journeys()
    }

    /// Small states after every input, large ones now and then.
    #[cfg(debug_assertions)]
    pub(super) fn check_in_debug(&mut self) {
        if self.router.is_none() {
            // Its worker checks itself.
            return;
        }
        self.inputs += 1;
        let slots: u64 = self.workers.iter().map(|worker| u64::from(worker.engine.g1().capacity())).sum();
        let due = slots <= 256 || self.inputs.is_multiple_of(16 * slots);
        if due && let Err(broken) = self.check() {
            panic!("invariant violated after input {} of the fleet: {broken}", self.inputs);
        }
    }

    fn check_worker(&self, id: WorkerId, worker: &Worker) -> Result<(), String> {
        for &request in worker.engine.sources.keys() {
            let handoff = self.journeys.get(&request).and_then(|journey| journey.handoff);
            if handoff.is_none_or(|handoff| handoff.source != id || !handoff.is_held || !handoff.at_source) {
                return Err(format!(
                    "{id:?} holds the prompt of {request:?} for a handoff that is not there"
                ));
            }
        }
        for request in worker.engine.requests.ids() {
            let Some(live) = worker.engine.requests.find(request) else { continue };
            let r = worker.engine.requests.get(live);
            let Some(journey) = self.journeys.get(&request) else {
                return Err(format!("{request:?} is at {id:?}, and the fleet does not know it"));
            };
            let waits = matches!(r.context, Context::Elsewhere | Context::OnItsWay);
            let comes = journey.handoff.is_some_and(|handoff| handoff.destination == Some(id));
            let is_source = journey.handoff.is_some_and(|handoff| handoff.source == id && handoff.at_source);
            if waits && !comes {
                return Err(format!("{request:?} waits at {id:?} for a context that nobody brings"));
            }
            if journey.place != Place::At(id) && !comes && !is_source {
                return Err(format!("{request:?} is at {id:?}, and the fleet looks for it elsewhere"));
            }
        }
        Ok(())
    }

    fn check_journeys(&self) -> Result<(), String> {
        let mut leases = BTreeSet::new();
        for (&request, journey) in &self.journeys {
            if let Some(until) = journey.handoff.and_then(|handoff| handoff.lease_until) {
                leases.insert((until, request));
            }
            let is_held = matches!(journey.place, Place::AtRouter(_));
            if is_held != self.held.contains(&request) {
                return Err(format!(
                    "{request:?} is at {:?}, and the router's line says otherwise",
                    journey.place
                ));
            }
            match (journey.place, journey.handoff) {
                (Place::Between, None) => return Err(format!("{request:?} is between workers for nothing")),
                (Place::Ended, None) => return Err(format!("{request:?} has ended and is kept")),
                (Place::At(worker), _) if !self.workers[worker.index()].engine.is_live(request) => {
                    return Err(format!("{request:?} should be at {worker:?} and is not"));
                }
                _ => {}
            }
        }
        if leases != self.leases {
            return Err("the timers of handoffs are not those of the handoffs under way".into());
        }
        Ok(())
    }

    /// Blocks that are held or promised for handoffs, over all workers: none when none is under way (rule H3).
    pub fn held_for_handoffs(&self) -> usize {
        let on_their_way = |worker: &Worker| {
            let requests = &worker.engine.requests;
            let waiting = move |request: RequestId| {
                let live = requests.find(request)?;
                let r = requests.get(live);
                (r.context == Context::OnItsWay).then_some(r.blocks.len())
            };
            worker.engine.requests.ids().filter_map(waiting).sum::<usize>()
        };
        self.workers
            .iter()
            .map(|worker| worker.engine.held_for_handoffs().count() + on_their_way(worker))
            .sum()
    }

    /// What the router believes against what the workers have: as it is now, or once everything that has been told has
    /// reached it. Then both figures are 0, unless a worker keeps events back until its pass ends (rule H6).
    pub fn check_index(&mut self, now: SimTime, settled: bool) -> IndexCheck {
        let tiers = [Tier::G1, Tier::G2, Tier::G3, Tier::G4];
        let (self_shared, config) = (&self.shared, &self.config);
        let truth = self.workers.iter().enumerate().flat_map(|(at, worker)| {
            let id = WorkerId(at as u16);
            let of = move |tier| {
                let shared = match tier {
                    Tier::G1 | Tier::G2 => None,
                    tier => self_shared.tier(tier, config.host_of(at)),
                };
                worker.engine.resident_in(tier, shared).map(move |hash| (id, tier, hash))
            };
            tiers.into_iter().flat_map(of)
        });
        match &mut self.router {
            None => IndexCheck::default(),
            // The others are told nothing.
            Some(router) if router.config().kind != RouterKind::KvAware => IndexCheck::default(),
            Some(router) if settled => router.check_settled(truth),
            Some(router) => router.check(now, truth),
        }
    }
}
