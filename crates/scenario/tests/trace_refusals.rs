//! What no trace can mean, format by format: refused, and with which words.

mod trace_reading;
mod trace_samples;

use expect_test::{Expect, expect};
use tierscope_scenario::{TraceFormat, TraceOptions};
use trace_reading::{read_all, read_one};
use trace_samples::{ALL, BURSTGPT, DYNAMO, LMCACHE, QWEN, WEKA};

#[track_caller]
fn refused(format: TraceFormat, text: &str, expected: Expect) {
    expected.assert_eq(&read_one(format, text).expect_err("the trace is refused"));
}

#[test]
fn nothing_at_all_is_no_trace_of_any_format() {
    for (format, _) in ALL {
        for text in ["", "\n \r\n"] {
            let problems = read_one(format, text).expect_err("an empty file");
            assert!(problems.contains("at least one request") && problems.contains("--> t0:"), "{problems}");
        }
    }
}

/// What names another format is refused too, and the first problem stands on its first line.
#[test]
fn no_format_is_read_as_another() {
    for (format, _) in ALL {
        for (other, text) in ALL {
            let alike = |format| matches!(format, TraceFormat::Mooncake | TraceFormat::MooncakeDelta);
            if format == other || (alike(format) && alike(other)) {
                continue;
            }
            let problems = read_one(format, text).expect_err("another format");
            assert!(problems.contains("--> t0:1:"), "{format:?} reads {other:?}: {problems}");
        }
    }
}

#[test]
fn what_mooncakes_fields_cannot_mean_is_refused() {
    let row =
        |fields: &str| format!("{{{fields}, \"input_length\": 1, \"output_length\": 1, \"hash_ids\": [0]}}");
    let cases = [
        row("\"delay\": 5"),
        row("\"delay\": 5, \"session_id\": \"s\""),
        row("\"delay\": 0, \"session_id\": \"s\""),
        row("\"delay\": 1, \"delay_ms\": 1, \"timestamp\": 1"),
        row("\"wait_for\": [\"nobody\"]"),
        row("\"wait_for\": \"a\""),
        row("\"timestamp\": 0, \"priority\": 1.5"),
        row("\"timestamp\": 0, \"session_id\": true"),
        row("\"timestamp\": 0, \"block_size\": 0"),
        row("\"timestamp\": 0, \"request_id\": \"a\""),
        row("\"timestamp\": 0, \"request_id\": \"a\""),
        row("\"timestamp\": 0, \"block_size\": 16"),
    ];
    refused(
        TraceFormat::Mooncake,
        &cases.join("\n"),
        expect![[r#"
            error: delay: found a delay without a session, expected it only after a request above: it counts from its end
              --> t0:1:11
              mend: add session_id or wait_for, or remove the delay
            error: delay: found a delay on the first row of a session, expected it only after a request above: it counts from its end
              --> t0:2:11
              mend: give the row a timestamp and no delay
            error: timestamp: found no such field, expected a time, for nothing is above to wait for
              --> t0:3:1
              mend: add "timestamp", or wait_for with a request above
            error: delay_ms: found delay and delay_ms, expected one of the two
              --> t0:4:26
              mend: keep one: both are ms
            error: wait_for: found "nobody", expected the request_id of a line above
              --> t0:5:15
              mend: correct the name, or move the line below it
            error: wait_for: found the text "a", expected an array of request ids
              --> t0:6:14
              mend: write ["r1", "r2"], ids of lines above
            error: priority: found "1.5", expected a whole number from -2147483648 to 2147483647
              --> t0:7:30
              mend: correct or remove it
            error: session_id: found "true", expected a text or a whole number
              --> t0:8:32
              mend: put it in quotation marks
            error: block_size: found 0, expected at least 1
              --> t0:9:32
              mend: leave workload.trace_block_tokens out: the file says its block
            error: request_id: found "a" again, expected a name that no line above has
              --> t0:11:1
              mend: give it its own name
            error: block_size: found 16, expected 512, as given before
              --> t0:12:32
              mend: name the block in the first line, and no other further on"#]],
    );
    let second =
        r#"{"schema": "dynamo.agentic_mooncake", "version": 2, "block_size": 64, "hash_id_scope": "local"}"#;
    refused(
        TraceFormat::Mooncake,
        second,
        expect![[r#"
        error: schema: found the header of dynamo.agentic_mooncake, whose rows have other fields, expected rows of Mooncake, with wait_for for what they follow
          --> t0:1:13
          mend: convert the trace that it was made of: weka and dynamo are read as they are"#]],
    );
}

#[test]
fn what_weka_cannot_mean_is_refused() {
    for (wrong, expected) in [
        (
            WEKA.replace("[1, 2, 3]", "[1, 2]"),
            expect![[r#"
            error: hash_ids: found 2 ids for in = 200 at t = 9.5, expected 3 ids, one per full block of 64 tokens
              --> t0:1:1
              mend: correct the session"#]],
        ),
        (
            WEKA.replace("\"t\": 9.5", "\"t\": 3"),
            expect![[r#"
            error: t: found t = 3 after a later one, expected times that do not decrease
              --> t0:1:1
              mend: sort the requests by t"#]],
        ),
        (
            WEKA.replace("\"t\": 9.5", "\"t\": -1"),
            expect![[r#"
            error: t: found -1, expected seconds from 0 to 315360000 (ten years)
              --> t0:1:1
              mend: correct or remove the entry"#]],
        ),
        (
            WEKA.replace("\"in\": 200, ", ""),
            expect![[r#"
            error: in: found none at t = 9.5, expected it in every such entry
              --> t0:1:1
              mend: correct the session, or remove the entry"#]],
        ),
        (
            WEKA.replace("\"type\": \"s\"", "\"type\": \"tool\""),
            expect![[r#"
            error: found unknown variant `tool`, expected one of `n`, `s`, `subagent`, expected a session: {"block_size": 64, "requests": [{"type": "n", "t": …, "in": …}, …]}
              --> t0:4:25
              mend: correct or remove the object, or name the trace's real format"#]],
        ),
        (
            WEKA.replace("\"block_size\": 64", "\"block_size\": 0"),
            expect![[r#"
            error: block_size: found 0, expected a block of 1 to 65536 tokens
              --> t0:1:27
              mend: correct the file"#]],
        ),
        (
            WEKA[..200].to_owned(),
            expect![[r#"
            error: found EOF while parsing a value, expected a session: {"block_size": 64, "requests": [{"type": "n", "t": …, "in": …}, …]}
              --> t0:3:47
              mend: give the whole file: it ends within an object"#]],
        ),
    ] {
        refused(TraceFormat::Weka, &wrong, expected);
    }
    let options = TraceOptions { block_tokens: Some(32), ..TraceOptions::default() };
    expect![[r#"
        error: block_size: found 64, expected 32, as workload.trace_block_tokens has it
          --> t0:1:27
          mend: leave workload.trace_block_tokens out: the file says its block"#]]
    .assert_eq(&read_all(TraceFormat::Weka, &[WEKA], &options).expect_err("another block"));
}

#[test]
fn what_dynamo_cannot_mean_is_refused() {
    for (wrong, expected) in [
        (
            DYNAMO.replace("15497297196416048079, 7", "7"),
            expect![[r#"
            error: input_sequence_hashes: found 1 hashes, expected 2 for input_length 20, one per 16 tokens begun
              --> t0:1:366
              mend: correct or remove the row"#]],
        ),
        (
            DYNAMO.replacen("\"trace_block_size\": 16", "\"trace_block_size\": 32", 1),
            expect![[r#"
            error: input_sequence_hashes: found 2 hashes, expected 1 for input_length 20, one per 32 tokens begun
              --> t0:1:366
              mend: correct or remove the row
            error: trace_block_size: found 16, expected 32, as in the lines before
              --> t0:3:277
              mend: replay traces of different blocks apart"#]],
        ),
        (
            DYNAMO.replace("\"replay\"", "\"other\""),
            expect![[r#"
            error: replay: found no such field, expected it in every event request_end
              --> t0:1:1
              mend: record with request tracing and its replay fields, or remove the row
            error: replay: found no such field, expected it in every event request_end
              --> t0:3:1
              mend: record with request tracing and its replay fields, or remove the row"#]],
        ),
        (
            DYNAMO.replace("trace.v1", "trace.v2"),
            expect![[r#"
            error: schema: found "dynamo.request.trace.v2", expected dynamo.request.trace.v1
              --> t0:1:38
              mend: convert it with Dynamo's own tools
            error: schema: found "dynamo.request.trace.v2", expected dynamo.request.trace.v1
              --> t0:2:38
              mend: convert it with Dynamo's own tools
            error: schema: found "dynamo.request.trace.v2", expected dynamo.request.trace.v1
              --> t0:3:12
              mend: convert it with Dynamo's own tools"#]],
        ),
        (
            DYNAMO.replace("request_end", "tool_end"),
            expect![[r#"
            error: found no end of a request, expected at least one request
              --> t0:1:1
              mend: record with request tracing switched on"#]],
        ),
        (
            DYNAMO.replace("1381.5", "-1"),
            expect![[r#"
            error: total_time_ms: found -1, expected milliseconds from 0 to 8796093022208
              --> t0:1:278
              mend: correct or remove the row"#]],
        ),
    ] {
        refused(TraceFormat::Dynamo, &wrong, expected);
    }
}

#[test]
fn what_qwen_bailian_cannot_mean_is_refused() {
    for (wrong, expected) in [
        (
            QWEN.replace("[5, 6, 7]", "[5, 6, 7, 8, 9, 10, 11, 12]"),
            expect![[r#"
            error: hash_ids: found 8 ids, expected about 3, one per 16 tokens of input_length 33
              --> t0:1:139
              mend: correct the row, or set workload.trace_block_tokens to the trace's block"#]],
        ),
        (
            QWEN.replace("70,", "7,"),
            expect![[r#"
            error: timestamp: found a time before that of the line before, expected times that do not decrease
              --> t0:3:52
              mend: sort the trace by timestamp"#]],
        ),
        (
            QWEN.replace("\"chat_id\": 11, ", ""),
            expect![[r#"
            error: found missing field `chat_id`, expected a row with chat_id, parent_chat_id, timestamp, input_length, output_length and hash_ids
              --> t0:2:125
              mend: correct or remove the object, or name the trace's real format"#]],
        ),
    ] {
        refused(TraceFormat::QwenBailian, &wrong, expected);
    }
}

#[test]
fn what_lmcache_cannot_mean_is_refused() {
    for (wrong, expected) in [
        (
            LMCACHE.replacen("[\"0xab\", \"0xcdef\"]", "[\"0xab\"]", 1),
            expect![[r#"
            error: chunk_hashes: found 1 hashes, expected 2 for seq_len 600, one per full chunk of 256 tokens
              --> t0:1:152
              mend: correct or remove the line"#]],
        ),
        (
            LMCACHE.replace("0xcdef", "0xwxyz"),
            expect![[r#"
            error: chunk_hashes: found "0xwxyz", expected a number in hexadecimal, such as 0x1fa0
              --> t0:1:152
              mend: correct or remove the line
            error: chunk_hashes: found "0xwxyz", expected a number in hexadecimal, such as 0x1fa0
              --> t0:3:116
              mend: correct or remove the line"#]],
        ),
        (
            LMCACHE.replacen("\"chunk_size\": 256", "\"chunk_size\": 128", 1),
            expect![[r#"
            error: chunk_hashes: found 2 hashes, expected 4 for seq_len 600, one per full chunk of 128 tokens
              --> t0:1:152
              mend: correct or remove the line
            error: chunk_size: found 256, expected 128, as in the lines before
              --> t0:2:82
              mend: replay logs of different chunk sizes apart
            error: chunk_size: found 256, expected 128, as in the lines before
              --> t0:3:79
              mend: replay logs of different chunk sizes apart"#]],
        ),
    ] {
        refused(TraceFormat::LmCache, &wrong, expected);
    }
}

#[test]
fn what_burstgpt_cannot_mean_is_refused() {
    for (wrong, expected) in [
        (
            BURSTGPT.replace("Request tokens", "Prompt"),
            expect![[r#"
                error: Request tokens: found no such column, expected the columns Timestamp, Request tokens and Response tokens
                  --> t0:1:1
                  mend: begin the file with a header that has Request tokens"#]],
        ),
        (
            BURSTGPT.replace("61.5,", "4,"),
            expect![[r#"
            error: Timestamp: found a time before that of the line before, expected times that do not decrease
              --> t0:3:1
              mend: sort the trace by Timestamp"#]],
        ),
        (
            BURSTGPT.replace(",906,", ",many,"),
            expect![[r#"
            error: Request tokens: found "many", expected a whole number from 0 to 16777216
              --> t0:2:24
              mend: correct or remove the row; write digits only"#]],
        ),
        (
            BURSTGPT.replace(",36,0,36", ",36"),
            expect![[r#"
            error: found 6 columns, expected 8, as in the header
              --> t0:3:1
              mend: remove or complete the row"#]],
        ),
        (
            BURSTGPT.lines().next().unwrap_or_default().to_owned(),
            expect![[r#"
            error: found a header and no rows, expected at least one request
              --> t0:1:1
              mend: choose a trace that is not empty"#]],
        ),
    ] {
        refused(TraceFormat::BurstGpt, &wrong, expected);
    }
}
