//! `tierscope diff` and `test --repeat` as a shell sees them.

mod place;

use std::process::Command;

use place::Place;

/// Many requests over few blocks, with a tier below.
const PRESSURE: &str = r#"tierscope = 1
title = "pressure"
seed = 1
[engine]
block_size_tokens = 8
g1_blocks = 64
[g2]
blocks = 256
[links.pcie]
preset = "pcie4"
[timing]
model = "polynomial"
[workload]
kind = "synthetic"
requests = 30
arrival = "poisson"
rate_per_s = 120
prompt_tokens = { min = 16, max = 160 }
output_tokens = { min = 20, max = 60 }
shared_prefix = { tokens = 32, groups = 4 }
"#;

impl Place {
    fn new() -> Self {
        Self::with(&[("s.toml", PRESSURE)])
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).expect("a file")
    }

    #[track_caller]
    fn json(&self, args: &[&str], exit: i32) -> serde_json::Value {
        let args = [args, &["--json", "-"]].concat();
        serde_json::from_str(&self.run(&args, exit).out).expect("JSON")
    }
}

#[test]
fn a_scenario_is_equal_to_itself_to_its_log_and_to_its_zipped_log() {
    let place = Place::new();
    let answer = place.run(&["diff", "s.toml", "s.toml"], 0);
    assert!(answer.out.contains("\nequal: ") && !answer.out.contains('│'), "{}", answer.out);
    assert_eq!(place.run(&["diff", "s.toml", "s.toml", "--quiet"], 0).out, "");
    let several = place.run(&["diff", "s.toml", "s.toml", "--seeds", "3"], 0).out;
    assert!(several.contains("of seed 1: equal") && !several.contains('│'), "{several}");

    place.run(&["run", "s.toml", "--quiet", "--events", "log.jsonl"], 0);
    zip(&place, "log.jsonl", "log.jsonl.gz");
    for [a, b] in [["log.jsonl", "s.toml"], ["s.toml", "log.jsonl.gz"], ["log.jsonl", "log.jsonl.gz"]] {
        let answer = place.run(&["diff", a, b], 0);
        assert!(answer.out.contains("\nequal: ") && !answer.out.contains('│'), "{a} {b}: {}", answer.out);
    }
    let found = place.json(&["diff", "log.jsonl", "s.toml"], 0);
    assert_eq!((&found["equal"], &found["neighbourhood"]), (&true.into(), &serde_json::Value::Null));
}

fn zip(place: &Place, from: &str, to: &str) {
    use std::io::Write;
    let file = std::fs::File::create(place.path(to)).expect("a file");
    let mut zipped = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    zipped.write_all(place.read(from).as_bytes()).expect("it zips");
    zipped.finish().expect("it ends");
}

#[test]
fn a_changed_policy_is_named_by_its_first_other_decision() {
    let place = Place::new();
    let change =
        ["diff", "s.toml", "s.toml", "--set-b", "engine.victim=least_computed", "--set", "g2.blocks=64"];
    let answer = place.run(&change, 1);
    let line = answer.out.lines().find(|line| line.starts_with("first other decision")).expect("a line");
    assert!(line.contains("A preempts request") && line.contains("B preempts request"), "{line}");
    assert!(answer.out.contains("s.toml with g2.blocks=64, engine.victim=least_computed"), "{}", answer.out);
    assert_eq!(place.run(&[&change[..], &["--quiet"]].concat(), 1).out, "");
    let found = place.json(&change, 1);
    assert_eq!(found["equal"], false);
    assert_eq!(found["aspects"]["arrivals"]["equal"], true);
    assert_eq!(found["same_requests"], true);
    let words = found["first_decision"].as_str().expect("words");
    assert!(line.ends_with(words), "{line} | {words}");
    // The same from a log: there is one program for both.
    place.run(&["run", "s.toml", "--set", "g2.blocks=64", "--quiet", "--events", "log.jsonl"], 0);
    let of_log = place.json(
        &[
            "diff",
            "log.jsonl",
            "s.toml",
            "--set-b",
            "engine.victim=least_computed",
            "--set-b",
            "g2.blocks=64",
        ],
        1,
    );
    for key in ["facts", "decisions", "first_decision", "aspects", "neighbourhood", "lanes"] {
        assert_eq!(found[key], of_log[key], "{key}");
    }
    for (key, metric) in of_log["metrics"].as_object().expect("metrics") {
        assert_eq!(*metric, found["metrics"][key], "{key}");
    }
    assert!(of_log["metrics"].get("latency.ttft_ns.p99").is_some());
}

#[test]
fn a_slower_pass_changes_when_and_not_what() {
    let place = Place::new();
    place.write("one.toml", &PRESSURE.replace("requests = 30", "requests = 1"));
    let fixed = ["timing.model=fixed", "timing.decode_ns=1000000"];
    let slower = "timing.overhead_ns=500000";
    let args = ["diff", "one.toml", "one.toml", "--set", fixed[0], "--set", fixed[1], "--set-b", slower];
    let found = place.json(&args, 1);
    let aspects = found["aspects"].as_object().expect("aspects");
    let differing: Vec<&String> =
        aspects.iter().filter(|(_, verdict)| verdict["equal"] == false).map(|(key, _)| key).collect();
    assert_eq!(differing, ["times"], "{found:#}");
    assert_eq!(found["first_decision"], serde_json::Value::Null);
    assert!(place.run(&args, 1).out.contains("every decision is the same"));
}

#[test]
fn seeds_pair_metrics_the_same_on_every_number_of_cores() {
    let place = Place::new();
    let args = ["diff", "s.toml", "s.toml", "--set-b", "engine.victim=least_computed", "--seeds", "11..22"];
    let found = place.json(&args, 1);
    assert_eq!(found["seeds"].as_array().map(Vec::len), Some(12));
    let ttft = &found["metrics"]["latency.ttft_ns.avg"];
    assert_eq!((&ttft["pairs"], &ttft["interval"]["method"]), (&12.into(), &"bootstrap".into()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_tierscope"));
    command.args(args).args(["--json", "-"]).current_dir(place.folder()).env("RAYON_NUM_THREADS", "1");
    let alone = command.output().expect("it runs").stdout;
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&alone).expect("JSON"), found);
    let two = place.json(&[&args[..6], &["2"]].concat(), 1);
    assert_eq!(two["metrics"]["latency.ttft_ns.avg"]["interval"]["method"], "student");
}

/// A workload that draws nothing is the same under every seed: many pairs of it are no evidence.
#[test]
fn seeds_that_change_nothing_are_said_to_change_nothing() {
    let place = Place::new();
    let fixed = "tierscope = 1\n[timing]\nmodel = \"polynomial\"\n[workload]\nkind = \"requests\"\n\
                 [[workload.request]]\nat_ms = 0\nprompt_tokens = 64\noutput_tokens = 8\n";
    place.write("fixed.toml", fixed);
    let slower = "timing.decode_floor_ms=50";
    let told = place.run(&["diff", "fixed.toml", "fixed.toml", "--set-b", slower, "--seeds", "5"], 1).out;
    assert!(told.contains("every seed gives the same two runs"), "{told}");
    assert!(told.contains("one pair of runs: plain differences"), "{told}");
    assert!(!told.contains(" * "), "{told}");
    let drawn = place.run(&["diff", "s.toml", "s.toml", "--set-b", slower, "--seeds", "3"], 1).out;
    assert!(!drawn.contains("every seed gives"), "{drawn}");
}

#[test]
fn different_requests_are_said_to_be_different() {
    let place = Place::new();
    let change = ["diff", "s.toml", "s.toml", "--set-b", "workload.requests=31", "--seeds", "2"];
    let said = "the workloads differ at 2 of 2 seeds: the pairs are of different requests";
    assert!(place.run(&change, 1).out.contains(said));
    assert_eq!(place.json(&change, 1)["same_requests"], false);
    let block = ["diff", "s.toml", "s.toml", "--set-b", "engine.block_size_tokens=16"];
    assert_eq!(place.json(&block, 1)["same_requests"], true, "a larger block is no other work");
}

#[test]
fn bad_input_is_told_with_its_place_and_a_mend() {
    let place = Place::new();
    place.run(&["run", "s.toml", "--quiet", "--events", "log.jsonl"], 0);
    let log = place.read("log.jsonl");
    place.write("cut.jsonl", &log[..log.len() - 20]);
    let cases: [(&[&str], &str); 6] = [
        (&["diff", "cut.jsonl", "s.toml"], "cut.jsonl:"),
        (
            &["diff", "log.jsonl", "log.jsonl", "--set-b", "seed=2"],
            "is a fact log: what happened cannot be changed",
        ),
        (&["diff", "log.jsonl", "s.toml", "--seeds", "2"], "--seeds is given, but log.jsonl is a fact log"),
        (&["diff", "s.toml", "s.toml", "--seeds", "9..3"], "there is no seed in it"),
        (&["diff", "s.toml", "s.toml", "--seeds", "many"], "expected a number of seeds"),
        (&["diff", "-", "s.toml"], "standard input can be read once"),
    ];
    for (args, expected) in cases {
        let answer = place.run(args, 2);
        assert!(answer.err.contains(expected), "{args:?}: {}", answer.err);
    }
    let lines = log.lines().count();
    let answer = place.run(&["diff", "cut.jsonl", "s.toml"], 2);
    assert!(
        answer.err.contains(&format!("cut.jsonl:{lines}:")) && answer.err.contains("mend:"),
        "{}",
        answer.err
    );
    place.write("zipped.gz", "\u{1f}\u{8b} no");
    place.run(&["diff", "zipped.gz", "s.toml"], 2);
}

#[test]
fn repeated_runs_are_counted() {
    let place = Place::new();
    let answer = place.run(&["test", "s.toml", "--repeat", "5"], 0);
    assert!(answer.out.contains("ok     s.toml: 5/5 equal digests\n"), "{}", answer.out);
    assert!(answer.out.ends_with("1 passed, 0 failed\n"), "{}", answer.out);
}
