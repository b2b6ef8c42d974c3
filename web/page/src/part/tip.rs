//! What is said of the cell under the pointer: of one block all, of several their counts.

use tierscope_worker::protocol::{Cells, SlotView, TierName};
use yew::prelude::*;

use super::{legend, shelf};
use crate::chart::cells::Grid;
use crate::state::format::{self, count};

/// The tip of a cell.
pub(crate) fn tip(
    grid: &Grid,
    cell: usize,
    tier: TierName,
    cells: &Cells,
    slot: Option<&SlotView>,
    width: u32,
    at_ns: f64,
) -> Html {
    let Some(totals) = cells.get(cell) else { return html!() };
    let (x, y) = grid.corner(cell);
    // Towards the middle, so that it stays on the board.
    let side = if x > f64::from(width) / 2.0 { "tip tip--left" } else { "tip" };
    let style = format!("--x:{:.1}px;--y:{:.1}px;--side:{:.1}px", x, y, grid.side_px());
    let words = shelf::words(tier);
    let slot = slot.filter(|slot| slot.tier == tier && slot.slot as usize == cell && cells.per_cell == 1);
    let first = cell as u64 * u64::from(cells.per_cell);
    html! {
        <div class={side} {style} role="status">
            if cells.per_cell == 1 {
                <strong>{ format!("Slot {cell}: {}", legend::state_of(totals).map_or("", |state| words.name(state))) }</strong>
                if let Some(slot) = slot {
                    { one(slot, tier, at_ns) }
                }
            } else {
                <strong>{ format!("Slots {} to {}", count(first), count(first + u64::from(totals.capacity()) - 1)) }</strong>
                <span>{ legend::in_words(words, totals) }</span>
                <span>{ "A click selects the first content." }</span>
            }
        </div>
    }
}

fn one(slot: &SlotView, tier: TierName, at_ns: f64) -> Html {
    html! {
        <>
            if tier == TierName::G1 {
                <span>{ owners(slot) }</span>
            }
            <span>
                if let Some(hash) = &slot.hash {
                    { "hash " }<code>{ hash }</code>
                } else if !slot.owners.is_empty() {
                    { if slot.full { "full, not published yet" } else { "not full yet: no hash" } }
                } else {
                    { "no content" }
                }
            </span>
            if let Some(last) = slot.last_ns {
                <span>{ format!("last event {} ago", format::time((at_ns - last).max(0.0))) }</span>
            }
            if !slot.also_in.is_empty() {
                <span>{ also_in(slot) }</span>
            }
        </>
    }
}

fn also_in(slot: &SlotView) -> String {
    let tiers: Vec<&str> = slot.also_in.iter().map(|tier| tier.as_str()).collect();
    format!("also in {}", tiers.join(" and "))
}

fn owners(slot: &SlotView) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = slot.owners.iter().take(SHOWN).map(u32::to_string).collect();
    match slot.owners.len() {
        0 => "held by nobody".to_owned(),
        1 => format!("held by request {}", shown[0]),
        n if n > SHOWN => format!("held by requests {} and {} more", shown.join(", "), n - SHOWN),
        _ => format!("held by requests {}", shown.join(", ")),
    }
}
