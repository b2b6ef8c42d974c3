mod links;

use std::rc::Rc;

use tierscope_worker::protocol::{
    Board, Find, Found, FromWorker, OutcomeFilter, RunResult, Transaction, TxnCaller, TxnFilter, TxnOutcome,
    Way,
};

use super::action::Action;
use super::edit::{self, Draft};
use super::{AppState, Origin, Phase, Theme, gallery};

fn opening(hash: &str) -> AppState {
    AppState::opening(hash, Theme::System, false)
}

fn result(outcome: &str, end_ns: f64) -> RunResult {
    RunResult {
        report: format!(r#"{{"outcome":"{outcome}","digest":"00ff","requests":{{"total":4}}}}"#),
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

fn board(at_ns: f64) -> Board {
    Board { asked_ns: at_ns, at_ns, ..Board::default() }
}

fn finished(state: AppState) -> AppState {
    let run = state.run;
    state.after(Action::Worker(FromWorker::Done { run, result: result("finished", 1e9) }))
}

/// The first case, run to its end.
pub(super) fn finished_first() -> AppState {
    finished(opening(""))
}

#[test]
fn every_case_is_valid_and_says_what_it_teaches() {
    for case in gallery::CASES {
        let draft = Draft::new(case.text);
        assert_eq!(draft.problems.len(), 0, "{}: {:?}", case.name, draft.problems);
        let outline = draft.scenario.expect("a valid scenario has an outline");
        assert_eq!(outline.title, case.title);
        assert!(outline.lesson.len() > 20, "{} has a lesson", case.name);
        assert!(case.text.contains("\nseed = ") && case.text.contains("\n[timing]"), "{}", case.name);
    }
}

#[test]
fn a_first_visit_runs_the_first_case_without_a_click() {
    let state = opening("");
    assert_eq!((state.origin, state.run), (Origin::Gallery(0), 1));
    assert!(state.is_running() && state.playback.playing);
    let state = finished(state);
    assert_eq!(state.ended().map(|ended| ended.report.digest.as_str()), Some("00ff"));
}

#[test]
fn nothing_moves_by_itself_when_motion_is_reduced() {
    let state = finished(AppState::opening("", Theme::System, true));
    assert!(!state.playback.playing);
}

#[test]
fn a_link_opens_its_own_text() {
    let text = gallery::CASES[1].text.replace("seed = 7", "seed = 8");
    let state = opening(&edit::hash_of(&text));
    assert_eq!((state.origin, &*state.draft.text), (Origin::Link, text.as_str()));
    assert!(state.is_running());
    assert_eq!(opening(&edit::hash_of(gallery::CASES[1].text)).origin, Origin::Gallery(1));
}

#[test]
fn a_broken_link_says_so_and_stays_in_the_address() {
    for hash in ["#v1.%%%", "#v9.abc", "#x", "#v1.", "#v1.AAAA"] {
        let state = opening(hash);
        let notice = state.notice.as_ref().expect("a message");
        assert!(notice.trouble && notice.text.contains("cannot be opened"), "{}", notice.text);
        assert!(state.is_running(), "a case stands in for it");
        assert_eq!(state.address_text(), None);
        assert!(state.after(Action::Dismiss).address_text().is_some());
    }
}

#[test]
fn a_text_with_faults_cannot_run_and_leaves_the_address_alone() {
    let state = finished(opening("")).after(Action::Edit("tierscope = 1\ntitel = \"x\"\n".to_owned()));
    assert!(!state.can_run());
    assert!(state.problems().iter().any(|problem| problem.line == 2 && problem.mend.contains("title")));
    assert_eq!(state.address_text(), None);
    let run = state.run;
    assert_eq!(state.after(Action::Run).run, run);
}

#[test]
fn an_edit_is_stale_until_it_runs() {
    let text = gallery::CASES[0].text.replace("seed = 1", "seed = 2");
    let state = finished(opening("")).after(Action::Edit(text));
    assert!(state.is_stale());
    assert_eq!(state.origin, Origin::Edited);
    let state = finished(state.after(Action::Run));
    assert!(!state.is_stale());
    let back = state.after(Action::Edit(gallery::CASES[0].text.to_owned()));
    assert_eq!(back.origin, Origin::Gallery(0));
}

#[test]
fn a_new_seed_is_written_into_the_text_and_runs() {
    let state = finished(opening("")).after(Action::Reseed(4_242));
    assert_eq!(state.draft.scenario.as_ref().map(|outline| outline.seed), Some(4_242));
    assert!(state.draft.text.contains("title = "), "the rest of the text stays");
    assert_eq!(state.run, 2);
    assert!(state.is_running());
}

#[test]
fn what_belongs_to_an_older_run_is_dropped() {
    let state = finished(opening("")).after(Action::Choose(1));
    assert_eq!(state.run, 2);
    let late = FromWorker::Done { run: 1, result: result("finished", 5.0) };
    let state = state.after(Action::Worker(late));
    assert!(state.is_running());
    let state = state.after(Action::Worker(FromWorker::Board { run: 1, board: Box::new(board(1.0)) }));
    assert_eq!(state.board, None);
}

#[test]
fn the_cursor_follows_a_step_and_pauses() {
    let state = finished(opening(""));
    let run = state.run;
    let state = state.after(Action::Worker(FromWorker::Stepped { run, board: Box::new(board(7e8)) }));
    assert_eq!((state.playback.cursor_ns, state.playback.playing), (7e8, false));
    assert_eq!(state.after(Action::MoveTo(9e9)).playback.cursor_ns, 1e9);
}

#[test]
fn a_run_that_stops_is_shown_where_it_stopped() {
    for outcome in ["dead_end", "cancelled"] {
        let state = opening("");
        let done = FromWorker::Done { run: state.run, result: result(outcome, 3e8) };
        let state = state.after(Action::Cancel).after(Action::Worker(done));
        assert_eq!((state.playback.cursor_ns, state.playback.playing), (3e8, false));
    }
}

#[test]
fn a_dead_worker_is_spoken_of_not_hidden() {
    let state = opening("").after(Action::WorkerDied("out of memory".to_owned()));
    assert!(state.notice.as_ref().is_some_and(|notice| notice.text.contains("out of memory")));
    assert_eq!(state.phase, Phase::Idle);
    let state = state.after(Action::Worker(FromWorker::Ready));
    assert!(state.can_run() && state.worker_ready);
}

#[test]
fn a_report_of_another_version_is_refused_with_words() {
    let state = opening("");
    let odd = RunResult { report: r#"{"outcome":"on holiday"}"#.to_owned(), ..result("finished", 1.0) };
    let state = state.clone().after(Action::Worker(FromWorker::Done { run: state.run, result: odd }));
    assert!(matches!(&state.phase, Phase::Refused(problems) if problems[0].mend.contains("reload")));
}

#[test]
fn nothing_changed_is_the_same_state() {
    use yew::Reducible;
    let state = Rc::new(finished(opening("")));
    let same = Rc::clone(&state).reduce(Action::MoveTo(state.playback.cursor_ns)).reduce(Action::Dismiss);
    assert_eq!(same.playback.cursor_ns, state.playback.cursor_ns);
    let again = Rc::clone(&same).reduce(Action::Dismiss);
    assert!(Rc::ptr_eq(&same, &again));
}

fn answer(txn: f64, at_ns: f64) -> Found {
    let transaction = Transaction {
        txn,
        at_ns,
        request: 0,
        caller: TxnCaller::Admission,
        outcome: TxnOutcome::Exhausted { needed: 3, obtainable: 1 },
        retried: false,
        detail: None,
    };
    Found { transaction: Some(transaction), place: 1, counts: [2, 1, 1, 0, 0], dropped: 0.0 }
}

fn told(state: AppState, asked: Find, found: Found) -> AppState {
    let run = state.run;
    state.after(Action::Worker(FromWorker::Found { run, asked, found: Box::new(found) }))
}

#[test]
fn the_cursor_follows_a_step_to_a_transaction_and_the_answer_stands() {
    let state = finished(opening("")).after(Action::MoveTo(1e8));
    let step = state.find(Way::Next);
    let state = told(state, step, answer(7.0, 5e8));
    assert_eq!((state.playback.cursor_ns, state.playback.playing), (5e8, false));
    assert_eq!(state.transaction().map(|shown| shown.txn), Some(7.0));
    assert_eq!(state.open_question(), None, "another at the same instant does not take its place");
    let elsewhere = state.clone().after(Action::MoveTo(6e8)).open_question();
    assert!(elsewhere.is_some_and(|find| find.way == Way::AtCursor && find.at_ns == 6e8 && find.details));
    let filter = TxnFilter { outcome: OutcomeFilter::Ready, ..TxnFilter::default() };
    assert!(state.after(Action::SetFilter(filter)).open_question().is_some());
}

#[test]
fn a_late_answer_about_another_time_or_filter_is_dropped() {
    let state = finished(opening("")).after(Action::MoveTo(1e8));
    let early = state.find(Way::AtCursor);
    let state = told(state.after(Action::MoveTo(2e8)), early, answer(1.0, 1e8));
    assert_eq!(state.transaction(), None);
    let asked = state.find(Way::AtCursor);
    let filter = TxnFilter { worker: 0, outcome: OutcomeFilter::Blocked, request: Some(2) };
    let state = told(state.after(Action::SetFilter(filter)), asked, answer(1.0, 1e8));
    assert_eq!(state.transaction(), None);
}

#[test]
fn details_are_asked_for_only_where_the_cursor_rests() {
    let state = finished(opening("")).after(Action::Tick(16.0));
    assert!(state.playback.playing && !state.find(Way::AtCursor).details);
    let asked = state.find(Way::AtCursor);
    let state = told(state, asked, answer(1.0, 0.0));
    assert_eq!(state.open_question(), None);
    let paused = state.after(Action::TogglePlay);
    assert!(paused.open_question().is_some_and(|find| find.details));
}
