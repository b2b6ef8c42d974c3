//! Trace files on their way to the worker, which keeps one.
//!
//! A file is handed over in slices: `Begin`, then a `Slice` after each `Heard`, then `End`; the worker answers the end with `Kept` or
//! `Refused`. Any worker takes them, at any time; a run whose scenario names a file that is on its way waits for it.

use serde::{Deserialize, Serialize};

use super::ProblemView;

/// Largest file that a tab takes, and the most that a packed one may hold.
pub const TRACE_FILE_BYTES: u64 = 256 << 20;
/// Bytes of a slice.
pub const TRACE_SLICE_BYTES: u32 = 2 << 20;
/// Most requests that a tab replays.
pub const TRACE_REQUESTS: u32 = 2_000_000;

/// A step of handing a file over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TraceStep {
    /// A file comes; what was kept before is dropped.
    Begin {
        /// Its name, without folders.
        name: String,
        /// Its length.
        bytes: f64,
    },
    /// The next bytes.
    Slice(#[serde(with = "crate::bytes")] Vec<u8>),
    /// That was all.
    End,
    /// It is not wanted any more; nothing is kept.
    Drop,
}

/// What the worker says of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TraceSaid {
    /// So many bytes are there; the next slice may come.
    Heard {
        /// Bytes so far.
        bytes: f64,
    },
    /// It was read, and is kept.
    Kept {
        /// Word of its format.
        format: String,
        /// Requests in it.
        requests: u32,
        /// Tokens per hash id; `None` without hashes.
        block_tokens: Option<u32>,
    },
    /// It cannot be read; lines are those of the file.
    Refused {
        /// Why.
        problems: Vec<ProblemView>,
    },
}
