//! Real traces against their published and independently computed figures. They lie in
//! `../shared/data/traces`, beside the repository, and are skipped where that folder is absent.

use std::path::PathBuf;
use std::sync::Arc;

use tierscope_report::Report;
use tierscope_scenario::{Scenario, TraceFormat, WorkloadSpec, default_for_trace, expand};
use tierscope_sim::{Run, RunOptions, RunState};

fn trace(path: &str) -> Option<Vec<u8>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/traces").join(path);
    let bytes = std::fs::read(&path).ok();
    if bytes.is_none() {
        println!("skipped: {} is absent", path.display());
    }
    bytes
}

fn run(scenario: &Scenario, bytes: &[u8]) -> Report {
    let workload = expand(scenario, Some(bytes)).expect("a published trace is well-formed");
    let mut run = Run::new(scenario, Arc::new(workload), RunOptions::default());
    assert_eq!(run.finish().expect("time does not overflow"), RunState::Finished);
    run.report()
}

fn assert_percent(found: f64, percent: f64) {
    assert!((found * 100.0 - percent).abs() < 0.005, "{} % is not {percent} %", found * 100.0);
}

const CONVERSATION: &str = "mooncake/conversation_trace.jsonl";

#[test]
fn the_one_hour_trace_finishes_with_its_totals() {
    let Some(bytes) = trace(CONVERSATION) else { return };
    let scenario = default_for_trace(CONVERSATION, TraceFormat::Mooncake);
    let report = run(&scenario, &bytes);
    assert_eq!(report.requests.completed, 12_031);
    assert_eq!((report.tokens.input, report.tokens.output), (144_793_823, 4_122_048));
    assert_percent(report.hit_ratio.infinite_cache, 37.34);
}

/// One request at a time with room for everything: the cache hits what an infinite cache hits.
#[test]
fn one_at_a_time_hits_the_speed_of_light() {
    let Some(bytes) = trace(CONVERSATION) else { return };
    let mut scenario = default_for_trace(CONVERSATION, TraceFormat::Mooncake);
    scenario.engine.g1_blocks = 250_000;
    let WorkloadSpec::Trace(trace) = &mut scenario.workload else { panic!("a trace is replayed") };
    trace.concurrency = Some(1);
    let report = run(&scenario, &bytes);
    assert_percent(report.hit_ratio.first_admission.total, 37.34);
    assert_percent(report.hit_ratio.infinite_cache, 37.34);
}

#[test]
fn a_trace_without_hashes_replays() {
    let Some(bytes) = trace("azure2023/AzureLLMInferenceTrace_code.csv") else { return };
    let report = run(&default_for_trace("code.csv", TraceFormat::AzureCsv), &bytes);
    assert_eq!(report.requests.total, 8_819);
    assert_eq!(report.hit_ratio.infinite_cache, 0.0);
}

#[test]
fn every_small_mooncake_block_size_gives_the_same_tokens() {
    let Some(bytes) = trace("dynamo-testdata/mooncake_tiny.jsonl") else { return };
    let mut totals = Vec::new();
    for block in [16, 64, 512] {
        let mut scenario = default_for_trace("tiny.jsonl", TraceFormat::Mooncake);
        scenario.engine.block_size_tokens = block;
        scenario.engine.g1_blocks = 16_384 * 512 / block;
        let report = run(&scenario, &bytes);
        totals.push((report.tokens.input, report.tokens.output, report.requests.completed));
    }
    assert!(totals.windows(2).all(|pair| pair[0] == pair[1]), "{totals:?}");
}
