//! The report as the page reads it: the stable keys that it shows, and nothing else.

use std::collections::BTreeMap;

use serde::Deserialize;
use tierscope_worker::protocol::RunResult;

/// The report.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ReportView {
    pub tierscope: String,
    pub digest: String,
    pub timing_model: String,
    pub outcome: Outcome,
    pub makespan_ns: f64,
    pub requests: Requests,
    pub tokens: Tokens,
    pub latency: Latency,
    pub throughput: Throughput,
    /// Whether goodput demands anything.
    pub slo: Option<serde::de::IgnoredAny>,
    pub hit_ratio: HitRatio,
    pub preemptions: u64,
    pub passes: u64,
    pub rejected: Vec<Rejected>,
    pub tiers: BTreeMap<String, Tier>,
    pub lanes: BTreeMap<String, Lane>,
    pub loads: Option<Loads>,
    pub workers: Vec<WorkerCounts>,
}

/// What one of several workers did.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct WorkerCounts {
    pub worker: u32,
    pub role: String,
    pub state: String,
    pub routed: u64,
    pub finished: u64,
    pub busy_share: f64,
    pub preemptions: u64,
    pub hit_ratio: f64,
}

/// A tier's blocks; G1 has no number of resident ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Tier {
    pub capacity_blocks: u32,
    pub resident_max: Option<u32>,
    pub resident_end: Option<u32>,
    pub stored: u64,
    pub removed: u64,
}

/// A lane's batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Lane {
    pub batches: u64,
    pub completed: u64,
    pub failed: u64,
    pub cancelled: u64,
    pub blocks: u64,
    pub bytes: f64,
    pub utilisation: f64,
    pub queue_wait_ns: Summary,
    pub copy_ns: Summary,
}

/// Loads from below G1, and waits for copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Loads {
    pub started: u64,
    pub loaded_blocks: u64,
    pub failed_blocks: u64,
    pub waits_for_copy: u64,
    pub blocked_on_offload: u64,
}

/// A refused request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Rejected {
    pub request: u32,
    pub explanation: String,
}

/// How the run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    #[default]
    Finished,
    DeadEnd,
    Cancelled,
    /// A driven run that was stopped before its end. The report calls it cancelled.
    Stopped,
}

impl Outcome {
    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::DeadEnd => "dead end",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Requests {
    pub total: u64,
    pub completed: u64,
    pub rejected: u64,
    pub cancelled: u64,
    pub failed: u64,
    pub unfinished: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub cached: u64,
    pub recomputed: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Latency {
    pub ttft_ns: Summary,
    pub itl_ns: Summary,
    pub tpot_ns: Summary,
    pub e2e_ns: Summary,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Summary {
    pub avg: f64,
    pub min: f64,
    pub max: f64,
    pub p50: f64,
    pub p90: f64,
    pub p99: f64,
    pub count: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Throughput {
    pub output_tokens_per_s: f64,
    pub requests_per_s: f64,
    pub goodput_requests_per_s: Option<f64>,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct HitRatio {
    pub definition: String,
    pub first_admission: ByTier,
    pub readmission: Option<f64>,
    pub infinite_cache: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct ByTier {
    pub g1: Option<f64>,
    pub g2: Option<f64>,
    pub g3: Option<f64>,
    pub g4: Option<f64>,
    pub total: Option<f64>,
}

impl ByTier {
    /// The share of a tier by its key: `g2`.
    pub fn of(&self, tier: &str) -> Option<f64> {
        match tier {
            "g1" => self.g1,
            "g2" => self.g2,
            "g3" => self.g3,
            "g4" => self.g4,
            _ => None,
        }
    }
}

impl ReportView {
    /// Whether the run went to its end: a cancelled one has a digest of where it was stopped.
    pub fn is_whole(&self) -> bool {
        !matches!(self.outcome, Outcome::Cancelled | Outcome::Stopped)
    }

    /// Reads the report of a result; the parser's words when it is none.
    pub fn of_result(result: &RunResult) -> Result<Self, String> {
        let mut report = Self::read(&result.report)?;
        if result.stopped {
            report.outcome = Outcome::Stopped;
        }
        Ok(report)
    }

    /// Reads a report; the parser's words when it is none.
    pub fn read(json: &str) -> Result<Self, String> {
        serde_json::from_str(json).map_err(|error| error.to_string())
    }
}
