//! Several workers, folded: what each did, where the router sent requests, and how handoffs went.

mod handoffs;
mod router;
mod worker;

use std::collections::BTreeMap;

use tierscope_engine::{Fact, WorkerState};
use tierscope_units::{Idx, SimTime, WorkerId};

use crate::folds::WorkerSetup;
use handoffs::Handoffs;
use router::Router;
pub(crate) use worker::WorkerFold;

/// All workers, and what is between them, so far.
#[derive(Clone, Debug)]
pub(crate) struct Fleet {
    pub(crate) workers: Vec<WorkerFold>,
    pub(crate) router: Router,
    pub(crate) handoffs: Handoffs,
}

impl Fleet {
    pub(crate) fn new(workers: &[WorkerSetup]) -> Self {
        Self {
            workers: workers.iter().map(WorkerFold::new).collect(),
            router: Router::new(workers),
            handoffs: Handoffs::default(),
        }
    }

    /// The workers have other sizes from now on.
    pub(crate) fn resize(&mut self, workers: &[WorkerSetup]) {
        for (fold, setup) in self.workers.iter_mut().zip(workers) {
            fold.g1.capacity_blocks = setup.g1_blocks;
        }
    }

    /// Reads a fact of a worker, or of none alone; `asked_tokens` is what its request has to have at an admission.
    pub(crate) fn take(&mut self, at: SimTime, worker: Option<WorkerId>, fact: &Fact, asked_tokens: u32) {
        let at = at.as_ns();
        match *fact {
            Fact::Route(route) => self.router.take(at, route),
            Fact::Handoff(handoff) => self.handoffs.take(at, handoff),
            Fact::Worker { worker, state } => {
                let Some(fold) = self.workers.get_mut(worker.index()) else { return };
                fold.becomes(at, state);
            }
            Fact::Cancelled { request, .. } => {
                self.router.cancelled(at, request);
                self.handoffs.request_ended(request);
            }
            Fact::Finished { request, .. } => self.handoffs.request_ended(request),
            Fact::SourceHeld { request, .. } => self.handoffs.prompt_held(at, request),
            Fact::Prefilled { request, tokens, .. } => self.handoffs.prefilled(request, tokens),
            _ => {}
        }
        if let Some(fold) = worker.and_then(|worker| self.workers.get_mut(worker.index())) {
            fold.take(at, fact, asked_tokens);
        }
    }
}

/// Whether a worker in this state holds nothing any more.
pub(crate) fn is_gone(state: WorkerState) -> bool {
    matches!(state, WorkerState::Absent | WorkerState::Lost)
}

/// Counts by a word.
pub(crate) type ByWord = BTreeMap<&'static str, u64>;
