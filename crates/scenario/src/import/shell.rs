//! A command line as a shell would split it: quotes, escapes, continued lines. Nothing is expanded or run.

use crate::problem::Problems;

/// Most words of a command.
const WORDS: usize = 4_096;

/// A word with its place, or the end of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Word(Word),
    End,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Byte offset.
    pub(super) at: usize,
    pub(super) text: String,
}

/// The pieces of a text; nothing, reported, when a quotation never ends.
pub(super) fn split(text: &str, problems: &Problems<'_>) -> Option<Vec<Piece>> {
    let mut reader = Reader { text, at: 0, pieces: Vec::new(), word: None };
    while let Some(next) = reader.peek() {
        if reader.pieces.len() > WORDS {
            problems.report(
                reader.at,
                "",
                "a command of thousands of words",
                "one command",
                "paste only the command",
            );
            return None;
        }
        let begun = reader.at;
        reader.at += next.len_utf8();
        let whole = match next {
            '\\' => reader.escaped(),
            '\'' | '‘' | '’' => reader.quoted(next),
            '"' | '“' | '”' => reader.quoted(next),
            '#' if reader.word.is_none() => reader.comment(),
            '\n' => reader.line_end(),
            ';' | '|' | '&' | '<' | '>' => reader.end(),
            _ if next.is_whitespace() => reader.close(),
            _ => reader.push(begun, next),
        };
        if !whole {
            let mend = "end it with the same mark, or copy the whole command";
            problems.report(begun, "", "a quotation that never ends", "a closing quotation mark", mend);
            return None;
        }
    }
    reader.close();
    Some(reader.pieces)
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    pieces: Vec<Piece>,
    word: Option<Word>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn push(&mut self, at: usize, character: char) -> bool {
        self.word.get_or_insert_with(|| Word { at, text: String::new() }).text.push(character);
        true
    }

    fn close(&mut self) -> bool {
        self.pieces.extend(self.word.take().map(Piece::Word));
        true
    }

    fn end(&mut self) -> bool {
        self.close();
        if self.pieces.last() != Some(&Piece::End) {
            self.pieces.push(Piece::End);
        }
        true
    }

    /// A backslash: before the end of its line (and spaces that were left there) it joins the next one.
    fn escaped(&mut self) -> bool {
        let rest = &self.text[self.at..];
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        if rest[blank..].starts_with('\n') {
            self.at += blank + 1;
            return self.close();
        }
        match self.peek() {
            Some(next) => {
                let begun = self.at - 1;
                self.at += next.len_utf8();
                self.push(begun, next)
            }
            None => true,
        }
    }

    /// Up to the closing mark; typographic marks, as web pages have them, close each other.
    fn quoted(&mut self, mark: char) -> bool {
        let begun = self.at - mark.len_utf8();
        self.word.get_or_insert_with(|| Word { at: begun, text: String::new() });
        let closes = |next: char| match mark {
            '‘' | '’' => matches!(next, '‘' | '’'),
            '“' | '”' => matches!(next, '“' | '”'),
            _ => next == mark,
        };
        while let Some(next) = self.peek() {
            self.at += next.len_utf8();
            if closes(next) {
                return true;
            }
            let escapes = next == '\\' && mark == '"';
            match self.peek().filter(|after| escapes && matches!(after, '"' | '\\' | '$' | '`' | '\n')) {
                Some('\n') => self.at += 1,
                Some(after) => {
                    self.at += after.len_utf8();
                    self.push(begun, after);
                }
                None => {
                    self.push(begun, next);
                }
            }
        }
        false
    }

    fn comment(&mut self) -> bool {
        self.at += self.text[self.at..].find('\n').unwrap_or(self.text.len() - self.at);
        true
    }

    /// The end of a line ends a command, unless the next line begins with a flag: then a backslash was lost.
    fn line_end(&mut self) -> bool {
        let goes_on = self.text[self.at..].trim_start().starts_with(['-', '–', '—']);
        if goes_on { self.close() } else { self.end() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let problems = Problems::of(text);
        let pieces = split(text, &problems).expect("whole");
        let word = |piece: Piece| match piece {
            Piece::Word(word) => word.text,
            Piece::End => ";".to_owned(),
        };
        pieces.into_iter().map(word).collect()
    }

    #[test]
    fn quotes_escapes_and_continued_lines() {
        assert_eq!(words("a 'b c' \"d \\\"e\" f\\ g"), ["a", "b c", "d \"e", "f g"]);
        assert_eq!(words("a \\\n  --b=1 \\  \r\n --c"), ["a", "--b=1", "--c"]);
        assert_eq!(words("a # words\nb"), ["a", ";", "b"]);
        assert_eq!(words("a\n  --b 2\n\nc | d"), ["a", "--b", "2", ";", "c", ";", "d"]);
        assert_eq!(words("--x '{\"a\": \"b\"}' ''"), ["--x", "{\"a\": \"b\"}", ""]);
        assert_eq!(words("--x ‘{“a”}’"), ["--x", "{“a”}"]);
    }

    #[test]
    fn a_quotation_without_end_is_a_problem() {
        let problems = Problems::of("a 'b");
        assert_eq!(split("a 'b", &problems), None);
        assert_eq!(problems.finish()[0].column, 3);
    }
}
