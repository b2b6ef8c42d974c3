//! Scenario texts made or changed by the program: one key set (`--set`), or a default around a bare trace.

use toml_edit::{ArrayOfTables, Document, DocumentMut, InlineTable, Item, Table, Value as Toml};

use crate::node::{Entry, Node, Value};
use crate::problem::{Problem, Problems, quote};
use crate::scenario::Scenario;
use crate::text::{format_of, json, without_bom};
use crate::trace::TraceFormat;
use crate::{SourceFormat, limit};

/// Sets one key: `engine.g1_blocks=100`, `timing.model=roofline`, `workload.request[0].at_ms=5`.
///
/// The value is TOML; what is no TOML value counts as text. Tables that are missing are made. The rest of a TOML text
/// stays as it is, comments and order included; a JSON text becomes TOML. Whether the key exists in the schema shows
/// when the result is parsed.
///
/// # Errors
/// An assignment without `=`, a path that leads through a value or past the end of an array, or a text that is
/// not TOML or JSON.
#[allow(clippy::result_large_err, reason = "one problem of a call that is made once per flag")]
pub fn set(text: &str, assignment: &str) -> Result<String, Problem> {
    changed(text, assignment).map_err(|problem| *problem)
}

fn changed(text: &str, assignment: &str) -> Result<String, Box<Problem>> {
    let Some((path, value)) = assignment.split_once('=') else {
        return Err(refuse("", quote(assignment), "KEY=VALUE", "for example engine.g1_blocks=100"));
    };
    let path = path.trim();
    let mut document = document(text)?;
    let steps = steps(path)?;
    assign(document.as_table_mut(), &steps, path, toml_value(value.trim()))?;
    Ok(document.to_string())
}

/// A problem with an assignment, which has no place in the text.
fn refuse(key: &str, found: impl Into<String>, expected: &str, mend: &str) -> Box<Problem> {
    let (file, found) = (Some("--set".into()), found.into());
    let (expected, mend) = (expected.into(), mend.into());
    Box::new(Problem { file, line: 1, column: 1, key: key.into(), found, expected, mend })
}

fn document(text: &str) -> Result<DocumentMut, Box<Problem>> {
    let text = without_bom(text);
    let problems = Problems::of(text);
    if text.len() > limit::SCENARIO_TEXT_BYTES {
        return Err(refuse(
            "",
            format!("a text of {} bytes", text.len()),
            "at most 1 MiB",
            "put the requests in a trace file",
        ));
    }
    if format_of(text) == SourceFormat::Toml {
        if let Ok(document) = Document::parse(text) {
            return Ok(document.into_mut());
        }
        crate::text::toml::read(text, &problems);
    } else if let Some(Node { value: Value::Table(entries), .. }) = json::read(text, &problems) {
        return Ok(DocumentMut::from(table_of(&entries)));
    }
    Err(problems.finish().into_iter().next().map(Box::new).unwrap_or_else(|| {
        refuse("", "a text that is no table", "a scenario in TOML or JSON", "write key = value")
    }))
}

fn toml_value(text: &str) -> Toml {
    text.parse::<Toml>().unwrap_or_else(|_| Toml::from(text)).decorated(" ", "")
}

#[derive(Clone, Debug)]
enum Step {
    Key(String),
    Index(usize),
}

/// `a.b[3].c` or `a.b.3.c`.
fn steps(path: &str) -> Result<Vec<Step>, Box<Problem>> {
    let bad = || {
        refuse(
            path,
            quote(path),
            "keys joined by dots",
            "for example engine.g1_blocks or workload.request[0].at_ms",
        )
    };
    let mut steps = Vec::new();
    for part in path.split('.') {
        let (name, mut indices) = part.split_once('[').map_or((part, ""), |(name, rest)| (name, rest));
        if name.is_empty()
            || steps.len() > 16
            || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
        {
            return Err(bad());
        }
        match (name.parse(), steps.is_empty()) {
            (Ok(index), false) => steps.push(Step::Index(index)),
            _ => steps.push(Step::Key(name.into())),
        }
        while !indices.is_empty() {
            let (index, rest) = indices.split_once(']').ok_or_else(bad)?;
            steps.push(Step::Index(index.parse().map_err(|_| bad())?));
            indices = rest.strip_prefix('[').unwrap_or("");
            if !rest.is_empty() && indices.is_empty() {
                return Err(bad());
            }
        }
    }
    Ok(steps)
}

fn assign(table: &mut Table, steps: &[Step], path: &str, value: Toml) -> Result<(), Box<Problem>> {
    let [Step::Key(first), rest @ ..] = steps else {
        return Err(refuse(path, quote(path), "a key", "for example engine.g1_blocks"));
    };
    let blank = |last: bool| if last { Item::None } else { Item::Table(Table::new()) };
    let mut item = table.entry(first).or_insert(blank(rest.is_empty()));
    for (position, step) in rest.iter().enumerate() {
        let last = position + 1 == rest.len();
        item = match step {
            Step::Key(key) => {
                let inline = matches!(item, Item::Value(_));
                let kind = item.type_name();
                let Some(inner) = item.as_table_like_mut() else {
                    return Err(refuse(path, kind, "a table", "name a key of a table"));
                };
                let missing = if inline && !last {
                    Item::Value(Toml::InlineTable(InlineTable::new()))
                } else {
                    blank(last)
                };
                inner.entry(key).or_insert(missing)
            }
            Step::Index(index) => {
                let kind = item.type_name();
                let found = item.get_mut(*index).filter(|_| kind.contains("array"));
                found.ok_or_else(|| {
                    refuse(
                        path,
                        format!("no item {index} in the {kind}"),
                        "an item that exists",
                        "items are numbered from 0; add new ones in the text",
                    )
                })?
            }
        };
    }
    put(item, value, path)
}

fn put(item: &mut Item, value: Toml, path: &str) -> Result<(), Box<Problem>> {
    match item {
        Item::None | Item::Value(_) => {
            let value = match item.as_value() {
                Some(old) => {
                    let (prefix, suffix) = (old.decor().prefix().cloned(), old.decor().suffix().cloned());
                    value.decorated(prefix.unwrap_or_else(|| " ".into()), suffix.unwrap_or_default())
                }
                None => value,
            };
            *item = Item::Value(value);
            Ok(())
        }
        Item::Table(_) | Item::ArrayOfTables(_) => {
            Err(refuse(path, item.type_name(), "a key with one value", "name a key inside it"))
        }
    }
}

/// A JSON object as a TOML table; `null` counts as absent.
fn table_of(entries: &[Entry]) -> Table {
    let mut table = Table::new();
    // TOML wants the plain keys of a table before its inner tables.
    for wants_table in [false, true] {
        for entry in entries {
            if let Some(item) = item_of(&entry.node).filter(|item| item.is_value() != wants_table) {
                table.insert(&entry.key, item);
            }
        }
    }
    table
}

fn item_of(node: &Node) -> Option<Item> {
    Some(match &node.value {
        Value::Table(entries) => Item::Table(table_of(entries)),
        Value::Array(items) if !items.is_empty() && items.iter().all(|item| item.entries().is_some()) => {
            let tables = items.iter().filter_map(Node::entries).map(table_of);
            Item::ArrayOfTables(tables.collect::<ArrayOfTables>())
        }
        _ => Item::Value(value_of(node)?),
    })
}

fn value_of(node: &Node) -> Option<Toml> {
    Some(match &node.value {
        Value::Null => return None,
        Value::Bool(truth) => Toml::from(*truth),
        Value::Int(number) => match i64::try_from(*number) {
            Ok(number) => Toml::from(number),
            Err(_) => Toml::from(*number as f64),
        },
        Value::Float(number) => Toml::from(*number),
        Value::Text(text) | Value::Date(text) => Toml::from(text.as_str()),
        Value::Array(items) => Toml::Array(items.iter().filter_map(value_of).collect()),
        Value::Table(entries) => {
            let inline =
                entries.iter().filter_map(|entry| Some((entry.key.as_str(), value_of(&entry.node)?)));
            Toml::InlineTable(inline.collect())
        }
    })
}

/// The scenario text around a bare trace file: what [`set`] can change and [`crate::parse`] reads. Its engine block is the trace's where
/// that is given, else the format's; vLLM's for traces without hashes.
pub fn default_text_for_trace(name: &str, format: TraceFormat, block_tokens: Option<u32>) -> String {
    let block = match format.block_tokens() {
        Some(usual) => block_tokens.unwrap_or(usual),
        None => 16,
    };
    // So that the text stays within its limit, whatever the name.
    let name: String = name.chars().take(4_096).collect();
    let (file, word) = (Toml::from(name), format.word());
    let mut text = format!(
        "tierscope = 1\ntitle = {file}\n\n[engine]\nblock_size_tokens = {block}\n\n[timing]\n\
         model = \"polynomial\"\n\n[workload]\nkind = \"trace\"\nfile = {file}\nformat = \"{word}\"\n"
    );
    if format.block_tokens().is_some_and(|usual| usual != block) {
        text.push_str(&format!("trace_block_tokens = {block}\n"));
    }
    text
}

/// The scenario of a bare trace file, with every choice in its `defaults`.
pub fn default_for_trace(name: &str, format: TraceFormat) -> Scenario {
    let text = default_text_for_trace(name, format, None);
    let mut scenario = crate::parse(&text, SourceFormat::Toml)
        .expect("the text around a trace is a valid scenario, whatever its file's name");
    let block = scenario.engine.block_size_tokens;
    let why = match format.block_tokens() {
        Some(_) => "the trace's own block",
        None => "vLLM's default",
    };
    let chosen = [
        format!("engine.block_size_tokens = {block} ({why})"),
        "timing.model = \"polynomial\" (the coefficients of Dynamo's mocker, uncalibrated)".to_owned(),
    ];
    scenario.defaults.splice(0..0, chosen);
    scenario
}
