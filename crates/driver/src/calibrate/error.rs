//! Why nothing came of it.

use std::fmt;

/// Why a calibration broke off. What concerns one lane only does not: that is told in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CalibrateError {
    /// Whoever watches does not want it any more.
    Stopped,
    /// The media of a size could not be opened.
    Open {
        /// Bytes of a block.
        block_bytes: u64,
        /// Why, with a mend.
        why: String,
    },
    /// A medium is not what its tier is to be measured by.
    Unmeasurable {
        /// Its tier.
        tier: &'static str,
        /// What it is, in words.
        why: String,
    },
    /// No lane could be fitted.
    Nothing {
        /// Why, of each lane.
        why: String,
    },
}

impl fmt::Display for CalibrateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped => f.write_str("it was stopped"),
            Self::Open { block_bytes, why } => write!(f, "blocks of {block_bytes} bytes: {why}"),
            Self::Unmeasurable { tier, why } => {
                write!(f, "{tier}: {why}\n  mend: name a real one, or leave {tier} out")
            }
            Self::Nothing { why } => {
                write!(
                    f,
                    "nothing could be measured: {why}\n  mend: give it more time (--seconds), or look at the media"
                )
            }
        }
    }
}

impl std::error::Error for CalibrateError {}
