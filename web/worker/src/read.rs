//! What is read off a run's facts as it goes on, each worker's apart: transactions, occupancy, copies, and what goes on
//! between workers.

use tierscope_engine::{Fact, FactLog, Fleet};
use tierscope_report::{Sample, Thinned};
use tierscope_units::{Idx, WorkerId};

use crate::between::Between;
use crate::copies::Copies;
use crate::ledger::Ledger;

/// The indices of a run.
#[derive(Debug)]
pub struct Read {
    /// By worker: its transactions.
    ledgers: Vec<Ledger>,
    /// By worker: its G1 and its queues, as passes begin.
    occupancies: Vec<Thinned<Sample>>,
    /// Copies between tiers, of all workers.
    pub copies: Copies,
    /// Between workers.
    pub between: Between,
}

impl Read {
    /// Of a run that has not begun.
    pub fn new(fleet: &Fleet) -> Self {
        let workers = fleet.workers().len();
        Self {
            ledgers: (0..workers).map(|_| Ledger::of_one_in(workers)).collect(),
            occupancies: vec![Thinned::default(); workers],
            copies: Copies::default(),
            between: Between::default(),
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
            log.iter().filter_map(|(at, fact)| sample(at.as_ns(), fact)).for_each(|one| series.push(one));
        }
        self.copies.take(log);
        self.between.take(log);
    }

    /// A worker's transactions.
    pub fn ledger(&self, worker: WorkerId) -> &Ledger {
        &self.ledgers[worker.index()]
    }

    /// A worker's occupancy over time.
    pub fn occupancy(&self, worker: WorkerId) -> &[Sample] {
        self.occupancies[worker.index()].samples()
    }
}

fn sample(at_ns: u64, fact: &Fact) -> Option<Sample> {
    let Fact::PassStarted(start) = fact else { return None };
    Some(Sample {
        at_ns,
        active: start.g1.active,
        cached: start.g1.cached,
        free: start.g1.free,
        waiting: start.waiting,
        running: start.prefill_rows + start.decode_rows,
    })
}
