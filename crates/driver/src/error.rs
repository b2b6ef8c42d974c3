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
    /// What lies in a tier could not be made to outlive the process.
    NotPersisted {
        /// Which.
        tier: &'static str,
        /// How that failed.
        fault: Fault,
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
                    "the scenario has {tier}, and nothing was given for it\n  mend: --{tier} names a place for it (docs/TIERS.md), or \
                     remove [{tier}]"
                )
            }
            Self::Failed { doing, key, fault } => {
                let mend = match fault {
                    Fault::Gone => "look at the device, and start again",
                    Fault::NoSpace => "a place with more room, or smaller blocks (--block-bytes)",
                    Fault::ReadOnly => "a place that this user may write to",
                    Fault::Cancelled => "run it again, and let it end",
                    _ => {
                        "look at the device; with --clock wall a disk or a store may fail, and the run goes on"
                    }
                };
                write!(f, "{doing}: block {key:016x}: {fault}\n  mend: {mend}")
            }
            Self::Wrong { doing, key } => write!(
                f,
                "{doing}: what arrived is not block {key:016x}; it was not served\n  mend: look at the device, and at who else \
                 writes to it"
            ),
            Self::NoSource { doing, key } => write!(
                f,
                "{doing}: nobody holds block {key:016x}\n  mend: this is a fault of tierscope; please report it with the scenario"
            ),
            Self::NotPersisted { tier, fault } => {
                write!(
                    f,
                    "{tier}: what lies there could not be made to last: {fault}\n  mend: look at the device"
                )
            }
            Self::Hangs { doing } => write!(
                f,
                "{doing}: a batch did not end within {} s\n  mend: look at the device; its driver may hang",
                PATIENCE.as_secs()
            ),
        }
    }
}

impl std::error::Error for MirrorError {}
