//! The lines of a trace, without a copy, and the problems found in them.

use crate::limit;
use crate::problem::{Problem, quote};

/// One line, without its end.
#[derive(Clone, Copy)]
pub(super) struct Line<'b> {
    pub(super) number: u32,
    pub(super) bytes: &'b [u8],
}

/// A fault of a line, at a byte of it.
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) key: &'static str,
    pub(super) found: String,
    pub(super) expected: String,
    pub(super) mend: String,
}

impl Fault {
    pub(super) fn new(
        at: usize,
        key: &'static str,
        found: impl Into<String>,
        expected: impl Into<String>,
        mend: impl Into<String>,
    ) -> Self {
        Self { at, key, found: found.into(), expected: expected.into(), mend: mend.into() }
    }
}

/// The problem of a file as a whole: it stands at its beginning.
pub(super) fn of_file(fault: Fault) -> Problem {
    Line { number: 1, bytes: &[] }.problem(fault)
}

impl Line<'_> {
    pub(super) fn problem(self, fault: Fault) -> Problem {
        let before = &self.bytes[..fault.at.min(self.bytes.len())];
        let column = String::from_utf8_lossy(&before[before.len().saturating_sub(1 << 16)..]).chars().count();
        let skipped = before.len().saturating_sub(1 << 16);
        Problem {
            file: None,
            line: self.number,
            column: (skipped + column + 1).min(u32::MAX as usize) as u32,
            key: fault.key.into(),
            found: fault.found,
            expected: fault.expected,
            mend: fault.mend,
        }
    }

    /// The line as text.
    pub(super) fn text(self) -> Result<(), Fault> {
        let Err(error) = std::str::from_utf8(self.bytes) else { return Ok(()) };
        let at = error.valid_up_to();
        let found = format!("the byte 0x{:02x}, which is no UTF-8", self.bytes.get(at).copied().unwrap_or(0));
        Err(Fault::new(
            at,
            "",
            found,
            "a trace in text",
            "unpack the file if it is compressed; save it as UTF-8",
        ))
    }
}

/// A short quotation of bytes.
pub(super) fn quote_bytes(bytes: &[u8]) -> String {
    quote(&String::from_utf8_lossy(&bytes[..bytes.len().min(200)]))
}

/// Calls `take` for each line that is not blank, until the end or `full`.
///
/// # Errors
/// Up to [`limit::PROBLEMS`] problems, in order; one when there is no line at all.
pub(super) fn each<'b>(
    bytes: &'b [u8],
    longest: usize,
    mut take: impl FnMut(Line<'b>) -> Result<Next, Fault>,
) -> Result<(), Vec<Problem>> {
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut problems = Vec::new();
    let (mut number, mut any) = (0_u32, false);
    while !rest.is_empty() {
        number = number.saturating_add(1);
        let window = &rest[..rest.len().min(longest.saturating_add(2))];
        let end = window.iter().position(|&byte| byte == b'\n');
        let whole = end.or((window.len() == rest.len()).then_some(window.len()));
        let content = &window[..whole.unwrap_or(window.len())];
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        let line = Line { number, bytes: content };
        if whole.is_none() || content.len() > longest {
            problems.push(line.problem(too_long(longest)));
            return Err(problems);
        }
        rest = end.map_or(&[], |end| &rest[end + 1..]);
        if content.trim_ascii().is_empty() {
            continue;
        }
        any = true;
        match take(line) {
            Ok(Next::Line) => {}
            Ok(Next::Full) => break,
            Err(fault) => problems.push(line.problem(fault)),
        }
        if problems.len() >= limit::PROBLEMS {
            break;
        }
    }
    if !any {
        let fault = Fault::new(
            0,
            "",
            "no line with content",
            "at least one request",
            "choose a trace that is not empty",
        );
        problems.push(Line { number: number.max(1), bytes: &[] }.problem(fault));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn too_long(longest: usize) -> Fault {
    let found = format!("a line of more than {longest} bytes");
    let expected = format!("lines of at most {longest} bytes, one request each");
    Fault::new(0, "", found, expected, "put each request on a line of its own (JSON lines, not one array)")
}

/// Whether to go on.
pub(super) enum Next {
    Line,
    Full,
}
