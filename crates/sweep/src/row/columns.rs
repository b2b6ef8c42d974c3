//! The measures, one a line: name, kind, and where it is read off.

use tierscope_report::{LowerTierCounts, Summary};
use tierscope_scenario::Scenario;

use super::{Kind, Measured, Value, capacity, infinite, ratio};
use crate::cache::CacheModel;
use crate::sizing;

/// A number of a whole run.
type OfRun = fn(&Measured<'_>) -> Value;
/// A number of the cache-only mode.
type OfCache = fn(&Scenario, &CacheModel) -> Value;

/// One measure: a column and how it is filled.
pub(super) struct Measure<F> {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) of: F,
}

const fn whole(name: &'static str, of: OfRun) -> Measure<OfRun> {
    Measure { name, kind: Kind::Whole, of }
}

const fn real(name: &'static str, of: OfRun) -> Measure<OfRun> {
    Measure { name, kind: Kind::Real, of }
}

const fn text(name: &'static str, of: OfRun) -> Measure<OfRun> {
    Measure { name, kind: Kind::Text, of }
}

const fn count(name: &'static str, of: OfCache) -> Measure<OfCache> {
    Measure { name, kind: Kind::Whole, of }
}

const fn share(name: &'static str, of: OfCache) -> Measure<OfCache> {
    Measure { name, kind: Kind::Real, of }
}

use Value::{Real, Text, Whole};

/// Of whole runs. Times in nanoseconds, ratios 0 to 1, the words of the report.
pub(super) const RUN: &[Measure<OfRun>] = &[
    text("digest", |m| Text(m.report.digest.clone())),
    text("scenario_hash", |m| Text(m.report.scenario_hash.clone())),
    text("timing_model", |m| Text(m.report.timing_model.clone())),
    whole("requests", |m| Whole(m.report.requests.total)),
    whole("completed", |m| Whole(m.report.requests.completed)),
    whole("rejected", |m| Whole(m.report.requests.rejected)),
    whole("cancelled", |m| Whole(m.report.requests.cancelled)),
    whole("failed", |m| Whole(m.report.requests.failed)),
    whole("unfinished", |m| Whole(m.report.requests.unfinished)),
    whole("input_tokens", |m| Whole(m.report.tokens.input)),
    whole("output_tokens", |m| Whole(m.report.tokens.output)),
    whole("cached_tokens", |m| Whole(m.report.tokens.cached)),
    whole("prefilled_tokens", |m| Whole(m.report.tokens.prefilled)),
    whole("recomputed_tokens", |m| Whole(m.report.tokens.recomputed)),
    whole("block_size_tokens", |m| Whole(m.report.block_size_tokens.into())),
    whole("workers", |m| Whole(sizing::workers(m.scenario))),
    whole("g1_blocks", |m| Whole(m.report.tiers.g1.capacity_blocks.into())),
    whole("g2_blocks", |m| tier(m.report.tiers.g2)),
    whole("g3_blocks", |m| tier(m.report.tiers.g3)),
    whole("g4_blocks", |m| tier(m.report.tiers.g4)),
    whole("total_blocks", |m| Whole(sizing::total_blocks(m.scenario))),
    real("total_gib", |m| Real(sizing::total_gib(m.scenario))),
    real("hit_ratio_g1", |m| Real(m.report.hit_ratio.first_admission.g1)),
    real("hit_ratio_g2", |m| Real(m.report.hit_ratio.first_admission.g2)),
    real("hit_ratio_g3", |m| Real(m.report.hit_ratio.first_admission.g3)),
    real("hit_ratio_g4", |m| Real(m.report.hit_ratio.first_admission.g4)),
    real("hit_ratio_total", |m| Real(m.report.hit_ratio.first_admission.total)),
    real("hit_ratio_readmission", |m| Real(m.report.hit_ratio.readmission)),
    real("hit_ratio_lru_only", |m| ratio(m.cache.lru_tokens(capacity(m.scenario, m.cache)))),
    real("hit_ratio_optimal", |m| ratio(m.cache.optimal_tokens(capacity(m.scenario, m.cache)))),
    real("hit_ratio_infinite", |m| Real(m.report.hit_ratio.infinite_cache)),
    whole("ttft_avg_ns", |m| time(&m.report.latency.ttft_ns, |of| of.avg)),
    whole("ttft_p50_ns", |m| time(&m.report.latency.ttft_ns, |of| of.p50)),
    whole("ttft_p90_ns", |m| time(&m.report.latency.ttft_ns, |of| of.p90)),
    whole("ttft_p99_ns", |m| time(&m.report.latency.ttft_ns, |of| of.p99)),
    whole("itl_avg_ns", |m| time(&m.report.latency.itl_ns, |of| of.avg)),
    whole("itl_p50_ns", |m| time(&m.report.latency.itl_ns, |of| of.p50)),
    whole("itl_p90_ns", |m| time(&m.report.latency.itl_ns, |of| of.p90)),
    whole("itl_p99_ns", |m| time(&m.report.latency.itl_ns, |of| of.p99)),
    whole("e2e_avg_ns", |m| time(&m.report.latency.e2e_ns, |of| of.avg)),
    whole("e2e_p50_ns", |m| time(&m.report.latency.e2e_ns, |of| of.p50)),
    whole("e2e_p90_ns", |m| time(&m.report.latency.e2e_ns, |of| of.p90)),
    whole("e2e_p99_ns", |m| time(&m.report.latency.e2e_ns, |of| of.p99)),
    real("goodput_requests_per_s", |m| Real(m.report.throughput.goodput_requests_per_s)),
    real("requests_per_s", |m| Real(m.report.throughput.requests_per_s)),
    real("output_tokens_per_s", |m| Real(m.report.throughput.output_tokens_per_s)),
    whole("preemptions", |m| Whole(m.report.preemptions)),
    whole("passes", |m| Whole(m.report.passes)),
    whole("makespan_ns", |m| Whole(m.report.makespan_ns)),
    real("break_even_gb_per_s", |m| sizing::break_even_gb_per_s(m.scenario).map_or(Value::None, Real)),
    real("load_g2_gb_per_s", |m| path(m.scenario, 0)),
    real("load_g3_gb_per_s", |m| path(m.scenario, 1)),
    real("load_g4_gb_per_s", |m| path(m.scenario, 2)),
];

/// Of the cache-only mode.
pub(super) const CACHE: &[Measure<OfCache>] = &[
    count("requests", |_, cache| Whole(cache.totals().requests)),
    count("references", |_, cache| Whole(cache.totals().references)),
    count("distinct_blocks", |_, cache| Whole(cache.totals().distinct_blocks)),
    count("input_tokens", |_, cache| Whole(cache.totals().input_tokens)),
    count("output_tokens", |_, cache| Whole(cache.totals().output_tokens)),
    count("block_size_tokens", |_, cache| Whole(cache.block_tokens().into())),
    count("capacity_blocks", |scenario, cache| Whole(capacity(scenario, cache))),
    share("lru_block_ratio", |scenario, cache| ratio(cache.lru_blocks(capacity(scenario, cache)))),
    share("lru_token_ratio", |scenario, cache| ratio(cache.lru_tokens(capacity(scenario, cache)))),
    share("optimal_block_ratio", |scenario, cache| ratio(cache.optimal_blocks(capacity(scenario, cache)))),
    share("optimal_token_ratio", |scenario, cache| ratio(cache.optimal_tokens(capacity(scenario, cache)))),
    share("infinite_block_ratio", |_, cache| infinite(|capacity| cache.lru_blocks(capacity))),
    share("infinite_token_ratio", |_, cache| infinite(|capacity| cache.lru_tokens(capacity))),
];

fn tier(counts: Option<LowerTierCounts>) -> Value {
    counts.map_or(Value::None, |counts| Whole(counts.capacity_blocks.into()))
}

/// Nothing where no request has the metric: zero would look fast.
fn time(of: &Summary, statistic: fn(&Summary) -> u64) -> Value {
    if of.count == 0 { Value::None } else { Whole(statistic(of)) }
}

fn path(scenario: &Scenario, tier: usize) -> Value {
    sizing::paths(scenario)[tier].as_ref().map_or(Value::None, |path| Real(path.gb_per_s))
}
