//! A request: why it waits, its numbers, its transactions and copies, its life.

use tierscope_worker::protocol::{RequestTold, Transaction};
use yew::prelude::*;

use super::{View, facts};
use crate::state::format::{clock, count, counted, time};
use crate::state::picked::{first_line, life, transfer};
use crate::state::selection::Selection;
use crate::state::{inspector, moves, sentence};

pub(super) fn request(told: &RequestTold, view: &View<'_>) -> Html {
    html! {
        <>
            <p class="picked__first" id="picked-reason">{ view.sentence(&first_line(told, view.at_ns, view.end_ns)) }</p>
            { behind(told, view) }
            { numbers(told, view) }
            { transactions(told, view) }
            { copies(told, view) }
            { lives(told, view) }
        </>
    }
}

/// What lies behind the first line: the refused transaction, the copy.
fn behind(told: &RequestTold, view: &View<'_>) -> Html {
    let Some(why) = &told.why else { return html!() };
    let refused = why.refused.as_ref().or(why.head_refused.as_ref()).cloned();
    let copy = why.until.map(|(number, _)| transfer(number));
    if refused.is_none() && copy.is_none() {
        return html!();
    }
    html! {
        <p class="picked__behind">
            if let Some(refused) = refused {
                { to_transaction(&refused, view, "picked-txn", &format!("Show the transaction of request {}", refused.request)) }
            }
            if let Some(copy) = copy {
                <button type="button" class="button button--small" id="picked-copy"
                    onclick={view.hands.on_select.reform(move |_: MouseEvent| Some(copy.clone()))}>{ "Show the transfer" }</button>
            }
        </p>
    }
}

fn to_transaction(transaction: &Transaction, view: &View<'_>, id: &'static str, words: &str) -> Html {
    let wanted = transaction.clone();
    let onclick = view.hands.on_txn.reform(move |_: MouseEvent| wanted.clone());
    html! { <button type="button" class="button button--small" {id} {onclick}>{ words.to_owned() }</button> }
}

fn numbers(told: &RequestTold, view: &View<'_>) -> Html {
    let mut lines = vec![
        ("Prompt", html! { { counted(told.prompt_tokens, "token", "tokens") } }),
        (
            "Answer",
            html! { { format!("{} of {}", made(told), counted(told.output_tokens, "token", "tokens")) } },
        ),
    ];
    if let Some(cached) = told.cached_tokens {
        lines.push(("Found cached", html! { { counted(cached, "token", "tokens") } }));
    }
    if let (Some(arrived), Some(first)) = (told.arrived_ns, told.first_token_ns) {
        lines.push(("TTFT", html! { { time(first - arrived) } }));
    }
    for row in &told.rows {
        let blocks =
            format!("{} held of {} needed", count(row.held_blocks.into()), count(row.needed_blocks.into()));
        lines.push(("Blocks", html! { { blocks } }));
        lines.push(("Owner", owner(&row.owner, view)));
        if let Some(wakeup) = &row.wakeup {
            lines.push(("Wakes on", html! { { wakeup.clone() } }));
        }
    }
    if told.preemptions > 0 {
        lines.push(("Preempted", html! { { counted(told.preemptions, "time", "times") } }));
    }
    facts(lines)
}

/// Tokens of the answer that are made at the time: all of them once it is done.
fn made(told: &RequestTold) -> String {
    let done =
        told.spans.last().is_some_and(|span| span.until_ns == Some(span.from_ns)) && told.rows.is_empty();
    match told.made_tokens {
        Some(made) => count(made.into()),
        None if done => count(told.output_tokens.into()),
        None => "0".to_owned(),
    }
}

/// `worker 3` is a thing; the router and the client are not.
fn owner(owner: &str, view: &View<'_>) -> Html {
    match owner.strip_prefix("worker ").and_then(|number| number.parse().ok()) {
        Some(number) => view.names([Selection::Worker(number)]),
        None => html! { { owner.to_owned() } },
    }
}

fn transactions(told: &RequestTold, view: &View<'_>) -> Html {
    if told.transactions.is_empty() {
        return html!();
    }
    let more = told.transactions_total.saturating_sub(told.transactions.len() as u32);
    let one = |transaction: &Transaction| {
        let words = format!(
            "{}: {}",
            sentence::caller(transaction.caller),
            inspector::outcome_name(transaction.outcome)
        );
        let wanted = transaction.clone();
        html! {
            <li>
                <button type="button" class="picked__time" title="Show this transaction"
                    onclick={view.hands.on_txn.reform(move |_: MouseEvent| wanted.clone())}>
                    { clock(transaction.at_ns, view.end_ns) }
                </button>
                <span>{ words }</span>
            </li>
        }
    };
    html! {
        <details class="picked__more">
            <summary>{ format!("Transactions until now ({})", count(told.transactions_total.into())) }</summary>
            <ol class="picked__list">{ for told.transactions.iter().map(one) }</ol>
            if more > 0 {
                <p class="empty">{ format!("and {} before", count(more.into())) }</p>
            }
        </details>
    }
}

fn copies(told: &RequestTold, view: &View<'_>) -> Html {
    if told.copies.is_empty() {
        return html!();
    }
    html! {
        <details class="picked__more" open={true}>
            <summary>{ format!("Transfers for it or awaited by it ({})", told.copies.len()) }</summary>
            <ol class="picked__list">
                for copy in told.copies.iter() {
                    <li>
                        { view.time(copy.started_ns.unwrap_or(copy.queued_ns)) }
                        <span>
                            { view.names([transfer(copy.transfer)]) }
                            { format!("{}, {}", moves::lane(copy.from, copy.to), counted(copy.blocks, "block", "blocks")) }
                        </span>
                    </li>
                }
            </ol>
        </details>
    }
}

fn lives(told: &RequestTold, view: &View<'_>) -> Html {
    if told.spans.is_empty() {
        return html!();
    }
    // The part of the life that the cursor stands in.
    let now = told.spans.iter().rposition(|span| span.from_ns <= view.at_ns);
    html! {
        <>
            <h3>{ "Its life" }</h3>
            <ol class="picked__list" id="picked-life">
                for (place, span) in told.spans.iter().enumerate() {
                    <li aria-current={(Some(place) == now).then_some("true")}>
                        { view.time(span.from_ns) }
                        <span>{ view.sentence(&life(span, view.end_ns)) }</span>
                    </li>
                }
            </ol>
            if told.spans_more > 0 {
                <p class="empty">{ format!("and {} more", count(told.spans_more.into())) }</p>
            }
        </>
    }
}
