//! The one thing a run feeds: every fact once, in order.

use tierscope_engine::{Fact, FactLog};
use tierscope_units::{Digest, Digester, SimTime, WorkerId};

use crate::below::Below;
use crate::fleet::{Fleet, is_gone};
use crate::infinite::InfiniteCache;
use crate::occupied::Occupied;
use crate::report::{Census, Header, Outcome, Report};
use crate::requests::{self, FactSummary, Requests, Row};
use crate::series::{BelowSample, Cdf, cdf};
use crate::{RequestFate, canonical};

/// What the folds are told before the first fact.
#[derive(Clone, Debug, Default)]
pub struct FoldSetup {
    /// Latencies that a request must meet to count as goodput.
    pub slo: Option<SloLimits>,
    /// Tokens per block.
    pub block_size_tokens: u32,
    /// Blocks of G1, over all workers.
    pub g1_blocks: u32,
    /// Blocks of G2, G3 and G4: of all workers' G2 together, of all hosts' G3, of the one G4. 0 where there is no such
    /// tier.
    pub tier_blocks: [u32; 3],
    /// Bytes of one block's KV.
    pub kv_bytes_per_block: u64,
    /// Requests of the workload. Those that never arrive count as unfinished.
    pub requests: u32,
    /// Each of several workers; empty for one alone.
    pub workers: Vec<WorkerSetup>,
    /// How their router chooses.
    pub router: &'static str,
}

/// What is known of one of several workers before the first fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkerSetup {
    /// What it does: `whole`, `prefill` or `decode`.
    pub role: &'static str,
    /// Blocks of its G1.
    pub g1_blocks: u32,
    /// Whether it is there from the beginning.
    pub present: bool,
}

/// Limits of a service level; each holds for every request by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, serde::Serialize)]
pub struct SloLimits {
    /// Longest time to first token, in nanoseconds.
    pub ttft_ns: Option<u64>,
    /// Longest inter-token latency, in nanoseconds; a single-token request meets it.
    pub itl_ns: Option<u64>,
    /// Longest time from arrival to the last token, in nanoseconds.
    pub e2e_ns: Option<u64>,
}

impl SloLimits {
    pub(crate) fn met_by(&self, row: &Row) -> bool {
        let within = |limit: Option<u64>, found: Option<u64>| match (limit, found) {
            (Some(limit), Some(found)) => found <= limit,
            _ => true,
        };
        within(self.ttft_ns, row.ttft_ns())
            && within(self.itl_ns, row.itl_ns())
            && within(self.e2e_ns, row.e2e_ns())
    }
}

/// Sums that belong to no single request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sums {
    /// The last fact about a request or a pass: what goes on behind them, copies and leases, delays no answer.
    pub(crate) last_ns: u64,
    pub(crate) last_fact_ns: u64,
    pub(crate) passes: u64,
    pub(crate) preemptions: u64,
    pub(crate) recomputed_tokens: u64,
    pub(crate) prefilled_tokens: u64,
    pub(crate) stored_blocks: u64,
    pub(crate) removed_blocks: u64,
    pub(crate) active_max: u32,
    pub(crate) cached_max: u32,
    pub(crate) source_hold_max: u32,
    /// The state of G1 as the newest pass of each worker began.
    pub(crate) g1: Occupied,
}

/// Digest, metrics and series of a run so far.
#[derive(Clone, Debug)]
pub struct Folds {
    pub(crate) setup: FoldSetup,
    pub(crate) requests: Requests,
    pub(crate) sums: Sums,
    pub(crate) below: Below,
    /// Only where several workers are told of.
    pub(crate) fleet: Option<Fleet>,
    /// Whose facts were read last.
    worker: Option<WorkerId>,
    digester: Digester,
}

impl Folds {
    /// Folds over nothing yet.
    pub fn new(setup: &FoldSetup) -> Self {
        Self {
            setup: setup.clone(),
            requests: Requests::new(setup.requests),
            sums: Sums::default(),
            below: Below::new(setup.workers.len()),
            fleet: (!setup.workers.is_empty()).then(|| Fleet::new(&setup.workers)),
            worker: None,
            digester: Digester::default(),
        }
    }

    /// The tiers have other sizes from now on.
    pub fn resize(&mut self, g1_blocks: u32, tier_blocks: [u32; 3], workers: Vec<WorkerSetup>) {
        self.setup.g1_blocks = g1_blocks;
        self.setup.tier_blocks = tier_blocks;
        if let Some(fleet) = &mut self.fleet {
            fleet.resize(&workers);
        }
        self.setup.workers = workers;
    }

    /// Reads all facts of a log. The caller clears it.
    pub fn take(&mut self, log: &FactLog) {
        if self.worker != log.worker() {
            self.worker = log.worker();
            canonical::fleet::turn(self.worker, &mut self.digester);
        }
        for (at, fact) in log.iter() {
            self.take_fact(at, fact, log);
        }
    }

    /// Reads one fact; its block lists lie in `log`.
    pub fn take_fact(&mut self, at: SimTime, fact: &Fact, log: &FactLog) {
        canonical::encode(at, fact, log, &mut self.digester);
        if let Some(fleet) = &mut self.fleet {
            let asked = match fact {
                Fact::Admitted { request, .. } => self.requests.need_tokens(*request),
                _ => 0,
            };
            fleet.take(at, log.worker(), fact, asked);
        }
        let (sums, worker) = (&mut self.sums, log.worker());
        sums.last_fact_ns = at.as_ns();
        if !is_background(fact) {
            sums.last_ns = at.as_ns();
        }
        match fact {
            Fact::PassStarted(start) => {
                let all = sums.g1.start(start);
                sums.passes += 1;
                sums.active_max = sums.active_max.max(all.active);
                sums.cached_max = sums.cached_max.max(all.cached);
                sums.source_hold_max = sums.source_hold_max.max(all.source_hold);
            }
            Fact::PassEnded { .. } | Fact::Acquired { .. } | Fact::CapacityExhausted { .. } => {}
            Fact::Stored { blocks, .. } | Fact::ClaimActivated { blocks, .. } => {
                sums.stored_blocks += u64::from(blocks.len())
            }
            Fact::Removed { blocks } => sums.removed_blocks += u64::from(blocks.len()),
            Fact::Prefilled { request, tokens, computed_before, recomputed } => {
                sums.prefilled_tokens += u64::from(*tokens);
                sums.recomputed_tokens += u64::from(*recomputed);
                self.requests.prefilled(*request, computed_before.saturating_add(*tokens));
            }
            Fact::Preempted { .. } => {
                sums.preemptions += 1;
                requests::take(&mut self.requests, at, fact);
            }
            Fact::OnboardStarted { .. }
            | Fact::OnboardEnded { .. }
            | Fact::WaitsForCopy { .. }
            | Fact::BlockedOnOffload { .. }
            | Fact::Unblocked { .. } => self.below.take(at, worker, fact),
            Fact::Cancelled { .. } | Fact::Withdrawn { .. } => {
                self.below.take(at, worker, fact);
                requests::take(&mut self.requests, at, fact);
            }
            Fact::Worker { worker, state } if is_gone(*state) => {
                sums.g1.gone(*worker);
                self.below.gone(at, *worker);
            }
            fact if is_background(fact) => self.below.take(at, worker, fact),
            _ => requests::take(&mut self.requests, at, fact),
        }
    }

    /// The digest of the facts so far (rule E4).
    pub fn digest(&self) -> Digest {
        self.digester.finish()
    }

    /// What expectations may ask about requests.
    pub fn summary(&self) -> FactSummary {
        self.requests.summary()
    }

    /// What lay below G1 and what moved, over time; empty where nothing ever moved.
    pub fn below(&self) -> &[BelowSample] {
        self.below.series()
    }

    /// Distributions of the latencies of completed requests.
    pub fn latency_cdf(&self) -> Cdf {
        Cdf {
            ttft_ns: cdf(&self.latencies(Row::ttft_ns)),
            itl_ns: cdf(&self.latencies(Row::itl_ns)),
            e2e_ns: cdf(&self.latencies(Row::e2e_ns)),
        }
    }

    /// The report of the facts so far.
    pub fn report(
        &self,
        header: Header,
        outcome: Outcome,
        infinite: InfiniteCache,
        census: Option<&Census>,
    ) -> Report {
        Report::new(self, header, outcome, infinite, census)
    }

    /// One latency of every completed request that has it, ascending.
    pub(crate) fn latencies(&self, metric: impl Fn(&Row) -> Option<u64>) -> Vec<u64> {
        let completed = self.requests.rows().iter().filter(|row| row.fate == RequestFate::Completed);
        let mut values: Vec<u64> = completed.filter_map(metric).collect();
        values.sort_unstable();
        values
    }
}

/// Facts about what goes on behind requests and passes.
fn is_background(fact: &Fact) -> bool {
    matches!(
        fact,
        Fact::CopyQueued { .. }
            | Fact::CopyStarted { .. }
            | Fact::CopyRetried { .. }
            | Fact::CopyFlushed { .. }
            | Fact::CopyEnded { .. }
            | Fact::TierStored { .. }
            | Fact::TierRemoved { .. }
            | Fact::Leased { .. }
            | Fact::LeaseEnded { .. }
            | Fact::SourceReleased { .. }
            | Fact::Withdrawn { .. }
            | Fact::Handoff(_)
            | Fact::Worker { .. }
    )
}
