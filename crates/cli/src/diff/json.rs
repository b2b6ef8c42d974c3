//! The comparison as JSON. Keys are a contract with scripts, as those of the report are.

use serde_json::{Map, Value, json};
use tierscope_report::compare::{Excerpt, Line, Place, Side, Verdict, decision};
use tierscope_report::paired::{Pair, Paired};

use crate::diff::facts::Compared;
use crate::diff::side::Contestant;

/// The text, ending with a newline.
pub(crate) fn write(
    contestants: &[Contestant; 2],
    compared: &Compared,
    pairs: &[Pair],
    metrics: &[Paired],
) -> String {
    let (findings, excerpt) = (&compared.findings, &compared.excerpt);
    let aspects: Map<String, Value> = findings
        .aspects
        .iter()
        .map(|(aspect, verdict)| (aspect.key().to_owned(), told(verdict, excerpt)))
        .collect();
    let lanes: Map<String, Value> =
        findings.lanes.iter().map(|(lane, [a, b])| (lane.clone(), json!({ "a": a, "b": b }))).collect();
    let first = findings.stream.first;
    let value = json!({
        "tierscope": tierscope_sim::VERSION,
        "a": contestants[0].told(),
        "b": contestants[1].told(),
        "equal": findings.equal() && metrics.iter().all(|metric| metric.same),
        "facts": told(&findings.stream, excerpt),
        "neighbourhood": first.map(|place| json!({
            "before": lines(excerpt.before(if place.a.is_some() { Side::A } else { Side::B }, place)),
            "a": lines(excerpt.from(Side::A, place)),
            "b": lines(excerpt.from(Side::B, place)),
        })),
        "decisions": told(&findings.decisions, excerpt),
        "first_decision": decision(findings, excerpt),
        "aspects": aspects,
        "lanes": lanes,
        "seeds": pairs.iter().map(|pair| pair.seed).collect::<Vec<_>>(),
        "same_requests": pairs.iter().all(|pair| pair.same_work),
        "metrics": metrics.iter().map(|metric| (metric.metric.key.to_owned(), told_metric(metric)))
            .collect::<Map<_, _>>(),
    });
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    text.push('\n');
    text
}

fn told(verdict: &Verdict, excerpt: &Excerpt) -> Value {
    let [a, b] = verdict.entries;
    json!({
        "equal": verdict.equal,
        "entries_a": a,
        "entries_b": b,
        "first": verdict.first.map(|place| json!({
            "a": fact(excerpt, Side::A, place),
            "b": fact(excerpt, Side::B, place),
        })),
    })
}

fn fact(excerpt: &Excerpt, side: Side, place: Place) -> Value {
    place.of(side).map_or(Value::Null, |number| match excerpt.line(side, Some(number)) {
        Some(line) => told_line(line),
        None => json!({ "fact": number }),
    })
}

fn lines<'a>(lines: impl Iterator<Item = &'a Line>) -> Value {
    lines.map(told_line).collect()
}

/// Times before the first arrival are negative; they fit as long as runs last less than 292 years.
fn told_line(line: &Line) -> Value {
    json!({ "fact": line.fact, "at_ns": i64::try_from(line.at_ns).unwrap_or(i64::MAX), "words": line.words })
}

fn told_metric(paired: &Paired) -> Value {
    json!({
        "a": paired.medians[0],
        "b": paired.medians[1],
        "difference": paired.difference,
        "relative": paired.relative,
        "pairs": paired.pairs,
        "interval": paired.interval,
        "excludes_zero": paired.stands_out(),
    })
}
