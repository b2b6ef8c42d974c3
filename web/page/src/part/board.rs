//! G1 as cells: a canvas, a legend with exact counts, and the block under the pointer; the tiers below it as shelves.

use std::rc::Rc;

use tierscope_worker::protocol::{Board as BoardView, SlotView, Totals};
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::legend::{self, Words};
use super::paint;
use super::shelf::Shelf;
use crate::chart::cells::Grid;
use crate::chart::palette::Palette;
use crate::glue::dom::{self, use_size};
use crate::state::format;
use crate::state::inspector::Mark;

#[derive(Properties, PartialEq)]
pub(crate) struct BoardProps {
    pub(crate) board: Option<Rc<BoardView>>,
    pub(crate) slot: Option<Rc<SlotView>>,
    pub(crate) palette: Palette,
    /// Slots of the transaction that is shown.
    pub(crate) marks: Rc<[Mark]>,
    /// A slot, and the time it is looked at.
    pub(crate) on_inspect: Callback<(u32, f64)>,
    pub(crate) on_leave: Callback<()>,
}

#[component]
pub(crate) fn Board(props: &BoardProps) -> Html {
    let room = use_node_ref();
    let canvas = use_node_ref();
    let size = use_size(&room);
    // Which cell the pointer or the keyboard is on: of no interest to anyone else.
    let pointed = use_state_eq(|| None::<usize>);
    let totals = props.board.as_ref().map_or_else(Totals::default, |board| board.totals);
    let cells = props.board.as_ref().map_or(0, |board| board.cells.len());
    let grid = Grid::fit(cells, f64::from(size.0), f64::from(size.1));

    use_effect_with((props.board.clone(), props.palette, *size, *pointed, Rc::clone(&props.marks)), {
        let canvas = canvas.clone();
        move |(board, palette, size, pointed, marks)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                let ratio = dom::window().device_pixel_ratio();
                let picture = paint::Picture {
                    cells: board.as_deref().map(|board| &board.cells),
                    labels: board.as_deref().map_or(&[], |board| &board.labels),
                    grid,
                    palette,
                    pointed: *pointed,
                    marks,
                    size: *size,
                    ratio,
                };
                paint::paint(&canvas, &picture);
            }
        }
    });
    use_inspection(&props.board, *pointed, &props.on_inspect);
    let point = {
        let pointed = pointed.clone();
        Callback::from(move |cell: Option<usize>| pointed.set(cell))
    };
    let onpointermove = point.reform(move |event: PointerEvent| {
        grid.cell_at(f64::from(event.offset_x()), f64::from(event.offset_y()))
    });
    let onleave = {
        let (pointed, on_leave) = (pointed.clone(), props.on_leave.clone());
        Callback::from(move |()| {
            pointed.set(None);
            on_leave.emit(());
        })
    };
    let onkeydown = {
        let (pointed, point) = (pointed.clone(), point.clone());
        Callback::from(move |event: KeyboardEvent| {
            if let Some(cell) = neighbour(&grid, *pointed, &event.key()) {
                event.prevent_default();
                point.emit(Some(cell));
            }
        })
    };
    let label = format!("G1: {}. Arrow keys walk over the blocks.", legend::in_words(Words::G1, totals));
    let below = props.board.as_ref().map_or(0, |board| board.tiers.len());
    let class = match below {
        0 => "board",
        1 => "board board--tiers",
        _ => "board board--tiers board--dense",
    };
    html! {
        <div {class} id="board">
            { legend::legend("G1", Words::G1, totals, props.board.as_ref().map_or(1, |board| board.cells.per_cell)) }
            <div class="board__room" ref={room}>
                <canvas ref={canvas} class="board__canvas" role="img" aria-label={label} tabindex="0"
                    {onpointermove}
                    onpointerleave={onleave.reform(|_: PointerEvent| ())}
                    onblur={onleave.reform(|_: FocusEvent| ())}
                    {onkeydown} />
                if let (Some(cell), Some(board)) = (*pointed, &props.board) {
                    { tip(&grid, cell, board, props.slot.as_deref(), size.0) }
                }
            </div>
            if let Some(board) = &props.board {
                for (place, view) in board.tiers.iter().enumerate() {
                    <Shelf key={view.tier.as_str()} board={Rc::clone(board)} {place} palette={props.palette} />
                }
            }
        </div>
    }
}

/// Asks about the block that is pointed at, and again whenever the board has changed under the pointer.
#[hook]
fn use_inspection(board: &Option<Rc<BoardView>>, pointed: Option<usize>, inspect: &Callback<(u32, f64)>) {
    let at_ns =
        board.as_ref().filter(|board| board.cells.per_cell == 1).map(|board| (board.worker, board.asked_ns));
    let inspect = inspect.clone();
    use_effect_with((pointed, at_ns), move |&(pointed, at_ns)| {
        if let (Some(cell), Some((_, at_ns))) = (pointed, at_ns) {
            inspect.emit((cell as u32, at_ns));
        }
    });
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

fn tip(grid: &Grid, cell: usize, board: &BoardView, slot: Option<&SlotView>, width: u32) -> Html {
    let Some(totals) = board.cells.get(cell) else { return html!() };
    let (x, y) = grid.corner(cell);
    // Towards the middle, so that it stays on the board.
    let side = if x > f64::from(width) / 2.0 { "tip tip--left" } else { "tip" };
    let style = format!("--x:{:.1}px;--y:{:.1}px;--side:{:.1}px", x, y, grid.side_px());
    html! {
        <div class={side} {style} role="status">
            { if board.cells.per_cell == 1 { one(cell, totals, slot) } else { many(cell, board, totals) } }
        </div>
    }
}

fn one(cell: usize, totals: Totals, slot: Option<&SlotView>) -> Html {
    let slot = slot.filter(|slot| slot.slot as usize == cell);
    let state = legend::state_of(totals).map_or("", legend::name);
    html! {
        <>
            <strong>{ format!("Slot {cell}: {state}") }</strong>
            if let Some(slot) = slot {
                <span>{ owners(slot) }</span>
                <span>
                    if let Some(hash) = &slot.hash {
                        { "hash " }<code>{ hash }</code>
                    } else if !slot.owners.is_empty() {
                        { if slot.full { "full, not published yet" } else { "not full yet: no hash" } }
                    } else {
                        { "no content" }
                    }
                </span>
                if !slot.also_in.is_empty() {
                    <span>{ also_in(slot) }</span>
                }
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

fn many(cell: usize, board: &BoardView, totals: Totals) -> Html {
    let first = cell as u64 * u64::from(board.cells.per_cell);
    let last = first + u64::from(totals.capacity()) - 1;
    html! {
        <>
            <strong>{ format!("Slots {} to {}", format::count(first), format::count(last)) }</strong>
            <span>{ legend::in_words(Words::G1, totals) }</span>
        </>
    }
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
