//! What is wrong with a plan or a part, and how to mend it.

use std::fmt;

/// One fault of what was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where: a flag or a file.
    pub place: String,
    /// What stands there.
    pub found: String,
    /// What could stand there.
    pub expected: String,
    /// What to do about it.
    pub mend: String,
}

impl Refusal {
    pub(crate) fn new(
        place: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        let place = place.to_owned();
        Self { place, found: found.into(), expected: expected.into(), mend: mend.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, found, expected, mend } = self;
        write!(f, "error: {place}: found {found}, expected {expected}\n  mend: {mend}")
    }
}

impl std::error::Error for Refusal {}

/// A quotation of hostile text: one line, at most 60 characters.
pub(crate) fn quote(text: &str) -> String {
    let mut cut: String = text.chars().take(60).flat_map(char::escape_debug).collect();
    if text.chars().nth(60).is_some() {
        cut.push('…');
    }
    format!("\"{cut}\"")
}
