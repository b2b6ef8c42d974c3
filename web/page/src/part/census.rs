//! Who waits for what, at the cursor.

use std::rc::Rc;

use tierscope_worker::protocol::Board;
use yew::prelude::*;

use crate::state::{format, moves};

#[derive(Properties, PartialEq)]
pub(crate) struct CensusProps {
    pub(crate) board: Option<Rc<Board>>,
}

#[component]
pub(crate) fn Census(props: &CensusProps) -> Html {
    let Some(board) = &props.board else {
        return html! {
            <p class="empty">{ "Nothing runs yet." }</p>
        };
    };
    if board.census.is_empty() {
        return html! {
            <p class="empty">{ "Nobody waits: every request that has arrived is done." }</p>
        };
    }
    let more = board.census_total as usize - board.census.len().min(board.census_total as usize);
    html! {
        <>
            <table class="table census">
                <thead>
                    <tr>
                        <th scope="col">{ "Req" }</th>
                        <th scope="col">{ "Phase" }</th>
                        <th scope="col"><abbr title="Blocks that it holds">{ "Holds" }</abbr></th>
                        <th scope="col"><abbr title="Blocks that its known tokens need besides">{ "Lacks" }</abbr></th>
                        <th scope="col">{ "Owner" }</th>
                        <th scope="col">{ "Wakes on" }</th>
                    </tr>
                </thead>
                <tbody>
                    for row in board.census.iter() {
                        <tr key={format!("{} {}", row.request, row.owner)}>
                            <th scope="row">{ row.request }</th>
                            <td>{ &row.phase }</td>
                            <td class="census__blocks">{ row.held_blocks }</td>
                            <td class="census__blocks">{ row.needed_blocks.saturating_sub(row.held_blocks) }</td>
                            <td>{ &row.owner }</td>
                            if let Some(wakeup) = &row.wakeup {
                                <td>
                                    { wakeup }
                                    if let Some(copy) = row.transfer.and_then(|transfer| moves::awaited(board, transfer)) {
                                        <span class="census__copy">{ copy }</span>
                                    }
                                </td>
                            } else {
                                <td class="census__nothing">{ "nothing" }</td>
                            }
                        </tr>
                    }
                </tbody>
            </table>
            if more > 0 {
                <p class="empty">{ format!("and {} more", format::count(more as u64)) }</p>
            }
            if !board.wait_cycle.is_empty() {
                <div class="cycle" id="wait-cycle">
                    <h3>{ "They wait for each other" }</h3>
                    <ol>
                        for wait in board.wait_cycle.iter() {
                            <li>{ wait }</li>
                        }
                    </ol>
                </div>
            }
        </>
    }
}
