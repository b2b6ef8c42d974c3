use std::sync::Arc;

use tierscope_report::paired::{Pair, paired};
use tierscope_scenario::{expand, parse_any};
use tierscope_sim::{Run, RunOptions};
use tierscope_sweep::cache::CacheModel;
use tierscope_sweep::{Knob, Mode, Plan, Row, attempt, results};

use super::*;
use crate::protocol::{Duel, FileKind, PlanText, RowsForm, TraceStep};

const SCENARIO: &str = include_str!("../../../../../tests/browser/scenarios/two-tiers.toml");

/// A chore, without a trace.
fn one(chores: &mut Chores, chore: Chore) -> Answer {
    let mut said = Vec::new();
    chores.work(chore, &Files::default(), &mut |answer| said.push(answer));
    said.pop().expect("a chore is answered")
}

fn plan() -> PlanText {
    PlanText {
        text: SCENARIO.to_owned(),
        knobs: vec!["g2.blocks=0,60..240*2".to_owned(), "engine.max_num_seqs=4,8".to_owned()],
        seeds: "1..3".to_owned(),
    }
}

/// What the command computes: one point after the other, in order.
fn natively(asked: &PlanText) -> (Plan, Vec<Row>) {
    let knobs = asked.knobs.iter().map(|knob| Knob::parse(knob).expect("a knob")).collect();
    let seeds = tierscope_sweep::seeds(&asked.seeds).expect("seeds");
    let plan = Plan { mode: Mode::Run, text: asked.text.clone(), knobs, seeds, traces: Vec::new() };
    let row = |index| match attempt(&plan, index) {
        Ok(attempt) => {
            let workload = Arc::new(expand(&attempt.scenario, None).expect("requests"));
            let cache = CacheModel::of(&workload);
            attempt.run(&plan, &workload, &cache, |_| true).expect("nobody stops it")
        }
        Err(detail) => tierscope_sweep::refused(&plan, index, tierscope_sweep::State::Refused, &detail),
    };
    let rows = (0..plan.points()).map(row).collect();
    (plan, rows)
}

#[test]
fn rows_are_those_of_the_command_whoever_computes_them_and_in_whatever_order() {
    let asked = plan();
    let mut pool = [Chores::default(), Chores::default(), Chores::default()];
    let Answer::Plan { plan: view } = one(&mut pool[0], Chore::Plan { plan: asked.clone() }) else {
        panic!("a sound plan")
    };
    assert_eq!((view.points, view.seeds), (4 * 2 * 3, 3));
    assert_eq!(view.knobs[0].values, ["0", "60", "120", "240"]);
    // An order that is neither that of the points nor its reverse: 7 and 24 have no factor in common.
    let mut lines = Vec::new();
    for step in 0..view.points {
        let index = step * 7 % view.points;
        let chore = Chore::Point { plan: asked.clone(), index };
        let Answer::Point { row } = one(&mut pool[step as usize % 3], chore) else { panic!("a row") };
        assert_eq!((row.index, row.cells.len()), (index, view.columns.len()));
        lines.push(row.line);
    }
    let (plan, rows) = natively(&asked);
    for (form, expected) in [
        (RowsForm::Csv, results::csv(&plan, &rows)),
        (RowsForm::Json, {
            let first = (0..plan.points()).find_map(|index| attempt(&plan, index).ok());
            results::json(&plan, &rows, first.as_ref().map(|attempt| &attempt.scenario))
        }),
    ] {
        let chore = Chore::Rows { plan: asked.clone(), rows: lines.clone(), form };
        assert_eq!(one(&mut pool[1], chore), Answer::Rows { text: expected });
    }
}

#[test]
fn faults_of_a_plan_are_told_in_words() {
    let mut chores = Chores::default();
    for (knobs, seeds, word) in [
        (vec![], "", "knob"),
        (vec!["g2.blocks"], "", "KEY=VALUES"),
        (vec!["g2.blocks=1..9"], "", "range"),
        (vec!["g2.blocks=1,2"], "x", "seeds"),
        (vec!["g2.blocks=1..3000+1"], "", "2000"),
    ] {
        let knobs = knobs.into_iter().map(str::to_owned).collect();
        let plan = PlanText { text: SCENARIO.to_owned(), knobs, seeds: seeds.to_owned() };
        match one(&mut chores, Chore::Plan { plan }) {
            Answer::Refused { problems } => {
                let told = format!("{} {}", problems[0].expected, problems[0].mend);
                assert!(told.contains(word), "{told}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_trace_that_is_not_there_is_asked_for_and_one_that_is_given_is_used() {
    let trace = "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 4, \"hash_ids\": [1, 2]}\n\
        {\"timestamp\": 10, \"input_length\": 1024, \"output_length\": 4, \"hash_ids\": [1, 3]}\n";
    let text = tierscope_scenario::default_text_for_trace(
        "t.jsonl",
        tierscope_scenario::TraceFormat::Mooncake,
        None,
    );
    let (mut chores, mut files) = (Chores::default(), Files::default());
    let size = || Chore::Size { text: text.clone(), share: 0, of: 1 };
    match one(&mut chores, size()) {
        Answer::Refused { problems } => assert!(problems[0].mend.contains("drop the file"), "{problems:?}"),
        other => panic!("{other:?}"),
    }
    for step in [
        TraceStep::Begin { kind: FileKind::Trace, name: "t.jsonl".to_owned(), bytes: trace.len() as f64 },
        TraceStep::Slice(trace.as_bytes().to_vec()),
        TraceStep::End,
    ] {
        files.hear(1, step);
    }
    let mut said = Vec::new();
    chores.work(size(), &files, &mut |answer| said.push(answer));
    let Some(Answer::Size { sizing }) = said.pop() else { panic!("a chart") };
    assert_eq!((sizing.requests, sizing.infinite), (2.0, 0.25));
}

#[test]
fn shares_of_a_sizing_chart_add_up_to_the_whole() {
    let size = |share, of| {
        let chore = Chore::Size { text: SCENARIO.to_owned(), share, of };
        match one(&mut Chores::default(), chore) {
            Answer::Size { sizing } => *sizing,
            other => panic!("{other:?}"),
        }
    };
    let whole = size(0, 1);
    let mut points: Vec<_> = (0..3).flat_map(|share| size(share, 3).points).collect();
    points.sort_by(|a, b| a.blocks.total_cmp(&b.blocks));
    assert_eq!(points, whole.points);
    assert!(points.windows(2).all(|two| two[0].lru <= two[1].lru && two[0].optimal <= two[1].optimal));
    assert!(points.iter().all(|point| point.lru <= point.optimal && point.optimal <= whole.infinite + 1e-12));
    let last = points.last().expect("some size");
    assert_eq!(last.lru, whole.infinite, "the largest cache forgets nothing");
    let tiers: Vec<_> = whole.tiers.iter().map(|tier| (tier.name.as_str(), tier.cache.blocks)).collect();
    assert_eq!(tiers, [("G1", 40.0), ("G1+G2", 100.0)]);
    assert_eq!(whole.paths.len(), 1);
}

fn duel(changes: &[&str], at_ns: Option<f64>) -> Duel {
    let set = |text: String, change: &&str| tierscope_scenario::set(&text, change).expect("a key");
    Duel { a: SCENARIO.to_owned(), b: changes.iter().fold(SCENARIO.to_owned(), set), at_ns, driven: None }
}

fn difference(duel: Duel) -> crate::protocol::Difference {
    match one(&mut Chores::default(), Chore::Compare { duel }) {
        Answer::Compare { difference } => *difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn equal_runs_have_no_difference_and_others_part_somewhere() {
    let same = difference(duel(&[], None));
    assert!(same.equal && same.first.is_none() && same.same_work);
    let other = difference(duel(&["g2.blocks=600"], None));
    assert!(!other.equal && other.same_work && !other.same_decisions);
    let parting = other.decision.expect("a decision differs");
    assert!(parting.at_ns().expect("a time") > 0.0);
    assert!(parting.sides.iter().flatten().all(|told| !told.words.is_empty()), "{parting:?}");
}

#[test]
fn a_fork_at_a_time_changes_nothing_before_it() {
    let at_ns = 400e6;
    let late = difference(duel(&["engine.g1_blocks=400", "g2.blocks=600"], Some(at_ns)));
    assert!(!late.equal);
    assert!(late.first.and_then(|parting| parting.at_ns()).expect("a time") >= at_ns);
    let refused =
        one(&mut Chores::default(), Chore::Compare { duel: duel(&["engine.g1_blocks=4"], Some(at_ns)) });
    match refused {
        Answer::Refused { problems } => {
            assert!(problems[0].mend.contains("from the beginning"), "{problems:?}")
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn pairs_over_seeds_are_those_of_the_command() {
    let duel = duel(&["g2.blocks=600"], None);
    let pairs: Vec<_> = (1..=3)
        .map(|seed| match one(&mut Chores::default(), Chore::Pair { duel: duel.clone(), seed }) {
            Answer::Pair { pair } => pair,
            other => panic!("{other:?}"),
        })
        .collect();
    let Answer::Spread { spread } = one(&mut Chores::default(), Chore::Spread { pairs }) else {
        panic!("a spread")
    };
    let report = |text: &str, seed: u64| {
        let mut scenario = parse_any(text).expect("a scenario");
        scenario.seed = seed;
        let workload = Arc::new(expand(&scenario, None).expect("requests"));
        let mut run = Run::new(&scenario, workload, RunOptions::default());
        run.finish().expect("it ends");
        run.report()
    };
    let natively: Vec<Pair> = (1..=3)
        .map(|seed| Pair {
            seed,
            same_work: true,
            of_log: false,
            reports: [report(&duel.a, seed), report(&duel.b, seed)],
        })
        .collect();
    let expected = paired(&natively);
    assert_eq!((spread.pairs, spread.other_work, spread.without_chance), (3, 0, false));
    assert_eq!(spread.metrics.len(), expected.len());
    for (told, expected) in spread.metrics.iter().zip(&expected) {
        assert_eq!((told.name.as_str(), told.medians), (expected.metric.name, expected.medians));
        assert_eq!(told.interval, expected.interval.map(|it| [it.low, it.high]), "{}", told.name);
    }
}
