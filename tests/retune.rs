//! A run that goes on under other conditions from a time on: what was before stays, what follows is as asked, nothing
//! is lost on the way.

use std::sync::Arc;

use tierscope_scenario::{Scenario, expand, parse_any, set};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_units::{RandomStream, SimTime};

/// A small machine whose G1 is short: two tiers, everything moves.
const SHORT: &str = r#"
tierscope = 1
title = "short"
seed = 5

[engine]
g1_blocks = 40
block_size_tokens = 16
max_num_batched_tokens = 512

[g2]
blocks = 60

[timing]
model = "polynomial"

[workload]
kind = "synthetic"
requests = 40
arrival = "poisson"
rate_per_s = 20.0
prompt_tokens = { min = 40, max = 200 }
output_tokens = { min = 5, max = 40 }
shared_prefix = { tokens = 64, groups = 3 }
"#;

fn parse(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

fn changed(text: &str, changes: &[&str]) -> Scenario {
    let text = changes.iter().fold(text.to_owned(), |text, change| {
        set(&text, change).unwrap_or_else(|problem| panic!("{problem}"))
    });
    parse(&text)
}

fn run_of(scenario: &Scenario) -> Run {
    let workload = expand(scenario, None).unwrap_or_else(|problems| panic!("{}", problems[0]));
    Run::new(scenario, Arc::new(workload), RunOptions { keyframes: true })
}

/// Every fact up to and at `until`, as text.
fn until(run: &mut Run, until: SimTime) -> Vec<String> {
    let mut facts = Vec::new();
    while run.state() == RunState::Running && run.simulation().next_time().unwrap_or(until) <= until {
        let told =
            run.advance(1, |log| facts.extend(log.iter().map(|(at, fact)| format!("{at:?} {fact:?}"))));
        told.expect("time stays within bounds");
    }
    facts
}

const END: SimTime = SimTime::from_ns(u64::MAX);

#[test]
fn what_was_before_stays_and_what_follows_differs() {
    let (old, new) = (parse(SHORT), changed(SHORT, &["engine.g1_blocks=400", "g2.blocks=400"]));
    let cut = SimTime::from_ns(700_000_000);
    let (mut plain, mut forked) = (run_of(&old), run_of(&old));
    let before = until(&mut forked, cut);
    assert_eq!(before, until(&mut plain, cut));
    forked.retune(cut, &old, &new).expect("tiers may grow");
    let (after, as_it_was) = (until(&mut forked, END), until(&mut plain, END));
    assert_ne!(after, as_it_was);
    assert_eq!((plain.state(), forked.state()), (RunState::Finished, RunState::Finished));
    let (plain, forked) = (plain.report(), forked.report());
    assert!(plain.preemptions > forked.preemptions, "{} and {}", plain.preemptions, forked.preemptions);
    assert_eq!(forked.tiers.g1.capacity_blocks, 400);
}

#[test]
fn a_change_of_what_is_not_there_changes_nothing() {
    let old = parse(SHORT);
    let mut plain = run_of(&old);
    plain.finish().expect("time stays within bounds");
    for at_ms in [0, 1, 333, 700, 1_500] {
        let at = SimTime::from_ns(at_ms * 1_000_000);
        let mut forked = run_of(&old);
        until(&mut forked, at);
        let elsewhere = changed(SHORT, &["title=other"]);
        forked.retune(at, &old, &elsewhere).expect("it is the same machine");
        until(&mut forked, END);
        assert_eq!(forked.report().digest, plain.report().digest, "at {at_ms} ms");
    }
}

#[test]
fn any_time_of_a_forked_run_is_sought_with_the_conditions_of_that_time() {
    let (old, new) = (parse(SHORT), changed(SHORT, &["engine.g1_blocks=100"]));
    let cut = SimTime::from_ns(700_000_000);
    let mut forked = run_of(&old);
    until(&mut forked, cut);
    forked.retune(cut, &old, &new).expect("G1 may grow");
    until(&mut forked, END);
    let capacity = |at_ms: u64| forked.seek(SimTime::from_ns(at_ms * 1_000_000)).engine().g1().capacity();
    assert_eq!([capacity(0), capacity(600), capacity(701), capacity(60_000)], [40, 40, 100, 100]);
    // Forward from the kept state is the same as once through.
    let mut again = run_of(&old);
    until(&mut again, cut);
    again.retune(cut, &old, &new).expect("G1 may grow");
    let at = SimTime::from_ns(1_100_000_000);
    until(&mut again, at);
    let sought = forked.seek(at);
    assert_eq!(sought.now(), again.simulation().now());
    assert_eq!(sought.engine().g1().occupancy(), again.simulation().engine().g1().occupancy());
}

#[test]
fn a_dead_end_ends_where_room_is_made() {
    let text =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../web/gallery/hold-and-wait.toml"))
            .expect("the gallery is there");
    let (old, new) = (parse(&text), changed(&text, &["engine.g1_blocks=400"]));
    let mut run = run_of(&old);
    run.finish().expect("time stays within bounds");
    assert_eq!(run.state(), RunState::DeadEnd);
    let later = SimTime::from_ns(run.simulation().now().as_ns() + 1_000_000_000);
    run.retune(later, &old, &new).expect("G1 may grow");
    run.finish().expect("time stays within bounds");
    assert_eq!(run.state(), RunState::Finished);
}

#[test]
fn a_driven_run_is_not_turned() {
    let (old, new) = (parse(SHORT), changed(SHORT, &["engine.g1_blocks=400"]));
    let workload = expand(&old, None).expect("requests");
    let mut driven = Run::listening(&old, Arc::new(workload));
    let problem = driven.retune(SimTime::ZERO, &old, &new).expect_err("nobody told what would be then");
    assert!(problem.found.contains("driven") && problem.mend.contains("from the beginning"), "{problem}");
}

#[test]
fn what_is_fixed_from_the_beginning_is_refused_in_words_and_changes_nothing() {
    let old = parse(SHORT);
    let refused = [
        ("engine.g1_blocks=20", "fewer blocks of G1"),
        ("g2.blocks=20", "fewer blocks of a tier"),
        ("engine.block_size_tokens=32", "block"),
        ("seed=6", "the seed"),
        ("workload.requests=41", "the workload"),
        ("engine.eviction=lineage", "eviction"),
    ];
    let mut plain = run_of(&old);
    plain.finish().expect("time stays within bounds");
    for (change, word) in refused {
        let new = changed(SHORT, &[change]);
        let at = SimTime::from_ns(500_000_000);
        let mut run = run_of(&old);
        until(&mut run, at);
        let problem = run.retune(at, &old, &new).expect_err(change);
        assert!(problem.found.contains(word), "{change}: {problem}");
        assert!(problem.mend.contains("from the beginning"));
        run.finish().expect("time stays within bounds");
        assert_eq!(run.report().digest, plain.report().digest, "{change}");
    }
}

#[test]
fn copies_under_way_go_on_at_the_new_rate() {
    let slow = changed(SHORT, &["links.pcie.down_gb_per_s=0.01", "links.pcie.up_gb_per_s=0.01"]);
    let fast = parse(SHORT);
    let cut = SimTime::from_ns(1_000_000_000);
    let mut plain = run_of(&slow);
    plain.finish().expect("time stays within bounds");
    let mut forked = run_of(&slow);
    until(&mut forked, cut);
    forked.retune(cut, &slow, &fast).expect("rates may change");
    forked.finish().expect("time stays within bounds");
    assert!(forked.report().makespan_ns < plain.report().makespan_ns);
}

/// The whole state is swept after every input in debug (rule T9): larger tiers, other limits, at any time, under every
/// order of eviction.
#[test]
fn random_changes_at_random_times_lose_nothing() {
    let mut draws = RandomStream::named(20_26, "retune");
    for round in 0..120 {
        let eviction =
            pick(&mut draws, &["eviction = \"lru\"", "eviction = \"lineage\"", "eviction = \"tinylfu\""]);
        let text = SHORT
            .replace("g1_blocks = 40", &format!("g1_blocks = 40\n{eviction}"))
            .replace("blocks = 60", &format!("blocks = 60\n{eviction}\n[g3]\nblocks = 200"));
        let mut old = changed(&text, &[&format!("seed={round}")]);
        let mut run = run_of(&old);
        let mut at_ms = 0;
        for size in 1..4 {
            let g1 = format!(
                "engine.g1_blocks={}",
                40 + size * pick(&mut draws, &["0", "1", "30", "500"]).parse::<u32>().expect("a number")
            );
            let g2 = format!(
                "g2.blocks={}",
                60 + size * pick(&mut draws, &["0", "7", "5000"]).parse::<u32>().expect("a number")
            );
            let limits = pick(
                &mut draws,
                &["engine.max_num_seqs=2", "engine.max_num_seqs=64", "engine.max_num_batched_tokens=64"],
            );
            let rates = pick(
                &mut draws,
                &["links.pcie.down_gb_per_s=0.01", "links.pcie.up_gb_per_s=0.02", "links.disk.latency_us=9"],
            );
            let new = changed(&text, &[&format!("seed={round}"), &g1, &g2, limits, rates]);
            at_ms += draws.between(0, 600);
            let at = SimTime::from_ns(at_ms * 1_000_000);
            until(&mut run, at);
            let smaller = new.engine.g1_blocks < old.engine.g1_blocks || g2_of(&new) < g2_of(&old);
            assert_eq!(run.retune(at, &old, &new).is_err(), smaller, "round {round}");
            old = if smaller { old } else { new };
        }
        until(&mut run, END);
        let report = run.report();
        assert_eq!((run.state(), report.requests.completed), (RunState::Finished, 40), "round {round}");
    }
}

fn g2_of(scenario: &Scenario) -> u32 {
    scenario.engine.tiers.as_ref().map_or(0, |tiers| tiers.g2.blocks)
}

fn pick(draws: &mut RandomStream, from: &[&'static str]) -> &'static str {
    from[draws.between(0, from.len() as u64 - 1) as usize]
}
