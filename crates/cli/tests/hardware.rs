//! `--g1 cuda`, `tierscope conform`, and the script for machines with a GPU, against the stand-in for CUDA's driver: that
//! they run. Nothing here is measured.
#![cfg(all(feature = "cuda", target_os = "linux"))]

#[allow(dead_code, reason = "the other files of tests use more of it")]
mod place;

use std::path::{Path, PathBuf};
use std::process::Command;

use place::{Answer, Place};

const QUICKSTART: &str = include_str!("drive/three_tiers.toml");

/// A folder with the stand-in in it as `driver/libcuda.so`; `None` where it has not been built.
fn place() -> Option<Place> {
    let this = std::env::current_exe().expect("this test has a path");
    let library = this.parent().expect("it lies in a folder").join("libstandin_cuda.so");
    if !library.is_file() {
        let required = std::env::var("TIERSCOPE_REQUIRE").unwrap_or_default();
        assert!(
            !required.split(',').any(|name| name == "cuda-stand-in"),
            "{} is not there",
            library.display()
        );
        eprintln!("skipped: {} is not there", library.display());
        return None;
    }
    let place = Place::with(&[("quickstart.toml", QUICKSTART), ("driver/about", "a stand-in\n")]);
    std::os::unix::fs::symlink(library, place.path("driver/libcuda.so")).expect("a link");
    Some(place)
}

fn answer(place: &Place, args: &[&str], orders: &str, exit: i32) -> Answer {
    let mut command = place.command(args);
    command.env("LD_LIBRARY_PATH", place.path("driver")).env("TIERSCOPE_STANDIN_CUDA", orders);
    Answer::of(command.output().expect("the command starts"), exit)
}

#[test]
fn a_run_is_driven_through_the_gpus_driver() {
    let Some(place) = place() else { return };
    place.run(&["run", "quickstart.toml", "--json", "plain.json"], 0);
    let args = [
        "drive",
        "quickstart.toml",
        "--g1",
        "cuda",
        "--g3",
        "blocks",
        "--block-bytes",
        "4096",
        "--json",
        "d.json",
    ];
    let driven = answer(&place, &args, "", 0);
    assert!(driven.out.contains("g1 is cuda: stand-in") && driven.out.contains("g1_g2"), "{}", driven.out);
    assert!(driven.err.contains("note: cuda: the driver is a stand-in, there is no GPU"), "{}", driven.err);
    assert!(!driven.err.contains("could not be locked"), "{}", driven.err);
    let (plain, _) = place.report("plain.json");
    assert_eq!(place.report("d.json").0, plain, "the same report, digest and counts included");
    // A device that is lost on the way ends the run, with the reason and no panic.
    let broken = answer(&place, &args, "lost_after=50", 3);
    assert!(broken.err.contains("real tiers could not follow"), "{}", broken.err);
}

#[test]
fn conform_tells_what_holds_and_where_there_is_no_driver() {
    let Some(place) = place() else { return };
    let holds = answer(&place, &["conform", "--g1", "cuda", "--g3", "disk"], "", 0).out;
    assert!(holds.contains("G1  cuda: stand-in: no GPU, CUDA 13.0, which stands in for a device"), "{holds}");
    assert_eq!(holds.matches("13 of 13 hold").count(), 2, "{holds}");
    assert_eq!(std::fs::read_dir(place.path("disk")).expect("it was made").count(), 0, "nothing is left");
    let broken = answer(&place, &["conform", "--g1", "cuda"], "fail=cuMemcpyDtoHAsync_v2@4+:1", 1).out;
    assert!(broken.contains("BROKEN") && !broken.contains("13 of 13"), "{broken}");
    let none = place.run(&["conform", "--g1", "cuda:7"], 2).err;
    assert!(none.contains("error: G1, cuda") && none.contains("mend: "), "{none}");
    let wrong = place.run(&["conform", "--g1", "gpu"], 2).err;
    assert!(wrong.contains("expected auto, host, cuda"), "{wrong}");
}

#[test]
fn the_script_for_machines_with_a_gpu_runs_and_names_what_it_found() {
    let Some(place) = place() else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hardware/run.sh");
    let run = |driver: PathBuf| {
        let output = Command::new("sh")
            .arg(&script)
            .args([env!("CARGO_BIN_EXE_tierscope"), "results", "quickstart.toml"])
            .current_dir(place.folder())
            .env("LD_LIBRARY_PATH", driver)
            .env("BLOCK_BYTES", "4096")
            .env("CALIBRATE_SECONDS", "2")
            .output()
            .expect("there is a shell");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    for folder in ["stand-in-no-gpu", "stand-in-no-gpu-2"] {
        let (code, out, err) = run(place.path("driver"));
        assert_eq!(code, Some(0), "{out}{err}");
        assert!(out.contains(&format!("results: results/{folder}\n")), "{out}");
        let read = |name: &str| {
            std::fs::read_to_string(place.path("results").join(folder).join(name)).unwrap_or_default()
        };
        assert!(read("summary.txt").contains("conform-cuda: done"), "{}", read("summary.txt"));
        assert!(read("summary.txt").contains("drive-cuda: done"), "{}", read("summary.txt"));
        assert!(read("conform-cuda.txt").contains("13 of 13 hold"));
        assert!(read("drive-cuda.json").contains("\"digest\""));
        assert!(
            read("calibrate-cuda.txt").contains("a stand-in for the driver"),
            "{}",
            read("calibrate-cuda.txt")
        );
        assert!(read("hardware-cuda.toml").is_empty(), "nothing is measured on a stand-in");
        assert!(read("machine.txt").contains("tierscope"), "{}", read("machine.txt"));
    }
}
