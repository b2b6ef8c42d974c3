//! `test` and `ci`: the steps, in the order in which they fail soonest.

use std::path::PathBuf;

use crate::run::{Cmd, Failure, Result, Steps, target_dir};
use crate::{browser, page, tidy, tools};

/// What is checked beside the features that are on anyway: media that are not for everybody.
const FEATURES: [&str; 2] = ["--features", "tierscope/wgpu"];

/// What tests may not skip in CI.
const REQUIRED: &str = "wgpu,cuda-stand-in,s3";

/// Every test, or one part of them.
pub(crate) fn test(part: Option<&str>) -> Result {
    let mut steps = Steps::default();
    match part {
        None => every_test(&mut steps)?,
        Some("native") => native_tests(&mut steps)?,
        Some("scenarios") => scenarios(&mut steps)?,
        Some("wasm") => wasm_tests(&mut steps)?,
        Some("browser") => page_in_browser(&mut steps)?,
        Some(other) => {
            return Err(Failure::usage(format!(
                "tests have the parts native, scenarios and browser, not `{other}`"
            )));
        }
    }
    println!("\n{}", steps.summary(None));
    Ok(())
}

/// Everything that a change must pass.
pub(crate) fn ci() -> Result {
    let mut steps = Steps::default();
    let deny_warnings = ["--", "-D", "warnings"];
    steps.command("dependencies", &Cmd::new("cargo fetch --locked"))?;
    steps.command("format", &Cmd::new("cargo fmt --all --check"))?;
    steps.step("tidy", tidy::run)?;
    let native = Cmd::new("cargo clippy --workspace --all-targets").args(FEATURES).args(deny_warnings);
    steps.command("clippy, native", &native)?;
    steps.step("the wasm target", tools::ensure_wasm_target)?;
    steps.command("clippy, wasm32", &clippy_wasm().args(deny_warnings))?;
    let docs = Cmd::new("cargo doc --workspace --no-deps --quiet").env("RUSTDOCFLAGS", "-D warnings");
    steps.command("docs", &docs)?;
    licences(&mut steps)?;
    every_test(&mut steps)?;
    println!("\n{}", steps.summary(None));
    Ok(())
}

/// The optimized `tierscope`.
pub(crate) fn release_binary() -> PathBuf {
    target_dir().join("release").join(format!("tierscope{}", std::env::consts::EXE_SUFFIX))
}

pub(crate) fn build_release() -> Cmd {
    Cmd::new("cargo build --release --package tierscope")
}

fn every_test(steps: &mut Steps) -> Result {
    native_tests(steps)?;
    scenarios(steps)?;
    wasm_tests(steps)?;
    page_in_browser(steps)
}

/// The digests once more, by the code that the page runs.
fn wasm_tests(steps: &mut Steps) -> Result {
    let tests =
        "cargo test --release --package tierscope-tests --test determinism --target wasm32-unknown-unknown";
    steps.step("determinism, in wasm", || {
        let runner = tools::wasm_test_runner()?;
        Cmd::new(tests).env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", runner).run()
    })
}

fn scenarios(steps: &mut Steps) -> Result {
    steps.command("the command, optimized", &build_release())?;
    let scenarios = Cmd::program(release_binary()).args(["test", "tests/scenarios"]);
    steps.command("scenarios", &scenarios)
}

fn page_in_browser(steps: &mut Steps) -> Result {
    // The wasm import check is part of building the page.
    steps.step("the page", page::build_if_stale)?;
    let with_page = build_release().arg("--features").arg("page");
    steps.command("the command, optimized, with the page in it", &with_page)?;
    steps.command("tierscope serve", &Cmd::new("cargo test --package tierscope --features page serve"))?;
    steps.step("browser tests", browser::test)
}

fn native_tests(steps: &mut Steps) -> Result {
    let in_ci = std::env::var_os("CI").is_some();
    let tests = |line: &str| {
        let command = Cmd::new(line).args(FEATURES);
        if in_ci { command.env("TIERSCOPE_REQUIRE", REQUIRED) } else { command }
    };
    if Cmd::new("cargo nextest --version").probe().is_some() {
        let profile = if in_ci { "ci" } else { "default" };
        let nextest = tests("cargo nextest run --workspace").arg("--profile").arg(profile);
        steps.command("native tests", &nextest)?;
    } else {
        println!("cargo-nextest is not installed: cargo test runs the same tests, more slowly");
        steps.command("native tests", &tests("cargo test --workspace --tests"))?;
    }
    let doctests =
        Cmd::new("cargo test --doc --workspace --exclude tierscope-page --exclude tierscope-worker --quiet");
    steps.command("doctests", &doctests)
}

fn clippy_wasm() -> Cmd {
    let pure = tidy::PURE.iter().map(|name| format!("tierscope-{name}"));
    let packages = pure.chain(["tierscope-page".to_owned(), "tierscope-worker".to_owned()]);
    packages.fold(Cmd::new("cargo clippy --target wasm32-unknown-unknown"), |command, package| {
        command.arg("--package").arg(package)
    })
}

fn licences(steps: &mut Steps) -> Result {
    if Cmd::new("cargo deny --version").probe().is_none() {
        println!("\n── licences: skipped, cargo-deny is not installed");
        return Ok(());
    }
    let deny = Cmd::new("cargo deny --config .config/deny.toml check licenses bans sources");
    steps.command("licences", &deny)
}
