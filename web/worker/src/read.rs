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
            for (at, fact) in log.iter() {
                if let Fact::PassStarted(start) = fact {
                    series.push(Sample::of(at, start));
                }
            }
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
