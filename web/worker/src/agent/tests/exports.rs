//! What is written for the user to keep.

use super::*;
use crate::protocol::{ExportEnd, ExportKind};

/// What an export comes to.
fn export(agent: &mut Agent, kind: ExportKind) -> String {
    assert!(agent.hear(ToWorker::Export { run: 1, number: 3, kind }).is_empty());
    let now = clock();
    let (mut bytes, mut ended, mut before) = (Vec::new(), None, 0.0);
    while agent.is_running() {
        for said in agent.slice(&now, 8.0) {
            let FromWorker::Exported { run: 1, part } = said else { panic!("expected a part, got {said:?}") };
            assert!(
                part.number == 3 && ended.is_none() && part.share >= before && part.share <= 1.0,
                "{}",
                part.share
            );
            bytes.extend(part.bytes);
            (ended, before) = (part.end, part.share);
        }
    }
    assert_eq!(ended, Some(ExportEnd::Whole));
    String::from_utf8(bytes).expect("text")
}

#[test]
fn a_run_that_is_over_is_written_as_a_trace_and_as_rows() {
    let mut agent = Agent::default();
    run(&mut agent, 1, SCENARIO);
    let trace = export(&mut agent, ExportKind::Perfetto);
    let json: serde_json::Value = serde_json::from_str(&trace).expect("JSON");
    let events = json["traceEvents"].as_array().expect("events");
    let count = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
    assert!(count("B") > 10 && count("B") == count("E") && count("b") == count("e"));
    assert_eq!(export(&mut agent, ExportKind::Perfetto), trace);

    let rows = export(&mut agent, ExportKind::Requests);
    assert_eq!(rows.lines().count(), 31, "{rows}");
    assert!(rows.lines().skip(1).all(|row| row.ends_with(",completed")));
}

#[test]
fn what_is_under_way_or_unknown_is_not_written_and_writing_can_be_given_up() {
    let mut agent = Agent::default();
    agent.hear(ToWorker::Run { run: 1, text: SCENARIO.to_owned(), worker: 0 });
    agent.hear(ToWorker::Export { run: 1, number: 3, kind: ExportKind::Perfetto });
    let said = run(&mut agent, 1, SCENARIO);
    assert!(!said.iter().any(|said| matches!(said, FromWorker::Exported { .. })));
    agent.hear(ToWorker::Export { run: 2, number: 3, kind: ExportKind::Perfetto });
    assert!(!agent.is_running());
    agent.hear(ToWorker::Export { run: 1, number: 3, kind: ExportKind::Perfetto });
    assert!(agent.is_running());
    agent.hear(ToWorker::StopExport { run: 1 });
    assert!(!agent.is_running());
}
