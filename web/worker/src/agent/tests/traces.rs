//! Traces that are handed over: kept, waited for, refused.

use super::*;
use crate::protocol::{FileKind, TRACE_FILE_BYTES, TraceSaid, TraceStep};

const TRACE: &str = "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 8, \"hash_ids\": [1, 2]}\n\
    {\"timestamp\": 40, \"input_length\": 700, \"output_length\": 8, \"hash_ids\": [1, 3]}\n";
const REPLAY: &str = "tierscope = 1\n[workload]\nkind = \"trace\"\nfile = \"folder/two.jsonl\"\n";

fn step(agent: &mut Agent, step: TraceStep) -> Vec<FromWorker> {
    agent.hear(ToWorker::Trace { trace: 7, step })
}

fn begin(agent: &mut Agent, name: &str, bytes: f64) -> Vec<FromWorker> {
    step(agent, TraceStep::Begin { kind: FileKind::Trace, name: name.to_owned(), bytes })
}

fn hand_over(agent: &mut Agent, name: &str, bytes: &[u8]) -> TraceSaid {
    begin(agent, name, bytes.len() as f64);
    for slice in bytes.chunks(50) {
        let said = step(agent, TraceStep::Slice(slice.to_vec()));
        assert!(matches!(said[..], [FromWorker::Trace { trace: 7, said: TraceSaid::Heard { .. } }]));
    }
    match step(agent, TraceStep::End).into_iter().next() {
        Some(FromWorker::Trace { said, .. }) => said,
        other => panic!("expected word of the trace, got {other:?}"),
    }
}

fn reason(said: &TraceSaid) -> &str {
    match said {
        TraceSaid::Refused { problems } => &problems[0].found,
        other => panic!("expected a refusal, got {other:?}"),
    }
}

#[test]
fn a_trace_is_kept_and_replayed_as_often_as_wanted() {
    let mut agent = Agent::default();
    let said = hand_over(&mut agent, "two.jsonl", TRACE.as_bytes());
    assert_eq!(said, TraceSaid::Kept { format: "mooncake".into(), requests: 2, block_tokens: Some(512) });
    let first = done(&run(&mut agent, 1, REPLAY)).report.clone();
    assert!(first.contains("\"total\":2"), "{first}");
    assert_eq!(done(&run(&mut agent, 2, REPLAY)).report, first);
}

#[test]
fn a_run_waits_for_a_trace_that_is_on_its_way() {
    let mut agent = Agent::default();
    begin(&mut agent, "two.jsonl", TRACE.len() as f64);
    assert_eq!(agent.hear(ToWorker::Run { run: 1, text: REPLAY.to_owned(), worker: 0 }), []);
    assert!(!agent.is_running());
    step(&mut agent, TraceStep::Slice(TRACE.as_bytes().to_vec()));
    step(&mut agent, TraceStep::End);
    assert!(agent.is_running());
}

#[test]
fn a_scenario_without_its_trace_says_which_file_it_wants() {
    let mut agent = Agent::default();
    let said = agent.hear(ToWorker::Run { run: 1, text: REPLAY.to_owned(), worker: 0 });
    let [FromWorker::Refused { problems, .. }] = &said[..] else { panic!("{said:?}") };
    assert_eq!(
        (problems[0].found.as_str(), problems[0].mend.as_str()),
        ("no file two.jsonl", "drop the file anywhere on this page")
    );
    hand_over(&mut agent, "other.jsonl", TRACE.as_bytes());
    assert!(matches!(
        agent.hear(ToWorker::Run { run: 2, text: REPLAY.to_owned(), worker: 0 })[..],
        [FromWorker::Refused { .. }]
    ));
}

#[test]
fn what_is_no_trace_is_refused_and_the_agent_works_on() {
    let mut agent = Agent::default();
    assert!(reason(&hand_over(&mut agent, "a.bin", b"\x00\x01\xff")).contains("no known format"));
    assert!(reason(&hand_over(&mut agent, "a.jsonl", &TRACE.as_bytes()[..120])).contains("end"));
    assert!(reason(&hand_over(&mut agent, "a.jsonl", b"\x89PNG\r\n\x1a\n\x00\xff")).contains("0x89"));
    let cut: Vec<u8> = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1].to_vec();
    assert!(!reason(&hand_over(&mut agent, "a.jsonl.gz", &cut)).is_empty());
    let [FromWorker::Trace { said, .. }] = &begin(&mut agent, "big", TRACE_FILE_BYTES as f64 + 1.0)[..]
    else {
        panic!("word of the file")
    };
    assert!(reason(said).contains("bytes"));
    assert_eq!(step(&mut agent, TraceStep::Slice(vec![1; 9])), [], "nothing was begun");
    assert!(matches!(hand_over(&mut agent, "two.jsonl", TRACE.as_bytes()), TraceSaid::Kept { .. }));
}
