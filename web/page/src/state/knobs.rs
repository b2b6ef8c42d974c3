//! The knobs of a scenario that people turn first: their keys, what they stand at, and what else they can stand at.

use tierscope_scenario::{ArrivalProcess, Scenario, WorkloadSpec, parse_any, set};

/// A key of a scenario and its present value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// As `--set` takes it.
    pub key: &'static str,
    /// What it is called.
    pub name: &'static str,
    /// What it is counted in; may be empty.
    pub unit: &'static str,
    /// What it stands at, as `--set` takes it.
    pub value: String,
    /// The words that it can stand at; none where it is a number.
    pub words: &'static [&'static str],
}

impl Knob {
    /// Its value times a factor, as `--set` takes it: whole where it was whole, and never 0.
    pub fn scaled(value: &str, factor: f64) -> Option<String> {
        let plain = value.trim().replace('_', "");
        let number: f64 = plain.parse().ok().filter(|number: &f64| number.is_finite())?;
        let scaled = number * factor;
        if plain.parse::<u64>().is_ok() {
            return Some(format!("{:.0}", scaled.round().clamp(1.0, 9e15)));
        }
        Some(format!("{scaled}"))
    }
}

const EVICTION: &[&str] = &["lru", "lineage", "tinylfu"];
const STORE: &[&str] = &["on_eviction", "on_compute", "on_hit"];
const LOAD: &[&str] = &["always", "sooner", "never"];
const WAITERS: &[&str] = &["wait", "recompute", "join"];
const ROUTER: &[&str] = &["round_robin", "least_loaded", "kv_aware"];

/// The knobs that a text has, in the order in which they are shown; none of a text with faults.
pub fn knobs(text: &str) -> Vec<Knob> {
    let Ok(scenario) = parse_any(text) else { return Vec::new() };
    let mut knobs = capacities(text, &scenario);
    knobs.extend(limits(&scenario));
    if scenario.engine.tiers.is_some() {
        knobs.extend(links(&scenario));
        knobs.extend(offload(&scenario));
    }
    if let Some(fleet) = &scenario.fleet {
        knobs.push(word("router.kind", "Router", fleet.router.kind.name().to_owned(), ROUTER));
    }
    knobs.extend(workload(&scenario));
    knobs.push(number("seed", "Seed", "", scenario.seed));
    knobs
}

fn number(key: &'static str, name: &'static str, unit: &'static str, value: impl ToString) -> Knob {
    Knob { key, name, unit, value: value.to_string(), words: &[] }
}

fn word(key: &'static str, name: &'static str, value: String, words: &'static [&'static str]) -> Knob {
    Knob { key, name, unit: "", value, words }
}

/// Blocks of the tiers; in GiB where the text has them so.
fn capacities(text: &str, scenario: &Scenario) -> Vec<Knob> {
    let mut knobs = vec![number("engine.g1_blocks", "G1", "blocks", scenario.engine.g1_blocks)];
    let Some(tiers) = &scenario.engine.tiers else { return knobs };
    let below = [
        ("g2.blocks", "g2.gib", "G2", Some(tiers.g2.blocks)),
        ("g3.blocks", "g3.gib", "G3", tiers.g3.map(|tier| tier.blocks)),
        ("g4.blocks", "g4.gib", "G4", tiers.g4.map(|tier| tier.blocks)),
    ];
    for (blocks, gib, name, there) in below {
        let Some(there) = there else { continue };
        // A tier has one of the two: where the one cannot be set, the other is written.
        let fits = set(text, &format!("{blocks}={there}")).is_ok_and(|text| parse_any(&text).is_ok());
        knobs.push(if fits {
            number(blocks, name, "blocks", there)
        } else {
            number(gib, name, "GiB", gib_of(there, scenario.kv_bytes_per_block))
        });
    }
    knobs
}

/// The shortest number of GiB that holds so many blocks and not one more.
fn gib_of(blocks: u32, block_bytes: u64) -> f64 {
    const GIB: f64 = 1_073_741_824.0;
    let exact = f64::from(blocks) * block_bytes as f64 / GIB;
    let rounded = (0..10).map(|digits| {
        let scale = 10_f64.powi(digits);
        (exact * scale - 1e-6).ceil() / scale
    });
    let holds = |gib: &f64| (gib * GIB / block_bytes as f64).floor() == f64::from(blocks);
    rounded.into_iter().find(holds).unwrap_or(exact)
}

fn limits(scenario: &Scenario) -> Vec<Knob> {
    let engine = &scenario.engine;
    let eviction = format!("{:?}", engine.eviction).to_lowercase();
    vec![
        number("engine.max_num_batched_tokens", "Batch", "tokens", engine.max_num_batched_tokens),
        number("engine.max_num_seqs", "Max running", "requests", engine.max_num_seqs),
        word("engine.eviction", "G1 evicts", eviction, EVICTION),
    ]
}

fn links(scenario: &Scenario) -> Vec<Knob> {
    let gb = |bytes_per_s: u64| bytes_per_s as f64 / 1e9;
    let links = &scenario.links;
    let tiers = scenario.engine.tiers.as_ref();
    let mut knobs = vec![
        number("links.pcie.down_gb_per_s", "G1→G2", "GB/s", gb(links.pcie.down.alone_bytes_per_s)),
        number("links.pcie.up_gb_per_s", "G2→G1", "GB/s", gb(links.pcie.up.alone_bytes_per_s)),
    ];
    let us = |span: tierscope_units::Span| span.as_ns() as f64 / 1e3;
    knobs.push(number("links.pcie.latency_us", "G1–G2 latency", "µs", us(links.pcie.up.latency)));
    if tiers.is_some_and(|tiers| tiers.g3.is_some()) {
        knobs.extend([
            number("links.disk.down_gb_per_s", "G2→G3", "GB/s", gb(links.disk.down.alone_bytes_per_s)),
            number("links.disk.up_gb_per_s", "G3→G2", "GB/s", gb(links.disk.up.alone_bytes_per_s)),
            number("links.disk.latency_us", "G2–G3 latency", "µs", us(links.disk.up.latency)),
        ]);
    }
    if tiers.is_some_and(|tiers| tiers.g4.is_some()) {
        knobs.extend([
            number("links.object.down_gb_per_s", "G2→G4", "GB/s", gb(links.object.down.alone_bytes_per_s)),
            number("links.object.up_gb_per_s", "G4→G2", "GB/s", gb(links.object.up.alone_bytes_per_s)),
            number("links.object.latency_us", "G2–G4 latency", "µs", us(links.object.up.latency)),
        ]);
    }
    knobs
}

fn offload(scenario: &Scenario) -> Vec<Knob> {
    let Some(tiers) = &scenario.engine.tiers else { return Vec::new() };
    // The names of the variants, as the scenario spells them.
    let spelled = |name: String| {
        let bare = name.split('(').next().unwrap_or_default().to_owned();
        let mut out = String::new();
        for (at, letter) in bare.chars().enumerate() {
            if letter.is_uppercase() && at > 0 {
                out.push('_');
            }
            out.extend(letter.to_lowercase());
        }
        out
    };
    vec![
        word("offload.store", "Stored", spelled(format!("{:?}", tiers.store)), STORE),
        word("offload.load", "Loaded", spelled(format!("{:?}", tiers.load)), LOAD),
        word("offload.waiters", "Who wants the same", spelled(format!("{:?}", tiers.waiters)), WAITERS),
    ]
}

fn workload(scenario: &Scenario) -> Vec<Knob> {
    let WorkloadSpec::Synthetic(drawn) = &scenario.workload else { return Vec::new() };
    let mut knobs = vec![number("workload.requests", "Sessions", "", drawn.requests)];
    knobs.push(match drawn.arrival {
        ArrivalProcess::Poisson { rate_per_s } | ArrivalProcess::FixedRate { rate_per_s } => {
            number("workload.rate_per_s", "Rate", "1/s", rate_per_s)
        }
        ArrivalProcess::ClosedLoop { concurrency, .. } => {
            number("workload.concurrency", "Clients", "", concurrency)
        }
    });
    knobs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::gallery;

    #[test]
    fn setting_a_knob_to_what_it_stands_at_is_valid_in_every_case() {
        for case in gallery::CASES {
            for knob in knobs(case.text) {
                let text = set(case.text, &format!("{}={}", knob.key, knob.value));
                let text = text.unwrap_or_else(|problem| panic!("{}: {problem}", case.name));
                let again = knobs(&text);
                let same = again.iter().find(|other| other.key == knob.key);
                assert_eq!(same.map(|same| &same.value), Some(&knob.value), "{}: {}", case.name, knob.key);
                assert!(knob.words.is_empty() || knob.words.contains(&knob.value.as_str()), "{knob:?}");
            }
        }
    }

    #[test]
    fn a_tier_in_gib_is_turned_in_gib() {
        let case = gallery::CASES.iter().find(|case| case.name == "disk-hit").expect("a case");
        let knobs = knobs(case.text);
        let g2 = knobs.iter().find(|knob| knob.name == "G2").expect("it has a G2");
        assert_eq!((g2.key, g2.value.as_str(), g2.unit), ("g2.gib", "4", "GiB"));
        assert!(super::knobs("tierscope = 99").is_empty());
    }

    #[test]
    fn numbers_are_doubled_and_halved() {
        let scaled = |value, factor| Knob::scaled(value, factor).unwrap_or_default();
        assert_eq!([scaled("40", 2.0), scaled("41", 0.5), scaled("1", 0.5)], ["80", "21", "1"]);
        assert_eq!([scaled("0.06", 2.0), scaled("1_000", 2.0), scaled("lru", 2.0)], ["0.12", "2000", ""]);
    }
}
