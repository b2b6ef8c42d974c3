//! `tierscope drive --g1`: real blocks in the memory of a GPU, which Mesa's software Vulkan plays here.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use place::Place;

const QUICKSTART: &str = include_str!("drive/three_tiers.toml");

fn drive<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec!["drive", "quickstart.toml", "--g3", "blocks", "--block-bytes", "4096"];
    args.extend(more);
    args
}

/// Whether there is software Vulkan; a word, where there is none and need not be.
#[cfg(feature = "wgpu")]
fn is_there(place: &Place) -> bool {
    let answer = place.command(&drive(&["--g1", "wgpu:no such GPU"])).output();
    let told = String::from_utf8_lossy(&answer.expect("the command starts").stderr).into_owned();
    if told.contains("llvmpipe") {
        return true;
    }
    let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name == "wgpu"), "{told}");
    eprintln!("skipped: {told}");
    false
}

#[cfg(feature = "wgpu")]
#[test]
fn a_run_in_the_memory_of_a_gpu_is_the_simulated_one() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    if !is_there(&place) {
        return;
    }
    place.run(&["run", "quickstart.toml", "--json", "plain.json"], 0);
    let driven = place.run(&drive(&["--g1", "wgpu:LLVMpipe", "--json", "driven.json"]), 0);
    assert!(driven.out.contains("g1 is wgpu: llvmpipe") && driven.out.contains("g1_g2"), "{}", driven.out);
    assert!(driven.err.contains("no measure of one"), "{}", driven.err);
    let (plain, _) = place.report("plain.json");
    assert_eq!(place.report("driven.json").0, plain, "the same report, digest and counts included");
}

#[cfg(feature = "wgpu")]
#[test]
fn without_drivers_only_who_asks_for_a_gpu_is_refused() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    let without = |more: &[&str], exit| {
        let mut command = place.command(&drive(more));
        command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
        place::Answer::of(command.output().expect("the command starts"), exit)
    };
    let refused = without(&["--g1", "wgpu"], 2).err;
    assert!(refused.contains("there is no Vulkan driver") && refused.contains("mend"), "{refused}");
    let taken = without(&["--g1", "auto"], 0);
    assert!(taken.out.contains("g1 is host"), "host memory: {}", taken.err);
}

#[cfg(not(feature = "wgpu"))]
#[test]
fn a_command_without_wgpu_says_how_to_get_one_with_it() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    for which in ["wgpu", "wgpu:0"] {
        let told = place.run(&drive(&["--g1", which]), 2).err;
        assert!(told.contains("built without wgpu") && told.contains("wgpu, or --g1 host"), "{told}");
    }
}

#[test]
fn host_memory_is_no_device() {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    let told = place.run(&drive(&["--g1", "host:0"]), 2).err;
    assert!(told.contains("expected auto, host, cuda"), "{told}");
    place.run(&drive(&["--g1", "host"]), 0);
}
