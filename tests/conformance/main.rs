//! The engine against the decisions of the real vLLM scheduler, step by step (rule S1).
//!
//! Scenarios and golden files are read from `../shared/conformance` (or `TIERSCOPE_CONFORMANCE_DIR`), whose
//! README tells their formats. Every step is compared: scheduled requests and token counts in order, new
//! blocks by number, preemptions, queues, the free queue, stored and evicted contents, sampled tokens, and the
//! order of finishing. On a difference the first differing step is printed, both sides.

mod config;
mod golden;
mod model;
mod ops;
mod replay;
mod worker;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where the golden files are.
fn directory() -> PathBuf {
    match std::env::var_os("TIERSCOPE_CONFORMANCE_DIR") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance"),
    }
}

/// Compares all cases of a folder; prints what was skipped.
fn compare_all(directory: &Path) {
    let (mut compared, mut steps, mut differences) = (0, 0, Vec::new());
    let (mut connected, mut connected_steps) = (0, 0);
    let mut skipped = BTreeMap::<&str, Vec<String>>::new();
    for case in &golden::cases(directory) {
        if let Some(feature) = case.unsupported() {
            skipped.entry(feature).or_default().push(case.name.clone());
            continue;
        }
        compared += 1;
        match replay::compare(case) {
            Ok(compared_steps) => {
                steps += compared_steps;
                if case.cpu_chunks().is_some() {
                    connected += 1;
                    connected_steps += compared_steps;
                }
            }
            Err(difference) => differences.push(difference),
        }
    }
    for (feature, names) in &skipped {
        println!("skipped: {} files with {feature}: {}", names.len(), names.join(" "));
    }
    println!("{compared} files, {steps} steps compared, {} differ", differences.len());
    println!("of these, {connected} files, {connected_steps} steps with the offloading connector");
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 0, "no golden file was compared in {}", directory.display());
}

#[test]
fn every_step_equals_vllm() {
    let directory = directory();
    if !directory.join("golden").is_dir() {
        println!("skipped: {} is absent", directory.display());
        return;
    }
    compare_all(&directory);
}

/// Fresh random scenarios on every run, against the reference model that equals vLLM on all its files. The seed
/// is printed; `TIERSCOPE_SEED` repeats it, `TIERSCOPE_CASES` sets the number of scenarios.
#[test]
fn every_step_equals_the_reference_model_on_fresh_scenarios() {
    compare_fresh("scheduler", &[]);
}

/// The same with a CPU tier below.
#[test]
fn every_step_equals_the_reference_model_on_fresh_scenarios_with_a_connector() {
    compare_fresh("connector", &["offload"]);
}

fn compare_fresh(kind: &str, mode: &[&str]) {
    let tools = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance/tools");
    if !tools.join("refmodel.py").is_file() {
        println!("skipped: {} is absent", tools.display());
        return;
    }
    let (seed, cases) = tierscope_tests::fresh_cases("conformance", 200);
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("conformance-{kind}-{seed}"));
    for part in ["scenarios", "golden"] {
        std::fs::create_dir_all(folder.join(part)).expect("a folder for the scenarios");
    }
    let python = |tool: &str, arguments: &[String]| {
        let run = Command::new("python3").arg(tools.join(tool)).args(arguments).output();
        let run = run.expect("python3 runs the reference model");
        assert!(run.status.success(), "{tool}: {}", String::from_utf8_lossy(&run.stderr));
    };
    let shown = |path: &Path| path.display().to_string();
    let mut arguments = vec![cases.to_string(), seed.to_string(), shown(&folder.join("scenarios"))];
    arguments.extend(mode.iter().map(|&word| word.to_owned()));
    python("fuzz.py", &arguments);
    let made = std::fs::read_dir(folder.join("scenarios")).expect("the scenarios can be listed");
    let mut arguments = vec!["--emit".to_owned(), shown(&folder.join("golden"))];
    arguments.extend(made.map(|entry| shown(&entry.expect("an entry can be read").path())));
    python("refmodel.py", &arguments);
    compare_all(&folder);
    std::fs::remove_dir_all(&folder).expect("the scenarios are removed once they agree");
}
