//! What is wrong with an input, where, and how to mend it.
//!
//! Invariant: every problem has a line and a column of at least 1 and a mend that is not empty.

use std::cell::RefCell;
use std::fmt;

use crate::limit;

/// One fault of a scenario, a trace or an assignment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file, where the reader knows it; the caller may fill it in.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Path of the key, such as `engine.g1_blocks`; empty when the text as a whole is meant.
    pub key: String,
    /// What stands there.
    pub found: String,
    /// What could stand there.
    pub expected: String,
    /// What to do about it.
    pub mend: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("error: ")?;
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        writeln!(f, "found {}, expected {}", self.found, self.expected)?;
        let file = self.file.as_deref().unwrap_or("scenario");
        writeln!(f, "  --> {file}:{}:{}", self.line, self.column)?;
        write!(f, "  mend: {}", self.mend)
    }
}

impl std::error::Error for Problem {}

/// A quotation of hostile text: one line, no control characters, at most 60 characters.
pub(crate) fn quote(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut quoted = String::from("\"");
    for (count, character) in text.chars().enumerate() {
        if count == LONGEST {
            quoted.push('…');
            break;
        }
        if character == '"' || character == '\\' || character.is_control() {
            quoted.extend(character.escape_default());
        } else {
            quoted.push(character);
        }
    }
    quoted.push('"');
    quoted
}

/// A list in words: `a, b or c`.
pub(crate) fn either(words: &[&str]) -> String {
    match words {
        [] => "nothing".into(),
        [only] => (*only).into(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}

/// The word of `known` that was likely meant by `word`.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let score = |candidate: &str| strsim::jaro_winkler(word, candidate);
    let best = known.iter().copied().max_by(|a, b| score(a).total_cmp(&score(b)))?;
    (score(best) >= 0.8 || strsim::damerau_levenshtein(word, best) <= 2).then_some(best)
}

/// Where problems are gathered while a text is read. Byte offsets become lines and columns here.
pub(crate) struct Problems<'t> {
    text: &'t str,
    line_starts: Vec<usize>,
    found: RefCell<Vec<(usize, Problem)>>,
}

impl<'t> Problems<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
        let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
        Self { text, line_starts, found: RefCell::default() }
    }

    /// The line, from 1, of a byte offset.
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.line_starts.partition_point(|&start| start <= at.min(self.text.len())) as u32
    }

    /// Line and column, both from 1, of a byte offset. Takes time in proportion to the column.
    pub(crate) fn place(&self, at: usize) -> (u32, u32) {
        let line = self.line(at);
        let start = self.line_starts[line as usize - 1];
        let column = self.text[start..].char_indices().take_while(|&(i, _)| start + i < at).count();
        (line, column as u32 + 1)
    }

    /// Whether no more problems are taken.
    pub(crate) fn full(&self) -> bool {
        self.found.borrow().len() >= limit::PROBLEMS
    }

    /// Notes a problem at a byte offset.
    pub(crate) fn report(
        &self,
        at: usize,
        key: &str,
        found: impl Into<String>,
        expected: impl Into<String>,
        mend: impl Into<String>,
    ) {
        if self.full() {
            return;
        }
        let (line, column) = self.place(at);
        let (found, expected, mend) = (found.into(), expected.into(), mend.into());
        self.found
            .borrow_mut()
            .push((at, Problem { file: None, line, column, key: key.into(), found, expected, mend }));
    }

    pub(crate) fn any(&self) -> bool {
        !self.found.borrow().is_empty()
    }

    /// All problems in the order of their places.
    pub(crate) fn finish(self) -> Vec<Problem> {
        let mut list = self.found.into_inner();
        list.sort_by_key(|&(at, _)| at);
        let full = list.len() == limit::PROBLEMS;
        let mut problems: Vec<Problem> = list.into_iter().map(|(_, problem)| problem).collect();
        if let (true, Some(last)) = (full, problems.last_mut()) {
            last.mend.push_str(" (there may be more problems: mend these first)");
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_characters_and_end_at_the_end() {
        let problems = Problems::of("ab\nçd\r\n");
        assert_eq!(problems.place(0), (1, 1));
        assert_eq!(problems.place(5), (2, 2));
        assert_eq!(problems.place(99), (3, 1));
    }

    #[test]
    fn hostile_text_is_quoted_on_one_short_line() {
        let quoted = quote(&"a\n\u{1b}[31m\"".repeat(50));
        assert!(quoted.starts_with("\"a\\n\\u{1b}[31m\\\""));
        assert!(quoted.chars().count() < 130 && !quoted.contains('\n'));
    }

    #[test]
    fn a_near_word_is_named_and_a_far_one_is_not() {
        assert_eq!(nearest("g1_block", &["g1_blocks", "watermark"]), Some("g1_blocks"));
        assert_eq!(nearest("zzz", &["g1_blocks", "watermark"]), None);
    }
}
