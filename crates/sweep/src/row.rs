//! Rows: what a point came to, in columns with units. The columns are a contract with scripts, like the keys of the
//! report: more may be added, none renamed without a note in the changelog. `docs/SWEEPS.md` has all of them.

use tierscope_report::Report;
use tierscope_scenario::Scenario;

use crate::cache::{CacheModel, INFINITE};
use crate::plan::{Mode, Plan};
use crate::sizing;

mod columns;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Whole numbers from 0.
    Whole,
    /// Numbers with a fraction.
    Real,
    /// Text.
    Text,
}

/// A column: its name, which carries the unit, and what it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The name; a knob's column is named after its key.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
}

/// One cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Not measured.
    None,
    /// A whole number.
    Whole(u64),
    /// A number with a fraction, finite.
    Real(f64),
    /// Text.
    Text(String),
}

/// How a point ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Every request ended.
    Finished,
    /// Requests are unfinished and nothing can happen any more (rule R3).
    DeadEnd,
    /// The knobs make no valid scenario.
    Refused,
    /// The run could not go on.
    Failed,
    /// An invariant is violated: a fault of the program.
    Broken,
}

impl State {
    /// The state as rows spell it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::DeadEnd => "dead_end",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Broken => "broken",
        }
    }
}

/// What came of a run, and what it is measured against.
pub(crate) struct Measured<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) report: &'a Report,
    pub(crate) cache: &'a CacheModel,
}

/// What there is to say about a point.
pub(crate) enum Outcome<'a> {
    /// It was not run, or did not end.
    None { state: State, detail: String },
    /// Hits by the order of requests alone.
    Cache { scenario: &'a Scenario, cache: &'a CacheModel },
    /// A whole run.
    Run(Measured<'a>),
}

/// What a point came to: a cell for each of [`columns`].
#[derive(Clone, Debug, PartialEq)]
pub struct Row(pub Vec<Value>);

/// Columns of every row before the knobs, between them and the measures, and how a knob's name is kept apart.
const POINT: &str = "point";
const HEAD: [(&str, Kind); 3] = [("seed", Kind::Whole), ("state", Kind::Text), ("detail", Kind::Text)];

/// The columns of a plan's rows: `point`, the knobs, `seed`, `state`, `detail`, and the measures of its mode.
pub fn columns(plan: &Plan) -> Vec<Column> {
    let fixed = |name: &str, kind| Column { name: name.to_owned(), kind };
    let mut columns = vec![fixed(POINT, Kind::Whole)];
    columns.extend(plan.knobs.iter().map(|knob| fixed(&knob.key, knob.kind)));
    // A knob may turn the seed itself; a column has one name.
    columns
        .extend(HEAD.iter().filter(|(name, _)| !has_knob(plan, name)).map(|&(name, kind)| fixed(name, kind)));
    match plan.mode {
        Mode::Run => columns.extend(columns::RUN.iter().map(|measure| fixed(measure.name, measure.kind))),
        Mode::CacheOnly => {
            columns.extend(columns::CACHE.iter().map(|measure| fixed(measure.name, measure.kind)))
        }
    }
    columns
}

fn has_knob(plan: &Plan, name: &str) -> bool {
    plan.knobs.iter().any(|knob| knob.key == name)
}

impl Kind {
    /// Numbers where all values are, else text.
    pub(crate) fn of_all<'a>(values: impl Iterator<Item = &'a str> + Clone) -> Self {
        let all = |fits: fn(&str) -> bool| values.clone().all(fits);
        if all(|value| whole(value).is_some()) {
            Self::Whole
        } else if all(|value| real(value).is_some()) {
            Self::Real
        } else {
            Self::Text
        }
    }
}

fn whole(text: &str) -> Option<u64> {
    text.replace('_', "").parse().ok()
}

fn real(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    text.replace('_', "").parse().ok().filter(|number: &f64| plain && number.is_finite())
}

/// Text as the scenario understands it: without its quotes.
fn text(value: &str) -> String {
    let bare = ['"', '\''].iter().find_map(|&mark| value.strip_prefix(mark)?.strip_suffix(mark));
    bare.unwrap_or(value).to_owned()
}

impl Row {
    pub(crate) fn of(plan: &Plan, index: u64, outcome: &Outcome<'_>) -> Self {
        let point = plan.point(index);
        let mut row = vec![Value::Whole(index)];
        for (knob, value) in plan.knobs.iter().zip(&point.values) {
            row.push(match knob.kind {
                Kind::Whole => whole(value).map_or(Value::None, Value::Whole),
                Kind::Real => real(value).map_or(Value::None, Value::Real),
                Kind::Text => Value::Text(text(value)),
            });
        }
        let (state, detail, seed) = head(outcome);
        let seed = point.seed.or(seed).map_or(Value::None, Value::Whole);
        let detail = if detail.is_empty() { Value::None } else { Value::Text(detail) };
        let head = [seed, Value::Text(state.word().to_owned()), detail];
        let wanted = HEAD.iter().zip(head).filter(|((name, _), _)| !has_knob(plan, name));
        row.extend(wanted.map(|(_, value)| value));
        match outcome {
            Outcome::None { .. } => row.resize(columns(plan).len(), Value::None),
            Outcome::Cache { scenario, cache } => {
                row.extend(columns::CACHE.iter().map(|measure| (measure.of)(scenario, cache)));
            }
            Outcome::Run(measured) => row.extend(columns::RUN.iter().map(|measure| (measure.of)(measured))),
        }
        Self(row)
    }

    /// The number of its point.
    pub fn point(&self) -> Option<u64> {
        match self.0.first() {
            Some(Value::Whole(point)) => Some(*point),
            _ => None,
        }
    }
}

fn head(outcome: &Outcome<'_>) -> (State, String, Option<u64>) {
    match outcome {
        Outcome::None { state, detail } => (*state, detail.clone(), None),
        Outcome::Cache { scenario, .. } => (State::Finished, String::new(), Some(scenario.seed)),
        Outcome::Run(Measured { scenario, report, .. }) => {
            let dead = report.outcome != tierscope_report::Outcome::Finished;
            let detail = if dead {
                format!("{} requests are unfinished", report.requests.unfinished)
            } else {
                String::new()
            };
            (if dead { State::DeadEnd } else { State::Finished }, detail, Some(scenario.seed))
        }
    }
}

/// Blocks of all tiers of a scenario, in blocks of the cache model.
pub(crate) fn capacity(scenario: &Scenario, cache: &CacheModel) -> u64 {
    let tokens = sizing::total_blocks(scenario) * u64::from(scenario.engine.block_size_tokens);
    tokens / u64::from(cache.block_tokens())
}

/// The shares of the cache model are what a report calls ratios.
fn ratio(hits: crate::cache::Hits) -> Value {
    Value::Real(hits.ratio())
}

fn infinite(hits: impl Fn(u64) -> crate::cache::Hits) -> Value {
    ratio(hits(INFINITE))
}
