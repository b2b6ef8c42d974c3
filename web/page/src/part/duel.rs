//! Two runs at one time: A and B beside each other, their counts, and one cursor for both.

use std::rc::Rc;

use tierscope_worker::protocol::{Board, Cells};
use web_sys::{HtmlCanvasElement, HtmlInputElement};
use yew::prelude::*;

use super::legend::{self, Words};
use super::paint;
use crate::chart::cells::Grid;
use crate::chart::palette::Palette;
use crate::glue::dom::{self, use_size};
use crate::state::duel::{self, Totals};
use crate::state::format;

/// Steps of the slider.
const STEPS: f64 = 1000.0;

#[derive(Properties, PartialEq)]
pub(crate) struct DuelProps {
    pub(crate) boards: [Option<Rc<Board>>; 2],
    /// What each of them is.
    pub(crate) whats: [String; 2],
    /// How far both are, in words.
    pub(crate) standings: [String; 2],
    /// The ends of those that ended.
    pub(crate) ends_ns: [Option<f64>; 2],
    pub(crate) cursor_ns: f64,
    /// Where they part.
    pub(crate) parting_ns: Option<f64>,
    pub(crate) palette: Palette,
    pub(crate) on_move: Callback<f64>,
}

#[component]
pub(crate) fn Duel(props: &DuelProps) -> Html {
    let [a, b] = &props.boards;
    let totals = duel::totals(a.as_deref(), b.as_deref());
    let pane = |side: usize, name: &'static str| {
        let what = &props.whats[side];
        html! {
            <section class="duel__pane" data-side={name} aria-label={format!("Board of {name}")}>
                <h3><b class="duel__side">{ name }</b><span class="duel__what" title={what.clone()}>{ what.clone() }</span>
                    <span class="duel__standing">{ props.standings[side].clone() }</span></h3>
                <Shelves board={props.boards[side].clone()} palette={props.palette} />
            </section>
        }
    };
    html! {
        <div class="duel" id="duel">
            { slider(props) }
            <div class="duel__panes">
                { pane(0, "A") }
                { pane(1, "B") }
            </div>
            { table(&totals) }
        </div>
    }
}

fn table(totals: &[Totals]) -> Html {
    let shown =
        |value: Option<u32>| value.map_or_else(|| "–".to_owned(), |value| format::count(value.into()));
    html! {
        <table class="table duel__totals" id="duel-totals" tabindex="0">
            <caption class="visually-hidden">{ "Blocks and requests of A and B at the cursor" }</caption>
            <thead><tr><th scope="col">{ "At the cursor" }</th>
                <th scope="col">{ "A" }</th><th scope="col">{ "B" }</th><th scope="col">{ "B − A" }</th></tr></thead>
            <tbody>
                for line in totals {
                    <tr data-line={line.name.clone()}>
                        <th scope="row">{ line.name.clone() }</th>
                        <td>{ shown(line.sides[0]) }</td><td>{ shown(line.sides[1]) }</td>
                        <td>{ line.difference() }</td>
                    </tr>
                }
            </tbody>
        </table>
    }
}

/// The cursor over both runs: a bar each for how long they are, and a mark where they part.
fn slider(props: &DuelProps) -> Html {
    let end_ns = props.ends_ns.iter().flatten().copied().fold(0.0, f64::max);
    let share = |ns: f64| if end_ns > 0.0 { (ns / end_ns).clamp(0.0, 1.0) } else { 0.0 };
    let on_move = props.on_move.clone();
    let oninput = Callback::from(move |event: InputEvent| {
        let input: HtmlInputElement = event.target_unchecked_into();
        on_move.emit(input.value_as_number() / STEPS * end_ns);
    });
    let off = props.ends_ns.iter().any(Option::is_none);
    let bar = |side: usize, name: &'static str| {
        html! {
            <span class={format!("duel__bar duel__bar--{name}")}
                style={format!("width:{:.2}%", 100.0 * share(props.ends_ns[side].unwrap_or(0.0)))} />
        }
    };
    html! {
        <div class="duel__time">
            <div class="duel__track">
                <div class="duel__bars" aria-hidden="true">
                    { bar(0, "a") }{ bar(1, "b") }
                    if let Some(at_ns) = props.parting_ns.filter(|_| !off) {
                        <i class="duel__parting" style={format!("left:{:.2}%", 100.0 * share(at_ns))}
                            title={format!("They part at {}", format::clock(at_ns, end_ns))} />
                    }
                </div>
                <input id="duel-time" class="slider" type="range" min="0" max={STEPS.to_string()} step="1"
                    value={format!("{:.0}", share(props.cursor_ns) * STEPS)} disabled={off}
                    aria-label="Time in both runs" aria-valuetext={format::clock(props.cursor_ns, end_ns)} {oninput} />
            </div>
            <output for="duel-time" id="duel-clock">
                { if off { "–".to_owned() } else { format::clock(props.cursor_ns, end_ns) } }
            </output>
        </div>
    }
}

#[derive(Properties, PartialEq)]
struct ShelvesProps {
    board: Option<Rc<Board>>,
    palette: Palette,
}

/// All tiers of one run, each a row of cells.
#[component]
fn Shelves(props: &ShelvesProps) -> Html {
    let Some(board) = &props.board else {
        return html! { <p class="empty">{ "Nothing to show yet." }</p> };
    };
    let label = legend::in_words(Words::G1, board.totals);
    html! {
        <>
            <CellRow name="G1" {label} board={Rc::clone(board)} tier={None::<usize>} palette={props.palette} />
            for (place, view) in board.tiers.iter().enumerate() {
                <CellRow name={view.tier.as_str()} label={legend::in_words(Words::Below, view.totals)}
                    board={Rc::clone(board)} tier={Some(place)} palette={props.palette} />
            }
        </>
    }
}

#[derive(Properties, PartialEq)]
struct CellRowProps {
    name: &'static str,
    label: String,
    board: Rc<Board>,
    /// Which of the board's tiers; G1 without one.
    tier: Option<usize>,
    palette: Palette,
}

fn cells_of(board: &Board, tier: Option<usize>) -> Option<&Cells> {
    match tier {
        None => Some(&board.cells),
        Some(place) => board.tiers.get(place).map(|view| &view.cells),
    }
}

#[component]
fn CellRow(props: &CellRowProps) -> Html {
    let (room, canvas) = (use_node_ref(), use_node_ref());
    let size = use_size(&room);
    use_effect_with((Rc::clone(&props.board), props.tier, props.palette, *size), {
        let canvas = canvas.clone();
        move |(board, tier, palette, size)| {
            let (Some(canvas), Some(cells)) = (canvas.cast::<HtmlCanvasElement>(), cells_of(board, *tier))
            else {
                return;
            };
            let grid = Grid::fit(cells.len(), f64::from(size.0), f64::from(size.1));
            let picture = paint::Picture {
                cells: Some(cells),
                labels: &[],
                grid,
                palette,
                pointed: None,
                marks: &[],
                rings: &[],
                size: *size,
                ratio: dom::window().device_pixel_ratio(),
            };
            paint::paint(&canvas, &picture);
        }
    });
    html! {
        <div class="duel__row">
            <b aria-hidden="true">{ props.name }</b>
            <div class="duel__cells" ref={room}>
                <canvas ref={canvas} class="board__canvas" role="img" aria-label={format!("{}: {}.", props.name, props.label)} />
            </div>
        </div>
    }
}
