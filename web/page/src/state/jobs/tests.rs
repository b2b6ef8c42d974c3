use tierscope_worker::protocol::{CapacityView, FromWorker, PlanView, RunResult};
use yew::Reducible;

use super::*;
use crate::state::fork::Fork;
use crate::state::rival::RivalEvent;
use crate::state::{Action, Phase, Theme};

fn state() -> AppState {
    AppState::opening("", Theme::System, false)
}

fn after(state: AppState, action: Action) -> AppState {
    (*Rc::new(state).reduce(action)).clone()
}

fn answered(state: AppState, slot: Slot, task: u32, answer: Answer) -> AppState {
    let job = state.jobs.of(slot).expect("a job").id;
    after(state, Action::Job(JobEvent::Answered { job, task, answer }))
}

fn result(end_ns: f64) -> RunResult {
    RunResult {
        report: r#"{"outcome":"finished","digest":"00ff"}"#.to_owned(),
        end_ns,
        occupancy: Vec::new(),
        below: Vec::new(),
        latency: Vec::new(),
        hits: Vec::new(),
        verdicts: Vec::new(),
        stopped: false,
        wall_ms: 1.0,
    }
}

fn compared() -> AppState {
    let fork = Fork { at_ns: None, changes: vec!["engine.g1_blocks=64".to_owned()] };
    let state = after(state(), Action::SetFork(Some(fork)));
    assert!(state.rival.is_running() && state.rival.text.contains("g1_blocks = 64"));
    let (a, b) = (state.run, state.rival.run);
    let state = after(state, Action::Worker(FromWorker::Done { run: a, result: result(1e9) }));
    assert!(state.jobs.of(Slot::Meeting).is_none(), "B is not there yet");
    after(state, Action::Rival(RivalEvent::Heard(FromWorker::Done { run: b, result: result(3e9) })))
}

#[test]
fn two_runs_that_ended_are_compared_and_share_a_cursor() {
    let state = compared();
    let job = state.jobs.of(Slot::Meeting).expect("they are compared");
    assert!(matches!(&job.chores[..], [Chore::Compare { duel }] if duel.b.contains("g1_blocks = 64")));
    let state = after(state, Action::MoveTo(2e9));
    assert_eq!(state.playback.cursor_ns, 2e9, "past the end of A, within B");
    let found = Answer::Compare { difference: Box::new(Difference { equal: true, ..Difference::default() }) };
    let state = answered(state, Slot::Meeting, 0, found);
    assert!(state.jobs.difference.as_ref().is_some_and(|difference| difference.equal));
    let state = after(state, Action::SetFork(None));
    assert_eq!((state.jobs.difference, state.rival.of), (None, None));
}

#[test]
fn a_run_of_a_brings_one_of_b_and_another_comparison() {
    let state = compared();
    let (first, b) = (state.jobs.of(Slot::Meeting).expect("a job").id, state.rival.run);
    let state = after(state, Action::Run);
    assert_eq!(state.rival.run, b + 1);
    assert!(state.rival.is_running() && state.jobs.of(Slot::Meeting).is_none());
    let (a, b) = (state.run, state.rival.run);
    let heard = |run, end| Action::Rival(RivalEvent::Heard(FromWorker::Done { run, result: result(end) }));
    let state = after(state, heard(b - 1, 1e9));
    assert!(state.rival.is_running(), "that was of an older run");
    let state = after(state, heard(b, 1e9));
    let state = after(state, Action::Worker(FromWorker::Done { run: a, result: result(1e9) }));
    assert!(state.jobs.of(Slot::Meeting).expect("a job").id > first);
}

#[test]
fn changes_with_faults_are_told_and_run_nothing() {
    let fork = Fork { at_ns: None, changes: vec!["engine.g1_blokcs=64".to_owned()] };
    let state = after(state(), Action::SetFork(Some(fork)));
    match &state.rival.phase {
        Phase::Refused(problems) => assert!(problems[0].mend.contains("g1_blocks"), "{problems:?}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn several_seeds_are_pairs_and_then_one_spread() {
    let state = after(compared(), Action::Job(JobEvent::Seeds(2)));
    let pair = |seed| Answer::Pair { pair: PairView { seed, ..PairView::default() } };
    let state = answered(state, Slot::Seeds, 1, pair(2));
    assert_eq!(state.jobs.of(Slot::Seeds).expect("a job").progress(), (1, 2));
    let state = answered(state, Slot::Seeds, 0, pair(1));
    let job = state.jobs.of(Slot::Seeds).expect("what follows");
    assert!(matches!(&job.chores[..], [Chore::Spread { pairs }] if [pairs[0].seed, pairs[1].seed] == [1, 2]));
    let spread = SpreadView { pairs: 2, ..SpreadView::default() };
    let state = answered(state, Slot::Seeds, 0, Answer::Spread { spread });
    assert_eq!(state.jobs.spread.expect("a spread").pairs, 2);
}

fn swept() -> AppState {
    let plan = PlanText { text: "t".to_owned(), knobs: vec!["a=1,2,3".to_owned()], seeds: String::new() };
    let state = after(state(), Action::Job(JobEvent::Sweep(plan)));
    let plan = PlanView { points: 3, seeds: 1, ..PlanView::default() };
    answered(state, Slot::Sweep, 0, Answer::Plan { plan })
}

fn row(index: u32) -> Answer {
    Answer::Point { row: RowView { index, line: format!("row {index}\n"), ..RowView::default() } }
}

#[test]
fn rows_stand_in_the_order_of_their_points_whoever_is_first() {
    let state = swept();
    let state = answered(state, Slot::Sweep, 2, row(2));
    let state = answered(state, Slot::Sweep, 0, row(0));
    assert!((state.jobs.of(Slot::Sweep).expect("a job").share() - 2.0 / 3.0).abs() < 1e-9);
    let broken = ProblemView { found: "it died".to_owned(), ..ProblemView::default() };
    let state = answered(state, Slot::Sweep, 1, Answer::Refused { problems: vec![broken] });
    let rows = &state.jobs.sweep.as_ref().expect("a sweep").rows;
    let told: Vec<_> = rows.iter().map(|row| (row.index, row.state.as_str())).collect();
    assert_eq!(told, [(0, ""), (1, "broken"), (2, "")]);
    let state = after(state, Action::Job(JobEvent::Export(RowsForm::Csv)));
    let state = answered(state, Slot::Export, 0, Answer::Rows { text: "csv".to_owned() });
    assert_eq!(state.jobs.export.map(|(_, form, text)| (form, text)), Some((RowsForm::Csv, Rc::from("csv"))));
}

#[test]
fn what_is_there_when_a_sweep_is_stopped_stays() {
    let state = answered(swept(), Slot::Sweep, 1, row(1));
    let old = state.jobs.of(Slot::Sweep).expect("a job").id;
    let state = after(state, Action::Job(JobEvent::Cancel(Slot::Sweep)));
    assert!(!state.jobs.is_under_way(Slot::Sweep));
    assert_eq!(state.jobs.sweep.as_ref().expect("a sweep").rows.len(), 1);
    let late = Action::Job(JobEvent::Answered { job: old, task: 2, answer: row(2) });
    assert_eq!(after(state.clone(), late), state, "an answer that comes too late changes nothing");
}

#[test]
fn a_plan_with_faults_says_so() {
    let state = after(state(), Action::Job(JobEvent::Sweep(PlanText::default())));
    let problems = vec![ProblemView { found: "0 knobs".to_owned(), ..ProblemView::default() }];
    let state = answered(state, Slot::Sweep, 0, Answer::Refused { problems });
    assert_eq!(state.jobs.of(Slot::Sweep).expect("a job").problems()[0].found, "0 knobs");
}

#[test]
fn shares_of_a_sizing_chart_become_one() {
    let mut state = after(state(), Action::Job(JobEvent::Size));
    for share in (0..SHARES).rev() {
        let at = |blocks| CapacityView { blocks, ..CapacityView::default() };
        let points = vec![at(f64::from(share)), at(f64::from(share + SHARES))];
        let sizing = SizingView { points, ..SizingView::default() };
        state = answered(state, Slot::Sizing, share, Answer::Size { sizing: Box::new(sizing) });
    }
    let (text, sizing) = state.jobs.sizing.expect("a chart");
    assert_eq!(text, state.draft.text);
    let blocks: Vec<f64> = sizing.points.iter().map(|point| point.blocks).collect();
    assert_eq!(blocks, (0..16).map(f64::from).collect::<Vec<_>>());
}
