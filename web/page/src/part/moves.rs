//! What is on its way between tiers at the cursor, in words.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, CopyView};
use yew::prelude::*;

use crate::state::{format, moves};

#[derive(Properties, PartialEq)]
pub(crate) struct MovesProps {
    pub(crate) board: Option<Rc<Board>>,
    pub(crate) end_ns: f64,
}

#[component]
pub(crate) fn Moves(props: &MovesProps) -> Html {
    let Some(board) = props.board.as_ref().filter(|board| !board.tiers.is_empty()) else { return html!() };
    let more = (board.copies_total as usize).saturating_sub(board.copies.len());
    html! {
        <div class="moves" id="moves">
            <h3>{ "On the way between tiers" }</h3>
            if board.copies.is_empty() {
                <p class="empty">{ "Nothing moves." }</p>
            } else {
                <ol class="moves__list">
                    { for board.copies.iter().map(|copy| one(board, copy, props.end_ns)) }
                </ol>
            }
            if more > 0 {
                <p class="empty">{ format!("and {} more", format::count(more as u64)) }</p>
            }
        </div>
    }
}

fn one(board: &Board, copy: &CopyView, end_ns: f64) -> Html {
    let number = format::count(copy.transfer as u64);
    html! {
        <li key={copy.transfer.to_string()} data-transfer={number.clone()}>
            <details>
                <summary>
                    <b>{ moves::lane(copy.from, copy.to) }</b>
                    { format!(" {}", moves::headline(copy, board.at_ns, end_ns)) }
                    <span class="moves__why">{ format!("{} · copy {number}", moves::cause_word(copy.cause)) }</span>
                </summary>
                <p>{ moves::story(copy, end_ns) }</p>
            </details>
        </li>
    }
}
