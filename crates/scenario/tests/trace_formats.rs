//! Every format of a trace: what is read of it, what is refused and with which words, and that it survives being written.

mod trace_reading;
mod trace_samples;

use expect_test::{Expect, expect};
use proptest::prelude::*;
use tierscope_scenario::trace::{Unwritable, Writer, block_tokens, detect};
use tierscope_scenario::{RequestPlan, Start, TraceFormat, TraceOptions, Workload};
use tierscope_units::{RequestId, SimTime, Span, TokenRun};
use trace_reading::{read_all, read_one};
use trace_samples::{ALL, BURSTGPT, DELTA, DYNAMO, LMCACHE, MOONCAKE, QWEN, WEKA};

fn written(workload: &Workload) -> Result<String, Unwritable> {
    let mut writer = Writer::new(workload, 16);
    let mut text = String::new();
    for id in (0..workload.requests.len() as u32).map(RequestId) {
        writer.line(id, &mut text)?;
    }
    Ok(text)
}

/// A workload in words: session, start, tokens in and out, the blocks of its prompt.
fn shown(workload: &Workload) -> String {
    let mut text = format!("blocks of {}\n", workload.content_block_tokens);
    for (index, plan) in workload.requests.iter().enumerate() {
        let session = workload.sessions.get(index).copied().flatten();
        let session = session.map_or("-".to_owned(), |session| format!("s{session}"));
        let joins: Vec<u32> = workload.joins_of(RequestId(index as u32)).map(|id| id.0).collect();
        let start = match plan.start {
            Start::At(at) => format!("at {}", at.as_secs_f64()),
            Start::After { request, delay } if joins.is_empty() => {
                format!("after {} + {}", request.0, delay.as_ms_f64() / 1e3)
            }
            Start::After { request, delay } => {
                format!("after {} and {joins:?} + {}", request.0, delay.as_ms_f64() / 1e3)
            }
            Start::WhenFree { .. } => "when free".to_owned(),
        };
        let runs: Vec<String> = workload.prompt(plan).iter().map(run).collect();
        text.push_str(&format!(
            "{index} {session} {start}: {} in, {} out, {}\n",
            plan.prompt_tokens,
            plan.output_tokens,
            runs.join(" ")
        ));
    }
    text
}

fn run(run: &TokenRun) -> String {
    match run.start {
        start if start >= 1 << 62 => format!("answer {}+{}", (start - (1 << 62)) >> 32, run.len),
        start if start >= 1 << 61 => format!("text {}+{}", (start - (1 << 61)) >> 32, run.len),
        start => format!("{start}+{}", run.len),
    }
}

#[track_caller]
fn is_read(format: TraceFormat, text: &str, expected: Expect) {
    expected.assert_eq(&shown(&read_one(format, text).expect("the trace is sound")));
}

#[test]
fn mooncakes_further_fields_are_read() {
    is_read(
        TraceFormat::Mooncake,
        MOONCAKE,
        expect![[r#"
        blocks of 512
        0 - at 0: 600 in, 5 out, 0+600
        1 s0 at 0.0275: 1024 in, 52 out, 0+512 1024+512
        2 s0 after 1 + 0.00325: 1030 in, 1 out, 0+512 1024+512 576460752303423488+6
        3 - after 2 + 0.001: 3 in, 1 out, text 3+3
    "#]],
    );
    let first =
        r#"{"timestamp": 5, "session_id": 1, "input_length": 1, "output_length": 1, "hash_ids": [0]}"#;
    let without_delay = first.replace("5,", "9,");
    let fan = r#"{"request_id": "c", "wait_for": ["b", "a", "b"], "delay_ms": 1, "input_length": 1, "output_length": 1, "hash_ids": [0]}"#;
    let named = |name: &str| first.replace("\"session_id\": 1", &format!("\"request_id\": \"{name}\""));
    is_read(
        TraceFormat::Mooncake,
        &[first, &without_delay, &named("a").replace("5,", "9,"), &named("b").replace("5,", "9,"), fan]
            .join("\n"),
        expect![[r#"
            blocks of 512
            0 s0 at 0.005: 1 in, 1 out, 0+1
            1 s0 at 0.009: 1 in, 1 out, 0+1
            2 - at 0.009: 1 in, 1 out, 0+1
            3 - at 0.009: 1 in, 1 out, 0+1
            4 - after 3 and [2] + 0.001: 1 in, 1 out, 0+1
        "#]],
    );
    is_read(
        TraceFormat::MooncakeDelta,
        DELTA,
        expect![[r#"
        blocks of 4
        0 s0 at 0: 4 in, 2 out, 4+4
        1 s0 after 0 + 0.005: 8 in, 1 out, 4+4 answer 0+2 8+2
    "#]],
    );
}

#[test]
fn recorded_sessions_are_read() {
    is_read(
        TraceFormat::Weka,
        WEKA,
        expect![[r#"
        blocks of 64
        0 s0 at 0: 130 in, 5 out, 0+130
        1 s1 after 0 + 1: 64 in, 7 out, 0+64
        2 s1 after 1 + 0.5: 100 in, 7 out, 0+64 192+36
        3 s0 after 0 and [2] + 2.5: 200 in, 6 out, 0+128 256+72
    "#]],
    );
    // The newer recordings count a subagent's times from the session's beginning.
    let absolute = WEKA
        .replace("\"t\": 0.0, \"type\": \"s\"", "\"t\": 4.0, \"type\": \"s\"")
        .replace("\"t\": 2.0", "\"t\": 6.0");
    assert_eq!(read_one(TraceFormat::Weka, &absolute), read_one(TraceFormat::Weka, WEKA));
    is_read(
        TraceFormat::Dynamo,
        DYNAMO,
        expect![[r#"
        blocks of 16
        0 s0 at 0: 20 in, 3 out, 0+20
        1 s1 after 0 + 0.2035: 16 in, 4 out, 0+16
    "#]],
    );
}

#[test]
fn sessions_of_several_files_have_blocks_of_their_own() {
    let options = TraceOptions { session_gap: Span::from_ns(2_000_000_000), ..TraceOptions::default() };
    let joined = read_all(TraceFormat::Weka, &[WEKA, WEKA], &options).expect("sound");
    assert_eq!(joined.requests.len(), 8);
    assert_eq!(joined.requests[4].start, Start::At(SimTime::from_ns(2_000_000_000)));
    let blocks = |range: std::ops::Range<usize>| {
        joined.requests[range]
            .iter()
            .flat_map(|plan| joined.prompt(plan))
            .map(|run| run.start)
            .collect::<Vec<_>>()
    };
    assert!(blocks(0..4).iter().all(|block| !blocks(4..8).contains(block)));
    let global = WEKA.replace("local", "global");
    let joined = read_all(TraceFormat::Weka, &[&global, &global], &options).expect("sound");
    assert_eq!(
        joined.prompt(&joined.requests[0])[0].start,
        joined.prompt(&joined.requests[4])[0].start,
        "ids that mean the same everywhere"
    );
    let one_file = read_all(TraceFormat::Weka, &[&format!("{WEKA}{WEKA}")], &options).expect("sound");
    assert_eq!(one_file.requests.len(), 8);
    let halves: Vec<&str> = LMCACHE.split_inclusive('\n').collect();
    assert_eq!(
        read_all(TraceFormat::LmCache, &halves, &options),
        read_one(TraceFormat::LmCache, LMCACHE),
        "shards of one log"
    );
    expect![[r#"
        error: found a second file of format mooncake, expected one file, for its ids and times mean nothing in another
          --> t1:1:1
          mend: read one file at a time; files of weka, dynamo and lmcache can be joined"#]].assert_eq(
        &read_all(TraceFormat::Mooncake, &[MOONCAKE, MOONCAKE], &options).expect_err("two ids of one name"),
    );
}

#[test]
fn logs_of_servers_are_read() {
    is_read(
        TraceFormat::QwenBailian,
        QWEN,
        expect![[r#"
        blocks of 16
        0 s0 at 0: 33 in, 4 out, 0+33
        1 s1 at 0.386: 16 in, 4 out, 48+16
        2 s0 at 8.886: 50 in, 4 out, 0+32 64+18
    "#]],
    );
    is_read(
        TraceFormat::LmCache,
        LMCACHE,
        expect![[r#"
            blocks of 256
            0 - at 0: 256 in, 128 out, 0+256
            1 - at 0.25: 600 in, 128 out, 0+600
        "#]],
    );
    is_read(
        TraceFormat::BurstGpt,
        BURSTGPT,
        expect![[r#"
        blocks of 0
        0 s0 at 0: 906 in, 446 out, text 0+906
        1 s1 at 16.5: 36 in, 0 out, text 1+36
        2 s0 at 17: 1400 in, 20 out, text 2+1400
        3 - at 25: 5 in, 6 out, text 3+5
    "#]],
    );
    let first_version = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n";
    is_read(
        TraceFormat::BurstGpt,
        first_version,
        expect![[r#"
        blocks of 0
        0 - at 0: 472 in, 18 out, text 0+472
    "#]],
    );
}

#[test]
fn formats_are_told_by_their_first_line() {
    for (format, text) in ALL.into_iter().filter(|(format, _)| *format != TraceFormat::MooncakeDelta) {
        assert_eq!(detect(text.as_bytes(), "x"), Some(format));
        let pretty = text.replace("{\"id\"", "{\n  \"id\"");
        assert_eq!(detect(pretty.as_bytes(), "x"), Some(format));
    }
    assert_eq!(block_tokens(WEKA.as_bytes(), TraceFormat::Weka), Some(64));
    assert_eq!(block_tokens(DYNAMO.as_bytes(), TraceFormat::Dynamo), Some(16));
    assert_eq!(block_tokens(LMCACHE.as_bytes(), TraceFormat::LmCache), Some(256));
    assert_eq!(block_tokens(DELTA.as_bytes(), TraceFormat::MooncakeDelta), Some(4));
    assert_eq!(block_tokens(MOONCAKE.as_bytes(), TraceFormat::Mooncake), None);
}

#[test]
fn every_format_but_delta_is_written_and_read_again() {
    for (format, text) in ALL {
        let workload = read_one(format, text).expect("sound");
        let lines = match written(&workload) {
            Ok(lines) => lines,
            Err(error) => {
                assert_eq!(
                    (format, error),
                    (TraceFormat::MooncakeDelta, Unwritable::NotBlocks { request: RequestId(1) })
                );
                continue;
            }
        };
        assert_eq!(detect(lines.as_bytes(), "x"), Some(TraceFormat::Mooncake));
        let again = read_one(TraceFormat::Mooncake, &lines).expect("what is written is sound");
        // A trace without hashes has no block of its own; what is written has one.
        let block = if workload.content_block_tokens == 0 { 16 } else { workload.content_block_tokens };
        assert_eq!(again, Workload { content_block_tokens: block, ..workload }, "{lines}");
    }
}

/// Any workload that lines can say: numbered blocks, sessions, requests after others, times to the nanosecond.
fn workloads() -> impl Strategy<Value = Workload> {
    let start = (0_u8..3, any::<prop::sample::Index>(), 0_u64..315_360_000_000_000_000);
    let request = (start, prop::option::of(0_u32..3), 0_u64..20, 0_u32..200, any::<i32>());
    (1_u32..70, prop::collection::vec(request, 1..20), 0_u8..2).prop_map(|(block, requests, joins)| {
        let mut workload = Workload { content_block_tokens: block, ..Workload::default() };
        let (mut clock, mut names) = (0, Vec::new());
        for (index, ((kind, other, ns), session, first_block, tokens, priority)) in
            requests.into_iter().enumerate()
        {
            clock = (clock + ns / 20).min(315_360_000_000_000_000);
            let start = match kind {
                0 if index > 0 => {
                    let request = RequestId(other.index(index) as u32);
                    if joins == 1 && request.0 > 0 {
                        workload.joins.push((RequestId(index as u32), RequestId(request.0 - 1)));
                    }
                    Start::After { request, delay: Span::from_ns(ns) }
                }
                _ => Start::At(SimTime::from_ns(clock)),
            };
            // Number n always stands behind the same number: those of a prompt follow each other.
            let from = workload.runs.len() as u32;
            if tokens > 0 {
                let start = (first_block << 32) * u64::from(block);
                workload.runs.push(TokenRun { start, len: tokens });
            }
            let known = session.map(|session| {
                let at = names.iter().position(|name| *name == session);
                at.unwrap_or_else(|| {
                    names.push(session);
                    names.len() - 1
                }) as u32
            });
            workload.sessions.push(known);
            workload.requests.push(RequestPlan {
                start,
                runs: from..workload.runs.len() as u32,
                prompt_tokens: tokens,
                output_tokens: tokens / 2,
                output_start: (1 << 62) + ((index as u64) << 32),
                salt: 0,
                priority,
                cancel_after: None,
            });
        }
        if workload.sessions.iter().all(Option::is_none) {
            workload.sessions.clear();
        }
        workload
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_as_it_was(workload in workloads()) {
        let lines = written(&workload).expect("lines can say it");
        let again = read_one(TraceFormat::Mooncake, &lines);
        prop_assert_eq!(again.as_ref(), Ok(&workload), "{}", lines);
        prop_assert_eq!(again.map(|again| written(&again)), Ok(Ok(lines)));
    }
}
