//! Why real tiers could not follow a run.

use std::fmt;
use std::time::Duration;

use tierscope_tiers::Fault;

/// A batch that has not ended by then never will.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// Why real tiers could not follow a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MirrorError {
    /// The scenario is of a kind that cannot be driven yet.
    Unsupported {
        /// What it has.
        found: &'static str,
        /// What can be driven.
        expected: &'static str,
    },
    /// The scenario has a tier for which there is no medium.
    NoMedium {
        /// Which.
        tier: &'static str,
    },
    /// A medium did not do what it was asked.
    Failed {
        /// The lane, or what else was tried.
        doing: &'static str,
        /// The block, by its hash.
        key: u64,
        /// How it failed.
        fault: Fault,
    },
    /// Other bytes arrived than were sent.
    Wrong {
        /// The lane on which they came.
        doing: &'static str,
        /// The block that they were to be.
        key: u64,
    },
    /// The engine's facts name a source that holds nothing: the driver's books are wrong.
    NoSource {
        /// The lane.
        doing: &'static str,
        /// The block.
        key: u64,
    },
    /// A batch never ended.
    Hangs {
        /// The lane, or what else was tried.
        doing: &'static str,
    },
}

impl fmt::Display for MirrorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported { found, expected } => {
                write!(f, "found {found}, expected {expected}\n  mend: run it by `tierscope run`")
            }
            Self::NoMedium { tier } => {
                write!(
                    f,
                    "the scenario has {tier}, and nothing was given for it\n  mend: give it a place, or remove [{tier}]"
                )
            }
            Self::Failed { doing, key, fault } => write!(f, "{doing}: block {key:016x}: {fault}"),
            Self::Wrong { doing, key } => {
                write!(f, "{doing}: what arrived is not block {key:016x}; it was not served")
            }
            Self::NoSource { doing, key } => write!(f, "{doing}: nobody holds block {key:016x}"),
            Self::Hangs { doing } => {
                write!(f, "{doing}: a batch did not end within {} s", PATIENCE.as_secs())
            }
        }
    }
}

impl std::error::Error for MirrorError {}
