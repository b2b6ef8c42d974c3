//! Two reports beside each other: each number of A, of B, and what lies between them.

use std::cmp::Ordering;

use super::format::{count, percent, rate, time};
use super::moves::bytes;
use super::report::{ReportView, Summary};

/// A line of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What is counted.
    pub name: String,
    /// In A, in B.
    pub sides: [String; 2],
    /// B − A, with its sign; empty where both are the same.
    pub difference: String,
    /// That by A; empty where A is 0, or where it says nothing.
    pub relative: String,
    /// Whether that is good.
    pub verdict: Verdict,
}

/// What a difference means to who waits for answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is none.
    Same,
    /// B is better.
    Better,
    /// B is worse.
    Worse,
    /// Neither: it depends on what one wants.
    Other,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Other => "differs",
        }
    }

    /// Of a difference, where more is better, worse, or neither.
    pub fn of(difference: f64, wish: Wish) -> Self {
        match (difference.partial_cmp(&0.0), wish) {
            (Some(Ordering::Equal), _) => Self::Same,
            (Some(Ordering::Greater), Wish::More) | (Some(Ordering::Less), Wish::Less) => Self::Better,
            (Some(Ordering::Less), Wish::More) | (Some(Ordering::Greater), Wish::Less) => Self::Worse,
            _ => Self::Other,
        }
    }
}

/// What one wants of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The more the better.
    More,
    /// The less the better.
    Less,
    /// It depends.
    Neither,
}

/// Lines with a heading of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The heading.
    pub name: &'static str,
    /// The lines.
    pub lines: Vec<Line>,
}

/// All of them.
pub fn groups(a: &ReportView, b: &ReportView) -> Vec<Group> {
    let groups = [
        Group { name: "Latency", lines: latencies(a, b) },
        Group { name: "Throughput", lines: throughput(a, b) },
        Group { name: "Hit ratio, first admission", lines: hits(a, b) },
        Group { name: "Work", lines: work(a, b) },
        Group { name: "Bytes per lane", lines: lanes(a, b) },
    ];
    groups.into_iter().filter(|group| !group.lines.is_empty()).collect()
}

fn latencies(a: &ReportView, b: &ReportView) -> Vec<Line> {
    let of = |report: &ReportView| {
        let latency = &report.latency;
        [
            ("TTFT", latency.ttft_ns),
            ("ITL", latency.itl_ns),
            ("TPOT", latency.tpot_ns),
            ("E2E", latency.e2e_ns),
        ]
    };
    type Statistic = fn(&Summary) -> f64;
    const STATISTICS: [(&str, Statistic); 4] =
        [("mean", |of| of.avg), ("p50", |of| of.p50), ("p90", |of| of.p90), ("p99", |of| of.p99)];
    let pairs = of(a).into_iter().zip(of(b)).filter(|((_, a), (_, b))| a.count + b.count > 0);
    pairs
        .flat_map(|((name, a), (_, b))| {
            STATISTICS.map(|(statistic, read)| {
                let value = |summary: &Summary| (summary.count > 0).then(|| read(summary));
                line(format!("{name} {statistic}"), [value(&a), value(&b)], time, Wish::Less)
            })
        })
        .collect()
}

fn throughput(a: &ReportView, b: &ReportView) -> Vec<Line> {
    let per_s = |value: f64| format!("{}/s", rate(value));
    let read = |of: fn(&ReportView) -> Option<f64>| [of(a), of(b)];
    vec![
        line("Tokens", read(|r| Some(r.throughput.output_tokens_per_s)), per_s, Wish::More),
        line("Requests", read(|r| Some(r.throughput.requests_per_s)), per_s, Wish::More),
        line("Goodput", read(|r| r.throughput.goodput_requests_per_s), per_s, Wish::More),
        line("Makespan", read(|r| Some(r.makespan_ns)), time, Wish::Less),
    ]
}

fn hits(a: &ReportView, b: &ReportView) -> Vec<Line> {
    let read = |tier: &str| {
        [a, b].map(|report| {
            let first = &report.hit_ratio.first_admission;
            let there = tier == "g1" || report.tiers.contains_key(tier);
            if tier == "total" { first.total.or(first.g1) } else { first.of(tier).filter(|_| there) }
        })
    };
    let tiers = [("G1", "g1"), ("G2", "g2"), ("G3", "g3"), ("G4", "g4"), ("all tiers", "total")];
    let known =
        tiers.into_iter().map(|(name, key)| (name, read(key))).filter(|(_, sides)| *sides != [None, None]);
    // That a hit moves from one tier to another is neither good nor bad; that there is one is good.
    let wish = |name: &str| if name == "all tiers" { Wish::More } else { Wish::Neither };
    known.map(|(name, sides)| points(name, sides, wish(name))).collect()
}

fn work(a: &ReportView, b: &ReportView) -> Vec<Line> {
    let read = |of: fn(&ReportView) -> u64| [Some(of(a) as f64), Some(of(b) as f64)];
    let whole = |value: f64| count(value as u64);
    let outcomes = [a, b].map(|report| report.outcome);
    let mut lines = vec![Line {
        name: "Outcome".to_owned(),
        sides: outcomes.map(|outcome| outcome.words().to_owned()),
        difference: String::new(),
        relative: String::new(),
        verdict: if outcomes[0] == outcomes[1] { Verdict::Same } else { Verdict::Other },
    }];
    lines.extend([
        line("Completed", read(|r| r.requests.completed), whole, Wish::More),
        line("Preemptions", read(|r| r.preemptions), whole, Wish::Less),
        line("Recomputed tokens", read(|r| r.tokens.recomputed), whole, Wish::Less),
        line("Passes", read(|r| r.passes), whole, Wish::Neither),
    ]);
    lines
}

fn lanes(a: &ReportView, b: &ReportView) -> Vec<Line> {
    let mut keys: Vec<&String> = a.lanes.keys().chain(b.lanes.keys()).collect();
    keys.sort();
    keys.dedup();
    let moved = |report: &ReportView, key: &str| Some(report.lanes.get(key).map_or(0.0, |lane| lane.bytes));
    let line = |key: &String| {
        let sides = [moved(a, key), moved(b, key)];
        line(key.to_uppercase().replace('_', "→"), sides, bytes, Wish::Neither)
    };
    keys.into_iter().map(line).filter(|line| line.sides != ["0 B", "0 B"]).collect()
}

/// A line of numbers.
fn line(name: impl Into<String>, sides: [Option<f64>; 2], print: impl Fn(f64) -> String, wish: Wish) -> Line {
    let printed = sides.map(|value| value.map_or_else(|| "–".to_owned(), &print));
    let (difference, relative, verdict) = match sides {
        [Some(a), Some(b)] if a == b => (String::new(), String::new(), Verdict::Same),
        [Some(a), Some(b)] => {
            let verdict = Verdict::of(b - a, wish);
            (signed(b - a, &print), by(a, b - a), verdict)
        }
        [None, None] => (String::new(), String::new(), Verdict::Same),
        _ => (String::new(), String::new(), Verdict::Other),
    };
    Line { name: name.into(), sides: printed, difference, relative, verdict }
}

/// A line of ratios, whose difference is told in points of per cent.
fn points(name: &str, sides: [Option<f64>; 2], wish: Wish) -> Line {
    let whole = line(name, sides, percent, wish);
    match sides {
        [Some(a), Some(b)] if a != b => {
            Line { difference: format!("{} pt", sign((b - a) * 100.0, 1)), ..whole }
        }
        _ => whole,
    }
}

/// A difference with its sign: a true minus, so that columns align.
pub fn signed(difference: f64, print: impl Fn(f64) -> String) -> String {
    let sign = if difference < 0.0 { "−" } else { "+" };
    format!("{sign}{}", print(difference.abs()))
}

/// A difference by what it started from: `+12 %`, or `×3.1` from twice as much on.
pub fn by(from: f64, difference: f64) -> String {
    if from == 0.0 || !difference.is_finite() {
        return String::new();
    }
    let share = difference / from;
    let digits = if share.abs() < 0.0995 { 1 } else { 0 };
    match share {
        _ if share >= 1.0 => format!("×{:.1}", share + 1.0),
        _ => format!("{} %", sign(share * 100.0, digits)),
    }
}

fn sign(value: f64, digits: usize) -> String {
    let sign = if value < 0.0 { "−" } else { "+" };
    format!("{sign}{:.digits$}", value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(json: &str) -> ReportView {
        ReportView::read(json).expect("a report")
    }

    #[test]
    fn what_is_better_depends_on_the_number() {
        let a = report(
            r#"{"latency":{"ttft_ns":{"avg":2e6,"p50":1e6,"p90":3e6,"p99":4e6,"count":3}},
            "hit_ratio":{"first_admission":{"g1":0.25,"total":0.25}},"preemptions":2,
            "throughput":{"output_tokens_per_s":100.0},"lanes":{"g1_g2":{"bytes":1000.0}}}"#,
        );
        let b = report(
            r#"{"latency":{"ttft_ns":{"avg":1e6,"p50":1e6,"p90":3e6,"p99":9e6,"count":3}},
            "hit_ratio":{"first_admission":{"g1":0.5,"total":0.5}},"preemptions":5,
            "throughput":{"output_tokens_per_s":150.0},"outcome":"dead_end"}"#,
        );
        let groups = groups(&a, &b);
        let find = |name: &str| {
            let line = groups.iter().flat_map(|group| &group.lines).find(|line| line.name == name);
            let line = line.unwrap_or_else(|| panic!("{name} in {groups:?}"));
            (line.difference.as_str(), line.relative.as_str(), line.verdict)
        };
        assert_eq!(find("TTFT mean"), ("−1.00 ms", "−50 %", Verdict::Better));
        assert_eq!(find("TTFT p50"), ("", "", Verdict::Same));
        assert_eq!(find("TTFT p99"), ("+5.00 ms", "×2.2", Verdict::Worse));
        assert_eq!(find("Tokens"), ("+50.0/s", "+50 %", Verdict::Better));
        assert_eq!(find("all tiers"), ("+25.0 pt", "×2.0", Verdict::Better));
        assert_eq!(find("G1").2, Verdict::Other);
        assert_eq!(find("Preemptions"), ("+3", "×2.5", Verdict::Worse));
        assert_eq!(find("Outcome").2, Verdict::Other);
        assert_eq!(find("G1→G2").2, Verdict::Other);
        assert!(!groups.iter().any(|group| group.lines.iter().any(|line| line.name.starts_with("ITL"))));
    }

    #[test]
    fn a_small_change_keeps_a_digit() {
        assert_eq!([by(100.0, 1.5), by(100.0, -30.0), by(0.0, 5.0)], ["+1.5 %", "−30 %", ""]);
    }
}
