//! Strict JSON by `jsonc-parser`, whose nodes know their place: no comments, no trailing commas, no loose
//! names; a key that stands twice in an object is an error, since readers disagree on which one counts.

use std::collections::BTreeSet;

use jsonc_parser::ast::{Object, Value as Json};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::node::{Entry, Node, Value};
use crate::problem::{Problems, quote};

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

pub(crate) fn read(text: &str, problems: &Problems<'_>) -> Option<Node> {
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(result) => {
            let Some(value) = result.value else {
                problems.report(0, "", "no value", "a JSON object", "write {\"tierscope\": 1, …}");
                return None;
            };
            let before = problems.any();
            let node = node(&value, problems);
            (before || !problems.any()).then_some(node)
        }
        Err(error) => {
            let message = error.kind().to_string();
            let found = format!("a syntax error ({})", lower(&message));
            problems.report(error.range().start, "", found, "strict JSON", mend(&message));
            None
        }
    }
}

fn lower(message: &str) -> String {
    let mut characters = message.chars();
    characters.next().map(|first| first.to_lowercase().chain(characters).collect()).unwrap_or_default()
}

fn mend(message: &str) -> &'static str {
    if message.contains("omment") {
        "remove the comment, or write the scenario in TOML, which has comments"
    } else if message.contains("railing comma") {
        "remove the last comma"
    } else {
        "write \"key\": value pairs in {braces}, separated by commas"
    }
}

fn node(json: &Json<'_>, problems: &Problems<'_>) -> Node {
    let at = json.range().start;
    let value = match json {
        Json::NullKeyword(_) => Value::Null,
        Json::BooleanLit(truth) => Value::Bool(truth.value),
        Json::NumberLit(number) => number_value(number.value, at, problems),
        Json::StringLit(text) => Value::Text(text.value.to_string()),
        Json::Array(array) => Value::Array(array.elements.iter().map(|item| node(item, problems)).collect()),
        Json::Object(object) => Value::Table(entries(object, problems)),
    };
    Node { at, value }
}

fn number_value(digits: &str, at: usize, problems: &Problems<'_>) -> Value {
    let unsigned = digits.strip_prefix('-').unwrap_or(digits).as_bytes();
    if unsigned.len() > 1 && unsigned[0] == b'0' && unsigned[1].is_ascii_digit() {
        problems.report(at, "", quote(digits), "a JSON number", "remove the leading zeros");
    }
    if let Ok(whole) = digits.parse() {
        return Value::Int(whole);
    }
    // Too large for a float becomes infinity, which every key refuses by name.
    Value::Float(digits.parse().unwrap_or(f64::NAN))
}

fn entries(object: &Object<'_>, problems: &Problems<'_>) -> Vec<Entry> {
    let mut seen = BTreeSet::new();
    let mut entries = Vec::with_capacity(object.properties.len());
    for property in &object.properties {
        let (key, at) = (property.name.as_str(), property.name.range().start);
        if !seen.insert(key) {
            let found = format!("the key {} twice in one object", quote(key));
            problems.report(at, key, found, "each key once", "keep one of the two and remove the other");
        }
        entries.push(Entry { at, key: key.into(), node: node(&property.value, problems) });
    }
    entries
}
