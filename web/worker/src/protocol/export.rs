//! What the worker writes for the user to keep. It comes in parts, so that neither side holds it whole in wasm.

use serde::{Deserialize, Serialize};

/// Most bytes of one export; what would be larger is cut, and says so.
pub const EXPORT_BYTES_MAX: u64 = 256 << 20;

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportKind {
    /// A row for each request, as CSV.
    Requests,
    /// Everything on a common axis, as Perfetto and Chrome read it.
    Perfetto,
}

/// A part of an export, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExportPart {
    /// The export that it is of: parts of one that was given up may still be on their way.
    pub number: u32,
    /// What comes next; may be empty.
    #[serde(with = "crate::bytes")]
    pub bytes: Vec<u8>,
    /// How much of it is done, of 1.
    pub share: f64,
    /// How it ended, with the last part.
    pub end: Option<ExportEnd>,
}

/// How an export ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ExportEnd {
    /// It is whole.
    Whole,
    /// It holds the beginning of the run only.
    Cut,
}
