//! `tierscope import` and `run --hardware`: the scenario on standard output, the notes on standard error.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use place::Place;

const COMMAND: &str = "vllm serve Qwen/Qwen3-8B --max-num-seqs 64 --num-gpu-blocks-override 500 --kv-offloading-size 8 --swap-space 4\n";
const FIGURES: &str = "tierscope_hardware = 1\nmachine = \"node 17\"\n[lanes.g1_g2]\nbandwidth_gbps = 11.0\nlatency_us = 20\n[lanes.g2_g3]\nbandwidth_gbps = 3\n";

#[test]
fn a_command_becomes_a_scenario_that_runs() {
    let place = Place::with(&[("serve.sh", COMMAND), ("hardware.toml", FIGURES)]);
    let answer = place.run(&["import", "serve.sh"], 0);
    assert!(
        answer.out.contains("max_num_seqs = 64") && answer.out.contains("g1_blocks = 499"),
        "{}",
        answer.out
    );
    assert!(
        answer.err.contains("taken       1:26  --max-num-seqs 64  ->  engine.max_num_seqs = 64"),
        "{}",
        answer.err
    );
    assert!(answer.err.contains("left out") && answer.err.contains("assumed"), "{}", answer.err);
    place.run(&["import", "serve.sh", "-o", "made.toml", "-q"], 0);
    let plain = place.run(&["run", "made.toml", "--digest"], 0).out;
    let measured = place.run(&["run", "made.toml", "--digest", "--hardware", "hardware.toml"], 0);
    assert_ne!(plain, measured.out, "other rates, another run");
    assert!(
        measured.err.contains("links.pcie.down_gb_per_s = 11")
            && measured.err.contains("the scenario has no [g3]"),
        "{}",
        measured.err
    );
    let broken = place.run(&["run", "made.toml", "--hardware", "serve.sh"], 2);
    assert!(broken.err.contains("serve.sh:1:"), "{}", broken.err);
}

#[test]
fn what_is_no_source_is_named_and_refused() {
    let place = Place::with(&[
        ("made.toml", "tierscope = 1\n"),
        ("hardware.toml", FIGURES),
        ("notes.txt", "hello\n"),
        ("wrong.json", "{\"num_gpu_blocks\": 0}"),
    ]);
    for (file, words) in [
        ("made.toml", "a scenario already"),
        ("hardware.toml", "--hardware FILE"),
        ("notes.txt", "not recognized"),
        ("wrong.json", "wrong.json:1:20"),
        ("missing", "cannot read missing"),
    ] {
        let answer = place.run(&["import", file], 2);
        assert!(answer.err.contains(words) && answer.out.is_empty(), "{file}: {}", answer.err);
    }
    let named = place.run(&["import", "notes.txt", "--from", "vllm"], 2);
    assert!(named.err.contains("no vllm serve"), "{}", named.err);
}
