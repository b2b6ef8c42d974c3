//! Whether a run shows what its scenario expects. The grammar is documented in `tierscope_scenario`.

use tierscope_report::{FactSummary, Report, RequestFate, RequestSummary};
use tierscope_scenario::expectation::{
    CmpOp, Counted, Expectation, FactExpectation, Milestone, ReportValue, RequestState,
};
use tierscope_units::RequestId;

/// An expectation that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The expectation as written.
    pub expected: String,
    /// The line it stands in, from 1.
    pub line: u32,
    /// What the run shows instead.
    pub found: String,
}

/// The expectations that do not hold, in the order in which they are written.
pub fn evaluate(expect: &[Expectation], report: &Report, facts: &FactSummary) -> Vec<Failure> {
    let found = |expectation: &Expectation| match expectation {
        Expectation::Outcome { kind, .. } => {
            let found = report.outcome.as_str();
            (found != kind.word()).then(|| format!("outcome {found}"))
        }
        Expectation::Report { path, op, value, .. } => check_report(report, path, *op, value),
        Expectation::Fact { fact, .. } => check_fact(*fact, report, facts),
    };
    let failure = |expectation: &Expectation| {
        let found = found(expectation)?;
        Some(Failure { expected: expectation.source().to_owned(), line: expectation.line(), found })
    };
    expect.iter().filter_map(failure).collect()
}

fn check_report(report: &Report, path: &str, op: CmpOp, value: &ReportValue) -> Option<String> {
    let Some(found) = report.value(path) else {
        return Some(format!("no such key of the report: {path} (see `tierscope run SCENARIO --json -`)"));
    };
    let holds = match value {
        ReportValue::Number(number) => found.as_f64().is_some_and(|found| op.holds(&found, number)),
        ReportValue::Text(text) => found.as_str().is_some_and(|found| op.holds(found, text.as_str())),
    };
    (!holds).then(|| format!("{path} is {found}"))
}

fn check_fact(fact: FactExpectation, report: &Report, facts: &FactSummary) -> Option<String> {
    match fact {
        FactExpectation::Count { event, op, count } => {
            let found = count_of(event, report);
            (!op.holds(&found, &count)).then(|| format!("{found} {}", name_of(event)))
        }
        FactExpectation::Order { request, milestone, before, other } => {
            check_order((request, other), milestone, before, facts)
        }
        FactExpectation::State { request, state, holds } => {
            let Some(found) = facts.request(request) else { return Some(no_such(request)) };
            (is(found, state) != holds).then(|| describe(request, found))
        }
    }
}

fn check_order(
    (request, other): (RequestId, RequestId),
    milestone: Milestone,
    before: bool,
    facts: &FactSummary,
) -> Option<String> {
    let place = |id: RequestId| match (facts.request(id), milestone) {
        (None, _) => Err(no_such(id)),
        (Some(found), Milestone::Starts) => found.start_order.ok_or(format!("request {id} never starts")),
        (Some(found), Milestone::Finishes) => {
            found.finish_order.ok_or(format!("request {id} never finishes"))
        }
    };
    match (place(request), place(other)) {
        (Err(found), _) | (_, Err(found)) => Some(found),
        (Ok(a), Ok(b)) if (a < b) == before => None,
        (Ok(a), Ok(b)) => {
            Some(format!("request {request} is number {a} and request {other} number {b} in that order"))
        }
    }
}

fn no_such(request: RequestId) -> String {
    format!("the run has no request {request}")
}

fn count_of(event: Counted, report: &Report) -> u64 {
    match event {
        Counted::Preemptions => report.preemptions,
        Counted::Rejections => report.requests.rejected,
        Counted::Cancellations => report.requests.cancelled,
        Counted::Completions => report.requests.completed,
        Counted::Removals => report.tiers.g1.removed,
    }
}

fn name_of(event: Counted) -> &'static str {
    match event {
        Counted::Preemptions => "preemptions",
        Counted::Rejections => "rejections",
        Counted::Cancellations => "cancellations",
        Counted::Completions => "completions",
        Counted::Removals => "removed blocks",
    }
}

fn is(found: RequestSummary, state: RequestState) -> bool {
    match state {
        RequestState::Preempted => found.preemptions > 0,
        RequestState::Rejected => found.fate == RequestFate::Rejected,
        RequestState::Cancelled => found.fate == RequestFate::Cancelled,
        RequestState::Finished => found.fate == RequestFate::Completed,
    }
}

fn describe(request: RequestId, found: RequestSummary) -> String {
    let fate = match found.fate {
        RequestFate::Expected => "has not arrived",
        RequestFate::Unfinished => "is unfinished",
        RequestFate::Completed => "is finished",
        RequestFate::Rejected => "is rejected",
        RequestFate::Cancelled => "is cancelled",
    };
    format!("request {request} {fate} after {} preemptions", found.preemptions)
}
