//! The keys of a drawn workload.

use tierscope_units::Span;

use super::Notes;
use super::fields::{Fields, whole_of};
use crate::limit;
use crate::node::Value;
use crate::scenario::{ArrivalProcess, Lengths, SharedPrefix, Synthetic};

#[derive(Clone, Copy, PartialEq)]
enum Arrival {
    Poisson,
    FixedRate,
    ClosedLoop,
}

#[derive(Clone, Copy, PartialEq)]
enum Shape {
    Uniform,
    Normal,
    LogNormal,
}

pub(crate) fn decode(fields: &Fields<'_>, notes: &mut Notes) -> Option<Synthetic> {
    let requests = required(fields, "requests", limit::REQUESTS, "100");
    let arrival = arrival(fields);
    let prompt_tokens = lengths(fields, "prompt_tokens");
    let output_tokens = lengths(fields, "output_tokens");
    let shared_prefix = shared_prefix(fields);
    let turns = turns(fields, requests);
    let turn_delay = fields.milliseconds("turn_delay_ms");
    if !fields.has("turns") {
        fields.misplaced("turn_delay_ms", "it only beside turns", "add turns, or remove it");
    } else if turn_delay.is_none() && !fields.has("turn_delay_ms") {
        notes.default("workload.turn_delay_ms", 0, "no pause between turns");
    }
    Some(Synthetic {
        requests: requests?,
        arrival: arrival?,
        prompt_tokens: prompt_tokens?,
        output_tokens: output_tokens?,
        shared_prefix,
        turns: turns.unwrap_or(1),
        turn_delay: turn_delay.unwrap_or(Span::ZERO),
    })
}

fn required(fields: &Fields<'_>, name: &'static str, high: u64, example: &str) -> Option<u32> {
    if !fields.has(name) {
        fields.missing(name, format!("a whole number from 1 to {high}"), format!("add {name} = {example}"));
    }
    fields.count(name, 1, high)
}

fn turns(fields: &Fields<'_>, requests: Option<u32>) -> Option<u32> {
    let turns = fields.count("turns", 1, limit::REQUESTS)?;
    let all = u64::from(turns) * u64::from(requests?);
    if all > limit::REQUESTS {
        let expected = format!("at most {} requests in all; {all} = requests × turns", limit::REQUESTS);
        fields.refuse(fields.entry("turns")?, expected, "lower requests or turns");
        return None;
    }
    Some(turns)
}

fn arrival(fields: &Fields<'_>) -> Option<ArrivalProcess> {
    let words = [
        ("poisson", Arrival::Poisson),
        ("fixed_rate", Arrival::FixedRate),
        ("closed_loop", Arrival::ClosedLoop),
    ];
    let arrival = fields.word("arrival", &words);
    let rate = fields.number("rate_per_s", 1e-6, 1e9);
    let concurrency = fields.count("concurrency", 1, limit::CONCURRENCY);
    let think_time = fields.milliseconds("think_time_ms");
    let Some(arrival) = arrival else {
        if !fields.has("arrival") {
            let mend = if fields.has("concurrency") {
                "add arrival = \"closed_loop\""
            } else {
                "add arrival = \"poisson\" and rate_per_s"
            };
            fields.missing("arrival", "\"poisson\", \"fixed_rate\" or \"closed_loop\"", mend);
        }
        return None;
    };
    if arrival == Arrival::ClosedLoop {
        fields.misplaced(
            "rate_per_s",
            "no rate in a closed loop",
            "remove it, or write arrival = \"poisson\"",
        );
        if !fields.has("concurrency") {
            fields.missing(
                "concurrency",
                "how many requests a closed loop keeps in flight",
                "add concurrency = 8",
            );
        }
        return Some(ArrivalProcess::ClosedLoop {
            concurrency: concurrency?,
            think_time: think_time.unwrap_or(Span::ZERO),
        });
    }
    let only = "it only in a closed loop";
    fields.misplaced("concurrency", only, "remove it, or write arrival = \"closed_loop\" without rate_per_s");
    fields.misplaced("think_time_ms", only, "remove it, or write arrival = \"closed_loop\" with concurrency");
    if !fields.has("rate_per_s") {
        fields.missing("rate_per_s", "how many sessions begin per second", "add rate_per_s = 2.0");
    }
    let rate_per_s = rate?;
    Some(match arrival {
        Arrival::FixedRate => ArrivalProcess::FixedRate { rate_per_s },
        _ => ArrivalProcess::Poisson { rate_per_s },
    })
}

fn shared_prefix(fields: &Fields<'_>) -> Option<SharedPrefix> {
    let entry = fields.entry("shared_prefix")?;
    let inner = Fields::open(&entry.node, &fields.key("shared_prefix"), fields.problems)?;
    let tokens = required(&inner, "tokens", limit::TOKENS_PER_REQUEST, "1024");
    let groups = inner.count("groups", 1, limit::REQUESTS).unwrap_or(1);
    inner.close();
    Some(SharedPrefix { tokens: tokens?, groups })
}

/// `512`, `{ min, max }` or `{ mean, stddev }`, with `distribution` where the name is to be said.
fn lengths(fields: &Fields<'_>, name: &'static str) -> Option<Lengths> {
    const HIGH: u64 = limit::TOKENS_PER_REQUEST;
    let Some(entry) = fields.entry(name) else {
        fields.missing(
            name,
            "a number of tokens or a distribution",
            format!("add {name} = 512 or {name} = {{ min = 1, max = 512 }}"),
        );
        return None;
    };
    if !matches!(entry.node.value, Value::Table(_)) {
        return match whole_of(&entry.node, 1, HIGH) {
            Ok(tokens) => Some(Lengths::Fixed(tokens as u32)),
            Err(mend) => {
                fields.refuse(
                    entry,
                    format!("a whole number from 1 to {HIGH}, {{ min, max }} or {{ mean, stddev }}"),
                    mend,
                );
                None
            }
        };
    }
    let inner = Fields::open(&entry.node, &fields.key(name), fields.problems)?;
    let lengths = distribution(&inner);
    inner.close();
    lengths
}

fn distribution(inner: &Fields<'_>) -> Option<Lengths> {
    const HIGH: u64 = limit::TOKENS_PER_REQUEST;
    let shapes = [("uniform", Shape::Uniform), ("normal", Shape::Normal), ("lognormal", Shape::LogNormal)];
    let named = inner.word("distribution", &shapes);
    let shape = named.unwrap_or(if inner.has("mean") { Shape::Normal } else { Shape::Uniform });
    let (min, max) = (inner.count("min", 1, HIGH), inner.count("max", 1, HIGH));
    let (mean, stddev) = (inner.number("mean", 1.0, HIGH as f64), inner.number("stddev", 0.0, HIGH as f64));
    let (needed, foreign) = match shape {
        Shape::Uniform => (["min", "max"], ["mean", "stddev"]),
        Shape::Normal | Shape::LogNormal => (["mean", "stddev"], ["min", "max"]),
    };
    for name in foreign {
        inner.misplaced(name, "either min and max or mean and stddev", "remove one of the two pairs");
    }
    for name in needed {
        if !inner.has(name) {
            inner.missing(name, format!("{} and {}", needed[0], needed[1]), format!("add {name}"));
        }
    }
    match shape {
        Shape::Uniform => {
            let (min, max) = (min?, max?);
            if min > max {
                inner.refuse(inner.entry("min")?, format!("at most max ({max})"), "exchange min and max");
            }
            Some(Lengths::Uniform { min, max })
        }
        Shape::Normal => Some(Lengths::Normal { mean: mean?, stddev: stddev? }),
        Shape::LogNormal => Some(Lengths::LogNormal { mean: mean?, stddev: stddev? }),
    }
}
