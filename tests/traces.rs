//! Real traces against their published and independently computed figures. They lie in
//! `../shared/data/traces`, beside the repository, and are skipped where that folder is absent.

use std::path::PathBuf;
use std::sync::Arc;

use tierscope_report::{Report, infinite_cache};
use tierscope_scenario::trace::{Writer, detect, read};
use tierscope_scenario::{
    Scenario, TraceFile, TraceFormat, TraceOptions, Workload, WorkloadSpec, default_for_trace, expand,
};
use tierscope_sim::{Run, RunOptions, RunState};
use tierscope_units::{RequestId, TokenRun};

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

/// A recorded session: requests, sessions (each subagent one), tokens in and out, and tokens of prompts that a cache without limits
/// hits, all counted from the file with a script of its own.
type Recorded = (&'static str, usize, u32, u64, u64, u64);

const PI: Recorded = ("dynamo-testdata/pi_request_trace.jsonl.gz", 17, 5, 66_520, 8_094, 47_680);

const WEKA: [Recorded; 13] = [
    ("weka-kv-cache-tester/trace_0001.json", 41, 1, 4_873_373, 27_119, 4_544_512),
    ("weka-kv-cache-tester/trace_0002.json", 33, 1, 1_508_817, 18_463, 1_409_280),
    ("weka-kv-cache-tester/trace_0006.json", 46, 1, 3_681_092, 19_178, 3_424_960),
    ("weka-kv-cache-tester/trace_0007.json", 12, 1, 1_605_375, 8_929, 1_465_728),
    ("weka-kv-cache-tester/trace_0010.json", 172, 5, 15_068_078, 101_388, 14_193_216),
    ("weka-kv-cache-tester/trace_0015.json", 48, 1, 2_224_116, 15_561, 2_153_280),
    ("weka-kv-cache-tester/trace_0019.json", 24, 1, 627_951, 10_690, 589_696),
    ("weka-kv-cache-tester/trace_0024.json", 50, 1, 4_005_863, 15_253, 3_735_680),
    ("weka-kv-cache-tester/trace_0026.json", 3, 1, 52_760, 5_294, 32_576),
    ("weka-kv-cache-tester/trace_0187.json", 3, 1, 35_830, 788, 21_632),
    ("weka-kv-cache-tester/trace_0276.json", 184, 5, 16_785_452, 81_253, 16_024_768),
    ("weka-kv-cache-tester/trace_0277.json", 53, 5, 2_576_410, 31_862, 2_248_896),
    ("weka-kv-cache-tester/trace_0282.json", 103, 4, 6_741_276, 73_186, 6_373_504),
];

fn totals(workload: &Workload) -> (usize, u32, u64, u64, u64) {
    let sessions = workload.sessions.iter().flatten().max().map_or(0, |last| last + 1);
    let output = workload.requests.iter().map(|plan| u64::from(plan.output_tokens)).sum();
    let prompts = workload.requests.iter().map(|plan| {
        let answer = TokenRun { start: plan.output_start, len: plan.output_tokens };
        (plan.salt, workload.prompt(plan), answer)
    });
    let cache = infinite_cache(prompts, workload.content_block_tokens);
    (workload.requests.len(), sessions, cache.input_tokens, output, cache.hit_tokens)
}

#[test]
fn recorded_sessions_have_the_totals_of_their_files() {
    for (path, requests, sessions, input, output, hits) in WEKA.into_iter().chain([PI]) {
        let Some(bytes) = trace(path) else { return };
        let format = detect(&bytes, path).expect("its first line says what it is");
        let file = TraceFile { name: path, bytes: &bytes };
        let workload =
            read(format, &[file], &TraceOptions::default()).expect("a published trace is well-formed");
        assert_eq!(totals(&workload), (requests, sessions, input, output, hits), "{path}");
    }
}

/// The three subagents of this trace work side by side: its root goes on when the last of them has ended.
#[test]
fn an_agent_waits_for_its_three_subagents() {
    let Some(bytes) = trace(PI.0) else { return };
    let file = TraceFile { name: PI.0, bytes: &bytes };
    let workload = read(TraceFormat::Dynamo, &[file], &TraceOptions::default()).expect("well-formed");
    let joins: Vec<u32> = workload.joins_of(RequestId(14)).map(|request| request.0).collect();
    assert_eq!(joins, [9, 11, 13]);
    assert_eq!(workload.joins.len(), 3, "nobody else waits for several");
}

/// A run of what was converted is the run of the original, to the last bit.
#[test]
fn what_is_converted_runs_as_the_original() {
    let paths = [PI.0, WEKA[4].0, WEKA[11].0, "dynamo-testdata/mooncake_tiny.jsonl"];
    for path in paths.into_iter().chain(["azure2023/AzureLLMInferenceTrace_code.csv"]) {
        let Some(bytes) = trace(path) else { return };
        let format = detect(&bytes, path).expect("its first line says what it is");
        let file = TraceFile { name: path, bytes: &bytes };
        let workload = read(format, &[file], &TraceOptions::default()).expect("well-formed");
        let mut writer = Writer::new(&workload, 16);
        let mut lines = String::new();
        for id in (0..workload.requests.len() as u32).map(RequestId) {
            writer.line(id, &mut lines).expect("lines can say it");
        }
        let block = format.block_tokens().unwrap_or(16);
        let digest = |format, bytes: &[u8]| {
            let mut scenario = default_for_trace("t", format);
            scenario.engine.block_size_tokens = block;
            run(&scenario, bytes).digest
        };
        assert_eq!(digest(TraceFormat::Mooncake, lines.as_bytes()), digest(format, &bytes), "{path}");
    }
}

#[test]
fn the_tiny_trace_has_its_totals() {
    let Some(bytes) = trace("dynamo-testdata/mooncake_tiny.jsonl") else { return };
    let report = run(&default_for_trace("tiny.jsonl", TraceFormat::Mooncake), &bytes);
    assert_eq!((report.requests.total, report.tokens.input, report.tokens.output), (16, 154_607, 4_347));
}
