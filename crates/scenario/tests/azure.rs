//! Azure's CSV from its bytes.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "a test may look at the published files"
)]

use expect_test::expect;
use tierscope_scenario::{Start, TraceFormat, Workload, default_for_trace, expand};
use tierscope_units::SimTime;

fn azure(bytes: &[u8]) -> Result<Workload, String> {
    let scenario = default_for_trace("t.csv", TraceFormat::AzureCsv);
    expand(&scenario, Some(bytes)).map_err(|problems| {
        let printed: Vec<String> = problems.iter().map(ToString::to_string).collect();
        printed.join("\n")
    })
}

#[test]
fn azure_rows_are_unique_prompts_from_time_zero() {
    let text = "\u{feff}TIMESTAMP,ContextTokens,GeneratedTokens\r\n2023-11-16 23:59:59.9799600,4808,10\r\n2023-11-17 00:00:00.0319600,3180,8\r\n";
    let workload = azure(text.as_bytes()).expect("two rows");
    assert_eq!(workload.requests[0].start, Start::At(SimTime::ZERO));
    assert_eq!(workload.requests[1].start, Start::At(SimTime::from_ns(52_000_000)));
    assert_ne!(
        workload.prompt(&workload.requests[0])[0].start,
        workload.prompt(&workload.requests[1])[0].start
    );
    assert_eq!(workload.content_block_tokens, 16);
}

#[test]
fn azure_faults_have_their_place() {
    let header = "TIMESTAMP,ContextTokens,GeneratedTokens";
    let rows = [
        "2023-11-16 18:17:03.9,1,2",
        "yesterday,1,2",
        "2023-11-16 18:17:04.0,-1,2",
        "2023-11-16 18:17:04.0,1,1e9",
        "2023-11-16 18:17:04.0,1,99999999",
        "2023-11-16 18:17:04.0,1",
        "2023-11-16 18:17:02.0,1,2",
        "2093-11-16 18:17:02.0,1,2",
    ];
    expect![[r#"
        error: TIMESTAMP: found "yesterday", expected a date and time, such as 2023-11-16 18:17:03.9799600
          --> t.csv:3:1
          mend: write YYYY-MM-DD HH:MM:SS.fffffff, in one time zone without its name
        error: ContextTokens: found "-1", expected a whole number from 0 to 16777216
          --> t.csv:4:23
          mend: correct or remove the row; write digits only
        error: GeneratedTokens: found "1e9", expected a whole number from 0 to 16777216
          --> t.csv:5:25
          mend: correct or remove the row; write digits only
        error: GeneratedTokens: found "99999999", expected a whole number from 0 to 16777216
          --> t.csv:6:25
          mend: correct or remove the row; write digits only
        error: found 2 columns, expected 3 columns: TIMESTAMP,ContextTokens,GeneratedTokens
          --> t.csv:7:1
          mend: remove or complete the row
        error: TIMESTAMP: found a time before that of the line before, expected times that do not decrease
          --> t.csv:8:1
          mend: sort the trace by TIMESTAMP
        error: TIMESTAMP: found a time ten years after the first, expected a trace of at most ten years
          --> t.csv:9:1
          mend: correct or remove the row"#]]
    .assert_eq(&azure(format!("{header}\n{}", rows.join("\n")).as_bytes()).expect_err("refused"));
    expect![[r#"
        error: found a header and no rows, expected at least one request
          --> t.csv:1:1
          mend: choose a trace that is not empty"#]]
    .assert_eq(&azure(format!("{header}\n").as_bytes()).expect_err("refused"));
    expect![[r#"
        error: ContextTokens: found "Request tokens", expected the column name ContextTokens
          --> t.csv:1:11
          mend: begin the file with TIMESTAMP,ContextTokens,GeneratedTokens
        error: TIMESTAMP: found "5", expected a date and time, such as 2023-11-16 18:17:03.9799600
          --> t.csv:2:1
          mend: write YYYY-MM-DD HH:MM:SS.fffffff, in one time zone without its name"#]]
    .assert_eq(&azure(b"Timestamp,Request tokens,Response tokens\n5,1,2").expect_err("refused"));
}

/// The published file; skipped where the shared data is not at hand.
#[test]
fn the_published_trace_is_read() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/traces/azure2023/AzureLLMInferenceTrace_code.csv"
    );
    match std::fs::read(path) {
        Ok(bytes) => assert_eq!(azure(&bytes).expect("the trace is valid").requests.len(), 8_819),
        Err(_) => eprintln!("skipped: {path} is not here"),
    }
}
