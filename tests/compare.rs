//! Every scenario's facts survive the way over a log, and every scenario is equal to itself by what it means.

use tierscope_report::compare::{Comparison, is_origin, read_line};
use tierscope_report::jsonl;
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_tests::{SCENARIOS, scenario};

/// Bytes of facts of a scenario after which the rest are left out: every kind of fact has come by then.
const LOG_BYTES: usize = 500_000;

/// The first facts of a scenario, as `tierscope run --events` writes them.
fn log(text: &str) -> String {
    let scenario = scenario(text);
    let workload = tierscope_scenario::expand(&scenario, None).expect("a scenario of the repository expands");
    let mut run = Run::new(&scenario, workload.into(), RunOptions::default());
    let mut lines = String::new();
    let mut state = RunState::Running;
    while state == RunState::Running && lines.len() < LOG_BYTES {
        let facts = |log: &_| write(&mut lines, log);
        state = run.advance(64, facts).expect("time does not overflow");
    }
    lines
}

fn write(lines: &mut String, log: &tierscope_engine::FactLog) {
    log.iter().for_each(|(at, fact)| jsonl::write_fact(lines, at, fact, log));
}

/// Every number that only counts is another, every clock begins elsewhere; what happened is the same.
fn disguised(log: &str) -> String {
    let moved = ["at_ns", "deadline_ns", "until_ns", "again_at_ns"];
    let counted = ["txn", "transfer", "claim", "pass", "generation"];
    let mut out = String::with_capacity(log.len());
    for line in log.lines() {
        let mut rest = line;
        while let Some((before, after)) = rest.split_once("\":") {
            let key = before.rsplit('"').next().unwrap_or("");
            let digits = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
            out.push_str(before);
            out.push_str("\":");
            match after[..digits].parse::<u64>() {
                Ok(at) if moved.contains(&key) && at < u64::MAX / 2 => {
                    out.push_str(&(at + 5_000).to_string())
                }
                Ok(number) if counted.contains(&key) => out.push_str(&(number * 3 + 1).to_string()),
                _ => out.push_str(&after[..digits]),
            }
            rest = &after[digits..];
        }
        out.push_str(rest);
        out.push('\n');
    }
    out
}

#[test]
fn every_scenario_is_equal_to_itself_in_disguise() {
    let mut facts = 0;
    for (name, text) in SCENARIOS {
        let lines = log(text);
        let other = disguised(&lines);
        assert_ne!(lines, other, "{name}");
        let origin = lines.lines().map(|line| read_line(line, 1).expect("a fact")).find(is_origin);
        let origin = origin.map_or(0, |record| record.at_ns);
        let mut comparison = Comparison::new([origin, origin + 5_000]);
        let mut sides = [lines.lines(), other.lines()];
        while let Some(side) = comparison.next() {
            match sides[side as usize].next() {
                Some(line) => comparison.take(side, &mut read_line(line, 1).expect("a fact")),
                None => comparison.end(side),
            }
        }
        let findings = comparison.finish();
        assert!(findings.equal(), "{name}: {:?}", findings.stream);
        for (aspect, verdict) in &findings.aspects {
            assert!(verdict.equal, "{name}: {aspect:?}: {verdict:?}");
        }
        facts += findings.stream.entries[0];
    }
    println!("{facts} facts of {} scenarios", SCENARIOS.len());
    assert!(facts > 50_000, "{facts}");
}
