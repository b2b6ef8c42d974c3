//! `tierscope drive --g4`: four tiers with real blocks, the lowest of them an object store.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use place::Place;

/// All tiers are too short: blocks go down to G4, and come back from there.
const FOUR_TIERS: &str = r#"
tierscope = 1
title = "four tiers"
seed = 11

[engine]
g1_blocks = 60
block_size_tokens = 16
max_num_batched_tokens = 512

[g2]
blocks = 64

[g4]
blocks = 240

[offload]
store = "on_compute"
load = "always"

[timing]
model = "polynomial"

[workload]
kind = "synthetic"
requests = 60
arrival = "poisson"
rate_per_s = 8.0
prompt_tokens = { min = 40, max = 200 }
output_tokens = { min = 5, max = 30 }
shared_prefix = { tokens = 96, groups = 5 }
"#;

#[cfg(feature = "s3")]
#[test]
fn blocks_go_to_an_object_store_and_come_back_and_the_run_is_the_simulated_one() {
    let place = Place::with(&[("four.toml", FOUR_TIERS)]);
    place.run(&["run", "four.toml", "--json", "plain.json"], 0);
    let (plain, _) = place.report("plain.json");
    let folder = format!("file://{}", place.path("objects").display());
    // The second run finds the folder as the first one left it.
    for url in [folder.as_str(), &folder, "memory:///"] {
        let args = ["drive", "four.toml", "--g4", url, "--block-bytes", "4096", "--json", "driven.json"];
        let driven = place.run(&args, 0).out;
        assert!(driven.contains("verified where they arrived") && driven.contains("g4_g2"), "{driven}");
        assert_eq!(place.report("driven.json").0, plain, "the same report, digest and counts included");
    }
}

/// The scenario that the README names, in all three ways.
#[cfg(feature = "s3")]
#[test]
fn the_quickstart_moves_the_same_blocks_whoever_says_when_copies_end() {
    let quickstart = include_str!("../../../tests/scenarios/drive/quickstart.toml");
    let place = Place::with(&[("quickstart.toml", quickstart)]);
    place.run(&["run", "quickstart.toml", "--json", "plain.json"], 0);
    let (plain, _) = place.report("plain.json");
    for clock in ["lockstep", "skip"] {
        let args =
            ["drive", "quickstart.toml", "--g3", "blocks", "--g4", "memory:///", "--block-bytes", "4096"];
        let args: Vec<&str> = args.into_iter().chain(["--clock", clock, "--json", "driven.json"]).collect();
        place.run(&args, 0);
        let (report, driven) = place.report("driven.json");
        let driven = driven.expect("the real side");
        for lane in ["g1_g2", "g2_g1", "g2_g3", "g3_g2", "g2_g4", "g4_g2"] {
            let blocks = &plain["lanes"][lane]["blocks"];
            assert_eq!(
                (&report["lanes"][lane]["blocks"], &driven["lanes"][lane]["blocks"]),
                (blocks, blocks),
                "{clock}: {lane}"
            );
        }
        assert_eq!(report["digest"] == plain["digest"], clock == "lockstep");
    }
}

#[cfg(feature = "s3")]
#[test]
fn a_store_that_cannot_be_had_is_said_before_anything_runs() {
    let place = Place::with(&[("four.toml", FOUR_TIERS)]);
    let answer = place.run(&["drive", "four.toml", "--block-bytes", "4096"], 2);
    assert!(answer.err.contains("nothing was given for it") && answer.err.contains("mend"), "{}", answer.err);
    let ask = |url: &str| {
        let mut command = place.command(&["drive", "four.toml", "--block-bytes", "4096", "--g4", url]);
        let names = std::env::vars_os().map(|(name, _)| name);
        for name in names.filter(|name| name.to_string_lossy().starts_with("AWS_")) {
            command.env_remove(name);
        }
        place::Answer::of(command.output().expect("the command starts"), 2).err
    };
    let no_keys = ask("s3://bucket/prefix");
    assert!(no_keys.contains("AWS_ACCESS_KEY_ID") && no_keys.contains("mend: "), "{no_keys}");
    let unknown = ask("ftp://host/blocks");
    assert!(unknown.contains("`ftp` is not known") && unknown.contains("mend: s3://"), "{unknown}");
}

#[cfg(not(feature = "s3"))]
#[test]
fn without_object_stores_it_says_how_to_build_them_in() {
    let place = Place::with(&[("four.toml", FOUR_TIERS)]);
    let args = ["drive", "four.toml", "--block-bytes", "4096", "--g4", "memory:///"];
    let answer = place.run(&args, 2);
    assert!(
        answer.err.contains("built without object stores") && answer.err.contains("--features s3"),
        "{}",
        answer.err
    );
}
