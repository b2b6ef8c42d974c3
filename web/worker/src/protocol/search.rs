//! What can be asked of a run in words, and the facts of one instant.

use serde::{Deserialize, Serialize};

/// Most answers that are sent.
pub const HITS_SHOWN: usize = 1_000;
/// Most facts of an instant that are told.
pub const FACTS_SHOWN: usize = 1_000;
/// Longest question, in bytes.
pub const QUERY_MAX: usize = 200;

/// The answer to a question in words.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hits {
    /// Whether the question was understood.
    pub understood: bool,
    /// The first [`HITS_SHOWN`] answers, in order of time.
    pub hits: Vec<Hit>,
    /// How many there are.
    pub total: u32,
    /// What the answer does not cover, if anything.
    pub caveat: Option<String>,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hit {
    /// When.
    pub at_ns: f64,
    /// What happened.
    pub words: String,
    /// What it is about.
    pub about: About,
}

/// What an answer is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum About {
    /// A request.
    Request(u32),
    /// A block, by its 16 hex digits.
    Block(String),
    /// A copy.
    Transfer(f64),
    /// A worker.
    Worker(u32),
}

/// What happened at one instant, fact by fact.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instant {
    /// The instant: the last one at or before the time that was asked for.
    pub at_ns: f64,
    /// A sentence for each of the first [`FACTS_SHOWN`] facts, in their order, verb first.
    pub facts: Vec<String>,
    /// How many facts there were.
    pub total: u32,
}
