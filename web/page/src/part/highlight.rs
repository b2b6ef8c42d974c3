//! Colours for the scenario's text: just enough TOML (and JSON) to tell names from values.

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `[section]`
    Section,
    /// Before `=` or `:`.
    Key,
    /// In quotes.
    Text,
    /// A number, `true` or `false`.
    Value,
    /// After `#`.
    Comment,
    /// All else.
    Plain,
}

impl Kind {
    /// Its class in the style sheet.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Section => "hl-section",
            Self::Key => "hl-key",
            Self::Text => "hl-text",
            Self::Value => "hl-value",
            Self::Comment => "hl-comment",
            Self::Plain => "hl-plain",
        }
    }
}

/// Lines longer than this stay plain: a pasted trace must not slow down typing.
const LONGEST_LINE: usize = 2_000;

/// Splits a line into pieces. Joined, they are the line.
pub(crate) fn pieces(line: &str) -> Vec<(Kind, &str)> {
    if line.len() > LONGEST_LINE {
        return vec![(Kind::Plain, line)];
    }
    if line.trim_start().starts_with('[')
        && line.split('#').next().is_some_and(|l| l.trim_end().ends_with(']'))
        && !line.contains('"')
    {
        let (section, comment) = line.find('#').map_or((line, ""), |at| line.split_at(at));
        return vec![(Kind::Section, section), (Kind::Comment, comment)];
    }
    let mut out = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let (kind, len) = match first {
            '#' => (Kind::Comment, rest.len()),
            '"' | '\'' => quoted(rest, first),
            _ if first.is_alphanumeric() || first == '-' => word(rest),
            _ => (Kind::Plain, first.len_utf8()),
        };
        let (piece, after) = rest.split_at(len);
        out.push((kind, piece));
        rest = after;
    }
    out
}

fn quoted(rest: &str, quote: char) -> (Kind, usize) {
    let mut escaped = false;
    let end = rest.char_indices().skip(1).find(|&(_, c)| {
        let ends = c == quote && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    let len = end.map_or(rest.len(), |(at, c)| at + c.len_utf8());
    (key_or(&rest[len..], Kind::Text), len)
}

fn word(rest: &str) -> (Kind, usize) {
    let ends = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+'));
    let len = rest.find(ends).unwrap_or(rest.len());
    let word = &rest[..len];
    let number = word.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit());
    let value = number || matches!(word, "true" | "false" | "null" | "nan" | "inf");
    (key_or(&rest[len..], if value { Kind::Value } else { Kind::Plain }), len)
}

/// A key when `=` or `:` follows.
fn key_or(after: &str, otherwise: Kind) -> Kind {
    if after.trim_start().starts_with(['=', ':']) { Kind::Key } else { otherwise }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(line: &str) -> Vec<(Kind, &str)> {
        pieces(line).into_iter().filter(|(_, piece)| !piece.trim().is_empty()).collect()
    }

    #[test]
    fn names_and_values_are_told_apart() {
        let line = r#"model = "fixed" # why"#;
        let found =
            [(Kind::Key, "model"), (Kind::Plain, "="), (Kind::Text, "\"fixed\""), (Kind::Comment, "# why")];
        assert_eq!(kinds(line), found);
        assert_eq!(kinds("g1_blocks = 12")[2], (Kind::Value, "12"));
        assert_eq!(kinds("[[workload.request]]"), [(Kind::Section, "[[workload.request]]")]);
        assert_eq!(kinds(r#""seed": 1,"#)[0], (Kind::Key, "\"seed\""));
    }

    #[test]
    fn pieces_joined_are_the_line() {
        for line in
            ["", "  a.b = [1, 'x', \"un\\\"closed", "[x", "π = \"ü\" #…", "report = [\"a\"]", "\"", "-"]
        {
            let joined: String = pieces(line).into_iter().map(|(_, piece)| piece).collect();
            assert_eq!(joined, line);
        }
    }
}
