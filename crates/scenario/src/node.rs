//! One tree for both notations: values with the byte offset at which they stand.

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// Byte offset in the text.
    pub(crate) at: usize,
    pub(crate) value: Value,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    /// A TOML date or time, which no key takes.
    Date(String),
    Array(Vec<Node>),
    Table(Vec<Entry>),
}

/// A key of a table with its value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    /// Byte offset of the key.
    pub(crate) at: usize,
    pub(crate) key: String,
    pub(crate) node: Node,
}

impl Node {
    /// What this is, for a message.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "null".into(),
            Value::Bool(value) => value.to_string(),
            Value::Int(value) => value.to_string(),
            Value::Float(value) if value.is_nan() => "NaN".into(),
            Value::Float(value) if value.is_infinite() => {
                if *value > 0.0 { "infinity" } else { "-infinity" }.into()
            }
            Value::Float(value) => format!("{value:?}"),
            Value::Text(text) => crate::problem::quote(text),
            Value::Date(text) => format!("the date {text}"),
            Value::Array(items) => format!("an array of {}", items.len()),
            Value::Table(_) => "a table".into(),
        }
    }

    pub(crate) fn entries(&self) -> Option<&[Entry]> {
        match &self.value {
            Value::Table(entries) => Some(entries),
            _ => None,
        }
    }
}
