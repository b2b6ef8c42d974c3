//! The values that stand in a scenario's text, as they are written: what a form shows.

use crate::node::{Node, Value};
use crate::problem::{Problem, Problems};
use crate::text::{format_of, without_bom};

/// A text, read as TOML or JSON; whether its keys mean anything is another question.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    root: Node,
    line_starts: Vec<usize>,
}

/// A value as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Text without its quotation marks; numbers, truths, arrays and tables as TOML has them.
    pub text: String,
    /// The line of the value, from 1.
    pub line: u32,
}

impl Values {
    /// Reads a text.
    ///
    /// # Errors
    /// A text that is no TOML, or no JSON: one problem.
    pub fn of(text: &str) -> Result<Self, Vec<Problem>> {
        let text = without_bom(text);
        let problems = Problems::of(text);
        match crate::text::read(text, format_of(text), &problems) {
            Some(root) => {
                let breaks = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
                let line_starts = std::iter::once(0).chain(breaks.map(|(at, _)| at + 1)).collect();
                Ok(Self { root, line_starts })
            }
            None => Err(problems.finish()),
        }
    }

    /// The value of a key such as `engine.g1_blocks`.
    pub fn get(&self, key: &str) -> Option<Written> {
        let node = self.node(key)?;
        let text = match &node.value {
            Value::Text(text) => text.clone(),
            _ => written(node, 0),
        };
        Some(Written { text, line: self.line(node) })
    }

    /// How many items the array at a key has, and the line of the first.
    pub fn items(&self, key: &str) -> Option<(usize, u32)> {
        match self.node(key).map(|node| &node.value) {
            Some(Value::Array(items)) => {
                Some((items.len(), items.first().map_or(1, |first| self.line(first))))
            }
            _ => None,
        }
    }

    /// Whether a key or a table is there.
    pub fn has(&self, key: &str) -> bool {
        self.node(key).is_some()
    }

    fn node(&self, key: &str) -> Option<&Node> {
        let mut node = &self.root;
        for step in key.split('.') {
            let found = match (&node.value, step.parse::<usize>()) {
                (Value::Array(items), Ok(index)) => items.get(index),
                (Value::Table(entries), _) => {
                    entries.iter().find(|entry| entry.key == step).map(|entry| &entry.node)
                }
                _ => None,
            };
            node = found?;
        }
        Some(node)
    }

    fn line(&self, node: &Node) -> u32 {
        self.line_starts.partition_point(|&start| start <= node.at) as u32
    }
}

/// Deeper nesting than any key has is cut.
const DEEPEST: u32 = 4;

fn written(node: &Node, depth: u32) -> String {
    if depth > DEEPEST {
        return "…".to_owned();
    }
    let all = |texts: Vec<String>| texts.join(", ");
    match &node.value {
        Value::Null => String::new(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Text(text) => format!("{text:?}"),
        Value::Date(text) => text.clone(),
        Value::Array(items) => {
            format!("[{}]", all(items.iter().take(64).map(|item| written(item, depth + 1)).collect()))
        }
        Value::Table(entries) => {
            let entries = entries.iter().take(64);
            let pairs = entries.map(|entry| format!("{} = {}", entry.key, written(&entry.node, depth + 1)));
            format!("{{ {} }}", all(pairs.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_shown_as_they_are_written() {
        let text = "tierscope = 1\ntitle = \"a\"\n[workload]\nprompt_tokens = { min = 5, max = 9.5 }\n[[fault]]\nlane = \"g1_g2\"\n[[fault]]\n";
        let values = Values::of(text).expect("TOML");
        let shown = |key: &str| values.get(key).map(|written| (written.text, written.line));
        assert_eq!(shown("title"), Some(("a".into(), 2)));
        assert_eq!(shown("workload.prompt_tokens"), Some(("{ min = 5, max = 9.5 }".into(), 4)));
        assert_eq!(shown("workload.prompt_tokens.min"), Some(("5".into(), 4)));
        assert_eq!(shown("fault.0.lane"), Some(("g1_g2".into(), 6)));
        assert_eq!((shown("nothing.at.all"), values.items("fault")), (None, Some((2, 5))));
        assert!(values.has("workload") && !values.has("g2"));
        assert!(Values::of("a = ").is_err());
        assert_eq!(
            Values::of("{\"a\": [true, null]}").ok().and_then(|it| it.get("a")).map(|it| it.text),
            Some("[true, ]".into())
        );
    }
}
