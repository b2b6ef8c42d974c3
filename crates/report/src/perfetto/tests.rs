use std::collections::BTreeMap;

use serde_json::Value;
use tierscope_engine::{Fact, FactLog, Loaded, Occupancy, PassStart, Rejection};
use tierscope_units::{PassId, RequestId, SimTime, WorkerId};

use super::*;

fn pass(number: u64) -> PassStart {
    PassStart {
        worker: WorkerId(0),
        pass: PassId(number),
        prefill_rows: 1,
        prefill_tokens: 744,
        decode_rows: 0,
        decode_tokens: 0,
        waiting: 2,
        g1: Occupancy { free: 1, reserved: 0, active: 5, cached: 4, source_hold: 0 },
    }
}

/// Facts of a lone machine, with their times in microseconds; what no test could make is a log, so they go in one by one.
fn trace(facts: &[(u64, Fact)], end_us: u64) -> String {
    let mut out = String::new();
    let mut perfetto = Perfetto::new("a \"title\"", 1, &mut out);
    let log = FactLog::default();
    for (us, fact) in facts {
        perfetto.take_one(SimTime::from_ns(us * 1_000 + 1), fact, &log, &mut out);
    }
    perfetto.finish(SimTime::from_ns(end_us * 1_000 + 1), &mut out);
    out
}

/// The events of a trace, after what every trace must keep.
pub(crate) fn sound(trace: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(trace).expect("a trace is JSON");
    let events = json["traceEvents"].as_array().expect("events").clone();
    let mut open: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut last: BTreeMap<String, f64> = BTreeMap::new();
    for event in &events {
        let kind = event["ph"].as_str().expect("a kind");
        if kind == "M" {
            continue;
        }
        let track = format!(
            "{}/{}/{}/{}",
            event["pid"],
            event["tid"],
            event["id"],
            if kind == "C" { &event["name"] } else { &Value::Null }
        );
        let at = event["ts"].as_f64().expect("a time");
        let before = last.insert(track.clone(), at).unwrap_or(0.0);
        assert!(at >= before, "time goes back: {event}");
        let name = event["name"].as_str().unwrap_or_default().to_owned();
        match kind {
            "B" | "b" => open.entry(track).or_default().push(name),
            "E" => drop(open.entry(track).or_default().pop().expect("an end without a beginning")),
            "e" => assert_eq!(open.entry(track).or_default().pop(), Some(name), "{event}"),
            _ => {}
        }
    }
    assert!(open.values().all(Vec::is_empty), "still open: {open:?}");
    events
}

#[test]
fn a_life_is_a_span_of_spans() {
    let request = RequestId(7);
    let admitted =
        |readmission| Fact::Admitted { request, cached_tokens: 64, loaded: Loaded::default(), readmission };
    let text = trace(
        &[
            (0, Fact::Arrived { request, prompt_tokens: 100, output_tokens: 3 }),
            (1, admitted(false)),
            (1, Fact::PassStarted(pass(0))),
            (9, Fact::PassEnded { worker: WorkerId(0), pass: PassId(0) }),
            (9, Fact::FirstToken { request }),
            (10, Fact::Preempted { request, lost_tokens: 101, released: 7 }),
            (12, admitted(true)),
            (12, Fact::PassStarted(pass(1))),
        ],
        20,
    );
    let events = sound(&text);
    let spans: Vec<&str> =
        events.iter().filter(|event| event["ph"] == "b").filter_map(|event| event["name"].as_str()).collect();
    assert_eq!(spans, ["request 7", "waiting", "prefill", "decode", "preempted", "resumed"]);
    let last = events.iter().rfind(|event| event["name"] == "request 7").expect("its end");
    assert_eq!((last["args"]["outcome"].as_str(), last["ts"].as_f64()), (Some("unfinished"), Some(20.001)));
    assert_eq!(
        events.iter().filter(|event| event["ph"] == "C").count(),
        2,
        "counters speak when something changed"
    );
}

#[test]
fn who_is_refused_has_a_short_life() {
    let request = RequestId(0);
    let reason = Rejection::Empty;
    let events = sound(&trace(
        &[
            (5, Fact::Arrived { request, prompt_tokens: 0, output_tokens: 1 }),
            (5, Fact::Rejected { request, reason }),
        ],
        5,
    ));
    assert!(events.iter().any(|event| event["ph"] == "n" && event["name"] == "rejected"));
}

#[test]
fn a_trace_of_nothing_is_whole() {
    assert!(sound(&trace(&[], 0)).iter().all(|event| event["ph"] == "M"));
}

#[test]
fn what_goes_on_at_once_lies_on_tracks_of_its_own() {
    let mut tracks = Tracks::<u8>::default();
    let process = Process(0);
    let open = |tracks: &mut Tracks<u8>, thing| tracks.open(process, 1, thing, "g1_g2");
    assert_eq!(open(&mut tracks, 1).name.as_deref(), Some("g1_g2"));
    assert_eq!(open(&mut tracks, 2).name.as_deref(), Some("g1_g2 2"));
    let first = tracks.close(process, 1, 1);
    let third = open(&mut tracks, 3);
    assert_eq!((Some(third.track), third.name), (first, None), "the lowest that is free, named once");
    assert_eq!(tracks.drain(Some(Process(1))), []);
    assert_eq!(tracks.drain(None).len(), 2);
}
