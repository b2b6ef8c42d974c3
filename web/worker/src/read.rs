//! What is read off a run's facts as it goes on, each worker's apart: transactions, occupancy, copies, and what goes on
//! between workers.

use tierscope_engine::{Fact, FactLog, Fleet};
use tierscope_report::{Sample, Thinned};
use tierscope_sim::Simulation;
use tierscope_units::{Idx, RequestId, SimTime, WorkerId};

use crate::between::Between;
use crate::copies::Copies;
use crate::hits::Hits;
use crate::ledger::Ledger;
use crate::lives::Lives;
use crate::story::Story;
use crate::tracks::Index;

/// The indices of a run.
#[derive(Debug)]
pub struct Read {
    /// By worker: its transactions.
    ledgers: Vec<Ledger>,
    /// By worker: its G1 and its queues, as passes begin, and whenever something happens while none is under way.
    occupancies: Vec<Thinned<Sample>>,
    /// Workers of whom something was said at this instant.
    touched: Vec<WorkerId>,
    /// Copies between tiers, of all workers.
    pub copies: Copies,
    /// Between workers.
    pub between: Between,
    /// What the timeline is drawn from.
    pub tracks: Index,
    /// Hits of first admissions.
    pub hits: Hits,
    /// What became of each request.
    pub lives: Lives,
    /// What happened to the contents of blocks.
    pub story: Story,
}

impl Read {
    /// Of a run that has not begun.
    pub fn new(fleet: &Fleet) -> Self {
        let workers = fleet.workers().len();
        Self {
            ledgers: (0..workers).map(|_| Ledger::of_one_in(workers)).collect(),
            occupancies: vec![Thinned::default(); workers],
            touched: Vec::new(),
            copies: Copies::default(),
            between: Between::default(),
            tracks: Index::new(workers),
            hits: Hits::default(),
            lives: Lives::default(),
            story: Story::default(),
        }
    }

    /// Enters what the facts say.
    pub fn take(&mut self, log: &FactLog) {
        // The fleet's own facts are of no worker's slots, passes or transactions.
        let worker = log.worker().unwrap_or_default();
        if let Some(ledger) = self.ledgers.get_mut(worker.index()) {
            ledger.take(log);
        }
        if let Some(series) = self.occupancies.get_mut(worker.index()) {
            if self.touched.last() != Some(&worker) {
                self.touched.push(worker);
            }
            for (at, fact) in log.iter() {
                if let Fact::PassStarted(start) = fact {
                    series.push(Sample::of(at, start));
                }
            }
        }
        self.copies.take(log);
        self.between.take(log);
        self.tracks.take(log);
        self.hits.take(log);
        self.lives.take(log);
        self.story.take(log);
    }

    /// An instant is over: of workers that rest, no pass says how they stand.
    pub fn settle(&mut self, simulation: &Simulation) {
        for worker in self.touched.drain(..) {
            let engine = simulation.fleet().worker(worker);
            if engine.pass_under_way().is_none() {
                self.occupancies[worker.index()].push(at_rest(simulation, worker));
            }
        }
    }

    /// A worker's transactions.
    pub fn ledger(&self, worker: WorkerId) -> &Ledger {
        &self.ledgers[worker.index()]
    }

    /// The transactions of all workers, by their number.
    pub fn ledgers(&self) -> &[Ledger] {
        &self.ledgers
    }

    /// Of all workers: admissions whose prompt began with more blocks in G1 than so many.
    pub fn admissions_beyond(&self, blocks: u32) -> impl Iterator<Item = (WorkerId, SimTime, RequestId)> {
        self.ledgers.iter().enumerate().flat_map(move |(worker, ledger)| {
            let admissions = ledger.admissions_beyond(blocks);
            admissions.map(move |(at, request)| (WorkerId(worker as u16), at, request))
        })
    }

    /// A worker's occupancy over time.
    pub fn occupancy(&self, worker: WorkerId) -> &[Sample] {
        self.occupancies[worker.index()].samples()
    }
}

/// A worker's G1 and queues as they stand.
pub fn at_rest(simulation: &Simulation, worker: WorkerId) -> Sample {
    let engine = simulation.fleet().worker(worker);
    let (g1, (running, waiting)) = (engine.g1().occupancy(), engine.queue_lengths());
    Sample {
        at_ns: simulation.now().as_ns(),
        active: g1.active,
        cached: g1.cached,
        free: g1.free,
        waiting: waiting as u32,
        running: running as u32,
    }
}
