//! From folds to the report: the sums and divisions, in one place.
//!
//! Ratios and rates are one division of exact integers each.

use std::collections::BTreeMap;

use tierscope_units::time::NS_PER_S;

use crate::below::Clock;
use crate::fleet::WorkerFold;
use crate::folds::{Folds, WorkerSetup};
use crate::infinite::InfiniteCache;
use crate::rejection::Rejected;
use crate::report::{
    Census, HIT_RATIO_DEFINITION, HandoffCounts, Header, HitRatio, LaneCounts, Latency, LoadCounts, Outcome,
    Report, RequestCounts, Throughput, TierCounts, TierHits, Tiers, TokenCounts, WorkerCounts,
};
use crate::requests::{RequestFate, Row};
use crate::statistics::Summary;

impl Report {
    pub(crate) fn new(
        folds: &Folds,
        header: Header,
        outcome: Outcome,
        infinite: InfiniteCache,
        census: Option<&Census>,
    ) -> Self {
        let census = census.cloned().unwrap_or_default();
        let makespan_ns = makespan(folds);
        Self {
            tierscope: header.version,
            title: header.title,
            scenario_hash: header.scenario_hash,
            seed: header.seed,
            digest: folds.digest().to_string(),
            timing_model: header.timing_model,
            outcome,
            makespan_ns,
            requests: request_counts(folds),
            tokens: token_counts(folds),
            latency: latency(folds),
            throughput: throughput(folds, makespan_ns),
            slo: folds.setup.slo,
            hit_ratio: hit_ratio(folds, infinite),
            preemptions: folds.sums.preemptions,
            passes: folds.sums.passes,
            block_size_tokens: folds.setup.block_size_tokens,
            tiers: tiers(folds),
            lanes: lanes(folds),
            loads: loads(folds),
            workers: workers(folds, makespan_ns),
            router: folds.fleet.as_ref().map(|fleet| fleet.router.counts(folds.setup.router)),
            handoffs: handoffs(folds),
            rejected: rejected(folds),
            census: census.rows,
            wait_cycle: census.wait_cycle,
        }
    }
}

/// A share of a whole, zero when there is no whole.
pub(crate) fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn makespan(folds: &Folds) -> u64 {
    let from = folds.requests.first_arrival_ns();
    from.map_or(0, |from| folds.sums.last_ns.saturating_sub(from))
}

fn count(folds: &Folds, fate: RequestFate) -> u64 {
    folds.requests.rows().iter().filter(|row| row.fate == fate).count() as u64
}

fn request_counts(folds: &Folds) -> RequestCounts {
    RequestCounts {
        total: folds.requests.rows().len() as u64,
        completed: count(folds, RequestFate::Completed),
        rejected: count(folds, RequestFate::Rejected),
        cancelled: count(folds, RequestFate::Cancelled),
        failed: 0,
        unfinished: count(folds, RequestFate::Unfinished) + count(folds, RequestFate::Expected),
    }
}

fn token_counts(folds: &Folds) -> TokenCounts {
    let rows = folds.requests.rows().iter().filter(|row| row.fate != RequestFate::Rejected);
    let [loaded_g2, loaded_g3, loaded_g4] = folds.requests.first_admission.loaded_tokens;
    let mut tokens = TokenCounts {
        loaded_g2,
        loaded_g3,
        loaded_g4,
        cached: folds.requests.first_admission.cached_tokens,
        recomputed: folds.sums.recomputed_tokens,
        cached_readmission: folds.requests.readmission.cached_tokens,
        prefilled: folds.sums.prefilled_tokens,
        ..TokenCounts::default()
    };
    for row in rows {
        tokens.input += u64::from(row.prompt_tokens);
        tokens.output += u64::from(row.output_tokens);
    }
    tokens
}

fn latency(folds: &Folds) -> Latency {
    let summary = |metric: fn(&Row) -> Option<u64>| Summary::of_sorted(&folds.latencies(metric));
    let itl_ns = summary(Row::itl_ns);
    Latency {
        ttft_ns: summary(Row::ttft_ns),
        ttst_ns: summary(Row::ttst_ns),
        itl_ns,
        tpot_ns: itl_ns,
        e2e_ns: summary(Row::e2e_ns),
    }
}

fn throughput(folds: &Folds, makespan_ns: u64) -> Throughput {
    let completed = || folds.requests.rows().iter().filter(|row| row.fate == RequestFate::Completed);
    let good = completed().filter(|row| folds.setup.slo.is_none_or(|slo| slo.met_by(row))).count() as u64;
    let per_s = |count: u64| match makespan_ns {
        0 => 0.0,
        // Exact in integers up to the one division.
        _ => (u128::from(count) * u128::from(NS_PER_S)) as f64 / makespan_ns as f64,
    };
    Throughput {
        output_tokens_per_s: per_s(token_counts(folds).output),
        requests_per_s: per_s(completed().count() as u64),
        goodput_requests_per_s: per_s(good),
    }
}

fn hit_ratio(folds: &Folds, infinite: InfiniteCache) -> HitRatio {
    let first = folds.requests.first_admission;
    let again = folds.requests.readmission;
    let share = |tokens: u64| ratio(tokens, first.asked_tokens);
    let [g2, g3, g4] = first.loaded_tokens;
    let first_admission = TierHits {
        g1: share(first.cached_tokens.saturating_sub(g2 + g3 + g4)),
        g2: share(g2),
        g3: share(g3),
        g4: share(g4),
        total: share(first.cached_tokens),
    };
    HitRatio {
        definition: HIT_RATIO_DEFINITION,
        first_admission,
        readmission: ratio(again.cached_tokens, again.asked_tokens),
        infinite_cache: infinite.ratio(),
    }
}

fn tiers(folds: &Folds) -> Tiers {
    let [g2, g3, g4] = folds.below.tiers(folds.setup.tier_blocks);
    Tiers { g1: g1_counts(folds), g2, g3, g4 }
}

fn lanes(folds: &Folds) -> BTreeMap<&'static str, LaneCounts> {
    let last_ns = folds.sums.last_fact_ns;
    let makespan_ns = folds.requests.first_arrival_ns().map_or(0, |from| last_ns.saturating_sub(from));
    let clock = Clock { last_ns, makespan_ns };
    folds.below.lanes(clock, folds.setup.kv_bytes_per_block)
}

fn loads(folds: &Folds) -> Option<LoadCounts> {
    let something_below = folds.setup.tier_blocks != [0; 3];
    something_below.then(|| folds.below.loads())
}

fn g1_counts(folds: &Folds) -> TierCounts {
    let sums = &folds.sums;
    TierCounts {
        capacity_blocks: folds.setup.g1_blocks,
        active_max: sums.active_max,
        cached_max: sums.cached_max,
        source_hold_max: sums.source_hold_max,
        stored: sums.stored_blocks,
        removed: sums.removed_blocks,
    }
}

fn workers(folds: &Folds, makespan_ns: u64) -> Vec<WorkerCounts> {
    let Some(fleet) = &folds.fleet else { return Vec::new() };
    let counts = |(number, (worker, setup)): (usize, (&WorkerFold, &WorkerSetup))| {
        // A pass may go on when the last answer has been given.
        let busy_ns = worker.busy_ns(folds.sums.last_ns).min(makespan_ns);
        let hits = worker.first_admission;
        let own_g2 = folds.setup.tier_blocks[0] / folds.setup.workers.len().max(1) as u32;
        let g2 = folds.below.g2_of(number, own_g2);
        WorkerCounts {
            worker: number as u32,
            role: setup.role,
            state: worker.state.name(),
            lost: worker.lost,
            routed: fleet.router.chosen(number),
            finished: worker.finished,
            prompts_held: worker.prompts_held,
            joined: worker.joined,
            withdrawn: worker.withdrawn,
            passes: worker.passes,
            busy_ns,
            busy_share: ratio(busy_ns, makespan_ns),
            prefill_tokens: worker.prefill_tokens,
            decode_tokens: worker.decode_tokens,
            preemptions: worker.preemptions,
            hit_ratio: ratio(hits.cached_tokens, hits.asked_tokens),
            tiers: Tiers { g1: worker.g1, g2, g3: None, g4: None },
        }
    };
    fleet.workers.iter().zip(&folds.setup.workers).enumerate().map(counts).collect()
}

fn handoffs(folds: &Folds) -> Option<HandoffCounts> {
    let fleet = folds.fleet.as_ref()?;
    let has_some = folds.setup.workers.iter().any(|worker| worker.role == "prefill");
    has_some.then(|| fleet.handoffs.counts(folds.setup.kv_bytes_per_block))
}

fn rejected(folds: &Folds) -> Vec<Rejected> {
    folds.requests.rejected().iter().map(|&(request, reason)| Rejected::new(request, reason)).collect()
}
