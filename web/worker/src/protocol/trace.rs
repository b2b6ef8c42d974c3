//! Files on their way to the worker: traces, of which it keeps one, and recordings of driven runs, of which it keeps one too.
//!
//! A file is handed over in slices: `Begin`, then a `Slice` after each `Heard`, then `End`; the worker answers the end with `Kept`,
//! `Recorded` or `Refused`. Any worker takes them, at any time; a run that needs a file which is on its way waits for it.

use serde::{Deserialize, Serialize};

use super::ProblemView;

/// Largest file that a tab takes, and the most that a packed one may hold.
pub const TRACE_FILE_BYTES: u64 = 256 << 20;
/// Bytes of a slice.
pub const TRACE_SLICE_BYTES: u32 = 2 << 20;
/// Most requests that a tab replays.
pub const TRACE_REQUESTS: u32 = 2_000_000;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileKind {
    /// Requests, for scenarios that name them.
    Trace,
    /// A driven run.
    Recording,
}

/// A step of handing a file over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TraceStep {
    /// A file comes; the trace that was kept before is dropped, the recording once another was read.
    Begin {
        /// What it is.
        kind: FileKind,
        /// Its name, without folders.
        name: String,
        /// Its length.
        bytes: f64,
    },
    /// The next bytes.
    Slice(#[serde(with = "crate::bytes")] Vec<u8>),
    /// That was all.
    End,
    /// It is not wanted any more; it is not kept.
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
    /// It is a recording, was read, and is kept.
    Recorded {
        /// What the page shows of it.
        recording: Box<RecordingView>,
    },
    /// It cannot be read; lines are those of the file.
    Refused {
        /// Why.
        problems: Vec<ProblemView>,
    },
}

/// Most media of a recording that are told.
pub const MEDIA_SHOWN: usize = 8;

/// A recording of a driven run, as far as the page shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordingView {
    /// The version of the program that drove it.
    pub version: String,
    /// The scenario.
    pub scenario: String,
    /// Bytes of the blocks that were moved; those of the scenario may be larger.
    pub block_bytes: f64,
    /// What the tiers were; at most [`MEDIA_SHOWN`].
    pub media: Vec<MediumView>,
    /// Copies that ended as real tiers told.
    pub ends: u32,
    /// Those of them that failed.
    pub failed: u32,
    /// Its last instant, where it was stopped before its end.
    pub stopped_ns: Option<f64>,
    /// The digest of its facts.
    pub digest: String,
}

/// On what a tier was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediumView {
    /// `g1`, `g2`, `g3` or `g4`.
    pub tier: String,
    /// Of what kind: `host`, `cuda`, `disk`, …
    pub kind: String,
    /// What it says of itself.
    pub name: String,
}
