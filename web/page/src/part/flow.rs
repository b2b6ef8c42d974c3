//! The three steps of a transaction as boxes with numbers, joined by arrows.

use tierscope_worker::protocol::{Transaction, TxnDetail, TxnOutcome};
use yew::prelude::*;

use crate::state::format::count;

/// A name and its value.
type Line = (&'static str, String);

/// A box.
struct Step {
    name: &'static str,
    /// How it is drawn: done, failed, waiting.
    class: &'static str,
    lines: Vec<Line>,
}

/// Prepare → reserve → commit or abort.
pub(crate) fn flow(transaction: &Transaction) -> Html {
    html! {
        <ol class="flow" aria-label="Steps, in blocks">
            for (place, step) in steps(transaction).into_iter().enumerate() {
                <li class={format!("flow__step flow__step--{}", step.class)}>
                    <h3><span aria-hidden="true">{ format!("{} ", place + 1) }</span>{ step.name }</h3>
                    <dl>
                        for (name, value) in step.lines {
                            <div>
                                <dt>{ name }</dt>
                                <dd data-flow={name.replace(' ', "-")}>{ value }</dd>
                            </div>
                        }
                    </dl>
                </li>
            }
        </ol>
    }
}

fn number(n: u32) -> String {
    count(n.into())
}

fn steps(transaction: &Transaction) -> [Step; 3] {
    let detail = transaction.detail.as_ref();
    match transaction.outcome {
        TxnOutcome::Ready { active_hits, cached_hits, missing, victims } => {
            ready(detail, [active_hits, cached_hits, missing, victims])
        }
        TxnOutcome::Exhausted { needed, obtainable } => exhausted(detail, needed, obtainable),
        TxnOutcome::Blocked { needed } => blocked(detail, needed),
    }
}

fn ready(detail: Option<&TxnDetail>, [active, cached, missing, victims]: [u32; 4]) -> [Step; 3] {
    let stored = detail.map_or("…".to_owned(), |detail| number(detail.stored));
    [
        Step {
            name: "Prepare",
            class: "done",
            lines: vec![
                ("wanted", number(active + cached + missing)),
                ("active hits", number(active)),
                ("cached hits", number(cached)),
                ("missing", number(missing)),
            ],
        },
        Step {
            name: "Reserve",
            class: "done",
            lines: vec![("from free", number(missing - victims.min(missing))), ("victims", number(victims))],
        },
        Step {
            name: "Commit",
            class: "done",
            lines: vec![("slots taken", number(missing)), ("stored", stored)],
        },
    ]
}

/// What prepare found is not kept for those that fail: only the sum.
fn wanted(needed: u32) -> Step {
    Step { name: "Prepare", class: "done", lines: vec![("needed", number(needed))] }
}

fn exhausted(detail: Option<&TxnDetail>, needed: u32, obtainable: u32) -> [Step; 3] {
    let mut room = vec![("obtainable", number(obtainable))];
    if let Some(split) = detail.and_then(|detail| detail.room) {
        room.extend([("free", number(split.free)), ("cached", number(split.cached))]);
    }
    let mut end = vec![("slots taken", number(0))];
    if let Some(gave_way) = detail.and_then(|detail| detail.preempted) {
        end.extend([
            ("preempted", format!("req {}", gave_way.request)),
            ("given back", number(gave_way.released)),
        ]);
    }
    [
        wanted(needed),
        Step { name: "Reserve", class: "failed", lines: room },
        Step { name: "Abort", class: "failed", lines: end },
    ]
}

fn blocked(detail: Option<&TxnDetail>, needed: u32) -> [Step; 3] {
    let mut room = Vec::new();
    if let Some(detail) = detail {
        if let Some(split) = detail.room {
            room.extend([("free", number(split.free)), ("cached", number(split.cached))]);
        }
        room.push(("source hold", number(detail.held.len() as u32)));
    }
    let mut end = vec![("slots taken", number(0))];
    if let Some(transfer) = detail.and_then(|detail| detail.transfer.as_ref()) {
        end.push(("waits for", format!("copy {}", transfer.transfer)));
    }
    [
        wanted(needed),
        Step { name: "Reserve", class: "waiting", lines: room },
        Step { name: "Wait", class: "waiting", lines: end },
    ]
}
