//! Traces for Perfetto, of every scenario of the repository: JSON, begin and end balanced on each track, times that never
//! go back, every request that arrived a span, and the same bytes however the facts were cut.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use tierscope_report::{Perfetto, Report};
use tierscope_scenario::{Scenario, expand};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_tests::{SCENARIOS, scenario};

/// The trace of a run, taken in slices of so many instants.
fn trace(scenario: &Scenario, instants: u32) -> (String, Report) {
    let workload = expand(scenario, None).expect("a scenario of the repository expands");
    let mut run = Run::new(scenario, Arc::new(workload), RunOptions::default());
    let workers = scenario.fleet.as_ref().map_or(1, |fleet| fleet.roles.len());
    let mut out = String::new();
    let mut perfetto = Perfetto::new(&scenario.title, workers, &mut out);
    while run.advance(instants, |log| perfetto.take(log, &mut out)).expect("time does not overflow")
        == RunState::Running
    {}
    perfetto.finish(run.simulation().now(), &mut out);
    (out, run.report())
}

/// What is open on each track, and when something last happened there.
#[derive(Default)]
struct Track {
    open: Vec<String>,
    last: f64,
}

/// Reads a trace; gives how many spans of requests it has.
fn read(name: &str, text: &str) -> usize {
    let json: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"));
    let events = json["traceEvents"].as_array().expect("events");
    let mut tracks: BTreeMap<String, Track> = BTreeMap::new();
    let mut requests = 0;
    for event in events.iter().filter(|event| event["ph"] != "M") {
        let kind = event["ph"].as_str().expect("a kind");
        let what = event["name"].as_str().unwrap_or_default();
        let counter = if kind == "C" { what } else { "" };
        let key = format!("{}/{}/{}/{counter}", event["pid"], event["tid"], event["id"]);
        let track = tracks.entry(key).or_default();
        let at = event["ts"].as_f64().expect("a time");
        assert!(at >= track.last, "{name}: time goes back: {event}");
        track.last = at;
        match kind {
            "B" | "b" => track.open.push(what.to_owned()),
            "E" => assert!(track.open.pop().is_some(), "{name}: an end without a beginning: {event}"),
            "e" => assert_eq!(track.open.pop().as_deref(), Some(what), "{name}: {event}"),
            _ => {}
        }
        requests += usize::from(kind == "b" && what.starts_with("request "));
    }
    let open: Vec<_> =
        tracks.iter().filter(|(_, track)| !track.open.is_empty()).map(|(key, _)| key).collect();
    assert!(open.is_empty(), "{name}: still open: {open:?}");
    requests
}

#[test]
fn every_scenario_has_a_sound_trace() {
    for (name, text) in SCENARIOS {
        let scenario = scenario(text);
        let (whole, report) = trace(&scenario, u32::MAX);
        // Where nothing moves any more, some requests may never have come.
        let (spans, counts) = (read(name, &whole) as u64, &report.requests);
        let ended = counts.completed + counts.rejected + counts.cancelled + counts.failed;
        assert!((ended..=counts.total).contains(&spans), "{name}: {spans} spans of {counts:?}");
        assert!(trace(&scenario, 3).0 == whole, "{name}: the trace depends on how the run was cut");
    }
}
