//! What is asked: a scenario is one text, in TOML or JSON of one schema, that says the engine, the hardware, the
//! timing, the workload and what the run must show.
//!
//! - [`parse`] makes a [`Scenario`] of a text, or reports every problem with its place and a mend;
//! - [`expand()`] makes a [`Workload`] of a scenario (and the bytes of its trace);
//! - [`set`] changes one key of a text; [`link`] packs a text into an address and back;
//! - [`preset`] has the models and GPUs, [`interconnect`] the links between tiers, [`fault`] what goes wrong on them,
//!   [`recording`] what a driven run was told, [`trace`] the readers of traces; [`import`] makes scenarios of what people have.
//!
//! Invariants: a function of its arguments (no I/O, no clock, no entropy, no hash-map iteration); every size that
//! comes from outside is bounded (see [`limit`]) before memory is taken for it; every refusal is a [`Problem`].
//!
//! Deliberately absent: files (readers take bytes), and how long passes and copies take (the simulator's).

mod canonical;
mod decode;
pub mod expand;
pub mod expectation;
pub mod fault;
pub mod fleet;
pub mod hardware;
pub mod import;
pub mod interconnect;
pub mod limit;
pub mod link;
mod node;
pub mod preset;
mod problem;
pub mod recording;
mod scenario;
mod set;
mod text;
pub mod timing;
pub mod trace;
mod unset;
mod values;

pub use expand::{RequestPlan, Start, Workload, expand};
pub use expectation::{
    CmpOp, Counted, Expectation, FactExpectation, Milestone, OutcomeKind, ReportValue, RequestState,
};
pub use fault::{FaultKind, FaultSpec, When};
pub use hardware::Hardware;
pub use interconnect::{LinkRate, LinkRates, Links};
pub use problem::Problem;
pub use recording::{Recording, Told};
pub use scenario::{
    ArrivalProcess, InlinePrompt, InlineRequest, InlineStart, Lengths, Scenario, SharedPrefix, Slo,
    Synthetic, TraceSpec, WorkloadSpec,
};
pub use set::{default_for_trace, default_text_for_trace, set};
pub use timing::{Polynomial, Roofline, Timing};
pub use trace::{TraceFile, TraceFormat, TraceOptions};
pub use unset::unset;
pub use values::{Values, Written};

/// The version of the schema: the value of the key `tierscope`.
pub const SCHEMA_VERSION: u32 = 1;

/// The notation of a scenario text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceFormat {
    /// TOML.
    Toml,
    /// Strict JSON.
    Json,
}

/// Reads a scenario. A byte-order mark and CRLF are accepted.
///
/// # Errors
/// All problems found, in the order of their places; a syntax error hides those behind it.
pub fn parse(text: &str, format: SourceFormat) -> Result<Scenario, Vec<Problem>> {
    let text = text::without_bom(text);
    let problems = problem::Problems::of(text);
    let scenario = text::read(text, format, &problems).and_then(|root| decode::scenario(&root, &problems));
    scenario.ok_or_else(|| problems.finish())
}

/// Reads a scenario as JSON if its first character is `{`, else as TOML.
///
/// # Errors
/// As [`parse`].
pub fn parse_any(text: &str) -> Result<Scenario, Vec<Problem>> {
    parse(text, text::format_of(text))
}
