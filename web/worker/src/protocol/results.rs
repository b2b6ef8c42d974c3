//! What is said about a whole run besides its report: hits over time, and whether it shows what its scenario expects.

use serde::{Deserialize, Serialize};

/// Prompt tokens of first admissions until a time, and where they were found: sums since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HitSample {
    /// When.
    pub at_ns: f64,
    /// Tokens of the prompts.
    pub asked: f64,
    /// Of those, found in G1, G2, G3 and G4.
    pub found: [f64; 4],
}

/// An expectation of the scenario, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// As it is written.
    pub expected: String,
    /// The line it stands in, from 1.
    pub line: u32,
    /// What the run shows instead; `None` where it holds.
    pub found: Option<String>,
}
