//! `tierscope calibrate`: a file that scenarios take, and nothing left behind.

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use place::{Answer, Place};

const QUICKSTART: &str = include_str!("../../../tests/scenarios/drive/quickstart.toml");

fn place() -> Place {
    let place = Place::with(&[("quickstart.toml", QUICKSTART)]);
    std::fs::create_dir(place.path("disk")).expect("a folder");
    place
}

fn left_behind(place: &Place) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(place.path("disk")).expect("the folder is there");
    entries.map(|entry| entry.expect("an entry").file_name()).collect()
}

#[test]
fn what_is_measured_is_taken_by_a_scenario_whose_run_goes() {
    let place = place();
    let args = ["calibrate", "--g3", "disk", "--seconds", "3", "--out", "hw.toml", "--json", "hw.json"];
    let said = place.run(&args, 0);
    for words in ["host memory stands in for a GPU", "g3_g2", "held out", "mixed", "nothing was given for g4"]
    {
        assert!(said.out.contains(words), "{words} is not in\n{}", said.out);
    }
    assert_eq!(left_behind(&place), [""; 0]);
    let file = std::fs::read_to_string(place.path("hw.toml")).expect("the figures");
    for lane in ["g1_g2", "g2_g1", "g2_g3", "g3_g2"] {
        assert!(file.contains(&format!("[lanes.{lane}]\nbandwidth_gbps = ")), "{file}");
    }
    assert!(file.contains("# g1: host host memory; host memory stands in for a GPU"), "{file}");
    let json = std::fs::read_to_string(place.path("hw.json")).expect("all that was measured");
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert!(json["points"].as_array().is_some_and(|points| points.len() > 20), "{json:#}");
    assert!(json["held_out"].as_array().is_some_and(|lanes| lanes.len() == 8), "{json:#}");
    let run = place.run(&["run", "quickstart.toml", "--hardware", "hw.toml", "--json", "-"], 0);
    let report: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let plain = place.run(&["run", "quickstart.toml", "--json", "-"], 0);
    let plain: serde_json::Value = serde_json::from_str(&plain.out).expect("JSON");
    assert_ne!(report["scenario_hash"], plain["scenario_hash"], "other links");
    assert!(report["lanes"]["g3_g2"]["blocks"].as_u64().is_some_and(|blocks| blocks > 0), "{report:#}");
}

#[test]
fn what_cannot_be_measured_is_said_before_anything_is_written() {
    let place = place();
    let nowhere = place.run(&["calibrate", "--g3", "nowhere", "--seconds", "2", "--out", "hw.toml"], 2);
    assert!(nowhere.err.contains("cannot make a folder") && nowhere.err.contains("mend"), "{}", nowhere.err);
    let unwritable = place.run(&["calibrate", "--seconds", "60", "--out", "no/such/folder/hw.toml"], 2);
    assert!(unwritable.err.contains("cannot write"), "{}", unwritable.err);
    let twice = place.run(&["calibrate", "--out", "-", "--json", "-"], 2);
    assert!(twice.err.contains("standard output"), "{}", twice.err);
    assert!(!place.path("hw.toml").exists());
}

#[test]
fn an_interrupted_calibration_leaves_nothing_behind() {
    let place = place();
    let args = ["calibrate", "--g3", "disk", "--seconds", "600", "--out", "hw.toml"];
    let mut command = place.command(&args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let begun = Instant::now();
    // It is at work once its folder is there.
    while left_behind(&place).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::yield_now();
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill is there").success());
    let answer = Answer::of(child.wait_with_output().expect("it ends"), 2);
    assert!(answer.err.contains("interrupted: nothing was written"), "{}", answer.err);
    assert_eq!(left_behind(&place), [""; 0]);
    assert!(!place.path("hw.toml").exists());
    let parts = std::fs::read_dir(place.folder()).expect("the folder").count();
    assert_eq!(parts, 2, "the scenario and the empty folder");
}
