//! The transaction at the cursor: prepare, reserve, then commit or abort, with the reason in plain words.

use std::rc::Rc;

use tierscope_worker::protocol::{
    CopyView, Found, OutcomeFilter, Transaction, TxnBlock, TxnDetail, TxnFilter, TxnOutcome, Way,
};
use web_sys::HtmlSelectElement;
use yew::prelude::*;

use super::flow::flow;
use super::kept::Kept;
use crate::state::{format, inspector, moves, sentence};

#[derive(Properties, PartialEq)]
pub(crate) struct InspectorProps {
    pub(crate) found: Option<Rc<Found>>,
    pub(crate) filter: TxnFilter,
    pub(crate) end_ns: f64,
    pub(crate) on_find: Callback<Way>,
    pub(crate) on_filter: Callback<TxnFilter>,
}

#[component]
pub(crate) fn Inspector(props: &InspectorProps) -> Html {
    let Some(found) = &props.found else {
        return html! {
            <p class="empty empty--room">{ "The transactions of a run appear when it has ended." }</p>
        };
    };
    html! {
        <div class="inspector" id="inspector">
            { steps(props, found) }
            { filters(props, found) }
            if let Some(transaction) = &found.transaction {
                { one(transaction, props.end_ns) }
            } else {
                <p class="empty" id="txn-none">{ nothing(found, props.filter) }</p>
            }
            if found.dropped > 0.0 {
                <p class="empty">{ format!("Only the newest {} are kept: the first {} of the run are not listed.",
                    format::count(u64::from(found.counts[0])), format::count(found.dropped as u64)) }</p>
            }
        </div>
    }
}

/// Why there is nothing to show.
fn nothing(found: &Found, filter: TxnFilter) -> &'static str {
    if found.counts[filter.outcome as usize] == 0 {
        "This run has no such transaction."
    } else {
        "No such transaction until the cursor; the next ones lie later."
    }
}

fn steps(props: &InspectorProps, found: &Found) -> Html {
    let find = |way: Way| props.on_find.reform(move |_: MouseEvent| way);
    let total = found.counts[props.filter.outcome as usize];
    let place = if found.place > 0 { format::count(found.place.into()) } else { "–".to_owned() };
    let first = if found.dropped > 0.0 { "The first that is kept" } else { "The first of the run" };
    html! {
        <div class="inspector__steps" role="group" aria-label="Transactions">
            <button type="button" id="txn-previous" class="button button--icon" disabled={found.place == 1 || total == 0}
                onclick={find(Way::Previous)} title="Previous transaction ([)" aria-label="Previous transaction">{ "‹" }</button>
            <button type="button" id="txn-next" class="button button--icon" disabled={found.place == total}
                onclick={find(Way::Next)} title="Next transaction (])" aria-label="Next transaction">{ "›" }</button>
            <output class="inspector__place" id="txn-place">{ format!("{place} of {}", format::count(total.into())) }</output>
            <button type="button" id="first-exhausted" class="button inspector__first"
                disabled={found.counts[OutcomeFilter::Exhausted as usize] == 0}
                onclick={find(Way::FirstExhausted)} title={format!("{first} that found too few blocks")}>{ "First exhausted" }</button>
        </div>
    }
}

fn filters(props: &InspectorProps, found: &Found) -> Html {
    let (filter, on_filter) = (props.filter, props.on_filter.clone());
    let onchange = Callback::from(move |event: Event| {
        let select: HtmlSelectElement = event.target_unchecked_into();
        let outcome = OutcomeFilter::ALL.into_iter().find(|outcome| filter_name(*outcome) == select.value());
        if let Some(outcome) = outcome {
            on_filter.emit(TxnFilter { outcome, ..filter });
        }
    });
    let on_filter = props.on_filter.clone();
    let on_request = Callback::from(move |typed: String| {
        on_filter.emit(TxnFilter { request: typed.trim().parse().ok(), ..filter });
    });
    html! {
        <div class="inspector__filters">
            <label>
                <span>{ "Outcome" }</span>
                <select id="txn-outcome" class="select" {onchange}>
                    for (outcome, count) in OutcomeFilter::ALL.into_iter().zip(found.counts) {
                        <option value={filter_name(outcome)} selected={outcome == filter.outcome}>
                            { format!("{} ({})", filter_name(outcome), format::count(count.into())) }
                        </option>
                    }
                </select>
            </label>
            <label>
                <span>{ "Request" }</span>
                <Kept id="txn-request" size="5" placeholder="all"
                    value={filter.request.map(|request| request.to_string()).unwrap_or_default()} on_change={on_request} />
            </label>
        </div>
    }
}

fn filter_name(outcome: OutcomeFilter) -> &'static str {
    match outcome {
        OutcomeFilter::All => "all",
        OutcomeFilter::Ready => "ready",
        OutcomeFilter::Exhausted => "exhausted",
        OutcomeFilter::Blocked => "blocked",
        OutcomeFilter::Retried => "retried",
    }
}

fn one(transaction: &Transaction, end_ns: f64) -> Html {
    let (mark, class) = match transaction.outcome {
        TxnOutcome::Ready { .. } => ("✓", "ready"),
        TxnOutcome::Exhausted { .. } => ("✕", "exhausted"),
        TxnOutcome::Blocked { .. } => ("‖", "blocked"),
    };
    html! {
        <>
            <div class="inspector__who">
                <strong>{ format!("Request {}", transaction.request) }</strong>
                <span id="txn-caller">{ sentence::caller(transaction.caller) }</span>
                <span class="inspector__when">
                    { format!("t = {} · txn {}", format::clock(transaction.at_ns, end_ns), format::count(transaction.txn as u64)) }
                </span>
            </div>
            { flow(transaction) }
            <div class={format!("verdict verdict--{class}")}>
                <strong id="txn-outcome-name">
                    <span aria-hidden="true">{ mark }{ " " }</span>
                    { inspector::outcome_name(transaction.outcome) }
                    if transaction.retried {
                        { ", after one retry" }
                    }
                </strong>
                <p id="txn-reason">{ sentence::reason(transaction, end_ns) }</p>
                if let Some(story) = story(transaction) {
                    <p id="txn-transfer">{ moves::story(story, end_ns) }</p>
                }
            </div>
            if let Some(detail) = &transaction.detail {
                { blocks(detail) }
            }
        </>
    }
}

/// The copy that it waits for.
fn story(transaction: &Transaction) -> Option<&CopyView> {
    transaction.detail.as_ref()?.transfer.as_ref()?.story.as_ref()
}

fn blocks(detail: &TxnDetail) -> Html {
    let lists = [
        ("H", "hit", &detail.hits),
        ("N", "taken", &detail.taken),
        ("V", "evicted", &detail.victims),
        ("S", "held as source", &detail.held),
    ];
    if lists.iter().all(|(_, _, blocks)| blocks.is_empty()) {
        return html!();
    }
    let row = |(letter, what, block): (&'static str, &'static str, &TxnBlock)| {
        html! {
            <tr>
                <td><b>{ letter }</b>{ format!(" {what}") }</td>
                <td>{ block.slot }</td>
                <td>
                    if let Some(hash) = &block.hash {
                        <code>{ hash }</code>
                    } else {
                        { "not full yet" }
                    }
                </td>
            </tr>
        }
    };
    let rows = lists.into_iter().flat_map(|(letter, what, blocks)| {
        blocks.iter().take(ROWS_SHOWN).map(move |block| (letter, what, block))
    });
    html! {
        <details class="inspector__blocks">
            <summary>{ "Slots and hashes" }</summary>
            <table class="table">
                <thead>
                    <tr><th scope="col">{ "Block" }</th><th scope="col">{ "Slot" }</th><th scope="col">{ "Hash" }</th></tr>
                </thead>
                <tbody>{ for rows.map(row) }</tbody>
            </table>
            if lists.iter().any(|(_, _, blocks)| blocks.len() > ROWS_SHOWN) {
                <p class="empty">{ format!("The first {ROWS_SHOWN} of each kind.") }</p>
            }
        </details>
    }
}

/// Blocks of each kind in the list.
const ROWS_SHOWN: usize = 64;
