use tierscope_worker::protocol::{FromWorker, MediumView, RunResult, TraceSaid};

use super::super::intake::Step;
use super::super::tests::finished_first;
use super::super::view::View;
use super::super::{Action, Phase, gallery};
use super::*;

fn recording(version: &str) -> RecordingView {
    let medium = |tier: &str, kind: &str, name: &str| MediumView {
        tier: tier.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
    };
    RecordingView {
        version: version.to_owned(),
        scenario: gallery::CASES[1].text.replace("seed = ", "seed = 9"),
        block_bytes: 4_096.0,
        media: vec![medium("g1", "host", "host memory"), medium("g3", "disk", "/tmp/blocks")],
        ends: 1_083,
        failed: 0,
        stopped_ns: None,
        digest: "00ff".to_owned(),
    }
}

/// The page after a recording was dropped on it and read.
fn dropped(recording: RecordingView) -> AppState {
    let step = Step::Recording { name: "run.jsonl".to_owned(), bytes: 9e4 };
    let state = finished_first().after(Action::Intake(step));
    let number = state.intake.files;
    assert!(!state.intake.open, "it is there at once");
    let said = TraceSaid::Recorded { recording: Box::new(recording) };
    state
        .after(Action::Intake(Step::Sent(number)))
        .after(Action::Worker(FromWorker::Trace { trace: number, said }))
}

fn ended(state: AppState, digest: &str, stopped: bool) -> AppState {
    let outcome = if stopped { "cancelled" } else { "finished" };
    let result = RunResult {
        report: format!(r#"{{"outcome":"{outcome}","digest":"{digest}"}}"#),
        end_ns: 2e9,
        occupancy: Vec::new(),
        below: Vec::new(),
        latency: Vec::new(),
        hits: Vec::new(),
        verdicts: Vec::new(),
        stopped,
        wall_ms: 1.0,
    };
    let run = state.run;
    state.after(Action::Worker(FromWorker::Done { run, result }))
}

fn edited(state: AppState) -> AppState {
    let text = state.draft.text.replace("seed = 9", "seed = 8");
    state.after(Action::Edit(text))
}

#[test]
fn a_recording_opens_its_scenario_and_is_replayed() {
    let state = dropped(recording(VERSION));
    assert_eq!(&*state.draft.text, recording(VERSION).scenario);
    assert!(state.driven.is_some() && state.is_running());
    let state = ended(state, "00ff", false);
    let line = state.driven_line().expect("it is said");
    assert_eq!(
        line.sentence,
        "Driven on host memory, disk /tmp/blocks: 1,083 copies ended as real tiers told."
    );
    assert!(line.shown && line.can_compare, "{line:?}");
    assert!(
        line.details.starts_with("blocks of 4.1 kB for the scenario's ")
            && line.details.ends_with("as recorded")
    );
    assert_eq!(state.notice, None);
}

#[test]
fn it_says_where_it_was_stopped_and_what_failed() {
    let stopped = RecordingView { stopped_ns: Some(1.5e9), failed: 2, ..recording(VERSION) };
    let state = ended(dropped(stopped), "00ff", true);
    assert_eq!(state.ended().map(|ended| ended.report.outcome.words()), Some("stopped"));
    assert_eq!(state.playback.cursor_ns, 2e9, "where it stopped");
    let details = state.driven_line().expect("it is said").details;
    assert!(
        details.contains("2 of the copies failed") && details.contains("stopped at 1.500 s"),
        "{details}"
    );
}

#[test]
fn another_digest_is_told() {
    let notice = |version: &str| {
        let state = ended(dropped(recording(version)), "beef", false);
        let line = state.driven_line().expect("it is said");
        assert!(line.details.ends_with("not the recorded digest"), "{line:?}");
        state.notice.expect("a note").text
    };
    assert!(notice(VERSION).contains("been changed?"));
    assert!(notice("0.0.9").contains("driven by Tierscope 0.0.9"));
    // A replay that the user stopped has the digest of its part.
    let state = dropped(recording(VERSION)).after(Action::Cancel);
    let run = state.run;
    let report = r#"{"outcome":"cancelled","digest":"beef"}"#.to_owned();
    let FromWorker::Done { result, .. } = done(&ended(state.clone(), "beef", false)) else { return };
    let result = RunResult { report, ..result };
    assert_eq!(state.after(Action::Worker(FromWorker::Done { run, result })).notice, None);
}

fn done(state: &AppState) -> FromWorker {
    let result = state.ended().expect("it ended").result.clone();
    FromWorker::Done { run: state.run, result }
}

#[test]
fn an_edit_leaves_the_recording_behind_and_there_is_a_way_back() {
    let driven = ended(dropped(recording(VERSION)), "00ff", false);
    let state = edited(driven);
    let line = state.driven_line().expect("it is said");
    assert!(line.shown && line.details.contains("Run simulates it"), "what is shown is the driven run still");
    let state = ended(state.after(Action::Run), "beef", false);
    assert_eq!((state.driven, state.notice.clone()), (None, None));
    let line = state.driven_line().expect("it is said");
    assert!(!line.shown && line.sentence.contains("was changed: this is a simulation"), "{line:?}");
    let state = state.after(Action::Intake(Step::ReplayDriven));
    assert!(state.driven.is_some() && state.is_running());
    assert_eq!(&*state.draft.text, recording(VERSION).scenario);
    // Another case has nothing to do with it.
    let state = state.after(Action::Choose(0));
    assert_eq!((state.driven, state.driven_line()), (None, None));
}

#[test]
fn it_is_compared_with_its_simulation() {
    let state = ended(dropped(recording(VERSION)), "00ff", false).after(Action::CompareSimulation).in_step();
    assert_eq!((state.fork.clone(), state.sheet), (Some(simulation()), Sheet::Compare));
    assert!(matches!(state.rival.phase, Phase::Running { .. }));
    let duel = state.duel().expect("two sides");
    assert_eq!((duel.a == duel.b, duel.driven), (true, state.driven));
    assert!(state.driven_line().expect("it is said").compared);
    assert_eq!(sides(&simulation(), true), ["as driven", "its simulation"]);
    // What is changed afterwards is a simulation on either side: there is nothing to compare any more.
    assert_eq!(edited(state.clone()).after(Action::Run).fork, None);
    // From the cursor on nothing is known of a driven run.
    let late = Fork { at_ns: Some(5.0), changes: vec!["seed=3".to_owned()] };
    assert_eq!(state.after(Action::SetFork(Some(late))).after(Action::Run).fork, None);
    let simulated = finished_first();
    assert_eq!(simulated.clone().after(Action::CompareSimulation), simulated);
}

#[test]
fn a_link_has_the_scenario_alone_and_says_so() {
    let state = ended(dropped(recording(VERSION)), "00ff00ff00", false).after(Action::CompareSimulation);
    let View { fork, digest, .. } = state.view();
    assert_eq!((fork, digest), (None, None));
    assert!(state.left_out_of_links().contains("cannot hold a recording"));
    assert_eq!(state.driven_file(), Some("run.jsonl"));
    assert_eq!(finished_first().left_out_of_links(), "");
}

#[test]
fn a_faulty_recording_stays_in_the_dialog_with_its_fault() {
    let step = Step::Recording { name: "run.jsonl".to_owned(), bytes: 9e4 };
    let before = finished_first();
    let (text, run) = (before.draft.text.clone(), before.run);
    let state = before.after(Action::Intake(step));
    let problems = vec![Default::default()];
    let said = TraceSaid::Refused { problems };
    let state = state.after(Action::Worker(FromWorker::Trace { trace: 1, said }));
    assert!(state.intake.open && state.wanted_files() == [None; 3]);
    assert_eq!((state.draft.text.clone(), state.run, state.driven_line()), (text, run, None));
    let file = state.intake.recording.clone().expect("it is named");
    assert_eq!(file.sentence(), "run.jsonl cannot be replayed.");
    // One that was read before is kept, with what is said of it.
    let state = ended(dropped(recording(VERSION)), "00ff", false);
    let line = state.driven_line();
    let state = state.after(Action::Intake(Step::Recording { name: "cut.jsonl".to_owned(), bytes: 9.0 }));
    let problems = vec![Default::default()];
    let trace = state.intake.files;
    assert_eq!(state.wanted_files(), [None, Some(trace), state.driven]);
    let state =
        state.after(Action::Worker(FromWorker::Trace { trace, said: TraceSaid::Refused { problems } }));
    assert_eq!((state.driven_line(), state.wanted_files()), (line, [None, None, state.driven]));
}
