//! The report: what a run came to, under stable keys.
//!
//! Keys are a contract with scripts: more may be added, none renamed without a note in the changelog. Fields
//! serialise in the order of their declaration. Times are whole nanoseconds, ratios 0 to 1.
//!
//! Deliberately absent: series (see [`crate::series`]), and judgement.

mod below;
mod fleet;

use std::collections::BTreeMap;

use serde::Serialize;

pub use below::{LaneCounts, LoadCounts, LowerTierCounts};
pub use fleet::{HandoffCounts, HandoffSteps, RouterBelief, RouterCounts, RouterSpread, WorkerCounts};

use crate::folds::SloLimits;
use crate::rejection::Rejected;
use crate::statistics::Summary;

/// What a hit ratio of this report means (rule P2).
pub const HIT_RATIO_DEFINITION: &str = "prompt tokens found in full cached blocks of the contiguous prefix at \
    a request's first admission, by prompt tokens of admitted requests; each token counts for the tier it was found \
    in: g2, g3 and g4 are tokens that were loaded from there instead of computed (a load that failed is no hit), g1 is \
    the rest, total is all four; the last token is always recomputed; readmission after preemption counts apart, all \
    tiers together, by the tokens to compute again; infinite_cache is the same over all prompts for a cache that \
    keeps every earlier prompt and output";

/// What the report says about the run besides its facts.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Header {
    /// Version of Tierscope.
    pub version: String,
    /// Hash of the scenario's canonical form, hexadecimal.
    pub scenario_hash: String,
    /// The seed.
    pub seed: u64,
    /// The timing model, with "uncalibrated" where it is.
    pub timing_model: String,
    /// The scenario's title.
    pub title: String,
}

/// How the run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Every request ended.
    Finished,
    /// Requests are unfinished and nothing can happen any more (rule R3).
    DeadEnd,
    /// The run was stopped.
    Cancelled,
}

impl Outcome {
    /// The outcome as the report spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::DeadEnd => "dead_end",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Who waits for what, at the end of a run that did not finish (rule R3).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Census {
    /// One row per unfinished request.
    pub rows: Vec<CensusRow>,
    /// The requests that wait for each other, each with what it waits for; empty when there is no cycle.
    pub wait_cycle: Vec<String>,
}

/// One unfinished request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CensusRow {
    /// Its number.
    pub request: u32,
    /// Where in its life it is.
    pub phase: String,
    /// Who has it.
    pub owner: String,
    /// What will wake it; `None` is the fault.
    pub wakeup: Option<String>,
    /// Blocks that it holds.
    pub held_blocks: u32,
    /// Blocks that all its known tokens need.
    pub needed_blocks: u32,
}

/// How many requests ended how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct RequestCounts {
    /// Of the workload.
    pub total: u64,
    /// With all their output.
    pub completed: u64,
    /// Refused at arrival.
    pub rejected: u64,
    /// Given up by their client.
    pub cancelled: u64,
    /// Ended by a fault.
    pub failed: u64,
    /// Not ended, or not arrived.
    pub unfinished: u64,
}

/// Tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct TokenCounts {
    /// Of the prompts of requests that arrived, those refused aside.
    pub input: u64,
    /// Made for requests that completed or were cancelled.
    pub output: u64,
    /// Prompt tokens found cached at first admission, in whatever tier.
    pub cached: u64,
    /// Computed again after a preemption.
    pub recomputed: u64,
    /// Found cached at readmission.
    pub cached_readmission: u64,
    /// Computed by prefill rows, recomputed ones among them.
    pub prefilled: u64,
    /// Of the cached ones, those loaded from host memory.
    pub loaded_g2: u64,
    /// Those loaded from disk.
    pub loaded_g3: u64,
    /// Those loaded from the object store.
    pub loaded_g4: u64,
}

/// Latencies of completed requests, by AIPerf's definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Latency {
    /// Time to first token.
    pub ttft_ns: Summary,
    /// From the first token to the second.
    pub ttst_ns: Summary,
    /// Inter-token latency: (E2E − TTFT) / (output tokens − 1) of each request.
    pub itl_ns: Summary,
    /// The same quantity under vLLM's name.
    pub tpot_ns: Summary,
    /// From arrival to the last token.
    pub e2e_ns: Summary,
}

/// Rates over the makespan; zero when that is.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct Throughput {
    /// Output tokens per second.
    pub output_tokens_per_s: f64,
    /// Completed requests per second.
    pub requests_per_s: f64,
    /// Completed requests per second that met the SLO; without one, all.
    pub goodput_requests_per_s: f64,
}

/// Hits by the tier they were found in.
#[derive(Clone, Copy, Debug, PartialEq, Default, Serialize)]
pub struct TierHits {
    /// GPU memory.
    pub g1: f64,
    /// Host memory.
    pub g2: f64,
    /// Local disk.
    pub g3: f64,
    /// Object store.
    pub g4: f64,
    /// All tiers together.
    pub total: f64,
}

/// Hit ratios; see `definition`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HitRatio {
    /// What the ratios mean.
    pub definition: &'static str,
    /// At first admission, by tier.
    pub first_admission: TierHits,
    /// At readmission after preemption.
    pub readmission: f64,
    /// Of a cache without limits.
    pub infinite_cache: f64,
}

/// The blocks of G1; of several workers the sums at one instant, of each the state as its newest pass began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct TierCounts {
    /// Blocks in all.
    pub capacity_blocks: u32,
    /// Most blocks active at once, as passes began.
    pub active_max: u32,
    /// Most blocks cached at once, as passes began.
    pub cached_max: u32,
    /// Most blocks held at once for an offload that reads them, as passes began.
    pub source_hold_max: u32,
    /// Blocks that became matchable.
    pub stored: u64,
    /// Blocks that are matchable no more.
    pub removed: u64,
}

/// The tiers of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize)]
pub struct Tiers {
    /// GPU memory.
    pub g1: TierCounts,
    /// Host memory; absent where the scenario has none, as are the others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g2: Option<LowerTierCounts>,
    /// Local disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g3: Option<LowerTierCounts>,
    /// Object store.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub g4: Option<LowerTierCounts>,
}

/// What a run came to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Version of Tierscope.
    pub tierscope: String,
    /// The scenario's title.
    pub title: String,
    /// Hash of the scenario's canonical form.
    pub scenario_hash: String,
    /// The seed.
    pub seed: u64,
    /// Digest of the canonical event stream, 32 hexadecimal digits.
    pub digest: String,
    /// The timing model, with "uncalibrated" where it is.
    pub timing_model: String,
    /// How the run ended.
    pub outcome: Outcome,
    /// From the first arrival to the last fact about a request or a pass: copies and leases that go on behind them
    /// delay no answer, and do not count.
    pub makespan_ns: u64,
    /// Requests by how they ended.
    pub requests: RequestCounts,
    /// Tokens.
    pub tokens: TokenCounts,
    /// Latencies.
    pub latency: Latency,
    /// Rates.
    pub throughput: Throughput,
    /// What goodput demands; null when nothing.
    pub slo: Option<SloLimits>,
    /// Hit ratios.
    pub hit_ratio: HitRatio,
    /// Preemptions.
    pub preemptions: u64,
    /// Forward passes.
    pub passes: u64,
    /// Tokens per block.
    pub block_size_tokens: u32,
    /// Tiers.
    pub tiers: Tiers,
    /// The lanes between tiers that ever had a batch, by name: `g1_g2`.
    pub lanes: BTreeMap<&'static str, LaneCounts>,
    /// Loads from below G1 and waits for copies; absent where nothing lies below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loads: Option<LoadCounts>,
    /// Each of several workers; absent where there is one alone, as are their router and their handoffs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerCounts>,
    /// Where requests were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<RouterCounts>,
    /// Handoffs from workers that prefill to those that decode; absent where all do both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handoffs: Option<HandoffCounts>,
    /// The first hundred refused requests.
    pub rejected: Vec<Rejected>,
    /// The unfinished requests.
    pub census: Vec<CensusRow>,
    /// Requests that wait for each other.
    pub wait_cycle: Vec<String>,
}

impl Report {
    /// The report as JSON, for people and scripts; ends with a newline.
    pub fn to_json(&self) -> String {
        let mut json = serde_json::to_string_pretty(self).unwrap_or_default();
        json.push('\n');
        json
    }

    /// The value at a path of keys with dots between ("latency.ttft_ns.p99"); array places are numbers.
    /// `None` when there is no such key.
    pub fn value(&self, path: &str) -> Option<serde_json::Value> {
        let mut value = &serde_json::to_value(self).ok()?;
        for key in path.split('.') {
            value = match value {
                serde_json::Value::Array(items) => items.get(key.parse::<usize>().ok()?)?,
                _ => value.get(key)?,
            };
        }
        Some(value.clone())
    }
}
