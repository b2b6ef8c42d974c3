//! The table of routers in `docs/ROUTING.md` is what the trace of an hour gives. It lies in `../shared/data/traces`, beside the
//! repository, and the test is skipped where that folder is absent. `UPDATE_EXPECT=1` writes the table anew.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use tierscope_scenario::{TraceFormat, default_text_for_trace, expand, set};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_tests::scenario;

const TRACE: &str = "../../shared/data/traces/mooncake/conversation_trace.jsonl";
const DOCUMENT: &str = include_str!("../docs/ROUTING.md");
/// The table begins behind the first and ends before the second.
const MARKS: (&str, &str) = ("|---|---:|---:|---:|---:|---:|---:|---:|---:|\n", "\n\n(Where");

/// How a row is called, and what it sets beside [`COMMON`].
const ROWS: [(&str, &[&str]); 5] = [
    ("round robin", &["router.kind=\"round_robin\""]),
    ("least loaded", &["router.kind=\"least_loaded\""]),
    ("KV-aware", &["router.kind=\"kv_aware\""]),
    ("KV-aware, events 10 s late", &["router.kind=\"kv_aware\"", "router.event_delay_ms=10000"]),
    ("KV-aware, events 60 s late", &["router.kind=\"kv_aware\"", "router.event_delay_ms=60000"]),
];

const COMMON: [&str; 2] = ["workers.count=4", "engine.g1_blocks=2500"];

/// The report of a row, as `tierscope run --json` has it.
fn report(bytes: &[u8], settings: &[&str]) -> Value {
    let plain = default_text_for_trace("conversation_trace.jsonl", TraceFormat::Mooncake, None);
    let text = COMMON.iter().chain(settings).fold(plain, |text, setting| {
        set(&text, setting).unwrap_or_else(|problem| panic!("{setting}: {problem}"))
    });
    let scenario = scenario(&text);
    let workload = expand(&scenario, Some(bytes)).expect("a published trace is well-formed");
    let mut run = Run::new(&scenario, Arc::new(workload), RunOptions::default());
    assert_eq!(run.finish().expect("time does not overflow"), RunState::Finished);
    serde_json::to_value(run.report()).expect("a report is plain data")
}

fn number(report: &Value, path: &str) -> f64 {
    report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("the report lacks {path}"))
}

fn row(name: &str, report: &Value) -> String {
    let ms = |path: &str| number(report, path) / 1e6;
    let phantoms = report.pointer("/router/belief/phantom_blocks").and_then(Value::as_u64);
    format!(
        "| {name} | {:.2} | {:.1} | {:.1} | {:.1} | {:.2} | {:.2} | {} to {} | {} |",
        number(report, "/hit_ratio/first_admission/total") * 100.0,
        ms("/latency/ttft_ns/avg"),
        ms("/latency/ttft_ns/p50"),
        ms("/latency/ttft_ns/p99"),
        ms("/latency/itl_ns/avg"),
        ms("/latency/itl_ns/p99"),
        number(report, "/router/spread/whole/min"),
        number(report, "/router/spread/whole/max"),
        phantoms.map_or("–".to_owned(), |blocks| blocks.to_string()),
    )
}

#[test]
fn the_table_of_routers_is_true() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(TRACE);
    let Ok(bytes) = std::fs::read(&path) else {
        println!("skipped: {} is absent", path.display());
        return;
    };
    let rows: Vec<String> =
        ROWS.iter().map(|(name, settings)| row(name, &report(&bytes, settings))).collect();
    let table = rows.join("\n");
    println!("{table}");
    let begin = DOCUMENT.find(MARKS.0).expect("the document has the table") + MARKS.0.len();
    let end = begin + DOCUMENT[begin..].find(MARKS.1).expect("the machine stands below the table");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ROUTING.md");
        let written = format!("{}{table}{}", &DOCUMENT[..begin], &DOCUMENT[end..]);
        std::fs::write(path, written).expect("ROUTING.md can be written");
        return;
    }
    assert_eq!(&DOCUMENT[begin..end], table, "docs/ROUTING.md: UPDATE_EXPECT=1 writes it anew");
}
