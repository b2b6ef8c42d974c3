//! A knob: one key of the scenario and the values that it takes.
//!
//! `key=item,item,…`, where an item is a TOML value as `--set` takes it, or a range:
//!
//! | item | values |
//! |---|---|
//! | `lo..hi:n` | n values, evenly spaced, both ends among them |
//! | `lo..hi*f` | lo, lo × f, lo × f² … up to hi |
//! | `lo..hi+s` | lo, lo + s, lo + 2s … up to hi |
//!
//! Where both ends are whole numbers the values are rounded to whole numbers, and one that repeats is taken once.

use crate::refusal::{Refusal, quote};
use crate::row::Kind;

/// Most values of one knob.
const VALUES_MAX: usize = 10_000;
const FLAG: &str = "--knob";

/// One key of the scenario and the values that it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// The key, as `--set` names it: `engine.g1_blocks`.
    pub key: String,
    /// Its values in order, as `--set` takes them; at least one.
    pub values: Vec<String>,
    /// What they all are.
    pub kind: Kind,
}

impl Knob {
    /// Reads `key=item,item,…`.
    ///
    /// # Errors
    /// What is no knob, has no value, has one twice, or has more than ten thousand.
    pub fn parse(text: &str) -> Result<Self, Refusal> {
        let split = text.split_once('=').map(|(key, items)| (key.trim(), items));
        let Some((key, items)) = split.filter(|(key, _)| !key.is_empty()) else {
            return Err(Refusal::new(
                FLAG,
                quote(text),
                "KEY=VALUES",
                "for example engine.g1_blocks=500,1000 or g2.blocks=1000..64000*2",
            ));
        };
        let mut values: Vec<String> = Vec::new();
        for item in items_of(items) {
            let more = values_of(item.trim(), VALUES_MAX - values.len())?;
            values.extend(more);
        }
        if let Some(twice) =
            values.iter().enumerate().find_map(|(at, v)| values[..at].contains(v).then_some(v))
        {
            return Err(Refusal::new(
                FLAG,
                format!("the value {} twice in {}", quote(twice), quote(text)),
                "each value once",
                "remove one of the two, or let ranges not overlap",
            ));
        }
        Ok(Self::new(key.to_owned(), values))
    }

    /// A knob of these values.
    pub(crate) fn new(key: String, values: Vec<String>) -> Self {
        let kind = Kind::of_all(values.iter().map(String::as_str));
        Self { key, values, kind }
    }
}

/// Splits at commas outside of quotes and brackets.
fn items_of(text: &str) -> Vec<&str> {
    let (mut items, mut start, mut depth) = (Vec::new(), 0, 0_usize);
    let mut quoted: Option<char> = None;
    for (at, next) in text.char_indices() {
        match (quoted, next) {
            (Some(mark), _) if next == mark => quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quoted = Some(next),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                items.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    items.push(&text[start..]);
    items
}

/// The values of one item; at most `room` of them.
fn values_of(item: &str, room: usize) -> Result<Vec<String>, Refusal> {
    if item.is_empty() {
        return Err(Refusal::new(FLAG, "an empty value", "a value between commas", "remove the extra comma"));
    }
    let too_many = || {
        let expected = format!("at most {VALUES_MAX} values of a knob");
        Refusal::new(FLAG, format!("more with {}", quote(item)), expected, "take a wider step")
    };
    let Some(range) = Range::of(item)? else {
        return if room == 0 { Err(too_many()) } else { Ok(vec![item.to_owned()]) };
    };
    range.values(room).ok_or_else(too_many)
}

enum Step {
    Count(u32),
    Factor(f64),
    Plus(f64),
}

struct Range {
    low: f64,
    high: f64,
    step: Step,
    whole: bool,
}

impl Range {
    /// The range that an item writes; `None` for a single value.
    fn of(item: &str) -> Result<Option<Self>, Refusal> {
        let Some((low, rest)) = item.split_once("..").filter(|_| !item.starts_with(['"', '\'', '[', '{']))
        else {
            return Ok(None);
        };
        let Ok(low_value) = number(low) else { return Ok(None) };
        let bad = || {
            Refusal::new(
                FLAG,
                quote(item),
                "a range with its step: lo..hi:n, lo..hi*factor or lo..hi+step",
                "for example 1000..64000*2; text with .. in it stands in quotes",
            )
        };
        let at = rest.find([':', '*', '+']).ok_or_else(bad)?;
        let (high, step) = (&rest[..at], &rest[at + 1..]);
        let high_value = number(high).map_err(|()| bad())?;
        let step = match rest.as_bytes()[at] {
            b':' => Step::Count(step.trim().parse().ok().filter(|&n| n >= 2).ok_or_else(bad)?),
            b'*' => Step::Factor(number(step).ok().filter(|&f| f > 1.0 && low_value > 0.0).ok_or_else(bad)?),
            _ => Step::Plus(number(step).ok().filter(|&s| s > 0.0).ok_or_else(bad)?),
        };
        if low_value >= high_value {
            return Err(bad());
        }
        let whole = [low, high].iter().all(|end| end.trim().replace('_', "").parse::<i64>().is_ok());
        Ok(Some(Self { low: low_value, high: high_value, step, whole }))
    }

    /// The values; `None` when there are more than `room`.
    fn values(&self, room: usize) -> Option<Vec<String>> {
        let mut values: Vec<String> = Vec::new();
        let mut power = self.low;
        for index in 0_u32.. {
            let value = match self.step {
                Step::Count(n) if index < n => {
                    // Exact at both ends.
                    (self.low * f64::from(n - 1 - index) + self.high * f64::from(index)) / f64::from(n - 1)
                }
                Step::Count(_) => break,
                Step::Plus(step) => self.low + step * f64::from(index),
                Step::Factor(factor) => {
                    let value = power;
                    power *= factor;
                    value
                }
            };
            if value > self.high {
                break;
            }
            let text = self.text(value);
            if values.last() != Some(&text) {
                values.push(text);
            }
            // A step that is lost in rounding would never reach the end.
            if values.len() > room || index as usize > 10 * VALUES_MAX {
                return None;
            }
        }
        Some(values)
    }

    fn text(&self, value: f64) -> String {
        if self.whole { format!("{:.0}", libm::round(value)) } else { format!("{value:?}") }
    }
}

fn number(text: &str) -> Result<f64, ()> {
    let text = text.trim().replace('_', "");
    text.parse()
        .ok()
        .filter(|number: &f64| number.is_finite() && text.starts_with(|c: char| !c.is_alphabetic()))
        .ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn values(text: &str) -> String {
        Knob::parse(text).map_or_else(|refusal| refusal.to_string(), |knob| knob.values.join(" "))
    }

    #[test]
    fn values_are_listed_or_spaced() {
        let knob = Knob::parse("engine.g1_blocks = 500,1000, 2000").expect("a knob");
        assert_eq!((knob.key.as_str(), knob.values.len()), ("engine.g1_blocks", 3));
        assert_eq!(values("a=100..500:5"), "100 200 300 400 500");
        assert_eq!(values("a=1..2:4"), "1 2", "whole ends, whole values, each once");
        assert_eq!(values("a=0.5..1.5:3"), "0.5 1.0 1.5");
        assert_eq!(values("a=1_000..64_000*2"), "1000 2000 4000 8000 16000 32000 64000");
        assert_eq!(values("a=100..1000*1.5"), "100 150 225 338 506 759");
        assert_eq!(values("a=1..10+4,20"), "1 5 9 20");
        assert_eq!(values("a=\"x,y\",[1,2],{ min = 1, max = 2 },z"), "\"x,y\" [1,2] { min = 1, max = 2 } z");
        assert_eq!(values("workload.file=../a.jsonl,\"../b.jsonl\""), "../a.jsonl \"../b.jsonl\"");
    }

    #[test]
    fn what_is_no_knob_is_refused_with_a_mend() {
        for bad in [
            "",
            "a",
            "=1",
            "a=",
            "a=1,,2",
            "a=1,1",
            "a=1..5",
            "a=5..1:3",
            "a=1..5:1",
            "a=0..5*2",
            "a=1..5*1",
            "a=1..5+0",
            "a=1..5+-1",
            "a=1..x:2",
            "a=0..1e9:20000",
            "a=1e300..2e300+1",
            "a=1..9007199254740993+1",
        ] {
            let refusal = Knob::parse(bad).expect_err(bad).to_string();
            assert!(
                refusal.starts_with("error: --knob: found ") && refusal.contains("\n  mend: "),
                "{refusal}"
            );
        }
    }
}
