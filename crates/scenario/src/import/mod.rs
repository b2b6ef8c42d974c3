//! What people have, as a scenario: a `vllm serve` command line, Dynamo's engine arguments, an LMCache configuration,
//! and the measured figures of a machine.
//!
//! Nothing is translated in silence: every flag and key of the source ends in a [`Note`] that says whether it was
//! taken, what had to be assumed, or that it has no counterpart here. `docs/IMPORT.md` has the tables and their sources.
//!
//! Invariants: the source is bounded before it is read; a source that is cut or mutated ends in problems with a place
//! and a mend; the text of an [`Imported`] is TOML of the schema, and what the parser finds wrong with it (a model that
//! does not fit its GPU) comes with it.

mod detect;
mod draft;
mod dynamo;
mod hardware;
mod kv;
mod lmcache;
mod model;
mod replay;
mod shell;
mod vllm;
mod yaml;

pub use detect::{Kind, detect};
pub use hardware::merge as merge_hardware;
pub use replay::{Found as FoundTrace, bare as bare_trace, noted_requests, replay};

use crate::limit;
use crate::problem::{Problem, Problems};
use draft::Draft;

/// What a source is, of those that become a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A `vllm serve` command line.
    Vllm,
    /// Engine arguments of Dynamo's mocker, as JSON.
    Dynamo,
    /// A configuration of LMCache, as YAML or JSON.
    LmCache,
}

impl Source {
    /// All sources, each with its word on the command line.
    pub const WORDS: [(&'static str, Self); 3] =
        [("vllm", Self::Vllm), ("dynamo", Self::Dynamo), ("lmcache", Self::LmCache)];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vllm => "vllm serve command",
            Self::Dynamo => "Dynamo engine arguments",
            Self::LmCache => "LMCache configuration",
        }
    }
}

/// A scenario that was made of something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Imported {
    /// The scenario.
    pub text: String,
    /// What became of everything in the source, in the order of their places; what was assumed comes last.
    pub notes: Vec<Note>,
    /// What the parser finds wrong with the scenario; their places are in its text.
    pub problems: Vec<Problem>,
}

/// What became of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Taken, assumed or left out.
    pub kind: NoteKind,
    /// Line in the source, from 1; 0 for what stands nowhere.
    pub line: u32,
    /// Column in characters, from 1; 0 for what stands nowhere.
    pub column: u32,
    /// What stands there, such as `--max-num-seqs 64`; empty for what stands nowhere.
    pub what: String,
    /// What became of it, in words.
    pub words: String,
}

/// Kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// It is in the scenario.
    Taken,
    /// The source does not say it, or not as the schema does.
    Assumed,
    /// It has no counterpart, or says nothing about the cache and the scheduler.
    Left,
}

impl NoteKind {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Assumed => "assumed",
            Self::Left => "left out",
        }
    }
}

/// Makes a scenario of a source.
///
/// # Errors
/// All problems found, with their places in the source.
pub fn import(text: &str, source: Source) -> Result<Imported, Vec<Problem>> {
    let text = crate::text::without_bom(text);
    let problems = Problems::of(text);
    if text.len() > limit::SCENARIO_TEXT_BYTES {
        let found = format!("a text of {} bytes", text.len());
        problems.report(0, "", found, "at most 1 MiB", "paste only the command or the configuration");
        return Err(problems.finish());
    }
    let mut draft = Draft::new(&problems);
    match source {
        Source::Vllm => vllm::read(text, &mut draft),
        Source::Dynamo => dynamo::read(text, &mut draft),
        Source::LmCache => lmcache::read(text, &mut draft),
    }
    let imported = draft.finish();
    if problems.any() { Err(problems.finish()) } else { Ok(imported) }
}
