//! Sweeps on clusters: HyperQueue for real, where its Python package is installed; Slurm and a HyperQueue server by
//! stand-ins that do with the script what the real ones do.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Output};

use crate::here::SCENARIO;
use crate::place::Place;

const KNOB: [&str; 4] = ["--knob", "engine.g1_blocks=20,40,80,160", "--seeds=1..2", "--quiet"];

fn sweep<'a>(rest: &[&'a str]) -> Vec<&'a str> {
    ["sweep", "s.toml"].into_iter().chain(KNOB).chain(rest.iter().copied()).collect()
}

/// A program of a stand-in for a cluster, first on PATH.
fn with_program(place: &Place, name: &str, script: &str, args: &[&str]) -> Output {
    let program = place.path(&format!("bin/{name}"));
    std::fs::create_dir_all(place.path("bin")).expect("a folder");
    std::fs::write(&program, script).expect("a script");
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("executable");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let paths = [place.path("bin")].into_iter().chain(std::env::split_paths(&path));
    let mut command = place.command(args);
    command.env("PATH", std::env::join_paths(paths).expect("plain names"));
    command.output().expect("the command starts")
}

#[track_caller]
fn assert_done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs the array one task after the other, as `sbatch --wait` does with a script on its standard input.
const SBATCH: &str = "#!/bin/bash\nset -eu\n[ \"$1\" = --wait ]\nscript=$(mktemp)\ncat > \"$script\"\n\
    n=$(sed -n 's/^#SBATCH --array=1-//p' \"$script\")\n\
    for i in $(seq 1 \"$n\"); do SLURM_ARRAY_TASK_ID=$i bash \"$script\"; done\nrm \"$script\"\n";

/// Runs the array as `hq submit --wait --array 1-N … -- COMMAND` does.
const HQ: &str = "#!/bin/bash\nset -eu\n[ \"$1 $2 $3\" = '--server-dir srv submit' ]\n\
    while [ \"$1\" != -- ]; do [ \"$1\" = --array ] && n=${2#1-}; shift; done\nshift\n\
    for i in $(seq 1 \"$n\"); do HQ_TASK_ID=$i \"$@\"; done\n";

#[test]
fn a_slurm_array_gives_the_file_of_one_process() {
    let place = Place::with(SCENARIO);
    place.run(&sweep(&["--out", "whole"]), 0);
    let args = sweep(&["--engine", "slurm", "--shards", "3", "--out", "array"]);
    assert_done(&with_program(&place, "sbatch", SBATCH, &args));
    assert_eq!(place.bytes("array.parquet"), place.bytes("whole.parquet"));
    assert_eq!(place.bytes("array.csv"), place.bytes("whole.csv"));
    assert!(!place.path("array.parts").exists(), "made for this sweep, and gone with it");

    let failing =
        with_program(&place, "sbatch", "#!/bin/sh\nexit 7\n", &sweep(&["--engine", "slurm", "--out", "f"]));
    assert_eq!(failing.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&failing.stderr).contains("sbatch --wait ended with exit status: 7"));
}

#[test]
fn the_slurm_script_is_as_documented() {
    let place = Place::with(SCENARIO);
    let printed = place.run(&sweep(&["--engine", "slurm", "--print-script", "--out", "a b"]), 0).out;
    let folder = place.path("").canonicalize().expect("a folder").display().to_string();
    let shown = printed.replace(env!("CARGO_BIN_EXE_tierscope"), "/bin/tierscope").replace(&folder, "/here");
    expect_test::expect![[r#"
        #!/bin/bash
        #SBATCH --job-name=tierscope-sweep
        #SBATCH --array=1-8
        #SBATCH --ntasks=1
        #SBATCH --cpus-per-task=1
        #SBATCH --output="/here/a b.parts.slurm-%a.log"
        # Each task is one share, writes one part, and may be run again at any time.
        set -euo pipefail
        cd /here
        exec /bin/tierscope sweep s.toml --knob engine.g1_blocks=20,40,80,160 --seeds 1..2 --quiet --jobs 1 --out '/here/a b.parts' --shard "${SLURM_ARRAY_TASK_ID}/8"
    "#]]
    .assert_eq(&shown);
    assert!(!place.path("a b.parts").exists(), "printing does nothing else");

    // The same body, submitted by hand, and merged by hand.
    std::fs::write(place.path("script"), printed).expect("written");
    for task in 1..=8 {
        let mut bash = Command::new("bash");
        bash.arg("script").env("SLURM_ARRAY_TASK_ID", task.to_string()).current_dir(place.path(""));
        assert_done(&bash.output().expect("bash is there"));
    }
    place.run(&["sweep", "merge", "a b.parts", "--out", "merged", "--quiet"], 0);
    place.run(&sweep(&["--out", "whole"]), 0);
    assert_eq!(place.bytes("merged.parquet"), place.bytes("whole.parquet"));
}

#[test]
fn a_hyperqueue_server_gets_one_array() {
    let place = Place::with(SCENARIO);
    place.run(&sweep(&["--out", "whole"]), 0);
    let args = sweep(&["--engine", "hq", "--server-dir", "srv", "--shards", "3", "--out", "array"]);
    assert_done(&with_program(&place, "hq", HQ, &args));
    assert_eq!(place.bytes("array.parquet"), place.bytes("whole.parquet"));
}

/// The Python that `cargo xtask setup` installs, or one that is named.
fn python() -> Option<PathBuf> {
    let named = std::env::var_os("TIERSCOPE_PYTHON").map(PathBuf::from);
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    named
        .or_else(|| Some(cache.join("tierscope/tools/hyperqueue-0.27.0/bin/python")))
        .filter(|path| path.is_file())
}

#[test]
fn hyperqueue_gives_the_file_of_one_process() {
    let Some(python) = python() else {
        assert!(std::env::var_os("CI").is_none(), "HyperQueue is missing: `cargo xtask setup` installs it");
        println!("skipped: HyperQueue is not installed; `cargo xtask setup` installs it");
        return;
    };
    let python = python.to_str().expect("a plain path");
    let place = Place::with(SCENARIO);
    place.run(&sweep(&["--out", "whole"]), 0);
    let hq =
        ["--engine", "hq", "--python", python, "--shards", "4", "--jobs", "2", "--parts", "p", "--out", "hq"];
    place.run(&sweep(&hq), 0);
    assert_eq!(place.bytes("hq.parquet"), place.bytes("whole.parquet"));
    assert_eq!(place.bytes("hq.csv"), place.bytes("whole.csv"));

    // A share that fails is named, and the others are kept.
    std::fs::write(place.path("p/part-00003-of-00004.jsonl"), "not a part\n").expect("written");
    let failed = place.run(&sweep(&hq), 2).err;
    assert!(failed.contains("shard 3") && failed.contains("HyperQueue ended with"), "{failed}");
    std::fs::remove_file(place.path("p/part-00003-of-00004.jsonl")).expect("removed");
    place.run(&sweep(&hq), 0);
    assert_eq!(place.bytes("hq.parquet"), place.bytes("whole.parquet"));
}
