//! Recordings of driven runs: handed over, replayed, compared, refused.

use std::collections::BTreeSet;
use std::sync::Arc;

use tierscope_engine::CopyFailure;
use tierscope_scenario::recording::OnMedium;
use tierscope_scenario::{Recording, Told, expand, parse_any};

use super::*;
use crate::protocol::{Answer, Chore, Difference, Duel, FileKind, RecordingView, TraceSaid, TraceStep};

const DRIVEN: &str = r#"
tierscope = 1
title = "driven"
seed = 5
[engine]
g1_blocks = 40
block_size_tokens = 16
max_num_batched_tokens = 512
[g2]
blocks = 60
[g3]
blocks = 100
[timing]
model = "polynomial"
[workload]
kind = "synthetic"
requests = 30
arrival = "poisson"
rate_per_s = 20.0
prompt_tokens = { min = 40, max = 200 }
output_tokens = { min = 5, max = 40 }
shared_prefix = { tokens = 64, groups = 3 }
"#;

/// A run whose copies each take as long as nobody's model says, and of which one fails; stopped after so many instants.
fn recorded(instants: u32) -> Recording {
    let scenario = parse_any(DRIVEN).expect("a scenario");
    let workload = Arc::new(expand(&scenario, None).expect("requests"));
    let mut run = Run::listening(&scenario, workload);
    let (mut told, mut seen) = (Vec::new(), BTreeSet::new());
    for _ in 0..instants {
        let begun: Vec<_> = run.simulation().copies_elsewhere().filter(|copy| seen.insert(*copy)).collect();
        for transfer in begun {
            let takes = 700_000 + 90_000 * (transfer.0 % 11);
            let end = if transfer.0 == 3 { Err(CopyFailure::Corrupt) } else { Ok(()) };
            let at = SimTime::from_ns(run.simulation().now().as_ns() + takes);
            told.push(run.copy_ended(Told { at, transfer, end }));
        }
        if run.advance(1, |_| {}).expect("time stays within bounds") != RunState::Running {
            break;
        }
    }
    let over = run.state() != RunState::Running;
    let medium = |tier: &str, kind: &str, name: &str| OnMedium {
        tier: tier.to_owned(),
        kind: kind.to_owned(),
        name: name.to_owned(),
    };
    Recording {
        version: tierscope_sim::VERSION.to_owned(),
        scenario: DRIVEN.to_owned(),
        block_bytes: 4_096,
        media: vec![medium("g1", "host", "memory"), medium("g3", "disk", "/tmp/blocks")],
        told,
        stopped: (!over).then(|| run.simulation().now()),
        digest: run.report().digest,
    }
}

fn hand_over(agent: &mut Agent, number: u32, bytes: &[u8]) -> TraceSaid {
    let mut step = |step| agent.hear(ToWorker::Trace { trace: number, step });
    step(TraceStep::Begin {
        kind: FileKind::Recording,
        name: "run.jsonl".to_owned(),
        bytes: bytes.len() as f64,
    });
    for slice in bytes.chunks(4_096) {
        step(TraceStep::Slice(slice.to_vec()));
    }
    match step(TraceStep::End).into_iter().next() {
        Some(FromWorker::Trace { said, .. }) => said,
        other => panic!("expected word of the recording, got {other:?}"),
    }
}

fn view(agent: &mut Agent, number: u32, recording: &Recording) -> RecordingView {
    match hand_over(agent, number, recording.to_text().as_bytes()) {
        TraceSaid::Recorded { recording } => *recording,
        other => panic!("expected a recording, got {other:?}"),
    }
}

fn replay(agent: &mut Agent, recording: u32) -> Vec<FromWorker> {
    let mut said = agent.hear(ToWorker::Replay { run: 1, recording, worker: 0 });
    let now = clock();
    while agent.is_running() {
        said.extend(agent.slice(&now, 8.0));
    }
    said
}

fn digest(result: &RunResult) -> String {
    let report: serde_json::Value = serde_json::from_str(&result.report).expect("a report");
    report["digest"].as_str().unwrap_or_default().to_owned()
}

fn duel(number: u32, at_ns: Option<f64>) -> Duel {
    Duel { a: DRIVEN.to_owned(), b: DRIVEN.to_owned(), at_ns, driven: Some(number) }
}

fn answer(agent: &mut Agent, chore: Chore) -> Answer {
    match agent.hear(ToWorker::Chore { job: 1, task: 0, chore }).pop() {
        Some(FromWorker::Chore { answer, .. }) => answer,
        other => panic!("expected an answer, got {other:?}"),
    }
}

#[test]
fn a_driven_run_is_replayed_to_its_digest_and_any_time_of_it_is_shown() {
    let (mut agent, recording) = (Agent::default(), recorded(u32::MAX));
    let view = view(&mut agent, 4, &recording);
    assert_eq!((view.ends as usize, view.failed, view.stopped_ns), (recording.told.len(), 1, None));
    assert!(view.ends > 20 && view.scenario == DRIVEN && view.media[1].name == "/tmp/blocks", "{view:?}");
    let said = replay(&mut agent, 4);
    let result = done(&said);
    assert_eq!(digest(result), recording.digest);
    assert!(!result.stopped);
    let simulated = digest(done(&run(&mut agent, 1, DRIVEN)));
    assert_ne!(simulated, recording.digest, "the tiers were others than the modelled ones");

    let end = done(&replay(&mut agent, 4)).end_ns;
    let times = || (0..=40).map(|part| end * f64::from(part) / 40.0);
    let forward: Vec<Board> = times().map(|at| board_at(&mut agent, at)).collect();
    let back: Vec<Board> = times().rev().map(|at| board_at(&mut agent, at)).collect();
    assert!(forward.iter().eq(back.iter().rev()), "the way to a time has no influence");
    for told in recording.told.iter().take(5) {
        let before = board_at(&mut agent, (told.at.as_ns() - 1) as f64);
        assert!(before.copies.iter().any(|copy| copy.transfer == told.transfer.0 as f64), "it is under way");
    }
}

#[test]
fn a_driven_run_that_was_stopped_ends_there() {
    let (mut agent, recording) = (Agent::default(), recorded(60));
    let stopped = view(&mut agent, 4, &recording).stopped_ns.expect("it was stopped");
    let said = replay(&mut agent, 4);
    let result = done(&said);
    assert_eq!((result.stopped, result.end_ns), (true, stopped));
    assert_eq!(digest(result), recording.digest);
    assert_eq!(stepped(&mut agent, stopped, Direction::Forward).at_ns, stopped);
}

#[test]
fn a_recording_is_compared_with_its_simulation() {
    let (mut agent, recording) = (Agent::default(), recorded(u32::MAX));
    view(&mut agent, 4, &recording);
    let difference: Difference = match answer(&mut agent, Chore::Compare { duel: duel(4, None) }) {
        Answer::Compare { difference } => *difference,
        other => panic!("expected a difference, got {other:?}"),
    };
    assert!(!difference.equal && difference.same_work && difference.first.is_some(), "{difference:?}");
    let refused = |answer| match answer {
        Answer::Refused { problems } => problems[0].mend.clone(),
        other => panic!("expected a refusal, got {other:?}"),
    };
    let late = answer(&mut agent, Chore::Compare { duel: duel(4, Some(5e6)) });
    assert!(refused(late).contains("from the beginning"));
    let seeds = answer(&mut agent, Chore::Pair { duel: duel(4, None), seed: 2 });
    assert!(refused(seeds).contains("simulated"));
    let gone = answer(&mut agent, Chore::Compare { duel: duel(5, None) });
    assert!(refused(gone).contains("drop its file"));
    // B itself is run where A's recording is not: it is the simulation.
    let mut other = Agent::default();
    assert_eq!(other.hear(ToWorker::Fork { run: 1, duel: duel(4, None), worker: 0 }), []);
    let late = other.hear(ToWorker::Fork { run: 2, duel: duel(4, Some(5e6)), worker: 0 });
    assert!(
        matches!(&late[..], [FromWorker::Refused { run: 2, problems }] if problems[0].mend.contains("B is"))
    );
    assert!(!other.is_running());
}

#[test]
fn a_replay_waits_for_its_recording_and_a_trace_beside_it_is_kept() {
    let (mut agent, recording) = (Agent::default(), recorded(u32::MAX));
    let text = recording.to_text();
    let step = |agent: &mut Agent, step| agent.hear(ToWorker::Trace { trace: 4, step });
    let (name, bytes) = ("run.jsonl".to_owned(), text.len() as f64);
    step(&mut agent, TraceStep::Begin { kind: FileKind::Recording, name, bytes });
    assert_eq!(agent.hear(ToWorker::Replay { run: 1, recording: 4, worker: 0 }), []);
    assert!(!agent.is_running());
    step(&mut agent, TraceStep::Slice(text.clone().into_bytes()));
    step(&mut agent, TraceStep::End);
    assert!(agent.is_running());
    // Another file beside it, of its own number.
    let trace = b"{\"timestamp\": 0, \"input_length\": 60, \"output_length\": 8, \"hash_ids\": [1]}\n";
    let mut other = |step| agent.hear(ToWorker::Trace { trace: 5, step });
    other(TraceStep::Begin { kind: FileKind::Trace, name: "t.jsonl".to_owned(), bytes: trace.len() as f64 });
    other(TraceStep::Slice(trace.to_vec()));
    assert!(matches!(
        other(TraceStep::End)[..],
        [FromWorker::Trace { trace: 5, said: TraceSaid::Kept { .. } }]
    ));
    assert_eq!(digest(done(&replay(&mut agent, 4))), recording.digest);
    step(&mut agent, TraceStep::Drop);
    assert!(matches!(replay(&mut agent, 4)[..], [FromWorker::Refused { .. }]));
}

#[test]
fn a_faulty_recording_is_refused_with_its_place_and_mend() {
    let mut agent = Agent::default();
    let text = recorded(200).to_text();
    let mut refused = |bytes: &[u8]| match hand_over(&mut agent, 4, bytes) {
        TraceSaid::Refused { problems } => problems[0].clone(),
        other => panic!("expected a refusal, got {other:?}"),
    };
    let cut = text.trim_end().rsplit_once('\n').expect("lines").0;
    let problem = refused(cut.as_bytes());
    assert_eq!(
        (problem.line as usize, problem.found.as_str()),
        (cut.lines().count() + 1, "the end of the text")
    );
    assert!(problem.mend.contains("--record"), "{problem:?}");
    let bad = text.replacen("\"end\":\"completed\"", "\"end\":\"complated\"", 1);
    let problem = refused(bad.as_bytes());
    assert_eq!((problem.line, problem.found.as_str()), (2, "end = \"complated\""));
    let mut binary = text.clone().into_bytes();
    let third = text.match_indices('\n').nth(1).expect("lines").0 + 3;
    binary[third] = 0xff;
    assert_eq!(refused(&binary).line, 3);
    let large = TraceStep::Begin {
        kind: FileKind::Recording,
        name: "run.jsonl".to_owned(),
        bytes: f64::from(1 << 28) + 1.0,
    };
    let said = agent.hear(ToWorker::Trace { trace: 4, step: large });
    assert!(matches!(said[..], [FromWorker::Trace { said: TraceSaid::Refused { .. }, .. }]), "{said:?}");
    // The one before is kept.
    let good = recorded(200);
    view(&mut agent, 5, &good);
    assert!(matches!(hand_over(&mut agent, 6, cut.as_bytes()), TraceSaid::Refused { .. }));
    assert_eq!(digest(done(&replay(&mut agent, 5))), good.digest);
    // What its scenario lacks is said when it is replayed.
    let other = Recording { scenario: "tierscope = 1\nnonsense = 2\n".to_owned(), ..recorded(200) };
    view(&mut agent, 4, &other);
    let said = replay(&mut agent, 4);
    let [FromWorker::Refused { problems, .. }] = &said[..] else { panic!("{said:?}") };
    assert!(problems.iter().any(|problem| problem.key.contains("nonsense")), "{problems:?}");
}
