//! `tierscope drive`: real blocks, the decisions of the simulation.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use place::Place;

const QUICKSTART: &str = include_str!("../../../tests/scenarios/drive/quickstart.toml");

#[test]
fn a_driven_run_is_the_simulated_one_with_real_blocks() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    let plain = place.run(&["run", "quickstart.toml", "--json", "-"], 0).out;
    // The second run finds the folder as the first one left it.
    for _life in 0..2 {
        let args =
            ["drive", "quickstart.toml", "--g3", "blocks", "--block-bytes", "4096", "--json", "driven.json"];
        let driven = place.run(&args, 0).out;
        assert!(driven.contains("none wrong") && driven.contains("g3_g2"), "{driven}");
        assert_eq!(read(&place).trim(), plain.trim(), "the same report, digest and counts included");
    }
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

fn read(place: &Place) -> String {
    std::fs::read_to_string(place.path("driven.json")).expect("the report")
}
