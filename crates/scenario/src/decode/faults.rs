//! `[[fault]]`: what goes wrong on the lanes (rule L9).

use tierscope_engine::Lane;
use tierscope_units::{SimTime, Span};

use super::fields::Fields;
use super::tiers::Present;
use crate::fault::{FaultKind, FaultSpec, HANDOFF_LANE, When};
use crate::limit;

pub(crate) fn decode(root: &Fields<'_>, present: Present) -> Vec<FaultSpec> {
    let Some(items) = root.items("fault") else { return Vec::new() };
    if let (true, Some(entry)) = (items.len() > limit::FAULTS, root.entry("fault")) {
        root.refuse(entry, format!("at most {} faults", limit::FAULTS), "use every, rate or from_ms");
        return Vec::new();
    }
    let mut list = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("{}[{index}]", root.key("fault"));
        let Some(one) = Fields::open(item, &path, root.problems) else { continue };
        list.extend(fault(&one, present));
        one.close();
    }
    list
}

fn fault(fields: &Fields<'_>, present: Present) -> Option<FaultSpec> {
    let (lane, kind, when) = (lane(fields, present), kind(fields), when(fields));
    Some(FaultSpec { lane: lane?, kind: kind?, when: when? })
}

/// The index of the lane: those between tiers, and behind them that of handoffs.
fn lane(fields: &Fields<'_>, present: Present) -> Option<u8> {
    let mut words: Vec<(&'static str, Option<Lane>)> =
        Lane::ALL.iter().map(|&lane| (lane.name(), Some(lane))).collect();
    words.push(("handoff", None));
    if !fields.has("lane") {
        fields.missing("lane", "the lane whose copies it strikes", "add lane = \"g1_g2\"");
    }
    let Some(lane) = fields.word("lane", &words)? else {
        if let (false, Some(entry)) = (present.handoffs, fields.entry("lane")) {
            let mend = "add [workers] with prefill = 1 and decode = 1, or name another lane";
            fields.refuse(entry, "a lane of the scenario, which has no handoffs", mend);
        }
        return Some(HANDOFF_LANE);
    };
    if let (Some(tier), Some(entry)) = (present.lacking(lane), fields.entry("lane")) {
        let mend = format!("add [{}], or name another lane", tier.name());
        fields.refuse(entry, "a lane between tiers of the scenario", mend);
    }
    Some(lane.index() as u8)
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fail,
    Stall,
    Slow,
    Lose,
    Corrupt,
}

fn kind(fields: &Fields<'_>) -> Option<FaultKind> {
    let words = [
        ("fail", Kind::Fail),
        ("stall", Kind::Stall),
        ("slow", Kind::Slow),
        ("lose", Kind::Lose),
        ("corrupt", Kind::Corrupt),
    ];
    if !fields.has("kind") {
        fields.missing("kind", "what goes wrong", "add kind = \"fail\"");
    }
    let kind = fields.word("kind", &words);
    let stall = fields.copy_limit_milliseconds("stall_ms");
    let factor = fields.number("factor", 1.0, limit::SLOW_FACTOR);
    if kind != Some(Kind::Stall) {
        fields.misplaced(
            "stall_ms",
            "it only beside kind = \"stall\"",
            "write kind = \"stall\", or remove it",
        );
    } else if !fields.has("stall_ms") {
        fields.missing("stall_ms", "how much later the copy begins", "add stall_ms = 100");
    }
    if kind != Some(Kind::Slow) {
        fields.misplaced("factor", "it only beside kind = \"slow\"", "write kind = \"slow\", or remove it");
    } else if !fields.has("factor") {
        fields.missing("factor", "how many times as long the copy takes", "add factor = 2.0");
    }
    Some(match kind? {
        Kind::Fail => FaultKind::Fail,
        Kind::Stall => FaultKind::Stall(stall?),
        Kind::Slow => FaultKind::SlowDown { times_milli: libm::round(factor? * 1e3) as u32 },
        Kind::Lose => FaultKind::Lose,
        Kind::Corrupt => FaultKind::Corrupt,
    })
}

fn when(fields: &Fields<'_>) -> Option<When> {
    const KEYS: [&str; 4] = ["nth", "every", "from_ms", "rate"];
    const ONE: &str = "one of nth, every, from_ms and rate";
    let nth = fields.whole("nth", 1, limit::WHOLE_NUMBER).map(When::Nth);
    let every = fields.whole("every", 1, limit::WHOLE_NUMBER).map(When::Every);
    let within = within(fields);
    let rate = rate(fields);
    let written: Vec<&'static str> = KEYS.into_iter().filter(|&key| fields.has(key)).collect();
    if written.is_empty() {
        fields.missing("nth", ONE, "add nth = 1, every = 10, from_ms = 0 or rate = 0.01");
    }
    for &key in written.iter().skip(1) {
        fields.misplaced(key, ONE, "keep one of them");
    }
    nth.or(every).or(within).or(rate)
}

fn within(fields: &Fields<'_>) -> Option<When> {
    let instant = |span: Span| SimTime::from_ns(span.as_ns());
    let until = fields.milliseconds("until_ms").map(instant);
    if !fields.has("from_ms") {
        fields.misplaced("until_ms", "it only beside from_ms", "add from_ms = 0, or remove it");
    }
    let at = instant(fields.milliseconds("from_ms")?);
    if let (Some(until), Some(entry)) = (until, fields.entry("until_ms"))
        && until <= at
    {
        fields.refuse(entry, "a time after from_ms", "raise it, or lower from_ms");
    }
    Some(When::From { at, until })
}

fn rate(fields: &Fields<'_>) -> Option<When> {
    let rate = fields.number("rate", 0.0, 1.0)?;
    let per_million = libm::round(rate * 1e6) as u32;
    if let (0, true, Some(entry)) = (per_million, rate > 0.0, fields.entry("rate")) {
        fields.refuse(entry, "0, or 0.000001 to 1", "write 0.000001 or more");
    }
    Some(When::Rate { per_million })
}
