//! Traces from their bytes: what is read, what is refused and with which words.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test may look at the published files"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use expect_test::{Expect, expect};
use tierscope_scenario::trace::detect;
use tierscope_scenario::{Start, TraceFormat, Workload, default_for_trace, expand};
use tierscope_units::{SimTime, TokenRun};

const ROW: &str = r#"{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [0, 1]}"#;

fn mooncake(bytes: &[u8]) -> Result<Workload, String> {
    let scenario = default_for_trace("t.jsonl", TraceFormat::Mooncake);
    expand(&scenario, Some(bytes)).map_err(|problems| {
        let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
        printed.join("\n")
    })
}

#[track_caller]
fn refused(bytes: impl AsRef<[u8]>, expected: Expect) {
    expected.assert_eq(&mooncake(bytes.as_ref()).expect_err("the trace is refused"));
}

/// A row with one field replaced.
fn row(field: &str, value: &str) -> String {
    let mut row = String::from("{");
    for (name, standard) in
        [("timestamp", "0"), ("input_length", "600"), ("output_length", "5"), ("hash_ids", "[0, 1]")]
    {
        let value = if name == field { value } else { standard };
        write!(row, "{}\"{name}\": {value}", if row.len() > 1 { ", " } else { "" })
            .expect("a string takes all");
    }
    row + "}"
}

#[test]
fn a_row_becomes_runs_of_its_blocks() {
    let text = format!(
        "\u{feff}{ROW}\r\n\r\n   \n{{\"hash_ids\":[0,2],\"output_length\":7,\"session_id\":\"a\\\"b\",\"other\":[1,{{\"x\":null}}],\"input_length\":1024,\"timestamp\":27.5}}"
    );
    let workload = mooncake(text.as_bytes()).expect("two rows");
    assert_eq!(workload.content_block_tokens, 512);
    assert_eq!(workload.prompt(&workload.requests[0]), [TokenRun { start: 0, len: 600 }]);
    assert_eq!(
        workload.prompt(&workload.requests[1]),
        [TokenRun { start: 0, len: 512 }, TokenRun { start: 1024, len: 512 }]
    );
    assert_eq!(workload.requests[1].start, Start::At(SimTime::from_ns(27_500_000)));
}

#[test]
fn empty_files_are_refused() {
    refused(
        "",
        expect![[r#"
        error: found no line with content, expected at least one request
          --> t.jsonl:1:1
          mend: choose a trace that is not empty"#]],
    );
    refused(
        "\u{feff}\r\n  \n\n",
        expect![[r#"
        error: found no line with content, expected at least one request
          --> t.jsonl:3:1
          mend: choose a trace that is not empty"#]],
    );
}

#[test]
fn numbers_that_are_none_are_refused() {
    let cases = [
        r#"{"timestamp": 0, "input_length": 600, "hash_ids": [0, 1]}"#.to_owned(),
        row("timestamp", "-1"),
        row("timestamp", "1e300"),
        row("timestamp", "NaN"),
        row("timestamp", "\"12\""),
        row("input_length", "-5"),
        row("input_length", "36893488147419103232"),
        row("input_length", "600.5"),
        row("input_length", "null"),
        row("output_length", "1000000000"),
        row("output_length", "05"),
    ];
    refused(
        cases.join("\n"),
        expect![[r#"
        error: output_length: found no such field, expected the fields timestamp, input_length, output_length, hash_ids
          --> t.jsonl:1:1
          mend: add "output_length", or name the trace's real format
        error: timestamp: found "-1", expected milliseconds from 0 to 315360000000 (ten years)
          --> t.jsonl:2:15
          mend: correct or remove the row: it is negative
        error: timestamp: found "1e300", expected milliseconds from 0 to 315360000000 (ten years)
          --> t.jsonl:3:15
          mend: correct or remove the row: it is too large
        error: timestamp: found "NaN", expected milliseconds from 0 to 315360000000 (ten years)
          --> t.jsonl:4:15
          mend: write a number
        error: timestamp: found the text "12", expected milliseconds from 0 to 315360000000 (ten years)
          --> t.jsonl:5:15
          mend: remove the quotation marks
        error: input_length: found "-5", expected a whole number from 0 to 16777216
          --> t.jsonl:6:34
          mend: correct or remove the row: it is negative
        error: input_length: found "36893488147419103232", expected a whole number from 0 to 16777216
          --> t.jsonl:7:34
          mend: correct or remove the row: it is too large
        error: input_length: found "600.5", expected a whole number from 0 to 16777216
          --> t.jsonl:8:34
          mend: write it with digits only
        error: input_length: found "null", expected a whole number from 0 to 16777216
          --> t.jsonl:9:34
          mend: write a number
        error: output_length: found "1000000000", expected a whole number from 0 to 16777216
          --> t.jsonl:10:56
          mend: correct or remove the row: it is too large
        error: output_length: found "05", expected a whole number from 0 to 16777216
          --> t.jsonl:11:56
          mend: write it with digits only"#]],
    );
}

#[test]
fn ids_and_keys_that_do_not_fit_are_refused() {
    let cases = [
        row("hash_ids", "[0]"),
        row("hash_ids", "[0, 1, 2]"),
        row("hash_ids", "[0, -1]"),
        row("hash_ids", "[0, 18446744073709551616]"),
        row("hash_ids", "7"),
        row("hash_ids", "[0, 0]"),
        row("seed", "0").replace("\"timestamp\": 0", "\"timestamp\": 0, \"timestamp\": 1"),
        row("seed", "0").replace("\"timestamp\": 0", "\"timestamp\": 0, \"x\": 1, \"x\": 1"),
    ];
    refused(
        cases.join("\n"),
        expect![[r#"
        error: hash_ids: found 1 ids, expected 2 ids for input_length 600, one per 512 tokens begun
          --> t.jsonl:1:71
          mend: correct the row, or set workload.trace_block_tokens to the trace's block
        error: hash_ids: found 3 ids, expected 2 ids for input_length 600, one per 512 tokens begun
          --> t.jsonl:2:71
          mend: correct the row, or set workload.trace_block_tokens to the trace's block
        error: hash_ids: found "-1", expected a whole number from 0 to 18446744073709551613
          --> t.jsonl:3:75
          mend: correct or remove the row: it is negative
        error: hash_ids: found "18446744073709551616", expected a whole number from 0 to 18446744073709551613
          --> t.jsonl:4:75
          mend: correct or remove the row: it is too large
        error: hash_ids: found "7", expected an array of whole numbers
          --> t.jsonl:5:71
          mend: write [0, 1, 2], one id per block
        error: hash_ids: found id 0 after id 0, expected it after no id, as in an earlier row: equal ids mean equal prefixes
          --> t.jsonl:6:75
          mend: number blocks by their whole prefix, not by their own content; do not join traces with ids of their own
        error: timestamp: found the key "timestamp" twice in one object, expected each key once
          --> t.jsonl:7:18
          mend: keep one of the two and remove the other
        error: found the key "x" twice in one object, expected each key once
          --> t.jsonl:8:26
          mend: keep one of the two and remove the other"#]],
    );
}

#[test]
fn text_that_is_no_row_is_refused() {
    let cases = [
        "[1, 2]",
        "{",
        "{}",
        "{\"timestamp\": 0",
        "{\"timestamp\" 0}",
        "{\"timestamp\": 0,}",
        "not json",
        &format!("{ROW} {ROW}"),
        "{\"a\": \"x",
        "{\"a\": tru}",
    ];
    refused(
        cases.join("\n"),
        expect![[r#"
        error: found "[1", expected an object: {"timestamp": …}
          --> t.jsonl:1:1
          mend: write one JSON object per line
        error: found the end of the line, expected a key in quotation marks
          --> t.jsonl:2:2
          mend: write one JSON object per line
        error: timestamp: found no such field, expected the fields timestamp, input_length, output_length, hash_ids
          --> t.jsonl:3:1
          mend: add "timestamp", or name the trace's real format
        error: found the end of the line, expected a comma or }
          --> t.jsonl:4:16
          mend: write one JSON object per line
        error: found "0", expected a colon after the key
          --> t.jsonl:5:14
          mend: write one JSON object per line
        error: found "}", expected a key in quotation marks
          --> t.jsonl:6:17
          mend: write one JSON object per line
        error: found "not", expected an object: {"timestamp": …}
          --> t.jsonl:7:1
          mend: write one JSON object per line
        error: found "{\"timestamp\"", expected the end of the line after the object
          --> t.jsonl:8:79
          mend: put each object on a line of its own
        error: found the end of the line, expected a closing quotation mark
          --> t.jsonl:9:9
          mend: close the text, without line breaks in it
        error: found "tru", expected a value
          --> t.jsonl:10:7
          mend: write true, false, null, a number or a text"#]],
    );
    refused(
        b"\x28\xb5\x2f\xfd\x00binary",
        expect![[r#"
        error: found the byte 0xb5, which is no UTF-8, expected a trace in text
          --> t.jsonl:1:2
          mend: unpack the file if it is compressed; save it as UTF-8"#]],
    );
    refused(
        format!("{{\"a\": {}", "[".repeat(1_000)),
        expect![[r#"
        error: found "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[…", expected at most 32 levels of nesting
          --> t.jsonl:1:40
          mend: remove the fields that no reader needs"#]],
    );
    let many: String = (0..100).fold("{".into(), |text, key| text + &format!("\"k{key}\": 0, "));
    refused(
        many + "\"z\": 0}",
        expect![[r#"
        error: found another key, expected at most 64 keys besides the known ones
          --> t.jsonl:1:632
          mend: remove the fields that no reader needs"#]],
    );
}

#[test]
fn rows_that_contradict_earlier_ones_are_refused() {
    let later = row("timestamp", "10");
    refused(
        format!("{later}\n{ROW}"),
        expect![[r#"
        error: timestamp: found 0 ms, expected 10 ms or later, as in the line before
          --> t.jsonl:2:15
          mend: sort the trace by timestamp"#]],
    );
    let other = row("hash_ids", "[5, 1]");
    refused(
        format!("{ROW}\n{other}"),
        expect![[r#"
        error: hash_ids: found id 1 after id 5, expected it after id 0, as in an earlier row: equal ids mean equal prefixes
          --> t.jsonl:2:75
          mend: number blocks by their whole prefix, not by their own content; do not join traces with ids of their own"#]],
    );
}

#[test]
fn requests_without_tokens_are_kept_for_the_engine_to_refuse() {
    let text = [row("output_length", "0"), row("input_length", "0").replace("[0, 1]", "[]")].join("\n");
    let workload = mooncake(text.as_bytes()).expect("two rows");
    assert_eq!((workload.requests[0].output_tokens, workload.requests[1].prompt_tokens), (0, 0));
    assert!(workload.prompt(&workload.requests[1]).is_empty());
}

#[test]
fn sixty_four_bit_ids_keep_their_identity() {
    let one = row("hash_ids", "[18446744073709551613, 9223372036854775808]");
    let two = row("hash_ids", "[18446744073709551613, 9223372036854775809]");
    let workload = mooncake(format!("{one}\n{two}").as_bytes()).expect("two rows");
    let (first, second) = (workload.prompt(&workload.requests[0]), workload.prompt(&workload.requests[1]));
    // The first row's ids are numbered in a row, so that its blocks are one run.
    assert_eq!((first.len(), second.len(), first[0].start), (1, 2, second[0].start));
    assert_eq!(second[0].len, 512);
}

#[test]
fn a_limit_reads_no_further_than_it_must() {
    let mut scenario = default_for_trace("t.jsonl", TraceFormat::Mooncake);
    let tierscope_scenario::WorkloadSpec::Trace(spec) = &mut scenario.workload else { panic!("not a trace") };
    (spec.limit, spec.concurrency) = (Some(1), Some(1));
    let workload = expand(&scenario, Some(format!("{ROW}\nbroken").as_bytes())).expect("one row");
    assert_eq!((workload.requests.len(), workload.concurrency), (1, Some(1)));
    assert!(matches!(workload.requests[0].start, Start::WhenFree { .. }));
}

#[test]
fn formats_are_found_from_bytes_or_names() {
    assert_eq!(detect(ROW.as_bytes(), "x"), Some(TraceFormat::Mooncake));
    assert_eq!(
        detect(b"\xef\xbb\xbfTIMESTAMP,ContextTokens,GeneratedTokens", "x"),
        Some(TraceFormat::AzureCsv)
    );
    assert_eq!(detect(b"{\"tierscope\": 1}", "x.json"), None);
    assert_eq!(detect(b"", "a.JSONL"), Some(TraceFormat::Mooncake));
    assert_eq!(detect(b"", "a.csv"), Some(TraceFormat::AzureCsv));
    assert_eq!(detect(b"tierscope = 1", "a.toml"), None);
}

#[test]
fn what_only_shows_at_expansion_is_explained() {
    let mut scenario = default_for_trace("t.txt", TraceFormat::Mooncake);
    let message = |result: Result<Workload, Vec<tierscope_scenario::Problem>>| {
        result.expect_err("refused")[0].to_string()
    };
    expect![[r#"
        error: workload.file: found no bytes of the trace, expected the content of the file
          --> scenario:1:1
          mend: give the file to the command with --trace; the page replays no trace files yet"#]]
    .assert_eq(&message(expand(&scenario, None)));
    scenario.engine.block_size_tokens = 48;
    expect![[r#"
        error: engine.block_size_tokens: found 48, expected a divisor of the trace's block of 512 tokens
          --> scenario:1:1
          mend: write block_size_tokens as one of 1, 2, 4, 8, 16, 32, 64, 128, 256, 512"#]]
    .assert_eq(&message(expand(&scenario, Some(ROW.as_bytes()))));
    let tierscope_scenario::WorkloadSpec::Trace(spec) = &mut scenario.workload else { panic!("not a trace") };
    spec.format = None;
    expect![[r#"
        error: workload.format: found a file of no known format, expected a trace of a format that Tierscope reads
          --> t.txt:1:1
          mend: name it: format = mooncake, agentic_mooncake, mooncake_delta, weka, dynamo, qwen_bailian, lmcache, azure_csv or burstgpt"#]]
    .assert_eq(&message(expand(&scenario, Some(b"hello"))));
}

/// The totals that the trace's description gives. Skipped where the shared data is not at hand.
#[test]
fn the_published_trace_has_its_published_totals() {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/traces/mooncake/conversation_trace.jsonl");
    let Ok(bytes) = std::fs::read(path) else {
        eprintln!("skipped: {path} is not here");
        return;
    };
    let workload = mooncake(&bytes).expect("the trace is valid");
    let sum = |of: fn(&tierscope_scenario::RequestPlan) -> u32| {
        workload.requests.iter().map(|plan| u64::from(of(plan))).sum::<u64>()
    };
    assert_eq!(
        (workload.requests.len(), sum(|plan| plan.prompt_tokens), sum(|plan| plan.output_tokens)),
        (12_031, 144_793_823, 4_122_048)
    );
    let in_runs: u64 = workload.runs.iter().map(|run| u64::from(run.len)).sum();
    assert_eq!(in_runs, 144_793_823);
    // Full blocks of the contiguous prefix, the last token recomputed, weighted by tokens: 37.34 %.
    let mut seen = BTreeSet::new();
    let mut hit_tokens = 0_u64;
    for plan in &workload.requests {
        let blocks = || full_blocks(workload.prompt(plan));
        let hits = blocks().take_while(|block| seen.contains(block)).count() as u32;
        hit_tokens += u64::from(hits.min((plan.prompt_tokens - 1) / 512) * 512);
        seen.extend(blocks());
    }
    let nearest = |ratio_of_20_000: u64| ratio_of_20_000.div_ceil(2);
    assert_eq!(nearest(hit_tokens * 20_000 / in_runs), 3_734);
}

/// First token ids of the full blocks: the ids of this trace, times 512.
fn full_blocks(prompt: &[TokenRun]) -> impl Iterator<Item = u64> {
    prompt.iter().flat_map(|run| (0..u64::from(run.len / 512)).map(|block| run.start + block * 512))
}
