//! Two logs compared: what counts as the same, what as different, and what a reader of logs refuses.

use proptest::prelude::*;
use tierscope_report::compare::{
    Aspect, Comparison, Excerpt, Findings, LineProblem, Side, decision, is_origin, read_line, render,
};

/// Two requests over a small pool with a tier below: every field that normalization touches.
const LOG: &str = r#"{"fact":"arrived","at_ns":1000,"request":0,"prompt_tokens":8,"output_tokens":2}
{"fact":"acquired","at_ns":1000,"txn":4,"request":0,"caller":"admission","active_hit_blocks":0,"cached_hit_blocks":0,"victim_blocks":0,"missing_blocks":[[3,"0000000000000000"],[7,"0000000000000000"]]}
{"fact":"admitted","at_ns":1000,"request":0,"cached_tokens":0,"readmission":false}
{"fact":"stored","at_ns":1000,"request":0,"parent":"0000000000000000","blocks":[[3,"00000000000000aa"],[7,"00000000000000bb"]]}
{"fact":"prefilled","at_ns":1000,"request":0,"tokens":8,"computed_before_tokens":0,"recomputed_tokens":0}
{"fact":"pass_started","at_ns":1000,"worker":0,"pass":9,"prefill_rows":1,"prefill_tokens":8,"decode_rows":0,"decode_tokens":0,"waiting_requests":0,"g1_free_blocks":6,"g1_reserved_blocks":0,"g1_active_blocks":2,"g1_cached_blocks":0,"g1_source_hold_blocks":0}
{"fact":"copy_queued","at_ns":1200,"transfer":5,"lane":"g1_g2","cause":"on_compute","request":0,"source_blocks":[[3,"00000000000000aa"]]}
{"fact":"copy_started","at_ns":1300,"transfer":5,"lane":"g1_g2","destination_blocks":[[11,"00000000000000aa"]]}
{"fact":"pass_ended","at_ns":1500,"worker":0,"pass":9}
{"fact":"first_token","at_ns":1500,"request":0}
{"fact":"copy_ended","at_ns":1600,"transfer":5,"lane":"g1_g2","end":"completed","released_blocks":0}
{"fact":"tier_stored","at_ns":1600,"tier":"g2","blocks":[[11,"00000000000000aa"]]}
{"fact":"leased","at_ns":1700,"request":0,"blocks":[[3,"00000000000000aa"]],"until_ns":2700}
{"fact":"finished","at_ns":1700,"request":0,"output_tokens":2}
{"fact":"lease_ended","at_ns":2700,"request":0,"released_blocks":1,"expired":true}
"#;

fn read(log: &str) -> Result<i128, LineProblem> {
    let mut origin = None;
    for (index, line) in log.lines().enumerate() {
        let record = read_line(line, index as u64 + 1)?;
        origin = origin.or(is_origin(&record).then_some(record.at_ns));
    }
    Ok(origin.unwrap_or(0))
}

fn compare(a: &str, b: &str) -> (Findings, Excerpt) {
    let origins = [a, b].map(|log| read(log).expect("a log"));
    let mut comparison = Comparison::new(origins);
    let mut lines = [a.lines(), b.lines()];
    while let Some(side) = comparison.next() {
        match lines[side as usize].next() {
            Some(line) => comparison.take(side, &mut read_line(line, 1).expect("a fact")),
            None => comparison.end(side),
        }
    }
    let findings = comparison.finish();
    let mut excerpt = Excerpt::new(&findings, origins, 2);
    for (side, log) in [(Side::A, a), (Side::B, b)] {
        for line in log.lines().take_while(|_| true) {
            if excerpt.wants(side) {
                excerpt.take(side, &mut read_line(line, 1).expect("a fact"));
            }
        }
    }
    (findings, excerpt)
}

/// Keys of the aspects that differ.
fn differing(a: &str, b: &str) -> Vec<&'static str> {
    let (findings, _) = compare(a, b);
    let differing = findings.aspects.iter().filter(|(_, verdict)| !verdict.equal);
    let keys: Vec<_> = differing.map(|(aspect, _)| aspect.key()).collect();
    assert!(!findings.equal() || keys.is_empty(), "an aspect differs and the whole does not: {keys:?}");
    keys
}

#[track_caller]
fn same(b: &str) {
    assert_ne!(LOG, b, "nothing was changed");
    let (findings, excerpt) = compare(LOG, b);
    assert!(findings.equal(), "{}", render(&findings, &excerpt));
    assert_eq!(differing(LOG, b), [""; 0]);
}

#[test]
fn a_log_is_equal_to_itself_and_says_so_on_one_line() {
    let (findings, excerpt) = compare(LOG, LOG);
    assert_eq!(render(&findings, &excerpt), "equal: 15 facts, all of the same meaning\n");
    assert_eq!(decision(&findings, &excerpt), None);
}

#[test]
fn what_only_counts_or_names_a_place_is_no_difference() {
    same(&LOG.replace("\"txn\":4", "\"txn\":17"));
    same(&LOG.replace("\"transfer\":5", "\"transfer\":0"));
    same(&LOG.replace("\"pass\":9", "\"pass\":1"));
    same(&LOG.replace("[3,", "[5,"));
    same(&LOG.replace("[11,", "[3,"));
    // Slots change places: the first used is still the first used.
    same(&LOG.replace("[3,", "[x,").replace("[7,", "[3,").replace("[x,", "[7,"));
    same(
        &LOG.replace(
            "\"request\":0,\"tokens\"",
            "\"request\":0,\"wall_ns\":77,\"host_name\":\"n1\",\"tokens\"",
        ),
    );
}

#[test]
fn a_clock_that_begins_elsewhere_is_no_difference() {
    let mut moved = String::new();
    for line in LOG.lines() {
        let mut value: serde_json::Value = serde_json::from_str(line).expect("JSON");
        for key in ["at_ns", "until_ns"] {
            if let Some(at) = value[key].as_u64() {
                value[key] = (at + 123_456).into();
            }
        }
        moved.push_str(&format!("{value}\n"));
    }
    // Keys come sorted from there; the reader does not mind where `fact` stands, and order within a fact is the writer's.
    let (a, b) = (resorted(LOG), resorted(&moved));
    assert!(compare(&a, &b).0.equal());
    assert!(!compare(&a, &b.replace("\"at_ns\":124656", "\"at_ns\":124657")).0.equal());
}

fn resorted(log: &str) -> String {
    let parse = |line| serde_json::from_str::<serde_json::Value>(line).expect("JSON");
    log.lines().map(|line| format!("{}\n", parse(line))).collect()
}

#[test]
fn each_difference_shows_in_its_aspects_and_in_no_other() {
    let cases: [(&str, &str, &[&str]); 12] = [
        ("\"prompt_tokens\":8", "\"prompt_tokens\":9", &["arrivals"]),
        (
            "\"request\":0,\"output_tokens\":2}\n{\"fact\":\"lease",
            "\"request\":0,\"output_tokens\":1}\n{\"fact\":\"lease",
            &["outputs"],
        ),
        ("\"at_ns\":1500,\"request\"", "\"at_ns\":1501,\"request\"", &["times"]),
        ("\"cached_tokens\":0", "\"cached_tokens\":4", &["schedule"]),
        ("\"prefill_rows\":1", "\"prefill_rows\":2", &["batches"]),
        ("\"tokens\":8", "\"tokens\":7", &["batches"]),
        (
            "\"tier\":\"g2\",\"blocks\":[[11,\"00000000000000aa\"]]",
            "\"tier\":\"g2\",\"blocks\":[[11,\"00000000000000ab\"]]",
            &["blocks", "events"],
        ),
        ("\"at_ns\":1300", "\"at_ns\":1310", &["transfers"]),
        (
            "\"end\":\"completed\",\"released_blocks\":0",
            "\"end\":\"completed\",\"released_blocks\":1",
            &["releases"],
        ),
        ("\"released_blocks\":1,\"expired\"", "\"released_blocks\":2,\"expired\"", &["releases"]),
        ("\"fact\":\"leased\"", "\"fact\":\"rented\"", &["others"]),
        // A state that a pass found, and nothing else: only the stream as a whole has it.
        ("\"g1_free_blocks\":6", "\"g1_free_blocks\":5", &[]),
    ];
    for (from, to, expected) in cases {
        let other = LOG.replace(from, to);
        assert_ne!(LOG, other, "{from} is not in the log");
        assert_eq!(differing(LOG, &other), expected, "{from} → {to}");
        assert!(!compare(LOG, &other).0.equal(), "{from} → {to}");
    }
    assert_eq!(Aspect::ALL.len(), 13, "a new aspect has a case above");
}

#[test]
fn the_first_difference_and_the_first_decision_are_told() {
    let other = LOG.replace("\"at_ns\":1000,\"txn\":4", "\"at_ns\":1000,\"extra\":1,\"txn\":4").replace(
        "{\"fact\":\"admitted\",\"at_ns\":1000",
        "{\"fact\":\"preempted\",\"at_ns\":1250,\"lost_tokens\":3",
    );
    let (findings, excerpt) = compare(LOG, &other);
    let first = findings.stream.first.expect("a difference");
    assert_eq!((first.a, first.b), (Some(1), Some(1)));
    assert_eq!(
        decision(&findings, &excerpt).as_deref(),
        Some(
            "at 0.000000 ms A admits request 0 (0 tokens cached), at 0.000250 ms B preempts request 0 (3 computed tokens lost)"
        )
    );
    let text = render(&findings, &excerpt);
    assert!(text.contains("the first 1 mean the same"), "{text}");
    assert!(text.contains(">A            #1") && text.contains("both         #0"), "{text}");
}

/// A router that believes something else and chooses the same has decided the same; one that chooses otherwise has not.
#[test]
fn a_route_is_its_choice_and_slots_are_each_workers_own() {
    let route = |to, cost| {
        format!(
            "{{\"fact\":\"arrived\",\"at_ns\":5,\"request\":0,\"prompt_tokens\":8,\"output_tokens\":2}}\n\
             {{\"fact\":\"routed\",\"at_ns\":5,\"request\":0,\"leg\":\"whole\",\"to_worker\":{to},\"cost_milliblocks\":{cost}}}\n\
             {{\"fact\":\"acquired\",\"at_ns\":5,\"worker\":{to},\"txn\":0,\"request\":0,\"missing_blocks\":[[4,\"00000000000000aa\"]]}}\n"
        )
    };
    assert_eq!(differing(&route(1, 700), &route(1, -300)), [""; 0]);
    let (findings, excerpt) = compare(&route(1, 700), &route(1, -300));
    assert!(!findings.equal() && decision(&findings, &excerpt).is_none());
    let (findings, excerpt) = compare(&route(1, 700), &route(2, 700));
    assert_eq!(
        decision(&findings, &excerpt).as_deref(),
        Some("at 0.000000 ms A sends request 0 to worker 1 (whole), B sends request 0 to worker 2 (whole)")
    );
    assert_eq!(differing(&route(1, 700), &route(2, 700)), ["routes"]);
}

#[test]
fn a_log_that_ends_early_differs_at_its_end() {
    let cut: String = LOG.lines().take(13).map(|line| format!("{line}\n")).collect();
    let (findings, excerpt) = compare(LOG, &cut);
    let first = findings.stream.first.expect("a difference");
    assert_eq!((first.a, first.b), (Some(13), None));
    let text = render(&findings, &excerpt);
    assert!(text.contains("B     has no more facts"), "{text}");
    assert!(text.contains("both        #12"), "{text}");
}

#[test]
fn a_line_that_is_no_fact_is_refused_with_its_place() {
    let cases = [
        ("", "7: found an empty line, expected one fact a line"),
        ("{", "7:1: found the end of the line, expected one fact a line"),
        ("[1]", "7:0: found"),
        ("hello", "found no JSON"),
        ("{\"at_ns\":1}", "found a fact without \"fact\", expected one fact a line"),
        ("{\"fact\":\"x\"}", "found a fact without \"at_ns\""),
        ("{\"fact\":\"x\",\"at_ns\":-1}", "found invalid value: integer `-1`, expected u64"),
        ("{\"fact\":\"x\",\"at_ns\":1,\"a\":{}}", "found invalid type: map, expected a number"),
        ("{\"fact\":\"x\",\"at_ns\":1,\"a\":1,\"a\":2}", "found the key \"a\" twice, expected each key once"),
        (
            "{\"fact\":\"x\",\"at_ns\":1,\"b\":[[1,\"zz\"]]}",
            "found hash \"zz\", expected 16 hexadecimal digits",
        ),
        (
            "{\"fact\":\"x\",\"at_ns\":1,\"b\":[[-1,\"00000000000000aa\"]]}",
            "found slot -1, expected a number",
        ),
        ("{\"fact\":\"x\",\"at_ns\":1} more", "found no JSON (trailing characters)"),
    ];
    for (line, expected) in cases {
        let problem = read_line(line, 7).expect_err(line).to_string();
        let expected = expected.strip_prefix("7:0:").map_or(expected, |_| "found invalid type: sequence");
        assert!(problem.starts_with("7:") && problem.contains(expected), "{line}: {problem}");
        assert!(problem.contains("\n  mend: "), "{problem}");
    }
    let many: String = (0..70).map(|n| format!(",\"k{n}\":1")).collect();
    let problem =
        read_line(&format!("{{\"fact\":\"x\",\"at_ns\":1{many}}}"), 1).expect_err("too many").to_string();
    assert!(problem.contains("more than 64 fields"), "{problem}");
    let deep = format!("{{\"fact\":\"x\",\"at_ns\":1,\"a\":{}", "[".repeat(100_000));
    assert!(read_line(&deep, 1).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Damaged logs are refused or compared, and nothing panics.
    #[test]
    fn damaged_logs_never_panic(edits in prop::collection::vec((0..4000usize, any::<u8>()), 1..6), cut in 0..4000usize) {
        let mut bytes = LOG.as_bytes().to_vec();
        for (at, byte) in edits {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(bytes.len().saturating_sub(cut % 50));
        let text = String::from_utf8_lossy(&bytes).into_owned();
        match read(&text) {
            Ok(_) => {
                let (findings, excerpt) = compare(LOG, &text);
                prop_assert_eq!(findings.equal(), compare(&text, LOG).0.equal());
                render(&findings, &excerpt);
            }
            Err(problem) => prop_assert!(problem.line >= 1 && !problem.mend.is_empty()),
        }
    }

    /// Numbers changed one at a time: still facts, so the comparison itself is what must hold.
    #[test]
    fn any_number_may_stand_anywhere(place in 0..70usize, number in any::<i64>()) {
        let mut seen = 0;
        let mut out = String::new();
        let mut digits = false;
        for c in LOG.chars() {
            let digit = c.is_ascii_digit();
            if digit && !digits {
                seen += 1;
            }
            if seen == place + 1 && digit {
                if !digits {
                    out.push_str(&number.to_string());
                }
            } else {
                out.push(c);
            }
            digits = digit;
        }
        if read(&out).is_ok() {
            let (findings, excerpt) = compare(&out, LOG);
            render(&findings, &excerpt);
        }
    }
}
