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

use std::path::PathBuf;

/// Where the golden files are.
fn directory() -> PathBuf {
    match std::env::var_os("TIERSCOPE_CONFORMANCE_DIR") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/conformance"),
    }
}

#[test]
fn every_step_equals_vllm() {
    let directory = directory();
    if !directory.join("golden").is_dir() {
        println!("skipped: {} is absent", directory.display());
        return;
    }
    let cases = golden::cases(&directory);
    let (mut compared, mut steps, mut differences) = (0, 0, Vec::new());
    let mut skipped = std::collections::BTreeMap::<&str, Vec<String>>::new();
    for case in &cases {
        if let Some(feature) = case.unsupported() {
            skipped.entry(feature).or_default().push(case.name.clone());
            continue;
        }
        compared += 1;
        match replay::compare(case) {
            Ok(compared_steps) => steps += compared_steps,
            Err(difference) => differences.push(difference),
        }
    }
    for (feature, names) in &skipped {
        println!("skipped: {} files with {feature}: {}", names.len(), names.join(" "));
    }
    println!("{compared} files, {steps} steps compared, {} differ", differences.len());
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(compared > 0, "no golden file was compared in {}", directory.display());
}
