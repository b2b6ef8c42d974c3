//! `[[worker]]`: workers that come and go. What cannot be is refused here, where it can be known.

use tierscope_engine::{WORKERS_MAX, WorkerChange};
use tierscope_units::{Idx, Span, WorkerId};

use super::Workers;
use crate::decode::fields::Fields;
use crate::fleet::Change;
use crate::limit;

/// The changes in the order of their times; those of one time in the order in which they are written.
pub(super) fn decode(root: &Fields<'_>, workers: &Workers) -> Vec<Change> {
    let Some(items) = root.items("worker") else { return Vec::new() };
    if let (true, Some(entry)) = (items.len() > limit::WORKER_CHANGES, root.entry("worker")) {
        root.refuse(entry, format!("at most {} changes", limit::WORKER_CHANGES), "write fewer of them");
        return Vec::new();
    }
    let mut list = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let path = format!("{}[{index}]", root.key("worker"));
        let Some(one) = Fields::open(item, &path, root.problems) else { continue };
        let change = change(&one, workers);
        one.close();
        let at = item.at;
        list.extend(change.map(|change| Written { change, at, path }));
    }
    list.sort_by_key(|written| written.change.at);
    walk(root, workers, &list);
    list.into_iter().map(|written| written.change).collect()
}

/// A change and where it stands.
struct Written {
    change: Change,
    at: usize,
    path: String,
}

fn change(fields: &Fields<'_>, workers: &Workers) -> Option<Change> {
    let rows = [
        ("at_ms", "when it happens", "add at_ms = 1000"),
        ("worker", "the number of a worker", "add worker = 0"),
        ("change", "what becomes of the worker", "add change = \"lose\""),
    ];
    for (name, expected, mend) in rows {
        if !fields.has(name) {
            fields.missing(name, expected, mend);
        }
    }
    let words =
        [("start", WorkerChange::Start), ("drain", WorkerChange::Drain), ("lose", WorkerChange::Lose)];
    let at = fields.milliseconds("at_ms");
    let last = u64::from(workers.total().unwrap_or(WORKERS_MAX)) - 1;
    let worker = fields.count("worker", 0, last).map(|worker| WorkerId(worker as u16));
    let change = fields.word("change", &words);
    Some(Change { at: at?, worker: worker?, change: change? })
}

/// What is known of a worker without running.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Absent,
    There,
    /// It is there, and ready when this time has passed.
    StartedUntil(Span),
    /// It is there, or gone already.
    Draining,
    Lost,
}

fn walk(root: &Fields<'_>, workers: &Workers, list: &[Written]) {
    let Some(present) = workers.present() else { return };
    let mut states: Vec<State> =
        present.into_iter().map(|is_there| if is_there { State::There } else { State::Absent }).collect();
    for written in list {
        let change = written.change;
        let state = &mut states[change.worker.index()];
        match next(*state, change, workers.startup) {
            Ok(next) => *state = next,
            Err((expected, mend)) => {
                let found =
                    format!("{} of worker {}, {}", word(change.change), change.worker.0, told(*state));
                root.problems.report(written.at, &written.path, found, expected, mend);
            }
        }
    }
}

type Refusal = (&'static str, &'static str);

fn next(state: State, change: Change, startup: Span) -> Result<State, Refusal> {
    let is_gone = matches!(state, State::Absent | State::Lost);
    match change.change {
        WorkerChange::Start if is_gone || state == State::Draining => {
            // A start past the end of time is none.
            Ok(State::StartedUntil(change.at.checked_add(startup).unwrap_or(change.at)))
        }
        WorkerChange::Start => Err((
            "the start of a worker that is not there",
            "add it to workers.absent, lose or drain it before, or remove the start",
        )),
        WorkerChange::Lose if !is_gone => Ok(State::Lost),
        WorkerChange::Lose => {
            Err(("the loss of a worker that is there", "start it before, or remove the loss"))
        }
        WorkerChange::Drain => match state {
            State::There => Ok(State::Draining),
            State::StartedUntil(ready) if change.at > ready => Ok(State::Draining),
            State::StartedUntil(_) => Err((
                "the draining of a worker that is ready",
                "raise at_ms past its start and startup_ms, or write \"lose\"",
            )),
            _ => Err(("the draining of a worker that is there", "start it before, or remove the draining")),
        },
    }
}

fn word(change: WorkerChange) -> &'static str {
    match change {
        WorkerChange::Start => "the start",
        WorkerChange::Drain => "the draining",
        WorkerChange::Lose => "the loss",
    }
}

fn told(state: State) -> String {
    match state {
        State::Absent => "which is absent".into(),
        State::There => "which is there".into(),
        State::StartedUntil(ready) => format!("which is ready at {} ms", ready.as_ms_f64()),
        State::Draining => "which drains already".into(),
        State::Lost => "which is lost".into(),
    }
}
