//! What a link says besides the scenario, and links whose run is heavy.

use super::*;
use crate::state::fork::Fork;
use crate::state::selection::Selection;
use crate::state::sheet::Sheet;
use crate::state::view::{VERSION, View};

/// A run of one hour.
const HEAVY: &str = "tierscope = 1\ntitle = \"A long day\"\n[workload]\nkind = \"synthetic\"\nrequests = 1000000\n\
    arrival = \"poisson\"\nrate_per_s = 3.4\nprompt_tokens = 1000\noutput_tokens = 100\n";

fn link(view: &str) -> String {
    format!("{}{view}", edit::hash_of(gallery::CASES[1].text))
}

fn told_of(state: AppState, digest: &str) -> AppState {
    let report = format!(r#"{{"outcome":"finished","digest":"{digest}","tierscope":"{VERSION}"}}"#);
    let (run, result) = (state.run, RunResult { report, ..result("finished", 1e9) });
    state.after(Action::Worker(FromWorker::Done { run, result }))
}

fn board_of(state: &AppState, workers: usize, worker: u32) -> Action {
    use tierscope_worker::protocol::{Totals, WorkerRole, WorkerState, WorkerView};
    let view = WorkerView {
        role: WorkerRole::Whole,
        state: WorkerState::Ready,
        running: 0,
        waiting: 0,
        g1: Totals::default(),
    };
    let board = Board { worker, workers: vec![view; workers], ..board(0.0) };
    Action::Worker(FromWorker::Board { run: state.run, board: Box::new(board) })
}

#[test]
fn a_gallery_case_is_a_short_address_with_all_that_is_seen_of_it() {
    for (at, case) in gallery::CASES.iter().enumerate() {
        let state = told_of(opening("").after(Action::Choose(at)), &"ab".repeat(16));
        let state = state.after(Action::MoveTo(999_999_999.0));
        let hash = format!("{}{}", edit::hash_of(&state.draft.text), state.view());
        assert!(hash.len() <= 200, "{} has {} characters: {hash}", case.name, hash.len());
        assert!(hash.contains("&t=999999999") && hash.contains("&d=abababab"), "{hash}");
        assert_eq!(edit::text_of(&hash).as_deref(), Ok(case.text));
    }
}

#[test]
fn a_link_is_shown_once_its_run_is_there() {
    let hash = link("&t=250000000&s=request.2&p=results&f=seed%3D7");
    let state = opening(&hash);
    assert_eq!((state.sheet, state.selection.clone(), state.fork.clone()), (Sheet::Results, None, None));
    assert_eq!(state.view(), View::of_hash(&hash), "until then it stays in the address");
    let state = told_of(state, "00ff");
    assert_eq!((state.playback.cursor_ns, state.playback.playing), (250_000_000.0, false));
    assert_eq!(state.selection, Some(Selection::Request(2)));
    assert_eq!(state.fork, Some(Fork { at_ns: None, changes: vec!["seed=7".to_owned()] }));
    assert_eq!(state.notice, None);
    let late = told_of(opening(&link("&t=9007199254740991")), "00ff");
    assert_eq!(late.playback.cursor_ns, 1e9, "a time behind the end is the end");
    let plain = told_of(opening(&link("")), "00ff");
    assert!(plain.playback.playing, "a plain link plays");
}

#[test]
fn the_same_scenario_with_another_view_is_not_run_again() {
    let state = told_of(opening(&link("&t=1")), "00ff");
    let run = state.run;
    let state = state.after(Action::OpenLink(link("&t=700&s=worker.1")));
    assert_eq!((state.run, state.playback.cursor_ns), (run, 700.0));
    assert_eq!(state.selection, Some(Selection::Worker(1)));
}

#[test]
fn the_worker_of_a_link_is_looked_at_if_there_is_one() {
    let state = told_of(opening(&link("&w=2")), "00ff");
    assert_eq!((state.worker(), state.view().worker), (0, Some(2)));
    let action = board_of(&state, 3, 0);
    assert_eq!(state.clone().after(action).worker(), 2);
    let action = board_of(&state, 2, 0);
    let state = state.after(action);
    assert_eq!((state.worker(), state.view().worker), (0, None), "there is no such worker");
}

#[test]
fn a_run_that_is_not_the_one_that_was_sent_says_so() {
    let digest = "0123456789abcdef0123456789abcdef";
    let notice = |view: &str| told_of(opening(&link(view)), digest).notice;
    assert_eq!(notice("&d=01234567"), None);
    assert_eq!(notice(&format!("&v={VERSION}&d=01234567")), None);
    assert_eq!(notice("&v=0.0.1"), None, "there is nothing to compare");
    let same = notice("&v=0.0.1&d=01234567").expect("a word");
    assert!(
        !same.trouble && same.text.contains("same digest") && same.text.contains("0.0.1"),
        "{}",
        same.text
    );
    let other = notice("&v=0.0.1&d=deadbeef").expect("a word");
    assert!(
        other.trouble && other.text.contains("differs") && other.text.contains("deadbeef"),
        "{}",
        other.text
    );
    let changed = notice("&d=deadbeef").expect("a word");
    assert!(changed.trouble && changed.text.contains("is not the one"), "{}", changed.text);
}

#[test]
fn a_heavy_link_waits_for_a_word() {
    let hash = format!("{}&t=5&p=results", edit::hash_of(HEAVY));
    let state = opening(&hash);
    assert_eq!((&state.phase, state.run, state.sheet), (&Phase::Ready, 0, Sheet::Results));
    assert!(state.can_run() && !state.is_running());
    assert_eq!(state.view(), View::of_hash(&hash));
    let state = state.after(Action::Run);
    assert!(state.is_running());
    assert_eq!(told_of(state, "00ff").playback.cursor_ns, 5.0);
}

#[test]
fn what_was_changed_before_it_ran_goes_its_own_way() {
    let hash = format!("{}&t=5", edit::hash_of(HEAVY));
    let state = opening(&hash).after(Action::Edit(gallery::CASES[2].text.to_owned()));
    assert_eq!(state.phase, Phase::Ready);
    let state = told_of(state.after(Action::Run), "00ff");
    assert!(state.playback.playing && state.opened.is_none());
}

#[test]
fn hostile_words_behind_a_link_change_nothing() {
    for words in ["&t=-5&w=-1", "&s=%00&p=%00&f=%", "&&&&t=1e400", &"&f=a=1".repeat(10_000)] {
        let state = told_of(opening(&link(words)), "00ff");
        assert_eq!(
            (state.selection.clone(), state.sheet, state.worker()),
            (None, Sheet::default(), 0),
            "{words:.20}"
        );
    }
}
