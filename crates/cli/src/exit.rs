//! What the command tells the shell.

use std::process::ExitCode;

/// The exit codes, documented in the man page and `--help`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done = 0,
    /// An expectation failed, or two runs that were compared differ.
    ExpectationFailed = 1,
    /// Bad usage or input.
    BadInput = 2,
    /// A dead end, or an invariant violated.
    Broken = 3,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
