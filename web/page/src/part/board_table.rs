//! The board as tables: the blocks of a tier, a page of them at a time, and the lanes.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, LaneView, SlotView, TierName};
use yew::prelude::*;

use super::legend;
use super::shelf::{self, Asked};
use crate::state::format::count;
use crate::state::moves;
use crate::state::picked;
use crate::state::selection::Selection;

/// Rows on one page.
const PAGE: usize = 128;

#[derive(Properties, PartialEq)]
pub(crate) struct BoardTableProps {
    pub(crate) board: Rc<Board>,
    pub(crate) slot: Option<Rc<SlotView>>,
    pub(crate) on_inspect: Callback<Asked>,
    pub(crate) on_select: Callback<Option<Selection>>,
}

#[component]
pub(crate) fn BoardTable(props: &BoardTableProps) -> Html {
    let shown = use_state_eq(|| (TierName::G1, 0usize));
    let wanted = use_state_eq(|| None::<u32>);
    let board = &props.board;
    let tiers: Vec<TierName> =
        std::iter::once(TierName::G1).chain(board.tiers.iter().map(|view| view.tier)).collect();
    let (tier, page) = *shown;
    let (tier, page) = if tiers.contains(&tier) { (tier, page) } else { (TierName::G1, 0) };
    use_effect_with((props.slot.clone(), *wanted), {
        let (wanted, on_select) = (wanted.clone(), props.on_select.clone());
        move |(slot, asked)| {
            let (Some(slot), true) = (slot, asked.is_some()) else { return };
            wanted.set(None);
            let content = slot.hash.as_deref().and_then(picked::block);
            if let Some(thing) =
                content.or_else(|| slot.owners.first().map(|&owner| Selection::Request(owner)))
            {
                on_select.emit(Some(thing));
            }
        }
    });
    let go = |to: (TierName, usize)| {
        let shown = shown.clone();
        Callback::from(move |_: MouseEvent| shown.set(to))
    };
    let Some((_, cells)) = shelf::of(board, tier) else { return html!() };
    let pages = cells.len().div_ceil(PAGE).max(1);
    let page = page.min(pages - 1);
    let rows = cells.iter().enumerate().skip(page * PAGE).take(PAGE);
    let row = |(cell, totals): (usize, tierscope_worker::protocol::Totals)| {
        let first = cell as u32 * cells.per_cell;
        let name = match cells.per_cell {
            1 => first.to_string(),
            _ => format!("{first}–{}", u64::from(first) + u64::from(totals.capacity()) - 1),
        };
        let (per_cell, at_ns, wanted, on_inspect) =
            (cells.per_cell, board.asked_ns, wanted.clone(), props.on_inspect.clone());
        let onclick = Callback::from(move |_: MouseEvent| {
            wanted.set(Some(first));
            on_inspect.emit((tier, first, per_cell, at_ns));
        });
        let state = match cells.per_cell {
            1 => legend::state_of(totals).map_or("", |state| shelf::words(tier).name(state)).to_owned(),
            _ => legend::in_words(shelf::words(tier), totals),
        };
        let holder = board.labels.get(cell).filter(|_| tier == TierName::G1).map_or("", String::as_str);
        html! {
            <tr key={first}>
                <th scope="row"><button type="button" class="pick" {onclick}>{ name }</button></th>
                <td>{ state }</td>
                <td>{ holder.to_owned() }</td>
            </tr>
        }
    };
    html! {
        <div class="board__tables" tabindex="0">
            <div class="board__pages" role="group" aria-label="Tier">
                for other in tiers {
                    <button type="button" class="button button--small" aria-pressed={(other == tier).to_string()}
                        onclick={go((other, 0))}>{ other.as_str() }</button>
                }
                if pages > 1 {
                    <button type="button" class="button button--small" disabled={page == 0} aria-label="Previous page"
                        onclick={go((tier, page.saturating_sub(1)))}>{ "‹" }</button>
                    <span>{ format!("{} of {}", page + 1, pages) }</span>
                    <button type="button" class="button button--small" disabled={page + 1 == pages} aria-label="Next page"
                        onclick={go((tier, page + 1))}>{ "›" }</button>
                }
            </div>
            <table class="table" id="board-cells">
                <caption class="visually-hidden">{ format!("Blocks of {}", tier.as_str()) }</caption>
                <thead><tr><th scope="col">{ "Slot" }</th><th scope="col">{ "State" }</th><th scope="col">{ "Held by" }</th></tr></thead>
                <tbody>{ for rows.map(row) }</tbody>
            </table>
            if !board.lanes.is_empty() {
                { lanes(&board.lanes) }
            }
        </div>
    }
}

fn link_use(lane: &LaneView) -> String {
    let (share, limit) = moves::link_use(lane);
    share + &limit
}

fn lanes(lanes: &[LaneView]) -> Html {
    html! {
        <table class="table" id="board-lanes">
            <caption class="visually-hidden">{ "Lanes between tiers" }</caption>
            <thead>
                <tr>
                    for name in ["Lane", "Queued", "Starting", "In flight", "Settling", "Done", "Failed", "In use"] {
                        <th scope="col">{ name }</th>
                    }
                </tr>
            </thead>
            <tbody>
                for lane in lanes.iter() {
                    <tr>
                        <th scope="row">{ moves::lane(lane.from, lane.to) }</th>
                        for number in [lane.queued, lane.starting, lane.in_flight, lane.settling, lane.completed as u32, lane.failed as u32] {
                            <td>{ count(number.into()) }</td>
                        }
                        <td>{ link_use(lane) }</td>
                    </tr>
                }
            </tbody>
        </table>
    }
}
