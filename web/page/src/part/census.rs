//! Who waits for what, at the cursor.

use std::rc::Rc;

use tierscope_worker::protocol::Board;
use yew::prelude::*;

use super::picked::pick;
use crate::state::selection::Selection;
use crate::state::{format, moves, picked};

#[derive(Properties, PartialEq)]
pub(crate) struct CensusProps {
    pub(crate) board: Option<Rc<Board>>,
    pub(crate) selection: Option<Selection>,
    pub(crate) on_select: Callback<Option<Selection>>,
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
    // Where there is one worker alone, it owns them all.
    let several = board.workers.len() > 1
        || board.census.iter().any(|row| row.owner != "worker 0" && row.owner != "client");
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
                        if several {
                            <th scope="col">{ "Owner" }</th>
                        }
                        <th scope="col">{ "Wakes on" }</th>
                    </tr>
                </thead>
                <tbody>
                    for row in board.census.iter() {
                        <tr key={format!("{} {} {}", row.request, row.owner, row.phase)} class="census__row"
                            aria-current={(props.selection == Some(Selection::Request(row.request))).then_some("true")}
                            onclick={props.on_select.reform(choose(row.request))}>
                            <th scope="row">
                                <button type="button" class="pick" title="Why it waits, and its life"
                                    aria-label={format!("Request {}", row.request)}>{ row.request }</button>
                            </th>
                            <td>{ &row.phase }</td>
                            <td class="census__blocks">{ row.held_blocks }</td>
                            <td class="census__blocks">{ row.needed_blocks.saturating_sub(row.held_blocks) }</td>
                            if several {
                                <td>{ &row.owner }</td>
                            }
                            if let Some(wakeup) = &row.wakeup {
                                <td>
                                    { wakes(wakeup, row.transfer, &props.on_select) }
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

/// A click anywhere on a row.
fn choose(request: u32) -> impl Fn(MouseEvent) -> Option<Selection> {
    move |_| Some(Selection::Request(request))
}

/// What wakes it; a transfer is a thing of its own.
fn wakes(wakeup: &str, transfer: Option<f64>, on_select: &Callback<Option<Selection>>) -> Html {
    let Some(transfer) = transfer.map(picked::transfer) else { return html! { { wakeup } } };
    let name = picked::name(&transfer);
    match wakeup.split_once(&name) {
        // The click is the button's, not the row's.
        Some((before, after)) => html! {
            <>
                { before }
                <span onclick={|event: MouseEvent| event.stop_propagation()}>{ pick(on_select, transfer) }</span>
                { after }
            </>
        },
        None => html! { { wakeup } },
    }
}
