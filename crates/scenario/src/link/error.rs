//! Why a link cannot be read, in words.

use std::fmt;

use crate::limit;

/// Why a link cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkError {
    /// Nothing stands after the `#`, or nothing at all.
    Empty,
    /// Longer than any link can be.
    TooLong {
        /// Bytes found.
        bytes: usize,
    },
    /// It does not begin with a version.
    NoVersion {
        /// Its beginning.
        found: String,
    },
    /// A version that this release does not understand.
    UnknownVersion {
        /// The version.
        found: String,
    },
    /// A character that is not base64url, or a length that cannot be.
    NotBase64 {
        /// What the decoder says.
        found: String,
    },
    /// The bytes are not a whole deflate stream: the link was cut or changed.
    NotDeflate,
    /// The text would be longer than [`limit::SCENARIO_TEXT_BYTES`].
    TooLarge,
    /// The inflated bytes are no text.
    NotText,
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let form = "a link such as v2.q1YqSi0u…".to_owned();
        let longest = limit::SCENARIO_TEXT_BYTES;
        let (found, expected, mend) = match self {
            Self::Empty => ("an empty link".into(), form, "copy the whole address, with what follows #"),
            Self::TooLong { bytes } => (
                format!("a link of {bytes} bytes"),
                format!("at most {longest} bytes"),
                "send the scenario as a file instead",
            ),
            Self::NoVersion { found } => (found.clone(), form, "copy the whole address, with what follows #"),
            Self::UnknownVersion { found } => (
                format!("link version {found}"),
                "v1.… or v2.…, the versions understood".into(),
                "open it with the release that made it, or a newer one",
            ),
            Self::NotBase64 { found } => (
                found.clone(),
                "letters, digits, - and _ after the version".into(),
                "copy the link again, without line breaks or added marks",
            ),
            Self::NotDeflate => (
                "data that does not inflate".into(),
                "a whole link".into(),
                "copy the link again: it was cut or changed",
            ),
            Self::TooLarge => (
                "a text that is too long when inflated".into(),
                format!("at most {longest} bytes"),
                "send the scenario as a file instead",
            ),
            Self::NotText => (
                "data that is no UTF-8 text".into(),
                "a scenario".into(),
                "copy the link again: it was changed, or made by another program",
            ),
        };
        write!(f, "error: link: found {found}, expected {expected}\n  mend: {mend}")
    }
}

impl std::error::Error for LinkError {}
