use super::super::{Action, Phase, Theme};
use super::*;
use tierscope_worker::protocol::FromWorker;

fn opening() -> AppState {
    AppState::opening("", Theme::System, false)
}

fn after(state: AppState, step: Step) -> AppState {
    state.after(Action::Intake(step))
}

fn pasted(text: &str) -> AppState {
    after(opening(), Step::Text { name: String::new(), text: text.to_owned() })
}

fn kept(state: AppState, requests: u32) -> AppState {
    let trace = state.intake.files;
    let said = TraceSaid::Kept { format: "mooncake".into(), requests, block_tokens: Some(512) };
    state.after(Action::Worker(FromWorker::Trace { trace, said }))
}

#[test]
fn a_pasted_command_becomes_the_scenario() {
    let state = pasted("vllm serve Qwen/Qwen3-8B --max-num-seqs 64");
    let seen = state.intake.seen.clone().expect("recognized");
    assert!(seen.sentence().starts_with("Recognized: vllm serve command. 2 taken, "), "{}", seen.sentence());
    assert!(state.intake.open);
    let (run, used) = (state.run, after(state, Step::Use));
    assert_eq!((used.run, used.intake.open, used.origin), (run + 1, false, Origin::Edited));
    assert!(used.draft.text.contains("max_num_seqs = 64"));
}

#[test]
fn faults_and_strangers_stay_in_the_dialog() {
    for (text, words) in [
        ("vllm serve m --block-size 0", "It has 1 problem."),
        ("hello", "Not recognized."),
        (" ", "There is nothing in it."),
        ("#v1.AAAA", "This link cannot be opened."),
        ("{\"timestamp\": 0, \"input_length\": 5, \"output_length\": 3}", "This is a trace."),
    ] {
        let state = pasted(text);
        let sentence = state.intake.seen.as_ref().expect("said").sentence();
        assert!(sentence.contains(words), "{text}: {sentence}");
        assert_eq!(after(state.clone(), Step::Use), state, "there is nothing to use");
    }
    assert_eq!(pasted("").intake.seen, None);
}

#[test]
fn figures_of_a_machine_go_into_the_present_scenario() {
    let state = pasted("tierscope_hardware = 1\ngpu = \"h200\"\n");
    let used = after(state, Step::Use);
    assert!(used.draft.text.contains("gpu = \"h200\""), "{}", used.draft.text);
}

#[test]
fn a_trace_is_read_and_replayed() {
    let state = after(opening(), Step::Trace { name: "t.jsonl".into(), bytes: 4e6 });
    let said = FromWorker::Trace { trace: 1, said: TraceSaid::Heard { bytes: 1e6 } };
    let state = state.after(Action::Worker(said));
    let trace = state.intake.trace.clone().expect("on its way");
    assert_eq!((trace.share(), trace.sentence().as_str()), (0.25, "Reading t.jsonl: 1.0 MB of 4.0 MB."));
    let state = kept(after(state, Step::Sent(1)), 12_031);
    assert_eq!(
        state.intake.trace.as_ref().expect("there").sentence(),
        "t.jsonl: a Mooncake trace of 12,031 requests."
    );
    assert!(!state.intake.keep_scenario, "a gallery case is no engine for it");
    let bare = after(state.clone(), Step::Replay);
    assert!(bare.draft.text.contains("file = \"t.jsonl\" # 12031 requests"), "{}", bare.draft.text);
    assert!(matches!(bare.phase, Phase::Running { .. }) && bare.wanted_trace().is_none());
    let own = after(after(state, Step::KeepScenario(true)), Step::Replay);
    assert!(own.draft.text.contains("g1_blocks = 32") && own.draft.scenario.is_some(), "{}", own.draft.text);
}

#[test]
fn a_scenario_from_a_link_waits_for_its_file() {
    let text = "tierscope = 1\n[workload]\nkind = \"trace\"\nfile = \"t.jsonl\" # 7 requests\n";
    let state = opening().after(Action::OpenLink(edit::hash_of(text)));
    assert_eq!(
        state.wanted_trace().map(|wanted| (&*wanted.file, wanted.requests)),
        Some(("t.jsonl", Some(7)))
    );
    let state = after(state, Step::Trace { name: "t.jsonl".into(), bytes: 9.0 });
    assert!(!state.intake.open, "nothing is to be asked");
    let run = state.run;
    let state = kept(after(state, Step::Sent(1)), 7);
    assert_eq!((state.run, state.wanted_trace()), (run + 1, None));
}

#[test]
fn a_cancelled_trace_stays_cancelled() {
    let state = after(opening(), Step::Trace { name: "t".into(), bytes: 9.0 });
    let state = kept(after(state, Step::Cancel(1)), 3);
    assert_eq!(state.intake.trace.as_ref().map(|trace| trace.phase.clone()), Some(FilePhase::Cancelled));
    assert!(!state.has_trace() && state.wanted_files() == [None; 3]);
}

#[test]
fn sizes_are_refused_before_anything_is_read() {
    assert_eq!(unfit_size(0.0).as_deref(), Some("It is empty."));
    assert!(unfit_size(300e6).is_some_and(|why| why.contains("300.0 MB") && why.contains("268.4 MB")));
    assert_eq!(unfit_size(1.0), None);
    assert_eq!([grouped(7), grouped(12_031), grouped(1_000_000)], ["7", "12,031", "1,000,000"]);
}
