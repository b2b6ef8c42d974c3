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
