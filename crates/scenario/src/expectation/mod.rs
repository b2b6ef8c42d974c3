//! What a run must show, as the `[expect]` table says it.
//!
//! ```text
//! outcome = "finished" | "dead_end"
//! report  = [ "PATH OP VALUE", … ]     PATH  keys of the report joined by dots: hit_ratio.first_admission.g1
//!                                      OP    == != < <= > >=
//!                                      VALUE a number, or text with or without quotation marks
//! facts   = [ FACT, … ]                FACT  "no EVENT" | "at least N EVENT" | "at most N EVENT" | "exactly N EVENT"
//!                                            "request N finishes before|after request M"
//!                                            "request N starts before|after request M"
//!                                            "request N is [not] preempted|rejected|cancelled|finished"
//!                                      EVENT preemption(s) | rejection(s) | cancellation(s) | completion(s) | removal(s)
//! ```
//!
//! Each expectation keeps its source text and its line, for the message when it fails.

use std::fmt;

use tierscope_units::RequestId;

pub(crate) mod read;

/// One expectation.
#[derive(Clone, Debug, PartialEq)]
pub enum Expectation {
    /// How the run ends.
    Outcome {
        /// The end.
        kind: OutcomeKind,
        /// As written.
        source: String,
        /// Where, from 1.
        line: u32,
    },
    /// A value of the report.
    Report {
        /// Keys joined by dots.
        path: String,
        /// The comparison.
        op: CmpOp,
        /// The right-hand side.
        value: ReportValue,
        /// As written.
        source: String,
        /// Where, from 1.
        line: u32,
    },
    /// Something about the facts.
    Fact {
        /// What.
        fact: FactExpectation,
        /// As written.
        source: String,
        /// Where, from 1.
        line: u32,
    },
}

impl Expectation {
    /// The text as written.
    pub fn source(&self) -> &str {
        match self {
            Self::Outcome { source, .. } | Self::Report { source, .. } | Self::Fact { source, .. } => source,
        }
    }

    /// The line it stands in, from 1.
    pub fn line(&self) -> u32 {
        match self {
            Self::Outcome { line, .. } | Self::Report { line, .. } | Self::Fact { line, .. } => *line,
        }
    }
}

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeKind {
    /// No request is left unfinished.
    Finished,
    /// Requests are left and nothing can happen (rule R3).
    DeadEnd,
}

impl OutcomeKind {
    /// The word in scenarios and reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::DeadEnd => "dead_end",
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CmpOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CmpOp {
    /// Whether the comparison holds. Nothing compares with NaN, save that it differs.
    pub fn holds<T: PartialOrd + ?Sized>(self, left: &T, right: &T) -> bool {
        match self {
            Self::Eq => left == right,
            Self::Ne => left != right,
            Self::Lt => left < right,
            Self::Le => left <= right,
            Self::Gt => left > right,
            Self::Ge => left >= right,
        }
    }

    pub(crate) fn of(text: &str) -> Option<Self> {
        Some(match text {
            "==" => Self::Eq,
            "!=" => Self::Ne,
            "<" => Self::Lt,
            "<=" => Self::Le,
            ">" => Self::Gt,
            ">=" => Self::Ge,
            _ => return None,
        })
    }
}

impl fmt::Display for CmpOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        })
    }
}

/// The right-hand side of a report expectation.
#[derive(Clone, Debug, PartialEq)]
pub enum ReportValue {
    /// A finite number.
    Number(f64),
    /// Text, without quotation marks.
    Text(String),
}

/// Something about the facts of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactExpectation {
    /// How often something happens: `occurrences OP count`.
    Count {
        /// What is counted.
        event: Counted,
        /// The comparison.
        op: CmpOp,
        /// The bound.
        count: u64,
    },
    /// Two requests pass the same milestone in this order. False when one never does.
    Order {
        /// The first named.
        request: RequestId,
        /// What both do.
        milestone: Milestone,
        /// Whether the first named does it earlier, else later; at the same instant, the order of the facts counts.
        before: bool,
        /// The other.
        other: RequestId,
    },
    /// Something happens to a request at least once, or never.
    State {
        /// Whom.
        request: RequestId,
        /// What.
        state: RequestState,
        /// False for "is not".
        holds: bool,
    },
}

/// What can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// `Fact::Preempted`.
    Preemptions,
    /// `Fact::Rejected`.
    Rejections,
    /// `Fact::Cancelled`.
    Cancellations,
    /// `Fact::Finished`.
    Completions,
    /// Blocks of `Fact::Removed`.
    Removals,
}

/// What requests pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Milestone {
    /// First admission to the running batch.
    Starts,
    /// `Fact::Finished`.
    Finishes,
}

/// What can happen to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestState {
    /// Preempted at least once.
    Preempted,
    /// Refused at arrival.
    Rejected,
    /// Cancelled.
    Cancelled,
    /// Done.
    Finished,
}

impl FactExpectation {
    /// The highest request number it names.
    pub(crate) fn highest_request(&self) -> Option<RequestId> {
        match *self {
            Self::Count { .. } => None,
            Self::Order { request, other, .. } => Some(request.max(other)),
            Self::State { request, .. } => Some(request),
        }
    }
}
