//! A look at Rust source that is good enough for counting: comments and the insides of strings blanked, functions
//! found with their lengths. It is no parser; rustc and clippy decide what is right.

/// `source` with comments and the contents of string and character literals turned into spaces. Lines keep their
/// numbers.
pub(crate) fn code_only(source: &str) -> String {
    let mut rest: Vec<char> = source.chars().rev().collect();
    let mut out = String::with_capacity(source.len());
    while let Some(next) = rest.pop() {
        let then = rest.last().copied();
        match (next, then) {
            ('/', Some('/')) => blank_until(&mut rest, &mut out, |text| text.last() == Some(&'\n')),
            ('/', Some('*')) => blank_comment(&mut rest, &mut out),
            ('"', _) => blank_string(&mut rest, &mut out),
            ('r', Some('"' | '#')) if !ends_in_word(&out) || out.ends_with('b') => {
                blank_raw(&mut rest, &mut out)
            }
            ('\'', _) => blank_char(&mut rest, &mut out),
            _ => out.push(next),
        }
    }
    out
}

fn ends_in_word(text: &str) -> bool {
    text.chars().next_back().is_some_and(|last| last.is_alphanumeric() || last == '_')
}

fn blank(out: &mut String, taken: char) {
    out.push(if taken == '\n' { '\n' } else { ' ' });
}

fn blank_until(rest: &mut Vec<char>, out: &mut String, done: impl Fn(&[char]) -> bool) {
    out.push(' ');
    while !rest.is_empty() && !done(rest) {
        blank(out, rest.pop().expect("it is not empty"));
    }
}

/// After a `/`: a block comment, which may hold others.
fn blank_comment(rest: &mut Vec<char>, out: &mut String) {
    let mut depth = 0_usize;
    let mut before = '/';
    out.push(' ');
    while let Some(taken) = rest.pop() {
        blank(out, taken);
        match (before, taken) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth = depth.saturating_sub(1),
            _ => {
                before = taken;
                continue;
            }
        }
        before = ' ';
        if depth == 0 {
            return;
        }
    }
}

/// After a `"`.
fn blank_string(rest: &mut Vec<char>, out: &mut String) {
    out.push('"');
    while let Some(taken) = rest.pop() {
        match taken {
            '"' => return out.push('"'),
            '\\' => {
                out.push(' ');
                if let Some(escaped) = rest.pop() {
                    blank(out, escaped);
                }
            }
            _ => blank(out, taken),
        }
    }
}

/// After an `r` that may open a raw string: `r"…"`, `r#"…"#`; `r#type` is a word.
fn blank_raw(rest: &mut Vec<char>, out: &mut String) {
    let hashes = rest.iter().rev().take_while(|&&next| next == '#').count();
    out.push('r');
    if rest.iter().rev().nth(hashes) != Some(&'"') {
        return;
    }
    for _ in 0..=hashes {
        rest.pop();
    }
    out.push('"');
    while let Some(taken) = rest.pop() {
        let closing = rest.iter().rev().take(hashes).filter(|&&next| next == '#').count();
        if taken == '"' && closing == hashes {
            rest.truncate(rest.len() - hashes);
            return out.push('"');
        }
        blank(out, taken);
    }
}

/// After a `'`: a character, or a lifetime, which is left alone.
fn blank_char(rest: &mut Vec<char>, out: &mut String) {
    out.push('\'');
    let (first, second) = (rest.last().copied(), rest.iter().rev().nth(1).copied());
    if first == Some('\\') {
        rest.pop();
        rest.pop();
        while rest.pop().is_some_and(|taken| taken != '\'') {}
        out.push('\'');
    } else if second == Some('\'') {
        rest.pop();
        rest.pop();
        out.push('\'');
    }
}

/// A function in a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Where it begins, 1-based.
    pub(crate) line: usize,
    /// Lines of its body that hold code.
    pub(crate) code_lines: usize,
}

/// The functions with a body in `code`, which is what [`code_only`] returned.
pub(crate) fn functions(code: &str) -> Vec<Function> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices("fn ") {
        if ends_in_word(&code[..at]) {
            continue;
        }
        let after = &code[at + 3..];
        let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let Some(body) = body(after).filter(|_| !name.is_empty()) else { continue };
        let line = code[..at].matches('\n').count() + 1;
        let code_lines = body.lines().filter(|line| !line.trim().is_empty()).count();
        found.push(Function { name, line, code_lines });
    }
    found
}

/// From after `fn` to the end of the body, braces left out; nothing for a declaration.
fn body(after: &str) -> Option<&str> {
    let open = after.find(['{', ';'])?;
    if !after[open..].starts_with('{') {
        return array_type_then_body(after, open);
    }
    let mut depth = 0_usize;
    for (at, next) in after[open..].char_indices() {
        match next {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(&after[open + 1..open + at]);
        }
    }
    None
}

/// The `;` of an array type (`[u8; 4]`) in a signature ends no declaration.
fn array_type_then_body(after: &str, semicolon: usize) -> Option<&str> {
    let before = &after[..semicolon];
    let in_brackets = before.matches('[').count() > before.matches(']').count();
    if in_brackets { body(&after[semicolon + 1..]) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_blanked_and_lines_kept() {
        let source = "a(\"x // y\"); // note\n/* one /* two */ still */ b('\"', '\\'', 'c);\nr#\"raw \" todo!()\"# r#type";
        let code = code_only(source);
        assert_eq!(code.lines().count(), 3);
        assert!(!code.contains("note") && !code.contains("still") && !code.contains("todo"), "{code}");
        assert!(code.contains("b('', '', 'c);") && code.ends_with("r#type"), "{code}");
    }

    #[test]
    fn functions_are_found_with_their_code_lines() {
        let source = "\
            fn short() { 1 }\n\
            trait T { fn declared(&self) -> [u8; 4]; }\n\
            impl T {\n\
                /// fn in_a_comment() {}\n\
                pub(crate) fn long(x: [u8; 4]) -> u8 {\n\
                    // not counted\n\
                    let s = \"}\";\n\
            \n\
                    if x[0] == 1 { 2 } else { 3 }\n\
                }\n\
            }\n";
        let found = functions(&code_only(source));
        let found: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.line, f.code_lines)).collect();
        assert_eq!(found, [("short", 1, 1), ("long", 5, 2)]);
    }
}
