//! A scenario from its text: what is read, what is refused and with which words.

use expect_test::{Expect, expect};
use tierscope_scenario::{
    InlinePrompt, Scenario, SourceFormat, Start, Timing, TraceFormat, WorkloadSpec, default_for_trace,
    default_text_for_trace, expand, parse, parse_any, set,
};
use tierscope_units::{RequestId, SimTime, Span, TokenRun};

const FULL: &str = r#"
tierscope = 1 # the schema
title = "Two readers"
lesson = "A shared prefix is computed once."
seed = 7

[engine]
block_size_tokens = 4
g1_blocks = 100
admission = "next_chunk"
watermark = 0.01

[hardware]
model = "llama-3.1-8b"
gpu = "h100-sxm"
tensor_parallel = 2

[timing]
model = "fixed"
prefill_per_token_ns = 1000
decode_ns = 2000
overhead_ns = 500

[workload]
kind = "requests"

[[workload.request]]
at_ms = 0
prompt_tokens = 10
prefix = "system"
prefix_tokens = 8
output_tokens = 3

[[workload.request]]
at_ms = 1.5
prompt = [[0, 4], [4, 4], [100, 2]]
output_tokens = 2
cancel_after_ms = 20
salt = 3

[[workload.request]]
after = 0
delay_ms = 5
prompt_tokens = 9
prefix = "system"
prefix_tokens = 8
output_tokens = 1

[slo]
ttft_ms = 200

[expect]
outcome = "finished"
report = ["preemptions <= 3"]
facts = ["no preemption", "request 1 finishes before request 2"]
"#;

const FULL_JSON: &str = r#"{
  "workload": {"kind": "requests", "request": [
    {"output_tokens": 3, "prefix": "system", "prefix_tokens": 8, "prompt_tokens": 10},
    {"at_ms": 1.5, "prompt": [[0, 4], [4, 4], [100, 2]], "output_tokens": 2, "cancel_after_ms": 20, "salt": 3},
    {"after": 0, "delay_ms": 5.0, "prompt_tokens": 9, "prefix": "system", "prefix_tokens": 8, "output_tokens": 1}]},
  "expect": {"facts": ["no preemption", "request 1 finishes before request 2"], "report": ["preemptions <= 3"], "outcome": "finished"},
  "slo": {"ttft_ms": 200},
  "timing": {"model": "fixed", "prefill_per_token_ns": 1000, "decode_ns": 2000, "overhead_ns": 500},
  "hardware": {"tensor_parallel": 2, "gpu": "h100-sxm", "model": "llama-3.1-8b"},
  "engine": {"block_size_tokens": 4, "g1_blocks": 100, "admission": "next_chunk", "watermark": 0.01},
  "seed": 7, "title": "another title", "tierscope": 1
}"#;

fn scenario(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| panic!("{problems:#?}"))
}

#[track_caller]
fn refused(text: &str, expected: Expect) {
    let problems = parse_any(text).expect_err("the text is refused");
    let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
    expected.assert_eq(&printed.join("\n"));
}

#[test]
fn a_full_scenario_is_read() {
    let read = scenario(FULL);
    assert_eq!((read.title.as_str(), read.seed, read.engine.block_size_tokens), ("Two readers", 7, 4));
    assert_eq!(read.slo.as_ref().and_then(|slo| slo.ttft), Some(Span::from_ns(200_000_000)));
    assert_eq!(read.timing.name(), "fixed");
    assert_eq!(
        (read.hardware.kv_bytes_per_token, read.hardware.kv_bytes_per_token_per_rank),
        (131_072, 65_536)
    );
    assert_eq!(read.hardware.kv_bytes_per_token_all_ranks(), 131_072);
    let lines: Vec<u32> = read.expect.iter().map(|expectation| expectation.line()).collect();
    assert_eq!(lines, [53, 54, 55, 55]);
    let WorkloadSpec::Requests(list) = &read.workload else { panic!("not requests") };
    assert!(matches!(&list[1].prompt, InlinePrompt::Runs(runs) if runs.len() == 3));
}

#[test]
fn inline_requests_become_runs_that_share_what_they_share() {
    let workload = expand(&scenario(FULL), None).expect("inline requests expand");
    let prompts: Vec<_> = workload.requests.iter().map(|plan| workload.prompt(plan)).collect();
    assert_eq!(prompts[0][0], prompts[2][0], "the named prefix");
    assert_ne!(prompts[0][1].start, prompts[2][1].start, "text of their own");
    assert_eq!(
        prompts[1],
        [TokenRun { start: 0, len: 8 }, TokenRun { start: 100, len: 2 }],
        "runs that continue are one"
    );
    assert_eq!(workload.requests[1].start, Start::At(SimTime::from_ns(1_500_000)));
    let after = Start::After { request: RequestId(0), delay: Span::from_ns(5_000_000) };
    assert_eq!(workload.requests[2].start, after);
    assert_eq!(workload.requests.iter().map(|plan| plan.prompt_tokens).collect::<Vec<_>>(), [10, 10, 9]);
    assert_eq!(workload.content_block_tokens, 4);
}

#[test]
fn toml_and_json_of_equal_meaning_have_one_hash() {
    let (toml, json) = (scenario(FULL), scenario(FULL_JSON));
    assert_eq!(toml.hash(), json.hash());
    assert_ne!(toml.hash(), scenario(&FULL.replace("g1_blocks = 100", "g1_blocks = 101")).hash());
    let crlf = format!("\u{feff}{}", FULL.replace('\n', "\r\n"));
    assert_eq!(scenario(&crlf), toml);
}

#[test]
fn the_canonical_form_is_read_back() {
    let synthetic = "tierscope = 1\n[workload]\nkind = 'synthetic'\nrequests = 5\narrival = 'closed_loop'\nconcurrency = 2\nthink_time_ms = 1.25\n\
        prompt_tokens = { min = 3, max = 9 }\noutput_tokens = { mean = 5.5, stddev = 2, distribution = 'lognormal' }\nturns = 2\n\
        shared_prefix = { tokens = 5, groups = 3 }\n[hardware]\nmodel = 'qwen3-8b'\ngpu = 'b200'\n[timing]\nmodel = 'roofline'\noverhead_ns = 7";
    let trace =
        default_text_for_trace("a/b.jsonl", TraceFormat::Mooncake, None) + "concurrency = 1\nlimit = 9\n";
    let log = default_text_for_trace("l.jsonl.gz", TraceFormat::LmCache, Some(128)) + "output_tokens = 7\n";
    let session = default_text_for_trace("s.json", TraceFormat::Weka, None) + "session_gap_ms = 2.5\n";
    for text in [FULL, FULL_JSON, synthetic, &trace, &log, &session] {
        let first = scenario(text);
        let second =
            parse(&first.to_json().to_string(), SourceFormat::Json).expect("the canonical form is valid");
        assert_eq!(first.to_json(), second.to_json());
        assert_eq!(first.hash(), second.hash());
        assert_eq!(
            (&first.workload, &first.timing, &first.engine),
            (&second.workload, &second.timing, &second.engine)
        );
    }
}

#[test]
fn g1_is_derived_from_the_hardware() {
    let text = |gpu: &str, extra: &str| {
        format!(
            "tierscope = 1\n[hardware]\nmodel = \"llama-3.1-8b\"\ngpu = \"{gpu}\"\n{extra}\n[workload]\nkind = \"trace\"\nfile = \"t.jsonl\"\n"
        )
    };
    // (80 GiB × 0.9 − 16.06 GB) ÷ (16 × 128 KiB)
    let derived = scenario(&text("h100-sxm", ""));
    assert_eq!(derived.engine.g1_blocks, 29_205);
    assert!(
        derived
            .defaults
            .iter()
            .any(|note| note.starts_with("engine.g1_blocks = 29205 (what llama-3.1-8b leaves")),
        "{:?}",
        derived.defaults
    );
    refused(
        &text("rtx-4090", "gpu_memory_utilization = 0.5"),
        expect![[r#"
            error: engine.g1_blocks: found 14.9 GiB of weights in 11.1 GiB of usable memory per rank, expected room for at least one block of 2.0 MiB beside them
              --> scenario:2:2
              mend: raise hardware.tensor_parallel, name a larger gpu, or write g1_blocks"#]],
    );
}

#[test]
fn defaults_that_matter_are_named() {
    let read = scenario("tierscope = 1\n[workload]\nkind = 'trace'\nfile = 't.jsonl'");
    expect![[r#"
        hardware.kv_bytes_per_token = 131072 (as Llama-3.1-8B; no model is named)
        engine.block_size_tokens = 16 (vLLM's default)
        engine.g1_blocks = 16384 (the pool of Dynamo's mocker; hardware.model and .gpu would derive it)
        timing.model = "polynomial" (the coefficients of Dynamo's mocker, uncalibrated)
        workload.trace_block_tokens = 512 (Mooncake's)"#]]
    .assert_eq(&read.defaults.join("\n"));
    let bare = default_for_trace("x/a \"b\".jsonl", TraceFormat::Mooncake);
    assert_eq!((bare.engine.block_size_tokens, bare.engine.g1_blocks), (512, 16_384));
    assert_eq!(bare.trace_path(), Some("x/a \"b\".jsonl"));
    assert!(bare.defaults[0].starts_with("engine.block_size_tokens = 512 (the trace's own block"));
    assert_eq!(default_for_trace("a.csv", TraceFormat::AzureCsv).engine.block_size_tokens, 16);
    assert!(matches!(bare.timing, Timing::Polynomial(_)));
}

#[test]
fn a_key_is_set_and_the_rest_stays() {
    let text = "tierscope = 1 # one\n[engine] # two\ng1_blocks = 5 # three\n";
    assert_eq!(
        set(text, "engine.g1_blocks=100").as_deref(),
        Ok("tierscope = 1 # one\n[engine] # two\ng1_blocks = 100 # three\n")
    );
    let made = set(text, "timing.model = roofline").expect("a new table");
    assert!(made.ends_with("[timing]\nmodel = \"roofline\"\n"), "{made}");
    let nested = set(FULL, "workload.request[1].at_ms=2.5").expect("an item of an array");
    let WorkloadSpec::Requests(list) = scenario(&nested).workload else { panic!("not requests") };
    assert_eq!(list[1].start, tierscope_scenario::InlineStart::At(Span::from_ns(2_500_000)));
    let json = set(FULL_JSON, "seed=8").expect("JSON becomes TOML");
    assert_eq!(scenario(&json).seed, 8);
    assert_eq!(scenario(&set(FULL_JSON, "seed=7").expect("JSON becomes TOML")).hash(), scenario(FULL).hash());
    let inline = set("workload = { kind = 'trace' }", "workload.file=a.jsonl").expect("an inline table");
    assert!(inline.starts_with("workload = {") && inline.contains("file = \"a.jsonl\""), "{inline}");
}

#[test]
fn assignments_that_cannot_be_made_say_why() {
    let cases = [
        "seed",
        "=1",
        "a..b=1",
        "engine=1",
        "engine.g1_blocks.x=1",
        "workload.request[9].at_ms=1",
        "a[x]=1",
        "workload.request[0=1",
    ];
    let printed: Vec<String> =
        cases.iter().map(|case| set(FULL, case).expect_err(case).to_string()).collect();
    expect![[r#"
        error: found "seed", expected KEY=VALUE
          --> --set:1:1
          mend: for example engine.g1_blocks=100
        error: found "", expected keys joined by dots
          --> --set:1:1
          mend: for example engine.g1_blocks or workload.request[0].at_ms
        error: a..b: found "a..b", expected keys joined by dots
          --> --set:1:1
          mend: for example engine.g1_blocks or workload.request[0].at_ms
        error: engine: found table, expected a key with one value
          --> --set:1:1
          mend: name a key inside it
        error: engine.g1_blocks.x: found integer, expected a table
          --> --set:1:1
          mend: name a key of a table
        error: workload.request[9].at_ms: found no item 9 in the array of tables, expected an item that exists
          --> --set:1:1
          mend: items are numbered from 0; add new ones in the text
        error: a[x]: found "a[x]", expected keys joined by dots
          --> --set:1:1
          mend: for example engine.g1_blocks or workload.request[0].at_ms
        error: workload.request[0: found "workload.request[0", expected keys joined by dots
          --> --set:1:1
          mend: for example engine.g1_blocks or workload.request[0].at_ms"#]]
    .assert_eq(&printed.join("\n"));
    assert_eq!(set("a = = 1", "seed=1").map_err(|problem| (problem.line, problem.column)), Err((1, 5)));
}
