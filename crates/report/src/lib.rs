//! What came of a run: folds over the fact log, and the forms they are handed on in.
//!
//! [`Folds`] reads every fact once and keeps what the digest, the report, the charts and the expectations
//! need; [`Report`] is the answer, with stable keys. [`canonical`] and [`jsonl`] write single facts for
//! machines, [`table`] writes a report for people, [`Perfetto`] the run on one axis of
//! time. [`compare`] reads two runs' facts and says where they part, [`paired`] what
//! that did to the metrics over several seeds.
//!
//! Invariants:
//! - everything here is a function of the facts (and of the numbers in [`FoldSetup`]): no I/O, no clock;
//! - statistics are exact integer arithmetic on nanoseconds; floats appear only in the finished report;
//! - what is kept is bounded by the number of requests and of batches under way, not by the length of the run.
//!
//! Deliberately absent: the machine (only its facts are read), the list of facts itself (nobody keeps it),
//! opinions about good and bad numbers (the page and `[expect]` have them).

mod assemble;
mod below;
pub mod canonical;
pub mod compare;
mod csv;
mod fleet;
mod folds;
pub mod infinite;
pub mod jsonl;
pub mod numbers;
mod occupied;
pub mod paired;
mod perfetto;
mod rejection;
mod report;
mod requests;
pub mod series;
pub mod spread;
pub mod statistics;
pub mod table;
mod thinned;

pub use csv::REQUESTS_HEADER;
pub use folds::{FoldSetup, Folds, SloLimits, WorkerSetup};
pub use infinite::{InfiniteCache, infinite_cache};
pub use perfetto::Perfetto;
pub use rejection::{Rejected, explain};
pub use report::{
    Census, CensusRow, HIT_RATIO_DEFINITION, HandoffCounts, HandoffSteps, Header, HitRatio, LaneCounts,
    Latency, LoadCounts, LowerTierCounts, Outcome, Report, RequestCounts, RouterBelief, RouterCounts,
    RouterSpread, Throughput, TierCounts, TierHits, Tiers, TokenCounts, WorkerCounts,
};
pub use requests::{FactSummary, RequestFate, RequestSummary};
pub use series::{BelowSample, Cdf, CdfPoint, Sample};
pub use statistics::Summary;
pub use thinned::{Thinned, Timed};
