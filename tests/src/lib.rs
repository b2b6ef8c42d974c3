//! What the tests that cross crates share: the repository's scenarios, and how one is run.

use std::sync::Arc;

use tierscope_report::Report;
use tierscope_scenario::{Scenario, expand, parse_any};
use tierscope_sim::{Failure, Run, RunOptions, evaluate};

include!(concat!(env!("OUT_DIR"), "/scenarios.rs"));

/// Reads a scenario.
///
/// # Panics
///
/// With its problems, when it is not one.
pub fn scenario(text: &str) -> Scenario {
    parse_any(text).unwrap_or_else(|problems| {
        let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n"))
    })
}

/// Runs a scenario that needs no trace to its end.
///
/// # Panics
///
/// When the workload cannot be made or time overflows.
pub fn run(scenario: &Scenario, options: RunOptions) -> Run {
    let workload = expand(scenario, None).expect("a scenario of the repository expands");
    let mut run = Run::new(scenario, Arc::new(workload), options);
    run.finish().expect("time does not overflow");
    run
}

/// The report of a scenario, and the expectations that it fails.
pub fn report(text: &str) -> (Report, Vec<Failure>) {
    let scenario = scenario(text);
    let run = run(&scenario, RunOptions::default());
    let report = run.report();
    let failures = evaluate(&scenario.expect, &report, &run.folds().summary());
    (report, failures)
}

/// The seed and the number of fresh cases for `test`. Each run draws others, so the seed comes from the clock, and is
/// printed with the way to repeat it: `TIERSCOPE_SEED` and `TIERSCOPE_CASES` set them.
#[cfg(not(target_arch = "wasm32"))]
pub fn fresh_cases(test: &str, standard: u64) -> (u64, u64) {
    use std::time::SystemTime;
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse::<u64>().ok());
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is past 1970");
    let seed = number("TIERSCOPE_SEED").unwrap_or(now.as_secs() % 1_000_000);
    println!(
        "seed {seed}: TIERSCOPE_SEED={seed} cargo nextest run -p tierscope-tests --test {test} repeats it"
    );
    (seed, number("TIERSCOPE_CASES").unwrap_or(standard))
}
