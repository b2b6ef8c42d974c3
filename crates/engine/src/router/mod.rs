//! Which worker takes a request? One router in front of many workers, perhaps as several replicas (rule H6).
//!
//! It knows workers by what they tell: an index of content, built from `Stored` and `Removed` events only, and books of
//! requests sent and not yet ended. Both may lag behind the truth by the delays of [`RouterConfig`]; [`Router::check`]
//! says by how much. Invariants:
//! - it holds no clock and draws nothing: time and random words are arguments (rule E1);
//! - what it believes at a time does not depend on whether it was asked before;
//! - loads are whole blocks, and costs are made anew for each decision, so nothing accumulates in floats (rule E3);
//! - memory follows what is resident, booked or under way, never how many requests there were.
//!
//! Deliberately absent: when events leave a worker ([`Publish`] is the fleet's to obey), handoffs, and queueing.

mod ask;
mod backlog;
mod check;
mod config;
mod cost;
mod index;
mod place;
mod replicas;
mod roster;
#[cfg(test)]
mod tests;
mod view;
mod walk;
mod wide;

use tierscope_units::{RequestId, SequenceHash, SimTime, WorkerId};

pub use ask::{Ask, CacheEvent, Choice, Futile, IndexCheck, Overlap, Stage, WorkerStage};
pub use config::{CostTerms, Expiry, Publish, REPLICAS_MAX, RouterConfig, RouterKind};

use backlog::Backlog;
use cost::Formula;
use index::Index;
use place::Hosts;
use replicas::{News, Replicas};
use roster::Roster;
use view::Order;
use walk::Walk;

/// A router. Times may not run backwards; one that does counts as the latest seen.
#[derive(Clone, Debug)]
pub struct Router {
    config: RouterConfig,
    now: SimTime,
    index: Index,
    backlog: Backlog,
    replicas: Replicas,
    roster: Roster,
    /// Whom each replica chose last for each stage, in turn.
    turns: Vec<[Option<u16>; Stage::COUNT]>,
    futile: Futile,
    walk: Walk,
    /// A bit for each worker; used for one at a time.
    one: Vec<u64>,
    costs: Vec<f64>,
    /// All zero between decisions.
    credit: Vec<f64>,
    weights: Vec<f64>,
}

impl Router {
    /// A router of `workers` workers, none of which has joined. `host_of` names each worker's host by any number:
    /// workers of one host share G3. A worker beyond its end is alone on its host. There are at most 65,536 workers
    /// and [`REPLICAS_MAX`] replicas; more count as these.
    pub fn new(config: RouterConfig, workers: u32, host_of: Vec<u32>) -> Self {
        let config = RouterConfig {
            replicas: config.replicas.clamp(1, REPLICAS_MAX),
            cost: config.cost.bounded(),
            ..config
        };
        let index = Index::new(Hosts::new(workers, &host_of));
        let (workers, words) = (index.hosts.workers(), index.words());
        Self {
            now: SimTime::ZERO,
            backlog: Backlog::default(),
            replicas: Replicas::new(&config, workers),
            roster: Roster::new(workers, words),
            turns: vec![[None; Stage::COUNT]; config.replicas as usize],
            futile: Futile::default(),
            walk: Walk::new(words),
            one: vec![0; words],
            costs: vec![0.0; workers],
            credit: vec![0.0; workers],
            weights: Vec::new(),
            index,
            config,
        }
    }

    /// What it was told, within bounds.
    pub fn config(&self) -> &RouterConfig {
        &self.config
    }

    /// What it was told in vain so far.
    pub fn futile(&self) -> Futile {
        Futile { expired: self.replicas.expired(), ..self.futile }
    }

    /// A worker becomes a candidate for questions of this stage, and for no others.
    pub fn join(&mut self, now: SimTime, worker: WorkerId, stage: WorkerStage) {
        self.advance(now);
        if self.knows(worker) {
            self.roster.set(worker, Some(stage));
        }
    }

    /// A worker is no candidate any more. What it holds and serves stays known.
    pub fn leave(&mut self, now: SimTime, worker: WorkerId) {
        self.advance(now);
        if self.knows(worker) {
            self.roster.set(worker, None);
        }
    }

    /// A worker is lost: it is no candidate, what it held in G1 and G2 and what was booked on it go at once, at every
    /// replica, and its news under way about these never arrives. G3 and G4 outlive it. It may join again.
    pub fn forget(&mut self, now: SimTime, worker: WorkerId) {
        let now = self.advance(now);
        if self.knows(worker) {
            self.receive(now);
            self.roster.set(worker, None);
            self.index.clear(worker);
            self.backlog.void(worker);
            self.replicas.forget(now, worker);
        }
    }

    /// A worker tells what it holds. All replicas see it after the event delay.
    pub fn publish(&mut self, now: SimTime, worker: WorkerId, event: CacheEvent<'_>) {
        let now = self.advance(now);
        if !self.knows(worker) {
            return;
        }
        let due = now.checked_add(self.config.event_delay).unwrap_or(SimTime::from_ns(u64::MAX));
        self.backlog.send(due, &self.index, worker, event);
        self.receive(now);
    }

    /// Chooses a worker and books the request on it; `None` if there is no candidate. A request that is routed again for
    /// the same stage moves.
    pub fn route(&mut self, now: SimTime, ask: &Ask<'_>) -> Option<Choice> {
        let now = self.advance(now);
        self.receive(now);
        let replica = self.replicas.of(ask.request);
        let (worker, cost, overlap) = match self.config.kind {
            RouterKind::KvAware if ask.stage != Stage::Decode => self.cheapest(now, replica, ask)?,
            kind => {
                let worker = match kind {
                    RouterKind::RoundRobin => self.in_turn(replica, ask.stage)?,
                    RouterKind::LeastLoaded => self.least_loaded(now, replica, ask.stage)?,
                    RouterKind::KvAware => self.cheapest(now, replica, ask)?.0,
                };
                let overlap = self.reach_of(worker, ask.hashes);
                (worker, self.cost_of(now, replica, ask, (worker, overlap)), overlap)
            }
        };
        let worker = WorkerId(worker);
        let order = Order {
            request: ask.request,
            stage: ask.stage,
            worker,
            prefill: cost::own_prefill(&self.config.cost, ask, overlap),
            blocks: cost::own_blocks(ask),
        };
        self.replicas.book(now, order);
        let candidates = self.roster.count(ask.stage);
        Some(Choice { worker, replica, cost_milliblocks: cost::milliblocks(cost), overlap, candidates })
    }

    /// A request's first token was seen: its prefill is no load any more, and a prefill worker is done with it.
    pub fn prefilled(&mut self, now: SimTime, request: RequestId) {
        let now = self.advance(now);
        let meant = self.replicas.tell(now, request, News::Prefilled(request));
        self.futile.unknown_request += u64::from(!meant);
    }

    /// A request is over, however it ended: it is booked nowhere.
    pub fn ended(&mut self, now: SimTime, request: RequestId) {
        let now = self.advance(now);
        let meant = self.replicas.tell(now, request, News::Ended(request));
        self.futile.unknown_request += u64::from(!meant);
    }

    /// What the router believes that a worker can reach of a prompt.
    pub fn believed(&mut self, now: SimTime, worker: WorkerId, hashes: &[SequenceHash]) -> Overlap {
        let now = self.advance(now);
        self.receive(now);
        if !self.knows(worker) {
            return Overlap::default();
        }
        self.reach_of(worker.0, hashes)
    }

    /// Roughly the memory of a copy, in bytes.
    pub(crate) fn state_bytes(&self) -> usize {
        self.index.state_bytes() + self.costs.len() * 24
    }

    fn advance(&mut self, now: SimTime) -> SimTime {
        self.now = self.now.max(now);
        self.now
    }

    fn knows(&mut self, worker: WorkerId) -> bool {
        let known = self.index.hosts.has(worker);
        self.futile.unknown_worker += u64::from(!known);
        known
    }

    fn receive(&mut self, now: SimTime) {
        self.backlog.deliver(now, &mut self.index, &mut self.futile);
    }

    fn reach_of(&mut self, worker: u16, hashes: &[SequenceHash]) -> Overlap {
        index::set_bit(&mut self.one, usize::from(worker), true);
        self.walk.run(&self.index, &self.one, hashes);
        index::set_bit(&mut self.one, usize::from(worker), false);
        let overlap = self.walk.overlap(worker);
        self.walk.clear(&mut []);
        overlap
    }

    fn in_turn(&mut self, replica: u32, stage: Stage) -> Option<u16> {
        let last = &mut self.turns[replica as usize][stage.index()];
        let next = self.roster.next(stage, *last)?;
        *last = Some(next);
        Some(next)
    }

    fn least_loaded(&mut self, now: SimTime, replica: u32, stage: Stage) -> Option<u16> {
        let view = self.replicas.view(now, replica);
        wide::ones(self.roster.candidates(stage)).min_by_key(|&worker| {
            let load = view.load(worker);
            (load.active, load.blocks, worker)
        })
    }

    fn cheapest(&mut self, now: SimTime, replica: u32, ask: &Ask<'_>) -> Option<(u16, f64, Overlap)> {
        let candidates = self.roster.candidates(ask.stage);
        let view = self.replicas.view(now, replica);
        let formula = Formula::new(self.config.cost, ask, view, candidates);
        let hashes = if ask.stage == Stage::Decode { &[] } else { ask.hashes };
        self.walk.run(&self.index, candidates, hashes);
        let credit = &mut self.credit;
        self.walk.visit(|worker, overlap| {
            credit[usize::from(worker)] = formula.credit(view, worker, overlap);
        });
        formula.costs(view, &self.credit, self.roster.handicaps(ask.stage), &mut self.costs);
        let temperature = self.config.cost.temperature;
        let chosen = if temperature > 0.0 {
            cost::drawn(&self.costs, temperature, ask.draw, &mut self.weights)
        } else {
            cost::lowest(&self.costs, view)
        };
        let overlap = chosen.map(|worker| self.walk.overlap(worker));
        self.walk.clear(&mut self.credit);
        let worker = chosen?;
        Some((worker, self.costs[usize::from(worker)], overlap?))
    }

    fn cost_of(
        &mut self,
        now: SimTime,
        replica: u32,
        ask: &Ask<'_>,
        (worker, overlap): (u16, Overlap),
    ) -> f64 {
        let view = self.replicas.view(now, replica);
        let formula = Formula::new(self.config.cost, ask, view, self.roster.candidates(ask.stage));
        formula.cost_of(view, worker, formula.credit(view, worker, overlap))
    }
}
