//! One tier as a shelf of cells: its counts, its blocks on a canvas, and the block under the pointer or the keyboard.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, Cells, SlotView, TierName, Totals};
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::legend::{self, Words};
use super::{paint, tip};
use crate::chart::cells::Grid;
use crate::chart::palette::Palette;
use crate::glue::dom::{self, use_size};
use crate::state::inspector::Mark;
use crate::state::picked;
use crate::state::selection::Selection;

/// A question for a slot: its tier, its number, how many neighbours are meant as well, and the time.
pub(crate) type Asked = (TierName, u32, u32, f64);

#[derive(Properties, PartialEq)]
pub(crate) struct ShelfProps {
    pub(crate) board: Rc<Board>,
    pub(crate) tier: TierName,
    pub(crate) palette: Palette,
    /// The block that was asked about last.
    pub(crate) slot: Option<Rc<SlotView>>,
    /// Slots of the transaction that is shown.
    pub(crate) marks: Rc<[Mark]>,
    /// Slots of what is picked out.
    pub(crate) rings: Rc<[(TierName, u32)]>,
    pub(crate) on_inspect: Callback<Asked>,
    pub(crate) on_leave: Callback<()>,
    pub(crate) on_select: Callback<Option<Selection>>,
}

/// A tier's counts and cells.
pub(crate) fn of(board: &Board, tier: TierName) -> Option<(Totals, &Cells)> {
    if tier == TierName::G1 {
        return Some((board.totals, &board.cells));
    }
    let view = board.tiers.iter().find(|view| view.tier == tier)?;
    Some((view.totals, &view.cells))
}

/// The words for a tier's states.
pub(crate) fn words(tier: TierName) -> Words {
    if tier == TierName::G1 { Words::G1 } else { Words::Below }
}

#[component]
pub(crate) fn Shelf(props: &ShelfProps) -> Html {
    let room = use_node_ref();
    let canvas = use_node_ref();
    let size = use_size(&room);
    // Which cell the pointer or the keyboard is on: of no interest to anyone else.
    let pointed = use_state_eq(|| None::<usize>);
    let (tier, own) = (props.tier, of(&props.board, props.tier));
    let (totals, per_cell) = own.map_or((Totals::default(), 1), |(totals, cells)| (totals, cells.per_cell));
    let grid = Grid::fit(own.map_or(0, |(_, cells)| cells.len()), f64::from(size.0), f64::from(size.1));
    let drawn = (Rc::clone(&props.board), Rc::clone(&props.marks), Rc::clone(&props.rings));
    use_effect_with((drawn, tier, props.palette, *size, *pointed), {
        let canvas = canvas.clone();
        move |((board, marks, rings), tier, palette, size, pointed)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                let of_tier: Vec<u32> =
                    rings.iter().filter(|ring| ring.0 == *tier).map(|ring| ring.1).collect();
                let picture = paint::Picture {
                    cells: of(board, *tier).map(|(_, cells)| cells),
                    labels: if *tier == TierName::G1 { &board.labels } else { &[] },
                    grid,
                    palette,
                    pointed: *pointed,
                    marks: if *tier == TierName::G1 { marks } else { &[] },
                    rings: &of_tier,
                    size: *size,
                    ratio: dom::window().device_pixel_ratio(),
                };
                paint::paint(&canvas, &picture);
            }
        }
    });
    let choose = use_choice(props, *pointed, per_cell);
    let point = {
        let pointed = pointed.clone();
        Callback::from(move |cell: Option<usize>| pointed.set(cell))
    };
    let at = move |x: i32, y: i32| grid.cell_at(f64::from(x), f64::from(y));
    let onpointermove = point.reform(move |event: PointerEvent| at(event.offset_x(), event.offset_y()));
    let onleave = {
        let (pointed, on_leave) = (pointed.clone(), props.on_leave.clone());
        Callback::from(move |()| {
            pointed.set(None);
            on_leave.emit(());
        })
    };
    let onclick = {
        let (point, choose) = (point.clone(), choose.clone());
        Callback::from(move |event: MouseEvent| {
            if let Some(cell) = at(event.offset_x(), event.offset_y()) {
                point.emit(Some(cell));
                choose.emit(cell);
            }
        })
    };
    let onkeydown = {
        let pointed = pointed.clone();
        Callback::from(move |event: KeyboardEvent| {
            if let (Some(cell), "Enter") = (*pointed, event.key().as_str()) {
                event.prevent_default();
                choose.emit(cell);
            } else if let Some(cell) = neighbour(&grid, *pointed, &event.key()) {
                event.prevent_default();
                point.emit(Some(cell));
            }
        })
    };
    let label = format!(
        "{}: {}. Arrow keys walk over the blocks, Enter selects one.",
        tier.as_str(),
        legend::in_words(words(tier), totals)
    );
    let class = if tier == TierName::G1 { "shelf shelf--top" } else { "shelf" };
    html! {
        <div {class} data-tier={tier.as_str()}>
            { legend::legend(tier.as_str(), words(tier), totals, per_cell) }
            <div class="shelf__room" ref={room}>
                <canvas ref={canvas} class="board__canvas" role="application" aria-roledescription="shelf of blocks"
                    aria-label={label} tabindex="0"
                    {onpointermove} {onclick}
                    onpointerleave={onleave.reform(|_: PointerEvent| ())}
                    onblur={onleave.reform(|_: FocusEvent| ())}
                    {onkeydown} />
                if let (Some(cell), Some((_, cells))) = (*pointed, own) {
                    { tip::tip(&grid, cell, tier, cells, props.slot.as_deref(), size.0, props.board.at_ns) }
                }
            </div>
        </div>
    }
}

/// Asks about the block that is pointed at, again whenever the board has changed under the pointer. The callback picks a
/// cell's content out: at once where it is known, else when the answer comes.
#[hook]
fn use_choice(props: &ShelfProps, pointed: Option<usize>, per_cell: u32) -> Callback<usize> {
    let wanted = use_state_eq(|| None::<usize>);
    let (tier, at_ns, worker) = (props.tier, props.board.asked_ns, props.board.worker);
    use_effect_with((pointed, at_ns, worker), {
        let inspect = props.on_inspect.clone();
        move |&(pointed, at_ns, _)| {
            if let Some(cell) = pointed.filter(|_| per_cell == 1) {
                inspect.emit((tier, cell as u32, 1, at_ns));
            }
        }
    });
    use_effect_with((props.slot.clone(), *wanted), {
        let (wanted, on_select) = (wanted.clone(), props.on_select.clone());
        move |(slot, cell)| {
            let (Some(slot), Some(cell)) = (slot, *cell) else { return };
            let first = cell as u32 * per_cell;
            if slot.tier == tier && (first..first.saturating_add(per_cell)).contains(&slot.slot) {
                wanted.set(None);
                if let Some(thing) = thing(slot) {
                    on_select.emit(Some(thing));
                }
            }
        }
    });
    let inspect = props.on_inspect.clone();
    Callback::from(move |cell: usize| {
        wanted.set(Some(cell));
        inspect.emit((tier, cell as u32 * per_cell, per_cell, at_ns));
    })
}

/// What a click on a slot picks out: its content, or who fills it while it has no name yet.
fn thing(slot: &SlotView) -> Option<Selection> {
    let content = slot.hash.as_deref().and_then(picked::block);
    content.or_else(|| slot.owners.first().map(|&owner| Selection::Request(owner)))
}

/// The cell that an arrow key leads to.
fn neighbour(grid: &Grid, from: Option<usize>, key: &str) -> Option<usize> {
    let step: isize = match key {
        "ArrowLeft" => -1,
        "ArrowRight" => 1,
        "ArrowUp" => -(grid.columns as isize),
        "ArrowDown" => grid.columns as isize,
        _ => return None,
    };
    let to = match from {
        None => 0,
        Some(cell) => cell.checked_add_signed(step)?,
    };
    (to < grid.cells).then_some(to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_stay_on_the_board() {
        let grid = Grid { columns: 4, rows: 2, pitch_px: 10.0, gap_px: 1.0, cells: 7 };
        assert_eq!(neighbour(&grid, None, "ArrowRight"), Some(0));
        assert_eq!(neighbour(&grid, Some(0), "ArrowLeft"), None);
        assert_eq!(neighbour(&grid, Some(2), "ArrowDown"), Some(6));
        assert_eq!(neighbour(&grid, Some(3), "ArrowDown"), None);
        assert_eq!(neighbour(&grid, Some(3), "a"), None);
    }
}
