//! A worker: what it does, its queues, its G1, its lanes, and what comes and goes.

use tierscope_worker::protocol::WorkerTold;
use yew::prelude::*;

use super::{View, facts};
use crate::part::legend::{self, Words};
use crate::state::format::count;
use crate::state::selection::Selection;
use crate::state::{between, moves, workers};

pub(super) fn worker(told: &WorkerTold, view: &View<'_>) -> Html {
    let busy: Vec<String> = told
        .lanes
        .iter()
        .filter(|lane| lane.queued + lane.starting + lane.in_flight + lane.settling > 0)
        .map(|lane| {
            format!("{}: {} queued, {} moving", moves::lane(lane.from, lane.to), lane.queued, lane.in_flight)
        })
        .collect();
    let capacity = told.totals.capacity();
    html! {
        <>
            <p class="picked__first" id="picked-reason">{ workers::sentence(told.view, told.running_max) }</p>
            { facts(vec![
                ("G1", html! { { format!("{} blocks: {}", count(capacity.into()), legend::in_words(Words::G1, told.totals)) } }),
                ("Prefix index", html! { { format!("{} blocks can be matched", count(told.indexed.into())) } }),
                ("Lanes", html! { { if busy.is_empty() { "nothing moves".to_owned() } else { busy.join("; ") } } }),
            ]) }
            { queue("In its batch", "picked-running", &told.running, told.view.running, view) }
            { queue("In its line, the next first", "picked-waiting", &told.waiting, told.view.waiting, view) }
            if !told.handoffs.is_empty() {
                <h3>{ "Handoffs under way" }</h3>
                <ul>
                    for handoff in told.handoffs.iter() {
                        <li>
                            { view.names([Selection::Worker(handoff.source)]) }{ "→ " }
                            { view.names([Selection::Worker(handoff.destination)]) }
                            { between::headline(handoff, view.end_ns) }
                        </li>
                    }
                </ul>
            }
        </>
    }
}

fn queue(title: &'static str, id: &'static str, shown: &[u32], total: u32, view: &View<'_>) -> Html {
    let more = total.saturating_sub(shown.len() as u32);
    html! {
        <>
            <h3>{ format!("{title} ({})", count(total.into())) }</h3>
            <p class="picked__names" {id}>
                { view.names(shown.iter().map(|&request| Selection::Request(request))) }
                if shown.is_empty() {
                    <span class="empty">{ "nobody" }</span>
                }
                if more > 0 {
                    { format!("and {} more", count(more.into())) }
                }
            </p>
        </>
    }
}
