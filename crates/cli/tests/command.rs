//! The built command, as a shell sees it: what it prints, what it leaves behind, what it exits with.

mod place;

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use place::{Answer, Place};

/// Two requests that share a prefix; everything said, nothing left to defaults that may change.
const GOOD: &str = r#"tierscope = 1
title = "two requests"
seed = 1

[engine]
block_size_tokens = 16
g1_blocks = 64

[timing]
model = "fixed"
prefill_per_token_ns = 1000
decode_ns = 1000000
overhead_ns = 500000

[workload]
kind = "requests"

[[workload.request]]
at_ms = 0
prompt_tokens = 100
output_tokens = 4
prefix = "system"
prefix_tokens = 64

[[workload.request]]
at_ms = 100
prompt_tokens = 100
output_tokens = 4
prefix = "system"
prefix_tokens = 64

[expect]
outcome = "finished"
report = ["requests.completed == 2", "tokens.cached == 64"]
facts = ["no preemption", "request 0 finishes before request 1"]
"#;

impl Place {
    #[track_caller]
    fn run_with_input(&self, args: &[&str], input: &str, exit: i32) -> Answer {
        let piped = Stdio::piped;
        let mut command = self.command(args);
        let mut child =
            command.stdin(piped()).stdout(piped()).stderr(piped()).spawn().expect("the command starts");
        child.stdin.take().expect("standard input").write_all(input.as_bytes()).expect("it reads");
        Answer::of(child.wait_with_output().expect("it ends"), exit)
    }

    /// Names of the files in the folder, hidden ones too.
    fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = Path::read_dir(self.folder())
            .expect("the folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Answer {
    fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).expect("JSON")
    }
}

#[test]
fn a_scenario_becomes_a_table() {
    let place = Place::with(&[("good.toml", GOOD)]);
    let answer = place.run(&["run", "good.toml"], 0);
    for part in ["two requests", "TTFT", "hit ratio", "finished: 2 of 2 requests completed", "digest"] {
        assert!(answer.out.contains(part), "no {part} in:\n{}", answer.out);
    }
    assert_eq!(answer.err, "");
    assert!(!answer.out.contains('\u{1b}'), "colour codes");
}

#[test]
fn the_json_is_the_report_and_alone() {
    let place = Place::with(&[("good.toml", GOOD)]);
    let report = place.run(&["run", "good.toml", "--json", "-"], 0).json();
    assert_eq!(report["outcome"], "finished");
    assert_eq!(report["requests"]["completed"], 2);
    place.run(&["run", "good.toml", "--json", "out.json", "--quiet"], 0);
    let written = std::fs::read_to_string(place.path("out.json")).expect("a report");
    assert_eq!(serde_json::from_str::<serde_json::Value>(&written).expect("JSON"), report);
    let digest = place.run(&["run", "good.toml", "--digest"], 0).out;
    assert_eq!(format!("{:?}", report["digest"].as_str()), format!("{:?}", Some(digest.trim())));
}

#[test]
fn flags_change_the_scenario() {
    let place = Place::with(&[("good.toml", GOOD)]);
    let set = ["run", "good.toml", "--json", "-", "--seed", "9", "--set", "engine.g1_blocks=32"];
    let report = place.run(&set, 0).json();
    assert_eq!((&report["seed"], &report["tiers"]["g1"]["capacity_blocks"]), (&9.into(), &32.into()));
    let answer = place.run(&["run", "good.toml", "--set", "engine.g1_block=32"], 2);
    assert!(answer.err.contains("g1_block") && answer.err.contains("mend"), "{}", answer.err);
    place.run(&["run", "good.toml", "--set", "engine"], 2);
}

#[test]
fn events_are_lines_of_json() {
    let place = Place::with(&[("good.toml", GOOD)]);
    place.run(&["run", "good.toml", "--events", "facts.jsonl", "--quiet"], 0);
    let text = std::fs::read_to_string(place.path("facts.jsonl")).expect("facts");
    let facts: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(facts[0]["fact"], "arrived");
    assert!(facts.iter().any(|fact| fact["fact"] == "stored" && !fact["blocks"][0][1].is_null()));
    assert_eq!(facts.iter().filter(|fact| fact["fact"] == "finished").count(), 2);
    let piped = place.run(&["run", "good.toml", "--events", "-"], 0);
    assert_eq!(piped.out, text);
}

#[test]
fn bad_input_is_named_with_its_place_and_mend() {
    let place = Place::with(&[
        ("typo.toml", &GOOD.replace("g1_blocks", "g1_bloks")),
        ("broken.toml", "tierscope = "),
        ("empty.toml", ""),
        ("folder.toml/x", ""),
        ("strange.bin", ""),
    ]);
    let typo = place.run(&["run", "typo.toml"], 2).err;
    for part in ["typo.toml:7:", "g1_bloks", "g1_blocks", "mend"] {
        assert!(typo.contains(part), "no {part} in:\n{typo}");
    }
    for bad in
        ["broken.toml", "empty.toml", "folder.toml", "strange.bin", "missing.toml", "v1.%%%", "https://x.y/"]
    {
        let answer = place.run(&["run", bad], 2);
        assert!(answer.err.starts_with("error"), "{bad}: {}", answer.err);
        assert!(answer.err.contains("mend"), "{bad}: {}", answer.err);
        assert_eq!(answer.out, "", "{bad}");
    }
}

#[test]
fn bad_usage_exits_with_two() {
    let place = Place::with(&[("good.toml", GOOD)]);
    place.run(&[], 2);
    place.run(&["run"], 2);
    place.run(&["link"], 2);
    place.run(&["run", "good.toml", "--seed", "minus"], 2);
    place.run(&["test", "good.toml", "--repeat", "0"], 2);
    place.run(&["run", "good.toml", "--json", "-", "--events", "-"], 2);
    place.run(&["run", "good.toml", "--trace", "good.toml"], 2);
}

#[test]
fn text_that_is_not_utf8_is_named_by_line() {
    let place = Place::with(&[]);
    std::fs::write(place.path("binary.toml"), b"tierscope = 1\n\xff\xfe").expect("a file");
    let err = place.run(&["run", "binary.toml"], 2).err;
    assert!(err.contains("binary.toml:2") && err.contains("UTF-8"), "{err}");
}

#[test]
fn a_failed_run_leaves_no_output_behind() {
    let place = Place::with(&[("good.toml", GOOD), ("typo.toml", &GOOD.replace("seed", "sed"))]);
    place.run(&["run", "typo.toml", "--json", "a.json", "--events", "a.jsonl"], 2);
    place.run(&["run", "good.toml", "--json", "nowhere/a.json"], 2);
    place.run(&["run", "good.toml", "--trace", "good.toml", "--events", "a.jsonl"], 2);
    assert_eq!(place.files(), ["good.toml", "typo.toml"]);
}

/// Killed half way: what was there before is still there, whole.
#[test]
fn a_killed_run_leaves_no_half_written_file() {
    let long = GOOD
        .replace("output_tokens = 4", "output_tokens = 1000000")
        .replace("g1_blocks = 64", "g1_blocks = 200000");
    let place = Place::with(&[("long.toml", &long), ("facts.jsonl", "before\n")]);
    let mut child = place
        .command(&["run", "long.toml", "--events", "facts.jsonl", "--quiet"])
        .spawn()
        .expect("the command starts");
    while place.files().len() < 3 && child.try_wait().expect("a state").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().expect("it is killed");
    let status = child.wait().expect("it ends");
    assert_ne!(status.code(), Some(2), "the run began");
    if !status.success() {
        let text = std::fs::read_to_string(place.path("facts.jsonl")).expect("the old file");
        assert_eq!(text, "before\n");
    }
}

#[cfg(unix)]
#[test]
fn a_device_is_written_to_and_a_link_followed() {
    let place = Place::with(&[("good.toml", GOOD), ("old.json", "old")]);
    place.run(&["run", "good.toml", "--quiet", "--json", "/dev/null"], 0);
    assert!(!Path::new("/dev/null").is_file(), "the device is still one");
    std::os::unix::fs::symlink("old.json", place.path("link.json")).expect("a link");
    place.run(&["run", "good.toml", "--quiet", "--json", "link.json"], 0);
    assert!(place.path("link.json").is_symlink());
    assert!(std::fs::read_to_string(place.path("old.json")).expect("a report").contains("makespan_ns"));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let long = GOOD
        .replace("output_tokens = 4", "output_tokens = 20000")
        .replace("g1_blocks = 64", "g1_blocks = 9000");
    let place = Place::with(&[("long.toml", &long)]);
    let mut child = place
        .command(&["run", "long.toml", "--events", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("output")).read_line(&mut first).expect("a line");
    assert!(first.starts_with("{\"fact\":\"arrived\""), "{first}");
    // The reader is dropped here: the pipe closes.
    let answer = Answer::of(child.wait_with_output().expect("it ends"), 0);
    assert_eq!(answer.err, "");
}

#[test]
fn a_link_comes_back_and_runs_the_same() {
    let place = Place::with(&[("good.toml", GOOD)]);
    let link = place.run(&["link", "good.toml"], 0).out;
    assert_eq!(link.lines().count(), 1);
    let link = link.trim();
    assert_eq!(place.run(&["link", "--decode", link], 0).out, GOOD);
    let of_file = place.run(&["run", "good.toml", "--digest"], 0).out;
    assert_eq!(place.run(&["run", link, "--digest"], 0).out, of_file);
    assert_eq!(place.run(&["run", &format!("https://example.org/play/{link}"), "--digest"], 0).out, of_file);
    assert_eq!(place.run_with_input(&["run", "-", "--digest"], GOOD, 0).out, of_file);
    assert_eq!(place.run_with_input(&["run", "-", "--digest"], link, 0).out, of_file);
}

#[test]
fn a_run_is_written_for_perfetto_and_as_a_table_of_requests() {
    let place = Place::with(&[("good.toml", GOOD)]);
    place.run(&["run", "good.toml", "--quiet", "--perfetto", "trace.json", "--requests", "requests.csv"], 0);
    let read = |name| std::fs::read_to_string(place.path(name)).expect("a file");
    let trace: serde_json::Value = serde_json::from_str(&read("trace.json")).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let count = |kind: &str| events.iter().filter(|event| event["ph"] == kind).count();
    assert!(count("B") > 0 && count("B") == count("E") && count("b") == count("e"));
    let requests = read("requests.csv");
    let mut rows = requests.lines();
    let columns = rows.next().expect("a header").split(',').count();
    assert!(
        rows.clone().count() > 0
            && rows.all(|row| row.split(',').count() == columns && row.ends_with(",completed"))
    );
    assert_eq!(place.run(&["run", "good.toml", "--perfetto", "-"], 0).out, read("trace.json"));
    assert_eq!(place.run(&["run", "good.toml", "--requests", "-"], 0).out, requests);
    assert!(
        place.run(&["run", "good.toml", "--requests", "-", "--json", "-"], 2).err.contains("standard output")
    );
    assert!(
        place.run(&["run", "good.toml", "--requests", "x", "--perfetto", "x"], 2).err.contains("same file")
    );
}

#[test]
fn links_of_every_version_run() {
    let golden = include_str!("../../scenario/tests/links/golden.txt");
    let text = include_str!("../../scenario/tests/links/first-steps.toml");
    let place = Place::with(&[("first-steps.toml", text)]);
    let of_file = place.run(&["run", "first-steps.toml", "--digest"], 0).out;
    let links: Vec<_> = golden.lines().filter_map(|line| line.strip_prefix("first-steps.toml ")).collect();
    assert!(
        links.iter().any(|link| link.starts_with("v1.")) && links.iter().any(|link| link.starts_with("v2."))
    );
    for link in links {
        assert_eq!(place.run(&["link", "--decode", link], 0).out, text);
        for given in [
            link,
            &format!("#{link}&t=5000&p=results"),
            &format!("https://example.org/play/?embed=1#{link}&w=1"),
        ] {
            assert_eq!(place.run(&["run", given, "--digest"], 0).out, of_file, "{given}");
        }
    }
    assert!(place.run(&["run", "v9.abc"], 2).err.contains("open it with the release that made it"));
}

#[test]
fn a_bare_trace_runs_with_defaults_that_are_named() {
    let row = r#"{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [1, 2]}"#;
    let trace = format!("{row}\n{}\n", row.replace("\"timestamp\": 0", "\"timestamp\": 900"));
    let scenario = "tierscope = 1\n[workload]\nkind = \"trace\"\nfile = \"trace.jsonl\"\n";
    let place = Place::with(&[("deep/trace.jsonl", &trace), ("deep/scenario.toml", scenario)]);
    let answer = place.run(&["run", "deep/trace.jsonl"], 0);
    assert!(answer.out.contains("bare trace") && answer.out.contains("block_size_tokens"), "{}", answer.out);
    assert!(answer.out.contains("2 of 2 requests completed"), "{}", answer.out);
    // A trace named in a scenario lies beside the scenario; one given with --trace, where the shell is.
    place.run(&["run", "deep/scenario.toml", "--quiet"], 0);
    place.run(&["run", "deep/scenario.toml", "--quiet", "--trace", "deep/trace.jsonl"], 0);
    let missing = place.run(&["run", "deep/scenario.toml", "--trace", "trace.jsonl"], 2).err;
    assert!(missing.contains("cannot read trace.jsonl"), "{missing}");
}

#[test]
fn a_bad_trace_is_named_by_line() {
    let trace = "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [1]}\n";
    let place = Place::with(&[("few.jsonl", trace), ("empty.jsonl", ""), ("binary.csv", "\u{0}\u{1}")]);
    let few = place.run(&["run", "few.jsonl"], 2).err;
    assert!(few.contains("few.jsonl:1:") && few.contains("hash_ids"), "{few}");
    for bad in ["empty.jsonl", "binary.csv", "missing.jsonl"] {
        let err = place.run(&["run", bad], 2).err;
        assert!(err.contains(bad) && err.contains("mend"), "{bad}: {err}");
    }
}

#[test]
fn tests_are_walked_in_order_and_counted() {
    let wrong = GOOD.replace("tokens.cached == 64", "tokens.cached == 65");
    let files = [
        ("all/b/wrong.toml", wrong.as_str()),
        ("all/a/good.toml", GOOD),
        ("all/c.toml", "tierscope = 1\nnonsense = 2\n"),
        ("all/readme.md", "not a scenario"),
    ];
    let place = Place::with(&files);
    let answer = place.run(&["test", "all", "--junit", "junit.xml"], 1);
    let heads: Vec<&str> = answer.out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(
        heads,
        ["ok     all/a/good.toml", "FAIL   all/b/wrong.toml", "error  all/c.toml", "1 passed, 2 failed"]
    );
    assert!(answer.out.contains("tokens.cached is 64, expected tokens.cached == 65"), "{}", answer.out);
    let junit = std::fs::read_to_string(place.path("junit.xml")).expect("a JUnit file");
    assert!(junit.contains("failures=\"1\"") && junit.contains("errors=\"1\""), "{junit}");

    let answer = place.run(&["test", "all/a", "--repeat", "3"], 0);
    assert!(answer.out.ends_with("\n1 passed, 0 failed\n"), "{}", answer.out);
    place.run(&["test", "all/c.toml"], 2);
    place.run(&["test", "nothing.toml"], 2);
    std::fs::create_dir(place.path("void")).expect("a folder");
    place.run(&["test", "void"], 2);
}

/// `run` checks expectations too.
#[test]
fn a_failed_expectation_exits_with_one() {
    let place = Place::with(&[("wrong.toml", &GOOD.replace("no preemption", "at least 1 preemption"))]);
    let answer = place.run(&["run", "wrong.toml", "--quiet"], 1);
    assert!(
        answer.err.contains("at least 1 preemption") && answer.err.contains("wrong.toml:"),
        "{}",
        answer.err
    );
}

#[test]
fn help_has_examples_and_exit_codes() {
    let place = Place::with(&[]);
    for command in [&["--help"][..], &["run", "--help"], &["test", "--help"], &["link", "--help"]] {
        let answer = place.run(command, 0);
        assert!(answer.out.contains("Examples:"), "{}", answer.out);
    }
    assert!(place.run(&["man"], 0).out.contains(".TH"));
    for shell in ["bash", "zsh", "fish"] {
        assert!(place.run(&["completions", shell], 0).out.contains("tierscope"));
    }
}

/// Two sessions of kv-cache-tester: a second request follows the first after a pause; ids are each file's own.
const SESSION: &str = r#"{"id": "a", "block_size": 64, "hash_id_scope": "local", "requests": [
{"t": 0, "type": "n", "in": 130, "out": 5, "hash_ids": [1, 2], "api_time": 3},
{"t": 4.5, "type": "n", "in": 200, "out": 6, "hash_ids": [1, 2, 3], "api_time": 2}]}
"#;

#[test]
fn a_converted_trace_runs_as_its_original_packed_or_not() {
    let place = Place::with(&[("session.json", SESSION)]);
    let plain = place.run(&["convert", "session.json", "--out", "plain.jsonl"], 0);
    assert_eq!(plain.out, "");
    assert!(
        plain.err.starts_with("weka: 2 requests, 1 sessions, 330 tokens in, 11 out, 1 requests follow"),
        "{}",
        plain.err
    );
    place.run(&["convert", "session.json", "--out", "packed.jsonl.gz", "--quiet"], 0);
    place.run(&["convert", "packed.jsonl.gz", "--out", "again.jsonl", "--quiet"], 0);
    let text = |name: &str| std::fs::read_to_string(place.path(name)).expect("a file");
    assert_eq!(text("again.jsonl"), text("plain.jsonl"));
    assert!(
        text("plain.jsonl").contains(r#""session_id": "s0", "delay": 1500, "#),
        "{}",
        text("plain.jsonl")
    );
    assert!(std::fs::read(place.path("packed.jsonl.gz")).is_ok_and(|bytes| bytes.starts_with(&[0x1f, 0x8b])));
    let digest = |name: &str| place.run(&["run", name, "--quiet", "--digest"], 0).out;
    assert_eq!(digest("session.json"), digest("plain.jsonl"));
    assert_eq!(digest("session.json"), digest("packed.jsonl.gz"));
}

#[test]
fn sessions_are_joined_and_spread() {
    let place = Place::with(&[("a.json", SESSION), ("b.json", SESSION)]);
    let args = ["convert", "a.json", "b.json", "--session-gap-s", "30", "--out", "-"];
    let answer = place.run(&args, 0);
    let lines: Vec<&str> = answer.out.lines().collect();
    assert_eq!(lines.len(), 4);
    assert!(
        lines[2].contains(r#""session_id": "s1", "timestamp": 30000, "#) && lines[2].contains("[5, 6, 7]"),
        "{}",
        lines[2]
    );
    assert_eq!(place.run(&[&args[..], &["--limit", "3", "--quiet"]].concat(), 0).out.lines().count(), 3);
}

#[test]
fn a_trace_that_cannot_be_converted_is_named_with_a_mend() {
    let row = |start: &str| {
        format!(
            "{{{start}, \"session_id\": 1, \"input_length\": 3, \"output_length\": 1, \"hash_ids\": [7]}}\n"
        )
    };
    let delta = row("\"timestamp\": 0") + &row("\"delay\": 1");
    let place = Place::with(&[
        ("session.json", SESSION),
        ("x.txt", "hello"),
        ("delta.jsonl", &delta),
        ("cut.jsonl.gz", ""),
    ]);
    place.run(&["convert", "session.json", "--out", "x.jsonl.gz", "--quiet"], 0);
    let packed = std::fs::read(place.path("x.jsonl.gz")).expect("a file");
    std::fs::write(place.path("cut.jsonl.gz"), &packed[..packed.len() - 9]).expect("a file");
    let refused = |args: &[&str], words: &str| {
        let answer = place.run(args, 2);
        assert!(answer.err.contains(words) && answer.err.contains("mend:"), "{}", answer.err);
    };
    refused(&["convert", "x.txt", "--out", "y"], "x.txt is no trace");
    refused(&["convert", "session.json", "delta.jsonl", "--out", "y"], "beside session.json of format weka");
    refused(&["convert", "delta.jsonl", "delta.jsonl", "--out", "y"], "a second file of format mooncake");
    refused(&["convert", "cut.jsonl.gz", "--out", "y"], "a gzip file that is cut");
    refused(&["run", "cut.jsonl.gz"], "a gzip file that is cut");
    refused(&["convert", "delta.jsonl", "--from", "mooncake_delta", "--out", "y"], "it holds an answer");
    refused(&["convert", "session.json", "--out", "."], "is a folder");
    refused(&["run", "x.txt"], "neither a scenario nor a trace");
    assert_eq!(
        place.files(),
        ["cut.jsonl.gz", "delta.jsonl", "session.json", "x.jsonl.gz", "x.txt"],
        "nothing is left behind"
    );
}
