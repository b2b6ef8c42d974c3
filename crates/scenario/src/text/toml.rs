//! TOML by `toml_edit`, whose nodes know their place.

use toml_edit::{Document, Item, Key, TableLike, Value as Toml};

use crate::node::{Entry, Node, Value};
use crate::problem::Problems;

pub(crate) fn read(text: &str, problems: &Problems<'_>) -> Option<Node> {
    match Document::parse(text) {
        Ok(document) => Some(Node { at: 0, value: table(document.as_table(), 0) }),
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let found = format!("a syntax error ({message})");
            problems.report(at, "", found, "TOML", mend(error.message()));
            None
        }
    }
}

fn mend(message: &str) -> &'static str {
    if message.contains("duplicate") {
        "keep one of the two and remove the other"
    } else {
        "write key = value; quote text; put tables in [brackets]"
    }
}

fn table(table: &dyn TableLike, at: usize) -> Value {
    let entry = |(name, item): (&str, &Item)| {
        let key_at = table.key(name).and_then(Key::span).map_or(at, |span| span.start);
        Entry { at: key_at, key: name.into(), node: item_node(item, key_at) }
    };
    Value::Table(table.iter().map(entry).collect())
}

fn item_node(item: &Item, fallback: usize) -> Node {
    let at = item.span().map_or(fallback, |span| span.start);
    let value = match item {
        Item::None => Value::Null,
        Item::Value(value) => return value_node(value, at),
        Item::Table(inner) => table(inner, at),
        Item::ArrayOfTables(tables) => {
            let node = |inner: &toml_edit::Table| {
                let at = inner.span().map_or(at, |span| span.start);
                Node { at, value: table(inner, at) }
            };
            Value::Array(tables.iter().map(node).collect())
        }
    };
    Node { at, value }
}

fn value_node(toml: &Toml, fallback: usize) -> Node {
    let at = toml.span().map_or(fallback, |span| span.start);
    let value = match toml {
        Toml::String(text) => Value::Text(text.value().clone()),
        Toml::Integer(number) => Value::Int(i128::from(*number.value())),
        Toml::Float(number) => Value::Float(*number.value()),
        Toml::Boolean(truth) => Value::Bool(*truth.value()),
        Toml::Datetime(date) => Value::Date(date.value().to_string()),
        Toml::Array(items) => Value::Array(items.iter().map(|item| value_node(item, at)).collect()),
        Toml::InlineTable(inner) => table(inner, at),
    };
    Node { at, value }
}
