//! From a point to its row: the scenario with the knobs turned, and what came of it.

use std::sync::Arc;

use tierscope_scenario::{Scenario, Workload};
use tierscope_sim::{Progress, Run, RunOptions, RunState};

use crate::cache::CacheModel;
use crate::plan::{Mode, Plan};
use crate::row::{Measured, Outcome, Row, State};

/// Instants between two questions whether to go on.
const SLICE_INSTANTS: u32 = 8_192;

/// What to run for a point.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The scenario with the knobs turned.
    pub scenario: Scenario,
    index: u64,
}

/// The scenario of a point.
///
/// # Errors
/// The first problem of the scenario that the knobs make, for [`refused`].
pub fn attempt(plan: &Plan, index: u64) -> Result<Attempt, String> {
    let point = plan.point(index);
    let mut text = plan.text.clone();
    let knobs = plan.knobs.iter().zip(&point.values).map(|(knob, value)| format!("{}={value}", knob.key));
    let seed = point.seed.map(|seed| format!("seed={seed}"));
    for assignment in knobs.chain(seed) {
        text = tierscope_scenario::set(&text, &assignment).map_err(|problem| line(&problem.to_string()))?;
    }
    let scenario = tierscope_scenario::parse_any(&text).map_err(|problems| {
        problems.first().map_or_else(String::new, |problem| line(&problem.to_string()))
    })?;
    Ok(Attempt { scenario, index })
}

/// A problem on one line, without its place in a text that nobody sees.
fn line(problem: &str) -> String {
    let parts = problem.lines().map(str::trim).filter(|part| !part.starts_with("-->"));
    let joined = parts.collect::<Vec<_>>().join("; ");
    joined.strip_prefix("error: ").map(str::to_owned).unwrap_or(joined)
}

/// The row of a point that was not run, and why.
pub fn refused(plan: &Plan, index: u64, state: State, detail: &str) -> Row {
    Row::of(plan, index, &Outcome::None { state, detail: line(detail) })
}

impl Attempt {
    /// Runs it to its end; `None` when `go_on` said no.
    pub fn run(
        &self,
        plan: &Plan,
        workload: &Arc<Workload>,
        cache: &CacheModel,
        mut go_on: impl FnMut(Progress) -> bool,
    ) -> Option<Row> {
        let scenario = &self.scenario;
        if plan.mode == Mode::CacheOnly {
            return Some(Row::of(plan, self.index, &Outcome::Cache { scenario, cache }));
        }
        let mut run = Run::new(scenario, workload.clone(), RunOptions::default());
        loop {
            match run.advance(SLICE_INSTANTS, |_| {}) {
                Ok(RunState::Running) => {}
                Ok(_) => break,
                Err(error) => return Some(refused(plan, self.index, State::Failed, &error.to_string())),
            }
            if !go_on(run.progress()) {
                return None;
            }
        }
        let report = run.report();
        let measured = Measured { scenario, report: &report, cache };
        Some(Row::of(plan, self.index, &Outcome::Run(measured)))
    }
}
