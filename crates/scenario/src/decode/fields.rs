//! The keys of one table, taken one by one. What nobody took is an unknown key, reported with its neighbours.

use std::cell::RefCell;

use tierscope_units::Span;

use crate::limit;
use crate::node::{Entry, Node, Value};
use crate::problem::{Problems, either, nearest, quote};

/// A table that is being decoded. Finish with [`Fields::close`].
pub(crate) struct Fields<'n> {
    pub(crate) problems: &'n Problems<'n>,
    pub(crate) path: String,
    pub(crate) at: usize,
    entries: &'n [Entry],
    known: RefCell<Vec<&'static str>>,
}

impl<'n> Fields<'n> {
    /// The fields of a node; `None`, reported, when it is no table.
    pub(crate) fn open(node: &'n Node, path: &str, problems: &'n Problems<'n>) -> Option<Self> {
        let Some(entries) = node.entries() else {
            problems.report(
                node.at,
                path,
                node.describe(),
                "a table",
                format!("write [{path}] and its keys below"),
            );
            return None;
        };
        Some(Self { problems, path: path.into(), at: node.at, entries, known: RefCell::default() })
    }

    /// The path of a key of this table.
    pub(crate) fn key(&self, name: &str) -> String {
        if self.path.is_empty() { name.into() } else { format!("{}.{name}", self.path) }
    }

    /// The entry called `name`, which is a known key from now on.
    pub(crate) fn entry(&self, name: &'static str) -> Option<&'n Entry> {
        let mut known = self.known.borrow_mut();
        if !known.contains(&name) {
            known.push(name);
        }
        self.entries.iter().find(|entry| entry.key == name)
    }

    pub(crate) fn has(&self, name: &'static str) -> bool {
        self.entry(name).is_some()
    }

    /// Reports every key that nobody took.
    pub(crate) fn close(self) {
        let known = self.known.borrow();
        for entry in self.entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            if self.problems.full() {
                return;
            }
            let mend = match nearest(&entry.key, &known) {
                Some(near) => format!("did you mean {near}?"),
                None => format!("remove it; the keys here are {}", known.join(", ")),
            };
            let found = format!("the unknown key {}", quote(&entry.key));
            let place = if self.path.is_empty() {
                "a key of a scenario".into()
            } else {
                format!("a key of [{}]", self.path)
            };
            let key: String = entry.key.chars().take(60).filter(|c| !c.is_control()).collect();
            self.problems.report(entry.at, &self.key(&key), found, place, mend);
        }
    }

    /// Reports a problem with the value of a key.
    pub(crate) fn refuse(&self, entry: &Entry, expected: impl Into<String>, mend: impl Into<String>) {
        self.problems.report(entry.node.at, &self.key(&entry.key), entry.node.describe(), expected, mend);
    }

    /// Reports a key that is missing.
    pub(crate) fn missing(&self, name: &str, expected: impl Into<String>, mend: impl Into<String>) {
        self.problems.report(self.at, &self.key(name), "no such key", expected, mend);
    }

    /// Reports a key that stands where it has no meaning.
    pub(crate) fn misplaced(&self, name: &'static str, expected: &str, mend: &str) {
        if let Some(entry) = self.entry(name) {
            self.problems.report(entry.at, &self.key(name), format!("the key {name}"), expected, mend);
        }
    }

    pub(crate) fn text(&self, name: &'static str) -> Option<&'n str> {
        let entry = self.entry(name)?;
        if let Value::Text(text) = &entry.node.value {
            return Some(text);
        }
        self.refuse(entry, "text", format!("put it in quotation marks: {name} = \"…\""));
        None
    }

    pub(crate) fn flag(&self, name: &'static str) -> Option<bool> {
        let entry = self.entry(name)?;
        if let Value::Bool(truth) = entry.node.value {
            return Some(truth);
        }
        self.refuse(
            entry,
            "true or false",
            format!("write {name} = true or {name} = false, without quotation marks"),
        );
        None
    }

    /// One of some words.
    pub(crate) fn word<T: Copy>(&self, name: &'static str, words: &[(&'static str, T)]) -> Option<T> {
        let text = self.text(name)?;
        if let Some((_, value)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*value);
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let quoted: Vec<String> = names.iter().map(|word| format!("\"{word}\"")).collect();
        let expected = either(&quoted.iter().map(String::as_str).collect::<Vec<_>>());
        let mend = match nearest(text, &names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("write {name} = \"{}\" or another of these", names[0]),
        };
        self.refuse(self.entry(name)?, expected, mend);
        None
    }

    /// A whole number within bounds, both included.
    pub(crate) fn whole(&self, name: &'static str, low: u64, high: u64) -> Option<u64> {
        let entry = self.entry(name)?;
        match whole_of(&entry.node, low, high) {
            Ok(number) => Some(number),
            Err(mend) => {
                self.refuse(entry, format!("a whole number from {low} to {high}"), mend);
                None
            }
        }
    }

    /// A whole number that fits 32 bits, within bounds, both included.
    pub(crate) fn count(&self, name: &'static str, low: u64, high: u64) -> Option<u32> {
        self.whole(name, low, high.min(u64::from(u32::MAX))).map(|number| number as u32)
    }

    /// A finite number within bounds, both included.
    pub(crate) fn number(&self, name: &'static str, low: f64, high: f64) -> Option<f64> {
        let entry = self.entry(name)?;
        match number_of(&entry.node, low, high) {
            Ok(number) => Some(number),
            Err(mend) => {
                self.refuse(entry, format!("a number from {low} to {high}"), mend);
                None
            }
        }
    }

    /// Milliseconds, whole or not.
    pub(crate) fn milliseconds(&self, name: &'static str) -> Option<Span> {
        self.number(name, 0.0, limit::TIME_MS).map(Span::from_ms_f64)
    }

    /// Milliseconds of what a copy waits for or takes: at most a day.
    pub(crate) fn copy_milliseconds(&self, name: &'static str) -> Option<Span> {
        self.number(name, 0.0, limit::COPY_TIME_MS).map(Span::from_ms_f64)
    }

    /// The same of a limit, which cannot be zero.
    pub(crate) fn copy_limit_milliseconds(&self, name: &'static str) -> Option<Span> {
        self.number(name, 0.000_001, limit::COPY_TIME_MS).map(Span::from_ms_f64)
    }

    /// Whole nanoseconds.
    pub(crate) fn nanoseconds(&self, name: &'static str) -> Option<Span> {
        self.whole(name, 0, limit::TIME_NS).map(Span::from_ns)
    }

    /// The table called `name`; `None`, reported where it stands and is none.
    pub(crate) fn table(&self, name: &'static str) -> Option<Self> {
        Self::open(&self.entry(name)?.node, &self.key(name), self.problems)
    }

    /// The items of an array.
    pub(crate) fn items(&self, name: &'static str) -> Option<&'n [Node]> {
        let entry = self.entry(name)?;
        if let Value::Array(items) = &entry.node.value {
            return Some(items);
        }
        self.refuse(entry, "an array", format!("put it in brackets: {name} = […]"));
        None
    }
}

/// A node as a whole number, or a mend.
pub(crate) fn whole_of(node: &Node, low: u64, high: u64) -> Result<u64, String> {
    match node.value {
        Value::Int(number) if number < i128::from(low) => Err(format!("write {low} or more")),
        Value::Int(number) if number > i128::from(high) => Err(format!("write {high} or less")),
        Value::Int(number) => Ok(number as u64),
        Value::Float(number)
            if libm::trunc(number) == number && number >= low as f64 && number <= high as f64 =>
        {
            Err(format!("write {} without a point or an exponent", number as u64))
        }
        Value::Float(number) if number > high as f64 => Err(format!("write {high} or less")),
        Value::Float(_) => Err("write a number without a fraction".into()),
        Value::Text(ref text) if text.trim().parse::<u64>().is_ok() => {
            Err("remove the quotation marks".into())
        }
        _ => Err(format!("write a number, for example {}", low.max(1))),
    }
}

/// A node as a finite number, or a mend.
pub(crate) fn number_of(node: &Node, low: f64, high: f64) -> Result<f64, String> {
    let number = match &node.value {
        Value::Int(number) => *number as f64,
        Value::Float(number) => *number,
        Value::Text(text) if text.trim().parse::<f64>().is_ok() => {
            return Err("remove the quotation marks".into());
        }
        _ => return Err(format!("write a number, for example {}", low.max(1.0).min(high))),
    };
    if number.is_nan() {
        return Err("write a number that is one".into());
    }
    if number < low {
        return Err(format!("write {low} or more"));
    }
    if number > high {
        return Err(format!("write {high} or less"));
    }
    Ok(number)
}
