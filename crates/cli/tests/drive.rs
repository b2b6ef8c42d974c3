//! `tierscope drive`: real blocks; in lock-step the decisions of the simulation, on the clock those that real tiers made.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use std::process::Stdio;
use std::time::{Duration, Instant};

use place::{Answer, Place};
use serde_json::Value;

const QUICKSTART: &str = include_str!("drive/three_tiers.toml");
/// Fewer requests, so that the wall clock does not take long.
const SHORT: [&str; 4] = ["--set", "workload.requests=30", "--set", "workload.think_time_ms=5"];

fn with<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    args.iter().chain(more).copied().collect()
}

#[test]
fn in_lock_step_a_driven_run_is_the_simulated_one_with_real_blocks() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    place.run(&["run", "quickstart.toml", "--json", "plain.json"], 0);
    let (plain, _) = place.report("plain.json");
    // The second run finds the folder as the first one left it.
    for _life in 0..2 {
        let args =
            ["drive", "quickstart.toml", "--g3", "blocks", "--block-bytes", "4096", "--json", "driven.json"];
        let driven = place.run(&args, 0).out;
        assert!(driven.contains("verified where they arrived") && driven.contains("g3_g2"), "{driven}");
        let (report, real) = place.report("driven.json");
        let real = real.expect("the real side");
        assert_eq!(report, plain, "the same report, digest and counts included");
        for (lane, told) in report["lanes"].as_object().expect("lanes") {
            assert_eq!(real["lanes"][lane]["blocks"], told["blocks"], "{lane}");
            assert_eq!(real["lanes"][lane]["batches"], told["completed"], "{lane}");
        }
    }
}

#[test]
fn on_the_clock_the_recording_is_the_run_and_diff_says_where_it_parts_from_its_simulation() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    for clock in ["wall", "skip"] {
        let args = ["drive", "quickstart.toml", "--g3", "blocks", "--block-bytes", "4096", "--clock", clock];
        let outputs =
            ["--record", "run.jsonl", "--json", "driven.json", "--events", "facts.jsonl", "--quiet"];
        place.run(&with(&with(&args, &SHORT), &outputs), 0);
        let (report, real) = place.report("driven.json");
        assert_eq!(report["requests"]["completed"], 30, "{clock}");
        assert_eq!(real.expect("the real side")["clock"], clock);
        // Told again: the same digest and the same facts, in another process and without any tier.
        place.run(&["run", "run.jsonl", "--json", "again.json", "--events", "again.jsonl", "--quiet"], 0);
        assert_eq!(place.report("again.json").0["digest"], report["digest"], "{clock}");
        let read = |name: &str| std::fs::read(place.path(name)).expect("facts");
        assert!(read("facts.jsonl") == read("again.jsonl"), "{clock}: other facts");
        place.run(&["diff", "run.jsonl", "facts.jsonl"], 0);
        let parted = place.run(&with(&["diff", "run.jsonl", "quickstart.toml"], &with_b()), 1).out;
        assert!(parted.contains("first difference"), "{parted}");
    }
}

/// The changes of [`SHORT`] for the simulated side.
fn with_b() -> [&'static str; 4] {
    ["--set-b", "workload.requests=30", "--set-b", "workload.think_time_ms=5"]
}

#[test]
fn what_happened_cannot_be_changed_and_what_is_cut_is_no_recording() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    let args = ["drive", "quickstart.toml", "--g3", "blocks", "--block-bytes", "4096", "--clock", "skip"];
    place.run(&with(&with(&args, &SHORT), &["--record", "run.jsonl", "--quiet"]), 0);
    let answer = place.run(&["run", "run.jsonl", "--seed", "3"], 2);
    assert!(
        answer.err.contains("what happened cannot be changed") && answer.err.contains("mend"),
        "{}",
        answer.err
    );
    let text = std::fs::read_to_string(place.path("run.jsonl")).expect("the recording");
    let lines: Vec<&str> = text.lines().collect();
    std::fs::write(place.path("cut.jsonl"), lines[..lines.len() - 1].join("\n")).expect("a file");
    let answer = place.run(&["run", "cut.jsonl"], 2);
    assert!(answer.err.contains("the last line of a recording"), "{}", answer.err);
    // An end that was moved: another run, which the digest shows.
    let moved = text.replacen("\"at_ns\":", "\"at_ns\":1", 1);
    std::fs::write(place.path("moved.jsonl"), moved).expect("a file");
    let answer = place.run(&["run", "moved.jsonl"], 2);
    assert!(answer.err.contains("expected") && answer.err.contains("moved.jsonl"), "{}", answer.err);
    let answer = place.run(&with(&args[..6], &["--record", "run.jsonl"]), 2);
    assert!(answer.err.contains("--clock wall"), "{}", answer.err);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_stops_reports_and_leaves_a_recording_of_what_was() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    let args = ["drive", "quickstart.toml", "--g3", "blocks", "--block-bytes", "4096", "--clock", "wall"];
    let outputs = ["--record", "run.jsonl", "--json", "driven.json"];
    let mut command = place.command(&with(&args, &outputs));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    // The folder is locked once the run is about to begin.
    let index = place.path("blocks").join("index.0");
    let begun = Instant::now();
    while !index.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill is there");
    assert!(killed.success());
    let output = child.wait_with_output().expect("it ends");
    // It may have been interrupted before it listened: then the signal ends it, and nothing is written.
    if output.status.code().is_none() {
        assert!(!place.path("run.jsonl").exists());
        return;
    }
    let answer = Answer::of(output, 2);
    assert!(answer.err.contains("nothing is held"), "{}", answer.err);
    let (report, _) = place.report("driven.json");
    assert_eq!(report["outcome"], "cancelled");
    let again = place.run(&["run", "run.jsonl", "--digest"], 0).out;
    assert_eq!(Value::from(again.trim()), report["digest"]);
}

#[test]
fn what_is_missing_or_too_large_is_said_before_anything_runs() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    let answer = place.run(&["drive", "quickstart.toml", "--block-bytes", "4096"], 2);
    assert!(answer.err.contains("nothing was given for it") && answer.err.contains("mend"), "{}", answer.err);
    let large = ["drive", "quickstart.toml", "--g3", "blocks", "--set", "g2.blocks=10000000"];
    let answer = place.run(&large, 2);
    assert!(answer.err.contains("GiB of memory") && answer.err.contains("--block-bytes"), "{}", answer.err);
    let taken = ["drive", "quickstart.toml", "--g3", "quickstart.toml", "--block-bytes", "4096"];
    let answer = place.run(&taken, 2);
    assert!(answer.err.contains("cannot make the folder"), "{}", answer.err);
}
