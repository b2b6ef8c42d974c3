//! What is on its way between tiers at the cursor, in words.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, CopyView};
use yew::prelude::*;

use super::picked::pick;
use crate::state::selection::Selection;
use crate::state::{between, format, moves, picked};

#[derive(Properties, PartialEq)]
pub(crate) struct MovesProps {
    pub(crate) board: Option<Rc<Board>>,
    pub(crate) end_ns: f64,
    pub(crate) on_select: Callback<Option<Selection>>,
}

#[component]
pub(crate) fn Moves(props: &MovesProps) -> Html {
    let Some(board) = &props.board else { return html!() };
    html! {
        <>
            if board.workers.len() > 1 {
                { between_workers(board, props.end_ns) }
            }
            if !board.tiers.is_empty() {
                { between_tiers(board, props.end_ns, &props.on_select) }
            }
        </>
    }
}

/// Handoffs whose blocks are under way, and what happened last.
fn between_workers(board: &Board, end_ns: f64) -> Html {
    html! {
        <div class="moves" id="between">
            <h3>{ "Between workers" }</h3>
            <ol class="moves__list" id="handoffs" aria-label="Handoffs under way">
                for handoff in board.handoffs.iter() {
                    <li key={handoff.handoff.to_string()}>
                        <b>{ format!("worker {} → worker {}", handoff.source, handoff.destination) }</b>
                        { format!(" {}", between::headline(handoff, end_ns)) }
                    </li>
                }
            </ol>
            if board.news.is_empty() {
                <p class="empty">{ "Nothing has happened yet." }</p>
            } else {
                <ol class="moves__list moves__news" id="news" aria-label="What happened, the newest first">
                    for news in board.news.iter() {
                        <li>
                            <span class="moves__when">{ format::clock(news.at_ns, end_ns) }</span>
                            { between::sentence(&news.what) }
                        </li>
                    }
                </ol>
            }
        </div>
    }
}

fn between_tiers(board: &Board, end_ns: f64, on_select: &Callback<Option<Selection>>) -> Html {
    let more = (board.copies_total as usize).saturating_sub(board.copies.len());
    html! {
        <div class="moves" id="moves">
            <h3>{ "On the way between tiers" }</h3>
            if board.copies.is_empty() {
                <p class="empty">{ "Nothing moves." }</p>
            } else {
                <ol class="moves__list">
                    { for board.copies.iter().map(|copy| one(board, copy, end_ns, on_select)) }
                </ol>
            }
            if more > 0 {
                <p class="empty">{ format!("and {} more", format::count(more as u64)) }</p>
            }
        </div>
    }
}

fn one(board: &Board, copy: &CopyView, end_ns: f64, on_select: &Callback<Option<Selection>>) -> Html {
    let number = format::count(copy.transfer as u64);
    html! {
        <li key={copy.transfer.to_string()} data-transfer={number.clone()}>
            <details>
                <summary>
                    <b>{ moves::lane(copy.from, copy.to) }</b>
                    { format!(" {}", moves::headline(copy, board.at_ns, end_ns)) }
                    <span class="moves__why">{ format!("{} · copy {number}", moves::cause_word(copy.cause)) }</span>
                </summary>
                <p>{ moves::story(copy, end_ns) }{ " " }{ pick(on_select, picked::transfer(copy.transfer)) }</p>
            </details>
        </li>
    }
}
