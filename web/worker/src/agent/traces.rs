//! The trace that this worker keeps, and the one that is coming.

use tierscope_scenario::trace::{self, TraceFile, TraceOptions};
use tierscope_scenario::{Problem, Scenario, Workload, expand};

use super::coming::{Coming, base, of_file};
use super::problem_view;
use crate::protocol::{TRACE_FILE_BYTES, TRACE_REQUESTS, TraceSaid};

/// At most one file is kept: the tab's memory is not without end.
#[derive(Default)]
pub(super) struct Traces {
    kept: Option<Kept>,
    coming: Option<Coming>,
}

struct Kept {
    number: u32,
    name: String,
    bytes: Vec<u8>,
}

impl Traces {
    /// Whether the scenario's trace is on its way.
    pub(super) fn awaits(&self, scenario: &Scenario) -> bool {
        let wanted = scenario.trace_path().map(base);
        wanted.is_some() && wanted == self.coming.as_ref().map(|coming| coming.name.as_str())
    }

    /// The requests of a scenario, from its trace if it has one.
    pub(super) fn expand(&self, scenario: &Scenario) -> Result<Workload, Vec<Problem>> {
        let Some(path) = scenario.trace_path() else { return expand(scenario, None) };
        let Some(kept) = self.kept.as_ref().filter(|kept| kept.name == base(path)) else {
            return Err(vec![missing(path)]);
        };
        expand(scenario, Some(&kept.bytes)).map_err(|problems| problems.into_iter().map(at_file).collect())
    }

    /// What is kept for a path.
    pub(super) fn bytes(&self, path: &str) -> Option<&[u8]> {
        self.kept.as_ref().filter(|kept| kept.name == base(path)).map(|kept| &*kept.bytes)
    }

    pub(super) fn begin(&mut self, number: u32, name: &str, bytes: f64) -> TraceSaid {
        *self = Self::default();
        match Coming::begin(number, name, bytes) {
            Ok(coming) => {
                self.coming = Some(coming);
                TraceSaid::Heard { bytes: 0.0 }
            }
            Err(problem) => TraceSaid::Refused { problems: vec![problem_view(&problem)] },
        }
    }

    pub(super) fn slice(&mut self, number: u32, slice: &[u8]) -> Option<TraceSaid> {
        let coming = self.coming.as_mut().filter(|coming| coming.number == number)?;
        Some(TraceSaid::Heard { bytes: coming.take(slice) })
    }

    pub(super) fn end(&mut self, number: u32) -> Option<TraceSaid> {
        let coming = self.coming.take_if(|coming| coming.number == number)?;
        Some(match keep(number, coming.name, coming.bytes) {
            Ok((kept, said)) => {
                self.kept = Some(kept);
                said
            }
            Err(problems) => TraceSaid::Refused { problems: problems.iter().map(problem_view).collect() },
        })
    }

    /// Forgets one, on its way or kept.
    pub(super) fn forget(&mut self, number: u32) {
        self.coming.take_if(|coming| coming.number == number);
        self.kept.take_if(|kept| kept.number == number);
    }
}

/// Unpacks and reads a file once, so that its faults are known before anybody runs it.
fn keep(number: u32, name: String, bytes: Vec<u8>) -> Result<(Kept, TraceSaid), Vec<Problem>> {
    let bytes = trace::unpacked(bytes, TRACE_FILE_BYTES)?;
    let Some(format) = trace::detect(&bytes, &name) else {
        return Err(vec![of_file(
            "a file of no known format".to_owned(),
            "a trace in one of the eight formats".to_owned(),
            "docs/SCENARIOS.md lists the formats that are read",
        )]);
    };
    let block_tokens = trace::block_tokens(&bytes, format).or(format.block_tokens());
    let options = TraceOptions { rows: TRACE_REQUESTS as usize + 1, ..TraceOptions::default() };
    let workload = trace::read(format, &[TraceFile { name: &name, bytes: &bytes }], &options)?;
    let requests = workload.requests.len();
    if requests > TRACE_REQUESTS as usize {
        return Err(vec![of_file(
            format!("more than {TRACE_REQUESTS} requests"),
            "fewer, in a tab".to_owned(),
            "cut the file, or run it with the command",
        )]);
    }
    let said = TraceSaid::Kept { format: format.word().to_owned(), requests: requests as u32, block_tokens };
    Ok((Kept { number, name, bytes }, said))
}

fn missing(path: &str) -> Problem {
    Problem {
        key: "workload.file".to_owned(),
        ..of_file(
            format!("no file {}", base(path)),
            "the trace that the scenario names".to_owned(),
            "drop the file anywhere on this page",
        )
    }
}

/// A fault of the trace under the scenario's text: its line is one of the file, and is said in words.
fn at_file(problem: Problem) -> Problem {
    let Some(file) = &problem.file else { return problem };
    let found = format!("{} in line {} of {file}", problem.found, problem.line);
    Problem { file: None, line: 1, column: 1, key: "workload.file".to_owned(), found, ..problem }
}
