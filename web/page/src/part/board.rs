//! The tiers as shelves of cells, and between them the lanes on which blocks move; or all of it as tables.

use std::rc::Rc;

use tierscope_worker::protocol::{Board as BoardView, SlotView, TierName};
use yew::prelude::*;

use super::board_table::BoardTable;
use super::lanes::{self, Moving};
use super::shelf::{Asked, Shelf};
use crate::chart::palette::Palette;
use crate::state::inspector::Mark;
use crate::state::selection::Selection;

#[derive(Properties, PartialEq)]
pub(crate) struct BoardProps {
    pub(crate) board: Option<Rc<BoardView>>,
    pub(crate) slot: Option<Rc<SlotView>>,
    pub(crate) palette: Palette,
    pub(crate) cursor_ns: f64,
    /// Nothing moves by itself.
    pub(crate) still: bool,
    /// Slots of the transaction that is shown.
    pub(crate) marks: Rc<[Mark]>,
    /// What is picked out, and its slots.
    pub(crate) selection: Option<Selection>,
    pub(crate) rings: Rc<[(TierName, u32)]>,
    pub(crate) on_inspect: Callback<Asked>,
    pub(crate) on_leave: Callback<()>,
    pub(crate) on_select: Callback<Option<Selection>>,
}

#[component]
pub(crate) fn Board(props: &BoardProps) -> Html {
    let as_table = use_state_eq(|| false);
    let Some(board) = &props.board else {
        return html! {
            <div class="board" id="board">
                <p class="empty empty--room">{ "The board fills as soon as something runs." }</p>
            </div>
        };
    };
    let onclick = {
        let as_table = as_table.clone();
        Callback::from(move |_: MouseEvent| as_table.set(!*as_table))
    };
    let class = match board.tiers.len() {
        0 => "board",
        1 => "board board--tiers",
        _ => "board board--tiers board--dense",
    };
    html! {
        <div class="board__frame">
            <button type="button" id="board-table" class="button button--small board__as" aria-pressed={as_table.to_string()}
                {onclick} title="The same as tables">{ "As table" }</button>
            <div {class} id="board">
                if *as_table {
                    <BoardTable board={Rc::clone(board)} on_inspect={props.on_inspect.clone()}
                        on_select={props.on_select.clone()} slot={props.slot.clone()} />
                } else {
                    { shelves(props, board) }
                }
            </div>
        </div>
    }
}

fn shelves(props: &BoardProps, board: &Rc<BoardView>) -> Html {
    let shelf = |tier: TierName| {
        html! {
            <Shelf key={tier.as_str()} board={Rc::clone(board)} {tier} palette={props.palette} slot={props.slot.clone()}
                marks={Rc::clone(&props.marks)} rings={Rc::clone(&props.rings)} on_inspect={props.on_inspect.clone()}
                on_leave={props.on_leave.clone()} on_select={props.on_select.clone()} />
        }
    };
    let moving = Moving {
        cursor_ns: props.cursor_ns,
        still: props.still,
        palette: props.palette,
        selection: props.selection.clone(),
        on_select: props.on_select.clone(),
    };
    html! {
        <>
            { shelf(TierName::G1) }
            for view in board.tiers.iter() {
                { lanes::lanes(board, view.tier, &moving) }
                { shelf(view.tier) }
            }
        </>
    }
}
