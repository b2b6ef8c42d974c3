//! YAML as the node tree: mappings, sequences and plain values, each with its place. Anchors, aliases and tags are refused:
//! no configuration needs them, and aliases can make much out of little.

use saphyr_parser::{Event, Parser, ScalarStyle, Span};

use crate::node::{Entry, Node, Value};
use crate::problem::Problems;

/// Longest file in bytes.
const BYTES: usize = 256 << 10;
/// Most values of a file.
const EVENTS: usize = 20_000;
/// Deepest nesting.
const DEPTH: usize = 32;

/// The tree of the first document; nothing when a problem was reported.
pub(super) fn read(text: &str, problems: &Problems<'_>) -> Option<Node> {
    if text.len() > BYTES {
        let found = format!("a file of {} bytes", text.len());
        problems.report(
            0,
            "",
            found,
            "a configuration of at most 256 KiB",
            "keep only the settings of the cache",
        );
        return None;
    }
    let places = Places::of(text);
    let mut open: Vec<Open> = Vec::new();
    for (count, event) in Parser::new_from_str(text).enumerate() {
        let (event, span) = match event {
            Ok(found) => found,
            Err(error) => {
                let at = places.byte(error.marker().index());
                let found = format!("a syntax error ({})", error.info());
                problems.report(
                    at,
                    "",
                    found,
                    "YAML",
                    "write key: value, one a line, with spaces and no tabs before it",
                );
                return None;
            }
        };
        let at = places.byte(start(&span));
        if count > EVENTS || open.len() > DEPTH {
            let mend = "keep only the settings of the cache";
            problems.report(at, "", "a file of more values than any configuration", "a configuration", mend);
            return None;
        }
        let closed = match event {
            Event::Alias(_) => return refuse(problems, at),
            Event::Scalar(_, _, anchor, ref tag) if anchor > 0 || tag.is_some() => {
                return refuse(problems, at);
            }
            Event::Scalar(value, style, ..) => Some(Node { at, value: scalar(&value, style) }),
            Event::MappingStart(anchor, tag) | Event::SequenceStart(anchor, tag)
                if anchor > 0 || tag.is_some() =>
            {
                return refuse(problems, at);
            }
            Event::MappingStart(..) => {
                open.push(Open { at, kind: Kind::Mapping { entries: Vec::new(), key: None } });
                None
            }
            Event::SequenceStart(..) => {
                open.push(Open { at, kind: Kind::Sequence(Vec::new()) });
                None
            }
            Event::MappingEnd | Event::SequenceEnd => open.pop().map(Open::close),
            _ => None,
        };
        let Some(node) = closed else { continue };
        match open.last_mut() {
            Some(parent) => parent.take(node, problems),
            None => return (!problems.any()).then_some(node),
        }
    }
    problems.report(0, "", "no value", "a mapping of settings", "write chunk_size: 256 and the like");
    None
}

fn refuse(problems: &Problems<'_>, at: usize) -> Option<Node> {
    problems.report(at, "", "an anchor, an alias or a tag", "plain values", "write the value out");
    None
}

fn start(span: &Span) -> usize {
    span.start.index()
}

/// A plain value by YAML's core schema, and the words that Python's reader takes for truth.
fn scalar(text: &str, style: ScalarStyle) -> Value {
    if style != ScalarStyle::Plain {
        return Value::Text(text.to_owned());
    }
    match text {
        "" | "~" | "null" | "Null" | "NULL" | "None" => Value::Null,
        "true" | "True" | "TRUE" | "yes" | "Yes" | "on" | "On" => Value::Bool(true),
        "false" | "False" | "FALSE" | "no" | "No" | "off" | "Off" => Value::Bool(false),
        _ => {
            let plain = text.replace('_', "");
            let number = text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first));
            match (number, plain.parse::<i64>(), plain.parse::<f64>()) {
                (true, Ok(whole), _) => Value::Int(i128::from(whole)),
                (true, _, Ok(number)) => Value::Float(number),
                _ => Value::Text(text.to_owned()),
            }
        }
    }
}

struct Open {
    at: usize,
    kind: Kind,
}

enum Kind {
    Sequence(Vec<Node>),
    Mapping { entries: Vec<Entry>, key: Option<(usize, String)> },
}

impl Open {
    fn close(self) -> Node {
        let value = match self.kind {
            Kind::Sequence(items) => Value::Array(items),
            Kind::Mapping { entries, .. } => Value::Table(entries),
        };
        Node { at: self.at, value }
    }

    fn take(&mut self, node: Node, problems: &Problems<'_>) {
        let (entries, key) = match &mut self.kind {
            Kind::Sequence(items) => return items.push(node),
            Kind::Mapping { entries, key } => (entries, key),
        };
        match key.take() {
            Some((at, key)) => entries.push(Entry { at, key, node }),
            None => match node.value {
                Value::Text(text) => *key = Some((node.at, text)),
                Value::Int(number) => *key = Some((node.at, number.to_string())),
                _ => {
                    problems.report(
                        node.at,
                        "",
                        node.describe(),
                        "a name before the colon",
                        "name the setting",
                    );
                    *key = Some((node.at, String::new()));
                }
            },
        }
    }
}

/// From characters, as the parser counts, to bytes.
struct Places {
    bytes: Vec<usize>,
    end: usize,
}

impl Places {
    fn of(text: &str) -> Self {
        Self { bytes: text.char_indices().map(|(at, _)| at).collect(), end: text.len() }
    }

    fn byte(&self, character: usize) -> usize {
        self.bytes.get(character).copied().unwrap_or(self.end)
    }
}
