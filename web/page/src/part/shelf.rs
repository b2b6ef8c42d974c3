//! One tier below G1: its lanes, its blocks as cells, and their counts.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, TierView, Totals};
use web_sys::HtmlCanvasElement;
use yew::prelude::*;

use super::legend::{self, Words};
use super::{lanes, paint};
use crate::chart::cells::Grid;
use crate::chart::palette::Palette;
use crate::glue::dom::{self, use_size};

#[derive(Properties, PartialEq)]
pub(crate) struct ShelfProps {
    pub(crate) board: Rc<Board>,
    /// Which of the board's tiers.
    pub(crate) place: usize,
    pub(crate) palette: Palette,
}

#[component]
pub(crate) fn Shelf(props: &ShelfProps) -> Html {
    let room = use_node_ref();
    let canvas = use_node_ref();
    let size = use_size(&room);
    let view = props.board.tiers.get(props.place);
    let grid = Grid::fit(view.map_or(0, |view| view.cells.len()), f64::from(size.0), f64::from(size.1));
    use_effect_with((Rc::clone(&props.board), props.place, props.palette, *size), {
        let canvas = canvas.clone();
        move |(board, place, palette, size)| {
            if let Some(canvas) = canvas.cast::<HtmlCanvasElement>() {
                let picture = paint::Picture {
                    cells: board.tiers.get(*place).map(|view| &view.cells),
                    labels: &[],
                    grid,
                    palette,
                    pointed: None,
                    marks: &[],
                    size: *size,
                    ratio: dom::window().device_pixel_ratio(),
                };
                paint::paint(&canvas, &picture);
            }
        }
    });
    let Some(TierView { tier, totals, cells }) = view else { return html!() };
    html! {
        <div class="shelf" data-tier={tier.as_str()}>
            { lanes::lanes(&props.board, *tier) }
            { legend::legend(tier.as_str(), Words::Below, *totals, cells.per_cell) }
            <div class="shelf__room" ref={room}>
                <canvas ref={canvas} class="board__canvas" role="img" aria-label={label(tier.as_str(), *totals)} />
            </div>
        </div>
    }
}

fn label(tier: &str, totals: Totals) -> String {
    format!("{tier}: {}.", legend::in_words(Words::Below, totals))
}
