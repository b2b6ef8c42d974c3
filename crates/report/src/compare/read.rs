//! Lines of a fact log (`tierscope run --events`) as records.
//!
//! A line is one flat JSON object with `fact` and `at_ns`; which fields it has besides is its own affair, so that
//! logs with facts of later versions are read too. `serde_json` parses; nothing is copied but block lists.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::record::{Block, Record, Value};

/// Longest line, in bytes: a fact about two million blocks.
pub const LINE_BYTES_MAX: usize = 64 << 20;
/// Most fields of a fact.
const FIELDS_MAX: usize = 64;

/// What is wrong with a line of a fact log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineProblem {
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1; 0 where it is the whole line.
    pub column: usize,
    /// What is there.
    pub found: String,
    /// What should be.
    pub expected: String,
    /// What to do.
    pub mend: &'static str,
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column, found, expected, mend } = self;
        write!(f, "{line}:")?;
        if *column > 0 {
            write!(f, "{column}:")?;
        }
        write!(f, " found {found}, expected {expected}\n  mend: {mend}")
    }
}

impl std::error::Error for LineProblem {}

const FACT: &str = "one fact a line, a JSON object with \"fact\" and \"at_ns\"";
const AGAIN: &str = "write the log again with `tierscope run SCENARIO --events FILE`";
const CUT: &str =
    "write the log again with `tierscope run SCENARIO --events FILE`; the line seems to be cut short";

/// The record on a line. `number` is the line's, from 1.
///
/// # Errors
///
/// When the line is no fact, with what was found and expected.
pub fn read_line(line: &str, number: u64) -> Result<Record<'_>, LineProblem> {
    let problem = |column, found: String, expected: &str, mend| {
        Err(LineProblem { line: number, column, found, expected: expected.to_owned(), mend })
    };
    if line.len() > LINE_BYTES_MAX {
        return problem(0, format!("{} bytes on one line", line.len()), "at most 64 MiB", AGAIN);
    }
    if line.trim().is_empty() {
        return problem(0, "an empty line".to_owned(), FACT, "take it out");
    }
    serde_json::from_str(line).or_else(|error| {
        let text = error.to_string();
        let text = text.rsplit_once(" at line ").map_or(text.as_str(), |(text, _)| text);
        let column = error.column();
        match text.split_once(", expected ") {
            _ if error.is_eof() => problem(column, "the end of the line".to_owned(), FACT, CUT),
            Some((found, expected)) if error.is_data() => problem(column, found.to_owned(), expected, AGAIN),
            _ if error.is_data() => problem(column, text.to_owned(), FACT, AGAIN),
            _ => problem(column, format!("no JSON ({text})"), FACT, AGAIN),
        }
    })
}

impl<'de: 'a, 'a> Deserialize<'de> for Record<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(RecordVisitor)
    }
}

struct RecordVisitor;

impl<'de> Visitor<'de> for RecordVisitor {
    type Value = Record<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(FACT)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Record<'de>, A::Error> {
        let (mut kind, mut at_ns) = (None, None);
        let mut fields: Vec<(&str, Value<'_>)> = Vec::with_capacity(8);
        while let Some(key) = map.next_key::<&'de str>()? {
            match key {
                "fact" if kind.is_none() => kind = Some(map.next_value::<&'de str>()?),
                "at_ns" if at_ns.is_none() => at_ns = Some(map.next_value::<u64>()?),
                _ if matches!(key, "fact" | "at_ns") || fields.iter().any(|(name, _)| *name == key) => {
                    return Err(A::Error::custom(format!("the key {key:?} twice, expected each key once")));
                }
                _ if fields.len() == FIELDS_MAX => {
                    return Err(A::Error::custom("more than 64 fields, expected fewer"));
                }
                _ => fields.push((key, map.next_value()?)),
            }
        }
        let lacks = |key| A::Error::custom(format!("a fact without {key:?}, expected {FACT}"));
        Ok(Record {
            kind: kind.ok_or_else(|| lacks("fact"))?,
            at_ns: at_ns.ok_or_else(|| lacks("at_ns"))?.into(),
            fields,
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a truth value, a word without escapes, null, or a list")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Value<'de>, E> {
        Ok(Value::Flag(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Value<'de>, E> {
        Ok(Value::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Value<'de>, E> {
        Ok(Value::Real(number))
    }

    fn visit_unit<E>(self) -> Result<Value<'de>, E> {
        Ok(Value::Nothing)
    }

    fn visit_borrowed_str<E>(self, word: &'de str) -> Result<Value<'de>, E> {
        Ok(Value::Word(word))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value<'de>, A::Error> {
        // Capacity follows what is there, not what a hint says.
        let (mut blocks, mut others) = (Vec::new(), Vec::new());
        while let Some(item) = list.next_element::<Item<'de>>()? {
            match item {
                Item::Block(block) => blocks.push(block),
                Item::Other(value) => others.push(value),
            }
            if !blocks.is_empty() && !others.is_empty() {
                return Err(A::Error::custom("a list of blocks and other things, expected one or the other"));
            }
        }
        Ok(if others.is_empty() { Value::Blocks(blocks) } else { Value::List(others) })
    }
}

/// An entry of a list: `[slot, "hash"]` is a block.
enum Item<'a> {
    Block(Block),
    Other(Value<'a>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a block, [slot, \"hash\"], or a number, a truth value, a word without escapes, or null")
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Item<'de>, E> {
        Ok(Item::Other(Value::Flag(flag)))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Item<'de>, E> {
        Ok(Item::Other(Value::Number(number.into())))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Item<'de>, E> {
        Ok(Item::Other(Value::Number(number.into())))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Item<'de>, E> {
        Ok(Item::Other(Value::Real(number)))
    }

    fn visit_unit<E>(self) -> Result<Item<'de>, E> {
        Ok(Item::Other(Value::Nothing))
    }

    fn visit_borrowed_str<E>(self, word: &'de str) -> Result<Item<'de>, E> {
        Ok(Item::Other(Value::Word(word)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Item<'de>, A::Error> {
        let first = list.next_element::<Value<'de>>()?;
        let second = list.next_element::<Value<'de>>()?;
        let third = list.next_element::<Value<'de>>()?;
        let mut items = match (first, second, third) {
            (Some(Value::Number(slot)), Some(Value::Word(hash)), None) => {
                return Ok(Item::Block(block(slot, hash)?));
            }
            (first, second, third) => Vec::from_iter([first, second, third].into_iter().flatten()),
        };
        while let Some(value) = list.next_element()? {
            items.push(value);
        }
        Ok(Item::Other(Value::List(items)))
    }
}

fn block<E: Error>(slot: i128, hash: &str) -> Result<Block, E> {
    let slot = u32::try_from(slot)
        .map_err(|_| E::custom(format!("slot {slot}, expected a number from 0 to {}", u32::MAX)))?;
    match u64::from_str_radix(hash, 16) {
        Ok(parsed) if hash.len() == 16 && !hash.starts_with('+') => {
            Ok(Block { slot: slot.into(), hash: parsed })
        }
        _ => Err(E::custom(format!("hash {:?}, expected 16 hexadecimal digits", shortened(hash)))),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(24).collect()
}
